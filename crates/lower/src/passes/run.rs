//! Running passes: all of them, one after the other, or one alone on what a person wrote.

use std::collections::BTreeMap;

use lift_ir::{Def, Facts, Span};
use lift_kernel::{Arg, Kernel, Usage};

use super::{Around, Pass, Program, Run, Stage, passes};
use crate::plan::{Plan, PlanBuffer, Role, Step, Warps, Written};
use crate::{LowerError, Options};

/// What the argument is called in which a kernel says that a check failed.
const STATUS: &str = "status";

/// The kernels of a definition, and the plan by which a host runs them.
pub fn lower(def: &Def, options: &Options) -> Result<Plan, LowerError> {
    lower_watched(def, options, &mut |_, _| {})
}

/// The same. After each pass that is wanted `watch` is called with what there is.
pub fn lower_watched(
    def: &Def,
    options: &Options,
    watch: &mut dyn FnMut(&Pass, Stage<'_>),
) -> Result<Plan, LowerError> {
    let options = &Options { choices: options.choices.afresh(), ..options.clone() };
    let mut way = Way::from(def);
    for pass in passes() {
        if pass.targets.has(options.target) && (pass.wanted)(options) {
            way.take(pass, options)?;
            watch(pass, way.stage());
        }
    }
    match way {
        Way::Kernels { plan, .. } => Ok(Plan { choices: options.choices.made(), ..plan }),
        Way::Program(_) => Err(LowerError::broken("no pass makes kernels")),
    }
}

impl Pass {
    /// What this pass makes of a kernel that is all of a plan, launched once. Of sizes it is known that they are at least
    /// 1. An argument `status` is where checks that fail are noted.
    pub fn of_kernel(&self, kernel: &Kernel, options: &Options) -> Result<Plan, LowerError> {
        let mut way = Way::Kernels { plan: alone(kernel), sizes: sizes(kernel), span: None };
        way.take(self, options)?;
        match way {
            Way::Kernels { plan, .. } => Ok(plan),
            Way::Program(_) => Err(LowerError::broken("a kernel became a program")),
        }
    }
}

/// How far a program has come.
enum Way {
    Program(Program),
    Kernels {
        plan: Plan,
        /// What is known of the sizes.
        sizes: Facts,
        span: Option<Span>,
    },
}

impl Way {
    fn from(def: &Def) -> Way {
        Way::Program(Program { def: def.clone(), requirements: Vec::new(), orders_open: false })
    }

    fn stage(&self) -> Stage<'_> {
        match self {
            Way::Program(program) => Stage::Program(program),
            Way::Kernels { plan, .. } => Stage::Plan(plan),
        }
    }

    fn take(&mut self, pass: &Pass, options: &Options) -> Result<(), LowerError> {
        match (&pass.run, &mut *self) {
            (Run::Program(run), Way::Program(program)) => run(program, options),
            (Run::Translate(run), Way::Program(program)) => {
                let (plan, sizes) = (run(program, options)?, program.def.facts());
                *self = Way::Kernels { plan, sizes, span: program.def.span };
                Ok(())
            }
            (Run::Plan(run), Way::Kernels { plan, sizes, span }) => {
                run(plan, sizes, options).map_err(|e| LowerError { span: e.span.or(*span), ..e })
            }
            (Run::Kernel(run), Way::Kernels { plan, sizes, .. }) => {
                each_kernel(plan, sizes, options, *run)
            }
            (Run::Program(_) | Run::Translate(_), Way::Kernels { .. })
            | (Run::Plan(_) | Run::Kernel(_), Way::Program(_)) => {
                Err(LowerError::broken(format!("`{}` stands in the wrong place", pass.name)))
            }
        }
    }
}

fn each_kernel(
    plan: &mut Plan,
    sizes: &Facts,
    options: &Options,
    run: fn(&mut Kernel, &Around) -> Result<(), LowerError>,
) -> Result<(), LowerError> {
    let mut kernels = std::mem::take(&mut plan.kernels);
    let globals = plan.buffers.iter().map(|b| b.buffer.clone()).collect();
    let around = Around { options, sizes, status: plan.status(), globals, plan };
    let done = kernels.iter_mut().try_for_each(|kernel| run(kernel, &around));
    plan.kernels = kernels;
    done
}

/// The plan of one kernel.
fn alone(kernel: &Kernel) -> Plan {
    let mut buffers = Vec::new();
    let mut scalars = Vec::new();
    for (param, arg) in kernel.args.iter().enumerate() {
        match arg {
            Arg::Buffer(buffer, usage) => {
                let role = match usage {
                    _ if buffer.name == STATUS => Role::Status,
                    Usage::Read => Role::Input { param, leaf: 0 },
                    Usage::Write | Usage::ReadWrite => Role::Output { leaf: buffers.len() },
                };
                buffers.push(PlanBuffer { buffer: buffer.clone(), role });
            }
            Arg::Scalar(variable) => scalars.push((param, variable.clone())),
            Arg::Size(_) => {}
        }
    }
    Plan {
        name: kernel.name.clone(),
        kernels: vec![kernel.clone()],
        buffers,
        steps: vec![Step::Launch(0)],
        scalars,
        checks: Vec::new(),
        requirements: Vec::new(),
        choices: Vec::new(),
        batches: BTreeMap::new(),
        written: Written::default(),
        spans: BTreeMap::new(),
        warps: Warps::default(),
        orders_open: true,
    }
}

fn sizes(kernel: &Kernel) -> Facts {
    let mut facts = Facts::new();
    for arg in &kernel.args {
        if let Arg::Size(var) = arg {
            facts.size(var);
        }
    }
    facts
}
