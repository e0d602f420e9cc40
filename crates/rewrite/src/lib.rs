//! Rewriting: rules that are laws, applied at places.
//!
//! A [`Rule`] is a law in the language's own notation. Its left side is matched against a typed
//! expression, its condition is proved from what is known about sizes, and its right side is built
//! with the checked constructors of [`lift_ir::Context`], so that what comes out is well typed and
//! of the same type. Where a rule does not apply, a [`Refusal`] says why.
//!
//! ```
//! use lift_ir::{Build, Context, Facts, Type};
//! use lift_rewrite::{Arguments, find};
//!
//! let cx = Context::new(Facts::new());
//! let b = Build::new(&cx);
//! let xs = b.param("xs", Type::array(Type::I32, 8u32));
//! let program = b.map(|x| b.add(&x, b.i32(1)), b.map(|x| b.mul(&x, b.i32(2)), &xs))?;
//!
//! let fused = find("map_fusion")?.apply(&cx, &program, &Arguments::none())?;
//! assert_eq!(fused.expr.to_string(), "map(\\x -> x * 2 + 1, xs)");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod apply;
mod arguments;
mod bindings;
mod build;
pub mod choices;
mod derivation;
mod failing;
pub mod inline;
pub mod law;
mod matching;
mod project;
mod read;
mod refusal;
mod registry;
mod rule;
mod rules;
pub mod strategy;

pub use apply::{apply_at, apply_in, places};
pub use arguments::{Applied, Arguments, Choice};
pub use bindings::Bindings;
pub use build::build;
pub use derivation::{Derivation, ReplayError, Step, formatted, replay};
pub use refusal::Refusal;
pub use registry::{UnknownRule, families, find, rules};
pub use rule::{Rule, RuleKind, Site};
pub use rules::Family;
pub use strategy::{
    Failure, Outcome, Script, ScriptError, Strategy, read_script, read_strategy, run,
};
