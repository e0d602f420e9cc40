//! Sizes of a law.

use lift_ir::{BinaryOp, Nat};
use lift_syntax::ast::{self, ExprKind};

use super::Read;
use crate::law::length_of;

/// A size of a law; every name in it is a size variable.
pub(crate) fn size_of(expr: &ast::Expr) -> Read<Nat> {
    match &expr.kind {
        ExprKind::Paren(inner) => size_of(inner),
        ExprKind::Int(value, None) => Ok(Nat::int(i128::from(*value))),
        ExprKind::Name(name) => Ok(Nat::var(&lift_ir::Var::named(name))),
        ExprKind::Binary(op, a, b) => {
            let (a, b) = (size_of(a)?, size_of(b)?);
            match op {
                BinaryOp::Add => Ok(a + b),
                BinaryOp::Sub => Ok(a - b),
                BinaryOp::Mul => Ok(a * b),
                BinaryOp::Div => Ok(a.div(&b)),
                BinaryOp::Rem => Ok(a.rem(&b)),
                _ => Err(format!("`{}` is no operator of sizes", op.symbol())),
            }
        }
        ExprKind::Call(head, args) => match (&head.kind, args.as_slice()) {
            (ExprKind::Name(name), [a, b]) => {
                let (a, b) = (size_of(a)?, size_of(b)?);
                match name.as_str() {
                    "min" => Ok(Nat::min(&a, &b)),
                    "max" => Ok(Nat::max(&a, &b)),
                    "ceil_div" => Ok(a.ceil_div(&b)),
                    _ => Err(format!("`{name}` is no function of sizes")),
                }
            }
            (ExprKind::Name(name), [xs]) if name == "len" => match &xs.kind {
                ExprKind::Name(xs) => Ok(Nat::var(&length_of(xs))),
                _ => Err("`len` takes a name in laws".to_string()),
            },
            _ => Err("this form is no size".to_string()),
        },
        _ => Err("this form is no size".to_string()),
    }
}
