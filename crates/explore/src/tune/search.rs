//! Which point is tried next. One file a method.

mod by_model;
mod exhaustive;
mod learning;
mod random;

use super::ground::{Ground, Point};
use super::surrogate::Finding;

pub use by_model::{ByModel, Prediction};
pub use exhaustive::Exhaustive;
pub use learning::Learning;
pub use random::Random;

/// A method of choosing points, each once.
pub trait Search: Send {
    /// The next point; nothing where there seems to be none.
    fn next(&mut self, ground: &dyn Ground) -> Option<Point>;

    /// What came of a point: its time, unless it failed.
    fn learn(&mut self, _point: Point, _features: &[f64], _ms: Option<f64>) {}

    /// What came of a candidate whose point is not known, or was for another problem.
    fn learn_finding(&mut self, _finding: Finding) {}

    /// Has a point tried soon.
    fn suggest(&mut self, _point: Point) {}

    /// Whether the findings of earlier runs say anything to it.
    fn remembers(&self) -> bool {
        false
    }
}
