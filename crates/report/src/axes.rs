//! Axes: where values are drawn, and the lines and numbers that say which they are.

use crate::svg::{Anchor, Svg};

/// From values to places along one axis.
#[derive(Clone, Copy)]
pub struct Scale {
    low: f64,
    high: f64,
    is_logarithmic: bool,
}

impl Scale {
    pub fn linear(low: f64, high: f64) -> Scale {
        let high = if high > low { high } else { low + 1.0 };
        Scale { low, high, is_logarithmic: false }
    }

    /// Requires: `low` is positive.
    pub fn logarithmic(low: f64, high: f64) -> Scale {
        let high = if high > low { high } else { low * 10.0 };
        Scale { low, high, is_logarithmic: true }
    }

    /// 0 at the low end, 1 at the high one.
    fn part(&self, value: f64) -> f64 {
        let part = match self.is_logarithmic {
            true => (value.max(self.low) / self.low).ln() / (self.high / self.low).ln(),
            false => (value - self.low) / (self.high - self.low),
        };
        part.clamp(0.0, 1.0)
    }

    /// Round values along the axis.
    fn ticks(&self) -> Vec<f64> {
        if self.is_logarithmic {
            let powers = (0..).map(|k| self.low * 10f64.powi(k));
            let all = powers.flat_map(|power| [1.0, 2.0, 5.0].map(|step| step * power));
            return all.take_while(|value| *value <= self.high).collect();
        }
        let rough = (self.high - self.low) / 5.0;
        let power = 10f64.powf(rough.log10().floor());
        let steps = [1.0, 2.0, 5.0, 10.0].map(|step| step * power);
        let step = steps.into_iter().find(|step| *step >= rough).unwrap_or(rough);
        let first = (self.low / step).ceil();
        let values = (0..12).map(|k| (first + f64::from(k)) * step);
        values.take_while(|value| *value <= self.high + step * 1e-9).collect()
    }
}

/// A frame within a drawing in which values are drawn.
pub struct Frame {
    pub x: Scale,
    pub y: Scale,
    left: f64,
    top: f64,
    width: f64,
    height: f64,
}

pub const WIDTH: f64 = 440.0;
pub const HEIGHT: f64 = 290.0;
/// The height of a line of text.
pub const LINE: f64 = 16.0;

impl Frame {
    /// Draws axes with what they show into a drawing of the usual size. Above it is room for lines of text.
    pub fn draw(svg: &mut Svg, x: (Scale, &str), y: (Scale, &str), lines: usize) -> Frame {
        let (left, top) = (56.0, 12.0 + LINE * lines as f64);
        let (width, height) = (WIDTH - left - 14.0, HEIGHT - 50.0 - top);
        let frame = Frame { x: x.0, y: y.0, left, top, width, height };
        let (right, bottom) = (left + frame.width, top + frame.height);
        for value in frame.x.ticks() {
            let at = frame.across(value);
            svg.line("grid", (at, top), (at, bottom));
            svg.text("tick", Anchor::Middle, (at, bottom + 16.0), &number(value));
        }
        for value in frame.y.ticks() {
            let at = frame.down(value);
            svg.line("grid", (left, at), (right, at));
            svg.text("tick", Anchor::End, (left - 6.0, at + 4.0), &number(value));
        }
        svg.line("axis", (left, bottom), (right, bottom));
        svg.line("axis", (left, top), (left, bottom));
        svg.text("label", Anchor::Middle, (left + frame.width / 2.0, bottom + 38.0), x.1);
        svg.upright_text("label", (14.0, top + frame.height / 2.0), y.1);
        frame
    }

    pub fn across(&self, x: f64) -> f64 {
        self.left + self.width * self.x.part(x)
    }

    pub fn down(&self, y: f64) -> f64 {
        self.top + self.height * (1.0 - self.y.part(y))
    }

    pub fn at(&self, x: f64, y: f64) -> (f64, f64) {
        (self.across(x), self.down(y))
    }
}

/// A tick: no more digits than it needs.
fn number(value: f64) -> String {
    // What is left of a sum of steps that is zero.
    let rounded = (value * 1e6).round() / 1e6;
    format!("{}", rounded + 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_on_the_axis() {
        assert_eq!(Scale::linear(0.0, 100.0).ticks(), [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]);
        assert_eq!(Scale::logarithmic(1.0, 60.0).ticks(), [1.0, 2.0, 5.0, 10.0, 20.0, 50.0]);
        assert_eq!(Scale::linear(0.0, 3.0).ticks(), [0.0, 1.0, 2.0, 3.0]);
    }

    #[test]
    fn an_axis_of_one_value_has_a_place_for_it() {
        for scale in [Scale::linear(2.0, 2.0), Scale::logarithmic(1.0, 1.0)] {
            assert!(scale.part(2.0).is_finite() && scale.ticks().len() > 1);
        }
    }
}
