//! What was tuned for other devices, run on this one: so a database says what a form is worth elsewhere.

use lift_explore::candidate::{Candidate, Goal};
use lift_explore::deadline::Deadline;
use lift_explore::key::canonical_size;
use lift_explore::machine::{fingerprint, machine};
use lift_explore::measure::{Job, MeasureError, Pool, Problem, Verdict};
use lift_explore::tune::measurement_of;
use lift_interp::Sizes;
use lift_ir::{Def, Var};
use lift_model::features::VERSION;
use lift_rewrite::formatted;
use lift_runtime::DeviceInfo;
use lift_store::{Outcome, ProblemId, ProblemKey, Store};

use super::{Best, TuneError, Tuner};

/// The best form for another device, on this one.
#[derive(Clone, Debug)]
pub struct Foreign {
    /// The program's name, and its sizes by those that they have in the database.
    pub program: String,
    pub sizes: Vec<(String, u64)>,
    /// The device that it was tuned for.
    pub tuned_for: String,
    /// The same for the same text.
    pub id: String,
    pub outcome: Outcome,
    /// Nothing where it failed.
    pub ms: Option<f64>,
    /// Of the best for this device.
    pub best_ms: Option<f64>,
}

impl Tuner {
    /// Runs the best forms for other devices of all programs that the database has for this device too, and records what
    /// comes of it. What is known already, and forms that use extern functions, are passed over. `watch` is told of each,
    /// and says whether to go on.
    ///
    /// A program is compared with itself, as in tuning.
    pub fn run_forms_of_others(
        &self,
        watch: &mut dyn FnMut(&Foreign) -> bool,
    ) -> Result<Vec<Foreign>, TuneError> {
        let info = crate::open(&self.device).map_err(crate::Error::Device)?.info().clone();
        let mut store = Store::open(&self.database)?;
        let mut found = Vec::new();
        for (problem, key) in own_problems(&store, &info)? {
            let forms = forms(&store, problem, &key)?;
            if forms.is_empty() {
                continue;
            }
            let here = Here::new(self, &info, problem, &key)?;
            for (tuned_for, best) in forms {
                let Some(foreign) = here.run(self, &mut store, tuned_for, best)? else { continue };
                let goes_on = watch(&foreign);
                found.push(foreign);
                if !goes_on {
                    return Ok(found);
                }
            }
        }
        Ok(found)
    }
}

/// What was tuned for this device.
fn own_problems(
    store: &Store,
    info: &DeviceInfo,
) -> Result<Vec<(ProblemId, ProblemKey)>, TuneError> {
    let mut own = Vec::new();
    for problem in store.problems()? {
        let key = store.key(problem)?;
        if key.device.fingerprint == fingerprint(info) && best(store, problem)?.is_some() {
            own.push((problem, key));
        }
    }
    Ok(own)
}

/// The best forms of the same program at the same sizes for other devices, no two the same, that were not tried here.
fn forms(
    store: &Store,
    own: ProblemId,
    key: &ProblemKey,
) -> Result<Vec<(String, lift_store::Best)>, TuneError> {
    let mut forms: Vec<(String, lift_store::Best)> = Vec::new();
    for problem in store.problems()? {
        let other = store.key(problem)?;
        let is_same =
            (&other.program, &other.sizes, &other.flags) == (&key.program, &key.sizes, &key.flags);
        if problem == own || !is_same {
            continue;
        }
        let Some(best) = best(store, problem)? else { continue };
        let hash = &best.candidate.hash;
        let is_known =
            store.is_measured(own, hash)?.is_some_and(|outcome| outcome != Outcome::Lost);
        if !is_known && forms.iter().all(|(_, known)| known.candidate.hash != *hash) {
            forms.push((format!("{} {}", other.device.kind, other.device.name), best));
        }
    }
    Ok(forms)
}

/// The best of a problem. One that was altered is none.
fn best(store: &Store, problem: ProblemId) -> Result<Option<lift_store::Best>, TuneError> {
    match store.best(problem).map_err(TuneError::from) {
        Err(error) if error.is_of_the_form() => Ok(None),
        best => best,
    }
}

/// A program at sizes on this device.
struct Here<'d> {
    info: &'d DeviceInfo,
    problem: ProblemId,
    key: &'d ProblemKey,
    def: Def,
    sizes: Sizes,
    pool: Pool,
}

impl<'d> Here<'d> {
    fn new(
        tuner: &Tuner,
        info: &'d DeviceInfo,
        problem: ProblemId,
        key: &'d ProblemKey,
    ) -> Result<Here<'d>, TuneError> {
        let checked = lift_syntax::check_text("stored program", &key.program);
        let def = checked.program.entry().filter(|_| !checked.has_errors()).cloned();
        let unreadable = || crate::Error::Program(checked.render(false));
        let def = def.ok_or_else(unreadable)?;
        let sizes: Sizes =
            key.sizes.iter().map(|(name, value)| (name.as_str(), i128::from(*value))).collect();
        let asked = Problem { fast_math: key.flags == "fast-math", ..tuner.problem(&def, &sizes) };
        let pool = Pool::start(&tuner.settings.pool(tuner.worker.options()), &asked)?;
        Ok(Here { info, problem, key, def, sizes, pool })
    }

    /// Nothing where it is not run.
    fn run(
        &self,
        tuner: &Tuner,
        store: &mut Store,
        tuned_for: String,
        best: lift_store::Best,
    ) -> Result<Option<Foreign>, TuneError> {
        let mut candidate = best.candidate.clone();
        let form = match Best::read(best, &self.def, &self.sizes) {
            Err(error) if error.is_of_the_form() => return Ok(None),
            form => form?.def,
        };
        if form.uses_extern().is_some() {
            return Ok(None);
        }
        let job = Job::new(formatted(&form), form.name.as_str(), tuner.settings.repeats);
        let measured = self.pool.measure_on(None, &job, Deadline::NEVER);
        let lost = || MeasureError::Worker("no worker is left".to_string());
        let measured = measured.ok_or_else(lost)?;
        let ms = match &measured.verdict {
            Verdict::Ok { samples_ms } => lift_runtime::median(samples_ms),
            Verdict::TooSlow { ms } => Some(*ms),
            _ => None,
        };
        let measurement = measurement_of(&measured, tuner.seed, &self.info.name);
        let made = self.made(&candidate.text);
        candidate.kernel_hash =
            made.as_ref().map_or(String::new(), |made| made.kernel_hash.clone());
        let id = store.candidate(self.problem, &candidate)?;
        if let Some(made) = made {
            store.record_features(id, VERSION, &made.named_features())?;
        }
        store.record(id, &measurement)?;
        Ok(Some(Foreign {
            program: self.key.name.clone(),
            sizes: self.key.sizes.clone().into_iter().collect(),
            tuned_for,
            id: candidate.hash,
            outcome: measurement.outcome,
            ms,
            best_ms: store.best(self.problem)?.map(|best| best.median),
        }))
    }
    /// What a stored program is compiled to here, where it is compiled at all.
    fn made(&self, text: &str) -> Option<Candidate> {
        let checked = lift_syntax::check_text("stored program", text);
        let def = checked.program.entry().filter(|_| !checked.has_errors())?;
        let size = |(index, var): (usize, &Var)| {
            let value = self.key.sizes.get(&canonical_size(index))?;
            Some((var.name().to_string(), i128::from(*value)))
        };
        let sizes = def.sizes.iter().enumerate().filter_map(size).collect();
        let goal = Goal { sizes, language: self.info.language, machine: machine(self.info) };
        Candidate::of(def, &goal).ok()
    }
}
