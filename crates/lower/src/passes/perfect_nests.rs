//! Perfect nests: what stands between the loops of a grid whose points fold moves into the innermost.
//!
//! Before: `for (y) { float b = bias[y]; for (x) { acc = b; for (k) acc = acc + a[y][k] * w[k][x]; r[y][x] = acc; } }`
//! After: `for (y) for (x) { float b = bias[y]; acc = b; … }`, a grid of points, which can be tiled.
//!
//! Points that do not fold stay as they are: for them the load is worth saving.

use lift_kernel::{Kernel, Loop, LoopKind, Runs, Stmt};

use crate::effects::{Counts, touches};
use crate::nest::{Folds, Nest};

pub(crate) fn run(kernel: &mut Kernel) {
    let body = kernel.body.iter().map(|stmt| perfected(stmt, kernel));
    kernel.body = body.collect();
}

fn perfected(stmt: &Stmt, kernel: &Kernel) -> Stmt {
    let Stmt::Loop(l) = stmt else { return stmt.clone() };
    let folds = |nest: Nest| {
        Folds::of(&nest, kernel).is_some_and(|f| !f.is_short || kernel.runs == Runs::Loops)
    };
    match sunk(l, &[]).map(Stmt::Loop) {
        Some(made) if Nest::of(&made).is_some_and(folds) => made,
        _ => stmt.clone(),
    }
}

/// A loop of a grid with these declarations in front of what its points do; nothing where no loop is inside another, or
/// something else stands between them.
pub(super) fn sunk(l: &Loop, above: &[Stmt]) -> Option<Loop> {
    if !is_grid(l) {
        return None;
    }
    let declares =
        |stmt: &Stmt| matches!(stmt, Stmt::Comment(_) | Stmt::Declare { value: Some(_), .. });
    let body = match l.body.split_last() {
        Some((Stmt::Loop(inner), between)) if is_grid(inner) && between.iter().all(declares) => {
            let moved = between.iter().filter(|stmt| matches!(stmt, Stmt::Declare { .. }));
            let moved: Vec<Stmt> = above.iter().chain(moved).cloned().collect();
            let comments = between.iter().filter(|stmt| matches!(stmt, Stmt::Comment(_))).cloned();
            comments.chain([Stmt::Loop(sunk(inner, &moved)?)]).collect()
        }
        _ if above.is_empty() || !can_pass(above, &l.body) => return None,
        _ => above.iter().chain(&l.body).cloned().collect(),
    };
    Some(Loop { body, ..l.clone() })
}

fn is_grid(l: &Loop) -> bool {
    matches!(l.kind, LoopKind::Global(_))
}

/// Whether declarations mean the same at each of several points: nobody stores to what they read. No point assigns to what they
/// declare, since points are independent.
fn can_pass(declarations: &[Stmt], points: &[Stmt]) -> bool {
    let stored = Counts::of(points);
    touches(declarations).iter().all(|touch| !stored.is_stored(touch.access.buffer))
}
