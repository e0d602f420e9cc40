//! The fastest ones are measured again, in turns, so that what slows the machine down for a while slows down all.

use std::thread;
use std::time::{Duration, Instant};

use lift_store::{Measured, Measurement, Outcome, ProblemId, Store, StoreError};

use super::Request;
use crate::measure::{self, Job, Pool, Verdict};

/// How often each finalist has its turn.
const ROUNDS: usize = 3;

/// A candidate among the fastest, measured again.
#[derive(Clone, PartialEq, Debug)]
pub struct Finalist {
    pub hash: String,
    pub ms: f64,
    /// Whether it may as well be as fast as the fastest: half of its times are no clearer than half of those.
    pub ties: bool,
}

/// Measures the fastest candidates of a problem again, as often as there is time for all of them, and records it. The
/// fastest comes first.
pub(super) fn measure_finalists(
    request: &Request,
    pool: &Pool,
    store: &mut Store,
    problem: ProblemId,
) -> Result<Vec<Finalist>, StoreError> {
    let mut measured = store.measured(problem)?;
    measured.retain(|m| latest_ms(m).is_some());
    measured.sort_by(|a, b| {
        latest_ms(a).partial_cmp(&latest_ms(b)).unwrap_or(std::cmp::Ordering::Equal)
    });
    measured.truncate(request.finalists);
    if measured.len() < 2 {
        return Ok(Vec::new());
    }
    // Times of several machines say nothing about which is faster.
    let host = pool.host();
    // Nothing for those that turn out to be no finalists.
    let mut samples: Vec<Option<Vec<f64>>> = vec![Some(Vec::new()); measured.len()];
    let deadline = request.timetable.end();
    let mut longest = Duration::ZERO;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        if deadline.left() <= longest {
            break;
        }
        let in_the_race = measured.iter().zip(&mut samples).filter(|(_, times)| times.is_some());
        let racing: Vec<(&Measured, &mut Option<Vec<f64>>)> = in_the_race.collect();
        let verdicts = racing.iter().map(|(finalist, _)| *finalist);
        let verdicts = one_round(verdicts, request, pool, host.as_deref());
        // A round that does not end in time, or that the host was lost in, says nothing: some had their turn and others
        // had not.
        let Some(verdicts) = verdicts else { break };
        longest = longest.max(start.elapsed());
        for ((finalist, times), verdict) in racing.into_iter().zip(verdicts) {
            match (verdict, times) {
                (measure::Measured { verdict: Verdict::Ok { samples_ms }, .. }, Some(known)) => {
                    known.extend(samples_ms);
                }
                (other, times) => {
                    store.record(
                        finalist.id,
                        &super::measurement_of(&other, request.seed, &request.host),
                    )?;
                    *times = None;
                }
            }
        }
    }
    let mut finalists = Vec::new();
    for (finalist, samples) in measured.iter().zip(samples) {
        let Some(samples) = samples else { continue };
        let Some(ms) = lift_runtime::median(&samples) else { continue };
        let (outcome, message) = (Outcome::Ok, "measured again, in turns".to_string());
        let host = host.clone().unwrap_or_else(|| request.host.clone());
        let (seed, started) = (request.seed, super::recorded::now());
        let again = Measurement { outcome, message, samples: samples.clone(), started, seed, host };
        store.record(finalist.id, &again)?;
        finalists
            .push((Finalist { hash: finalist.candidate.hash.clone(), ms, ties: false }, samples));
    }
    finalists.sort_by(|(a, _), (b, _)| a.ms.total_cmp(&b.ms));
    let upper = finalists.first().map_or(0.0, |(_, samples)| quartiles(samples).1);
    let marked = |(index, (mut finalist, samples)): (usize, (Finalist, Vec<f64>))| {
        finalist.ties = index > 0 && quartiles(&samples).0 <= upper;
        finalist
    };
    Ok(finalists.into_iter().enumerate().map(marked).collect())
}

/// Each of them once, as many at once as there are workers: what compiles does not disturb what is measured. Nothing
/// where there is no time for one of them.
fn one_round<'m>(
    finalists: impl Iterator<Item = &'m Measured>,
    request: &Request,
    pool: &Pool,
    host: Option<&str>,
) -> Option<Vec<measure::Measured>> {
    let (name, deadline) = (request.def.name.as_str(), request.timetable.end());
    let job =
        |finalist: &Measured| Job::new(finalist.candidate.text.as_str(), name, request.repeats);
    thread::scope(|scope| {
        let measuring: Vec<_> = finalists
            .map(|l| scope.spawn(move || pool.measure_on(host, &job(l), deadline)))
            .collect();
        let died = |_| None;
        measuring.into_iter().map(|verdict| verdict.join().unwrap_or_else(died)).collect()
    })
}

/// Of the latest measurement, unless it failed.
fn latest_ms(measured: &Measured) -> Option<f64> {
    let latest = measured.measurements.last()?;
    latest.median().filter(|_| latest.outcome == Outcome::Ok)
}

/// Below the first is a quarter of the samples, above the second another.
fn quartiles(samples: &[f64]) -> (f64, f64) {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = |index: usize| sorted.get(index).copied().unwrap_or(f64::NAN);
    (at(sorted.len() / 4), at(sorted.len().saturating_sub(1) - sorted.len().saturating_sub(1) / 4))
}

#[cfg(test)]
mod tests {
    use super::quartiles;

    #[test]
    fn quartiles_cut_off_a_quarter_at_both_ends() {
        assert_eq!(quartiles(&[5.0, 1.0, 2.0, 4.0, 3.0]), (2.0, 4.0));
        assert_eq!(quartiles(&[7.0]), (7.0, 7.0));
        assert!(quartiles(&[]).0.is_nan());
    }
}
