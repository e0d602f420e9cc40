//! Candidates that the clock says are hopeless are not run.
//!
//! A prediction may be wrong by a factor, and so may that of the fastest so far. So a candidate is measured by both the
//! time of the fastest and what was predicted of it, whichever is longer, and must be many times slower. Whatever was run
//! before it, the fastest of all takes no longer than that, so it is never dropped where its own prediction is not as many
//! times too long.

use std::sync::Arc;

use lift_clock::{Description, plan, predict};

use crate::candidate::{Candidate, Goal};

/// So many times slower than the fastest is hopeless.
pub const HOPELESS: f64 = 16.0;

/// How long a candidate takes, in milliseconds; nothing where that cannot be told.
pub type Clock = Arc<dyn Fn(&Candidate) -> Option<f64> + Send + Sync>;

/// By the description of a machine.
pub fn clock(machine: Description, goal: &Goal) -> Clock {
    let goal = goal.clone();
    Arc::new(move |candidate| {
        let options = goal.options(&goal.sizes);
        let plan = plan(&candidate.def, &options, goal.language, &machine).ok()?;
        let ms = predict(&plan, &goal.sizes, &machine).ok()?.kernel_ms();
        (ms.is_finite() && ms > 0.0).then_some(ms)
    })
}

/// The fastest candidate so far: its time, and what was predicted of it.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Yardstick {
    best: Option<(f64, f64)>,
}

impl Yardstick {
    /// What a candidate took of which so much was predicted.
    pub fn learn(&mut self, ms: f64, predicted: f64) {
        if self.best.is_none_or(|(best, _)| ms < best) {
            self.best = Some((ms, predicted));
        }
    }

    /// How many times slower than the fastest a candidate is predicted to be, where that is hopeless.
    pub fn hopeless(&self, predicted: f64, times: f64) -> Option<f64> {
        let (ms, of_best) = self.best?;
        let slower = predicted / ms.max(of_best);
        (slower > times).then_some(slower)
    }
}

/// What would have come of a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Replay {
    /// Candidates that would not have been run.
    pub dropped: usize,
    /// The fastest of all is among them.
    pub lost_best: bool,
}

/// Times and predictions of candidates in the order in which they were run, gone through again.
pub fn replay(known: &[(f64, f64)], times: f64) -> Replay {
    let best = known.iter().map(|(ms, _)| *ms).min_by(f64::total_cmp);
    let mut yardstick = Yardstick::default();
    let mut told = Replay::default();
    for (ms, predicted) in known {
        if yardstick.hopeless(*predicted, times).is_some() {
            told.dropped += 1;
            told.lost_best |= Some(*ms) == best;
        } else {
            yardstick.learn(*ms, *predicted);
        }
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_hopeless_before_something_ran() {
        assert_eq!(Yardstick::default().hopeless(1e9, 2.0), None);
    }

    #[test]
    fn the_fastest_counts_by_its_time_and_by_its_prediction() {
        let mut yardstick = Yardstick::default();
        // Predicted twice as slow as it is.
        yardstick.learn(1.0, 2.0);
        assert_eq!(yardstick.hopeless(7.9, 4.0), None);
        assert_eq!(yardstick.hopeless(10.0, 4.0), Some(5.0));
        // A slower one changes nothing; a faster one that was predicted slower is no reason to drop more.
        yardstick.learn(3.0, 0.1);
        assert_eq!(yardstick.hopeless(10.0, 4.0), Some(5.0));
        yardstick.learn(0.5, 4.0);
        assert_eq!(yardstick.hopeless(10.0, 4.0), None);
    }

    /// In any order, among any others.
    #[test]
    fn the_fastest_is_kept_where_its_prediction_is_not_far_too_long() {
        let mut random = fastrand::Rng::with_seed(7);
        for _ in 0..500 {
            let others = (0..20).map(|_| (1.0 + 9.0 * random.f64(), 1e-3 + 99.0 * random.f64()));
            let mut known: Vec<(f64, f64)> = others.collect();
            known.push((1.0, 3.9));
            random.shuffle(&mut known);
            assert!(!replay(&known, 4.0).lost_best, "{known:?}");
        }
    }

    #[test]
    fn what_is_dropped_is_counted() {
        let known = [(1.0, 1.0), (50.0, 40.0), (0.9, 1.1), (30.0, 10.0), (2.0, 2.0)];
        assert_eq!(replay(&known, 4.0), Replay { dropped: 2, lost_best: false });
        // A prediction that is badly wrong loses the best, and that is told.
        assert_eq!(replay(&[(1.0, 1.0), (0.5, 9.0)], 4.0), Replay { dropped: 1, lost_best: true });
        assert_eq!(replay(&[], 4.0), Replay::default());
    }
}
