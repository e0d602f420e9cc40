//! How many candidates are how fast.

use lift_store::Outcome;

use crate::axes::{Frame, HEIGHT, Scale, WIDTH};
use crate::collected::Problem;
use crate::numbers::short;
use crate::svg::{Anchor, Svg};

/// Of equal width, from 0 % to 100 % of the best speed.
const BINS: usize = 20;

/// Candidates by speed; nothing where none was timed. Those that were timed once, being far slower, are drawn on top of
/// the others. A line shows the default lowering.
pub fn histogram(problem: &Problem) -> Option<String> {
    let mut bins = [[0usize; 2]; BINS];
    for tried in &problem.tried {
        let Some(share) = problem.share(tried) else { continue };
        let bin = ((share * BINS as f64) as usize).min(BINS - 1);
        let kind = usize::from(tried.outcome == Outcome::Skipped);
        if let Some(count) = bins.get_mut(bin).and_then(|counts| counts.get_mut(kind)) {
            *count += 1;
        }
    }
    let highest = bins.iter().map(|[ok, slow]| ok + slow).max().filter(|count| *count > 0)?;
    let mut svg = Svg::new(
        "histogram",
        "Histogram of candidates by speed relative to the best",
        WIDTH,
        HEIGHT,
    );
    let x = (Scale::linear(0.0, 100.0), "speed relative to the best (%)");
    let y = (Scale::linear(0.0, (highest as f64).max(5.0)), "candidates");
    let frame = Frame::draw(&mut svg, x, y, 1);
    for (number, [ok, slow]) in bins.into_iter().enumerate() {
        let width = 100.0 / BINS as f64;
        let (low, high) = (number as f64 * width, (number + 1) as f64 * width);
        let stacked = [("bar ok", 0, ok, "timed"), ("bar slow", ok, ok + slow, "timed once")];
        for (class, from, to, what) in stacked {
            if to > from {
                let title = format!("{} {what}: {low:.0} % to {high:.0} % of the best", to - from);
                bar(&mut svg, &frame, class, (low, high), (from as f64, to as f64), &title);
            }
        }
    }
    if let Some((share, ms)) = problem.default().and_then(|d| Some((problem.share(d)?, d.ms?))) {
        let x = 100.0 * share;
        svg.line("default", frame.at(x, 0.0), frame.at(x, f64::MAX));
        // Above the bars, where nothing else is.
        let anchor = if share < 0.5 { Anchor::Start } else { Anchor::End };
        let (across, top) = frame.at(x, f64::MAX);
        let text = format!("default lowering, {} ms", short(ms));
        svg.text("note", anchor, (across, top - 6.0), &text);
    }
    Some(svg.finish())
}

fn bar(
    svg: &mut Svg,
    frame: &Frame,
    class: &str,
    (low, high): (f64, f64),
    (from, to): (f64, f64),
    title: &str,
) {
    let (left, top) = frame.at(low, to);
    let (right, bottom) = frame.at(high, from);
    svg.rect(class, (left + 0.5, top), (right - left - 1.0, bottom - top), title);
}
