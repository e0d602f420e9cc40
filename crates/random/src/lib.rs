//! Random well-typed programs, for tests.
//!
//! A [`Generator`] makes expressions and functions of given types with the checked constructors of
//! [`lift_ir::Context`]; [`program`] makes whole definitions, low-level patterns included, and
//! [`Case`] adds inputs and the result that the interpreter gives. The same seed gives the same
//! program on every machine. Cases that fail are made smaller by [`shrink`].

mod again;
mod arrays;
mod by_index;
mod case;
mod config;
mod convert;
mod coverage;
mod domains;
mod folds;
mod generator;
mod inputs;
mod layout;
mod leaf;
mod maps;
mod math;
mod operators;
mod program;
mod random;
mod registers;
mod scope;
mod shrink;
mod types;

pub use case::Case;
pub use config::{Config, Floats};
pub use coverage::features;
pub use generator::Generator;
pub use operators::Law;
pub use program::{Discard, Program, program};
pub use random::Random;
pub use shrink::shrink;
