//! Grids of more dimensions than a launch has.
//!
//! Before: `for (w < 8) for (z < 6) for (y) for (x) …`, over global work-items.
//! After: `for (z < 48) for (y) for (x) …`, with `z / 6` for w and `z % 6` for z.
//!
//! What stands between the two is done for each iteration of the inner loop, as each work-item did it before. A store there
//! would be done more than once: such a kernel is refused, and no program asks for one.

use lift_ir::{Nat, Range, Var};
use lift_kernel::{BufferId, Kernel, Loop, LoopKind, Stmt};

use crate::LowerError;
use crate::cloning::{Comments, Copier};
use crate::effects::Counts;

/// The highest dimension of a launch.
const HIGHEST: u8 = 2;

/// `status` is what any work-item may write, whoever is last.
pub(crate) fn run(kernel: &mut Kernel, status: Option<BufferId>) -> Result<(), LowerError> {
    let mut copier = Copier::of(kernel);
    let body = std::mem::take(&mut kernel.body);
    let flat = body.into_iter().map(|stmt| flat(stmt, status, &mut copier));
    kernel.body = flat.collect::<Result<_, _>>()?;
    kernel.facts = copier.facts;
    Ok(())
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
