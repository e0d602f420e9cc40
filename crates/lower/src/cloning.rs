//! Clones of statements with index variables replaced.
//!
//! A clone has variables of its own for what it declares. The new values decide what they can: indices are simplified, and
//! of a branch that is always taken the other side is gone.

use std::collections::{BTreeMap, BTreeSet};

use lift_ir::{Facts, Nat, Pred, Range, Var};
use lift_kernel::{Edit, Expr, Ids, Kernel, Loop, Stmt, Variable};

/// What becomes of comments.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Comments {
    Keep,
    Drop,
}

impl Comments {
    /// Of several clones of the same statements, one after the other, the first says what they do.
    pub(crate) fn of(number: usize) -> Comments {
        if number == 0 { Comments::Keep } else { Comments::Drop }
    }
}

/// Makes copies of parts of one kernel.
pub(crate) struct Copier {
    pub ids: Ids,
    pub facts: Facts,
    /// Numbers of threads. What is known of one holds where its guard does, so it does not decide the guard.
    thread_ids: BTreeSet<Var>,
}

impl Copier {
    pub(crate) fn of(kernel: &Kernel) -> Copier {
        let mut thread_ids = BTreeSet::new();
        for stmt in &kernel.body {
            stmt.each(&mut |s| {
                if let Stmt::ThreadId { var, .. } = s {
                    thread_ids.insert(var.clone());
                }
            });
        }
        Copier { ids: kernel.ids.clone(), facts: kernel.facts.clone(), thread_ids }
    }

    /// Statements with variables replaced by what `value` gives for them.
    pub(crate) fn copy(
        &mut self,
        block: &[Stmt],
        value: &dyn Fn(&Var) -> Option<Nat>,
        comments: Comments,
    ) -> Vec<Stmt> {
        self.copy_more(block, value, comments, &mut Renaming::default())
    }

    /// The same for statements of which others were copied before: those have declared what these use.
    pub(crate) fn copy_more(
        &mut self,
        block: &[Stmt],
        value: &dyn Fn(&Var) -> Option<Nat>,
        comments: Comments,
        renaming: &mut Renaming,
    ) -> Vec<Stmt> {
        Copy { copier: self, value, comments, renaming }.block(block)
    }

    /// An expression in a copy.
    pub(crate) fn copy_expr(
        &mut self,
        expr: &Expr,
        value: &dyn Fn(&Var) -> Option<Nat>,
        renaming: &mut Renaming,
    ) -> Expr {
        Copy { copier: self, value, comments: Comments::Drop, renaming }.expr(expr)
    }

    /// A size in a copy.
    pub(crate) fn copy_nat(
        &mut self,
        nat: &Nat,
        value: &dyn Fn(&Var) -> Option<Nat>,
        renaming: &mut Renaming,
    ) -> Nat {
        Copy { copier: self, value, comments: Comments::Drop, renaming }.nat(nat)
    }
}

struct Copy<'p> {
    copier: &'p mut Copier,
    value: &'p dyn Fn(&Var) -> Option<Nat>,
    comments: Comments,
    renaming: &'p mut Renaming,
}

/// What variables are in a copy.
#[derive(Clone, Default)]
pub(crate) struct Renaming {
    /// The variables that are declared inside, and those of the copy.
    own: BTreeMap<Var, Var>,
    /// What the variables of indices that are bound inside are now.
    bound: BTreeMap<Var, Nat>,
}

impl Renaming {
    /// From here on a variable of indices is this.
    pub(crate) fn bind(&mut self, var: &Var, value: Nat) {
        self.bound.insert(var.clone(), value);
    }

    /// What a variable that was declared is in the copy.
    pub(crate) fn variable(&self, var: &Var) -> Option<Var> {
        self.own.get(var).cloned()
    }

    /// What a variable of indices that was bound is in the copy.
    pub(crate) fn index(&self, var: &Var) -> Option<Nat> {
        self.bound.get(var).cloned()
    }

    /// From here on a variable is what it is in another copy.
    pub(crate) fn adopt(&mut self, var: &Var, variable: Option<Var>, index: Option<Nat>) {
        self.own.extend(variable.map(|own| (var.clone(), own)));
        self.bound.extend(index.map(|value| (var.clone(), value)));
    }
}

impl Copy<'_> {
    fn value_of(&self, v: &Var) -> Option<Nat> {
        (self.value)(v).or_else(|| self.renaming.bound.get(v).cloned())
    }

    /// Whether a condition is the guard of a thread's number.
    fn is_guard(&self, pred: &Pred) -> bool {
        match pred {
            Pred::Lt(id, _) | Pred::Eq(id, _) => {
                id.as_var().is_some_and(|v| self.copier.thread_ids.contains(v))
            }
            Pred::Ne(..) | Pred::Le(..) | Pred::Divides { .. } | Pred::And(_) => false,
        }
    }

    /// What a condition is known to be.
    fn decided(&self, condition: &Expr) -> Option<bool> {
        match condition {
            Expr::Test(pred) if self.is_guard(pred) => None,
            Expr::Test(pred) if self.copier.facts.proves(pred) => Some(true),
            Expr::Test(pred) if self.copier.facts.refutes(pred) => Some(false),
            _ => None,
        }
    }
}

impl Edit for Copy<'_> {
    fn nat(&mut self, nat: &Nat) -> Nat {
        let replaced = nat.substitute(&|v| self.value_of(v));
        if replaced == *nat { replaced } else { self.copier.facts.simplify(&replaced) }
    }

    fn pred(&mut self, pred: &Pred) -> Pred {
        let replaced = pred.substitute(&|v| self.value_of(v));
        match replaced {
            // Of several conditions, those that the new values prove are gone.
            Pred::And(mut all) if all.len() > 1 => {
                let known = |p: &Pred| !self.is_guard(p) && self.copier.facts.proves(p);
                if !all.iter().all(known) {
                    all.retain(|p| !known(p));
                }
                match all.len() {
                    1 => all.swap_remove(0),
                    _ => Pred::And(all),
                }
            }
            replaced => replaced,
        }
    }

    fn variable(&mut self, var: &Variable) -> Variable {
        Variable { id: self.renaming.own.get(&var.id).unwrap_or(&var.id).clone(), ty: var.ty }
    }

    fn bound(&mut self, var: &Var) -> Var {
        let own = self.copier.ids.fresh(var.name());
        self.renaming.bind(var, Nat::var(&own));
        own
    }

    fn expr(&mut self, expr: &Expr) -> Expr {
        let made = self.expr_parts(expr);
        match made {
            Expr::Select(condition, then, otherwise) => match self.decided(&condition) {
                Some(true) => *then,
                Some(false) => *otherwise,
                None => Expr::Select(condition, then, otherwise),
            },
            made => made,
        }
    }

    fn stmt(&mut self, stmt: &Stmt, made: &mut Vec<Stmt>) {
        match stmt {
            Stmt::Comment(_) if self.comments == Comments::Drop => {}
            Stmt::Declare { var, value } => {
                let value = value.as_ref().map(|v| self.expr(v));
                let own = self.copier.ids.fresh(var.id.name());
                self.renaming.own.insert(var.id.clone(), own.clone());
                made.push(Stmt::Declare { var: Variable { id: own, ty: var.ty }, value });
            }
            Stmt::Loop(l) => {
                let (extent, var) = (self.nat(&l.extent), self.bound(&l.var));
                self.copier.facts.declare_inside(&var, Range::below(extent.clone()));
                let body = self.block(&l.body);
                made.push(Stmt::Loop(Loop { var, extent, body, ..*l }));
            }
            Stmt::If { condition, then, otherwise } => {
                let condition = self.expr(condition);
                match self.decided(&condition) {
                    Some(true) => made.extend(self.block(then)),
                    Some(false) => made.extend(self.block(otherwise)),
                    None => {
                        let (then, otherwise) = (self.block(then), self.block(otherwise));
                        made.push(Stmt::If { condition, then, otherwise });
                    }
                }
            }
            _ => {
                let done = self.stmt_parts(stmt);
                made.push(done);
            }
        }
    }
}
