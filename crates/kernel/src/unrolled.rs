//! Which loops over threads compilers are let unroll.

use std::collections::{BTreeMap, BTreeSet};

use lift_ir::{Nat, Var};

use crate::{BufferId, Expr, Kernel, Loop, LoopKind, Stmt};

/// Turns that compilers do at a time where they unroll a loop.
const AT_A_TIME: i128 = 4;

/// Numbers in a part of a line that comes from memory by itself.
const SECTOR: i128 = 8;

/// Whether compilers should unroll a loop over threads. Counts of threads are unsigned: a loop whose variable they are added to may
/// wrap, and is not unrolled, unless they become what indices are. Unrolled, the loads of several turns begin at once, which hides how
/// long memory takes, where there are turns enough. From row to row and plane to plane that holds for what comes once: points that
/// read their neighbours find them in caches, and a few at a time there are more of them than fit. Neither do columns, of which each
/// thread reads another line.
pub fn is_unrolled(kernel: &Kernel, l: &Loop) -> bool {
    let items = kernel.launch.local.first().and_then(|n| n.as_int());
    match (l.kind, l.extent.as_int(), items) {
        (LoopKind::Local(0) | LoopKind::Global(0), ..) if reads_across(kernel, l) => false,
        (LoopKind::Local(0), Some(extent), Some(items)) => extent >= AT_A_TIME * items,
        (LoopKind::Global(0) | LoopKind::Group(0) | LoopKind::Local(0), ..) => true,
        (LoopKind::Global(_), ..) => streams(l),
        _ => false,
    }
}

/// Whether neighbouring threads read lines of their own of some array.
fn reads_across(kernel: &Kernel, l: &Loop) -> bool {
    let next = |v: &Var| (*v == l.var).then(|| Nat::var(v) + Nat::ONE);
    let mut found = false;
    for stmt in &l.body {
        stmt.each(&mut |stmt| {
            for value in stmt.values() {
                value.each(&mut |e| {
                    let Expr::Load(access, _) = e else { return };
                    if kernel.locals.iter().any(|local| local.id == access.buffer) {
                        return;
                    }
                    let step = access.index.substitute(&next) - &access.index;
                    let step = kernel.facts.simplify(&step).as_int();
                    found |= step.is_some_and(|n| n.abs() >= SECTOR);
                });
            }
        });
    }
    found
}

/// Whether the turns of a loop are straight code that loads each array at one place at most that changes with the turn.
fn streams(l: &Loop) -> bool {
    let mut changing = BTreeSet::from([&l.var]);
    let mut places: BTreeMap<BufferId, BTreeSet<&Nat>> = BTreeMap::new();
    let mut straight = true;
    for stmt in &l.body {
        stmt.each(&mut |stmt| {
            straight &= !matches!(stmt, Stmt::Loop(_) | Stmt::Barrier(_));
            let mut changes = false;
            for value in stmt.values() {
                value.each(&mut |e| {
                    changes |= mentions(e, &changing);
                    if let Expr::Load(access, _) = e
                        && has(&access.index, &changing)
                    {
                        places.entry(access.buffer).or_default().insert(&access.index);
                    }
                });
            }
            match stmt {
                Stmt::Index { var, .. } if changes => drop(changing.insert(var)),
                Stmt::Declare { var, .. } | Stmt::Assign { var, .. } if changes => {
                    changing.insert(&var.id);
                }
                _ => {}
            }
        });
    }
    straight && places.values().all(|of| of.len() <= 1)
}

fn has(index: &Nat, vars: &BTreeSet<&Var>) -> bool {
    let mut found = false;
    index.each_var(&mut |v| found |= vars.contains(v));
    found
}

fn mentions(expr: &Expr, vars: &BTreeSet<&Var>) -> bool {
    match expr {
        Expr::Var(v) => vars.contains(&v.id),
        Expr::Index(nat, _) => has(nat, vars),
        Expr::Test(pred) => pred.any_var(&mut |v| vars.contains(v)),
        Expr::Load(access, _) => has(&access.index, vars),
        _ => false,
    }
}
