//! Which configuration is tried next. One file a method.

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

/// A method of choosing configurations, each once.
pub trait Search: Send {
    /// The next configuration; nothing where there seems to be none.
    fn next(&mut self, space: &dyn SearchSpace) -> Option<Configuration>;

    /// What came of a configuration: its time, unless it failed.
    fn learn(&mut self, _point: Configuration, _features: &[f64], _ms: Option<f64>) {}

    /// What came of a candidate whose configuration is not known, or was for another problem.
    fn observe(&mut self, _observation: Observation) {}

    /// Has a configuration tried soon.
    fn suggest(&mut self, _point: Configuration) {}

    /// Whether the observations of earlier runs say anything to it.
    fn remembers(&self) -> bool {
        false
    }
}
