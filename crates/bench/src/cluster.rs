//! What one parent can hold: many workers that answer at once, and what that means for those who take their time.

mod answering;
mod simulated;

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use lift_explore::deadline::Deadline;
use lift_explore::measure::{Job, Listener, Pool, PoolOptions, Problem, Token, Verdict};
use lift_model::features::{VERSION, names};
use lift_store::{Candidate, Device, Durations, Measurement, Outcome, ProblemKey, Store, Tried};

pub use simulated::{Parent, Simulated, away, recorded, saturated_at, simulate};

/// What was measured with workers that answer at once.
#[derive(Clone, PartialEq, Debug)]
pub struct Held {
    pub workers: usize,
    pub results: usize,
    /// Results that are in the database, each once.
    pub recorded: usize,
    pub seconds: f64,
    /// Bytes of this process's memory for every worker, both ends of the connection together.
    pub bytes_per_worker: f64,
    /// The most memory that this process has had.
    pub peak_bytes: u64,
    /// A line to a worker and its answer, in seconds, while nobody else says anything: the median.
    pub round_trip: f64,
}

impl Held {
    pub fn per_second(&self) -> f64 {
        self.results as f64 / self.seconds.max(f64::MIN_POSITIVE)
    }

    /// What results take of a parent that does one thing at a time.
    pub fn parent(&self) -> Parent {
        Parent { result: self.seconds / self.results.max(1) as f64, round_trip: self.round_trip }
    }

    /// Lines in both directions: a job, its turn; that it waits, that it ran, that it is done.
    pub fn messages_per_second(&self) -> f64 {
        5.0 * self.per_second()
    }
}

/// Has so many workers connect over TCP and answer so many jobs, and records every answer in a database, as a search does.
pub fn held(workers: usize, results: usize, folder: &Path) -> Result<Held, String> {
    const TOKEN: &str = "only for this measurement";
    let fail = |what: &str, error: &dyn std::fmt::Display| format!("{what}: {error}");
    let token = Token::new(TOKEN)?;
    let listener =
        Listener::bind(("127.0.0.1", 0), token).map_err(|e| fail("cannot listen", &e))?;
    let listener = Arc::new(listener);
    let before = memory("VmRSS:");
    let address = listener.address();
    let answering: Vec<_> = (0..workers)
        .map(|number| {
            thread::Builder::new()
                .stack_size(STACK)
                .spawn(move || answering::answer(address, TOKEN, number))
        })
        .collect::<Result<_, _>>()
        .map_err(|e| fail("cannot start a thread", &e))?;
    let options = PoolOptions { listener: Some(listener.clone()), ..PoolOptions::new("", [""; 0]) };
    let pool = Pool::start(&options, &Problem::default()).map_err(|e| e.to_string())?;
    wait_for_all(&pool, workers);
    let bytes_per_worker = memory("VmRSS:").saturating_sub(before) as f64 / workers.max(1) as f64;
    let round_trip = round_trip(&pool)?;
    let mut store = Store::open(folder.join("results.db")).map_err(|e| e.to_string())?;
    let problem = store.problem(&key()).map_err(|e| e.to_string())?;
    let (start, store) = (Instant::now(), Mutex::new(store));
    let lost = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for number in 0..results {
            let Some(place) = pool.place(PATIENCE) else { break };
            let (pool, store, lost) = (&pool, &store, &lost);
            scope.spawn(move || {
                let job = Job::new(format!("candidate {number}"), "f", 1);
                let measured = pool.measure_at(place, &job, Deadline::NEVER);
                let recorded = match measured.map(|measured| measured.verdict) {
                    Some(Verdict::Ok { samples_ms }) => record(store, problem, number, samples_ms),
                    other => Err(format!("{other:?}")),
                };
                if let Err(why) = recorded {
                    lost.lock().unwrap_or_else(PoisonError::into_inner).push(why);
                }
            });
        }
    });
    let seconds = start.elapsed().as_secs_f64();
    listener.last();
    drop(pool);
    drop(listener);
    for worker in answering {
        let _ = worker.join();
    }
    if let Some(why) = lost.into_inner().unwrap_or_else(PoisonError::into_inner).first() {
        return Err(format!("a result was lost: {why}"));
    }
    let store = store.into_inner().unwrap_or_else(PoisonError::into_inner);
    let measured = store.measured(problem).map_err(|e| e.to_string())?;
    let recorded = measured.iter().filter(|one| one.measurements.len() == 1).count();
    let peak_bytes = memory("VmHWM:");
    Ok(Held { workers, results, recorded, seconds, bytes_per_worker, peak_bytes, round_trip })
}

/// Threads that answer need no more.
const STACK: usize = 256 << 10;

/// Nobody takes so long.
const PATIENCE: Duration = Duration::from_secs(60);

/// Waits until every worker has a place.
fn wait_for_all(pool: &Pool, workers: usize) {
    let mut places = Vec::new();
    while places.len() < workers {
        let Some(place) = pool.place(PATIENCE) else { return };
        places.push(place);
    }
}

fn record(
    store: &Mutex<Store>,
    problem: lift_store::ProblemId,
    number: usize,
    samples: Vec<f64>,
) -> Result<(), String> {
    // As much as of a candidate of some lines.
    const LINES: usize = 20;
    let text = format!("candidate {number}: {}\n", "a line of a program ".repeat(2)).repeat(LINES);
    let candidate = Candidate { hash: format!("{number:032x}"), text, ..Candidate::default() };
    let measurement = Measurement {
        outcome: Outcome::Ok,
        message: String::new(),
        samples,
        started: 0,
        seed: 0,
        host: String::new(),
    };
    let named = |name: &&'static str| (name.to_string(), number as f64);
    let tried = Tried {
        candidate: &candidate,
        version: VERSION,
        features: &names().iter().map(named).collect(),
        measurement: &measurement,
        durations: Some(Durations::default()),
    };
    let mut store = store.lock().unwrap_or_else(PoisonError::into_inner);
    store.record_tried(problem, &tried).map(drop).map_err(|e| e.to_string())
}

fn key() -> ProblemKey {
    let text = || "measurement".to_string();
    ProblemKey {
        program: text(),
        name: text(),
        sizes: [].into(),
        device: Device { fingerprint: text(), name: text(), kind: "cpu".to_string() },
        flags: String::new(),
    }
}

/// One job after the other: a line there and back each until it may run, and until it ran.
fn round_trip(pool: &Pool) -> Result<f64, String> {
    const TIMES: usize = 101;
    let mut times = Vec::new();
    for _ in 0..TIMES {
        let place = pool.place(PATIENCE).ok_or("no worker is left")?;
        let start = Instant::now();
        let measured = pool.measure_at(place, &Job::new("round trip", "f", 1), Deadline::NEVER);
        times.push(start.elapsed().as_secs_f64() / 2.0);
        measured.and_then(|measured| measured.took).ok_or("a worker was lost")?;
    }
    lift_runtime::median(&times).ok_or_else(|| "there is no time".to_string())
}

/// Bytes of memory of this process: `VmRSS:` at the moment, `VmHWM:` the most there was.
fn memory(line: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let found = status.lines().find_map(|text| text.strip_prefix(line));
    let kib = found.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_result_of_many_workers_is_lost_and_none_recorded_twice() {
        let folder = tempfile::tempdir().expect("a folder");
        let held = held(40, 600, folder.path()).expect("nothing is lost");
        assert_eq!((held.workers, held.results, held.recorded), (40, 600, 600));
        assert!(held.round_trip > 0.0 && held.parent().result > 0.0 && held.peak_bytes > 0);
    }
}
