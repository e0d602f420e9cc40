//! What one parent can hold: many workers that answer at once, and what that means for those who take their time.

mod answering;
mod simulated;

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use lift_explore::measure::{Job, Listener, Pool, PoolOptions, Problem, Token, Verdict};
use lift_store::{Candidate, Device, Measurement, Outcome, ProblemKey, Store};

pub use simulated::{Simulated, durations, simulate};

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
}

impl Held {
    pub fn per_second(&self) -> f64 {
        self.results as f64 / self.seconds.max(f64::MIN_POSITIVE)
    }

    /// Lines in both directions: a job, its turn; that it waits, that it ran, that it is done.
    pub fn messages_per_second(&self) -> f64 {
        5.0 * self.per_second()
    }
}

/// Has so many workers connect over TCP and answer so many jobs, and records every answer in a database.
pub fn held(workers: usize, results: usize, folder: &Path) -> Result<Held, String> {
    const TOKEN: &str = "only for this measurement";
    let fail = |what: &str, error: &dyn std::fmt::Display| format!("{what}: {error}");
    let token = Token::new(TOKEN)?;
    let listener =
        Listener::bind(("127.0.0.1", 0), token).map_err(|e| fail("cannot listen", &e))?;
    let listener = Arc::new(listener);
    let before = memory();
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
    let bytes_per_worker = memory().saturating_sub(before) as f64 / workers.max(1) as f64;
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
                let measured =
                    pool.measure_at(place, &job, lift_explore::deadline::Deadline::NEVER);
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
    Ok(Held { workers, results, recorded, seconds, bytes_per_worker })
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
    let mut store = store.lock().unwrap_or_else(PoisonError::into_inner);
    let candidate = Candidate { hash: format!("{number:032x}"), ..Candidate::default() };
    let id = store.candidate(problem, &candidate).map_err(|e| e.to_string())?;
    let measurement = Measurement {
        outcome: Outcome::Ok,
        message: String::new(),
        samples,
        started: 0,
        seed: 0,
        host: String::new(),
    };
    store.record(id, &measurement).map_err(|e| e.to_string())
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

/// Bytes of memory that this process has at the moment.
fn memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
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
    }
}
