//! A search with many workers, by simulation: recorded measurements are replayed, each with the times that it took.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::Path;

use lift_store::{Durations, Store};

/// What the parent takes and what lies between it and a worker, in seconds, as measured.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Parent {
    /// To give a job away, hear of it and record what came of it.
    pub result: f64,
    /// A line to a worker, and its answer.
    pub round_trip: f64,
}

/// What a search would come to.
#[derive(Clone, PartialEq, Debug)]
pub struct Simulated {
    pub workers: usize,
    pub per_second: f64,
    /// Of the time, that in which the parent is at work.
    pub parent_busy: f64,
}

/// A worker gets a job as soon as the parent has time to choose one for it, and is away as long as it was when that was
/// recorded, with a device of its own; candidates come in the order in which they were recorded, again and again. The
/// parent does one thing at a time: it chooses, for as long as that took, and sees to results.
///
/// As many candidates are replayed as make a start that is not everything: a hundred for every worker.
pub fn simulate(recorded: &[Durations], parent: Parent, workers: usize) -> Simulated {
    let whole = |seconds: f64| (seconds * 1e9).max(0.0) as u64;
    let mut replayed = recorded.iter().cycle();
    let results = workers.saturating_mul(100);
    // When each worker's answer arrives; all ask for their first job at once.
    let mut arrivals: BinaryHeap<Reverse<u64>> = (0..workers).map(|_| Reverse(0)).collect();
    let (mut free, mut busy) = (0, 0);
    for _ in 0..results {
        let (Some(Reverse(arrival)), Some(next)) = (arrivals.pop(), replayed.next()) else { break };
        let work = whole(next.choose_ms / 1000.0 + parent.result);
        free = arrival.max(free) + work;
        busy += work;
        // The job and that it waits, its turn and the answer.
        let done = free + whole(2.0 * parent.round_trip + away(next));
        arrivals.push(Reverse(done));
    }
    let end = arrivals.into_iter().map(|Reverse(at)| at).max().unwrap_or(0).max(1) as f64 / 1e9;
    Simulated { workers, per_second: results as f64 / end, parent_busy: busy as f64 / 1e9 / end }
}

/// From how many workers on the parent is always at work.
pub fn saturated_at(recorded: &[Durations], parent: Parent) -> f64 {
    let count = recorded.len().max(1) as f64;
    let away = recorded.iter().map(away).sum::<f64>() / count + 2.0 * parent.round_trip;
    let choose = recorded.iter().map(|one| one.choose_ms / 1000.0).sum::<f64>() / count;
    away / (choose + parent.result).max(f64::MIN_POSITIVE) + 1.0
}

/// How long a candidate was away, in seconds.
pub fn away(one: &Durations) -> f64 {
    (one.compile_ms + one.run_ms + one.compare_ms) / 1000.0
}

/// How long the candidates of a database took, in the order in which they were recorded.
pub fn recorded(database: &Path) -> Result<Vec<Durations>, String> {
    let store = Store::open_to_read(database).map_err(|error| error.to_string())?;
    let mut all = Vec::new();
    for problem in store.problems().map_err(|error| error.to_string())? {
        all.extend(store.durations(problem).map_err(|error| error.to_string())?);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, expected: f64) -> bool {
        (found / expected - 1.0).abs() < 0.03
    }

    fn one(choose_ms: f64, compile_ms: f64, run_ms: f64, compare_ms: f64) -> Durations {
        Durations { choose_ms, compile_ms, run_ms, compare_ms }
    }

    /// A worker alone does one candidate after the other, and every part of each counts.
    #[test]
    fn one_worker_takes_the_sum() {
        let recorded = [one(100.0, 500.0, 250.0, 250.0), one(300.0, 1000.0, 1500.0, 500.0)];
        let found = simulate(&recorded, Parent { result: 0.3, round_trip: 0.25 }, 1);
        // Two candidates: 0.4 s of choosing, 0.6 s of results, 1 s of messages, 4 s away.
        assert!(near(found.per_second, 2.0 / 6.0), "{found:?}");
        assert!(near(found.parent_busy, 1.0 / 6.0), "{found:?}");
    }

    /// Few workers are as many times faster, and many are as fast as the parent.
    #[test]
    fn throughput_grows_until_the_parent_is_always_at_work() {
        let (recorded, parent) =
            ([one(4.0, 700.0, 200.0, 100.0)], Parent { result: 0.006, round_trip: 0.0 });
        let at = |workers| simulate(&recorded, parent, workers).per_second;
        assert!(near(at(10), 10.0 / 1.01), "{}", at(10));
        assert!(near(at(1000), 100.0), "{}", at(1000));
        assert!(at(50) < at(90) && at(90) <= 100.1);
        assert!(near(saturated_at(&recorded, parent), 101.0));
    }
}
