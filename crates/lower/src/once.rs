//! Stores that a whole group would do are done by one work-item.
//!
//! Before: a store to shared memory under fewer loops over work-items than the group has dimensions.
//! After: it stands in a loop of one iteration over each missing dimension.
//!
//! In a kernel over global work-items everything stands inside their loops; a dimension that no loop
//! uses has one work-item do all. So do the groups of a dimension that no loop over groups uses, where
//! there may be several.

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
        let body = guard.block(body, &mut Vec::new());
        let several = dimensions.filter(|d| !has_one_group(kernel, *d)).collect::<Vec<u8>>();
        kernel.body = body.into_iter().map(|stmt| guard.by_one_group(stmt, &several)).collect();
        return;
    }
    kernel.body = dimensions.map(LoopKind::Global).fold(body, |body, kind| {
        if uses(&body, &|k| k == kind) { body } else { vec![guard.one(kind, body)] }
    });
}

/// Whether the launch has one group in a dimension for certain.
fn has_one_group(kernel: &Kernel, dimension: u8) -> bool {
    let of = |counts: &[Nat]| counts.get(usize::from(dimension)).cloned().unwrap_or(Nat::ONE);
    kernel.facts.equal(&of(&kernel.launch.global), &of(&kernel.launch.local))
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

    /// A loop over groups, done by the first group of each of these dimensions that it does not use.
    fn by_one_group(&mut self, stmt: Stmt, dimensions: &[u8]) -> Stmt {
        if !matches!(&stmt, Stmt::Loop(l) if matches!(l.kind, LoopKind::Group(_))) {
            return stmt;
        }
        dimensions.iter().map(|d| LoopKind::Group(*d)).fold(stmt, |stmt, kind| {
            let used = uses(std::slice::from_ref(&stmt), &|k| k == kind);
            if used { stmt } else { self.one(kind, vec![stmt]) }
        })
    }

    fn one(&mut self, kind: LoopKind, body: Vec<Stmt>) -> Stmt {
        self.next += 1;
        let var = Var::named(&format!("once_{}", self.next));
        Stmt::Loop(Loop::new(var, kind, Nat::int(1), body))
    }
}
