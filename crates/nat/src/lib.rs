//! Arithmetic on symbolic sizes and indices.

mod build;
mod divide;
mod eval;
mod facts;
mod known;
mod layout;
mod nat;
mod ops;
mod parse;
mod pred;
mod print;
mod prove;
mod quotient;
mod session;
mod simplify;
mod term;
mod var;

pub use eval::EvalError;
pub use facts::{Facts, Range, default_facts};
pub use nat::Nat;
pub use parse::{ParseError, parse, parse_assumptions};
pub use pred::Pred;
pub use var::Var;
