//! What a pass is: a row of the pipeline, and what it is given.

use lift_ir::{Def, Facts};
use lift_kernel::{Buffer, BufferId, Kernel};

use crate::plan::{Plan, Requirement};
use crate::{LowerError, Options, Target};

/// One step from a program to its kernels.
pub struct Pass {
    /// Different from all others, also where the same is done twice.
    pub name: &'static str,
    /// What becomes of what.
    pub law: &'static str,
    /// What is taken for granted.
    pub requires: &'static str,
    /// What holds afterwards.
    pub ensures: &'static str,
    pub targets: Targets,
    /// Whether the user's choices leave it in.
    pub(super) wanted: fn(&Options) -> bool,
    pub(super) run: Run,
}

/// Which devices a pass is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Targets {
    All,
    /// Where work-items are threads.
    Threads,
    /// Where work-items are iterations of loops.
    Loops,
}

impl Targets {
    pub fn has(self, target: Target) -> bool {
        match self {
            Targets::All => true,
            Targets::Threads => target == Target::Threads,
            Targets::Loops => target == Target::Loops,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Targets::All => "all",
            Targets::Threads => "threads",
            Targets::Loops => "loops",
        }
    }
}

/// What there is after a pass.
#[derive(Clone, Copy)]
pub enum Stage<'s> {
    Program(&'s Program),
    Plan(&'s Plan),
}

pub(super) enum Run {
    /// On the functional program.
    Program(fn(&mut Program, &Options) -> Result<(), LowerError>),
    /// From the program to kernels.
    Translate(fn(&Program, &Options) -> Result<Plan, LowerError>),
    /// On kernels and host together.
    Plan(fn(&mut Plan, &Facts, &Options) -> Result<(), LowerError>),
    /// On each kernel alone.
    Kernel(fn(&mut Kernel, &Around) -> Result<(), LowerError>),
}

/// A program before it is kernels.
pub struct Program {
    pub def: Def,
    /// What it needs of its sizes.
    pub requirements: Vec<Requirement>,
    /// It does not say itself what runs on the whole grid.
    pub(super) orders_open: bool,
}

/// What a pass over a kernel knows beside it.
pub(super) struct Around<'p> {
    pub(super) plan: &'p Plan,
    pub(super) options: &'p Options,
    pub(super) sizes: &'p Facts,
    /// What any work-item may write, whoever is last; see [`Plan::status`].
    pub(super) status: Option<BufferId>,
    /// Everything in global memory.
    pub(super) globals: Vec<Buffer>,
}

/// A pass over kernels that cannot fail.
macro_rules! kernel {
    ($run:expr) => {{
        fn run(kernel: &mut Kernel, around: &Around) -> Result<(), LowerError> {
            let run: fn(&mut Kernel, &Around) = $run;
            run(kernel, around);
            Ok(())
        }
        Run::Kernel(run)
    }};
}

pub(super) use kernel;

pub(super) fn always(_: &Options) -> bool {
    true
}

pub(super) fn control(options: &Options) -> bool {
    options.simplify.control
}
