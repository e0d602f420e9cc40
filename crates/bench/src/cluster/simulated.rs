//! A search with many workers, by simulation: recorded measurements are replayed.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::Path;

use lift_store::Store;

/// What a search would come to.
#[derive(Clone, PartialEq, Debug)]
pub struct Simulated {
    pub workers: usize,
    pub per_second: f64,
    /// Of the time, that in which the parent is at work.
    pub parent_busy: f64,
}

/// A result takes the parent so long; a message takes so long to a worker and back; candidates take the recorded times, one
/// after the other. All in seconds. The parent does one thing at a time.
///
/// As many candidates are replayed as make a start that is not everything: a hundred for every worker.
pub fn simulate(durations: &[f64], parent: f64, latency: f64, workers: usize) -> Simulated {
    let whole = |seconds: f64| (seconds * 1e9).max(0.0) as u64;
    let (parent, latency) = (whole(parent), whole(latency));
    let mut times = durations.iter().cycle().map(|seconds| whole(*seconds));
    let results = workers.saturating_mul(100);
    // When each worker's answer arrives; all ask for their first job at once.
    let mut arrivals: BinaryHeap<Reverse<u64>> = (0..workers).map(|_| Reverse(0)).collect();
    let (mut free, mut busy) = (0, 0);
    for _ in 0..results {
        let Some(Reverse(arrival)) = arrivals.pop() else { break };
        free = arrival.max(free) + parent;
        busy += parent;
        // Two messages each way: the job and that it waits, its turn and the answer.
        let done = free + 2 * latency + times.next().unwrap_or(0);
        arrivals.push(Reverse(done));
    }
    let end = arrivals.into_iter().map(|Reverse(at)| at).max().unwrap_or(0).max(1) as f64 / 1e9;
    Simulated { workers, per_second: results as f64 / end, parent_busy: busy as f64 / 1e9 / end }
}

/// How long candidates of a database took, everything included: from one record to the next, as far as a search went on
/// without a pause. Whole seconds, as they are recorded; their mean is what it was.
pub fn durations(database: &Path) -> Result<Vec<f64>, String> {
    const PAUSE: i64 = 120;
    let store = Store::open_to_read(database).map_err(|error| error.to_string())?;
    let mut all = Vec::new();
    for problem in store.problems().map_err(|error| error.to_string())? {
        let measured = store.measured(problem).map_err(|error| error.to_string())?;
        let mut started: Vec<i64> =
            measured.iter().flat_map(|one| one.measurements.iter().map(|m| m.started)).collect();
        started.sort_unstable();
        let between = started.iter().zip(started.iter().skip(1)).map(|(a, b)| b - a);
        all.extend(between.filter(|seconds| *seconds < PAUSE).map(|seconds| seconds as f64));
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, expected: f64) -> bool {
        (found / expected - 1.0).abs() < 0.03
    }

    /// A worker alone does one candidate after the other.
    #[test]
    fn one_worker_takes_the_sum() {
        let found = simulate(&[1.0, 3.0], 0.5, 0.25, 1);
        assert!(near(found.per_second, 1.0 / 3.0), "{found:?}");
        assert!(near(found.parent_busy, 0.5 / 3.0), "{found:?}");
    }

    /// Few workers are as many times faster, and many are as fast as the parent.
    #[test]
    fn throughput_grows_until_the_parent_is_always_at_work() {
        let at = |workers| simulate(&[1.0], 0.01, 0.0, workers).per_second;
        assert!(near(at(10), 10.0 / 1.01), "{}", at(10));
        assert!(near(at(1000), 100.0), "{}", at(1000));
        assert!(at(50) < at(90) && at(90) <= 100.1);
    }
}
