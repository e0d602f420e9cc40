//! Variables that nothing reads are not declared.
//!
//! Before: `float x = a[i];` with no use of `x`.
//! After: nothing. Values have no effects, so dropping one changes nothing.

use std::collections::BTreeSet;

use lift_kernel::{Expr, Kernel, Stmt};

pub(crate) fn remove(kernel: &mut Kernel) {
    loop {
        let mut read = BTreeSet::new();
        variables_read(&kernel.body, &mut read);
        let before = count(&kernel.body);
        let body = std::mem::take(&mut kernel.body);
        kernel.body = without_dead(body, &read);
        if count(&kernel.body) == before {
            return;
        }
    }
}

fn count(block: &[Stmt]) -> usize {
    let inner = |stmt: &Stmt| match stmt {
        Stmt::Loop(l) => count(&l.body),
        Stmt::If { then, otherwise, .. } => count(then) + count(otherwise),
        Stmt::Comment(_)
        | Stmt::Declare { .. }
        | Stmt::Assign { .. }
        | Stmt::Index { .. }
        | Stmt::Store { .. }
        | Stmt::Barrier(_) => 0,
    };
    block.iter().map(|s| 1 + inner(s)).sum()
}

fn without_dead(block: Vec<Stmt>, read: &BTreeSet<String>) -> Vec<Stmt> {
    let mut kept = Vec::new();
    for stmt in block {
        match stmt {
            Stmt::Declare { ref var, .. } | Stmt::Assign { ref var, .. } => {
                if read.contains(&var.name) {
                    kept.push(stmt);
                }
            }
            Stmt::Index { ref var, .. } => {
                if read.contains(&var.to_string()) {
                    kept.push(stmt);
                }
            }
            Stmt::Loop(mut l) => {
                l.body = without_dead(l.body, read);
                if !l.body.is_empty() {
                    kept.push(Stmt::Loop(l));
                }
            }
            Stmt::If { condition, then, otherwise } => {
                let (then, otherwise) = (without_dead(then, read), without_dead(otherwise, read));
                if !then.is_empty() || !otherwise.is_empty() {
                    kept.push(Stmt::If { condition, then, otherwise });
                }
            }
            Stmt::Comment(_) | Stmt::Store { .. } | Stmt::Barrier(_) => kept.push(stmt),
        }
    }
    kept
}

fn variables_read(block: &[Stmt], read: &mut BTreeSet<String>) {
    for stmt in block {
        match stmt {
            Stmt::Comment(_) | Stmt::Barrier(_) => {}
            Stmt::Declare { value, .. } => value.iter().for_each(|v| in_expr(v, read)),
            // An accumulator that is only updated from itself still counts as read.
            Stmt::Assign { value, .. } | Stmt::Index { value, .. } => in_expr(value, read),
            Stmt::Store { access, value } => {
                in_size(&access.index, read);
                access.items.iter().for_each(|n| in_size(n, read));
                in_expr(value, read);
            }
            Stmt::Loop(l) => {
                in_size(&l.extent, read);
                variables_read(&l.body, read);
            }
            Stmt::If { condition, then, otherwise } => {
                in_expr(condition, read);
                variables_read(then, read);
                variables_read(otherwise, read);
            }
        }
    }
}

fn in_size(size: &lift_ir::Nat, read: &mut BTreeSet<String>) {
    read.extend(size.vars().iter().map(|v| v.to_string()));
}

fn in_expr(expr: &Expr, read: &mut BTreeSet<String>) {
    match expr {
        Expr::Literal(_) => {}
        Expr::Var(var) => {
            read.insert(var.name.clone());
        }
        Expr::Index(size, _) => in_size(size, read),
        Expr::Test(pred) => read.extend(pred.vars().iter().map(|v| v.to_string())),
        Expr::Load(access, _) => {
            in_size(&access.index, read);
            access.items.iter().for_each(|n| in_size(n, read));
        }
        Expr::Unary(_, a) | Expr::Cast(_, a) | Expr::Splat(_, a) | Expr::Lane(a, _) => {
            in_expr(a, read)
        }
        Expr::Binary(_, a, b) => {
            in_expr(a, read);
            in_expr(b, read);
        }
        Expr::Select(a, b, c) => [a, b, c].into_iter().for_each(|e| in_expr(e, read)),
        Expr::Math(_, args) | Expr::Vector(_, args) | Expr::Extern(_, args) => {
            args.iter().for_each(|e| in_expr(e, read));
        }
    }
}
