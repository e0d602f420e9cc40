//! The parent's side: workers are asked, and replaced.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::crew::{Crew, Origin, Seat};
use super::identity::Identity;
use super::listen::Listener;
use super::worker::{Fault, Prepared, Took};
use super::{Job, Problem, Verdict};
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
    /// Commands of a shell that do the same as the program, anywhere: one worker each. Where there are some, or a
    /// listener, no worker is started on this machine.
    pub commands: Vec<String>,
    /// Where workers come by themselves.
    pub listener: Option<Arc<Listener>>,
    /// Whether workers with other devices than the first are welcome, for [`Pool::other`].
    pub any_device: bool,
    /// Told who comes and who does not.
    pub notice: Notice,
    /// To open the device, make the inputs and compute what is expected.
    pub start_limit: Duration,
    pub compile_limit: Duration,
    /// For all runs of a candidate and their comparison.
    pub run_limit: Duration,
    /// A worker elsewhere of which nothing is heard for so long is lost.
    pub quiet_limit: Duration,
}

/// Who is told about workers that come and go.
#[derive(Clone, Default)]
pub struct Notice(Option<Arc<Tell>>);

type Tell = dyn Fn(&str) + Send + Sync;

impl Notice {
    pub fn new(tell: impl Fn(&str) + Send + Sync + 'static) -> Notice {
        Notice(Some(Arc::new(tell)))
    }

    pub(super) fn say(&self, text: &str) {
        if let Some(tell) = &self.0 {
            tell(text);
        }
    }
}

impl fmt::Debug for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Notice" } else { "no Notice" })
    }
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
            commands: Vec::new(),
            listener: None,
            any_device: false,
            notice: Notice::default(),
            start_limit: Duration::from_secs(300),
            compile_limit: Duration::from_secs(60),
            run_limit: Duration::from_secs(60),
            quiet_limit: Duration::from_secs(30),
        }
    }

    /// Whether workers are somewhere else, or may be.
    pub fn is_elsewhere(&self) -> bool {
        !self.commands.is_empty() || self.listener.is_some()
    }
}

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

/// A candidate of which so many workers died, or after which they talked nonsense, has crashed: the first may have been
/// harmed by another.
const CRASHES: u32 = 2;

/// A candidate with which so many workers were lost is given up.
const LOSSES: u32 = 3;

/// How long one waits for a worker before looking whether there is any use in it.
const LOOK: Duration = Duration::from_millis(200);

/// What became of a job, and where.
#[derive(Clone, PartialEq, Debug)]
pub struct Measured {
    pub verdict: Verdict,
    /// The host, where the worker is not this machine's own.
    pub host: Option<String>,
    /// Nothing where no worker came to an end with it.
    pub took: Option<Took>,
}

impl Measured {
    /// What is known without a worker that came to an end with it.
    pub fn known(verdict: Verdict) -> Measured {
        Measured { verdict, host: None, took: None }
    }
}

/// Workers for one problem. They end with the pool.
pub struct Pool {
    crew: Arc<Crew>,
    workers: usize,
    first: Prepared,
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
        let crew = Arc::new(Crew::new(options, problem));
        // Whatever has come is ended where this fails.
        let mut closing = Closing(Some(crew.clone()));
        let mut workers = options.commands.len().max(1);
        if options.is_elsewhere() {
            crew.start_commands();
            if let Some(listener) = &options.listener {
                listener.lead_to(&crew);
            }
        } else {
            let worker = crew.start_here(deadline)?;
            // Where candidates run on the processor, compiling beside them changes their times.
            let is_processor = crew.first().is_some_and(|first| first.kind == "cpu");
            workers = match options.workers {
                _ if is_processor => 1,
                0 => cores().saturating_sub(1).clamp(1, MOST_WORKERS),
                workers => workers,
            };
            crew.seat_here(worker, workers);
        }
        let first = crew.wait_for_first(deadline)?;
        closing.0 = None;
        Ok(Pool { crew, workers, first })
    }

    /// How many candidates can be on their way at once, as far as that is known: others may come.
    pub fn workers(&self) -> usize {
        self.workers
    }

    /// Workers for the same problem on another device, of which this was not asked before. They come to the same place, so
    /// this pool stays as long as others do.
    pub fn other(&self) -> Option<Pool> {
        let crew = self.crew.other()?;
        let first = crew.first()?;
        Some(Pool { crew, workers: 1, first })
    }

    /// Who the first worker is, where it is not this machine's own.
    pub fn identity(&self) -> Option<&Identity> {
        self.first.identity.as_ref().filter(|_| self.is_elsewhere())
    }

    /// How long the kernels of the program itself took, in the first worker, as it says. Nothing where it ran at
    /// other sizes.
    pub fn reference_ms(&self) -> Option<f64> {
        self.first.reference_ms.filter(|_| !self.compares_elsewhere())
    }

    /// Whether results are compared at other sizes than those timed, since the program itself is too slow there.
    pub fn compares_elsewhere(&self) -> bool {
        self.crew.problem.compare_at.is_some()
    }

    /// How long the first worker took to get ready, as it says. Every worker that is replaced costs as much.
    pub fn preparation(&self) -> Duration {
        Duration::try_from_secs_f64(self.first.seconds).unwrap_or_default()
    }

    /// The host that most of the idle workers are on, so that what is compared is measured in one place. Nothing
    /// where they are this machine's own.
    pub fn host(&self) -> Option<String> {
        self.crew.busiest_host().filter(|_| self.is_elsewhere())
    }

    fn is_elsewhere(&self) -> bool {
        self.crew.options.is_elsewhere()
    }

    /// Whether no worker is left and none will come.
    pub fn is_empty(&self) -> bool {
        self.crew.is_empty()
    }

    /// Nobody waits for a worker any longer; those who measure go on.
    pub fn give_up(&self) {
        self.crew.give_up();
    }

    /// Has a worker measure a candidate, and waits for it. Several threads may ask at once.
    ///
    /// A worker that dies of it may have died of others that it served, so another has the last word. Where a worker
    /// is lost, another gets the job.
    pub fn measure(&self, job: &Job) -> Verdict {
        let late = || Verdict::Crashed("it had no time".to_string());
        self.measure_until(job, Deadline::NEVER).unwrap_or_else(late)
    }

    /// The same, no longer than until then. Nothing where it is over: a worker that is at it then is killed, and
    /// nothing is known of the candidate. Nothing, too, where no worker is left.
    pub fn measure_until(&self, job: &Job, deadline: Deadline) -> Option<Verdict> {
        let place = self.wait_for_place(deadline, None)?;
        self.measure_at(place, job, deadline).map(|measured| measured.verdict)
    }

    /// The same on one host. Nothing, too, where there are no workers on it any more.
    pub fn measure_on(
        &self,
        host: Option<&str>,
        job: &Job,
        deadline: Deadline,
    ) -> Option<Measured> {
        let place = self.wait_for_place(deadline, host)?;
        self.measure_at(place, job, deadline)
            .filter(|measured| host.is_none() || measured.host.as_deref() == host)
    }

    /// A place for a candidate, where there is one in this time.
    pub fn place(&self, patience: Duration) -> Option<Place<'_>> {
        let seat = self.crew.seat(patience, None)?;
        Some(Place { crew: &self.crew, seat: Some(seat) })
    }

    fn wait_for_place(&self, deadline: Deadline, host: Option<&str>) -> Option<Place<'_>> {
        loop {
            let found = self.crew.seat(deadline.within(LOOK), host);
            if deadline.is_over() || self.crew.has_given_up() {
                return found.and_then(|seat| {
                    self.crew.give_back(seat);
                    None
                });
            }
            if let Some(seat) = found {
                return Some(Place { crew: &self.crew, seat: Some(seat) });
            }
            if self.is_empty() || host.is_some_and(|host| !self.crew.has(host)) {
                return None;
            }
        }
    }

    /// Measures a candidate at a place.
    pub fn measure_at<'p>(
        &'p self,
        mut place: Place<'p>,
        job: &Job,
        deadline: Deadline,
    ) -> Option<Measured> {
        let (mut crashes, mut losses) = (0, 0);
        loop {
            if deadline.is_over() {
                return None;
            }
            match place.attempt(job, deadline) {
                Ok(measured) => return measured,
                // One that was killed because the time is over has done nothing wrong.
                Err(_) if deadline.is_over() => return None,
                Err(Fault::Crash(how)) => {
                    crashes += 1;
                    if crashes == CRASHES {
                        return Some(Measured::known(Verdict::Crashed(how)));
                    }
                }
                Err(Fault::Loss(who)) => {
                    self.crew.options.notice.say(&who);
                    losses += 1;
                    if losses == LOSSES {
                        return Some(Measured::known(Verdict::Lost(who)));
                    }
                }
            }
            if !place.is_here() {
                drop(place);
                place = self.wait_for_place(deadline, None)?;
            }
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.crew.close();
    }
}

/// A crew that is closed unless it is kept.
struct Closing(Option<Arc<Crew>>);

impl Drop for Closing {
    fn drop(&mut self) {
        if let Some(crew) = &self.0 {
            crew.close();
        }
    }
}

/// A worker's place, given back when its job is done, whatever happened.
pub struct Place<'p> {
    crew: &'p Arc<Crew>,
    /// There until it is given back.
    seat: Option<Seat>,
}

impl Place<'_> {
    fn is_here(&self) -> bool {
        self.seat.as_ref().is_some_and(|seat| seat.origin == Origin::Here)
    }

    /// What the worker says; nothing where the time is over. A worker that is needed here is started.
    fn attempt(&mut self, job: &Job, deadline: Deadline) -> Result<Option<Measured>, Fault> {
        let crew = self.crew;
        let Some(seat) = &mut self.seat else { return Ok(None) };
        let worker = match seat.worker.take() {
            Some(worker) => worker,
            None => crew.start_here(deadline).map_err(|error| Fault::Crash(error.to_string()))?,
        };
        let is_here = seat.origin == Origin::Here;
        let host = worker.host().filter(|_| !is_here).map(ToString::to_string);
        let id = crew.number.fetch_add(1, Ordering::Relaxed);
        let (verdict, took, worker) = worker.ask(id, job, &crew.ask(deadline))?;
        // One that was killed because the time is over has done nothing wrong.
        if worker.is_none() && deadline.is_over() {
            return Ok(None);
        }
        match worker {
            Some(worker) if !verdict.leaves_worker_intact() => worker.end(),
            worker => seat.worker = worker,
        }
        Ok(Some(Measured { verdict, host, took: Some(took) }))
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        if let Some(seat) = self.seat.take() {
            self.crew.give_back(seat);
        }
    }
}
