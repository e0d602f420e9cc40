//! Arithmetic on sizes is itself a size.
//!
//! `N * 2` as a value is the size `2 * N`, not a product of two values, so that indices stay
//! symbolic and equal sizes look equal. Arithmetic on integer constants is a constant. What
//! overflows or may divide by zero stays arithmetic on values.

use lift_nat::{Nat, Pred};

use crate::{BinaryOp, Call, Context, Expr, Kind, Literal, Math, Prim, Scalar};

/// The size that a call of sizes and integer constants computes, with its scalar type.
pub(crate) fn fold(cx: &Context, call: &Call) -> Option<(Nat, Scalar)> {
    let [left, right] = call.args.as_slice() else { return None };
    let ((a, s), (b, t)) = (as_size(left)?, as_size(right)?);
    if s != t {
        return None;
    }
    let symbolic = [left, right].iter().any(|e| matches!(e.kind(), Kind::Size(..)));
    let size = match &call.prim {
        Prim::Binary(BinaryOp::Add) => a + b,
        Prim::Binary(BinaryOp::Sub) => a - b,
        Prim::Binary(BinaryOp::Mul) => a * b,
        Prim::Binary(BinaryOp::Div | BinaryOp::Rem)
            if !cx.proves(&Pred::Ne(b.clone(), Nat::ZERO)) =>
        {
            return None;
        }
        Prim::Binary(BinaryOp::Div) => a.div(&b),
        Prim::Binary(BinaryOp::Rem) => a.rem(&b),
        // The lowest bits of a number that is not negative.
        Prim::Binary(BinaryOp::BitAnd) => {
            let (number, count) = lowest_bits(&a, &b)?;
            if !cx.proves(&Pred::Le(Nat::ZERO, number.clone())) {
                return None;
            }
            number.rem(&count)
        }
        Prim::Math(Math::Min) => Nat::min(&a, &b),
        Prim::Math(Math::Max) => Nat::max(&a, &b),
        _ => return None,
    };
    let whole = symbolic || size.as_int().is_some();
    (whole && fits(&size, s)).then_some((size, s))
}

/// Where one of two operands of `&` is a mask of the lowest bits: the other one, and how many numbers these bits have. Of what is
/// not negative, such bits are the remainder by that.
pub fn lowest_bits(a: &Nat, b: &Nat) -> Option<(Nat, Nat)> {
    let count = |mask: &Nat| mask.as_int()?.checked_add(1).filter(|n| n.count_ones() == 1);
    let masked = |number: &Nat, mask: &Nat| Some((number.clone(), Nat::int(count(mask)?)));
    masked(a, b).or_else(|| masked(b, a))
}

/// Whether every number in a size is a value of the type; where one is not, the arithmetic wraps and
/// is left to values.
pub fn fits(size: &Nat, scalar: Scalar) -> bool {
    let (low, _) = scalar.integer_range().unwrap_or((0, 0));
    match size.as_int() {
        Some(value) => Literal::int(scalar, value).is_some(),
        None => size.largest_constant() <= low.unsigned_abs(),
    }
}

fn as_size(expr: &Expr) -> Option<(Nat, Scalar)> {
    match expr.kind() {
        Kind::Size(size, scalar) => Some((size.clone(), *scalar)),
        Kind::Literal(Literal::Int(scalar, value)) => Some((Nat::int(*value), *scalar)),
        _ => None,
    }
}
