//! What is the same for all work-items of a group.
//!
//! A variable is uniform if all it is given is, and all work-items come by where it is given; the same holds of
//! what is stored to an array that each work-item has for itself. Loads of one address of shared memory are: work-items wait
//! for each other before one of them writes what another reads.

use std::collections::BTreeSet;

use lift_ir::{Nat, Var};

use crate::{Access, BufferId, Expr, Kernel, LoopKind, Stmt};

/// Tells which values of a kernel are uniform, where no loop over work-items is around.
pub struct Uniform {
    privates: BTreeSet<BufferId>,
    varying: BTreeSet<Var>,
    /// Private arrays in which work-items have different things.
    held: BTreeSet<BufferId>,
}

impl Uniform {
    pub fn of(kernel: &Kernel) -> Uniform {
        let privates = kernel.privates.iter().map(|b| b.id).collect();
        let mut found = Uniform { privates, varying: BTreeSet::new(), held: BTreeSet::new() };
        // What varies makes other things vary, also earlier ones in loops.
        loop {
            let before = found.varying.len() + found.held.len();
            found.block(&kernel.body, true);
            if found.varying.len() + found.held.len() == before {
                return found;
            }
        }
    }

    pub fn is_uniform(&self, value: &Expr) -> bool {
        let mut uniform = true;
        value.each(&mut |e| {
            uniform &= match e {
                Expr::Var(var) => !self.varying.contains(&var.id),
                Expr::Index(nat, _) => self.is_same(nat),
                Expr::Test(pred) => !pred.any_var(&mut |v| self.varying.contains(v)),
                Expr::Load(access, _) => self.is_loaded_alike(access),
                Expr::Literal(_)
                | Expr::Unary(..)
                | Expr::Binary(..)
                | Expr::Math(..)
                | Expr::Cast(..)
                | Expr::Select(..)
                | Expr::Vector(..)
                | Expr::Splat(..)
                | Expr::Lane(..)
                | Expr::Extern(..)
                | Expr::Shuffle(..) => true,
            };
        });
        uniform
    }

    pub(crate) fn is_same(&self, nat: &Nat) -> bool {
        let mut same = true;
        nat.each_var(&mut |v| same &= !self.varying.contains(v));
        same
    }

    fn is_loaded_alike(&self, access: &Access) -> bool {
        let one_place = self.is_same(&access.index) && self.is_same(&access.stage);
        one_place && access.items.is_empty() && !self.held.contains(&access.buffer)
    }

    /// `all` work-items come by.
    fn block(&mut self, block: &[Stmt], all: bool) {
        block.iter().for_each(|stmt| self.stmt(stmt, all));
    }

    fn stmt(&mut self, stmt: &Stmt, all: bool) {
        match stmt {
            // What work-items change together is shared, and stored for all of them.
            Stmt::Comment(_)
            | Stmt::Barrier(_)
            | Stmt::Stop(_)
            | Stmt::Atomic { .. }
            | Stmt::Declare { value: None, .. } => {}
            Stmt::Declare { var, value: Some(value) } | Stmt::Assign { var, value } => {
                self.given(&var.id, all && self.is_uniform(value));
            }
            Stmt::Index { var, value } => self.given(var, all && self.is_uniform(value)),
            Stmt::ThreadId { var, kind, .. } => {
                self.given(var, matches!(kind, LoopKind::Group(_)));
            }
            Stmt::Store { access, value } => {
                let alike = all && self.is_uniform(value) && self.is_loaded_alike(access);
                if !alike && self.privates.contains(&access.buffer) {
                    self.held.insert(access.buffer);
                }
            }
            Stmt::If { condition, then, otherwise } => {
                let all = all && self.is_uniform(condition);
                self.block(then, all);
                self.block(otherwise, all);
            }
            Stmt::Loop(l) => {
                let over_items = matches!(l.kind, LoopKind::Local(_) | LoopKind::Global(_));
                let stops = |s: &Stmt| matches!(s, Stmt::Stop(c) if !self.is_uniform(c));
                let all =
                    all && !over_items && self.is_same(&l.extent) && !l.body.iter().any(stops);
                self.given(&l.var, all);
                self.block(&l.body, all);
            }
        }
    }

    fn given(&mut self, var: &Var, uniform: bool) {
        if !uniform {
            self.varying.insert(var.clone());
        }
    }
}
