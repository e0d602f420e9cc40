//! Why a rule does not apply.

use std::fmt;

use lift_ir::{Place, Pred, TypeError};

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// The expression does not have the form of the left side.
    Form {
        expected: String,
        found: String,
    },
    /// A function or value depends on a variable that is bound inside the pattern.
    Captures {
        metavariable: String,
        variable: String,
    },
    /// One metavariable would stand for two different things.
    Differs {
        metavariable: String,
    },
    /// The side condition cannot be proved, or never holds.
    Condition {
        pred: Pred,
        never: bool,
    },
    /// A parameter that the caller must choose was not chosen.
    Missing {
        parameter: String,
    },
    /// The caller chose something that the rule does not have.
    NoParameter {
        parameter: String,
        known: Vec<String>,
    },
    /// The right side has no type here.
    Type(TypeError),
    /// The right side has another type than what it replaces.
    Changes {
        from: String,
        to: String,
    },
    NoPlace(Place),
    /// The rule itself cannot be read.
    Law(String),
    /// What only this rule asks for.
    Other(String),
}

impl From<TypeError> for Refusal {
    fn from(error: TypeError) -> Refusal {
        Refusal::Type(error)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Form { expected, found } => write!(f, "expected {expected}, found {found}"),
            Refusal::Captures { metavariable, variable } => {
                write!(f, "`{metavariable}` depends on `{variable}`, which is bound inside")
            }
            Refusal::Differs { metavariable } => {
                write!(f, "`{metavariable}` would stand for two different things")
            }
            Refusal::Condition { pred, never: true } => write!(f, "`{pred}` never holds"),
            Refusal::Condition { pred, never: false } => write!(f, "`{pred}` cannot be proved"),
            Refusal::Missing { parameter } => write!(f, "`{parameter}` must be chosen"),
            Refusal::NoParameter { parameter, known } if known.is_empty() => {
                write!(f, "there is no parameter `{parameter}`; the rule has none")
            }
            Refusal::NoParameter { parameter, known } => {
                write!(f, "there is no parameter `{parameter}`; there is {}", known.join(", "))
            }
            Refusal::Type(error) => write!(f, "the result has no type: {error}"),
            Refusal::Changes { from, to } => {
                write!(f, "the result has type `{to}`, the original `{from}`")
            }
            Refusal::NoPlace(place) => write!(f, "there is no place {place}"),
            Refusal::Law(error) => write!(f, "the law cannot be read: {error}"),
            Refusal::Other(reason) => f.write_str(reason),
        }
    }
}

impl std::error::Error for Refusal {}
