//! The reference interpreter: what a program means.
//!
//! [`run`] evaluates a definition on values, [`eval_closed`] an expression without variables. An
//! expression is translated once and then evaluated eagerly, one argument after the
//! other; layout patterns give views of the arrays they take.

mod array;
mod buffer;
mod builder;
mod code;
mod compare;
mod compile;
mod display;
mod erf;
mod error;
mod eval;
mod functions;
pub mod inputs;
pub mod laws;
mod leaves;
mod meter;
pub mod npy;
mod number;
mod ops;
mod run;
mod sizes;
mod strided;
mod value;
mod work;

pub use array::Array;
pub use buffer::Buffer;
pub use compare::{Mismatch, compare, compare_sums};
pub use display::Full;
pub use error::RunError;
pub use meter::MAX_ARRAY_BYTES;
pub use number::{Element, ScalarValue};
pub use run::{eval_closed, run};
pub use sizes::{Sizes, concrete_type, solve_sizes};
pub use value::{Value, Vector, WIDTHS};
pub use work::{Work, bytes, work};
