//! What an expression asks the pipes of a machine for, by name: `f32.add`, `i32.rem`, `f32.exp`.

use std::collections::BTreeMap;

use lift_ir::{BinaryOp, Literal, Math, Scalar, UnaryOp};
use lift_kernel::Expr;

/// How often each operation is done.
pub type Operations = BTreeMap<String, f64>;

/// The operation of an expression without those inside it; nothing where it costs nothing.
pub fn of(expr: &Expr) -> Option<(String, f64)> {
    let lanes = f64::from(expr.ty().width);
    let named = |scalar: Scalar, kind: &str| Some((format!("{}.{kind}", class(scalar)), lanes));
    match expr {
        Expr::Unary(UnaryOp::Neg, a) if a.ty().scalar.is_float() => None,
        Expr::Unary(_, a) => named(a.ty().scalar, "add"),
        Expr::Binary(op, a, b) => {
            let scalar = a.ty().scalar;
            let kind = match op {
                BinaryOp::Add | BinaryOp::Sub if fuses(a) || fuses(b) => "fma",
                BinaryOp::Mul => "mul",
                BinaryOp::Div => "div",
                BinaryOp::Rem => "rem",
                _ => "add",
            };
            match (kind, constant(b)) {
                // What a compiler makes of a constant.
                ("div", _) if scalar.is_float() && is_power_of_two(b) => named(scalar, "mul"),
                ("div" | "rem", Some(n)) if !scalar.is_float() && n.is_power_of_two() => {
                    named(scalar, "add")
                }
                ("div" | "rem", Some(_)) if !scalar.is_float() => named(scalar, "divc"),
                ("mul", Some(n)) if !scalar.is_float() && n.is_power_of_two() => {
                    named(scalar, "add")
                }
                _ => named(scalar, kind),
            }
        }
        Expr::Math(math, args) => {
            let scalar = args.last().map_or(Scalar::F32, |a| a.ty().scalar);
            match math {
                Math::Fma => named(scalar, "fma"),
                Math::Min | Math::Max | Math::Abs => named(scalar, "add"),
                Math::Clamp => Some((format!("{}.add", class(scalar)), 2.0 * lanes)),
                Math::Select => named(scalar, "add"),
                // Of a float too: comparisons and a choice.
                Math::Sign => Some((format!("{}.add", class(scalar)), 3.0 * lanes)),
                // An instruction that units take a quarter as often as an addition, and conversions around it.
                Math::Popcount | Math::Clz | Math::Ctz => {
                    Some((format!("{}.add", class(scalar)), 4.0 * lanes))
                }
                // The same bits under another name.
                Math::ToBits | Math::FromBits => None,
                Math::Dot => {
                    let wide = f64::from(args.first().map_or(1, |a| a.ty().width));
                    Some((format!("{}.fma", class(scalar)), wide))
                }
                other => named(scalar, other.name()),
            }
        }
        Expr::Cast(to, from) => {
            let (to, from) = (to.scalar, from.ty().scalar);
            let named = |kind: &str| Some((format!("convert.{kind}"), lanes));
            match (to.is_float(), from.is_float()) {
                (true, _) => named("float"),
                (false, true) => named("integer"),
                (false, false) => None,
            }
        }
        Expr::Select(..) => named(expr.ty().scalar, "add"),
        Expr::Extern(..) => Some(("extern".to_string(), lanes)),
        // Issued word by word; what it asks of local memory is counted there.
        Expr::Shuffle(_, a) => Some(("i32.add".to_string(), words(a.ty().scalar))),
        Expr::Literal(_)
        | Expr::Var(_)
        | Expr::Index(..)
        | Expr::Test(_)
        | Expr::Load(..)
        | Expr::Vector(..)
        | Expr::Splat(..)
        | Expr::Lane(..) => None,
    }
}

/// Operations that go another way for rare values where they are exact.
pub const BRANCHING: [&str; 4] = ["f32.div", "f32.sqrt", "f64.div", "f64.sqrt"];

/// Whether an expression is such an operation.
pub fn branches(expr: &Expr) -> bool {
    of(expr).is_some_and(|(name, _)| BRANCHING.contains(&name.as_str()))
}

/// A product that an addition takes along: compilers contract the two.
pub fn fuses(expr: &Expr) -> bool {
    matches!(expr, Expr::Binary(BinaryOp::Mul, a, _) if a.ty().scalar.is_float())
}

/// How long the next operation waits for what lanes give each other, as often as for a sum.
pub const SHUFFLE: &str = "shuffle";

/// The registers of a scalar.
pub fn words(scalar: Scalar) -> f64 {
    scalar.bytes().div_ceil(4) as f64
}

/// Types that are computed with alike.
fn class(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::F64 => "f64",
        Scalar::F32 => "f32",
        Scalar::F16 => "f16",
        Scalar::I64 | Scalar::U64 => "i64",
        Scalar::Bool
        | Scalar::I8
        | Scalar::I16
        | Scalar::I32
        | Scalar::U8
        | Scalar::U16
        | Scalar::U32 => "i32",
    }
}

/// Whether a float is a power of two: what it divides is multiplied, exactly.
fn is_power_of_two(expr: &Expr) -> bool {
    const FRACTION: u64 = (1 << 52) - 1;
    let value = if let Expr::Literal(literal) = expr { literal.as_f64() } else { None };
    value.is_some_and(|value| value.is_normal() && value.to_bits() & FRACTION == 0)
}

fn constant(expr: &Expr) -> Option<u64> {
    match expr {
        Expr::Literal(Literal::Int(_, value)) => u64::try_from(*value).ok(),
        Expr::Index(nat, _) => nat.as_int().and_then(|n| u64::try_from(n).ok()),
        Expr::Cast(_, inside) => constant(inside),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_divided_by_a_power_of_two_is_multiplied() {
        let number = |value: f32| Box::new(Expr::Literal(Literal::f32(value)));
        let by = |divisor: f32| of(&Expr::Binary(BinaryOp::Div, number(3.0), number(divisor)));
        for divisor in [4096.0, 0.5, -2.0, 1.0] {
            assert_eq!(by(divisor), Some(("f32.mul".to_string(), 1.0)), "{divisor}");
        }
        for divisor in [10.0, 0.0, 1e-40, f32::INFINITY] {
            assert_eq!(by(divisor), Some(("f32.div".to_string(), 1.0)), "{divisor}");
        }
    }
}
