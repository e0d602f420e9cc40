//! Grids whose indices divide: points that share a quotient are computed together.
//!
//! Before: `for (x < 2n) r[x] = a[x / 2] * k[x % 2];`
//! After: `for (q < n) { r[2q] = a[q] * k[0]; r[2q + 1] = a[q] * k[1]; }`
//!
//! An index that divides does not move evenly, so a compiler finds no vector code for the loop. With the points of one
//! quotient side by side nothing is divided, a load serves all of them, and what a remainder chooses is decided. Rows are taken together
//! where they choose by a remainder, too.

use std::collections::BTreeSet;

use lift_ir::{Nat, Range, Var};
use lift_kernel::{Expr, Kernel, Loop, LoopKind, Mark, Stmt};

use crate::cloning::{Comments, Copier};
use crate::effects::{has_loop, touches};
use crate::jam;

/// Points of one quotient, at most.
const TOGETHER: i128 = 8;

/// Statements of all points, at most.
const STATEMENTS: usize = 256;

/// Iterations of a loop that is split, at least, for each of the points of a quotient.
const QUOTIENTS: i128 = 4;

pub(crate) fn run(kernel: &mut Kernel) {
    let has_groups = has_loop(&kernel.body, &|k| matches!(k, LoopKind::Group(_)));
    // Points that have arrays use them one after the other.
    let own: BTreeSet<_> = kernel.locals.iter().chain(&kernel.privates).map(|b| b.id).collect();
    if has_groups || touches(&kernel.body).iter().any(|touch| own.contains(&touch.access.buffer)) {
        return;
    }
    let mut copier = Copier::of(kernel);
    let body = std::mem::take(&mut kernel.body);
    kernel.body = block(body, &mut copier);
    kernel.facts = copier.facts;
}

fn block(stmts: Vec<Stmt>, copier: &mut Copier) -> Vec<Stmt> {
    let mut made = Vec::new();
    for stmt in stmts {
        match stmt {
            Stmt::Loop(l) if matches!(l.kind, LoopKind::Global(_)) && l.mark == Mark::None => {
                let is_inner = !has_loop(&l.body, &|k| matches!(k, LoopKind::Global(_)));
                let l = Loop { body: block(l.body, copier), ..l };
                match split(&l, is_inner, copier) {
                    Some(parts) => made.extend(parts),
                    None => made.push(Stmt::Loop(l)),
                }
            }
            other => made.push(other),
        }
    }
    made
}

/// A loop over quotients, and what is left of the points behind it.
fn split(l: &Loop, is_inner: bool, copier: &mut Copier) -> Option<Vec<Stmt>> {
    let length = l.extent.as_int()?;
    let before = divisors(&l.body, &l.var, is_inner);
    let by: BTreeSet<i128> = before.iter().filter_map(Nat::as_int).collect();
    let mut statements = 0_usize;
    l.body.iter().for_each(|stmt| stmt.each(&mut |_| statements += 1));
    let fits = |n: &i128| {
        (2..=TOGETHER).contains(n)
            && statements.saturating_mul(*n as usize) <= STATEMENTS
            && length >= QUOTIENTS * n
    };
    // Where several divide, points that share all quotients.
    let together = by.iter().copied().fold(1, least_common_multiple);
    let together = Some(together).filter(fits).or_else(|| by.iter().copied().find(fits))?;
    let each = Nat::int(together);
    let count = copier.facts.simplify(&l.extent.div(&each));
    let left = copier.facts.simplify(&l.extent.rem(&each));
    let quotient = copier.ids.fresh(l.var.name());
    copier.facts.declare_inside(&quotient, Range::below(count.clone()));
    let first = Nat::var(&quotient) * &each;
    let points = (0..together).map(|k| [(l.var.clone(), &first + Nat::int(k))].into()).collect();
    let body = jam::together(&l.body, points, copier);
    if divisors(&body, &quotient, is_inner).len() >= before.len() {
        return None;
    }
    let mut made = vec![Stmt::Loop(Loop::new(quotient, l.kind, count.clone(), body))];
    if left != Nat::ZERO {
        let var = copier.ids.fresh(l.var.name());
        copier.facts.declare(&var, Range::below(left.clone()));
        let start = count * each;
        let value = |v: &Var| (*v == l.var).then(|| &start + Nat::var(&var));
        let body = copier.copy(&l.body, &value, Comments::Drop);
        made.push(Stmt::Loop(Loop::new(var, l.kind, left, body)));
    }
    Some(made)
}

fn least_common_multiple(a: i128, b: i128) -> i128 {
    let (mut gcd, mut rest) = (a, b);
    while rest != 0 {
        (gcd, rest) = (rest, gcd % rest);
    }
    (a / gcd.max(1)).saturating_mul(b)
}

/// What is divided by where a variable is in what is divided: in values, and in indices too if `of_indices` says so.
fn divisors(body: &[Stmt], var: &Var, of_indices: bool) -> Vec<Nat> {
    let mut found = Vec::new();
    let mut look = |nat: &Nat| {
        if !nat.is_polynomial_in(var) {
            nat.each_divisor(&mut |by| found.push(by.clone()));
        }
    };
    for stmt in body {
        if of_indices {
            stmt.each_access(&mut |access, _| look(&access.index));
        }
        stmt.each(&mut |s| {
            s.values().for_each(|value| {
                value.each(&mut |e| {
                    if let Expr::Index(nat, _) = e {
                        look(nat);
                    }
                });
            });
        });
    }
    found
}
