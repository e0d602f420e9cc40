//! Stores that a whole group would do are done by one work-item.
//!
//! Before: a store to shared memory under fewer loops over work-items than the group has dimensions.
//! After: it stands in a loop of one iteration over each missing dimension, as far out as the loops over
//! work-items around it go, so that the work-item that writes is also the one that reads.
//!
//! In a kernel over global work-items everything stands inside their loops; a dimension that no loop
//! uses has one work-item do all. So do the groups of a dimension that no loop over groups uses, where
//! there may be several. What stands beside a loop over another dimension is done by the first of that dimension, unless
//! the others need what it leaves: they do not wait for each other.

use std::collections::{BTreeMap, BTreeSet};

use lift_ir::Nat;
use lift_kernel::{BufferId, Ids, Kernel, Loop, LoopKind, Stmt};

use crate::launch::uses;
use crate::plan::Uses;

pub(crate) fn guard_stores(kernel: &mut Kernel, status: Option<BufferId>) {
    let count = kernel.launch.local.len().max(kernel.launch.global.len());
    let dimensions = (0..count).filter_map(|d| u8::try_from(d).ok());
    let grouped = uses(&kernel.body, &|k| matches!(k, LoopKind::Group(_)));
    let mut privates = count_accesses(&kernel.body);
    privates.retain(|id, _| kernel.privates.iter().any(|b| b.id == *id));
    let mut accesses = count_accesses(&kernel.body);
    accesses.retain(|id, _| Some(*id) != status);
    let mut guard = Guard {
        accesses,
        privates,
        unshared: kernel.privates.iter().map(|b| b.id).chain(status).collect(),
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
        let used = used_of([0, 1, 2].map(LoopKind::Group), &body);
        kernel.body = guard.beside(&body, &mut Vec::new(), &used);
        return;
    }
    let used = used_of([0, 1, 2].map(LoopKind::Global), &body);
    let body = guard.beside(&body, &mut Vec::new(), &used);
    kernel.body = dimensions.map(LoopKind::Global).fold(body, |body, kind| {
        if uses(&body, &|k| k == kind) { body } else { vec![guard.one(kind, body)] }
    });
}

/// Those of some kinds of loops that statements have, also in dimensions that the launch does not mention.
fn used_of(kinds: [LoopKind; 3], block: &[Stmt]) -> Vec<LoopKind> {
    kinds.into_iter().filter(|kind| uses(block, &|k| k == *kind)).collect()
}

/// Whether the launch has one group in a dimension for certain.
fn has_one_group(kernel: &Kernel, dimension: u8) -> bool {
    let of = |counts: &[Nat]| counts.get(usize::from(dimension)).cloned().unwrap_or(Nat::ONE);
    kernel.facts.equal(&of(&kernel.launch.global), &of(&kernel.launch.local))
}

/// How often a buffer is accessed.
#[derive(Default)]
struct Count {
    all: usize,
    stores: usize,
}

fn count_accesses(block: &[Stmt]) -> BTreeMap<BufferId, Count> {
    let mut counts: BTreeMap<BufferId, Count> = BTreeMap::new();
    for stmt in block {
        stmt.each_access(&mut |access, is_store| {
            let count = counts.entry(access.buffer).or_default();
            count.all += 1;
            count.stores += usize::from(is_store);
        });
    }
    counts
}

/// Whether statements assign variables that are declared outside of them.
fn assigns_others(block: &[Stmt]) -> bool {
    let (mut declared, mut assigned) = (BTreeSet::new(), BTreeSet::new());
    block.iter().for_each(|stmt| {
        stmt.each(&mut |s| match s {
            Stmt::Declare { var, .. } => drop(declared.insert(var.id.clone())),
            Stmt::Assign { var, .. } => drop(assigned.insert(var.id.clone())),
            _ => {}
        });
    });
    !assigned.is_subset(&declared)
}

struct Guard {
    /// All accesses in the kernel, but for those that tell the host of faults.
    accesses: BTreeMap<BufferId, Count>,
    /// The accesses to private memory in the whole kernel.
    privates: BTreeMap<BufferId, Count>,
    /// What each work-item may write by itself.
    unshared: Vec<BufferId>,
    dimensions: Vec<LoopKind>,
    ids: Ids,
}

impl Guard {
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
            | Stmt::Stop(_)
            | Stmt::Barrier(_) => stmt,
        }
    }

    /// The dimensions of which one work-item does a whole loop over work-items: it writes what is shared, and
    /// leaves nothing to the others that is their own.
    fn missing_around(&self, l: &Loop, around: &[LoopKind]) -> Vec<LoopKind> {
        let shares = |stmt: &Stmt| {
            let mut found = false;
            stmt.each_access(&mut |access, is_store| {
                found |= is_store && !self.unshared.contains(&access.buffer);
            });
            found
        };
        let is_done_by_one = matches!(l.kind, LoopKind::Local(_)) && l.body.iter().any(shares);
        if !is_done_by_one || self.leaves_state(&l.body) {
            return Vec::new();
        }
        let used = |d: &LoopKind| *d == l.kind || around.contains(d) || uses(&l.body, &|k| k == *d);
        self.dimensions.iter().filter(|d| !used(d)).copied().collect()
    }

    /// Whether statements change variables or private arrays that others use.
    fn leaves_state(&self, block: &[Stmt]) -> bool {
        let here = count_accesses(block);
        assigns_others(block)
            || self.privates.iter().any(|(id, all)| {
                here.get(id).is_some_and(|here| here.stores > 0 && here.all < all.all)
            })
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
                _ if uses(std::slice::from_ref(stmt), &|k| dimensions.contains(&k)) => {
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
        let here = count_accesses(&run);
        let shares = here.iter().any(|(id, n)| n.stores > 0 && !self.unshared.contains(id));
        if shares && !self.is_needed(&run, &here, later) {
            run = missing.iter().fold(run, |run, kind| vec![self.one(*kind, run)]);
        }
        run.extend(comments);
        run
    }

    /// Whether something outside of some statements reads what they write or declare.
    fn is_needed(&self, run: &[Stmt], here: &BTreeMap<BufferId, Count>, later: &[Stmt]) -> bool {
        let loads = |count: &Count| count.all - count.stores;
        let is_loaded = |(id, own): (&BufferId, &Count)| {
            own.stores > 0 && self.accesses.get(id).is_some_and(|all| loads(own) < loads(all))
        };
        let mut uses = Uses::default();
        uses.block(later);
        let is_used = |stmt: &Stmt| match stmt {
            Stmt::Declare { var, .. } => uses.variables.contains(&var.id),
            Stmt::Index { var, .. } | Stmt::Place { var, .. } => uses.sizes.contains(var),
            _ => false,
        };
        here.iter().any(is_loaded) || assigns_others(run) || run.iter().any(is_used)
    }

    fn one(&mut self, kind: LoopKind, body: Vec<Stmt>) -> Stmt {
        let var = self.ids.fresh("once");
        Stmt::Loop(Loop::new(var, kind, Nat::int(1), body))
    }
}
