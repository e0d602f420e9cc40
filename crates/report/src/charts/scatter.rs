//! Predicted against measured speed.

use crate::axes::{Frame, HEIGHT, Scale, WIDTH};
use crate::numbers::percent;
use crate::predicted::Point;
use crate::svg::Svg;

/// A mark for every candidate; the line is where predictions are right.
pub fn scatter(points: &[Point]) -> String {
    let label = "Predicted against measured speed of candidates";
    let mut svg = Svg::new("scatter", label, WIDTH, HEIGHT);
    let x = (Scale::linear(0.0, 100.0), "measured speed relative to the best (%)");
    let y = (Scale::linear(0.0, 100.0), "predicted (%)");
    let frame = Frame::draw(&mut svg, x, y, 0);
    svg.line("ideal", frame.at(0.0, 0.0), frame.at(100.0, 100.0));
    for Point { measured, predicted, name } in points {
        let (m, p) = (percent(*measured), percent(*predicted));
        let title = format!("measured {m}, predicted {p}\n{name}");
        svg.circle("mark", frame.at(100.0 * measured, 100.0 * predicted), 3.0, &title);
    }
    svg.finish()
}
