//! Why there is no page, in sentences that say what to do.

use std::fmt;
use std::path::PathBuf;

use lift_store::StoreError;

#[derive(Debug)]
pub enum ReportError {
    Store(StoreError),
    /// The database has no measurements.
    NothingTried {
        path: PathBuf,
    },
    /// The template did not go through; a mistake of ours.
    Template {
        message: String,
    },
}

impl From<StoreError> for ReportError {
    fn from(error: StoreError) -> ReportError {
        ReportError::Store(error)
    }
}

impl From<minijinja::Error> for ReportError {
    fn from(error: minijinja::Error) -> ReportError {
        ReportError::Template { message: format!("{error:#}") }
    }
}

impl std::error::Error for ReportError {}

impl fmt::Display for ReportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReportError::Store(error) => write!(f, "{error}"),
            ReportError::NothingTried { path } => {
                let path = path.display();
                write!(
                    f,
                    "{path} has no measured candidate: measure some with `lift tune --db {path}`"
                )
            }
            ReportError::Template { message } => write!(f, "the page cannot be made: {message}"),
        }
    }
}
