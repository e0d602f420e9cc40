//! What can go wrong, in sentences that say what to do.

use std::fmt;
use std::path::PathBuf;

use rusqlite::ErrorCode;

/// Why the tuning database at `path` could not be opened, read or written.
#[derive(Clone, PartialEq, Debug)]
pub struct StoreError {
    pub path: PathBuf,
    pub cause: Cause,
}

#[derive(Clone, PartialEq, Debug)]
pub enum Cause {
    /// The file is something else.
    NotADatabase,
    /// A SQLite database, but not one of tuning results.
    OtherProgram,
    /// The file was cut short or overwritten.
    Damaged { message: String },
    /// A row is not as it was recorded: the hash of the candidate.
    Altered { candidate: String },
    /// The file was written by a later version of the tool.
    Newer { found: i64, known: usize },
    /// Another process kept the file locked for as long as one waits.
    Locked,
    /// No space is left for what was to be written.
    DiskFull,
    /// The file or its folder cannot be made, opened or written.
    NoAccess { message: String },
    /// A value was given that the database does not hold.
    Invalid { message: String },
    /// Any other complaint of SQLite.
    Sqlite { message: String },
}

impl Cause {
    pub(crate) fn invalid(message: impl fmt::Display) -> Cause {
        Cause::Invalid { message: message.to_string() }
    }

    pub(crate) fn damaged(message: impl fmt::Display) -> Cause {
        Cause::Damaged { message: message.to_string() }
    }

    pub(crate) fn at(self, path: impl Into<PathBuf>) -> StoreError {
        StoreError { path: path.into(), cause: self }
    }
}

impl From<rusqlite::Error> for Cause {
    fn from(error: rusqlite::Error) -> Cause {
        let message = error.to_string();
        if let rusqlite::Error::FromSqlConversionFailure(..)
        | rusqlite::Error::InvalidColumnType(..)
        | rusqlite::Error::IntegralValueOutOfRange(..) = error
        {
            return Cause::Damaged { message };
        }
        match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase) => Cause::NotADatabase,
            Some(ErrorCode::DatabaseCorrupt) => Cause::Damaged { message },
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Cause::Locked,
            Some(ErrorCode::DiskFull) => Cause::DiskFull,
            Some(ErrorCode::PermissionDenied | ErrorCode::ReadOnly | ErrorCode::CannotOpen) => {
                Cause::NoAccess { message }
            }
            _ => Cause::Sqlite { message },
        }
    }
}

impl std::error::Error for StoreError {}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match &self.cause {
            Cause::NotADatabase => write!(
                f,
                "{path} is not a database; name another file, or move this one away and a new one \
                 is made"
            ),
            Cause::OtherProgram => write!(
                f,
                "{path} is a database of another program, not of tuning results; name another file"
            ),
            Cause::Damaged { message } => write!(
                f,
                "{path} is damaged ({message}); restore it from a copy, or save what can be read \
                 with `sqlite3 FILE .recover` and move it away"
            ),
            Cause::Altered { candidate } => write!(
                f,
                "the row of the candidate {candidate} in {path} was altered; `lift tune` removes it and looks for \
                 the best again"
            ),
            Cause::Newer { found, known } => write!(
                f,
                "{path} has version {found} of the tuning database and this `lift` knows versions \
                 up to {known}; use a newer `lift` or name another file"
            ),
            Cause::Locked => write!(
                f,
                "{path} is locked by another process that does not let go; wait for it or end it, \
                 and try again"
            ),
            Cause::DiskFull => {
                write!(f, "no space is left for {path}; free some and try again")
            }
            Cause::NoAccess { message } => write!(
                f,
                "{path} cannot be opened or written ({message}); check the permissions of the file \
                 and of its folder, in which files are made beside it, or name another file"
            ),
            Cause::Invalid { message } => write!(f, "{path}: {message}"),
            Cause::Sqlite { message } => write!(f, "{path}: SQLite reports: {message}"),
        }
    }
}
