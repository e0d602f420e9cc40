//! The parent's side: workers are started, asked, and replaced.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use std::{fmt, io};

use lift_process::{End, Heard, Talk};

use super::kept::Kept;
use super::messages::{Answer, Turn, line};
use super::{Job, Problem, Stage, Verdict};
use crate::deadline::Deadline;

/// How workers are started and how long they may take.
#[derive(Clone, Debug)]
pub struct PoolOptions {
    /// What runs [`super::serve`] on its standard input and output.
    pub program: PathBuf,
    pub arguments: Vec<String>,
    /// How many compile at once, or 0 for one a core but one. One measures at a time. On a processor there is
    /// one, whatever this says.
    pub workers: usize,
    /// To open the device, make the inputs and compute what is expected.
    pub start_limit: Duration,
    pub compile_limit: Duration,
    /// For all runs of a candidate and their comparison.
    pub run_limit: Duration,
}

impl PoolOptions {
    /// Workers for all cores, a minute to compile and one to run.
    pub fn new(
        program: impl Into<PathBuf>,
        arguments: impl IntoIterator<Item = impl Into<String>>,
    ) -> PoolOptions {
        PoolOptions {
            program: program.into(),
            arguments: arguments.into_iter().map(Into::into).collect(),
            workers: 0,
            start_limit: Duration::from_secs(300),
            compile_limit: Duration::from_secs(60),
            run_limit: Duration::from_secs(60),
        }
    }
}

/// A run of so many times the cutoff is waited for, beside time for everything else that a job does.
const FAR_TOO_SLOW: f64 = 100.0;

/// For that. OpenCL on processors compiles when a kernel is first run.
const AT_LEAST: Duration = Duration::from_secs(3);
const AT_LEAST_ON_PROCESSORS: Duration = Duration::from_secs(10);

/// Each has its own inputs and its own part of the device's memory.
const MOST_WORKERS: usize = 16;

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Why nothing can be measured.
#[derive(Clone, PartialEq, Debug)]
pub enum MeasureError {
    /// The problem itself cannot be run on the device.
    Problem(String),
    /// A worker cannot be started.
    Worker(String),
    /// A worker was not ready in time: the program itself takes longer, or what it needs.
    Late { seconds: f64 },
}

impl fmt::Display for MeasureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MeasureError::Problem(text) => f.write_str(text),
            MeasureError::Worker(text) => write!(f, "cannot start a worker: {text}"),
            MeasureError::Late { seconds } => {
                write!(f, "cannot start a worker: it was not ready after {seconds:.1} s")
            }
        }
    }
}

impl std::error::Error for MeasureError {}

/// Workers for one problem. They end with the pool.
pub struct Pool {
    options: PoolOptions,
    problem: Problem,
    workers: usize,
    preparation: Duration,
    reference_ms: Option<f64>,
    kept: Option<Kept>,
    at_least: Duration,
    /// Places for workers that serve no job; a worker is started when its place is first used.
    idle: Mutex<Vec<Option<Talk>>>,
    returned: Condvar,
    /// Held by whoever measures.
    turn: Mutex<()>,
}

impl Pool {
    /// Starts a worker and waits until it is ready.
    pub fn start(options: &PoolOptions, problem: &Problem) -> Result<Pool, MeasureError> {
        Pool::start_until(options, problem, Deadline::NEVER)
    }

    /// The same, no longer than until then.
    pub fn start_until(
        options: &PoolOptions,
        problem: &Problem,
        deadline: Deadline,
    ) -> Result<Pool, MeasureError> {
        let mut pool = Pool {
            options: options.clone(),
            problem: problem.clone(),
            workers: 1,
            preparation: Duration::ZERO,
            reference_ms: None,
            kept: Kept::new(),
            at_least: AT_LEAST,
            idle: Mutex::default(),
            returned: Condvar::new(),
            turn: Mutex::default(),
        };
        let Ready { worker, kind, seconds, reference_ms, is_kept } = pool.worker(deadline)?;
        pool.reference_ms = reference_ms;
        match &mut pool.kept {
            Some(kept) if is_kept => kept.is_written(),
            kept => *kept = None,
        }
        pool.preparation = Duration::try_from_secs_f64(seconds).unwrap_or_default();
        if kind == "cpu" {
            pool.at_least = AT_LEAST_ON_PROCESSORS;
        }
        // Where candidates run on the processor, compiling beside them changes their times.
        pool.workers = match options.workers {
            _ if kind == "cpu" => 1,
            0 => cores().saturating_sub(1).clamp(1, MOST_WORKERS),
            workers => workers,
        };
        let mut idle = vec![Some(worker)];
        idle.resize_with(pool.workers, || None);
        idle.reverse();
        pool.idle = Mutex::new(idle);
        Ok(pool)
    }

    /// How many candidates can be on their way at once.
    pub fn workers(&self) -> usize {
        self.workers
    }

    /// How long the kernels of the program itself took, in the first worker, as it says. Nothing where it ran at
    /// other sizes.
    pub fn reference_ms(&self) -> Option<f64> {
        self.reference_ms.filter(|_| !self.compares_elsewhere())
    }

    /// Whether results are compared at other sizes than those timed, since the program itself is too slow there.
    pub fn compares_elsewhere(&self) -> bool {
        self.problem.compare_at.is_some()
    }

    /// How long the first worker took to get ready, as it says. Every worker that is replaced costs as much.
    pub fn preparation(&self) -> Duration {
        self.preparation
    }

    /// Has a worker measure a candidate, and waits for it. Several threads may ask at once.
    ///
    /// A worker that has served other candidates and dies of this one may have died of those, so a fresh worker
    /// has the last word.
    pub fn measure(&self, job: &Job) -> Verdict {
        let late = || Verdict::Crashed("it had no time".to_string());
        self.measure_until(job, Deadline::NEVER).unwrap_or_else(late)
    }

    /// The same, no longer than until then. Nothing where it is over: a worker that is at it then is killed, and
    /// nothing is known of the candidate.
    pub fn measure_until(&self, job: &Job, deadline: Deadline) -> Option<Verdict> {
        let mut place = Place::take(self);
        if deadline.is_over() {
            return None;
        }
        let served = place.worker.take().map(|worker| self.ask(worker, job, deadline));
        let asked = match served {
            Some(Ok(answered)) => Ok(answered),
            Some(Err(Died(_))) | None => match self.worker(deadline) {
                Ok(Ready { worker, .. }) => self.ask(worker, job, deadline),
                Err(error) => Err(Died(error.to_string())),
            },
        };
        match asked {
            Ok((verdict, worker)) => {
                // One that was killed because the time is over has done nothing wrong.
                if worker.is_none() && deadline.is_over() {
                    return None;
                }
                place.worker = worker.filter(|_| verdict.leaves_worker_intact());
                Some(verdict)
            }
            Err(Died(_)) if deadline.is_over() => None,
            Err(Died(how)) => Some(Verdict::Crashed(how)),
        }
    }

    /// Starts a worker and waits for it.
    fn worker(&self, deadline: Deadline) -> Result<Ready, MeasureError> {
        let start = Instant::now();
        let PoolOptions { program, arguments, start_limit, .. } = &self.options;
        let failed = |error| MeasureError::Worker(format!("{}: {error}", program.display()));
        let worker = started(program, arguments).map_err(failed)?;
        let expected = self.kept.as_ref().map(Kept::expected).unwrap_or_default();
        worker.send(line(&Problem { expected, ..self.problem.clone() }));
        let mut answer = hear(&worker, deadline.within(*start_limit));
        let mut turn = None;
        if let Ok(Answer::Waits) = answer {
            turn = Some(self.turn_of(&worker));
            answer = hear(&worker, deadline.within(*start_limit));
        }
        drop(turn);
        match answer {
            Ok(Answer::Ready { kind, seconds, reference_ms, is_kept }) => {
                Ok(Ready { worker, kind, seconds, reference_ms, is_kept })
            }
            Ok(Answer::Impossible(why)) => Err(MeasureError::Problem(why)),
            Ok(other) => Err(MeasureError::Worker(out_of_turn(&other))),
            Err(Trouble::Silence) => {
                Err(MeasureError::Late { seconds: start.elapsed().as_secs_f64() })
            }
            Err(Trouble::Nonsense(line)) => Err(MeasureError::Worker(nonsense(&line))),
            Err(Trouble::End) => Err(MeasureError::Worker(epitaph(worker))),
        }
    }

    /// The verdict, and the worker unless it had to be killed.
    fn ask(
        &self,
        worker: Talk,
        job: &Job,
        deadline: Deadline,
    ) -> Result<(Verdict, Option<Talk>), Died> {
        worker.send(line(job));
        let mut stage = (Stage::Compile, Instant::now());
        let mut answer = hear(&worker, deadline.within(self.options.compile_limit));
        let mut turn = None;
        if let Ok(Answer::Waits) = answer {
            turn = Some(self.turn_of(&worker));
            stage = (Stage::Run, Instant::now());
            answer = hear(&worker, deadline.within(self.run_limit(job)));
        }
        if let (Ok(Answer::Ran), Some(_)) = (&answer, &turn) {
            turn = None;
            answer = hear(&worker, deadline.within(self.options.run_limit));
        }
        let (during, since) = stage;
        let verdict = match answer {
            Ok(Answer::Done(verdict)) if fits(&verdict, job, during) => {
                return Ok((verdict, Some(worker)));
            }
            Ok(other) => Verdict::Crashed(out_of_turn(&other)),
            Err(Trouble::Silence) => {
                Verdict::TimedOut { after_s: since.elapsed().as_secs_f64(), during }
            }
            Err(Trouble::Nonsense(line)) => Verdict::Crashed(nonsense(&line)),
            Err(Trouble::End) => return Err(Died(epitaph(worker))),
        };
        // Nobody else measures before it is gone.
        drop(worker);
        drop(turn);
        Ok((verdict, None))
    }

    /// How long a job may use the device. One that takes far longer than the cutoff keeps everyone waiting for
    /// nothing.
    fn run_limit(&self, job: &Job) -> Duration {
        let enough = |cutoff_ms: f64| {
            let run = Duration::try_from_secs_f64(cutoff_ms * FAR_TOO_SLOW / 1000.0);
            run.unwrap_or(Duration::MAX).saturating_add(self.preparation * 2 + self.at_least)
        };
        let limit = self.options.run_limit;
        job.cutoff_ms.map_or(limit, |cutoff_ms| enough(cutoff_ms).min(limit))
    }

    /// Waits until nobody else measures, and tells the worker to go on.
    fn turn_of(&self, worker: &Talk) -> MutexGuard<'_, ()> {
        let turn = lock(&self.turn);
        worker.send(line(&Turn::Run));
        turn
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        let idle = std::mem::take(&mut *lock(&self.idle));
        Talk::kill_all(idle.into_iter().flatten().collect());
    }
}

/// A worker's place, given back when its job is done, whatever happened.
struct Place<'p> {
    pool: &'p Pool,
    worker: Option<Talk>,
}

impl Place<'_> {
    /// Waits for a free one.
    fn take(pool: &Pool) -> Place<'_> {
        let mut idle = lock(&pool.idle);
        loop {
            if let Some(worker) = idle.pop() {
                return Place { pool, worker };
            }
            idle = pool.returned.wait(idle).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        lock(&self.pool.idle).push(self.worker.take());
        self.pool.returned.notify_one();
    }
}

/// A worker, and what it says of itself.
struct Ready {
    worker: Talk,
    kind: String,
    seconds: f64,
    reference_ms: Option<f64>,
    is_kept: bool,
}

/// How a worker ended by itself.
struct Died(String);

/// Why there is no answer.
enum Trouble {
    Silence,
    End,
    Nonsense(String),
}

fn started(program: &Path, arguments: &[String]) -> io::Result<Talk> {
    Talk::start(Command::new(program).args(arguments).stderr(Stdio::piped()))
}

/// How a worker that has said its last came to its end, and what it complained about.
fn epitaph(worker: Talk) -> String {
    let End { how, complaints } = worker.end();
    match complaints.as_str() {
        "" => format!("the worker {how}"),
        complaints => format!("the worker {how}: {complaints}"),
    }
}

fn hear(worker: &Talk, limit: Duration) -> Result<Answer, Trouble> {
    match worker.hear(limit) {
        Heard::Line(line) => serde_json::from_str(&line).map_err(|_| {
            const ENOUGH: usize = 200;
            Trouble::Nonsense(line.chars().take(ENOUGH).collect())
        }),
        Heard::Silence => Err(Trouble::Silence),
        Heard::End => Err(Trouble::End),
    }
}

/// Whether a verdict can be true: times there are no more than asked for, of runs that had their turn.
fn fits(verdict: &Verdict, job: &Job, during: Stage) -> bool {
    let is_time = |ms: &f64| ms.is_finite() && *ms >= 0.0;
    match verdict {
        Verdict::Ok { samples_ms } => {
            let count = 1..=job.samples();
            count.contains(&samples_ms.len())
                && samples_ms.iter().all(is_time)
                && during == Stage::Run
        }
        Verdict::TooSlow { ms } => is_time(ms) && during == Stage::Run,
        Verdict::Wrong(_) => during == Stage::Run,
        // Whoever is killed does not say so.
        Verdict::TimedOut { .. } => false,
        Verdict::Crashed(_)
        | Verdict::Refused(_)
        | Verdict::FailedToCompile(_)
        | Verdict::OutOfResources(_) => true,
    }
}

fn nonsense(line: &str) -> String {
    format!("the worker answered nonsense: `{line}`")
}

fn out_of_turn(answer: &Answer) -> String {
    format!("the worker answered what cannot be: {answer:?}")
}

/// What is behind these locks is whole at any time, so a panic elsewhere does no harm.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
