//! From functional programs to kernels: the program says what runs where, and lowering makes it explicit.
//!
//! [`passes()`] is the pipeline, a table; each pass is a file of `passes/` with the name of its row, and [`lower`] runs
//! them. Beside them stand what they work on ([`Plan`]), and analyses and tools that several share: `effects`, `nest`, `reach`,
//! `cloning`, `jam`, `parts`, `replace`, `rows`. Where a pass could go several ways, [`Choices`] says which.

mod choices;
mod cloning;
mod effects;
mod error;
mod jam;
mod mappings;
mod memory_plan;
mod nest;
mod options;
mod parts;
mod passes;
mod plan;
mod reach;
mod replace;
mod rows;

pub use choices::{Choice, Choices};
pub use error::{LowerError, Mistake};
pub use mappings::{Mapping, mappings};
pub use memory_plan::Memory;
pub use options::{Options, Simplify, Target};
pub use passes::{
    Pass, Program, Stage, Targets, for_processor, for_threads, lower, lower_watched, passes,
};
pub use plan::{Check, Condition, Fault, Plan, PlanBuffer, Requirement, Role, Step};
