//! What can go wrong between a program and its result.

use std::fmt;

use lift_interp::RunError;
use lift_lower::LowerError;
use lift_runtime::RuntimeError;

#[derive(Debug)]
pub enum Error {
    /// The program has errors; their text.
    Program(String),
    /// The program cannot be compiled.
    Lower(LowerError),
    /// An extern function has no code for the target.
    Extern { function: String, target: String, available: Vec<String> },
    /// The compiler made a kernel that breaks its own rules.
    Kernel(String),
    /// The arguments do not fit the program.
    Arguments(RunError),
    /// The device refused.
    Device(RuntimeError),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Program(text) => f.write_str(text.trim_end()),
            Error::Lower(error) => write!(f, "{error}"),
            Error::Extern { function, target, available } => {
                let available: Vec<String> = available.iter().map(|t| format!("`{t}`")).collect();
                write!(
                    f,
                    "the extern function `{function}` has no code for `{target}`, only for {}",
                    available.join(", ")
                )
            }
            Error::Kernel(text) => write!(f, "the compiler made a wrong kernel: {text}"),
            Error::Arguments(error) => write!(f, "{error}"),
            Error::Device(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for Error {}

impl Error {
    /// Arguments or results that do not fit.
    pub fn arguments(message: impl Into<String>) -> Error {
        Error::Arguments(RunError { message: message.into(), span: None, notes: Vec::new() })
    }
}

impl From<LowerError> for Error {
    fn from(error: LowerError) -> Error {
        Error::Lower(error)
    }
}

impl From<RunError> for Error {
    fn from(error: RunError) -> Error {
        Error::Arguments(error)
    }
}

impl From<RuntimeError> for Error {
    fn from(error: RuntimeError) -> Error {
        Error::Device(error)
    }
}
