//! The fastest ones are measured again, in turns, so that what slows the machine down for a while slows down all.

use lift_store::{Measured, Measurement, Outcome, ProblemId, Store, StoreError};

use super::Request;
use crate::measure::{Job, Pool, Verdict};

/// How often each leader has its turn.
const ROUNDS: usize = 3;

/// A candidate among the fastest, measured again.
#[derive(Clone, PartialEq, Debug)]
pub struct Leader {
    pub hash: String,
    pub ms: f64,
    /// Whether it may as well be as fast as the fastest: half of its times are no clearer than half of those.
    pub ties: bool,
}

/// Measures the fastest candidates of a problem again, and records it. The fastest comes first.
pub(super) fn measure_leaders(
    request: &Request,
    pool: &Pool,
    store: &mut Store,
    problem: ProblemId,
) -> Result<Vec<Leader>, StoreError> {
    let mut measured = store.measured(problem)?;
    measured.retain(|m| latest_ms(m).is_some());
    measured.sort_by(|a, b| {
        latest_ms(a).partial_cmp(&latest_ms(b)).unwrap_or(std::cmp::Ordering::Equal)
    });
    measured.truncate(request.leaders);
    if measured.len() < 2 {
        return Ok(Vec::new());
    }
    let mut samples: Vec<Vec<f64>> = vec![Vec::new(); measured.len()];
    for _ in 0..ROUNDS {
        for (leader, samples) in measured.iter().zip(&mut samples) {
            let text = leader.candidate.text.as_str();
            let job = Job::new(text, request.def.name.as_str(), request.repeats);
            if let Verdict::Ok { samples_ms } = pool.measure(&job) {
                samples.extend(samples_ms);
            }
        }
    }
    let mut leaders = Vec::new();
    for (leader, samples) in measured.iter().zip(samples) {
        let Some(ms) = lift_runtime::median(&samples) else { continue };
        let (outcome, message) = (Outcome::Ok, "measured again, in turns".to_string());
        let (seed, host, started) = (request.seed, request.host.clone(), super::now());
        let again = Measurement { outcome, message, samples: samples.clone(), started, seed, host };
        store.record(leader.id, &again)?;
        leaders.push((Leader { hash: leader.candidate.hash.clone(), ms, ties: false }, samples));
    }
    leaders.sort_by(|(a, _), (b, _)| a.ms.total_cmp(&b.ms));
    let upper = leaders.first().map_or(0.0, |(_, samples)| quartiles(samples).1);
    let marked = |(index, (mut leader, samples)): (usize, (Leader, Vec<f64>))| {
        leader.ties = index > 0 && quartiles(&samples).0 <= upper;
        leader
    };
    Ok(leaders.into_iter().enumerate().map(marked).collect())
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
