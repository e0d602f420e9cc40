//! One program after the other, each with all values.

use super::Search;
use crate::tune::search_space::{Configuration, SearchSpace};

#[derive(Default)]
pub struct Exhaustive {
    /// The program that comes next.
    variant: usize,
    /// What is left of the one before, last first.
    left: Vec<Configuration>,
}

impl Search for Exhaustive {
    fn next(&mut self, space: &dyn SearchSpace) -> Option<Configuration> {
        loop {
            if let Some(configuration) = self.left.pop() {
                return Some(configuration);
            }
            self.left = space.of_program(self.variant)?;
            self.left.reverse();
            self.variant += 1;
        }
    }
}
