//! What may fail, and what is certainly evaluated.
//!
//! A rule never makes a program fail that has a value. Nor does it take a failure away from a scalar: what `let` names
//! and what a function is given is evaluated, used or not. Elements of arrays that nothing reads are not.

use lift_ir::{BinaryOp, Call, Context, Expr, Kind, Literal, Nat, Param, Pred, Prim};

/// Whether a scalar, vector or tuple of them may have no value: it holds a divisor that may be zero, or an index that
/// may be out of range.
pub fn may_fail(cx: &Context, expr: &Expr) -> bool {
    expr.ty().is_register() && expr.places().iter().any(|(_, part)| fails(cx, part))
}

fn fails(cx: &Context, expr: &Expr) -> bool {
    let Some(Call { prim, args, .. }) = expr.as_call() else { return false };
    match (prim, args.as_slice()) {
        (Prim::Binary(BinaryOp::Div | BinaryOp::Rem), [_, divisor]) => {
            let integer = divisor.ty().element_scalar().is_some_and(|s| s.is_integer());
            let nonzero = |n| cx.proves(&Pred::Ne(n, Nat::ZERO));
            integer && !as_size(divisor).is_some_and(nonzero)
        }
        (Prim::At, [index, array]) => {
            let (Some(index), Some((_, length))) = (as_size(index), array.ty().as_array()) else {
                return true;
            };
            let low = Pred::Le(Nat::ZERO, index.clone());
            !cx.proves(&Pred::And(vec![low, Pred::Lt(index, length.clone())]))
        }
        // A point may be outside, a number beyond the last one, and a range may decrease.
        (Prim::Rank(_) | Prim::Point(_) | Prim::ReduceRange(_), _) => true,
        _ => false,
    }
}

fn as_size(expr: &Expr) -> Option<Nat> {
    match expr.kind() {
        Kind::Size(size, _) => Some(size.clone()),
        Kind::Literal(Literal::Int(_, value)) => Some(Nat::int(*value)),
        _ => None,
    }
}

/// Whether whoever evaluates an expression evaluates a variable, whatever else has which value.
pub fn evaluates(expr: &Expr, param: &Param) -> bool {
    match expr.kind() {
        Kind::Var(var) => var == param,
        Kind::Literal(_) | Kind::Size(..) => false,
        Kind::Let { value, body, .. } => evaluates(value, param) || evaluates(body, param),
        Kind::Call(call) => {
            let certain = if is_lazy(&call.prim) { 1 } else { call.args.len() };
            call.args.iter().take(certain).any(|arg| evaluates(arg, param))
        }
    }
}

/// Whether a pattern evaluates its first argument only, and others as that says.
pub fn is_lazy(prim: &Prim) -> bool {
    matches!(prim, Prim::If | Prim::Binary(BinaryOp::And | BinaryOp::Or))
}
