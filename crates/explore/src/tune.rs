//! Tuning: candidates are chosen, measured and recorded until the budget is spent.

use std::collections::{BTreeMap, HashSet};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use lift_ir::Def;
use lift_lower::Target;
use lift_rewrite::formatted;
use lift_store::{Measurement, Outcome, ProblemId, Run, Store, StoreError};

use crate::candidate::{self, Candidate};
use crate::measure::{Job, Pool, Verdict};
use crate::parameters::{Bounds, Values, assignments, some_assignment};
use crate::space::Space;

/// How often a candidate that was seen already is chosen again before the space counts as used up.
const PATIENCE: usize = 500;

/// A candidate so many times slower than the best is not run more than once.
const FAR_SLOWER: f64 = 3.0;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Method {
    /// Programs and values at random.
    Random,
    /// One program after the other, each with all values.
    Exhaustive,
}

/// What is asked for.
#[derive(Clone, Debug)]
pub struct Request<'d> {
    pub def: &'d Def,
    pub sizes: Values,
    pub target: Target,
    pub bounds: Bounds,
    pub method: Method,
    pub seed: u64,
    /// Candidates to measure.
    pub trials: usize,
    pub time: Option<Duration>,
    /// Timed runs of a candidate.
    pub repeats: u32,
    /// What earlier runs measured is not measured again.
    pub resume: bool,
    pub host: String,
    pub version: String,
}

/// How far the search is.
#[derive(Clone, Debug, Default)]
pub struct Progress {
    pub tried: usize,
    /// By outcome, those that are not ok.
    pub failed: BTreeMap<String, usize>,
    pub best_ms: Option<f64>,
    pub elapsed: Duration,
}

/// Measures candidates until the trials or the time are used up, the space is, or `watch` says to stop. What was
/// measured is in the store at any moment.
pub fn tune(
    request: &Request,
    space: &Space,
    pool: &Pool,
    store: &mut Store,
    problem: ProblemId,
    watch: &mut dyn FnMut(&Progress) -> bool,
) -> Result<Progress, StoreError> {
    let started = Instant::now();
    let mut progress = Progress::default();
    let mut chooser = Chooser::new(request, space);
    progress.best_ms = store.best(problem)?.map(|best| best.median).filter(|_| request.resume);
    let run = store.start_run(problem, &run_of(request))?;
    while progress.tried < request.trials
        && request.time.is_none_or(|limit| started.elapsed() < limit)
    {
        let Some(candidate) = chooser.next() else { break };
        if request.resume && store.is_measured(problem, &candidate.hash)?.is_some() {
            continue;
        }
        let mut job = Job::new(candidate.text.as_str(), request.def.name.as_str(), request.repeats);
        job.cutoff_ms = progress.best_ms.map(|best| best * FAR_SLOWER);
        let verdict = pool.measure(&job);
        let measurement = measurement_of(&verdict, request);
        let id = store.candidate(problem, &stored(&candidate))?;
        store.record(id, &measurement)?;
        progress.tried += 1;
        match (measurement.outcome, lift_runtime::median(&measurement.samples)) {
            (Outcome::Ok, Some(ms)) => {
                progress.best_ms = Some(progress.best_ms.map_or(ms, |best| best.min(ms)));
            }
            (outcome, _) => *progress.failed.entry(outcome.to_string()).or_default() += 1,
        }
        progress.elapsed = started.elapsed();
        if !watch(&progress) {
            break;
        }
    }
    progress.elapsed = started.elapsed();
    store.finish_run(run, now(), &counts(space, &progress))?;
    Ok(progress)
}

/// How many there were on the way, by phase.
pub fn counts(space: &Space, progress: &Progress) -> BTreeMap<String, u64> {
    let count = |name: &str, n: usize| (name.to_string(), n as u64);
    BTreeMap::from([
        count("decisions", space.decisions),
        count("refused by rules", space.refused),
        count("low-level programs", space.variants.len()),
        count("measured", progress.tried),
    ])
}

/// Chooses candidates, each once.
struct Chooser<'r> {
    request: &'r Request<'r>,
    space: &'r Space,
    random: fastrand::Rng,
    seen: HashSet<String>,
    /// The program as it is comes first.
    is_first: bool,
    /// For the exhaustive method: the program at hand and the values that are left for it.
    variant: usize,
    left: Vec<Values>,
}

impl<'r> Chooser<'r> {
    fn new(request: &'r Request<'r>, space: &'r Space) -> Chooser<'r> {
        let random = fastrand::Rng::with_seed(request.seed);
        let (seen, left) = (HashSet::new(), Vec::new());
        Chooser { request, space, random, seen, is_first: true, variant: 0, left }
    }

    fn next(&mut self) -> Option<Candidate> {
        if std::mem::take(&mut self.is_first) {
            return Some(self.untouched());
        }
        for _ in 0..PATIENCE {
            let chosen = match self.request.method {
                Method::Random => self.at_random(),
                Method::Exhaustive => Some(self.in_order()?),
            };
            if let Some(candidate) = chosen.flatten()
                && self.seen.insert(candidate.hash.clone())
            {
                return Some(candidate);
            }
        }
        None
    }

    /// The program by default lowering.
    fn untouched(&mut self) -> Candidate {
        let text = formatted(self.request.def);
        let hash = candidate::hash(&text);
        self.seen.insert(hash.clone());
        let (def, derivation) = (self.request.def.clone(), String::new());
        Candidate { def, text, hash, parameters: Values::new(), derivation }
    }

    /// Some program with some values; inner `None` where it cannot be compiled.
    fn at_random(&mut self) -> Option<Option<Candidate>> {
        if self.space.variants.is_empty() {
            return None;
        }
        let variant = &self.space.variants[self.random.usize(..self.space.variants.len())];
        let Request { sizes, bounds, .. } = self.request;
        let mut order = |values: &[i128]| {
            let mut values = values.to_vec();
            self.random.shuffle(&mut values);
            values
        };
        let values = some_assignment(&variant.def, sizes, bounds, &mut order)?;
        Some(self.made(variant, &values))
    }

    /// The next program and values in order; inner `None` where it cannot be compiled.
    fn in_order(&mut self) -> Option<Option<Candidate>> {
        loop {
            let at_hand = self.variant.checked_sub(1).and_then(|i| self.space.variants.get(i));
            if let (Some(values), Some(variant)) = (self.left.pop(), at_hand) {
                return Some(self.made(variant, &values));
            }
            let variant = self.space.variants.get(self.variant)?;
            self.variant += 1;
            let Request { sizes, bounds, .. } = self.request;
            self.left = assignments(&variant.def, sizes, bounds, usize::MAX);
            self.left.reverse();
        }
    }

    fn made(&self, variant: &crate::space::Variant, values: &Values) -> Option<Candidate> {
        let Request { sizes, target, .. } = self.request;
        let mut made = Candidate::new(&variant.def, values, sizes, *target).ok()?;
        made.derivation = variant.derivation.to_string();
        Some(made)
    }
}

fn run_of(request: &Request) -> Run {
    let method = match request.method {
        Method::Random => "random",
        Method::Exhaustive => "exhaustive",
    };
    let time = request.time.map_or(String::new(), |t| format!(", {} s", t.as_secs()));
    Run {
        method: method.to_string(),
        seed: request.seed,
        budget: format!("{} trials{time}", request.trials),
        version: request.version.clone(),
        started: now(),
    }
}

fn stored(candidate: &Candidate) -> lift_store::Candidate {
    let listed = |counts: &dyn Fn(&lift_ir::Launch) -> Vec<lift_ir::Nat>| {
        let launch = |l: &lift_ir::Launch| {
            counts(l).iter().map(ToString::to_string).collect::<Vec<String>>().join(",")
        };
        candidate.def.launches.iter().map(launch).collect::<Vec<String>>().join("; ")
    };
    lift_store::Candidate {
        hash: candidate.hash.clone(),
        text: candidate.text.clone(),
        derivation: candidate.derivation.clone(),
        parameters: candidate.listed(),
        global: listed(&|l| l.global.clone()),
        local: listed(&|l| l.local.clone()),
        kernel_hash: String::new(),
    }
}

fn measurement_of(verdict: &Verdict, request: &Request) -> Measurement {
    let (outcome, message, samples) = match verdict {
        Verdict::Ok { samples_ms } => (Outcome::Ok, String::new(), samples_ms.clone()),
        // One run was timed, and it is enough to know.
        Verdict::TooSlow { ms } => (Outcome::Skipped, format!("far slower: {ms} ms"), Vec::new()),
        Verdict::Wrong(how) => (Outcome::Wrong, how.clone(), Vec::new()),
        Verdict::Crashed(how) => (Outcome::Crashed, how.clone(), Vec::new()),
        Verdict::TimedOut { after_s, .. } => {
            (Outcome::TimedOut, format!("killed after {after_s} s"), Vec::new())
        }
        Verdict::Refused(why) => (Outcome::Refused, why.clone(), Vec::new()),
        Verdict::FailedToCompile(why) => (Outcome::FailedToCompile, why.clone(), Vec::new()),
        Verdict::OutOfResources(why) => (Outcome::OutOfResources, why.clone(), Vec::new()),
    };
    let (seed, host) = (request.seed, request.host.clone());
    Measurement { outcome, message, samples, started: now(), seed, host }
}

/// Seconds since 1970.
fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}
