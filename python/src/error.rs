//! What goes wrong, as exceptions of Python.

use lift_cli::compile_diagnostic;
use lift_syntax::diagnostic::render;
use lift_syntax::source::Sources;
use pyo3::PyErr;
use pyo3::create_exception;
use pyo3::exceptions::PyException;

create_exception!(
    lift,
    Error,
    PyException,
    "A program, its arguments or a device cannot do what is asked; the text says why and where."
);

/// An error that has no place in a program.
pub fn error(text: impl Into<String>) -> PyErr {
    Error::new_err(text.into())
}

/// What the compiler or a device says, shown at its place in the program.
pub fn diagnosed(error: lift::Error, sources: &Sources) -> String {
    match error {
        lift::Error::Program(text) => text,
        other => {
            let text = render(&[compile_diagnostic(other)], sources, false);
            text.strip_prefix("error: ").unwrap_or(&text).trim_end().to_string()
        }
    }
}
