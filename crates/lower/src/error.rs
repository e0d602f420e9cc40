//! Why a program cannot be compiled.

use std::fmt;

use lift_ir::{Span, TypeError, Violation};

#[derive(Clone, Debug)]
pub struct LowerError {
    pub message: String,
    pub span: Option<Span>,
    pub mistake: Mistake,
}

/// Whose mistake an error is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mistake {
    /// The program asks for what cannot be done.
    Program,
    /// A pass left something behind that it must not.
    Compiler,
}

impl LowerError {
    /// A program that is refused.
    pub fn at(span: Option<Span>, message: impl Into<String>) -> LowerError {
        LowerError { message: message.into(), span, mistake: Mistake::Program }
    }

    /// An invariant of the compiler that does not hold.
    pub fn broken(message: impl Into<String>) -> LowerError {
        LowerError { message: message.into(), span: None, mistake: Mistake::Compiler }
    }
}

impl fmt::Display for LowerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match self.mistake {
            Mistake::Program => Ok(()),
            Mistake::Compiler => f.write_str(" (a mistake of the compiler, not of the program)"),
        }
    }
}

impl std::error::Error for LowerError {}

/// Passes rebuild programs with the checked constructors; what they build is well typed.
impl From<TypeError> for LowerError {
    fn from(error: TypeError) -> LowerError {
        LowerError::broken(format!("a pass built an ill-typed program: {error}"))
    }
}

impl From<Violation> for LowerError {
    fn from(violation: Violation) -> LowerError {
        LowerError::at(violation.span, violation.message)
    }
}
