//! How often predictions are so many times what was measured.

use crate::axes::{Frame, HEIGHT, Scale, WIDTH};
use crate::svg::Svg;

/// From 0 to 2, of equal width; what is beyond is in the last.
const BINS: usize = 40;
const END: f64 = 2.0;

/// A bar for every range of q, and a line where predictions are right.
pub fn quotients(all: &[f64]) -> String {
    let mut bins = [0usize; BINS];
    for q in all {
        let bin = ((q / END * BINS as f64) as usize).min(BINS - 1);
        if let Some(count) = bins.get_mut(bin) {
            *count += 1;
        }
    }
    let highest = bins.iter().copied().max().unwrap_or(0) as f64;
    let mut svg =
        Svg::new("histogram", "Histogram of predicted over measured times", WIDTH, HEIGHT);
    let x = (Scale::linear(0.0, END), "q, predicted over measured");
    let y = (Scale::linear(0.0, highest.max(5.0)), "pairs");
    let frame = Frame::draw(&mut svg, x, y, 0);
    for (number, count) in bins.into_iter().enumerate().filter(|(_, count)| *count > 0) {
        let width = END / BINS as f64;
        let (low, high) = (number as f64 * width, (number + 1) as f64 * width);
        let title = match number + 1 {
            BINS => format!("{count} from {low:.2} on"),
            _ => format!("{count} from {low:.2} to {high:.2}"),
        };
        let (left, top) = frame.at(low, count as f64);
        let (right, bottom) = frame.at(high, 0.0);
        svg.rect("bar", (left + 0.5, top), (right - left - 1.0, bottom - top), &title);
    }
    svg.line("default", frame.at(1.0, 0.0), frame.at(1.0, f64::MAX));
    svg.finish()
}
