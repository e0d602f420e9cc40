//! The best so far over trials: as it was measured, and as searches would have had it.

use crate::axes::{Frame, HEIGHT, Scale, WIDTH};
use crate::numbers::percent;
use crate::replay::Curve;
use crate::svg::Svg;

/// Curves of the best speed so far, each with the class that is its colour, the first one below the others. Classes make
/// those on top thinner or dashed, so that curves that are the same are all seen.
pub fn progress(curves: &[(&str, Curve)]) -> Option<String> {
    let longest = curves.iter().map(|(_, curve)| curve.median.len()).max()?;
    if longest == 0 {
        return None;
    }
    let label = "Speed of the best candidate so far over the number of trials";
    let mut svg = Svg::new("progress", label, WIDTH, HEIGHT);
    let x = (Scale::logarithmic(1.0, longest as f64), "trials (logarithmic)");
    let y = (Scale::linear(0.0, 100.0), "best so far (% of the best speed)");
    let frame = Frame::draw(&mut svg, x, y, 0);
    for (class, curve) in curves.iter().filter(|(_, curve)| curve.low != curve.high) {
        let mut around = steps(&frame, &curve.high);
        around.extend(steps(&frame, &curve.low).into_iter().rev());
        svg.polygon(&format!("band {class}"), &around, "");
    }
    for (class, curve) in curves {
        let last = curve.median.last().copied().unwrap_or_default();
        let enough = curve.median.iter().position(|share| *share >= 0.9);
        let enough = enough.map_or(String::new(), |at| format!(", 90 % after {} trials", at + 1));
        let trials = curve.median.len();
        let title = format!("{}: {} after {trials} trials{enough}", curve.name, percent(last));
        svg.polyline(&format!("curve {class}"), &steps(&frame, &curve.median), &title);
    }
    Some(svg.finish())
}

/// A trial is over where the next one begins.
fn steps(frame: &Frame, shares: &[f64]) -> Vec<(f64, f64)> {
    let mut points: Vec<(f64, f64)> = Vec::new();
    for (number, share) in shares.iter().enumerate() {
        let at = frame.at((number + 1) as f64, 100.0 * share);
        match points.last().copied() {
            Some((_, level)) if level == at.1 && number + 1 < shares.len() => {}
            Some((_, level)) => points.extend([(at.0, level), at]),
            None => points.push(at),
        }
    }
    points
}
