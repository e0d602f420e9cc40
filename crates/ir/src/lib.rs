//! The functional intermediate language: types, expressions, patterns, and the constructors that
//! keep every program well typed.
//!
//! Besides `let`, patterns applied to all of their arguments are all there is; functions occur only
//! as lambdas in pattern positions. [`table`] lists the patterns, [`Context`] makes expressions,
//! [`Build`] is the form to write programs in from Rust.

mod alpha;
mod atomic;
mod build;
mod context;
mod error;
mod expr;
mod fold_sizes;
mod launch;
mod math;
mod operator;
mod place;
mod prim;
mod print;
mod program;
mod round;
mod rules;
mod scalar;
mod span;
mod substitute;
pub mod table;
mod types;
mod typing;

pub use atomic::{AtomicFold, AtomicOp, AtomicStep};
pub use build::{Arg, Build, Built};
pub use context::Context;
pub use error::{Part, TypeError};
pub use expr::{Call, Expr, Kind, Lambda, Param};
pub use fold_sizes::{fits as size_fits, lowest_bits};
pub use launch::{Launch, LaunchClause};
pub use lift_nat::{
    Facts, Nat, Over, Pred, QuickMap, QuickSet, Range, Spread, Turn, Var, Written,
    parse as parse_nat, parse_assumptions as parse_preds,
};
pub use math::{Math, Operands};
pub use operator::{BinaryOp, UnaryOp};
pub use place::Place;
pub use prim::{Boundary, Extern, Family, FoldKind, MapKind, Permutation, Prim};
pub use program::{Clause, Def, Order, Parameter, Program, Said, Subject, Test};
pub use round::f16_from_f64;
pub use rules::{Violation, check_low_level, check_permutations};
pub use scalar::{Literal, Scalar};
pub use span::Span;
pub use types::{OVER, Space, Type};
pub use typing::{MAX_CHECKED_PERMUTATION, MAX_GENERATED, refuse_numbers, widen};
