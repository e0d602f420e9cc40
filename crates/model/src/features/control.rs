//! What decides how often the parts of a block are executed.

use std::collections::BTreeSet;

use lift_ir::Var;
use lift_kernel::{Expr, LoopKind, Stmt};

/// Whether loops or branches inside depend on a variable, also through values computed from it.
pub(super) fn decides(block: &[Stmt], var: &Var) -> bool {
    let mut names = vec![var.clone()];
    let mut found = false;
    for stmt in block {
        stmt.each(&mut |s| {
            if found {
                return;
            }
            match s {
                Stmt::Index { var, value } => {
                    if mentions(value, &names, false) {
                        names.push(var.clone());
                    }
                }
                Stmt::Loop(l) => found |= names.iter().any(|v| l.extent.mentions(v)),
                Stmt::If { condition, .. } | Stmt::Stop(condition) => {
                    found |= mentions(condition, &names, false);
                }
                Stmt::Comment(_)
                | Stmt::Declare { .. }
                | Stmt::Assign { .. }
                | Stmt::ThreadId { .. }
                | Stmt::Store { .. }
                | Stmt::Atomic { .. }
                | Stmt::Barrier(_) => {}
            }
            found |= s.values().any(|value| mentions(value, &names, true));
        });
    }
    found
}

/// Whether the indices in an expression mention one of these, or only those that choose between its parts.
fn mentions(expr: &Expr, names: &[Var], choices: bool) -> bool {
    let mut found = false;
    expr.each(&mut |e| match e {
        Expr::Index(nat, _) if !choices => found |= names.iter().any(|v| nat.mentions(v)),
        Expr::Test(pred) if !choices => found |= names.iter().any(|v| pred.mentions(v)),
        Expr::Select(condition, ..) if choices && !found => {
            found |= mentions(condition, names, false);
        }
        _ => {}
    });
    found
}

/// Whether a block has a loop that stays one.
pub(super) fn holds_loop(block: &[Stmt]) -> bool {
    block.iter().any(|stmt| match stmt {
        Stmt::Loop(l)
            if l.kind == LoopKind::Unroll || (l.extent.as_int() == Some(1) && !l.stops()) =>
        {
            holds_loop(&l.body)
        }
        Stmt::Loop(_) => true,
        Stmt::If { then, otherwise, .. } => holds_loop(then) || holds_loop(otherwise),
        Stmt::Comment(_)
        | Stmt::Declare { .. }
        | Stmt::Assign { .. }
        | Stmt::Index { .. }
        | Stmt::ThreadId { .. }
        | Stmt::Store { .. }
        | Stmt::Atomic { .. }
        | Stmt::Stop(_)
        | Stmt::Barrier(_) => false,
    })
}

/// Whether a block changes a variable of one number that is declared outside of it.
pub(super) fn changes_a_number(block: &[Stmt]) -> bool {
    let (mut own, mut found) = (BTreeSet::new(), false);
    for stmt in block {
        stmt.each(&mut |s| match s {
            Stmt::Declare { var, .. } => {
                own.insert(&var.id);
            }
            Stmt::Assign { var, .. } => found |= var.ty.width == 1 && !own.contains(&var.id),
            _ => {}
        });
    }
    found
}
