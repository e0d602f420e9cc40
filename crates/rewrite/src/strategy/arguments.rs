//! The parameters of rules in strategies.

use std::fmt;

use lift_ir::{Nat, Permutation, Var};

use crate::arguments::Arguments;
use crate::choices::unused;
use crate::refusal::Refusal;
use crate::rule::Rule;

/// What a rule is given in a strategy. Sizes are in terms of names of the program.
#[derive(Clone, Debug)]
pub enum Given {
    Size(Nat),
    Permutation(Permutation),
}

impl fmt::Display for Given {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Given::Size(size) => write!(f, "{size}"),
            Given::Permutation(permutation) => write!(f, "{permutation}"),
        }
    }
}

/// The names of the program that sizes can be written in.
pub(super) struct Names<'a> {
    pub sizes: Vec<&'a Var>,
    /// Those among them whose values are picked later.
    pub open: Vec<&'a Var>,
    /// All names that a new size must not have.
    pub taken: Vec<String>,
}

impl Names<'_> {
    pub fn resolve(&self, size: &Nat) -> Result<Nat, Refusal> {
        let own = |var: &Var| self.sizes.iter().find(|v| v.name() == var.name());
        if let Some(unknown) = size.vars().iter().find(|v| own(v).is_none()) {
            return Err(Refusal::Other(format!("the program has no size `{unknown}`")));
        }
        Ok(size.substitute(&|v| own(v).map(|v| Nat::var(v))))
    }

    fn permutation(&self, permutation: &Permutation) -> Result<Permutation, Refusal> {
        Ok(match permutation {
            Permutation::Stride(step) => Permutation::Stride(self.resolve(step)?),
            Permutation::Shift(by) => Permutation::Shift(self.resolve(by)?),
            other => other.clone(),
        })
    }

    /// The arguments of a rule, in the order in which its law lists parameters. Sizes that are not given
    /// become new ones.
    pub fn arguments(&self, rule: &Rule, given: &[Given]) -> Result<Arguments, Refusal> {
        let law = rule.read()?;
        let sizes = law.parameters.iter().map(|name| (name, true));
        let slots: Vec<(&String, bool)> =
            sizes.chain(law.reorderings.iter().map(|name| (name, false))).collect();
        if given.len() > slots.len() {
            let count = slots.len();
            return Err(Refusal::Other(format!(
                "it takes {count} parameters, not {}",
                given.len()
            )));
        }
        let mut arguments = Arguments::none().open(self.open.iter().map(|v| (*v).clone()));
        let mut taken = self.taken.clone();
        for (index, (name, is_size)) in slots.into_iter().enumerate() {
            arguments = match (given.get(index), is_size) {
                (Some(Given::Size(size)), true) => match size.as_var() {
                    // A name of its own is a new size, whose value is picked later.
                    Some(var) if !taken.iter().any(|t| t == var.name()) => {
                        taken.push(var.name().to_string());
                        arguments.fresh(name, var.clone())
                    }
                    _ => arguments.size(name, self.resolve(size)?),
                },
                (Some(Given::Permutation(p)), false) => {
                    arguments.permutation(name, self.permutation(p)?)
                }
                (None, true) if !law.is_dimension(name) => {
                    let new = unused(name, &taken);
                    taken.push(new.clone());
                    arguments.fresh(name, Var::named(&new))
                }
                (None, _) => return Err(Refusal::Missing { parameter: name.clone() }),
                (Some(Given::Size(_)), false) => {
                    return Err(Refusal::Other(format!("`{name}` is a permutation")));
                }
                (Some(Given::Permutation(_)), true) => {
                    return Err(Refusal::Other(format!("`{name}` is a size")));
                }
            };
        }
        Ok(arguments)
    }
}
