//! Why a strategy fails.

use std::fmt;

use lift_ir::Place;

/// The part that did not apply, where, why, and within which named strategies.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The named strategies around, outermost first.
    pub within: Vec<String>,
    /// The rule or combinator that failed.
    pub part: String,
    pub place: Place,
    pub reason: String,
    /// Not to be met by another choice: the steps have run out.
    pub(super) is_final: bool,
}

impl Failure {
    pub(super) fn inside(mut self, name: &str) -> Failure {
        self.within.insert(0, name.to_string());
        self
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.within.is_empty() {
            write!(f, "{}: ", self.within.join(" > "))?;
        }
        write!(f, "`{}` fails at {}: {}", self.part, self.place, self.reason)
    }
}

impl std::error::Error for Failure {}
