//! What it costs to reach a good candidate when candidates are tried in some order, and what is reached after so many.
//!
//! All are expected values, computed exactly: among n candidates in random order of which g are good, the first
//! good one comes at (n + 1) / (g + 1), and each of the others comes before all good ones with probability
//! 1 / (g + 1). Candidates of which the same is predicted are in random order among themselves.

/// A candidate with this share of the best throughput is good enough to stop.
pub const GOOD: f64 = 0.9;

/// A candidate, as one that tries it sees it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Tried {
    pub predicted: f64,
    /// Nothing where it fails.
    pub ms: Option<f64>,
    /// Throughput compared with the best; 0 where it fails.
    pub speed: f64,
}

impl Tried {
    fn is_good(&self) -> bool {
        self.speed >= GOOD
    }
}

/// What was spent when the first good one has run.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Cost {
    /// Those that fail count.
    pub runs: f64,
    /// Kernel time of those that do not fail, each run once.
    pub ms: f64,
}

/// Best predicted first; nothing where none is good.
pub fn in_order(candidates: &[Tried]) -> Option<Cost> {
    let order = ordered(candidates);
    let mut spent = Cost::default();
    for equals in order.chunk_by(|a, b| a.predicted == b.predicted) {
        if let Some(last) = in_random_order(equals) {
            return Some(Cost { runs: spent.runs + last.runs, ms: spent.ms + last.ms });
        }
        spent.runs += equals.len() as f64;
        spent.ms += time(equals.iter());
    }
    None
}

/// Any order is as likely; nothing where none is good.
pub fn in_random_order(candidates: &[Tried]) -> Option<Cost> {
    let good = candidates.iter().filter(|c| c.is_good()).count() as f64;
    if good == 0.0 {
        return None;
    }
    let runs = (candidates.len() as f64 + 1.0) / (good + 1.0);
    let others = time(candidates.iter().filter(|c| !c.is_good())) / (good + 1.0);
    let last = time(candidates.iter().filter(|c| c.is_good())) / good;
    Some(Cost { runs, ms: others + last })
}

/// The best speed after so many runs, best predicted first.
pub fn reached_in_order(candidates: &[Tried], runs: usize) -> f64 {
    let order = ordered(candidates);
    let (mut left, mut best) = (runs, 0.0_f64);
    for equals in order.chunk_by(|a, b| a.predicted == b.predicted) {
        best = best_of(equals, left, best);
        left = left.saturating_sub(equals.len());
    }
    best
}

/// The best speed after so many runs in random order.
pub fn reached_in_random_order(candidates: &[Tried], runs: usize) -> f64 {
    best_of(candidates, runs, 0.0)
}

/// The best of so many drawn from the candidates, and of the one there was before.
fn best_of(candidates: &[Tried], drawn: usize, before: f64) -> f64 {
    let mut speeds: Vec<f64> = candidates.iter().map(|c| c.speed.max(before)).collect();
    speeds.sort_by(|a, b| b.total_cmp(a));
    let drawn = drawn.min(speeds.len());
    if drawn == 0 {
        return before;
    }
    // The i slowest hold all that are drawn with probability C(i, drawn) / C(n, drawn).
    let (mut holds, mut best) = (1.0, 0.0);
    for (passed, speed) in speeds.iter().enumerate() {
        let slowest = (speeds.len() - passed) as f64;
        let without = holds * (slowest - drawn as f64).max(0.0) / slowest;
        best += speed * (holds - without);
        holds = without;
    }
    best
}

fn ordered(candidates: &[Tried]) -> Vec<Tried> {
    let mut order = candidates.to_vec();
    order.sort_by(|a, b| b.predicted.total_cmp(&a.predicted));
    order
}

fn time<'c>(candidates: impl Iterator<Item = &'c Tried>) -> f64 {
    candidates.filter_map(|c| c.ms).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tried(predicted: f64, speed: f64) -> Tried {
        let ms = (speed > 0.0).then(|| 1.0 / speed);
        Tried { predicted, ms, speed }
    }

    const ORDERS: [[usize; 3]; 6] =
        [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];

    #[test]
    fn the_expected_cost_is_the_mean_over_all_orders() {
        let all = [tried(0.0, 1.0), tried(0.0, 0.2), tried(0.0, 0.95)];
        let (mut runs, mut ms) = (0.0, 0.0);
        for order in ORDERS {
            for number in order {
                runs += 1.0 / 6.0;
                ms += all[number].ms.unwrap() / 6.0;
                if all[number].is_good() {
                    break;
                }
            }
        }
        let cost = in_random_order(&all).unwrap();
        assert!((cost.runs - runs).abs() < 1e-12 && (cost.ms - ms).abs() < 1e-12, "{cost:?}");
        // All the same is predicted, so the order is random.
        assert_eq!(in_order(&all), Some(cost));
    }

    #[test]
    fn what_is_predicted_to_be_faster_comes_first() {
        let all = [tried(0.1, 0.125), tried(0.5, 1.0), tried(0.7, 0.25), tried(0.9, 0.0)];
        assert_eq!(in_order(&all), Some(Cost { runs: 3.0, ms: 5.0 }));
        assert_eq!(in_order(&all[..1]), None);
        assert_eq!(in_random_order(&[]), None);
        let reached: Vec<f64> = (0..6).map(|runs| reached_in_order(&all, runs)).collect();
        assert_eq!(reached, [0.0, 0.0, 0.25, 1.0, 1.0, 1.0]);
    }

    #[test]
    fn what_is_reached_is_the_mean_over_all_orders() {
        let all = [tried(0.3, 0.5), tried(0.3, 0.0), tried(0.3, 1.0)];
        for runs in 0..=3 {
            let best = |order: &[usize; 3]| {
                order[..runs].iter().map(|number| all[*number].speed).fold(0.0, f64::max)
            };
            let mean = ORDERS.iter().map(best).sum::<f64>() / 6.0;
            assert!((reached_in_random_order(&all, runs) - mean).abs() < 1e-12, "{runs}");
            assert!((reached_in_order(&all, runs) - mean).abs() < 1e-12, "{runs}");
            // What was reached before is not lost.
            let with_first = [&all[..], &[tried(0.9, 0.7)]].concat();
            let best = |order: &[usize; 3]| best(order).max(0.7);
            let mean = ORDERS.iter().map(best).sum::<f64>() / 6.0;
            assert!((reached_in_order(&with_first, runs + 1) - mean).abs() < 1e-12, "{runs}");
        }
        assert_eq!(reached_in_random_order(&[], 3), 0.0);
    }
}
