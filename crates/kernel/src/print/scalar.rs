//! Functions and conversions of scalars, as C and CUDA C share them.

use lift_ir::{Math, Scalar};

use super::code::Code;
use super::defined;
use super::dialect::Dialect;
use super::text::Text;
use crate::{Expr, ValueType};

/// The function of a float type in C's library.
pub(super) fn library(math: Math, scalar: Scalar) -> String {
    let name = match math {
        Math::Abs => "fabs",
        Math::Round => "rint",
        // The others have C's names.
        _ => math.name(),
    };
    let suffix = if scalar == Scalar::F64 { "" } else { "f" };
    format!("{name}{suffix}")
}

/// What C's library has, and the rest as helpers.
pub(super) fn math<D: Dialect>(
    code: &mut Code<'_, D>,
    math: Math,
    scalar: Scalar,
    args: &[Expr],
) -> Text {
    match math {
        Math::Abs if scalar.is_integer() && !scalar.is_signed_integer() => code.expr(&args[0]),
        Math::Abs if scalar.is_integer() => defined_here(code, math, scalar, args),
        Math::Min | Math::Max | Math::Sign | Math::IsNan | Math::IsInf => {
            defined_here(code, math, scalar, args)
        }
        _ if scalar == Scalar::F16 => through(code, Scalar::F32, math, args),
        Math::Rsqrt => {
            let root = Expr::Math(Math::Sqrt, args.to_vec());
            let one = lift_ir::Literal::float(scalar, 1.0).unwrap_or(lift_ir::Literal::f32(1.0));
            let one = Box::new(Expr::Literal(one));
            code.expr(&Expr::Binary(lift_ir::BinaryOp::Div, one, Box::new(root)))
        }
        Math::Abs
        | Math::Floor
        | Math::Ceil
        | Math::Round
        | Math::Trunc
        | Math::Copysign
        | Math::Sqrt
        | Math::Cbrt
        | Math::Hypot
        | Math::Exp
        | Math::Exp2
        | Math::Expm1
        | Math::Log
        | Math::Log2
        | Math::Log10
        | Math::Log1p
        | Math::Sin
        | Math::Cos
        | Math::Tan
        | Math::Asin
        | Math::Acos
        | Math::Atan
        | Math::Atan2
        | Math::Sinh
        | Math::Cosh
        | Math::Tanh
        | Math::Asinh
        | Math::Acosh
        | Math::Atanh
        | Math::Erf
        | Math::Erfc
        | Math::Pow
        | Math::Fma => {
            code.headers.insert("math.h");
            let args = code.all(args);
            Text::call(&library(math, scalar), &args)
        }
        Math::Popcount | Math::Clz | Math::Ctz | Math::ToBits | Math::FromBits => {
            panic!("bits are printed by the language")
        }
        Math::Clamp | Math::Select | Math::Dot => panic!("printed before types are told apart"),
    }
}

fn defined_here<D: Dialect>(
    code: &mut Code<'_, D>,
    math: Math,
    scalar: Scalar,
    args: &[Expr],
) -> Text {
    match defined::call(code, math, ValueType::scalar(scalar), args) {
        Some(text) => text,
        None => panic!("a function that is not in C's library is defined"),
    }
}

/// The function of a wider type, rounded back where it gives a float.
pub(super) fn through<D: Dialect>(
    code: &mut Code<'_, D>,
    wider: Scalar,
    math: Math,
    args: &[Expr],
) -> Text {
    let wide = Expr::Math(math, args.iter().map(|a| cast(wider, a)).collect());
    match math.result(wider) == wider {
        true => code.expr(&cast(Scalar::F16, &wide)),
        false => code.expr(&wide),
    }
}

pub(super) fn remainder<D: Dialect>(
    code: &mut Code<'_, D>,
    scalar: Scalar,
    a: &Expr,
    b: &Expr,
) -> Text {
    if scalar == Scalar::F16 {
        let wide = |e| Box::new(cast(Scalar::F32, e));
        let rest = Expr::Binary(lift_ir::BinaryOp::Rem, wide(a), wide(b));
        return code.expr(&cast(Scalar::F16, &rest));
    }
    code.headers.insert("math.h");
    let args = [code.expr(a), code.expr(b)];
    Text::call(if scalar == Scalar::F64 { "fmod" } else { "fmodf" }, &args)
}

pub(super) fn cast(scalar: Scalar, value: &Expr) -> Expr {
    Expr::Cast(ValueType::scalar(scalar), Box::new(value.clone()))
}

/// Floats to integers truncate, saturate, and make 0 of nan; everything else is a cast.
pub(super) fn convert<D: Dialect>(
    code: &mut Code<'_, D>,
    from: Scalar,
    to: Scalar,
    value: &Expr,
) -> Text {
    if from.is_float() && to.is_integer() {
        if from == Scalar::F16 {
            return convert_through(code, Scalar::F32, to, value);
        }
        let function = saturating(code, from, to);
        let value = code.expr(value);
        return Text::call(&function, &[value]);
    }
    let text = code.expr(value);
    Text::cast(code.scalar(to), &text)
}

/// In two steps, of which the first is exact.
pub(super) fn convert_through<D: Dialect>(
    code: &mut Code<'_, D>,
    middle: Scalar,
    to: Scalar,
    value: &Expr,
) -> Text {
    code.expr(&cast(to, &cast(middle, value)))
}

fn saturating<D: Dialect>(code: &mut Code<'_, D>, from: Scalar, to: Scalar) -> String {
    let (source, target) = (code.scalar(from), code.scalar(to));
    let bits = 8 * to.bytes() as i32;
    let f = if from == Scalar::F32 { "f" } else { "" };
    let (low, high) = to.integer_range().unwrap_or((0, 0));
    let mut constant = |v| code.expr(&Expr::Literal(lift_ir::Literal::Int(to, v))).text;
    let (low, high) = (constant(low), constant(high));
    // Both bounds are powers of two, so they are exact: low as it is, high one too large.
    let (above, below) = if to.is_signed_integer() {
        (power(bits - 1), format!("x < -{}{f} ? {low} : ", power(bits - 1)))
    } else {
        (power(bits), format!("x < 0.0{f} ? {low} : "))
    };
    let function = format!("lift_{from}_to_{to}");
    code.helper(format!(
        "{}{target} {function}({source} x) {{\n  if (x != x) return 0;\n  return {below}x >= {above}{f} ? {high} : ({target})x;\n}}",
        D::FUNCTION
    ));
    function
}

fn power(bits: i32) -> String {
    format!("{:?}", f64::powi(2.0, bits))
}
