//! What a run says when it cannot go on.

use std::fmt;

use lift_ir::Span;

/// Why a program has no result, in the user's terms.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RunError {
    pub message: String,
    /// The expression or clause at fault, where it was written down.
    pub span: Option<Span>,
    pub notes: Vec<String>,
}

impl RunError {
    pub fn new(message: impl Into<String>) -> RunError {
        RunError { message: message.into(), span: None, notes: Vec::new() }
    }

    pub fn note(mut self, note: impl Into<String>) -> RunError {
        self.notes.push(note.into());
        self
    }

    /// Keeps the innermost place: one that is known already stays.
    pub fn at(mut self, span: Option<Span>) -> RunError {
        self.span = self.span.or(span);
        self
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        for note in &self.notes {
            write!(f, "; {note}")?;
        }
        Ok(())
    }
}

impl std::error::Error for RunError {}

/// The result of a step of evaluation; the error is boxed so that scalars travel in registers.
pub(crate) type Eval<T> = Result<T, Box<RunError>>;

pub(crate) fn fault<T>(message: impl Into<String>) -> Eval<T> {
    Err(Box::new(RunError::new(message)))
}
