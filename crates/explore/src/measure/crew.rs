//! The workers of a pool: who is there, who is on the way, and who waits for one.

mod commands;
mod siblings;

use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use lift_process::Talk;

use super::identity::Identity;
use super::kept::Kept;
use super::messages::{Reply, line};
use super::pool::{MeasureError, PoolOptions};
use super::turns::Turns;
use super::worker::{Ask, NotReady, Prepared, Worker};
use super::{Expected, Problem};
use crate::deadline::Deadline;
use siblings::Siblings;

/// How long those on the way have to notice that they are not wanted any more.
const FAREWELL: Duration = Duration::from_secs(2);

/// How often one who waits looks around.
const LOOK: Duration = Duration::from_millis(100);

/// Everybody who works on a problem.
pub(super) struct Crew {
    pub options: PoolOptions,
    pub problem: Problem,
    pub turns: Arc<Turns>,
    /// Where other devices are welcome: who is there for them.
    siblings: Arc<Siblings>,
    /// Of the next job.
    pub number: AtomicU64,
    /// The problem is over.
    closed: AtomicBool,
    /// Whoever waits for a worker is not to do so any longer.
    given_up: AtomicBool,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// Seats that nobody uses; the last one is used next.
    idle: Vec<Seat>,
    /// How many are in use.
    used: usize,
    /// Threads that wait for workers to get ready.
    coming: usize,
    /// What the first one said.
    first: Option<Prepared>,
    kept: Option<Kept>,
    /// Why the last one that is none is none.
    refusal: Option<NotReady>,
}

/// Where a worker is or was.
pub(super) struct Seat {
    pub origin: Origin,
    pub worker: Option<Worker>,
}

/// How a worker came.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Origin {
    /// Started by the pool when it is needed.
    Here,
    /// By the command of this number.
    Command(usize),
    /// By itself.
    Joined,
}

impl Crew {
    pub fn new(options: &PoolOptions, problem: &Problem) -> Crew {
        Crew::beside(options, problem, Arc::default(), Arc::default())
    }

    /// One that shares devices with others.
    fn beside(
        options: &PoolOptions,
        problem: &Problem,
        turns: Arc<Turns>,
        siblings: Arc<Siblings>,
    ) -> Crew {
        Crew {
            options: options.clone(),
            problem: problem.clone(),
            turns,
            siblings,
            number: AtomicU64::new(1),
            closed: AtomicBool::new(false),
            given_up: AtomicBool::new(false),
            state: Mutex::new(State { kept: Kept::new(), ..State::default() }),
            changed: Condvar::new(),
        }
    }

    pub fn ask(&self, deadline: Deadline) -> Ask<'_> {
        Ask { options: &self.options, turns: &self.turns, deadline, closed: &self.closed }
    }

    /// Starts a worker on this machine and waits for it.
    pub fn start_here(&self, deadline: Deadline) -> Result<Worker, MeasureError> {
        let start = Instant::now();
        let PoolOptions { program, arguments, .. } = &self.options;
        let failed = |error| MeasureError::Worker(format!("{}: {error}", program.display()));
        let mut command = Command::new(program);
        let talk = Talk::start(command.args(arguments).stderr(Stdio::piped())).map_err(failed)?;
        let expected = self.lock().kept.as_ref().map(Kept::expected).unwrap_or_default();
        let problem = Problem { expected, ..self.problem.clone() };
        let worker = Worker::new(talk, "the worker", true);
        match worker.prepare(&problem, &self.ask(deadline), &|_| Ok(())) {
            Ok((worker, prepared)) => {
                self.is_first(prepared);
                Ok(worker)
            }
            Err(NotReady::Impossible(why)) => Err(MeasureError::Problem(why)),
            Err(NotReady::Foreign(why) | NotReady::Failed(why)) => Err(MeasureError::Worker(why)),
            Err(NotReady::Late) => {
                Err(MeasureError::Late { seconds: start.elapsed().as_secs_f64() })
            }
        }
    }

    /// So many seats for workers of this machine, one of which is taken.
    pub fn seat_here(&self, worker: Worker, seats: usize) {
        let mut state = self.lock();
        let seat = |worker| Seat { origin: Origin::Here, worker };
        state.idle.extend((1..seats).map(|_| seat(None)));
        state.idle.push(seat(Some(worker)));
    }

    /// Waits until somebody who came is ready, and gives them a seat.
    pub fn join(self: &Arc<Crew>, talk: Talk, name: &str) {
        self.lock().coming += 1;
        let joined = self.admit(Worker::new(talk, name, false), Origin::Joined);
        joined.unwrap_or_else(|refusal| self.refuse(name, refusal));
        self.lock().coming -= 1;
        self.changed.notify_all();
    }

    fn admit(self: &Arc<Crew>, worker: Worker, origin: Origin) -> Result<(), NotReady> {
        let problem = Problem { expected: Expected::Computed, ..self.problem.clone() };
        let ask = self.ask(Deadline::NEVER);
        let (worker, prepared) = worker.prepare(&problem, &ask, &|who| self.fits(who))?;
        let mut crew = self.clone();
        let mut is_new = false;
        if let Some(who) = &prepared.identity {
            // Several may have been on their way at once.
            self.fits(who).map_err(NotReady::Foreign)?;
            if self.options.any_device {
                let Some(found) = self.crew_for(who) else {
                    worker.tell(line(&Reply::Over));
                    worker.end();
                    let why = "the search for its device is over".to_string();
                    return Err(NotReady::Foreign(why));
                };
                (crew, is_new) = found;
            }
        }
        self.options.notice.say(&format!("{}: ready", worker.name));
        crew.is_first(prepared);
        let mut state = crew.lock();
        if !crew.is_closed() {
            state.idle.insert(0, Seat { origin, worker: Some(worker) });
        }
        drop(state);
        crew.changed.notify_all();
        if is_new {
            self.siblings.announce(crew);
        }
        Ok(())
    }

    /// Whether a worker measures what the first one does.
    fn fits(&self, who: &Identity) -> Result<(), String> {
        if let Some(why) = who.foreign() {
            return Err(why);
        }
        let first = self.first().and_then(|first| first.identity);
        let first = first.filter(|_| !self.options.any_device);
        match first.filter(|first| first.fingerprint != who.fingerprint) {
            None => Ok(()),
            Some(first) => Err(format!(
                "its device is {}, and this search is for {}",
                who.fingerprint, first.fingerprint
            )),
        }
    }

    fn refuse(&self, name: &str, refusal: NotReady) {
        if self.is_closed() {
            return;
        }
        let why = match &refusal {
            NotReady::Impossible(why) | NotReady::Foreign(why) => format!("refused: {why}"),
            NotReady::Failed(why) => why.clone(),
            NotReady::Late => "it was not ready in time".to_string(),
        };
        self.options.notice.say(&format!("{name}: {why}"));
        self.lock().refusal = Some(match refusal {
            NotReady::Impossible(why) => NotReady::Impossible(format!("{name}: {why}")),
            NotReady::Foreign(_) | NotReady::Failed(_) | NotReady::Late => {
                NotReady::Failed(format!("{name}: {why}"))
            }
        });
        self.changed.notify_all();
    }

    fn is_first(&self, prepared: Prepared) {
        let mut state = self.lock();
        if state.first.is_some() {
            return;
        }
        match &mut state.kept {
            Some(kept) if prepared.is_kept => kept.is_written(),
            kept => *kept = None,
        }
        state.first = Some(prepared);
        drop(state);
        self.changed.notify_all();
    }

    /// What the first worker said.
    pub fn first(&self) -> Option<Prepared> {
        self.lock().first.clone()
    }

    /// Waits until a worker has been ready.
    pub fn wait_for_first(&self, deadline: Deadline) -> Result<Prepared, MeasureError> {
        let start = Instant::now();
        let mut state = self.lock();
        loop {
            if let Some(first) = &state.first {
                return Ok(first.clone());
            }
            if state.coming == 0 && self.options.listener.is_none() {
                return Err(match state.refusal.take() {
                    Some(NotReady::Impossible(why)) => MeasureError::Problem(why),
                    Some(NotReady::Foreign(why) | NotReady::Failed(why)) => {
                        MeasureError::Worker(why)
                    }
                    Some(NotReady::Late) | None => {
                        MeasureError::Worker("there is none".to_string())
                    }
                });
            }
            if deadline.is_over() {
                return Err(MeasureError::Late { seconds: start.elapsed().as_secs_f64() });
            }
            state = self.wait(state, deadline.within(LOOK));
        }
    }

    /// A seat for a job, of a worker on this host where one is named; nothing where there is none in this time.
    pub fn seat(&self, patience: Duration, host: Option<&str>) -> Option<Seat> {
        let start = Instant::now();
        let mut state = self.lock();
        let fits = |seat: &Seat| match (host, &seat.worker) {
            (None, _) => true,
            (Some(host), Some(worker)) => worker.host() == Some(host),
            (Some(_), None) => false,
        };
        loop {
            if let Some(index) = state.idle.iter().rposition(fits) {
                state.used += 1;
                return Some(state.idle.remove(index));
            }
            let left = patience.saturating_sub(start.elapsed());
            if left.is_zero() {
                return None;
            }
            state = self.wait(state, left.min(LOOK));
        }
    }

    /// Whether nobody is there and nobody comes.
    pub fn is_empty(&self) -> bool {
        let state = self.lock();
        state.idle.is_empty()
            && state.used == 0
            && state.coming == 0
            && self.options.listener.is_none()
    }

    /// Whether a worker may be on this host: one is, or somebody is at work or on the way of whom it is not known.
    pub fn has(&self, host: &str) -> bool {
        let state = self.lock();
        let is_there = |seat: &Seat| seat.worker.as_ref().is_some_and(|w| w.host() == Some(host));
        state.used > 0 || state.coming > 0 || state.idle.iter().any(is_there)
    }

    /// Where the workers are that wait for jobs: the host that most of them are on.
    pub fn busiest_host(&self) -> Option<String> {
        let state = self.lock();
        let hosts = state.idle.iter().filter_map(|seat| seat.worker.as_ref()?.host());
        let mut hosts: Vec<&str> = hosts.collect();
        hosts.sort_unstable();
        let most = hosts.chunk_by(|a, b| a == b).max_by_key(|same| same.len());
        most.and_then(|same| same.first()).map(ToString::to_string)
    }

    /// A seat after its job. A worker that came by itself comes again by itself, and a command is started again.
    pub fn give_back(self: &Arc<Crew>, seat: Seat) {
        let mut state = self.lock();
        state.used -= 1;
        match (seat.origin, &seat.worker) {
            (Origin::Joined, None) => {}
            (Origin::Command(index), None) => {
                state.coming += 1;
                drop(state);
                self.summon(index);
            }
            (Origin::Here, _) | (_, Some(_)) => state.idle.push(seat),
        }
        self.changed.notify_all();
    }

    pub fn give_up(&self) {
        self.given_up.store(true, Ordering::SeqCst);
    }

    pub fn has_given_up(&self) -> bool {
        self.given_up.load(Ordering::SeqCst)
    }

    pub fn is_closed(&self) -> bool {
        self.closed.load(Ordering::SeqCst)
    }

    /// Ends everybody. Where the search is over too, those who would come again are told so.
    pub fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
        let idle = std::mem::take(&mut self.lock().idle);
        let (here, elsewhere): (Vec<Seat>, Vec<Seat>) =
            idle.into_iter().partition(|seat| seat.origin == Origin::Here);
        let is_over = self.options.listener.as_ref().is_some_and(|listener| listener.is_over());
        let mut talks = Vec::new();
        for Seat { origin, worker } in elsewhere {
            let Some(worker) = worker else { continue };
            if is_over && origin == Origin::Joined {
                worker.tell(line(&Reply::Over));
            }
            talks.push(worker.into_talk());
        }
        let end = Deadline::after(FAREWELL);
        // A command that carries lines has to tidy up behind itself: one that is killed leaves what it has reserved.
        Talk::close_all(talks, end.left());
        let here = here.into_iter().filter_map(|seat| seat.worker.map(Worker::into_talk));
        Talk::kill_all(here.collect());
        let mut state = self.lock();
        while state.coming > 0 && !end.is_over() {
            state = self.wait(state, end.within(LOOK));
        }
    }

    fn wait<'s>(&self, state: MutexGuard<'s, State>, time: Duration) -> MutexGuard<'s, State> {
        let waited = self.changed.wait_timeout(state, time);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    /// What is behind the lock is whole at any time, so a panic elsewhere does no harm.
    fn lock(&self) -> MutexGuard<'_, State> {
        locked(&self.state)
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
