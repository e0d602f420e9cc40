//! Tuning: candidates are chosen, measured and recorded until the budget is spent.

mod choose;
mod drawn;
mod earlier;
mod finalists;
pub mod hopeless;
mod recorded;
mod replay;
mod search;
mod search_space;
mod surrogate;

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use lift_ir::Def;
use lift_store::{Measurement, Outcome, ProblemId, Store, StoreError, Tried};

use crate::candidate::Goal;
use crate::deadline::{Deadline, Timetable};
use crate::measure::{Job, Measured, Place, Pool, Verdict};
use crate::parameters::Bounds;
use crate::space::Space;
use choose::{Choice, Chooser};
use hopeless::{Clock, HOPELESS, Yardstick};
use recorded::{durations, now, run_of, stored};

pub use drawn::drawn;
pub use finalists::Finalist;
pub use recorded::{counts, measurement_of};
pub use replay::{Known, RecordedSpace, configurations};
pub use search::{ByModel, Exhaustive, Learning, Prediction, Random, Search};
pub use search_space::{Configuration, LiveSpace, SearchSpace};

/// The name of a way to choose candidates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Method {
    /// Programs and values at random.
    Random,
    /// What the results so far promise most of, those of other sizes included.
    Learning,
    /// One program after the other, each with all values.
    Exhaustive,
    /// Those first that a model thinks fastest.
    Model,
}

impl Method {
    pub fn name(self) -> &'static str {
        match self {
            Method::Random => "random",
            Method::Learning => "learning",
            Method::Exhaustive => "exhaustive",
            Method::Model => "model",
        }
    }
}

/// The program itself is run once where it takes longer.
const LONG_MS: f64 = 300.0;

/// What is asked for.
#[derive(Clone)]
pub struct Request<'d> {
    pub def: &'d Def,
    pub goal: Goal,
    pub bounds: Bounds,
    pub method: Method,
    /// For [`Method::Model`]; without one it is as [`Method::Random`].
    pub prediction: Option<Prediction>,
    /// Where there is one, what it says is hopeless is not run.
    pub clock: Option<Clock>,
    pub seed: u64,
    /// Candidates to measure.
    pub trials: usize,
    /// When what is over, at the latest.
    pub timetable: Timetable,
    /// Timed runs of a candidate.
    pub repeats: u32,
    /// A candidate so many times slower than the best is not run more than once.
    pub far_slower: f64,
    /// So many of the fastest are measured again in the end.
    pub finalists: usize,
    /// What earlier runs measured is not measured again.
    pub resume: bool,
    pub host: String,
    pub version: String,
}

impl Request<'_> {
    fn search(&self) -> Box<dyn Search> {
        match (self.method, &self.prediction) {
            (Method::Learning, _) => Box::new(Learning::new(self.seed)),
            (Method::Exhaustive, _) => Box::new(Exhaustive::default()),
            (Method::Model, Some(prediction)) => {
                Box::new(ByModel::new(self.seed, prediction.clone()))
            }
            (Method::Random, _) | (Method::Model, None) => Box::new(Random::new(self.seed)),
        }
    }
}

/// How far the search is.
#[derive(Clone, Debug, Default)]
pub struct Progress {
    pub tried: usize,
    /// By outcome, those without a time.
    pub failed: BTreeMap<String, usize>,
    /// Those that are right, but so far slower than the best that they were timed once.
    pub skipped: usize,
    /// Those that were not run, because they were predicted to be far slower still.
    pub hopeless: usize,
    /// Candidates whose kernels had been measured already, for another candidate.
    pub same_kernels: usize,
    pub best_ms: Option<f64>,
    pub elapsed: Duration,
    /// The fastest ones, measured again, once the search is over.
    pub finalists: Vec<Finalist>,
    /// Why the search ended before its budget was spent, where that is so.
    pub cut_short: Option<String>,
}

/// How often one who waits for a worker looks whether it is still worth it.
const LOOK: Duration = Duration::from_millis(200);

/// What the threads that measure share.
struct Shared<'s> {
    chooser: Chooser<'s>,
    store: &'s mut Store,
    progress: Progress,
    yardstick: Yardstick,
    watch: &'s mut (dyn FnMut(&Progress) -> bool + Send),
    /// Nothing more is to be measured; with an error where that is why.
    ended: Option<Result<(), StoreError>>,
    /// Candidates that were chosen.
    started: usize,
    /// Those of them that are being measured.
    measuring: usize,
}

/// Measures candidates until the trials or the time are used up, the space is, or `watch` says to stop. What was
/// measured is in the store at any moment.
pub fn tune(
    request: &Request,
    space: &Space,
    pool: &Pool,
    store: &mut Store,
    problem: ProblemId,
    watch: &mut (dyn FnMut(&Progress) -> bool + Send),
) -> Result<Progress, StoreError> {
    let mut chooser = Chooser::new(request, space);
    if pool.compares_elsewhere() {
        chooser.pass_over_itself();
    }
    if chooser.remembers() {
        chooser.learn_earlier(earlier::earlier(store, problem, request.resume)?);
    }
    let best = store.best(problem)?.map(|best| best.median).filter(|_| request.resume);
    let run = store.start_run(problem, &run_of(request))?;
    let shared = Mutex::new(Shared {
        chooser,
        store: &mut *store,
        progress: Progress { best_ms: best, ..Progress::default() },
        yardstick: Yardstick::default(),
        watch,
        ended: None,
        started: 0,
        measuring: 0,
    });
    let trial = Trial { request, pool, problem, shared: &shared };
    trial.measure_all();
    let Shared { mut progress, ended, .. } =
        shared.into_inner().unwrap_or_else(PoisonError::into_inner);
    let stopped = matches!(ended, Some(Ok(())));
    ended.unwrap_or(Ok(()))?;
    if !stopped && progress.cut_short.is_none() {
        progress.finalists = finalists::measure_finalists(request, pool, store, problem)?;
        progress.best_ms = store.best(problem)?.map(|best| best.median).or(progress.best_ms);
    }
    progress.elapsed = request.timetable.elapsed();
    store.finish_run(run, now(), &counts(space, &progress))?;
    Ok(progress)
}

/// One candidate after the other, as workers are free.
#[derive(Clone, Copy)]
struct Trial<'t, 's> {
    request: &'t Request<'t>,
    pool: &'t Pool,
    problem: ProblemId,
    shared: &'t Mutex<Shared<'s>>,
}

impl<'t, 's> Trial<'t, 's> {
    /// A candidate is chosen when there is a worker for it, by what is known then.
    fn measure_all(self) {
        std::thread::scope(|scope| {
            while let Some(place) = self.place() {
                let Some((choice, cutoff_ms)) = self.next() else { return };
                scope.spawn(move || self.measure(place, choice, cutoff_ms));
            }
        });
    }

    /// The place of a free worker; nothing where there is no use in waiting for one any more.
    fn place(self) -> Option<Place<'t>> {
        loop {
            if let Some(place) = self.pool.place(LOOK) {
                return Some(place);
            }
            let deadline = self.deadline();
            let mut shared = self.lock();
            // While candidates are measured, those who measure look after it.
            if shared.ended.is_none() && shared.measuring == 0 {
                shared.progress.elapsed = self.request.timetable.elapsed();
                let Shared { watch, progress, ended, .. } = &mut *shared;
                if !watch(progress) {
                    *ended = Some(Ok(()));
                }
            }
            if self.pool.is_empty() {
                shared.progress.cut_short = Some("no worker is left".to_string());
            }
            if shared.ended.is_some() || shared.progress.cut_short.is_some() || deadline.is_over() {
                self.pool.give_up();
                return None;
            }
        }
    }

    fn measure(self, place: Place<'t>, choice: Choice, cutoff_ms: Option<f64>) {
        let Request { def, repeats, .. } = self.request;
        let mut job = Job::new(choice.candidate.text.as_str(), def.name.as_str(), *repeats);
        job.cutoff_ms = cutoff_ms;
        let known = self.known(&choice).map(Measured::known);
        let measured = known.or_else(|| self.pool.measure_at(place, &job, self.deadline()));
        let mut shared = self.lock();
        shared.measuring -= 1;
        // What the search has no time for was not tried.
        let Some(measured) = measured else { return };
        if let Err(error) = self.record(&mut shared, choice, &measured) {
            shared.ended = Some(Err(error));
        }
    }

    fn lock(&self) -> MutexGuard<'_, Shared<'s>> {
        // A thread that died has left everything as it was between two candidates.
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The program itself has run already, for what is expected of candidates. Where it takes long, that will do.
    fn known(&self, choice: &Choice) -> Option<Verdict> {
        let ms = self.pool.reference_ms().filter(|ms| *ms > LONG_MS)?;
        choice.configuration.is_none().then_some(Verdict::TooSlow { ms })
    }

    /// When measuring ends. As long as there is no result, there is nothing to measure again in the end.
    fn deadline(self) -> Deadline {
        match self.lock().progress.best_ms {
            Some(_) => self.request.timetable.search(),
            None => self.request.timetable.latest(),
        }
    }

    /// The next candidate and the time beyond which it is not worth timing; nothing where the search is over.
    fn next(self) -> Option<(Choice, Option<f64>)> {
        let mut shared = self.lock();
        let Request { trials, timetable, resume, far_slower, .. } = self.request;
        let start = Instant::now();
        loop {
            // The program itself is measured as long as there is time for anything.
            let deadline = match shared.started {
                0 => timetable.latest(),
                _ => timetable.search(),
            };
            if shared.ended.is_some() || shared.started >= *trials || deadline.is_over() {
                return None;
            }
            let mut choice = shared.chooser.next()?;
            shared.progress.same_kernels = shared.chooser.same_kernels();
            if *resume {
                match shared.store.is_measured(self.problem, &choice.candidate.hash) {
                    // With a worker that was lost nothing was found out.
                    Ok(None | Some(Outcome::Lost)) => {}
                    Ok(Some(_)) => continue,
                    Err(error) => {
                        shared.ended = Some(Err(error));
                        return None;
                    }
                }
            }
            choice.predicted = self.request.clock.as_ref().and_then(|at| at(&choice.candidate));
            if let Some(why) = self.hopeless(&shared, &choice) {
                if let Err(error) = self.pass_over(&mut shared, choice, why) {
                    shared.ended = Some(Err(error));
                    return None;
                }
                continue;
            }
            choice.took = start.elapsed();
            shared.started += 1;
            shared.measuring += 1;
            let cutoff = match choice.configuration {
                Some(_) => shared.progress.best_ms.map(|best| best * far_slower),
                // The program itself may be very slow, and need not be known any better.
                None => Some(LONG_MS),
            };
            return Some((choice, cutoff));
        }
    }

    /// Why a candidate is not worth a run, where the clock says so. The program itself always is, and where hardly anything
    /// is, the clock is not believed.
    fn hopeless(&self, shared: &Shared, choice: &Choice) -> Option<String> {
        let predicted = choice.predicted.filter(|_| choice.configuration.is_some())?;
        let slower = shared.yardstick.hopeless(predicted, HOPELESS)?;
        let is_believed = shared.progress.hopeless < 20 * self.request.trials;
        let why = || format!("not run: predicted to be {slower:.0} times slower than the fastest");
        is_believed.then(why)
    }

    /// Keeps a candidate that is not run, and why.
    fn pass_over(
        &self,
        shared: &mut Shared,
        choice: Choice,
        message: String,
    ) -> Result<(), StoreError> {
        let (seed, host) = (self.request.seed, self.request.host.clone());
        let (outcome, samples, started) = (Outcome::Skipped, Vec::new(), now());
        shared.store.record_tried(
            self.problem,
            &Tried {
                candidate: &stored(&choice.candidate),
                version: lift_model::features::VERSION,
                features: &choice.candidate.named_features(),
                measurement: &Measurement { outcome, message, samples, started, seed, host },
                durations: None,
            },
        )?;
        shared.progress.hopeless += 1;
        shared.chooser.learn(choice, None);
        Ok(())
    }

    fn record(
        &self,
        shared: &mut Shared,
        choice: Choice,
        measured: &Measured,
    ) -> Result<(), StoreError> {
        let candidate = &choice.candidate;
        let measurement = measurement_of(measured, self.request.seed, &self.request.host);
        shared.store.record_tried(
            self.problem,
            &Tried {
                candidate: &stored(candidate),
                version: lift_model::features::VERSION,
                features: &candidate.named_features(),
                measurement: &measurement,
                durations: durations(&choice, measured),
            },
        )?;
        let progress = &mut shared.progress;
        progress.tried += 1;
        match (measurement.outcome, measurement.median()) {
            (Outcome::Ok, Some(ms)) => {
                if let Some(predicted) = choice.predicted {
                    shared.yardstick.learn(ms, predicted);
                }
                progress.best_ms = Some(progress.best_ms.map_or(ms, |best| best.min(ms)));
            }
            (Outcome::Skipped, _) => progress.skipped += 1,
            (outcome, _) => *progress.failed.entry(outcome.to_string()).or_default() += 1,
        }
        if measurement.outcome != Outcome::Lost {
            shared.chooser.learn(choice, measurement.median());
        }
        shared.progress.elapsed = self.request.timetable.elapsed();
        if shared.ended.is_none() && !(shared.watch)(&shared.progress) {
            shared.ended = Some(Ok(()));
        }
        Ok(())
    }
}
