//! Changing kernels: an [`Edit`] says what becomes of the parts it is about, the rest is copied.

use lift_ir::{Nat, Pred, Var};

use crate::{Access, Expr, Loop, Stmt, Variable};

pub trait Edit {
    fn nat(&mut self, nat: &Nat) -> Nat {
        nat.clone()
    }

    fn pred(&mut self, pred: &Pred) -> Pred {
        pred.clone()
    }

    /// A variable, where it is declared and where it is used.
    fn variable(&mut self, var: &Variable) -> Variable {
        var.clone()
    }

    /// A variable of indices, where it is bound. Uses are in sizes and conditions.
    fn bound(&mut self, var: &Var) -> Var {
        var.clone()
    }

    fn access(&mut self, access: &Access) -> Access {
        self.access_parts(access)
    }

    fn expr(&mut self, expr: &Expr) -> Expr {
        self.expr_parts(expr)
    }

    /// Puts what becomes of a statement into `made`.
    fn stmt(&mut self, stmt: &Stmt, made: &mut Vec<Stmt>) {
        let stmt = self.stmt_parts(stmt);
        made.push(stmt);
    }

    fn block(&mut self, block: &[Stmt]) -> Vec<Stmt> {
        let mut made = Vec::with_capacity(block.len());
        block.iter().for_each(|stmt| self.stmt(stmt, &mut made));
        made
    }

    /// The access with its indices edited.
    fn access_parts(&mut self, access: &Access) -> Access {
        let index = self.nat(&access.index);
        let items = access.items.iter().map(|n| self.nat(n)).collect();
        let stage = self.nat(&access.stage);
        Access { index, items, stage, ..*access }
    }

    /// The expression with its parts edited.
    fn expr_parts(&mut self, expr: &Expr) -> Expr {
        match expr {
            Expr::Literal(_) => expr.clone(),
            Expr::Var(var) => Expr::Var(self.variable(var)),
            Expr::Index(index, scalar) => Expr::Index(self.nat(index), *scalar),
            Expr::Test(pred) => Expr::Test(self.pred(pred)),
            Expr::Load(access, ty) => Expr::Load(self.access(access), *ty),
            Expr::Unary(op, a) => Expr::Unary(*op, Box::new(self.expr(a))),
            Expr::Binary(op, a, b) => {
                Expr::Binary(*op, Box::new(self.expr(a)), Box::new(self.expr(b)))
            }
            Expr::Math(math, args) => {
                Expr::Math(*math, args.iter().map(|a| self.expr(a)).collect())
            }
            Expr::Cast(ty, a) => Expr::Cast(*ty, Box::new(self.expr(a))),
            Expr::Select(a, b, c) => {
                Expr::Select(Box::new(self.expr(a)), Box::new(self.expr(b)), Box::new(self.expr(c)))
            }
            Expr::Vector(scalar, args) => {
                Expr::Vector(*scalar, args.iter().map(|a| self.expr(a)).collect())
            }
            Expr::Splat(width, a) => Expr::Splat(*width, Box::new(self.expr(a))),
            Expr::Lane(a, lane) => Expr::Lane(Box::new(self.expr(a)), *lane),
            Expr::Extern(function, args) => {
                Expr::Extern(function.clone(), args.iter().map(|a| self.expr(a)).collect())
            }
            Expr::Shuffle(bit, a) => Expr::Shuffle(*bit, Box::new(self.expr(a))),
        }
    }

    /// The statement with its parts edited.
    fn stmt_parts(&mut self, stmt: &Stmt) -> Stmt {
        match stmt {
            Stmt::Comment(_) | Stmt::Barrier(_) => stmt.clone(),
            Stmt::Declare { var, value } => {
                let value = value.as_ref().map(|v| self.expr(v));
                Stmt::Declare { var: self.variable(var), value }
            }
            Stmt::Assign { var, value } => {
                let value = self.expr(value);
                Stmt::Assign { var: self.variable(var), value }
            }
            Stmt::Index { var, value } => {
                let value = self.expr(value);
                Stmt::Index { var: self.bound(var), value }
            }
            Stmt::Stop(condition) => Stmt::Stop(self.expr(condition)),
            Stmt::ThreadId { var, kind, extent } => {
                let extent = self.nat(extent);
                Stmt::ThreadId { var: self.bound(var), kind: *kind, extent }
            }
            Stmt::Store { access, value } => {
                let value = self.expr(value);
                Stmt::Store { access: self.access(access), value }
            }
            Stmt::Atomic { op, access, value } => {
                let value = self.expr(value);
                Stmt::Atomic { op: *op, access: self.access(access), value }
            }
            Stmt::Loop(l) => {
                let extent = self.nat(&l.extent);
                let var = self.bound(&l.var);
                Stmt::Loop(Loop { var, extent, body: self.block(&l.body), ..*l })
            }
            Stmt::If { condition, then, otherwise } => {
                let condition = self.expr(condition);
                let then = self.block(then);
                Stmt::If { condition, then, otherwise: self.block(otherwise) }
            }
        }
    }
}

/// Replaces variables of indices by what `value` gives for them, and simplifies what comes out.
pub struct Replace<'a> {
    pub value: &'a dyn Fn(&Var) -> Option<Nat>,
    pub simplify: &'a dyn Fn(&Nat) -> Nat,
}

impl Edit for Replace<'_> {
    fn nat(&mut self, nat: &Nat) -> Nat {
        (self.simplify)(&nat.substitute(self.value))
    }

    fn pred(&mut self, pred: &Pred) -> Pred {
        pred.substitute(self.value)
    }
}
