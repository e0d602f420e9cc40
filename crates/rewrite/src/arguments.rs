//! What the caller chooses, and what comes of an application.

use std::collections::BTreeMap;
use std::fmt;

use lift_ir::{Expr, Nat, Permutation, Pred, Var};

/// The parameters of one application: sizes and permutations that the left side does not bind.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Arguments {
    pub(crate) sizes: BTreeMap<String, Choice>,
    pub(crate) permutations: BTreeMap<String, Permutation>,
    /// Sizes whose values are picked later: conditions on them are assumed.
    pub(crate) open: Vec<Var>,
}

/// How a size parameter is chosen.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Choice {
    /// A size at hand: the condition must be proved of it.
    Size(Nat),
    /// A new size variable whose value is picked later: the condition is assumed of it.
    Fresh(Var),
}

impl Arguments {
    pub fn none() -> Arguments {
        Arguments::default()
    }

    pub fn size(mut self, name: &str, size: impl Into<Nat>) -> Arguments {
        self.sizes.insert(name.to_string(), Choice::Size(size.into()));
        self
    }

    pub fn fresh(mut self, name: &str, var: Var) -> Arguments {
        self.sizes.insert(name.to_string(), Choice::Fresh(var));
        self
    }

    /// Conditions that mention these need not be proved: they are assumed of them.
    pub fn open(mut self, vars: impl IntoIterator<Item = Var>) -> Arguments {
        self.open.extend(vars);
        self
    }

    pub fn permutation(mut self, name: &str, permutation: Permutation) -> Arguments {
        self.permutations.insert(name.to_string(), permutation);
        self
    }
}

/// `m = 8, p = reverse`; a new size is `m = new m2`.
impl fmt::Display for Arguments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sizes = self.sizes.iter().map(|(name, choice)| match choice {
            Choice::Size(size) => format!("{name} = {size}"),
            Choice::Fresh(var) => format!("{name} = new {}", var.name()),
        });
        let reordered = self.permutations.iter().map(|(name, p)| format!("{name} = {p}"));
        f.write_str(&sizes.chain(reordered).collect::<Vec<String>>().join(", "))
    }
}

/// A successful application.
#[derive(Clone, Debug)]
pub struct Applied {
    pub expr: Expr,
    /// The new size variables that occur in it.
    pub fresh: Vec<Var>,
    /// What is assumed of them, in the context too.
    pub assumed: Vec<Pred>,
}
