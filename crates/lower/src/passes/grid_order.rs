//! The order of a grid's dimensions, where the program leaves it open: neighbours in the innermost are neighbours in memory.
//!
//! Before: `for (x) for (y) r[y][x] = f(a[y][x]);`, as maps over transposed arrays say it.
//! After: `for (y) for (x) r[y][x] = f(a[y][x]);`, in which work-items that run together, or the lanes of a vector, touch elements
//! side by side.
//!
//! Points are independent, so any order is right. What programs say by `mapGlb` stays.

use lift_ir::{Nat, Var};
use lift_kernel::{Access, Kernel, Loop, LoopKind, Runs, Stmt, only_loop};

use crate::effects::touches;
use crate::nest::{Nest, step};
use crate::passes::perfect_nests::sunk;

/// An access in a loop counts as often.
const IN_A_LOOP: i32 = 8;

/// An access that writes, beside one that reads: what is written in part is put together with what is there. Where lanes are
/// threads every word is for itself; a processor fetches a line and writes it.
const WRITTEN_BY_THREADS: i32 = 3;
const WRITTEN_BY_LOOPS: i32 = 2;

/// Elements between two neighbours that lie side by side still: what is between them is theirs.
const NEAR: i128 = 8;

pub(crate) fn run(kernel: &mut Kernel) {
    let body = kernel.body.iter().map(|stmt| reordered(stmt, kernel).unwrap_or(stmt.clone()));
    kernel.body = body.collect();
}

fn reordered(stmt: &Stmt, kernel: &Kernel) -> Option<Stmt> {
    let Stmt::Loop(outermost) = stmt else { return None };
    let perfect = sunk(outermost, &[]).map_or_else(|| stmt.clone(), Stmt::Loop);
    let nest = Nest::of(&perfect)?;
    // A point that has dimensions of the grid inside says which is the innermost.
    if nest.body().iter().any(has_grid) {
        return None;
    }
    let written = match kernel.runs {
        Runs::Threads => WRITTEN_BY_THREADS,
        Runs::Loops => WRITTEN_BY_LOOPS,
    };
    let at = nearest(&nest, kernel, written)?;
    let mut loops: Vec<&Loop> = nest.loops.clone();
    let moved = loops.remove(at);
    loops.push(moved);
    let mut body = nest.body().to_vec();
    for (l, dimension) in loops.iter().rev().zip(0..) {
        let kind = LoopKind::Global(dimension);
        body = vec![Stmt::Loop(Loop { kind, body, ..(*l).clone() })];
    }
    body.pop()
}

/// Along which loop of a kernel's grid, counted from the outermost, reads are nearest, where that is another than the innermost.
pub(crate) fn nearest_to_read(kernel: &Kernel) -> Option<usize> {
    let outermost = only_loop(&kernel.body)?;
    let perfect = Stmt::Loop(sunk(outermost, &[]).unwrap_or_else(|| outermost.clone()));
    nearest(&Nest::of(&perfect)?, kernel, 0)
}

/// The loop along which neighbours are nearest in memory, where that is another than the innermost; a write counts so often.
fn nearest(nest: &Nest, kernel: &Kernel, written: i32) -> Option<usize> {
    let (columns, around) = nest.loops.split_last()?;
    let computed = computed(nest.body());
    let found = touches(nest.body());
    let counts = |access: &Access| {
        let is_known = computed.iter().all(|var| !access.index.mentions(var));
        is_known && kernel.privates.iter().all(|own| own.id != access.buffer)
    };
    let score = |l: &Loop| -> i32 {
        let mut sum = 0;
        for touch in found.iter().filter(|touch| counts(touch.access)) {
            let times = if touch.loops.is_empty() { 1 } else { IN_A_LOOP };
            let times = if touch.writes { written * times } else { times };
            sum += times * nearness(&touch.access.index, &l.var, kernel);
        }
        sum
    };
    // Of equals the innermost.
    let (best, at) = around.iter().zip(0..).map(|(l, at)| (score(l), at)).max()?;
    (best > score(columns)).then_some(at)
}

fn has_grid(stmt: &Stmt) -> bool {
    let mut found = false;
    stmt.each(&mut |s| {
        found |= matches!(s, Stmt::Loop(l) if matches!(l.kind, LoopKind::Global(_)));
    });
    found
}

/// Indices that are computed, or read from memory: how far the next one is cannot be said.
pub(super) fn computed(body: &[Stmt]) -> Vec<&Var> {
    let mut found = Vec::new();
    for stmt in body {
        stmt.each(&mut |s| {
            if let Stmt::Index { var, .. } = s {
                found.push(var);
            }
        });
    }
    found
}

/// 1 where neighbours touch neighbours, 0 where they touch the same, and -1 where they are apart.
pub(super) fn nearness(index: &Nat, var: &Var, kernel: &Kernel) -> i32 {
    if !index.mentions(var) {
        return 0;
    }
    let next = index.substitute(&|v| (v == var).then(|| Nat::var(var) + Nat::ONE));
    let step = || step(index, var, &kernel.facts).as_int();
    match middle(&(next - index), kernel).or_else(step) {
        Some(0) => 0,
        Some(n) if n.abs() <= NEAR => 1,
        Some(_) | None => -1,
    }
}

/// What a step is in the middle of the ranges of all its variables: that of windows, which are other at borders alone. It takes no
/// proof.
fn middle(step: &Nat, kernel: &Kernel) -> Option<i128> {
    let half = |var: &Var| Some(kernel.facts.upper(&Nat::var(var))? / 2);
    step.eval(&half).ok()
}
