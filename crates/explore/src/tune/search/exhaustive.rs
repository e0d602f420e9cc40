//! One program after the other, each with all values.

use super::Search;
use crate::tune::ground::{Ground, Point};

#[derive(Default)]
pub struct Exhaustive {
    /// The program that comes next.
    variant: usize,
    /// What is left of the one before, last first.
    left: Vec<Point>,
}

impl Search for Exhaustive {
    fn next(&mut self, ground: &dyn Ground) -> Option<Point> {
        loop {
            if let Some(point) = self.left.pop() {
                return Some(point);
            }
            self.left = ground.of_program(self.variant)?;
            self.left.reverse();
            self.variant += 1;
        }
    }
}
