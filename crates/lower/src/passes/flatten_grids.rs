//! Grids of more dimensions than a launch has, or whose innermost is short (loop coalescing).
//!
//! Before: `for (w < 8) for (z < 6) for (y) for (x) …`, over global work-items.
//! After: `for (z < 48) for (y) for (x) …`, with `z / 6` for w and `z % 6` for z.
//!
//! Before: `for (y) for (x < 3) r[3*y + x] = …`, of which a group has hardly any threads, or threads touch what lies apart.
//! After: `for (yx) r[yx] = …`, with `yx / 3` for y and `yx % 3` for x, where it is free which threads there are.
//!
//! What stands between the two is done for each iteration of the inner loop, as each work-item did it before. A store there
//! would be done more than once: such a kernel is refused, and no program asks for one.

use lift_ir::{Nat, Range, Var};
use lift_kernel::{BufferId, Kernel, Loop, LoopKind, Runs, Stmt};

use crate::LowerError;
use crate::cloning::{Comments, Copier};
use crate::effects::Counts;

/// The highest dimension of a launch.
const HIGHEST: u8 = 2;

/// An innermost dimension of fewer work-items is no warp.
const SHORT: i128 = 32;

/// `status` is what any work-item may write, whoever is last; `is_open` whether dimensions are free.
pub(crate) fn run(
    kernel: &mut Kernel,
    status: Option<BufferId>,
    is_open: bool,
) -> Result<(), LowerError> {
    let mut copier = Copier::of(kernel);
    let body = std::mem::take(&mut kernel.body);
    let is_open = is_open && kernel.runs == Runs::Loops;
    let flat = body.into_iter().map(|stmt| {
        let long = if is_open { lengthened(stmt, status, &mut copier) } else { stmt };
        flat(long, status, &mut copier)
    });
    kernel.body = flat.collect::<Result<_, _>>()?;
    kernel.facts = copier.facts;
    Ok(())
}

/// A grid whose innermost dimension is no shorter than a warp, where there are others around.
fn lengthened(stmt: Stmt, status: Option<BufferId>, copier: &mut Copier) -> Stmt {
    let mut stmt = stmt;
    while let Some(made) = with_inner(&stmt, &mut |l, d| match (d, last(l)) {
        (1, Some(inner)) if inner.extent.as_int().is_some_and(|n| n < SHORT) => {
            merged(l, d, status, copier)
        }
        _ => None,
    }) {
        stmt = made;
    }
    stmt
}

/// A grid in which a loop and the one inside of it are one, if any are: dimensions around have one less.
fn with_inner(stmt: &Stmt, one: &mut dyn FnMut(&Loop, u8) -> Option<Loop>) -> Option<Stmt> {
    let Stmt::Loop(l) = stmt else { return None };
    let LoopKind::Global(d) = l.kind else { return None };
    if let Some(made) = one(l, d) {
        return Some(Stmt::Loop(made));
    }
    let (inner, before) = l.body.split_last().filter(|_| d > 1)?;
    let inner = with_inner(inner, one)?;
    let body = before.iter().cloned().chain([inner]).collect();
    Some(Stmt::Loop(Loop { kind: LoopKind::Global(d - 1), body, ..l.clone() }))
}

fn last(l: &Loop) -> Option<&Loop> {
    match l.body.last() {
        Some(Stmt::Loop(inner)) => Some(inner),
        _ => None,
    }
}

fn flat(stmt: Stmt, status: Option<BufferId>, copier: &mut Copier) -> Result<Stmt, LowerError> {
    let mut stmt = stmt;
    while let Stmt::Loop(l) = &stmt
        && let LoopKind::Global(d) = l.kind
        && d > HIGHEST
    {
        let one = merged(l, d, status, copier);
        let text = match l.body.last() {
            Some(Stmt::Loop(inner)) if inner.kind == LoopKind::Global(d - 1) => {
                "a grid of more than three dimensions stores something between its loops"
            }
            _ => {
                "a grid of more than three dimensions has nothing between its loops, one for each dimension"
            }
        };
        stmt = Stmt::Loop(one.ok_or_else(|| LowerError::at(None, text))?);
    }
    Ok(stmt)
}

/// A loop and the one inside of it as one.
fn merged(outer: &Loop, d: u8, status: Option<BufferId>, copier: &mut Copier) -> Option<Loop> {
    let (last, before) = outer.body.split_last()?;
    let Stmt::Loop(inner) = last else { return None };
    let is_next = inner.kind == LoopKind::Global(d - 1) && !inner.extent.mentions(&outer.var);
    let is_repeatable = Counts::of(before).stored().all(|buffer| Some(buffer) == status);
    if !is_next || !is_repeatable {
        return None;
    }
    let extent = copier.facts.simplify(&(&outer.extent * &inner.extent));
    let both = copier.ids.fresh(inner.var.name());
    copier.facts.declare_inside(&both, Range::below(extent.clone()));
    let at = Nat::var(&both);
    let value = |v: &Var| match *v == outer.var {
        true => Some(at.div(&inner.extent)),
        false => (*v == inner.var).then(|| at.rem(&inner.extent)),
    };
    let all: Vec<Stmt> = before.iter().chain(&inner.body).cloned().collect();
    let body = copier.copy(&all, &value, Comments::Keep);
    Some(Loop::new(both, inner.kind, extent, body))
}
