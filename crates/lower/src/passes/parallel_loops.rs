//! Kernels for a processor: which loops its threads share, and what lies on their stacks.
//!
//! Before: loops over groups or global work-items, one inside the other.
//! After: the outermost is marked as shared by threads, together with the loops right inside it that take part, unless
//! there is so little to do that one thread is faster, and threads take iterations in turn where some may be much longer than others; an
//! innermost loop whose iterations are independent is marked for vector code; arrays too large for a stack are
//! marked to be allocated.

use std::collections::BTreeSet;

use lift_ir::Nat;
use lift_kernel::{
    Buffer, BufferId, Kernel, Loop, LoopKind, Mark, Sharing, Stmt, Variable, buffers_in, only_loop,
};

/// Expressions that a kernel computes at least for threads to share it: less is done before another thread has heard of it.
const SHARED_FROM: i128 = 1 << 14;

/// Rows of a grid that are enough for all threads, so that each takes whole ones.
const ENOUGH_ROWS: i128 = 64;

/// Iterations that a loop of unknown length is taken to have.
const UNKNOWN: i128 = 1 << 20;

/// Arrays that are larger together than this are allocated.
const MAX_STACK_BYTES: i128 = 256 * 1024;

/// Marks the loops and arrays of a kernel whose work-items are iterations of loops.
pub fn for_processor(kernel: &mut Kernel) {
    let own: Vec<Buffer> = kernel.locals.iter().chain(&kernel.privates).cloned().collect();
    let mut marks = Marks { own: &own, heap: BTreeSet::new() };
    let mut body = std::mem::take(&mut kernel.body);
    // What work-items of a device change as one step, one thread changes in order.
    let alone = body.iter().any(holds_atomics);
    let much = !alone && body.iter().map(work).fold(0, i128::saturating_add) >= SHARED_FROM;
    if !much || !marks.block(&mut body) {
        marks.find_room(&body);
        marks.independent(&mut body);
    }
    kernel.body = body;
    let heap = marks.heap;
    for buffer in kernel.locals.iter_mut().chain(&mut kernel.privates) {
        buffer.heap |= heap.contains(&buffer.id);
    }
}

fn holds_atomics(stmt: &Stmt) -> bool {
    let mut found = false;
    stmt.each(&mut |s| found |= matches!(s, Stmt::Atomic { .. }));
    found
}

struct Marks<'k> {
    /// The arrays that every thread has its own of.
    own: &'k [Buffer],
    heap: BTreeSet<BufferId>,
}

impl Marks<'_> {
    /// Marks the outermost parallel loops of a block; whether there is one.
    fn block(&mut self, block: &mut [Stmt]) -> bool {
        let mut found = false;
        for stmt in block {
            match stmt {
                Stmt::Loop(l) if is_parallel(l) => {
                    self.shared(l);
                    found = true;
                }
                other => {
                    for inner in other.blocks_mut() {
                        found |= self.block(inner);
                    }
                }
            }
        }
        found
    }

    fn shared(&mut self, l: &mut Loop) {
        let inside = taking_part(l);
        l.mark = Mark::Shared { inside, sharing: sharing(l, inside) };
        let mut body = &mut l.body;
        for _ in 0..inside {
            match only_loop_mut(body) {
                Some(inner) => body = &mut inner.body,
                None => return,
            }
        }
        self.find_room(body);
        self.independent(body);
    }

    /// Puts the arrays of a block on the stack as far as there is room.
    fn find_room(&mut self, block: &[Stmt]) {
        let used = buffers_in(block);
        let mut room = MAX_STACK_BYTES;
        for buffer in self.own.iter().filter(|buffer| used.contains(&buffer.id)) {
            let length = buffer.items.iter().fold(buffer.total(), |n, m| n * m);
            let bytes = length.as_int().and_then(|n| n.checked_mul(buffer.scalar.bytes() as i128));
            match bytes.filter(|bytes| *bytes <= room) {
                Some(bytes) => room -= bytes,
                None => {
                    self.heap.insert(buffer.id);
                }
            }
        }
    }

    fn independent(&self, block: &mut [Stmt]) {
        for stmt in block {
            if let Stmt::Loop(l) = stmt
                && self.is_independent(l)
            {
                l.mark = Mark::Independent;
            }
            stmt.blocks_mut().into_iter().for_each(|inner| self.independent(inner));
        }
    }

    /// Whether a loop is to be marked: no iteration reads what another wrote, but there are so many stores that GCC,
    /// which forgets in parallel loops which pointers are `restrict`, does not find out.
    fn is_independent(&self, l: &Loop) -> bool {
        let mut own: Vec<&Variable> = Vec::new();
        let mut stores = 0;
        let is_independent = l.body.iter().all(|stmt| match stmt {
            Stmt::Comment(_) | Stmt::Index { .. } => true,
            Stmt::Declare { var, .. } => {
                own.push(var);
                true
            }
            Stmt::Assign { var, .. } => own.contains(&var),
            Stmt::Store { access, .. } => {
                stores += 1;
                self.own.iter().all(|buffer| buffer.id != access.buffer)
            }
            Stmt::ThreadId { .. }
            | Stmt::Loop(_)
            | Stmt::If { .. }
            | Stmt::Atomic { .. }
            | Stmt::Barrier(_)
            | Stmt::Stop(_) => false,
        });
        // A loop of one iteration is none.
        let is_loop = matches!(l.kind, LoopKind::Global(_)) && l.extent != Nat::ONE;
        is_loop && is_independent && stores > 1
    }
}

/// Expressions that all iterations of a loop compute.
fn work_of(l: &Loop) -> i128 {
    let each: i128 = l.body.iter().map(work).fold(0, i128::saturating_add);
    each.saturating_mul(l.extent.as_int().unwrap_or(UNKNOWN))
}

fn work(stmt: &Stmt) -> i128 {
    if let Stmt::Loop(l) = stmt {
        return work_of(l);
    }
    let mut count = 0;
    stmt.values().for_each(|value| value.each(&mut |_| count += 1));
    let inside = stmt.blocks().into_iter().flatten().map(work);
    inside.fold(count, i128::saturating_add)
}

/// Iterations are taken in turn where one may take much longer than others: a loop in it is as long as data or its number says.
fn sharing(l: &Loop, inside: u8) -> Sharing {
    let (mut own, mut body) = (BTreeSet::from([&l.var]), &l.body);
    for _ in 0..inside {
        let Some(inner) = only_loop(body) else { break };
        own.insert(&inner.var);
        body = &inner.body;
    }
    let mut extents = Vec::new();
    for stmt in body {
        stmt.each(&mut |part| match part {
            Stmt::Index { var, .. } => {
                own.insert(var);
            }
            Stmt::Loop(inside) => extents.push(&inside.extent),
            _ => {}
        });
    }
    let differs = |extent: &Nat| extent.any_var(&mut |v| own.contains(v));
    // The last tile may be shorter than the others.
    let is_cut = |extent: &Nat| extent.min_parts().is_some_and(|all| !all.iter().all(differs));
    match extents.into_iter().any(|extent| differs(extent) && !is_cut(extent)) {
        true => Sharing::Dynamic,
        false => Sharing::Static,
    }
}

/// Whether groups, or the work-items of a grid, go through a loop.
fn is_parallel(l: &Loop) -> bool {
    matches!(l.kind, LoopKind::Group(_) | LoopKind::Global(_))
}

/// How many loops right inside a parallel loop are shared together with it. The innermost loop over work-items is one to
/// be made vector code of, where it holds no other, or there are rows enough for threads without it: compilers find none for
/// loops that became one.
fn taking_part(outermost: &Loop) -> u8 {
    let mut nest = vec![outermost];
    let mut body = &outermost.body;
    while let Some(inner) = only_loop(body)
        && is_parallel(inner)
        && nest.iter().all(|outer| !inner.extent.mentions(&outer.var))
    {
        nest.push(inner);
        body = &inner.body;
    }
    let holds_blocks = body.iter().any(|s| s.blocks().iter().any(|b| !b.is_empty()));
    let is_grid = nest.len() > 1 && matches!(outermost.kind, LoopKind::Global(_));
    if is_grid && (!holds_blocks || rows(&nest) >= ENOUGH_ROWS) {
        nest.pop();
    }
    nest.len() as u8 - 1
}

/// Iterations of all loops of a nest but the innermost.
fn rows(nest: &[&Loop]) -> i128 {
    let extents = nest.iter().rev().skip(1).map(|l| l.extent.as_int().unwrap_or(UNKNOWN));
    extents.fold(1, i128::saturating_mul)
}

fn only_loop_mut(block: &mut [Stmt]) -> Option<&mut Loop> {
    block.iter_mut().find_map(|stmt| match stmt {
        Stmt::Loop(l) => Some(l),
        _ => None,
    })
}
