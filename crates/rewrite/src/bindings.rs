//! What metavariables stand for.

use std::collections::BTreeMap;

use lift_ir::{Boundary, Expr, Lambda, Nat, Permutation, Pred, Type, Var};

/// Found by matching the left side, completed by the caller's choices, read by building the right
/// side.
#[derive(Clone, Debug, Default)]
pub struct Bindings {
    pub sizes: BTreeMap<String, Nat>,
    pub types: BTreeMap<String, Type>,
    pub values: BTreeMap<String, Expr>,
    pub functions: BTreeMap<String, Lambda>,
    pub permutations: BTreeMap<String, Permutation>,
    pub boundaries: BTreeMap<String, Boundary>,
}

impl Bindings {
    /// A size of the law as a size of the program; what is not bound stays.
    pub fn size(&self, size: &Nat) -> Nat {
        size.substitute(&|var| self.size_of(var))
    }

    pub fn pred(&self, pred: &Pred) -> Pred {
        pred.substitute(&|var| self.size_of(var))
    }

    pub(crate) fn size_of(&self, var: &Var) -> Option<Nat> {
        self.sizes.get(var.name()).cloned()
    }

    /// True where every variable of the size is bound.
    pub fn covers(&self, size: &Nat) -> bool {
        size.vars().iter().all(|v| self.sizes.contains_key(v.name()))
    }
}
