//! From functional programs to kernels: what runs where is in the program; this makes it explicit.
//!
//! [`passes()`] is the pipeline, each pass in a file of its own; [`lower`] runs it.

mod align;
mod barriers;
mod blocks;
mod copies;
mod copy;
mod cse;
mod cut;
mod dead;
mod decide;
mod effects;
mod error;
mod initialise;
mod interior;
mod jam;
mod launch;
mod limits;
mod merge;
mod once;
mod options;
mod passes;
mod pipeline;
mod plan;
mod reach;
mod requires;
mod reuse;
mod scalar_replacement;
mod schedule;
mod share;
mod shares;
mod specialise;
mod translate;
mod unroll;
mod weave;
mod width;

pub use error::{LowerError, Mistake};
pub use options::{Options, Simplify, Target};
pub use passes::{Pass, Program, Stage, Targets, lower, lower_watched, passes};
pub use plan::{Check, Condition, Fault, Plan, PlanBuffer, Requirement, Role, Step};
pub use reuse::Memory;
