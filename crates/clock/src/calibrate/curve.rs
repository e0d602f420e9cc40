//! Points of a curve, chosen one after the other where it bends, and the knees between its levels.

use crate::time::lost;

/// A curve measured so far, in the order of its arguments.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Curve {
    pub points: Vec<(f64, f64)>,
}

/// A curve that goes from one level to the next twice: as time for a byte does, where two caches after each other lose.
#[derive(Clone, PartialEq, Debug)]
pub struct Steps {
    pub levels: [f64; 3],
    /// Where it leaves a level and where it is on the next.
    pub knees: [(f64, f64); 2],
}

impl Steps {
    /// Each level counts by the part of it that the ones before do not keep; the dearest decides.
    fn value(&self, at: f64) -> f64 {
        let [near, next, far] = self.levels;
        let [first, second] = self.knees.map(|(begin, end)| lost(at, begin, end));
        near.max(first * next).max(second * far)
    }
}

/// Measures a curve between two arguments, spaced by ratios: its ends and middle first, then where the value in the middle of
/// an interval is least certain, which is where the slopes beside it differ most; until all intervals are known to a
/// part of the values, or so many points are taken.
pub fn measure(
    from: f64,
    to: f64,
    tolerance: f64,
    most: usize,
    value: &mut dyn FnMut(f64) -> Result<f64, String>,
) -> Result<Curve, String> {
    let mut curve = Curve::default();
    for at in [from, (from * to).sqrt(), to] {
        curve.points.push((at, value(at)?));
    }
    while curve.points.len() < most {
        let Some((k, doubt)) = curve.least_certain() else { break };
        if doubt < tolerance {
            break;
        }
        let at = (curve.points[k].0 * curve.points[k + 1].0).sqrt();
        let value = value(at)?;
        curve.points.insert(k + 1, (at, value));
    }
    Ok(curve)
}

/// The same in parts of equal ratios, each with points of its own, so that nothing that shakes one of them, as another's work
/// does, leaves the others without.
pub fn measure_in_parts(
    [from, to]: [f64; 2],
    parts: i32,
    tolerance: f64,
    most: usize,
    value: &mut dyn FnMut(f64) -> Result<f64, String>,
) -> Result<Curve, String> {
    let step = (to / from).powf(1.0 / f64::from(parts));
    let mut curve = Curve::default();
    for part in 0..parts {
        let begin = from * step.powi(part);
        let own = measure(begin, begin * step, tolerance, most, value)?;
        // A part begins where the one before ends.
        let skipped = usize::from(part > 0);
        curve.points.extend(own.points.into_iter().skip(skipped));
    }
    Ok(curve)
}

impl Curve {
    /// The interval whose inside is least certain, and how uncertain it is, as a part of its values.
    fn least_certain(&self) -> Option<(usize, f64)> {
        let intervals = self.points.windows(2).enumerate();
        // An interval of less than a tenth of its argument says where a knee is well enough.
        let wide = intervals.filter(|(_, pair)| pair[1].0 / pair[0].0 > 1.1);
        let doubts = wide.map(|(k, _)| (k, self.doubt(k)));
        doubts.max_by(|a, b| a.1.total_cmp(&b.1))
    }

    fn doubt(&self, k: usize) -> f64 {
        let value = |k: usize| self.points.get(k).map(|p| p.1);
        let (Some(a), Some(b)) = (value(k), value(k + 1)) else { return 0.0 };
        let level = a.abs().max(b.abs()).max(f64::MIN_POSITIVE);
        // The step inside, which may be anywhere in it.
        (b - a).abs() / level
    }

    /// The value at the beginning and at the end of the curve.
    pub fn levels(&self) -> Option<(f64, f64)> {
        Some((self.points.first()?.1, self.points.last()?.1))
    }

    /// Where the curve leaves its first level and where it reaches its last, having gone a twentieth of the way.
    pub fn knees(&self) -> Option<(f64, f64)> {
        let (low, high) = self.levels()?;
        let part = |value: f64| (value - low) / (high - low);
        Some((self.crosses(0.05, &part)?, self.crosses(0.95, &part)?))
    }

    /// For how much of the arguments each point stands, by ratios: points lie close where a value was not certain.
    fn widths(&self) -> Vec<f64> {
        let at = |k: usize| self.points.get(k).map(|p| p.0.ln());
        let ends = |k: usize| Some(at(k + 1).or_else(|| at(k))? - at(k.saturating_sub(1))?);
        (0..self.points.len()).map(|k| ends(k).unwrap_or(0.0).max(1e-9)).collect()
    }

    /// The best description of the curve by three levels with slopes between them: a level is the mean of the values on it, and each
    /// point counts by how much it stands for.
    pub fn two_steps(&self) -> Option<Steps> {
        let n = self.points.len();
        let widths = self.widths();
        let mut best: Option<(f64, Steps)> = None;
        // The last point of the first level, the first and last of the second, and the first of the third.
        for a in 0..n {
            for b in a + 1..n {
                for c in b..n {
                    for d in c + 1..n {
                        let steps = self.steps_at([a, b, c, d], &widths)?;
                        let error = self.error(&steps, &widths);
                        if best.as_ref().is_none_or(|(least, _)| error < *least) {
                            best = Some((error, steps));
                        }
                    }
                }
            }
        }
        best.map(|(error, steps)| self.between_points(steps, error, &widths))
    }

    /// Moves knees from points to where they fit best between them.
    fn between_points(&self, mut steps: Steps, mut least: f64, widths: &[f64]) -> Steps {
        for by in [1.2, 1.1, 1.05, 1.02] {
            let mut moved = true;
            while moved {
                moved = false;
                for (k, times) in (0..4).flat_map(|k| [(k, by), (k, 1.0 / by)]) {
                    let [(a, b), (c, d)] = steps.knees;
                    let mut at = [a, b, c, d];
                    at[k] *= times;
                    let [a, b, c, d] = at;
                    let other = Steps { knees: [(a, b), (c, d)], ..steps.clone() };
                    let error = self.error(&other, widths);
                    if at.is_sorted() && error < 0.999 * least {
                        (steps, least, moved) = (other, error, true);
                    }
                }
            }
        }
        steps
    }

    fn steps_at(&self, [a, b, c, d]: [usize; 4], widths: &[f64]) -> Option<Steps> {
        let at = |k: usize| self.points.get(k).map(|p| p.0);
        let mean = |range: std::ops::RangeInclusive<usize>| {
            let (points, widths) = (self.points.get(range.clone())?, widths.get(range)?);
            let sum: f64 = points.iter().zip(widths).map(|((_, value), w)| value * w).sum();
            Some(sum / widths.iter().sum::<f64>())
        };
        let last = self.points.len().checked_sub(1)?;
        Some(Steps {
            levels: [mean(0..=a)?, mean(b..=c)?, mean(d..=last)?],
            knees: [(at(a)?, at(b)?), (at(c)?, at(d)?)],
        })
    }

    /// How far the points are from a description, by ratios.
    fn error(&self, steps: &Steps, widths: &[f64]) -> f64 {
        let off = |((at, value), width): (&(f64, f64), &f64)| {
            let ratio = steps.value(*at) / value.max(f64::MIN_POSITIVE);
            let more = ratio.max(1.0 / ratio.max(f64::MIN_POSITIVE)) - 1.0;
            width * more * more
        };
        self.points.iter().zip(widths).map(off).sum()
    }

    fn crosses(&self, wanted: f64, part: &dyn Fn(f64) -> f64) -> Option<f64> {
        let pair = self.points.windows(2).find(|pair| part(pair[1].1) >= wanted)?;
        let (a, b) = (part(pair[0].1), part(pair[1].1));
        let t = if b > a { ((wanted - a) / (b - a)).clamp(0.0, 1.0) } else { 1.0 };
        Some(pair[0].0 + t * (pair[1].0 - pair[0].0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A device whose cache begins to lose at one size and keeps nothing at another.
    fn device(begin: f64, end: f64) -> impl FnMut(f64) -> Result<f64, String> {
        move |bytes| Ok(1.0 + 4.0 * ((bytes - begin) / (end - begin)).clamp(0.0, 1.0))
    }

    #[test]
    fn knees_are_found_with_fewer_points_than_a_grid_needs() {
        for (begin, end) in [(3e6, 5e6), (4.1e7, 6.3e7), (2e5, 9e5), (7.7e8, 8e8)] {
            let curve = measure(1e4, 4e9, 0.02, 60, &mut device(begin, end)).expect("points");
            let (a, b) = curve.knees().expect("knees");
            // Where a twentieth of the way is gone.
            let way = end - begin;
            let (begin, end) = (begin + 0.05 * way, end - 0.05 * way);
            assert!((a / begin - 1.0).abs() < 0.05, "{a} for {begin}");
            assert!((b / end - 1.0).abs() < 0.05, "{b} for {end}");
            // A grid of the same ratio everywhere whose steps are as short: ln(4e5) / ln(1.1).
            assert!(curve.points.len() < 60, "{} points", curve.points.len());
            let grid = (4e9_f64 / 1e4).ln() / 1.1_f64.ln();
            assert!((curve.points.len() as f64) < grid / 2.0, "{} points", curve.points.len());
        }
    }

    /// A processor whose cores' caches lose first and then the one that they share.
    #[test]
    fn two_caches_are_told_apart() {
        let made = Steps { levels: [1.0, 5.0, 20.0], knees: [(8e6, 4e7), (2e8, 3e8)] };
        // Points are off by up to three in a hundred.
        let mut random = fastrand::Rng::with_seed(7);
        let mut value = |at: f64| Ok(made.value(at) * (0.97 + 0.06 * random.f64()));
        let curve = measure_in_parts([1e6, 1e9], 4, 0.1, 7, &mut value).expect("points");
        assert!(curve.points.is_sorted_by(|a, b| a.0 < b.0), "{curve:?}");
        let found = curve.two_steps().expect("steps");
        for (a, b) in found.levels.iter().zip(made.levels) {
            assert!((a / b - 1.0).abs() < 0.05, "{found:?}");
        }
        for at in [2e6, 3e7, 1e8, 4e8] {
            assert!((found.value(at) / made.value(at) - 1.0).abs() < 0.1, "{at}: {found:?}");
        }
        assert_eq!(Curve::default().two_steps(), None);
    }

    /// Sizes at which the machine was shaken have many points, and count for no more than their part of the curve.
    #[test]
    fn a_shaken_part_does_not_hide_a_level() {
        let made = Steps { levels: [1.0, 5.0, 10.0], knees: [(1.3e7, 3e7), (2e8, 3e8)] };
        let mut random = fastrand::Rng::with_seed(3);
        let mut value = |at: f64| {
            let is_shaken = (2e6..4e6).contains(&at);
            Ok(made.value(at) * if is_shaken { 0.7 + 1.3 * random.f64() } else { 1.0 })
        };
        let curve = measure_in_parts([1e6, 1e9], 4, 0.1, 7, &mut value).expect("points");
        let inside = |from: f64, to: f64| {
            curve.points.iter().filter(|(at, _)| (from..to).contains(at)).count()
        };
        assert!(inside(3e7, 2e8) >= 3, "{curve:?}");
        let found = curve.two_steps().expect("steps");
        for at in [1e8, 1.5e8, 5e8] {
            assert!((found.value(at) / made.value(at) - 1.0).abs() < 0.15, "{at}: {found:?}");
        }
    }

    #[test]
    fn a_level_curve_takes_three_points() {
        let curve = measure(1.0, 1e6, 0.02, 60, &mut |_| Ok(3.0)).expect("points");
        assert_eq!(curve.points.len(), 3);
    }

    #[test]
    fn what_cannot_be_measured_ends_it() {
        let said = measure(1.0, 2.0, 0.1, 9, &mut |_| Err("busy".to_string()));
        assert_eq!(said, Err("busy".to_string()));
    }
}
