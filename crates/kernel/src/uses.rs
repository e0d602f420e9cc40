//! What a piece of a kernel mentions.

use std::collections::BTreeSet;

use lift_ir::{Nat, Var};

use crate::{Access, BufferId, Expr, Stmt};

/// The index variables and buffers in some statements, and where private memory was accessed.
#[derive(Default)]
pub(crate) struct Uses {
    pub vars: BTreeSet<Var>,
    pub buffers: BTreeSet<BufferId>,
    /// Every position in loops over work-items that an access names.
    pub items: Vec<(BufferId, Vec<Nat>)>,
}

impl Uses {
    pub fn of(stmts: &[Stmt]) -> Uses {
        let mut uses = Uses::default();
        uses.stmts(stmts);
        uses
    }

    fn stmts(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            self.stmt(stmt);
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Comment(_) | Stmt::Barrier(_) | Stmt::Place { .. } => {}
            Stmt::Declare { var: _, value } => {
                if let Some(value) = value {
                    self.expr(value);
                }
            }
            Stmt::Assign { var: _, value } | Stmt::Index { var: _, value } => self.expr(value),
            Stmt::Store { access, value } => {
                self.access(access);
                self.expr(value);
            }
            Stmt::Loop(l) => {
                self.vars.extend(l.extent.vars());
                self.stmts(&l.body);
            }
            Stmt::If { condition, then, otherwise } => {
                self.expr(condition);
                self.stmts(then);
                self.stmts(otherwise);
            }
        }
    }

    fn access(&mut self, access: &Access) {
        self.buffers.insert(access.buffer);
        self.vars.extend(access.index.vars());
        self.vars.extend(access.stage.vars());
        for item in &access.items {
            self.vars.extend(item.vars());
        }
        if !access.items.is_empty() {
            self.items.push((access.buffer, access.items.clone()));
        }
    }

    fn expr(&mut self, expr: &Expr) {
        match expr {
            Expr::Literal(_) | Expr::Var(_) => {}
            Expr::Index(nat, _) => self.vars.extend(nat.vars()),
            Expr::Test(pred) => self.vars.extend(pred.vars()),
            Expr::Load(access, _) => self.access(access),
            Expr::Unary(_, a) | Expr::Cast(_, a) | Expr::Splat(_, a) | Expr::Lane(a, _) => {
                self.expr(a);
            }
            Expr::Binary(_, a, b) => {
                self.expr(a);
                self.expr(b);
            }
            Expr::Select(a, b, c) => {
                self.expr(a);
                self.expr(b);
                self.expr(c);
            }
            Expr::Math(_, all) | Expr::Vector(_, all) | Expr::Extern(_, all) => {
                for e in all {
                    self.expr(e);
                }
            }
        }
    }
}
