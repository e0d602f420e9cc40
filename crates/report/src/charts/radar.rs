//! What the best candidates have in common: their features as polygons.

use std::f64::consts::TAU;

use crate::svg::{Anchor, Svg};

/// A candidate: its name, and for every spoke a number from 0 to 1.
pub struct Shape {
    pub name: String,
    pub values: Vec<f64>,
}

/// The names of features beside it are long.
const WIDTH: f64 = 480.0;
const HEIGHT: f64 = 270.0;
const RADIUS: f64 = 92.0;

/// Polygons over spokes, the first one, which is the best, on top. Nothing for fewer than three spokes.
pub fn radar(spokes: &[String], shapes: &[Shape]) -> Option<String> {
    if spokes.len() < 3 || shapes.is_empty() {
        return None;
    }
    let mut svg = Svg::new("radar", "Features of the best candidates", WIDTH, HEIGHT);
    let place = |number: usize, part: f64| {
        let angle = TAU * number as f64 / spokes.len() as f64;
        (WIDTH / 2.0 + RADIUS * part * angle.sin(), HEIGHT / 2.0 - RADIUS * part * angle.cos())
    };
    for ring in [0.25, 0.5, 0.75, 1.0] {
        let points: Vec<_> = (0..spokes.len()).map(|number| place(number, ring)).collect();
        svg.polygon("ring", &points, "");
    }
    for (number, name) in spokes.iter().enumerate() {
        svg.line("grid", place(number, 0.0), place(number, 1.0));
        let (x, y) = place(number, 1.12);
        let anchor = match x - WIDTH / 2.0 {
            aside if aside > 8.0 => Anchor::Start,
            aside if aside < -8.0 => Anchor::End,
            _ => Anchor::Middle,
        };
        svg.text("tick", anchor, (x, y + 4.0), name);
    }
    for (rank, shape) in shapes.iter().enumerate().rev() {
        let values = shape.values.iter().enumerate();
        let points: Vec<_> = values.map(|(number, part)| place(number, *part)).collect();
        let class = if rank == 0 { "shape first" } else { "shape" };
        svg.polygon(class, &points, &shape.name);
    }
    Some(svg.finish())
}
