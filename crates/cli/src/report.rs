//! How verbs talk: results on standard output, mistakes as diagnostics on standard error.

use std::io::{self, Read, Write};
use std::path::Path;

use lift_interp::RunError;
use lift_syntax::diagnostic::{Diagnostic, render};
use lift_syntax::source::Sources;
pub use lift_syntax::suggest::did_you_mean;
use lift_syntax::{Checked, check_file, check_text_in};

/// The file that was asked for is the first to be loaded; imported ones follow.
pub const MAIN_FILE: u32 = 0;

/// Why a verb ends with exit code 1.
pub enum Failure {
    /// The user has been told already.
    Reported,
    /// Not said yet.
    Diagnostics(Vec<Diagnostic>, Sources),
}

impl Failure {
    /// A mistake that has no place in a source file.
    pub fn message(text: impl Into<String>) -> Failure {
        Failure::of(Diagnostic::error(text))
    }

    pub fn of(diagnostic: Diagnostic) -> Failure {
        Failure::Diagnostics(vec![diagnostic], Sources::new())
    }

    /// A run that could not go on, shown where its program says so.
    pub fn run(error: RunError, sources: &Sources) -> Failure {
        Failure::Diagnostics(vec![run_diagnostic(error)], sources.clone())
    }

    /// A program that could not be compiled or run on a device.
    pub fn compile(error: lift::Error, sources: &Sources) -> Failure {
        Failure::Diagnostics(vec![compile_diagnostic(error)], sources.clone())
    }

    /// What it says first.
    pub fn in_short(self) -> String {
        let first = match self {
            Failure::Diagnostics(all, _) => all.into_iter().next().map(|d| d.message),
            Failure::Reported => None,
        };
        first.unwrap_or("it failed".to_string())
    }

    pub fn print(&self) {
        if let Failure::Diagnostics(diagnostics, sources) = self {
            complain(diagnostics, sources);
        }
    }
}

pub fn run_diagnostic(error: RunError) -> Diagnostic {
    let mut diagnostic = Diagnostic::error(error.message);
    if let Some(span) = error.span {
        diagnostic = diagnostic.at(span, "");
    }
    error.notes.into_iter().fold(diagnostic, Diagnostic::note)
}

pub fn compile_diagnostic(error: lift::Error) -> Diagnostic {
    match error {
        lift::Error::Lower(error) => match error.span {
            Some(span) => Diagnostic::error(error.message).at(span, ""),
            None => Diagnostic::error(error.message),
        },
        lift::Error::Arguments(error) => run_diagnostic(error),
        other => Diagnostic::error(other.to_string()),
    }
}

/// A line beside the result, on standard error.
pub fn remark(text: &str) {
    // Nobody is left to be told that standard error is closed.
    anstream::stderr().write_all(format!("{text}\n").as_bytes()).ok();
}

/// Diagnostics on standard error, coloured where that is a terminal.
pub fn complain(diagnostics: &[Diagnostic], sources: &Sources) {
    // Nobody is left to be told that standard error is closed.
    anstream::stderr().write_all(render(diagnostics, sources, true).as_bytes()).ok();
}

/// Text on standard output. A reader that has seen enough and closed the pipe is no mistake.
pub fn say(text: &str) -> Result<(), Failure> {
    let mut out = anstream::stdout();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::message(format!("cannot write to standard output: {e}")))
        }
        _ => Ok(()),
    }
}

pub fn say_json(value: &serde_json::Value) -> Result<(), Failure> {
    say(&format!("{value:#}\n"))
}

/// What stands for standard input where a program is named.
pub const STDIN: &str = "-";

/// All of standard input.
pub fn standard_input() -> Result<String, Failure> {
    let mut bytes = Vec::new();
    let read = io::stdin().read_to_end(&mut bytes);
    read.map_err(|e| Failure::message(format!("cannot read standard input: {e}")))?;
    String::from_utf8(bytes).map_err(|_| Failure::message("standard input is not UTF-8 text"))
}

/// A program without errors; its warnings are printed. One on standard input imports files from the folder at hand.
pub fn load(path: &Path) -> Result<Checked, Failure> {
    let checked = if path == Path::new(STDIN) {
        check_text_in(Path::new(""), "standard input", &standard_input()?)
    } else {
        check_file(path).map_err(Failure::message)?
    };
    if !checked.diagnostics.is_empty() {
        complain(&checked.diagnostics, &checked.sources);
    }
    if checked.has_errors() { Err(Failure::Reported) } else { Ok(checked) }
}
