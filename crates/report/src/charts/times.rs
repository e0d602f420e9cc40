//! Predicted against measured times.

use crate::axes::{Frame, HEIGHT, Scale, WIDTH};
use crate::clock::Pair;
use crate::numbers::short;
use crate::svg::Svg;

/// A mark for every pair, both ways by powers of ten; the line is where predictions are right.
pub fn times(pairs: &[Pair]) -> String {
    let mut svg = Svg::new("scatter", "Predicted against measured times", WIDTH, HEIGHT);
    let all = || pairs.iter().flat_map(|p| [p.measured_ms, p.predicted_ms]);
    let least = all().fold(f64::INFINITY, f64::min).max(1e-6);
    let most = all().fold(least, f64::max);
    let (low, high) = (power_below(least), 10.0 * power_below(most));
    let scale = Scale::logarithmic(low, high);
    let frame = Frame::draw(&mut svg, (scale, "measured (ms)"), (scale, "predicted (ms)"), 0);
    svg.line("ideal", frame.at(low, low), frame.at(high, high));
    for Pair { what, measured_ms, predicted_ms, .. } in pairs {
        let (m, p) = (short(*measured_ms), short(*predicted_ms));
        let title = format!("measured {m} ms, predicted {p} ms\n{what}");
        svg.circle("mark", frame.at(*measured_ms, *predicted_ms), 2.5, &title);
    }
    svg.finish()
}

/// The greatest power of ten that is not greater.
pub fn power_below(value: f64) -> f64 {
    10f64.powi(value.log10().floor() as i32)
}
