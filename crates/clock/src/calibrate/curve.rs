//! Points of a curve, chosen one after the other where it bends, and the knees between its levels.

/// A curve measured so far, in the order of its arguments.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Curve {
    pub points: Vec<(f64, f64)>,
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
