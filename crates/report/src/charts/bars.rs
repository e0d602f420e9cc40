//! Lying bars with names: what went wrong how often, and what features say.

use crate::svg::{Anchor, Svg};

pub struct Bar {
    pub name: String,
    pub value: f64,
    /// As it is written behind the bar.
    pub text: String,
}

const WIDTH: f64 = 440.0;
/// For the names.
const LEFT: f64 = 172.0;
/// For the values.
const RIGHT: f64 = 48.0;
const STEP: f64 = 21.0;

/// Bars of which one of value `full` would take all the width; nothing where there are none.
pub fn bars(
    class: &'static str,
    label: &str,
    unit: &str,
    bars: &[Bar],
    full: f64,
) -> Option<String> {
    if bars.is_empty() {
        return None;
    }
    let bottom = 6.0 + STEP * bars.len() as f64;
    let mut svg = Svg::new(class, label, WIDTH, bottom + 26.0);
    for (number, bar) in bars.iter().enumerate() {
        let top = 4.0 + STEP * number as f64;
        let part = if full > 0.0 { (bar.value / full).clamp(0.0, 1.0) } else { 0.0 };
        let length = ((WIDTH - LEFT - RIGHT) * part).max(1.0);
        let title = format!("{}: {} ({unit})", bar.name, bar.text);
        svg.text("tick", Anchor::End, (LEFT - 6.0, top + 13.0), &bar.name);
        svg.rect("bar", (LEFT, top), (length, STEP - 5.0), &title);
        svg.text("tick", Anchor::Start, (LEFT + length + 5.0, top + 13.0), &bar.text);
    }
    svg.line("axis", (LEFT, 0.0), (LEFT, bottom));
    svg.text("label", Anchor::Middle, (LEFT + (WIDTH - LEFT - RIGHT) / 2.0, bottom + 17.0), unit);
    Some(svg.finish())
}
