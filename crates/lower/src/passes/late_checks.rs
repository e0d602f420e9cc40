//! Checks that fail are told of behind the loop.
//!
//! Before: `for (k) { int j = cols[k]; if (!(j < n)) status[0] = 3; acc = acc + x[j < n ? j : 0]; }`
//! After: `int failed = 0; for (k) { …; failed = !(j < n) ? 3 : failed; … } if (0 < failed) status[0] = failed;`
//!
//! What a branch stores stands between the loads of one iteration and those of the next, so that a thread waits for each. Without one
//! the device's compiler has several under way. Only loops whose body is straight code but for its checks.

use lift_ir::{BinaryOp, Literal, Scalar};
use lift_kernel::{Access, BufferId, Expr, Kernel, LoopKind, Stmt, ValueType, Variable};

pub(crate) fn run(kernel: &mut Kernel, status: Option<BufferId>) {
    let Some(status) = status else { return };
    let body = std::mem::take(&mut kernel.body);
    kernel.body = block(kernel, status, body);
}

fn block(kernel: &Kernel, status: BufferId, stmts: Vec<Stmt>) -> Vec<Stmt> {
    let mut made = Vec::new();
    for mut stmt in stmts {
        for inner in stmt.blocks_mut() {
            *inner = block(kernel, status, std::mem::take(inner));
        }
        match told_of(&stmt, status) {
            Some(place) => {
                let failed =
                    Variable { id: kernel.ids.fresh("failed"), ty: ValueType::scalar(Scalar::I32) };
                let zero = Expr::Literal(Literal::Int(Scalar::I32, 0));
                made.push(Stmt::Declare { var: failed.clone(), value: Some(zero.clone()) });
                if let Stmt::Loop(l) = &mut stmt {
                    l.body.iter_mut().for_each(|s| keep(s, status, &failed));
                }
                made.push(stmt);
                let value = Expr::Var(failed);
                let condition = Expr::Binary(BinaryOp::Lt, Box::new(zero), Box::new(value.clone()));
                let then = vec![Stmt::Store { access: place, value }];
                made.push(Stmt::If { condition, then, otherwise: Vec::new() });
            }
            None => made.push(stmt),
        }
    }
    made
}

/// Where a loop tells of what fails in it, if it does nothing else that is no straight code.
fn told_of(stmt: &Stmt, status: BufferId) -> Option<Access> {
    let Stmt::Loop(l) = stmt else { return None };
    let is_short = l.extent.as_int().is_some_and(|n| n <= 1);
    if l.kind != LoopKind::Seq || is_short {
        return None;
    }
    let mut found = None;
    for stmt in &l.body {
        match (check(stmt, status), stmt) {
            (Some((access, _, _)), _) => found = Some(access.clone()),
            (
                None,
                Stmt::Comment(_) | Stmt::Declare { .. } | Stmt::Assign { .. } | Stmt::Index { .. },
            ) => {}
            (None, _) => return None,
        }
    }
    found
}

/// The place, the condition and the number of a check.
fn check(stmt: &Stmt, status: BufferId) -> Option<(&Access, &Expr, &Expr)> {
    let Stmt::If { condition, then, otherwise } = stmt else { return None };
    match (then.as_slice(), otherwise.is_empty()) {
        ([Stmt::Store { access, value: value @ Expr::Literal(_) }], true) => {
            (access.buffer == status).then_some((access, condition, value))
        }
        _ => None,
    }
}

/// A check leaves its number in a variable.
fn keep(stmt: &mut Stmt, status: BufferId, failed: &Variable) {
    if let Some((_, condition, number)) = check(stmt, status) {
        let value = Expr::Select(
            Box::new(condition.clone()),
            Box::new(number.clone()),
            Box::new(Expr::Var(failed.clone())),
        );
        *stmt = Stmt::Assign { var: failed.clone(), value };
    }
}
