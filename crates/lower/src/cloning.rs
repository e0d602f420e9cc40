//! Clones of statements with index variables replaced.
//!
//! A clone has variables of its own for what it declares. The new values decide what they can: indices are simplified, and
//! of a branch that is always taken the other side is gone.

use std::collections::{BTreeMap, BTreeSet};

use lift_ir::{BinaryOp, Facts, Literal, Nat, Pred, Range, Var};
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
            Expr::Literal(Literal::Bool(holds)) => Some(*holds),
            _ => None,
        }
    }

    /// What is known of a comparison of two indices, or of a condition of which one side is known.
    fn logic(&self, op: BinaryOp, a: Expr, b: Expr) -> Expr {
        let goes_on = op == BinaryOp::And;
        let known = match op {
            BinaryOp::And | BinaryOp::Or => match (self.decided(&a), self.decided(&b)) {
                (Some(holds), _) if holds == goes_on => return b,
                (_, Some(holds)) if holds == goes_on => return a,
                (left, right) => left.or(right),
            },
            _ => self.compared(op, &a, &b),
        };
        match known {
            Some(holds) => Expr::Literal(Literal::Bool(holds)),
            None => Expr::Binary(op, Box::new(a), Box::new(b)),
        }
    }

    /// Whether a comparison holds of two indices that are in the range of their type.
    fn compared(&self, op: BinaryOp, a: &Expr, b: &Expr) -> Option<bool> {
        let (pred, facts) = (self.comparison(op, a, b)?, &self.copier.facts);
        match facts.proves(&pred) {
            true => Some(true),
            false => facts.refutes(&pred).then_some(false),
        }
    }

    /// What a comparison of two such indices says.
    fn comparison(&self, op: BinaryOp, a: &Expr, b: &Expr) -> Option<Pred> {
        if !op.is_comparison() {
            return None;
        }
        let (x, y) = (self.exact(a)?, self.exact(b)?);
        match op {
            BinaryOp::Eq => Some(Pred::Eq(x, y)),
            BinaryOp::Ne => Some(Pred::Ne(x, y)),
            BinaryOp::Lt => Some(Pred::Lt(x, y)),
            BinaryOp::Le => Some(Pred::Le(x, y)),
            BinaryOp::Gt => Some(Pred::Lt(y, x)),
            BinaryOp::Ge => Some(Pred::Le(y, x)),
            _ => None,
        }
    }

    /// What is known of indices where a condition holds.
    fn told(&self, condition: &Expr, found: &mut Vec<Pred>) {
        match condition {
            Expr::Test(pred) => found.push(pred.clone()),
            Expr::Binary(BinaryOp::And, a, b) => {
                self.told(a, found);
                self.told(b, found);
            }
            Expr::Binary(op, a, b) => found.extend(self.comparison(*op, a, b)),
            _ => {}
        }
    }

    /// An expression that is evaluated only where a condition holds.
    fn expr_where(&mut self, condition: &Expr, expr: &Expr) -> Expr {
        let mut told = Vec::new();
        self.told(condition, &mut told);
        if told.is_empty() {
            return self.expr(expr);
        }
        let facts = self.copier.facts.clone();
        told.iter().for_each(|pred| self.copier.facts.assume(pred));
        let made = self.expr(expr);
        self.copier.facts = facts;
        made
    }

    /// An index or a number, where its type has room for it.
    fn exact(&self, value: &Expr) -> Option<Nat> {
        match value {
            Expr::Literal(Literal::Int(_, n)) => Some(Nat::int(*n)),
            Expr::Index(index, scalar) => {
                let (low, high) = scalar.integer_range()?;
                let least = Pred::Le(Nat::int(low), index.clone());
                let most = Pred::Le(index.clone(), Nat::int(high));
                let facts = &self.copier.facts;
                (facts.proves(&least) && facts.proves(&most)).then(|| index.clone())
            }
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
        match expr {
            Expr::Select(condition, then, otherwise) => {
                let condition = self.expr(condition);
                match self.decided(&condition) {
                    Some(true) => self.expr(then),
                    Some(false) => self.expr(otherwise),
                    None => {
                        let then = Box::new(self.expr_where(&condition, then));
                        let otherwise = Box::new(self.expr(otherwise));
                        Expr::Select(Box::new(condition), then, otherwise)
                    }
                }
            }
            Expr::Binary(op, a, b) if expr.ty().width == 1 && is_condition(*op) => {
                let a = self.expr(a);
                let b = match op {
                    BinaryOp::And => self.expr_where(&a, b),
                    _ => self.expr(b),
                };
                self.logic(*op, a, b)
            }
            _ => self.expr_parts(expr),
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

fn is_condition(op: BinaryOp) -> bool {
    op.is_logical() || op.is_comparison()
}
