//! Tiles without a point that stores anything.
//!
//! Before: `if (j <= i) r[…] = acc;` is the only store of a point (i, j).
//! After: `if (128 * group_j <= 128 * group_i + 127)` around all that a group does: the condition at whichever corner of the tile it is
//! easiest to meet. A group that does not meet it has nothing to do; all of its threads see that alike.

use lift_ir::{Facts, Nat, Pred, Var};
use lift_kernel::{Expr, Stmt};

use crate::nest::step;

/// What a tile must meet, if that is not always so: given a loop's variable, that of its groups, and the tile, for both dimensions,
/// and what other loops are.
pub(super) fn of_tile(
    body: &[Stmt],
    along: &[(&Var, &Var, i128)],
    others: &[(Var, Nat)],
    facts: &Facts,
) -> Option<Pred> {
    let mut met = Vec::new();
    for condition in conjuncts(only_condition(body)?) {
        let difference = match condition {
            Pred::Le(a, b) => b - a,
            Pred::Lt(a, b) => b - a - Nat::ONE,
            Pred::Eq(..) | Pred::Ne(..) | Pred::Divides { .. } | Pred::And(_) => continue,
        };
        if let Some(largest) = largest(&difference, along, facts) {
            let other = |v: &Var| others.iter().find(|(own, _)| own == v).map(|(_, n)| n.clone());
            let condition = Pred::Le(Nat::ZERO, facts.simplify(&largest.substitute(&other)));
            if !facts.proves(&condition) {
                met.push(condition);
            }
        }
    }
    match met.len() {
        0 => None,
        1 => met.pop(),
        _ => Some(Pred::And(met)),
    }
}

/// The largest value in a tile, where it grows or falls evenly along both dimensions.
fn largest(value: &Nat, along: &[(&Var, &Var, i128)], facts: &Facts) -> Option<Nat> {
    let mut corner = Vec::new();
    for (var, group, tile) in along {
        let grows = step(value, var, facts).as_int()? > 0;
        let within = if grows { tile - 1 } else { 0 };
        corner.push((*var, Nat::var(group) * Nat::int(*tile) + Nat::int(within)));
    }
    let place = |v: &Var| corner.iter().find(|(own, _)| *own == v).map(|(_, n)| n.clone());
    Some(value.substitute(&place))
}

/// The condition under which a point stores; nothing where it also stores elsewhere.
fn only_condition(body: &[Stmt]) -> Option<&Pred> {
    let stores = |stmt: &Stmt| {
        let mut found = false;
        stmt.each(&mut |s| found |= matches!(s, Stmt::Store { .. } | Stmt::Atomic { .. }));
        found
    };
    let mut found = body.iter().filter(|stmt| stores(stmt));
    let only = found.next().filter(|_| found.next().is_none())?;
    match only {
        Stmt::If { condition: Expr::Test(pred), otherwise, .. } if otherwise.is_empty() => {
            Some(pred)
        }
        _ => None,
    }
}

fn conjuncts(pred: &Pred) -> Vec<&Pred> {
    match pred {
        Pred::And(all) => all.iter().flat_map(conjuncts).collect(),
        other => vec![other],
    }
}
