//! From functional programs to kernels: what runs where is in the program; this makes it explicit.
//!
//! [`lower`] is a list of passes, each in a file of its own.

mod barriers;
mod dead;
mod decide;
mod error;
mod initialise;
mod launch;
mod once;
mod plan;
mod specialise;
mod substitute;
mod translate;
mod unroll;
mod width;

use lift_ir::Def;

pub use error::LowerError;
pub use plan::{Check, Plan, PlanBuffer, Role, Step};
pub use specialise::Options;

/// The kernels of a definition, and the plan by which a host runs them.
pub fn lower(def: &Def, options: &Options) -> Result<Plan, LowerError> {
    let def = specialise::specialise(def, options)?;
    let def = decide::decide(&def)?;
    let mut plan = translate::translate(&def)?;
    let status = plan.status();
    for kernel in &mut plan.kernels {
        launch::choose(kernel, options);
        once::guard_stores(kernel, status);
        barriers::insert(kernel, status);
        dead::remove(kernel);
        initialise::run(kernel);
        unroll::mark(kernel);
    }
    width::choose(&mut plan, &def.facts());
    plan.collect_arguments();
    Ok(plan)
}
