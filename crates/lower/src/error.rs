//! Why a program cannot be compiled.

use std::fmt;

use lift_ir::{Span, TypeError, Violation};

#[derive(Clone, Debug)]
pub struct LowerError {
    pub message: String,
    pub span: Option<Span>,
}

impl LowerError {
    pub fn at(span: Option<Span>, message: impl Into<String>) -> LowerError {
        LowerError { message: message.into(), span }
    }
}

impl fmt::Display for LowerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for LowerError {}

/// Passes rebuild programs with the checked constructors; what they build is well typed.
impl From<TypeError> for LowerError {
    fn from(error: TypeError) -> LowerError {
        LowerError::at(None, format!("a pass built an ill-typed program: {error}"))
    }
}

impl From<Violation> for LowerError {
    fn from(violation: Violation) -> LowerError {
        LowerError::at(violation.span, violation.message)
    }
}
