//! Which point is tried next. One file a method.

mod by_model;
mod exhaustive;
mod learning;
mod random;

use super::search_space::{Configuration, SearchSpace};
use super::surrogate::Observation;

pub use by_model::{ByModel, Prediction};
pub use exhaustive::Exhaustive;
pub use learning::Learning;
pub use random::Random;

/// A method of choosing points, each once.
pub trait Search: Send {
    /// The next point; nothing where there seems to be none.
    fn next(&mut self, space: &dyn SearchSpace) -> Option<Configuration>;

    /// What came of a point: its time, unless it failed.
    fn learn(&mut self, _point: Configuration, _features: &[f64], _ms: Option<f64>) {}

    /// What came of a candidate whose point is not known, or was for another problem.
    fn observe(&mut self, _observation: Observation) {}

    /// Has a point tried soon.
    fn suggest(&mut self, _point: Configuration) {}

    /// Whether the observations of earlier runs say anything to it.
    fn remembers(&self) -> bool {
        false
    }
}
