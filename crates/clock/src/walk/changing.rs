//! What each turn of the innermost loop computes anew.

use std::hash::{BuildHasher, BuildHasherDefault, Hash};

use lift_ir::{Nat, QuickSet, Var};
use lift_kernel::{Access, BufferId, Expr};
use lift_nat::Quick;

/// Variables that have another value in each turn, and arrays that may: those that the loop stores to. Compilers move what needs none of
/// them out of the loop.
#[derive(Default)]
pub(super) struct Changing<'k> {
    vars: QuickSet<&'k Var>,
    stored: QuickSet<BufferId>,
    /// A number for these, whatever their order: loops with the same ones have the same.
    mark: u64,
    /// Variables that each turn has for itself.
    own: QuickSet<&'k Var>,
}

impl<'k> Changing<'k> {
    /// Of a loop over a variable, which stores to some arrays.
    pub(super) fn new(var: &'k Var, stored: &[BufferId]) -> Changing<'k> {
        let mut changing = Changing::default();
        changing.insert(var);
        for buffer in stored {
            changing.mark = changing.mark.wrapping_add(hash(buffer));
            changing.stored.insert(*buffer);
        }
        changing
    }

    pub(super) fn declare(&mut self, var: &'k Var) {
        self.own.insert(var);
    }

    /// Whether each turn has a variable for itself.
    pub(super) fn declares(&self, var: &Var) -> bool {
        self.own.contains(var)
    }

    pub(super) fn insert(&mut self, var: &'k Var) {
        if self.vars.insert(var) {
            self.mark = self.mark.wrapping_add(hash(var));
        }
    }

    /// What there is of an index in each turn, besides what is the same in all of them.
    pub(super) fn part_of(&self, index: &Nat) -> Nat {
        index - index.substitute(&|v| self.vars.contains(v).then_some(Nat::ZERO))
    }

    /// The same for loops with the same variables.
    pub(super) fn mark(&self) -> u64 {
        self.mark
    }

    pub(super) fn has_index(&self, index: &Nat) -> bool {
        index.any_var(&mut |v| self.vars.contains(v))
    }

    /// Whether each turn loads or stores another element, or one that has another value.
    pub(super) fn has_access(&self, access: &Access) -> bool {
        self.stored.contains(&access.buffer) || self.has_index(&access.index)
    }

    fn has(&self, expr: &Expr) -> bool {
        let mut found = false;
        expr.each(&mut |e| {
            found = found
                || match e {
                    Expr::Var(v) => self.vars.contains(&v.id),
                    Expr::Index(nat, _) => self.has_index(nat),
                    Expr::Test(pred) => pred.any_var(&mut |v| self.vars.contains(v)),
                    Expr::Load(access, _) => self.has_access(access),
                    _ => false,
                }
        });
        found
    }
}

fn hash(value: impl Hash) -> u64 {
    BuildHasherDefault::<Quick>::default().hash_one(value)
}

/// Among which variables an expression of the kernel was found to change, and among which not. The first turn of a loop has fewer of
/// them than those after it, so two are kept.
#[derive(Default)]
pub(super) struct Changes([Option<(u64, bool)>; 2]);

impl Changes {
    /// Whether the expression has another value in each turn.
    pub(super) fn has(&mut self, expr: &Expr, among: &Changing<'_>) -> bool {
        let known = self.0.iter().flatten().find(|(mark, _)| *mark == among.mark);
        if let Some((_, changes)) = known {
            return *changes;
        }
        let changes = among.has(expr);
        self.0 = [Some((among.mark, changes)), self.0[0]];
        changes
    }
}
