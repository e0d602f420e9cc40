//! What an error says about the candidate it came from.

use lift_execute::Error;
use lift_runtime::RuntimeError;

use super::{Stage, Verdict};

/// The verdict on a candidate that met this error.
pub(super) fn verdict(error: &Error, during: Stage) -> Verdict {
    let text = error.to_string();
    match error {
        Error::Program(_) | Error::Lower(_) | Error::Extern { .. } => Verdict::Refused(text),
        Error::Kernel(_) => Verdict::FailedToCompile(text),
        Error::Arguments(_) => Verdict::Refused(text),
        Error::Device(error) => match error {
            RuntimeError::Compile(_) => Verdict::FailedToCompile(text),
            RuntimeError::Limit { .. } | RuntimeError::OutOfMemory { .. } => {
                Verdict::OutOfResources(text)
            }
            RuntimeError::Invalid { .. } => Verdict::Refused(text),
            // After a failure in the midst of a kernel, some devices fail for ever.
            RuntimeError::UnknownDevice { .. }
            | RuntimeError::Missing { .. }
            | RuntimeError::Failed { .. } => match during {
                Stage::Compile => Verdict::FailedToCompile(text),
                Stage::Run => Verdict::Crashed(text),
            },
        },
    }
}

/// The verdict on a candidate that met this error in the midst of its kernels: they ran on arguments that fit, so
/// what they did not like is their own doing.
pub(super) fn verdict_of_run(error: &Error) -> Verdict {
    match error {
        Error::Arguments(error) => Verdict::Wrong(error.to_string()),
        Error::Program(_)
        | Error::Lower(_)
        | Error::Extern { .. }
        | Error::Kernel(_)
        | Error::Device(_) => verdict(error, Stage::Run),
    }
}
