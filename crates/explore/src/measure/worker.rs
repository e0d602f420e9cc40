//! A worker as its pool sees it: the conversations with it, and what goes wrong in them.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use lift_process::{End, Heard, Talk};

use super::identity::Identity;
use super::messages::{Answer, Numbered, Reply, Turn, line};
use super::pool::PoolOptions;
use super::turns::Turns;
use super::{Job, Problem, Stage, Verdict};
use crate::deadline::Deadline;

/// A run of so many times the cutoff is waited for, beside time for everything else that a job does.
const FAR_TOO_SLOW: f64 = 100.0;

/// For that. OpenCL on processors compiles when a kernel is first run.
const AT_LEAST: Duration = Duration::from_secs(3);
const AT_LEAST_ON_PROCESSORS: Duration = Duration::from_secs(10);

/// How long somebody elsewhere may take to end what is not wanted any more.
const FAREWELL: Duration = Duration::from_secs(1);

/// How long it may take to notice that nobody wants an answer any more.
const NOTICE: Duration = Duration::from_millis(200);

/// Somebody who was asked to be a worker.
pub(super) struct Worker {
    talk: Talk,
    /// By which people know it.
    pub name: String,
    /// Whether its process is a child of this one, so that its end says something about the candidate.
    is_here: bool,
    pub identity: Option<Identity>,
    kind: String,
    preparation: Duration,
    /// Whether it says that it is there from time to time.
    beats: Cell<bool>,
}

/// What a worker said when it was ready.
#[derive(Clone)]
pub(super) struct Prepared {
    pub kind: String,
    pub seconds: f64,
    pub reference_ms: Option<f64>,
    pub is_kept: bool,
    pub identity: Option<Identity>,
}

/// Why a worker is none.
pub(super) enum NotReady {
    /// It says that the problem cannot be run.
    Impossible(String),
    /// It would measure something else.
    Foreign(String),
    Late,
    Failed(String),
}

/// Why there is no verdict.
pub(super) enum Fault {
    /// The process that served ended or talked nonsense, maybe because of the candidate.
    Crash(String),
    /// The worker is gone, for a reason of its own: who, and how.
    Loss(String),
}

/// Why there is no answer.
enum Trouble {
    /// The time is over.
    Silence,
    /// It does not even say that it is there.
    Quiet(Duration),
    End,
    Nonsense(String),
}

/// How long a worker took for a job, in parts: messages are part of it, and waiting for its turn is not.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Took {
    /// Until it could run.
    pub compile: Duration,
    /// With the device.
    pub run: Duration,
    /// Until its verdict.
    pub compare: Duration,
}

/// Who wants to know, and for how long.
pub(super) struct Ask<'a> {
    pub options: &'a PoolOptions,
    pub turns: &'a Turns,
    pub deadline: Deadline,
    /// Set when nobody wants to know any more.
    pub closed: &'a AtomicBool,
}

impl Worker {
    pub fn new(talk: Talk, name: impl Into<String>, is_here: bool) -> Worker {
        Worker {
            talk,
            name: name.into(),
            is_here,
            identity: None,
            kind: String::new(),
            preparation: Duration::ZERO,
            beats: Cell::new(false),
        }
    }

    pub fn into_talk(self) -> Talk {
        self.talk
    }

    pub fn host(&self) -> Option<&str> {
        Some(self.identity.as_ref()?.host.as_str())
    }

    pub fn tell(&self, line: String) {
        self.talk.send(line);
    }

    /// Gives it the problem, and waits until it is ready. `admit` says why it is not wanted, once it is known who it is.
    pub fn prepare(
        mut self,
        problem: &Problem,
        ask: &Ask,
        admit: &dyn Fn(&Identity) -> Result<(), String>,
    ) -> Result<(Worker, Prepared), NotReady> {
        self.talk.send(line(problem));
        let limit = ask.options.start_limit;
        let mut answer = self.hear(limit, ask);
        if let Ok(Answer::Opened(identity)) = answer {
            if let Err(why) = admit(&identity) {
                return Err(NotReady::Foreign(self.dismiss(why)));
            }
            self.identity = Some(*identity);
            answer = self.hear(limit, ask);
        } else if !self.is_here && matches!(answer, Ok(Answer::Waits | Answer::Ready { .. })) {
            let why = "it does not say which version and device it is".to_string();
            return Err(NotReady::Foreign(self.dismiss(why)));
        }
        let lock = ask.turns.of(self.unit());
        let mut turn = None;
        if let Ok(Answer::Waits) = answer {
            turn = Some(self.take_turn(&lock));
            answer = self.hear(limit, ask);
        }
        drop(turn);
        match answer {
            Ok(Answer::Ready { kind, seconds, reference_ms, is_kept }) => {
                self.preparation = Duration::try_from_secs_f64(seconds).unwrap_or_default();
                self.kind = kind.clone();
                let identity = self.identity.clone();
                Ok((self, Prepared { kind, seconds, reference_ms, is_kept, identity }))
            }
            Ok(Answer::Impossible(why)) => Err(NotReady::Impossible(self.dismiss(why))),
            Ok(Answer::Ended(how)) => Err(NotReady::Failed(format!("the worker {how}"))),
            Ok(other) => Err(NotReady::Failed(out_of_turn(&other))),
            Err(Trouble::Silence) => Err(NotReady::Late),
            Err(Trouble::Quiet(time)) => Err(NotReady::Failed(quiet(time))),
            Err(Trouble::Nonsense(line)) => Err(NotReady::Failed(nonsense(&line))),
            Err(Trouble::End) => Err(NotReady::Failed(self.epitaph())),
        }
    }

    /// Tells one who is somewhere else why it is not wanted, and that there is no use in coming back.
    fn dismiss(self, why: String) -> String {
        if !self.is_here {
            self.talk.send(line(&Reply::Refused(why.clone())));
        }
        self.end();
        why
    }

    /// Ends it: at once where it is here. Elsewhere somebody has to be told, and ends it there.
    pub fn end(self) {
        if !self.is_here {
            self.talk.close(FAREWELL);
        }
    }

    /// The verdict, how long it took, and the worker unless it had to be killed.
    pub fn ask(
        self,
        id: u64,
        job: &Job,
        ask: &Ask,
    ) -> Result<(Verdict, Took, Option<Worker>), Fault> {
        let lock = ask.turns.of(self.unit());
        // Where candidates run on the processor, compiling beside them changes their times.
        let mut turn = (self.kind == "cpu").then(|| locked(&lock));
        self.talk.send(line(&Numbered { id, job }));
        let mut stage = (Stage::Compile, Instant::now());
        let mut took = Took::default();
        let mut answer = self.hear(ask.options.compile_limit, ask);
        took.compile = stage.1.elapsed();
        if let Ok(Answer::Waits) = answer {
            turn = Some(turn.unwrap_or_else(|| locked(&lock)));
            self.talk.send(line(&Turn::Run));
            stage = (Stage::Run, Instant::now());
            answer = self.hear(self.run_limit(job, ask.options), ask);
            took.run = stage.1.elapsed();
        }
        if let (Ok(Answer::Ran), Stage::Run) = (&answer, stage.0) {
            turn = None;
            answer = self.hear(ask.options.run_limit, ask);
            took.compare = stage.1.elapsed().saturating_sub(took.run);
        }
        let (during, since) = stage;
        let fault = match answer {
            Ok(Answer::Done { id: answered, verdict })
                if answered == id && fits(&verdict, job, during) =>
            {
                return Ok((verdict, took, Some(self)));
            }
            Err(Trouble::Silence) => {
                let after_s = since.elapsed().as_secs_f64();
                // Nobody else measures before it is gone.
                self.end();
                drop(turn);
                return Ok((Verdict::TimedOut { after_s, during }, took, None));
            }
            Ok(Answer::Ended(how)) => {
                self.end();
                Fault::Crash(format!("the worker {how}"))
            }
            Ok(other) => {
                self.end();
                Fault::Crash(out_of_turn(&other))
            }
            Err(Trouble::Nonsense(line)) => {
                self.end();
                Fault::Crash(nonsense(&line))
            }
            Err(Trouble::Quiet(time)) => Fault::Loss(format!("{}: {}", self.name, quiet(time))),
            Err(Trouble::End) if self.is_here => Fault::Crash(self.epitaph()),
            Err(Trouble::End) => {
                let name = self.name.clone();
                Fault::Loss(format!("{name}: {}", self.epitaph()))
            }
        };
        drop(turn);
        Err(fault)
    }

    /// How long a job may use the device. One that takes far longer than the cutoff keeps everyone waiting for
    /// nothing.
    fn run_limit(&self, job: &Job, options: &PoolOptions) -> Duration {
        let at_least = if self.kind == "cpu" { AT_LEAST_ON_PROCESSORS } else { AT_LEAST };
        let enough = |cutoff_ms: f64| {
            let run = Duration::try_from_secs_f64(cutoff_ms * FAR_TOO_SLOW / 1000.0);
            run.unwrap_or(Duration::MAX).saturating_add(self.preparation * 2 + at_least)
        };
        let limit = options.run_limit;
        job.cutoff_ms.map_or(limit, |cutoff_ms| enough(cutoff_ms).min(limit))
    }

    fn unit(&self) -> Option<&str> {
        Some(self.identity.as_ref()?.unit.as_str())
    }

    /// Waits until nobody else uses the device, and tells the worker to go on.
    fn take_turn<'l>(&self, lock: &'l Mutex<()>) -> MutexGuard<'l, ()> {
        let turn = locked(lock);
        self.talk.send(line(&Turn::Run));
        turn
    }

    /// The next answer that is more than that it is there.
    fn hear(&self, limit: Duration, ask: &Ask) -> Result<Answer, Trouble> {
        let (start, mut heard) = (Instant::now(), Instant::now());
        let limit = ask.deadline.within(limit);
        loop {
            let left = limit.saturating_sub(start.elapsed());
            match self.talk.hear(left.min(NOTICE)) {
                Heard::Line(line) => match serde_json::from_str(&line) {
                    Ok(Answer::Beat) => {
                        heard = Instant::now();
                        self.beats.set(true);
                    }
                    Ok(answer) => return Ok(answer),
                    Err(_) => {
                        const ENOUGH: usize = 200;
                        return Err(Trouble::Nonsense(line.chars().take(ENOUGH).collect()));
                    }
                },
                Heard::Silence => {}
                Heard::End => return Err(Trouble::End),
            }
            if self.beats.get() && heard.elapsed() > ask.options.quiet_limit {
                return Err(Trouble::Quiet(heard.elapsed()));
            }
            if start.elapsed() >= limit || ask.closed.load(Ordering::SeqCst) {
                return Err(Trouble::Silence);
            }
        }
    }

    /// How one who has said its last came to its end, and what it complained about.
    fn epitaph(self) -> String {
        let End { how, complaints } = self.talk.end();
        match complaints.as_str() {
            "" => format!("the worker {how}"),
            complaints => format!("the worker {how}: {complaints}"),
        }
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
        // Whoever is killed or lost does not say so.
        Verdict::TimedOut { .. } | Verdict::Lost(_) => false,
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

fn quiet(time: Duration) -> String {
    format!("nothing was heard of the worker for {:.1} s", time.as_secs_f64())
}

/// What is behind these locks is whole at any time, so a panic elsewhere does no harm.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
