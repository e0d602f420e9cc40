//! How many registers a work-item needs, as far as its kernel shows.

use std::collections::BTreeMap;

use lift_ir::Var;
use lift_kernel::{Expr, Stmt};

/// The most registers of four bytes that variables take at once: each from where it is declared to where it is used last.
pub(super) fn live(block: &[Stmt]) -> f64 {
    let mut last: BTreeMap<&Var, usize> = BTreeMap::new();
    for (k, stmt) in block.iter().enumerate() {
        mentioned(stmt, &mut |var| {
            last.insert(var, k);
        });
    }
    let (mut now, mut most) = (0.0, 0.0_f64);
    let mut ends: BTreeMap<usize, f64> = BTreeMap::new();
    for (k, stmt) in block.iter().enumerate() {
        let (own, inside) = match stmt {
            Stmt::Declare { var, .. } => {
                let registers = var.ty.scalar.bytes() as f64 * f64::from(var.ty.width) / 4.0;
                (Some((&var.id, registers)), 0.0)
            }
            Stmt::Index { var, .. } | Stmt::Place { var, .. } => (Some((var, 1.0)), 0.0),
            other => (None, other.blocks().iter().map(|b| live(b)).fold(0.0, f64::max)),
        };
        if let Some((var, registers)) = own {
            now += registers;
            *ends.entry(last.get(var).copied().unwrap_or(k)).or_default() += registers;
        }
        most = most.max(now + inside);
        now -= ends.remove(&k).unwrap_or(0.0);
    }
    most
}

/// Calls `f` with every variable that a statement, or one inside it, uses.
fn mentioned<'s>(stmt: &'s Stmt, f: &mut dyn FnMut(&'s Var)) {
    stmt.each(&mut |stmt| {
        for value in stmt.values() {
            value.each(&mut |e| {
                if let Expr::Var(v) = e {
                    f(&v.id);
                }
            });
        }
        if let Stmt::Assign { var, .. } = stmt {
            f(&var.id);
        }
    });
}
