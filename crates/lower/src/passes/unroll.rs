//! Full unrolling of short loops.
//!
//! Before: `for (i = 0; i < 4; ++i) acc[i] = 0;` over an array in private memory.
//! After: `acc[0] = 0; … acc[3] = 0;`, so that every index is a constant and
//! [`scalar_replacement`](crate::passes::scalar_replacement) can make variables of the array.
//!
//! Unrolled are loops that index private arrays, and those the program asks to unroll. A loop that would become too long
//! stays one: marked for the device's compiler, or a plain one where that would take minutes.

use lift_ir::{Nat, Var};
use lift_kernel::{BufferId, Edit, Expr, Kernel, Loop, LoopKind, Mark, Stmt};

use crate::cloning::{Comments, Copier};
use crate::effects::{has_loop, holds_items};
use crate::passes::register_tiling::VECTOR_BYTES;
use crate::{Target, rows};

/// Longer loops are not unrolled unless the program says so: their arrays would not fit in registers.
const MAX_ITERATIONS: u32 = 64;

/// Statements a loop may become.
const MAX_STATEMENTS: usize = 1024;

/// Statements that a window may become: what decides in more loops than those of a window is no window.
const MAX_WINDOW: usize = 256;

/// Statements a loop may become where the device's compiler writes it out, or where an array would stay one otherwise.
const MAX_COMPILED: usize = 8 * MAX_STATEMENTS;

/// Marks the loops that index private arrays. Where work-items are loops, and the compiler is to write loops out, only
/// those without a loop inside that stays one: what such a loop does to an array is not in registers anyway. There loops over arrays
/// whose other places are constants, as those of windows are, are written out at once: the array is variables then, and points are lanes.
pub(crate) fn mark(kernel: &mut Kernel, target: Target) {
    if target == Target::Loops {
        let fixed = with_constant_places(kernel);
        let over = |l: &Loop| indexes(&l.body, &l.var, &fixed);
        let is_free = |l: &Loop| l.kind == LoopKind::Seq && l.mark != Mark::Lanes;
        write_out_if(kernel, MAX_WINDOW, &|l| is_free(l) && over(l) && unrolls_fully(l));
    }
    let rows = if target == Target::Loops { rows_in(kernel) } else { Vec::new() };
    let own = kernel.privates.iter().map(|b| b.id);
    let private: Vec<BufferId> = own.filter(|id| !rows.contains(id)).collect();
    let most = iterations(kernel);
    let pays = |l: &Loop| {
        is_short(l, most)
            && indexes(&l.body, &l.var, &private)
            && (target == Target::Threads || unrolls_fully(l))
    };
    if !private.is_empty() {
        mark_block(&mut kernel.body, &pays);
    }
}

/// Private arrays that are rows whose elements are lanes: these stay arrays.
fn rows_in(kernel: &Kernel) -> Vec<BufferId> {
    let mut found = Vec::new();
    kernel.body.iter().for_each(|stmt| add_rows(stmt, None, kernel, &mut found));
    found
}

fn add_rows(stmt: &Stmt, points: Option<&Var>, kernel: &Kernel, found: &mut Vec<BufferId>) {
    let own = |l: &Loop| matches!(l.kind, LoopKind::Global(_)).then(|| l.var.clone());
    let inner = match stmt {
        Stmt::Loop(l) => own(l),
        _ => None,
    };
    if let (Stmt::Loop(l), Some(points), None) = (stmt, points, &inner) {
        let made = kernel.privates.iter().filter(|buffer| {
            let lanes = VECTOR_BYTES / (buffer.scalar.bytes() as i128).max(4);
            rows::is_long(l, lanes) && rows::makes_row(l, buffer.id, points, &kernel.facts)
        });
        found.extend(made.map(|buffer| buffer.id));
    }
    let points = inner.as_ref().or(points);
    stmt.blocks().into_iter().flatten().for_each(|s| add_rows(s, points, kernel, found));
}

/// Private arrays with a place that is a constant.
fn with_constant_places(kernel: &Kernel) -> Vec<BufferId> {
    let mut found = Vec::new();
    for stmt in &kernel.body {
        stmt.each_access(&mut |access, _| {
            if access.index.as_int().is_some() {
                found.push(access.buffer);
            }
        });
    }
    let own = kernel.privates.iter().map(|b| b.id);
    own.filter(|id| found.contains(id)).collect()
}

fn mark_block(stmts: &mut [Stmt], pays: &dyn Fn(&Loop) -> bool) {
    for stmt in stmts {
        stmt.blocks_mut().into_iter().for_each(|inner| mark_block(inner, pays));
        if let Stmt::Loop(l) = stmt
            && l.kind == LoopKind::Seq
            && l.mark != Mark::Lanes
            && pays(l)
        {
            l.kind = LoopKind::Unroll;
        }
    }
}

/// Whether a loop can be unrolled with all loops inside, and is not too long then.
fn unrolls_fully(l: &Loop) -> bool {
    !has_loop(&l.body, &|k| k != LoopKind::Unroll) && statements_written(l) <= MAX_STATEMENTS
}

/// Statements that a loop becomes when it and the marked ones inside are written out.
fn statements_written(l: &Loop) -> usize {
    let of = |stmt: &Stmt| match stmt {
        Stmt::Loop(inner) if is_marked(inner) => statements_written(inner),
        _ => statements(std::slice::from_ref(stmt)),
    };
    let times = l.extent.as_int().and_then(|n| usize::try_from(n).ok()).unwrap_or(usize::MAX);
    l.body.iter().map(of).fold(0, usize::saturating_add).saturating_mul(times)
}

/// Writes out short loops whose variable is divided or chosen by: constants in its place leave less to compute.
pub(crate) fn windows(kernel: &mut Kernel) {
    let sequential =
        |l: &Loop| matches!(l.kind, LoopKind::Seq | LoopKind::Unroll) && l.mark != Mark::Lanes;
    // What a whole group repeats stays a loop.
    let grouped = |l: &Loop| holds_items(&l.body);
    write_out_if(kernel, MAX_WINDOW, &|l| sequential(l) && !grouped(l) && decides(l));
}

/// A block with the loops in it that are marked written out, up to so many iterations.
pub(crate) fn written_out(copier: &mut Copier, most: u32, block: &[Stmt]) -> Vec<Stmt> {
    let statements = MAX_STATEMENTS;
    Pass { copier, most, statements, wanted: &is_marked, private: &[] }.block(block)
}

/// The iterations of loops that are written out, at most.
pub(crate) fn iterations(kernel: &Kernel) -> u32 {
    kernel.schedule.unroll.unwrap_or(MAX_ITERATIONS)
}

fn is_marked(l: &Loop) -> bool {
    l.kind == LoopKind::Unroll
}

/// Writes out the loops that are marked.
pub(crate) fn write_out(kernel: &mut Kernel) {
    write_out_if(kernel, MAX_STATEMENTS, &is_marked);
}

fn write_out_if(kernel: &mut Kernel, statements: usize, wanted: &dyn Fn(&Loop) -> bool) {
    let most = iterations(kernel);
    if !has_loop_to_write_out(&kernel.body, &|l| is_short(l, most) && wanted(l)) {
        return;
    }
    let mut copier = Copier::of(kernel);
    let private: Vec<BufferId> = kernel.privates.iter().map(|b| b.id).collect();
    let mut pass = Pass { copier: &mut copier, most, statements, wanted, private: &private };
    kernel.body = pass.block(&kernel.body);
}

struct Pass<'w> {
    copier: &'w mut Copier,
    /// Iterations of a loop.
    most: u32,
    /// Statements that a loop may become.
    statements: usize,
    wanted: &'w dyn Fn(&Loop) -> bool,
    /// Arrays that are to be variables.
    private: &'w [BufferId],
}

impl Pass<'_> {
    fn most_statements(&self, l: &Loop) -> usize {
        match indexes(&l.body, &l.var, self.private) {
            true => MAX_COMPILED,
            false => self.statements,
        }
    }
}

impl Edit for Pass<'_> {
    fn stmt(&mut self, stmt: &Stmt, made: &mut Vec<Stmt>) {
        let Stmt::Loop(l) = stmt else {
            let done = self.stmt_parts(stmt);
            made.push(done);
            return;
        };
        let body = self.block(&l.body);
        let count = l.extent.as_int().filter(|_| is_short(l, self.most) && (self.wanted)(l));
        match count.and_then(|n| usize::try_from(n).ok()) {
            Some(n) if statements(&body) * n <= self.most_statements(l) => {
                for i in 0..n {
                    let value = |v: &Var| (*v == l.var).then(|| Nat::int(i as i128));
                    made.extend(self.copier.copy(&body, &value, Comments::of(i)));
                }
            }
            _ => {
                let mut stays = Loop::new(l.var.clone(), l.kind, l.extent.clone(), body);
                if is_marked(&stays) && statements_written(&stays) > MAX_COMPILED {
                    stays.kind = LoopKind::Seq;
                }
                made.push(Stmt::Loop(stays));
            }
        }
    }
}

/// Whether the variable of a loop is inside a division, a minimum or a condition.
fn decides(l: &Loop) -> bool {
    let mut found = false;
    for stmt in &l.body {
        stmt.each_access(&mut |access, _| found |= !access.index.is_polynomial_in(&l.var));
        stmt.each(&mut |s| {
            for value in s.values() {
                value.each(&mut |e| {
                    found |= match e {
                        Expr::Index(n, _) => !n.is_polynomial_in(&l.var),
                        Expr::Test(pred) => pred.mentions(&l.var),
                        _ => false,
                    };
                });
            }
        });
    }
    found
}

fn has_loop_to_write_out(block: &[Stmt], wanted: &dyn Fn(&Loop) -> bool) -> bool {
    block.iter().any(|stmt| {
        matches!(stmt, Stmt::Loop(l) if wanted(l))
            || stmt.blocks().into_iter().any(|inner| has_loop_to_write_out(inner, wanted))
    })
}

fn is_short(l: &Loop, most: u32) -> bool {
    !l.stops() && l.extent.as_int().is_some_and(|n| n <= most.into())
}

fn statements(block: &[Stmt]) -> usize {
    let mut count = 0;
    block.iter().for_each(|stmt| stmt.each(&mut |_| count += 1));
    count
}

/// Whether an index into a private array depends on a variable.
fn indexes(stmts: &[Stmt], var: &Var, private: &[BufferId]) -> bool {
    let mut found = false;
    for stmt in stmts {
        stmt.each_access(&mut |access, _| {
            found |= private.contains(&access.buffer) && access.index.mentions(var);
        });
    }
    found
}
