//! Errors of elaboration: one or several diagnostics.

use lift_ir::{Part, Span, TypeError};

use crate::diagnostic::Diagnostic;

/// What went wrong, in order. Empty where the parser has reported it already.
#[derive(Debug)]
pub(super) struct Errors(pub(super) Vec<Diagnostic>);

pub(super) type Result<T> = std::result::Result<T, Errors>;

impl Errors {
    pub(super) fn one(diagnostic: Diagnostic) -> Errors {
        Errors(vec![diagnostic])
    }

    pub(super) fn at(span: Span, message: impl Into<String>) -> Errors {
        Errors::one(Diagnostic::error(message).at(span, ""))
    }

    /// The same, with a remedy for those that have none.
    pub(super) fn help_where_none(mut self, text: &str) -> Errors {
        let remedied = |d: &Diagnostic| d.notes.iter().any(|note| note.starts_with("help: "));
        for diagnostic in self.0.iter_mut().filter(|d| !remedied(d)) {
            diagnostic.notes.push(format!("help: {text}"));
        }
        self
    }
}

pub(super) fn error<T>(span: Span, message: impl Into<String>) -> Result<T> {
    Err(Errors::at(span, message))
}

/// All values, or all errors: what is independent is reported together.
pub(super) fn all<T>(results: impl IntoIterator<Item = Result<T>>) -> Result<Vec<T>> {
    let mut values = Vec::new();
    let mut failed: Option<Errors> = None;
    for result in results {
        match result {
            Ok(value) => values.push(value),
            Err(more) => failed.get_or_insert(Errors(Vec::new())).0.extend(more.0),
        }
    }
    failed.map_or(Ok(values), Err)
}

/// Both values, or the errors of both.
pub(super) fn both<T, U>(a: Result<T>, b: Result<U>) -> Result<(T, U)> {
    match (a, b) {
        (Ok(a), Ok(b)) => Ok((a, b)),
        (Err(mut a), Err(b)) => {
            a.0.extend(b.0);
            Err(a)
        }
        (Err(errors), Ok(_)) | (Ok(_), Err(errors)) => Err(errors),
    }
}

/// Where the parts of a call were written.
#[derive(Clone)]
pub(super) struct Parts {
    pub whole: Span,
    pub sizes: Vec<Span>,
    pub functions: Vec<Span>,
    pub args: Vec<Span>,
}

impl Parts {
    pub(super) fn of(whole: Span) -> Parts {
        Parts { whole, sizes: Vec::new(), functions: Vec::new(), args: Vec::new() }
    }

    pub(super) fn with_args(whole: Span, args: impl IntoIterator<Item = Span>) -> Parts {
        Parts { args: args.into_iter().collect(), ..Parts::of(whole) }
    }

    /// Puts a type error at the part that is at fault.
    pub(super) fn blame(&self, error: TypeError) -> Errors {
        let span = match error.part {
            Part::Whole => None,
            Part::Size(i) => self.sizes.get(i),
            Part::Function(i) => self.functions.get(i),
            Part::Argument(i) => self.args.get(i),
        };
        let mut diagnostic =
            Diagnostic::error(error.message).at(span.copied().unwrap_or(self.whole), "");
        for note in error.notes {
            diagnostic = diagnostic.note(note);
        }
        if let Some(help) = error.help {
            diagnostic = diagnostic.help(help);
        }
        Errors::one(diagnostic)
    }
}
