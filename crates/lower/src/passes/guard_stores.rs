//! Single-work-item guards: a store that every work-item of a group would repeat is done by one.
//!
//! Before: a store to shared memory under fewer loops over work-items than the group has dimensions.
//! After: it stands in a loop of one iteration over each missing dimension, as far out as the loops over work-items around
//! it go, so that the work-item that writes is also the one that reads.
//!
//! In a kernel over global work-items everything stands inside their loops: one work-item does all of a dimension that no
//! loop uses, and one group all of a dimension that no loop over groups uses, where there may be several. Statements beside
//! a loop over another dimension are done by its first work-item, unless the others need their results: work-items of
//! different groups do not wait for each other.

use lift_ir::Nat;
use lift_kernel::{BufferId, Ids, Kernel, Loop, LoopKind, Stmt};

use crate::effects::{Counts, Sharing, Variables, has_loop};
use crate::passes::default_lowering::MOST_DIMENSIONS;
use crate::plan::{Uses, Warps};

pub(crate) fn guard_stores(kernel: &mut Kernel, status: Option<BufferId>, warps: &Warps) {
    let count = kernel.launch.local.len().max(kernel.launch.global.len());
    let dimensions = (0..count).filter_map(|d| u8::try_from(d).ok());
    let grouped = has_loop(&kernel.body, &|k| matches!(k, LoopKind::Group(_)));
    let mut guard = Guard {
        accesses: Counts::of(&kernel.body),
        privates: kernel.privates.iter().map(|b| b.id).collect(),
        status,
        sharing: Sharing::of(kernel, status, warps),
        dimensions: dimensions.clone().map(LoopKind::Local).collect(),
        ids: kernel.ids.clone(),
    };
    let body = std::mem::take(&mut kernel.body);
    if grouped {
        let body = guard.block(body, &mut Vec::new());
        let several =
            dimensions.clone().filter(|d| !has_one_group(kernel, *d)).collect::<Vec<u8>>();
        let body: Vec<Stmt> =
            body.into_iter().map(|stmt| guard.by_one_group(stmt, &several)).collect();
        let used = used_of(LoopKind::Group, &body);
        kernel.body = guard.beside(&body, &mut Vec::new(), &used);
        return;
    }
    let used = used_of(LoopKind::Global, &body);
    let body = guard.beside(&body, &mut Vec::new(), &used);
    kernel.body = dimensions.map(LoopKind::Global).fold(body, |body, kind| {
        if has_loop(&body, &|k| k == kind) { body } else { vec![guard.one(kind, body)] }
    });
}

/// The loops of a kind that statements have, by dimension, also in those that the launch does not mention.
fn used_of(kind: fn(u8) -> LoopKind, block: &[Stmt]) -> Vec<LoopKind> {
    (0..MOST_DIMENSIONS).map(kind).filter(|kind| has_loop(block, &|k| k == *kind)).collect()
}

/// Whether the launch has one group in a dimension for certain.
fn has_one_group(kernel: &Kernel, dimension: u8) -> bool {
    let of = |counts: &[Nat]| counts.get(usize::from(dimension)).cloned().unwrap_or(Nat::ONE);
    kernel.facts.equal(&of(&kernel.launch.global), &of(&kernel.launch.local))
}

struct Guard<'w> {
    /// All accesses in the kernel.
    accesses: Counts,
    privates: Vec<BufferId>,
    /// Where the host is told of faults: nothing reads it.
    status: Option<BufferId>,
    sharing: Sharing<'w>,
    dimensions: Vec<LoopKind>,
    ids: Ids,
}

impl Guard<'_> {
    fn block(&mut self, block: Vec<Stmt>, around: &mut Vec<LoopKind>) -> Vec<Stmt> {
        block.into_iter().map(|stmt| self.stmt(stmt, around)).collect()
    }

    fn stmt(&mut self, stmt: Stmt, around: &mut Vec<LoopKind>) -> Stmt {
        match stmt {
            Stmt::Loop(mut l) => {
                let (depth, missing) = (around.len(), self.missing_around(&l, around));
                around.extend(missing.iter().copied().chain([l.kind]));
                l.body = self.block(l.body, around);
                around.truncate(depth);
                missing.into_iter().fold(Stmt::Loop(l), |stmt, kind| self.one(kind, vec![stmt]))
            }
            Stmt::If { condition, then, otherwise } => Stmt::If {
                condition,
                then: self.block(then, around),
                otherwise: self.block(otherwise, around),
            },
            Stmt::Store { ref access, .. } | Stmt::Atomic { ref access, .. }
                if self.sharing.is_shared(access.buffer) =>
            {
                let missing: Vec<LoopKind> =
                    self.dimensions.iter().filter(|d| !around.contains(d)).copied().collect();
                missing.into_iter().fold(stmt, |stmt, kind| self.one(kind, vec![stmt]))
            }
            Stmt::Comment(_)
            | Stmt::Declare { .. }
            | Stmt::Assign { .. }
            | Stmt::Index { .. }
            | Stmt::ThreadId { .. }
            | Stmt::Store { .. }
            | Stmt::Atomic { .. }
            | Stmt::Stop(_)
            | Stmt::Barrier(_) => stmt,
        }
    }

    /// The dimensions of which one work-item does a whole loop over work-items: it writes what is shared, and
    /// leaves nothing to the others that is their own.
    fn missing_around(&self, l: &Loop, around: &[LoopKind]) -> Vec<LoopKind> {
        let is_done_by_one = matches!(l.kind, LoopKind::Local(_)) && self.sharing.writes(&l.body);
        if !is_done_by_one || self.leaves_state(&l.body) {
            return Vec::new();
        }
        let used =
            |d: &LoopKind| *d == l.kind || around.contains(d) || has_loop(&l.body, &|k| k == *d);
        self.dimensions.iter().filter(|d| !used(d)).copied().collect()
    }

    /// Whether statements change variables or private arrays that others use.
    fn leaves_state(&self, block: &[Stmt]) -> bool {
        let here = Counts::of(block);
        let is_used_elsewhere = |id: &BufferId| here.get(*id) != self.accesses.get(*id);
        Variables::of(block).assigns_others()
            || self.privates.iter().any(|id| here.is_stored(*id) && is_used_elsewhere(id))
    }

    /// A loop over groups, done by the first group of each of these dimensions that it does not use.
    fn by_one_group(&mut self, stmt: Stmt, dimensions: &[u8]) -> Stmt {
        if !matches!(&stmt, Stmt::Loop(l) if matches!(l.kind, LoopKind::Group(_))) {
            return stmt;
        }
        dimensions.iter().map(|d| LoopKind::Group(*d)).fold(stmt, |stmt, kind| {
            let used = has_loop([&stmt], &|k| k == kind);
            if used { stmt } else { self.one(kind, vec![stmt]) }
        })
    }

    /// A block inside loops over some dimensions of all `dimensions` that there are loops over.
    fn beside(
        &mut self,
        block: &[Stmt],
        around: &mut Vec<LoopKind>,
        dimensions: &[LoopKind],
    ) -> Vec<Stmt> {
        let missing: Vec<LoopKind> =
            dimensions.iter().filter(|d| !around.contains(d)).copied().collect();
        if missing.is_empty() {
            return block.to_vec();
        }
        let (mut made, mut run) = (Vec::new(), Vec::new());
        for (at, stmt) in block.iter().enumerate() {
            match stmt {
                Stmt::Loop(l) if dimensions.contains(&l.kind) => {
                    made.extend(self.run_by_one(std::mem::take(&mut run), &block[at..], &missing));
                    around.push(l.kind);
                    let body = self.beside(&l.body, around, dimensions);
                    around.pop();
                    made.push(Stmt::Loop(Loop { body, ..l.clone() }));
                }
                _ if has_loop([stmt], &|k| dimensions.contains(&k)) => {
                    made.extend(self.run_by_one(std::mem::take(&mut run), &block[at..], &missing));
                    made.push(stmt.clone());
                }
                _ => run.push(stmt.clone()),
            }
        }
        made.extend(self.run_by_one(run, &[], &missing));
        made
    }

    /// Statements that write what is shared, done once, if nothing else needs what they leave.
    fn run_by_one(
        &mut self,
        mut run: Vec<Stmt>,
        later: &[Stmt],
        missing: &[LoopKind],
    ) -> Vec<Stmt> {
        // A comment is about what follows it.
        let end = run.iter().rposition(|s| !matches!(s, Stmt::Comment(_))).map_or(0, |at| at + 1);
        let comments = run.split_off(end);
        if self.sharing.writes(&run) && !self.is_needed(&run, later) {
            run = missing.iter().fold(run, |run, kind| vec![self.one(*kind, run)]);
        }
        run.extend(comments);
        run
    }

    /// Whether something outside of some statements reads what they write or declare.
    fn is_needed(&self, run: &[Stmt], later: &[Stmt]) -> bool {
        let here = Counts::of(run);
        let is_loaded = |id: BufferId| {
            Some(id) != self.status && here.get(id).loads < self.accesses.get(id).loads
        };
        let mut uses = Uses::default();
        uses.block(later);
        let is_used = |stmt: &Stmt| match stmt {
            Stmt::Declare { var, .. } => uses.variables.contains(&var.id),
            Stmt::Index { var, .. } | Stmt::ThreadId { var, .. } => uses.sizes.contains(var),
            _ => false,
        };
        here.stored().any(is_loaded)
            || Variables::of(run).assigns_others()
            || run.iter().any(is_used)
    }

    fn one(&mut self, kind: LoopKind, body: Vec<Stmt>) -> Stmt {
        let var = self.ids.fresh("once");
        Stmt::Loop(Loop::new(var, kind, Nat::int(1), body))
    }
}
