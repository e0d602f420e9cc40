//! Stores that a whole group would do are done by one work-item.
//!
//! Before: a store to shared memory under fewer loops over work-items than the group has dimensions.
//! After: it stands in a loop of one iteration over each missing dimension.
//!
//! In a kernel over global work-items everything stands inside their loops; a dimension that no loop
//! uses has one work-item do all.

use lift_ir::{Nat, Var};
use lift_kernel::{BufferId, Kernel, Loop, LoopKind, Stmt};

use crate::launch::uses;

pub(crate) fn guard_stores(kernel: &mut Kernel, status: Option<BufferId>) {
    let count = kernel.launch.local.len().max(kernel.launch.global.len());
    let dimensions = (0..count).filter_map(|d| u8::try_from(d).ok());
    let grouped = uses(&kernel.body, &|k| matches!(k, LoopKind::Group(_)));
    let mut guard = Guard {
        unshared: kernel.privates.iter().map(|b| b.id).chain(status).collect(),
        dimensions: dimensions.clone().map(LoopKind::Local).collect(),
        next: 0,
    };
    let body = std::mem::take(&mut kernel.body);
    if grouped {
        kernel.body = guard.block(body, &mut Vec::new());
        return;
    }
    kernel.body = dimensions.map(LoopKind::Global).fold(body, |body, kind| {
        if uses(&body, &|k| k == kind) { body } else { vec![guard.one(kind, body)] }
    });
}

struct Guard {
    /// What each work-item may write by itself.
    unshared: Vec<BufferId>,
    dimensions: Vec<LoopKind>,
    next: u32,
}

impl Guard {
    fn block(&mut self, block: Vec<Stmt>, around: &mut Vec<LoopKind>) -> Vec<Stmt> {
        block.into_iter().map(|stmt| self.stmt(stmt, around)).collect()
    }

    fn stmt(&mut self, stmt: Stmt, around: &mut Vec<LoopKind>) -> Stmt {
        match stmt {
            Stmt::Loop(mut l) => {
                around.push(l.kind);
                l.body = self.block(l.body, around);
                around.pop();
                Stmt::Loop(l)
            }
            Stmt::If { condition, then, otherwise } => Stmt::If {
                condition,
                then: self.block(then, around),
                otherwise: self.block(otherwise, around),
            },
            Stmt::Store { ref access, .. } if !self.unshared.contains(&access.buffer) => {
                let missing: Vec<LoopKind> =
                    self.dimensions.iter().filter(|d| !around.contains(d)).copied().collect();
                missing.into_iter().fold(stmt, |stmt, kind| self.one(kind, vec![stmt]))
            }
            Stmt::Comment(_)
            | Stmt::Declare { .. }
            | Stmt::Assign { .. }
            | Stmt::Index { .. }
            | Stmt::Place { .. }
            | Stmt::Store { .. }
            | Stmt::Barrier(_) => stmt,
        }
    }

    fn one(&mut self, kind: LoopKind, body: Vec<Stmt>) -> Stmt {
        self.next += 1;
        let var = Var::named(&format!("once_{}", self.next));
        Stmt::Loop(Loop::new(var, kind, Nat::int(1), body))
    }
}
