//! The rules that low-level programs obey beyond being well typed: how parallel patterns nest, and
//! that arrays shared by work-items have a memory. And what can only be asked when sizes are known.

mod atomics;
mod memory;
mod nesting;
mod permutations;

use crate::{Expr, Span};

pub use permutations::check_permutations;

/// A rule broken by a well-typed program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violation {
    pub message: String,
    pub span: Option<Span>,
    /// The other pattern involved.
    pub other: Option<(String, Span)>,
    pub help: Option<String>,
}

/// Checks the body of a definition; nothing is reported twice.
pub fn check_low_level(body: &Expr) -> Vec<Violation> {
    let mut found = nesting::check(body);
    found.extend(atomics::check(body));
    // Where patterns nest wrongly, what they store is not worth judging.
    if found.is_empty() {
        found.extend(memory::check(body));
    }
    found
}
