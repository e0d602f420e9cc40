//! From functional programs to kernels: what runs where is in the program; this makes it explicit.
//!
//! [`lower`] is a list of passes, each in a file of its own.

mod align;
mod barriers;
mod blocks;
mod carry;
mod copies;
mod copy;
mod cut;
mod dead;
mod decide;
mod error;
mod initialise;
mod interior;
mod jam;
mod launch;
mod limits;
mod merge;
mod once;
mod options;
mod pipeline;
mod plan;
mod reach;
mod registers;
mod requires;
mod reuse;
mod share;
mod shares;
mod specialise;
mod translate;
mod unroll;
mod weave;
mod width;

use lift_ir::{Def, MAX_CHECKED_PERMUTATION, check_permutations};
use lift_kernel::{Buffer, for_threads};

pub use error::LowerError;
pub use options::{Options, Simplify, Target};
pub use plan::{Check, Condition, Fault, Plan, PlanBuffer, Requirement, Role, Step};
pub use reuse::Memory;

/// The kernels of a definition, and the plan by which a host runs them.
pub fn lower(def: &Def, options: &Options) -> Result<Plan, LowerError> {
    let def = specialise::specialise(def, options)?;
    check_permutations(&def.body, &|_| None, MAX_CHECKED_PERMUTATION)?;
    let requirements = requires::of(&def);
    let def = share::share(&def, options.target)?;
    let def = decide::decide(&def, options.target)?;
    let mut plan = translate::translate(&def, options)?;
    plan.requirements = requirements;
    let here = |e: LowerError| LowerError { span: e.span.or(def.span), ..e };
    width::require(&mut plan, &def.facts()).map_err(here)?;
    // Passes that add names have to know those of the arguments.
    plan.collect_arguments();
    let status = plan.status();
    let sizes = def.facts();
    let globals: Vec<Buffer> = plan.buffers.iter().map(|b| b.buffer.clone()).collect();
    for kernel in &mut plan.kernels {
        shares::check(kernel, &plan.places, &plan.warps)?;
        launch::choose(kernel, options, &sizes);
        once::guard_stores(kernel, status);
        cut::run(kernel, status)?;
        barriers::insert(kernel, status, &plan.warps, options);
        dead::remove(kernel);
        initialise::run(kernel);
        if options.simplify.accesses && options.simplify.control {
            unroll::windows(kernel);
        }
        unroll::mark(kernel, options.target);
        if options.target == Target::Loops && options.simplify.control {
            interior::split(kernel);
            jam::run(kernel);
            copies::remove(kernel);
            weave::run(kernel);
            blocks::run(kernel);
            carry::run(kernel);
            align::run(kernel);
        }
        if options.target == Target::Threads {
            let grid = interior::grid(kernel);
            for_threads(kernel, options.simplify.control);
            limits::check(kernel, &plan.places)?;
            unroll::write_out(kernel);
            registers::run(kernel);
            if options.simplify.control {
                interior::branch(kernel, &grid, &globals);
            }
            merge::loads(kernel, &globals);
            copies::remove(kernel);
            merge::stores(kernel, &globals);
            dead::remove(kernel);
            if !options.plain_loops {
                pipeline::run(kernel);
            }
        }
    }
    width::choose(&mut plan, &def.facts()).map_err(here)?;
    plan.collect_arguments();
    Ok(plan)
}
