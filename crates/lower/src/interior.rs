//! Grids are split where boundaries no longer matter.
//!
//! Before: `for (i = 0; i < N; ++i) r[i] = x[max(i - 1, 0)] + x[min(i + 1, N - 1)];`
//! After: the first and the last iterations as they were, and between them `r[i] = x[i - 1] + x[i + 1];`
//!
//! Of loops only the innermost of a nest is split. Where loops around it matter too, there is a branch around
//! it: rows in the interior of all of them have the split loop, the others the loop as it was. C compilers
//! turn loops without choices into vector code.
//!
//! Threads branch: those in the interior have code without choices, where that has wide loads in it which the
//! boundary is in the way of.

use std::collections::BTreeSet;

use lift_ir::{Nat, Pred, Range, Var};
use lift_kernel::{Buffer, Expr, Kernel, Loop, LoopKind, Stmt};

use crate::copy::Copier;
use crate::launch::uses;
use crate::merge;

/// Widths of the border that are tried.
const BORDERS: [i128; 6] = [1, 2, 3, 4, 6, 8];

pub(crate) fn split(kernel: &mut Kernel) {
    if uses(&kernel.body, &|k| matches!(k, LoopKind::Group(_))) {
        return;
    }
    let mut copier = Copier::of(kernel);
    let body = std::mem::take(&mut kernel.body);
    kernel.body = block(body, &mut Vec::new(), &mut copier);
}

fn block(stmts: Vec<Stmt>, around: &mut Vec<(Var, Nat)>, copier: &mut Copier) -> Vec<Stmt> {
    let mut made = Vec::new();
    for stmt in stmts {
        match stmt {
            Stmt::Loop(l) if uses(&l.body, &|_| true) => {
                around.push((l.var.clone(), l.extent.clone()));
                let body = block(l.body, around, copier);
                around.pop();
                made.push(Stmt::Loop(Loop { body, ..l }));
            }
            Stmt::Loop(l) => made.extend(interior(l, around, copier)),
            other => made.push(other),
        }
    }
    made
}

/// An innermost loop, split where that decides all choices by the variables around.
fn interior(l: Loop, around: &[(Var, Nat)], copier: &mut Copier) -> Vec<Stmt> {
    let global = matches!(l.kind, LoopKind::Global(_));
    let choosing = choices(&l.body);
    let outer: Vec<&(Var, Nat)> = around.iter().filter(|(v, _)| choosing.contains(v)).collect();
    if !global || (outer.is_empty() && !choosing.contains(&l.var)) {
        return vec![Stmt::Loop(l)];
    }
    // That there is an interior says something about sizes, which holds nowhere else.
    let facts = copier.facts.clone();
    for border in BORDERS {
        let middle = decided(&l, &outer, border, copier);
        copier.facts = facts.clone();
        if let Some(middle) = middle {
            return parts(l, &outer, border, middle, copier);
        }
    }
    vec![Stmt::Loop(l)]
}

/// The loop over the interior, if everything is decided there.
fn decided(l: &Loop, outer: &[&(Var, Nat)], border: i128, copier: &mut Copier) -> Option<Loop> {
    let border = Nat::int(border);
    let length = copier.facts.simplify(&(&l.extent - &border * Nat::int(2)));
    if length.as_int().is_some_and(|n| n <= 0) {
        return None;
    }
    let var = copier.ids.fresh(l.var.name());
    copier.facts.declare(&var, Range::below(length.clone()));
    let value = |v: &Var| (*v == l.var).then(|| Nat::var(&var) + &border);
    let body = inside(&l.body, outer, &border, &value, copier)?;
    (!choices(&body).contains(&var)).then(|| Loop::new(var, l.kind, length, body))
}

/// A block, with variables replaced, for variables of loops around that are in the interior; if nothing depends on
/// how far inside they are.
fn inside(
    block: &[Stmt],
    outer: &[&(Var, Nat)],
    border: &Nat,
    value: &dyn Fn(&Var) -> Option<Nat>,
    copier: &mut Copier,
) -> Option<Vec<Stmt>> {
    let mut inside = Vec::new();
    for (v, n) in outer {
        let own = copier.ids.fresh(v.name());
        copier.facts.declare(&own, Range::between(border.clone(), n - border - Nat::ONE));
        inside.push((v, own));
    }
    let known = |v: &Var| inside.iter().find(|(o, _)| *o == v).map(|(_, own)| Nat::var(own));
    let body = copier.copy(block, &|v| value(v).or_else(|| known(v)), true);
    let left = choices(&body);
    if inside.iter().any(|(_, own)| left.contains(own)) {
        return None;
    }
    let back = |v: &Var| inside.iter().find(|(_, own)| own == v).map(|(o, _)| Nat::var(o));
    Some(copier.copy(&body, &back, true))
}

fn parts(
    l: Loop,
    outer: &[&(Var, Nat)],
    border: i128,
    middle: Loop,
    copier: &mut Copier,
) -> Vec<Stmt> {
    let (border, n) = (Nat::int(border), l.extent.clone());
    let facts = copier.facts.clone();
    let mut edge = |extent: Nat, start: Nat| {
        let var = copier.ids.fresh(l.var.name());
        let extent = copier.facts.simplify(&extent);
        copier.facts.declare(&var, Range::below(extent.clone()));
        let value = |v: &Var| (*v == l.var).then(|| Nat::var(&var) + &start);
        let body = copier.copy(&l.body, &value, false);
        copier.facts = facts.clone();
        Stmt::Loop(Loop::new(var, l.kind, extent, body))
    };
    let after = Nat::max(&border, &(&n - &border));
    let first = edge(Nat::min(&border, &n), Nat::ZERO);
    let last = edge(&n - &after, after.clone());
    let split = vec![first, Stmt::Loop(middle), last];
    if outer.is_empty() {
        return split;
    }
    let condition = is_inside(outer, &border);
    vec![Stmt::If { condition, then: split, otherwise: vec![Stmt::Loop(l)] }]
}

fn is_inside(outer: &[&(Var, Nat)], border: &Nat) -> Expr {
    let inside = outer.iter().flat_map(|(v, n)| {
        let v = Nat::var(v);
        [Pred::Le(border.clone(), v.clone()), Pred::Lt(v, n - border)]
    });
    Expr::Test(Pred::And(inside.collect()))
}

/// Branches of a kernel for threads.
pub(crate) fn branch(kernel: &mut Kernel, globals: &[Buffer]) {
    let wide = merge::counter(kernel, globals);
    let mut threads = Threads { wide: &wide, copier: Copier::of(kernel) };
    let body = std::mem::take(&mut kernel.body);
    kernel.body = threads.block(body, &mut Vec::new());
}

struct Threads<'k> {
    /// Counts the loads that can be wide.
    wide: &'k dyn Fn(&[Stmt]) -> usize,
    copier: Copier,
}

impl Threads<'_> {
    /// What a thread does comes after its places, in all branches and loops that choose them.
    fn block(&mut self, mut stmts: Vec<Stmt>, around: &mut Vec<(Var, Nat)>) -> Vec<Stmt> {
        let head = stmts.iter().take_while(|s| matches!(s, Stmt::Comment(_) | Stmt::Place { .. }));
        let head = head.count();
        for stmt in &stmts[..head] {
            if let Stmt::Place { var, kind: LoopKind::Global(_), extent } = stmt {
                around.push((var.clone(), extent.clone()));
            }
        }
        let rest = stmts.split_off(head);
        let rest = match <[Stmt; 1]>::try_from(rest) {
            Ok([Stmt::If { condition, then, otherwise }]) if otherwise.is_empty() => {
                let then = self.block(then, around);
                vec![Stmt::If { condition, then, otherwise }]
            }
            Ok([Stmt::Loop(l)]) if matches!(l.kind, LoopKind::Global(_)) => {
                around.push((l.var.clone(), l.extent.clone()));
                let body = self.block(l.body, around);
                vec![Stmt::Loop(Loop { body, ..l })]
            }
            Ok(other) => self.work(other.into(), around),
            Err(many) => self.work(many, around),
        };
        stmts.extend(rest);
        stmts
    }

    fn work(&mut self, work: Vec<Stmt>, around: &[(Var, Nat)]) -> Vec<Stmt> {
        let choosing = choices(&work);
        let outer: Vec<&(Var, Nat)> = around.iter().filter(|(v, _)| choosing.contains(v)).collect();
        if outer.is_empty() {
            return work;
        }
        let facts = self.copier.facts.clone();
        for border in BORDERS.map(Nat::int) {
            if outer.iter().any(|(_, n)| facts.at_most(n, &(&border + &border))) {
                return work;
            }
            let then = inside(&work, &outer, &border, &|_| None, &mut self.copier);
            self.copier.facts = facts.clone();
            if let Some(then) = then {
                if (self.wide)(&then) <= (self.wide)(&work) {
                    return work;
                }
                let condition = is_inside(&outer, &border);
                return vec![Stmt::If { condition, then, otherwise: work }];
            }
        }
        work
    }
}

/// The variables that minima, maxima and conditions depend on.
fn choices(block: &[Stmt]) -> BTreeSet<Var> {
    let mut found = BTreeSet::new();
    for stmt in block {
        stmt.each_access(&mut |access, _| index(&access.index, &mut found));
        stmt.each(&mut |s| {
            for value in s.values() {
                value.each(&mut |e| match e {
                    Expr::Index(n, _) => index(n, &mut found),
                    Expr::Test(pred) => found.extend(pred.vars()),
                    _ => {}
                });
            }
        });
    }
    found
}

fn index(n: &Nat, found: &mut BTreeSet<Var>) {
    found.extend(n.vars().into_iter().filter(|v| n.chooses_by(v)));
}
