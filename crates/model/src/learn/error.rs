//! What can go wrong with learning, in sentences that say what to do.

use std::fmt;

#[derive(Clone, PartialEq, Debug)]
pub enum LearnError {
    /// No candidate was measured.
    NothingMeasured,
    /// There is nothing left to learn from when one program is left out.
    OneProgram { program: String },
    /// A model is for one device.
    SeveralDevices { found: Vec<String> },
    /// A sample that no data set takes.
    BadSample { message: String },
    /// The text is no model, or half of one.
    NotAModel { message: String },
    /// The model was written by a later version of the tool.
    NewerFormat { found: u64, known: u64 },
    /// The numbers that the model was trained on mean something else.
    OtherFeatures { found: u32, known: u32 },
    /// The version is the same, and yet the names are not.
    OtherNames { name: String },
    /// The model knows nothing about this device.
    OtherDevice { trained: String, asked: String },
}

impl std::error::Error for LearnError {}

impl fmt::Display for LearnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LearnError::NothingMeasured => {
                write!(f, "there is nothing to learn from: no candidate was measured")
            }
            LearnError::OneProgram { program } => write!(
                f,
                "there is only one program, `{program}`: a model is judged by programs that it has not seen, so \
                 add measurements of another"
            ),
            LearnError::SeveralDevices { found } => write!(
                f,
                "the measurements are of {} devices ({}), and a model is for one: choose it by `--device`",
                found.len(),
                found.join(", ")
            ),
            LearnError::BadSample { message } => write!(f, "{message}"),
            LearnError::NotAModel { message } => write!(
                f,
                "this is no model or half of one ({message}): train it again with `lift model train`"
            ),
            LearnError::NewerFormat { found, known } => write!(
                f,
                "the model has format {found} and this `lift` knows formats up to {known}: use a newer `lift`, or \
                 train it again"
            ),
            LearnError::OtherFeatures { found, known } => write!(
                f,
                "the features are of version {found} and this `lift` makes version {known}: compute those of \
                 the database anew with `lift model renew`, then train again with `lift model train`"
            ),
            LearnError::OtherNames { name } => write!(
                f,
                "the features are not those of this `lift`, see `{name}`: compute those of the database anew with \
                 `lift model renew`, then train again with `lift model train`"
            ),
            LearnError::OtherDevice { trained, asked } => write!(
                f,
                "the model was trained for `{trained}`, not for `{asked}`: train one from measurements on \
                 `{asked}`"
            ),
        }
    }
}
