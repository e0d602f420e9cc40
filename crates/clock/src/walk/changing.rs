//! What each turn of the innermost loop computes anew.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use lift_ir::{Nat, QuickMap, QuickSet, Var};
use lift_kernel::Expr;

/// Variables that have another value in each turn. Compilers move what needs none of them out of the loop.
#[derive(Default)]
pub(super) struct Changing<'k> {
    vars: QuickSet<&'k Var>,
    /// Variables that each turn has for itself.
    own: QuickSet<&'k Var>,
    /// Of the loop, each time that one is begun.
    number: u32,
    found: Rc<Found>,
}

/// What was found of expressions in all loops.
#[derive(Default)]
struct Found {
    /// By address: in which loop, and the number of variables that there were when one did not change. One that does still does with
    /// more of them.
    known: RefCell<QuickMap<*const Expr, (u32, Option<usize>)>>,
    last: Cell<u32>,
}

impl<'k> Changing<'k> {
    /// At the beginning of a loop inside.
    pub(super) fn inside(&self) -> Changing<'k> {
        let number = self.found.last.get() + 1;
        self.found.last.set(number);
        let (vars, own) = (QuickSet::default(), QuickSet::default());
        Changing { vars, own, number, found: Rc::clone(&self.found) }
    }

    pub(super) fn declare(&mut self, var: &'k Var) {
        self.own.insert(var);
    }

    /// Whether each turn has a variable for itself.
    pub(super) fn declares(&self, var: &Var) -> bool {
        self.own.contains(var)
    }

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
        match self.found.known.borrow().get(&address) {
            Some((number, None)) if *number == self.number => return true,
            Some((number, Some(vars))) if (*number, *vars) == (self.number, self.vars.len()) => {
                return false;
            }
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
        self.found.known.borrow_mut().insert(address, (self.number, known));
        found
    }
}
