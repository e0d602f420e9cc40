//! Strip-mining of folds whose indices divide what they count by.
//!
//! Before: `for (i < 198) acc = acc + x[3454 * (i / 66) + i] * …`
//! After: `for (strip < 3) for (i < 66) acc = acc + x[3520 * strip + i] * …`
//!
//! Compilers find no vector code for lanes around a loop that divides. So it is with what `join` makes of windows: their
//! rows follow each other in the fold, and lie apart in memory.

use lift_ir::{Nat, Range, Var};
use lift_kernel::{Loop, LoopKind, Stmt};

use crate::cloning::{Comments, Copier};
use crate::effects::touches;

/// Statements whose loops are cut at what their variables are divided by.
pub(super) fn mined(stmts: Vec<Stmt>, copier: &mut Copier) -> Vec<Stmt> {
    stmts.into_iter().map(|stmt| of_stmt(stmt, copier)).collect()
}

fn of_stmt(stmt: Stmt, copier: &mut Copier) -> Stmt {
    match stmt {
        Stmt::Loop(l) if l.kind == LoopKind::Seq => Stmt::Loop(of_loop(l, copier)),
        other => other,
    }
}

fn of_loop(l: Loop, copier: &mut Copier) -> Loop {
    let before = divisors(&l.body, &l.var);
    let length = l.extent.as_int().unwrap_or(0);
    let mut lengths: Vec<i128> = before.iter().filter_map(Nat::as_int).collect();
    lengths.retain(|strip| (2..length).contains(strip) && length % strip == 0);
    // The longest strips first: these may have others in them.
    lengths.sort_unstable_by(|a, b| b.cmp(a));
    lengths.dedup();
    for strip in lengths {
        let (outer, inner) = (copier.ids.fresh("strip"), copier.ids.fresh(l.var.name()));
        let (count, strip) = (Nat::int(length / strip), Nat::int(strip));
        copier.facts.declare_inside(&outer, Range::below(count.clone()));
        copier.facts.declare_inside(&inner, Range::below(strip.clone()));
        let at = Nat::var(&outer) * &strip + Nat::var(&inner);
        let value = |v: &Var| (*v == l.var).then(|| at.clone());
        let body = copier.copy(&l.body, &value, Comments::Keep);
        if divisors(&body, &inner).len() < before.len() {
            let inside = of_loop(Loop { var: inner, extent: strip, body, ..l }, copier);
            return Loop::new(outer, LoopKind::Seq, count, vec![Stmt::Loop(inside)]);
        }
    }
    let body = mined(l.body, copier);
    Loop { body, ..l }
}

/// What is divided by in indices that a variable is in.
fn divisors(body: &[Stmt], var: &Var) -> Vec<Nat> {
    let mut found = Vec::new();
    for touch in touches(body).iter().filter(|touch| touch.access.index.mentions(var)) {
        touch.access.index.each_divisor(&mut |by| found.push(by.clone()));
    }
    found
}
