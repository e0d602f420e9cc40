//! What may go wrong.

use std::fmt;

use lift_explore::measure::MeasureError;
use lift_model::learn::LearnError;
use lift_rewrite::strategy::Unreadable;
use lift_store::{Cause, StoreError};

/// Why a program cannot be tuned, or what was found cannot be used.
#[derive(Debug)]
pub enum TuneError {
    /// The program, the sizes or the device.
    Program(crate::Error),
    Worker(MeasureError),
    /// The model is for something else.
    Model(LearnError),
    /// A search that goes by a model has none.
    NoModel,
    Database(StoreError),
    /// What candidates are made by.
    Strategy(Unreadable),
    /// A stored program that this version does not understand: its number.
    Unreadable(String),
}

impl TuneError {
    /// Whether what is wrong is the stored form of a program: it was altered, or this version does not understand it.
    /// The program itself can be run all the same.
    pub fn is_of_the_form(&self) -> bool {
        match self {
            TuneError::Unreadable(_) => true,
            TuneError::Database(error) => matches!(error.cause, Cause::Altered { .. }),
            TuneError::Program(_)
            | TuneError::Worker(_)
            | TuneError::Model(_)
            | TuneError::Strategy(_)
            | TuneError::NoModel => false,
        }
    }
}

impl fmt::Display for TuneError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TuneError::Program(error) => write!(f, "{error}"),
            TuneError::Worker(error) => write!(f, "{error}"),
            TuneError::Model(error) => write!(f, "{error}"),
            TuneError::NoModel => f.write_str(
                "a search by a model needs one: train it by `lift model train`, and name its file",
            ),
            TuneError::Database(error) => write!(f, "{error}"),
            TuneError::Strategy(error) => write!(f, "{error}"),
            TuneError::Unreadable(id) => {
                write!(
                    f,
                    "the stored program {id} cannot be read: tune again with another database"
                )
            }
        }
    }
}

impl std::error::Error for TuneError {}

impl From<crate::Error> for TuneError {
    fn from(error: crate::Error) -> TuneError {
        TuneError::Program(error)
    }
}

impl From<MeasureError> for TuneError {
    fn from(error: MeasureError) -> TuneError {
        TuneError::Worker(error)
    }
}

impl From<Unreadable> for TuneError {
    fn from(error: Unreadable) -> TuneError {
        TuneError::Strategy(error)
    }
}

impl From<StoreError> for TuneError {
    fn from(error: StoreError) -> TuneError {
        TuneError::Database(error)
    }
}
