//! What each turn of the innermost loop computes anew.

use std::cell::RefCell;

use lift_ir::{Nat, QuickMap, QuickSet, Var};
use lift_kernel::Expr;

/// Variables that have another value in each turn. Compilers move what needs none of them out of the loop.
#[derive(Clone, Default)]
pub(super) struct Changing<'k> {
    vars: QuickSet<&'k Var>,
    /// What was found of expressions, by address: the number of variables that there were when one did not change. One that does
    /// still does with more of them.
    known: RefCell<QuickMap<*const Expr, Option<usize>>>,
}

impl<'k> Changing<'k> {
    pub(super) fn insert(&mut self, var: &'k Var) {
        self.vars.insert(var);
    }

    pub(super) fn has_index(&self, index: &Nat) -> bool {
        let mut found = false;
        index.each_var(&mut |v| found |= self.vars.contains(v));
        found
    }

    /// Whether an expression of the kernel has another value in each turn.
    pub(super) fn has(&self, expr: &'k Expr) -> bool {
        let address = std::ptr::from_ref(expr);
        match self.known.borrow().get(&address) {
            Some(None) => return true,
            Some(Some(vars)) if *vars == self.vars.len() => return false,
            _ => {}
        }
        let mut found = false;
        expr.each(&mut |e| {
            found = found
                || match e {
                    Expr::Var(v) => self.vars.contains(&v.id),
                    Expr::Index(nat, _) => self.has_index(nat),
                    Expr::Test(pred) => pred.vars().iter().any(|v| self.vars.contains(v)),
                    Expr::Load(access, _) => self.has_index(&access.index),
                    _ => false,
                }
        });
        let known = if found { None } else { Some(self.vars.len()) };
        self.known.borrow_mut().insert(address, known);
        found
    }
}
