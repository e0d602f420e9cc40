//! Loops that fill local memory fetch the next tile while they work on this one.
//!
//! Before: `for (i) { tile[l] = x[i, l]; barrier; work on tile; barrier; }`
//! After: the tile has two stages. `tile[0] = x[0, l]; barrier; for (i) { next = x[i + 1, l]; work on tile[i];
//! tile[i + 1] = next; barrier; }`: one barrier a time around, and nobody waits for global memory.
//!
//! Only where the tiles are copies of what no work-item writes, and both stages fit.

use std::collections::BTreeMap;

use lift_ir::{Facts, Nat, Pred, Var};
use lift_kernel::{
    Access, Barrier, BufferId, Edit, Expr, Ids, Kernel, Loop, LoopKind, Replace, Scope, Stmt,
    Variable,
};

/// Local memory that every device has.
const MAX_LOCAL_BYTES: i128 = 48 * 1024;

pub(crate) fn run(kernel: &mut Kernel) {
    if kernel.locals.is_empty() {
        return;
    }
    let mut pass = Pass {
        facts: kernel.facts.clone(),
        ids: kernel.ids.clone(),
        locals: kernel.locals.iter().map(|b| b.id).collect(),
        staged: Vec::new(),
        written: written(&kernel.body),
        accessed: accesses(&kernel.body),
        room: MAX_LOCAL_BYTES - bytes(kernel, |_| true),
    };
    let body = std::mem::take(&mut kernel.body);
    kernel.body = pass.block(body, kernel);
    for buffer in &mut kernel.locals {
        if pass.staged.contains(&buffer.id) {
            buffer.stages = 2;
        }
    }
}

/// The bytes of some local buffers; more than there are where a length is open.
fn bytes(kernel: &Kernel, wanted: impl Fn(BufferId) -> bool) -> i128 {
    let own = kernel.locals.iter().filter(|b| wanted(b.id));
    own.map(|b| b.total().as_int().unwrap_or(MAX_LOCAL_BYTES) * b.scalar.bytes() as i128).sum()
}

fn written(block: &[Stmt]) -> Vec<BufferId> {
    let mut found = Vec::new();
    for stmt in block {
        stmt.each_access(&mut |access, is_store| {
            if is_store {
                found.push(access.buffer);
            }
        });
    }
    found
}

/// How often statements access each buffer.
fn accesses(block: &[Stmt]) -> BTreeMap<BufferId, usize> {
    let mut counts = BTreeMap::new();
    for stmt in block {
        stmt.each_access(&mut |access, _| *counts.entry(access.buffer).or_default() += 1);
    }
    counts
}

struct Pass {
    facts: Facts,
    ids: Ids,
    locals: Vec<BufferId>,
    /// Buffers that have two stages now.
    staged: Vec<BufferId>,
    /// Buffers that the kernel writes.
    written: Vec<BufferId>,
    /// How often the kernel accesses each buffer.
    accessed: BTreeMap<BufferId, usize>,
    /// Bytes of local memory that are left.
    room: i128,
}

/// The parts of a loop that can be pipelined.
struct Parts<'l> {
    /// Stores to local memory.
    copies: Vec<(&'l Access, &'l Expr)>,
    /// What stands between the two barriers.
    work: &'l [Stmt],
    barrier: &'l Stmt,
}

impl Pass {
    fn block(&mut self, block: Vec<Stmt>, kernel: &Kernel) -> Vec<Stmt> {
        let mut made = Vec::with_capacity(block.len());
        for stmt in block {
            match stmt {
                Stmt::Loop(l) if l.kind == LoopKind::Seq => match self.parts(&l, kernel) {
                    Some(parts) => self.pipelined(&l, &parts, &mut made),
                    None => made.push(Stmt::Loop(l)),
                },
                // Barriers stand at group level: in loops over groups and nowhere deeper.
                Stmt::Loop(l) if matches!(l.kind, LoopKind::Group(_)) => {
                    let body = self.block(l.body, kernel);
                    made.push(Stmt::Loop(Loop { body, ..l }));
                }
                other => made.push(other),
            }
        }
        made
    }

    fn parts<'l>(&self, l: &'l Loop, kernel: &Kernel) -> Option<Parts<'l>> {
        let barriers: Vec<usize> = (0..l.body.len())
            .filter(|i| matches!(l.body[*i], Stmt::Barrier(Barrier { scope: Scope::Group, .. })))
            .collect();
        let [first, last] = barriers.as_slice() else { return None };
        if last + 1 != l.body.len() || !self.facts.at_most(&Nat::ONE, &l.extent) {
            return None;
        }
        let mut copies = Vec::new();
        for stmt in &l.body[..*first] {
            match stmt {
                Stmt::Comment(_) => {}
                Stmt::Store { access, value } if self.is_copy(access, value) => {
                    copies.push((access, value));
                }
                _ => return None,
            }
        }
        let work = &l.body[first + 1..*last];
        let warps = work.iter().any(|s| matches!(s, Stmt::Barrier(_)));
        let own: Vec<BufferId> = copies.iter().map(|(access, _)| access.buffer).collect();
        let here = accesses(&l.body);
        let inside = |id| here.get(&id) == self.accessed.get(&id);
        let fits = bytes(kernel, |id| own.contains(&id)) <= self.room;
        let changed = written(work);
        let untouched = own.iter().all(|id| !changed.contains(id) && inside(*id));
        let useful = !copies.is_empty() && fits && untouched && !warps;
        useful.then(|| Parts { copies, work, barrier: &l.body[*last] })
    }

    /// Whether a store puts into local memory what is the same whenever it is loaded.
    fn is_copy(&self, to: &Access, value: &Expr) -> bool {
        let mut pure = true;
        value.each(&mut |e| match e {
            Expr::Load(from, _) => {
                pure &= !self.written.contains(&from.buffer) && !self.locals.contains(&from.buffer);
            }
            Expr::Var(_) => pure = false,
            _ => {}
        });
        pure && self.locals.contains(&to.buffer) && !self.staged.contains(&to.buffer)
    }

    fn pipelined(&mut self, l: &Loop, parts: &Parts, made: &mut Vec<Stmt>) {
        let own: Vec<BufferId> = parts.copies.iter().map(|(access, _)| access.buffer).collect();
        let (i, following) = (Nat::var(&l.var), Nat::var(&l.var) + Nat::ONE);
        for (access, value) in &parts.copies {
            made.push(self.at(&Nat::ZERO, l, access, value));
        }
        made.push(parts.barrier.clone());
        let more = || Expr::Test(Pred::Lt(following.clone(), l.extent.clone()));
        let (mut fetched, mut fetch, mut put) = (Vec::new(), Vec::new(), Vec::new());
        for (access, value) in &parts.copies {
            let Stmt::Store { access, value } = self.at(&following, l, access, value) else {
                continue;
            };
            let var = Variable { id: self.ids.fresh("next"), ty: value.ty() };
            fetched.push(Stmt::Declare { var: var.clone(), value: None });
            fetch.push(Stmt::Assign { var: var.clone(), value });
            put.push(Stmt::Store { access, value: Expr::Var(var) });
        }
        let mut body = fetched;
        body.push(Stmt::If { condition: more(), then: fetch, otherwise: Vec::new() });
        body.extend(Staged { own: &own, stage: &i }.block(parts.work));
        body.push(Stmt::If { condition: more(), then: put, otherwise: Vec::new() });
        body.push(parts.barrier.clone());
        made.push(Stmt::Loop(Loop::new(l.var.clone(), l.kind, l.extent.clone(), body)));
        self.staged.extend(own);
    }

    /// The copy to a stage, for the iteration that works on it.
    fn at(&self, step: &Nat, l: &Loop, access: &Access, value: &Expr) -> Stmt {
        let at = |v: &Var| (*v == l.var).then(|| step.clone());
        let simplify = |n: &Nat| self.facts.simplify(n);
        let mut replace = Replace { value: &at, simplify: &simplify };
        let access = Access { stage: step.clone(), ..replace.access(access) };
        Stmt::Store { access, value: replace.expr(value) }
    }
}

/// Accesses to some buffers go to a stage.
struct Staged<'s> {
    own: &'s [BufferId],
    stage: &'s Nat,
}

impl Edit for Staged<'_> {
    fn access(&mut self, access: &Access) -> Access {
        match self.own.contains(&access.buffer) {
            true => Access { stage: self.stage.clone(), ..access.clone() },
            false => access.clone(),
        }
    }
}
