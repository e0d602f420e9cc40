//! What a plan requires of the sizes, looked at before anything runs.
//!
//! The arithmetic here is that of 128 bits, and what leaves even those fails.

use lift_interp::{RunError, Sizes};
use lift_ir::Var;
use lift_lower::{Condition, Requirement};

use crate::{Compiled, Error};

impl Compiled {
    /// Ensures: no kernel of the plan computes an index that wraps.
    pub fn check_requirements(&self, sizes: &Sizes) -> Result<(), Error> {
        self.plan.requirements.iter().try_for_each(|requirement| check(requirement, sizes))
    }
}

fn check(requirement: &Requirement, sizes: &Sizes) -> Result<(), Error> {
    let value = |v: &Var| sizes.get(v.name());
    let note = match &requirement.condition {
        Condition::Holds(pred) => match pred.eval(&value) {
            Ok(true) => return Ok(()),
            Ok(false) => {
                let vars = pred.vars();
                let named = vars.iter().filter_map(|v| Some((v.name(), sizes.get(v.name())?)));
                let values: Sizes = named.collect();
                format!("`{pred}` does not hold: {values}")
            }
            Err(error) => format!("`{pred}` has no value: {error}"),
        },
        // The session looks at the program's index functions itself, and names the pattern.
        Condition::Permutes { .. } => return Ok(()),
    };
    let (message, span) = (requirement.reason.clone(), requirement.span);
    Err(Error::Arguments(RunError { message, span, notes: vec![note] }))
}
