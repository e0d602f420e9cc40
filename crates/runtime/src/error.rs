//! What can go wrong on a device, in plain words, with what to do about it.

use std::fmt;

use crate::compile_log;

#[derive(Clone, PartialEq, Debug)]
pub enum RuntimeError {
    /// No device has this id.
    UnknownDevice { id: String, available: Vec<String> },
    /// A library or compiler is not installed.
    Missing { what: String, advice: String },
    /// The device's compiler rejected a kernel.
    Compile(Box<CompileFailure>),
    /// A launch or buffer exceeds a limit of the device or of the compiled kernel. The largest value
    /// stands for itself and everything above.
    Limit { device: String, limit: String, value: u64, allowed: u64, advice: &'static str },
    /// A launch or buffer makes no sense on any device.
    Invalid { device: String, message: String },
    /// The device's memory does not hold a buffer of so many bytes beside what is there.
    OutOfMemory { device: String, bytes: u64, available: Option<u64> },
    /// The driver or the system refused; `action` is what was being done.
    Failed { device: String, action: String, message: String },
}

/// A kernel that did not compile.
#[derive(Clone, PartialEq, Debug)]
pub struct CompileFailure {
    pub device: String,
    pub compiler: String,
    pub kernel: String,
    pub log: String,
    /// Numbered lines of the source around the first error, where the log names a line.
    pub excerpt: Option<String>,
}

impl RuntimeError {
    pub(crate) fn compile(
        device: &str,
        compiler: &str,
        kernel: &str,
        log: &str,
        source: &str,
    ) -> RuntimeError {
        let log = log.trim_end_matches(|c: char| c == '\0' || c.is_whitespace()).to_string();
        let excerpt =
            compile_log::first_error_line(&log).and_then(|line| compile_log::excerpt(source, line));
        RuntimeError::Compile(Box::new(CompileFailure {
            device: device.to_string(),
            compiler: compiler.to_string(),
            kernel: kernel.to_string(),
            log,
            excerpt,
        }))
    }

    pub(crate) fn failed(device: &str, action: &str, message: impl fmt::Display) -> RuntimeError {
        RuntimeError::Failed {
            device: device.to_string(),
            action: action.to_string(),
            message: message.to_string(),
        }
    }

    /// A handle that names nothing on the device.
    pub(crate) fn unknown(device: &str, what: &str) -> RuntimeError {
        let message = format!("the {what} was freed or belongs to another device");
        RuntimeError::invalid(device, message)
    }

    pub(crate) fn invalid(device: &str, message: impl fmt::Display) -> RuntimeError {
        RuntimeError::Invalid { device: device.to_string(), message: message.to_string() }
    }
}

impl std::error::Error for RuntimeError {}

impl fmt::Display for RuntimeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RuntimeError::UnknownDevice { id, available } => {
                write!(f, "there is no device `{id}`; available are:")?;
                available.iter().try_for_each(|line| write!(f, "\n  {line}"))
            }
            RuntimeError::Missing { what, advice } => write!(f, "{what}; {advice}"),
            RuntimeError::Compile(failure) => failure.fmt(f),
            RuntimeError::Limit { device, limit, value, allowed, advice } => {
                let more = if *value == u64::MAX { " or more" } else { "" };
                write!(f, "{device}: {limit} is {value}{more}, allowed is {allowed}; {advice}")
            }
            RuntimeError::Invalid { device, message } => write!(f, "{device}: {message}"),
            RuntimeError::OutOfMemory { device, bytes, available } => {
                write!(f, "{device}: out of memory for a buffer of {bytes} bytes")?;
                if let Some(available) = available {
                    write!(f, ", {available} bytes are available")?;
                }
                write!(f, "; use smaller sizes or a device with more memory")
            }
            RuntimeError::Failed { device, action, message } => {
                write!(f, "{device}: {action} failed: {message}")
            }
        }
    }
}

impl fmt::Display for CompileFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// A log may repeat itself for every use of a bad name; the first errors matter.
        const LINES: usize = 60;
        let CompileFailure { device, compiler, kernel, log, excerpt } = self;
        write!(f, "{device}: {compiler} does not compile the kernel `{kernel}`:")?;
        log.lines().take(LINES).try_for_each(|line| write!(f, "\n{line}"))?;
        let left = log.lines().count().saturating_sub(LINES);
        if left > 0 {
            write!(f, "\n… and {left} more lines")?;
        }
        if let Some(excerpt) = excerpt {
            write!(f, "\nthe kernel there:\n{excerpt}")?;
        }
        Ok(())
    }
}
