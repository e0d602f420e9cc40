//! What is changed as one step, as an expression.

use lift_ir::{AtomicOp, BinaryOp, Math};

use crate::Expr;

/// The value of an element afterwards.
pub(crate) fn applied(op: AtomicOp, element: Expr, value: Expr) -> Expr {
    let binary = |op, a: Expr, b: Expr| Expr::Binary(op, Box::new(a), Box::new(b));
    match op {
        AtomicOp::Add => binary(BinaryOp::Add, element, value),
        AtomicOp::Min => Expr::Math(Math::Min, vec![element, value]),
        AtomicOp::Max => Expr::Math(Math::Max, vec![element, value]),
        AtomicOp::And => binary(BinaryOp::BitAnd, element, value),
        AtomicOp::Or => binary(BinaryOp::BitOr, element, value),
        AtomicOp::Xor => binary(BinaryOp::BitXor, element, value),
    }
}
