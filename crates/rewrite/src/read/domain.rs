//! Domains of laws: sets of points over the law's sizes.

use lift_domain::{Constraint, Domain};
use lift_ir::{BinaryOp, Nat, Var};
use lift_syntax::ast::{self, ExprKind};

use super::Read;
use super::size::size_of;

/// `{ (i, j) | j <= i, i < n }`
pub(crate) fn domain_of(expr: &ast::Expr) -> Read<Domain> {
    let ExprKind::Set(set) = &expr.kind else {
        return Err("a domain of a law is written in place".to_string());
    };
    let names: Vec<Var> = set.points.indices.iter().map(|name| Var::named(&name.text)).collect();
    let value = |expr: &ast::Expr| -> Read<Nat> {
        let index = |v: &Var| names.iter().position(|name| name == v).map(Domain::index);
        Ok(size_of(expr)?.substitute(&index))
    };
    let mut constraints = Vec::new();
    for constraint in &set.constraints {
        let ExprKind::Binary(op, a, b) = &constraint.kind else {
            return Err("a constraint of a law compares two sizes".to_string());
        };
        let (a, b) = (value(a)?, value(b)?);
        constraints.push(match op {
            BinaryOp::Lt => Constraint::less(&a, &b),
            BinaryOp::Le => Constraint::at_most(&a, &b),
            _ => return Err(format!("`{}` is not used in domains of laws", op.symbol())),
        });
    }
    Ok(Domain::new(names.len(), constraints))
}
