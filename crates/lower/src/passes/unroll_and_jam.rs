//! Unroll-and-jam: several rows of a grid are computed in one iteration, by the schedule's `rows`, so that loads their
//! windows share can be done once.
//!
//! Before: `for (y) if (1 <= y && y < N - 1) for (x) r[y][x] = …; else …`
//! After: `for (b) if (1 <= 4*b && 4*b + 3 < N - 1) for (x) { r[4*b][x] = …; … r[4*b + 3][x] = …; }`, and otherwise row
//! after row as before.
//!
//! `interleave` brings the shared loads together. It pays where a point needs so many loads that these take longer than
//! memory does.

use std::collections::BTreeSet;

use lift_ir::{Facts, Nat, Pred, Range, Var};
use lift_kernel::{Access, Expr, Kernel, Loop, LoopKind, Stmt};

use crate::cloning::{Comments, Copier};
use crate::passes::loop_blocking::sequential;

/// Points of a row, at least.
const POINTS: i128 = 16;

/// Loads of a point, at least.
const LOADS: usize = 16;

/// Whether a kernel has so many rows of which the windows overlap.
pub(crate) fn pays(kernel: &Kernel, at_once: u32) -> bool {
    kernel.body.iter().any(|stmt| match stmt {
        Stmt::Loop(rows) => jammable(rows, at_once).is_some_and(|row| {
            row.points.iter().any(|points| overlaps(points, &rows.var, &kernel.facts))
        }),
        _ => false,
    })
}

pub(crate) fn run(kernel: &mut Kernel) {
    let Some(at_once) = kernel.schedule.rows.filter(|n| *n > 1) else { return };
    let mut copier = Copier::of(kernel);
    for stmt in &mut kernel.body {
        if let Stmt::Loop(rows) = stmt
            && let Some(jammed) = jammed(rows, at_once, &mut copier)
        {
            *rows = jammed;
        }
    }
    kernel.facts = copier.facts;
}

/// What is done for a row: loops over its points, if a condition holds of the row.
struct Row<'k> {
    /// `low <= row` and `row < high`.
    condition: Vec<Pred>,
    points: Vec<&'k Loop>,
}

impl Row<'_> {
    fn of(rows: &Loop) -> Option<Row<'_>> {
        let stmts: Vec<&Stmt> =
            rows.body.iter().filter(|s| !matches!(s, Stmt::Comment(_))).collect();
        let (condition, points) = match stmts.as_slice() {
            [Stmt::If { condition: Expr::Test(Pred::And(parts)), then, .. }]
                if parts.iter().all(|part| is_bound(part, &rows.var)) =>
            {
                (parts.clone(), then.iter().collect())
            }
            _ => (Vec::new(), stmts),
        };
        let points: Option<Vec<&Loop>> = points.into_iter().map(|s| of_points(s, rows)).collect();
        Some(Row { condition, points: points.filter(|all| !all.is_empty())? })
    }

    /// That there are all rows from one to another, and the condition holds of them.
    fn inside(&self, rows: &Loop, first: &Nat, last: &Nat, facts: &Facts) -> Vec<Pred> {
        let mut all = Vec::new();
        let mut is_bounded = false;
        for part in &self.condition {
            match part {
                Pred::Lt(_, high) => {
                    is_bounded |= facts.at_most(high, &rows.extent);
                    all.push(Pred::Lt(last.clone(), high.clone()));
                }
                Pred::Le(low, _) => all.push(Pred::Le(low.clone(), first.clone())),
                _ => {}
            }
        }
        if !is_bounded {
            all.push(Pred::Lt(last.clone(), rows.extent.clone()));
        }
        all
    }
}

/// Whether a condition says that a variable is at least, or less than, something.
fn is_bound(condition: &Pred, var: &Var) -> bool {
    match condition {
        Pred::Le(low, v) => v.as_var() == Some(var) && !low.mentions(var),
        Pred::Lt(v, high) => v.as_var() == Some(var) && !high.mentions(var),
        _ => false,
    }
}

/// A loop over the points of a row, without loops and branches in it.
fn of_points<'k>(stmt: &'k Stmt, rows: &Loop) -> Option<&'k Loop> {
    let Stmt::Loop(points) = stmt else { return None };
    let straight = points.body.iter().all(|s| s.blocks().is_empty());
    let free = !points.extent.mentions(&rows.var);
    (straight && free && points.kind == LoopKind::Global(0)).then_some(points)
}

/// What is done for a row, where rows can be computed together and there are so many.
fn jammable(rows: &Loop, at_once: u32) -> Option<Row<'_>> {
    let is_many = rows.extent.as_int().is_none_or(|n| n >= i128::from(at_once));
    let is_grid = matches!(rows.kind, LoopKind::Global(_));
    Row::of(rows).filter(|_| is_many && is_grid)
}

fn jammed(rows: &Loop, at_once: u32, copier: &mut Copier) -> Option<Loop> {
    let row = jammable(rows, at_once)?;
    let at_once = Nat::int(at_once.into());
    let jams: Vec<bool> = row.points.iter().map(|l| !is_boundary(l, &copier.facts)).collect();
    if !jams.contains(&true) {
        return None;
    }
    let count = rows.extent.ceil_div(&at_once);
    let block = copier.ids.fresh(&format!("block_{}", rows.var.name()));
    copier.facts.declare_inside(&block, Range::below(count.clone()));
    let first = Nat::var(&block) * &at_once;
    let last = &first + &at_once - Nat::ONE;
    let all = row.inside(rows, &first, &last, &copier.facts);
    let facts = copier.facts.clone();
    all.iter().for_each(|inside| copier.facts.assume(inside));
    let mut then = Vec::new();
    for (points, jams) in row.points.into_iter().zip(jams) {
        then.push(match jams {
            true => side_by_side(points, rows, &first, &at_once, copier),
            false => {
                let stmts = [Stmt::Loop(points.clone())];
                one_by_one(&stmts, rows, &first, at_once.clone(), copier)
            }
        });
    }
    copier.facts = facts;
    let condition = Expr::Test(Pred::And(all));
    let left = copier.facts.simplify(&Nat::min(&at_once, &(&rows.extent - &first)));
    let otherwise = vec![one_by_one(&rows.body, rows, &first, left, copier)];
    let body = vec![Stmt::If { condition, then, otherwise }];
    Some(Loop::new(block, rows.kind, count, body))
}

/// Whether there are as few points as at a boundary.
fn is_boundary(points: &Loop, facts: &Facts) -> bool {
    facts.upper(&points.extent).is_some_and(|n| n < POINTS)
}

/// Whether there are more points than at a boundary, and many loads, no index of them chosen by the point, and the
/// next row makes three quarters of them too. Where a block of rows is written out already there are fewer.
fn overlaps(points: &Loop, row: &Var, facts: &Facts) -> bool {
    if is_boundary(points, facts) {
        return false;
    }
    let (mut here, mut next, mut chosen) = (BTreeSet::new(), BTreeSet::new(), false);
    let step = |v: &Var| (v == row).then(|| Nat::var(row) + Nat::ONE);
    for stmt in &points.body {
        stmt.each_own_access(&mut |Access { buffer, index, .. }, is_store| {
            chosen |= index.chooses_by(&points.var);
            if !is_store {
                here.insert((*buffer, facts.simplify(index)));
                next.insert((*buffer, facts.simplify(&index.substitute(&step))));
            }
        });
    }
    let shared = here.intersection(&next).count();
    !chosen && here.len() >= LOADS && 4 * shared >= 3 * here.len()
}

/// A loop over the points of all rows of a block.
fn side_by_side(
    points: &Loop,
    rows: &Loop,
    first: &Nat,
    at_once: &Nat,
    copier: &mut Copier,
) -> Stmt {
    let var = copier.ids.fresh(points.var.name());
    copier.facts.declare_inside(&var, Range::below(points.extent.clone()));
    let mut body = Vec::new();
    for k in 0..at_once.as_int().unwrap_or(0) {
        let value = |v: &Var| match *v == rows.var {
            true => Some(first + Nat::int(k)),
            false => (*v == points.var).then(|| Nat::var(&var)),
        };
        body.extend(copier.copy(&points.body, &value, Comments::of(k as usize)));
    }
    Stmt::Loop(Loop::new(var, points.kind, points.extent.clone(), body))
}

/// What is done for a row, for so many rows of a block one after the other.
fn one_by_one(stmts: &[Stmt], rows: &Loop, first: &Nat, count: Nat, copier: &mut Copier) -> Stmt {
    let var = copier.ids.fresh(&format!("in_{}", rows.var.name()));
    copier.facts.declare_inside(&var, Range::below(count.clone()));
    let value = |v: &Var| (*v == rows.var).then(|| first + Nat::var(&var));
    let mut body = copier.copy(stmts, &value, Comments::Keep);
    sequential(&mut body);
    Stmt::Loop(Loop::new(var, LoopKind::Seq, count, body))
}
