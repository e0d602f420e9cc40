//! Vectors in OpenCL C, which has operators and functions on them.

use lift_ir::{BinaryOp, Literal, Math, Scalar, UnaryOp};

use super::OpenCl;
use crate::print::code::Code;
use crate::print::defined;
use crate::print::dialect::Dialect;
use crate::print::expr::{level, shift_amount, variable};
use crate::print::text::{Level, Text};
use crate::{Expr, ValueType};

/// An operation on lanes: unary, binary, mathematical or a cast.
pub(super) fn operation(code: &mut Code<'_, OpenCl>, expr: &Expr) -> Text {
    let ty = expr.ty();
    match expr {
        Expr::Unary(UnaryOp::Neg, a) => {
            let a = modular(code, a, ty.width);
            from_modular(code, ty, Text::prefix("-", &a))
        }
        Expr::Unary(UnaryOp::Not, a) => {
            let a = code.expr(a);
            Text::infix(Level::Bits, &a, "^", &Text::new(Level::Unary, "(uchar)1"))
        }
        Expr::Unary(UnaryOp::BitNot, a) => Text::prefix("~", &code.expr(a)),
        Expr::Binary(op, a, b) => binary(code, expr, *op, a, b),
        Expr::Math(math, args) => {
            let scalar = args.last().map_or(ty.scalar, |a| a.ty().scalar);
            function(code, *math, ValueType { scalar, ..ty }, args)
        }
        Expr::Cast(to, a) => cast(code, *to, a),
        Expr::Literal(_)
        | Expr::Var(_)
        | Expr::Index(..)
        | Expr::Test(_)
        | Expr::Load(..)
        | Expr::Select(..)
        | Expr::Vector(..)
        | Expr::Splat(..)
        | Expr::Lane(..)
        | Expr::Extern(..)
        | Expr::Shuffle(..) => panic!("only operations are done lane by lane"),
    }
}

/// Signed lanes as unsigned ones, which wrap; others as they are.
fn modular(code: &mut Code<'_, OpenCl>, expr: &Expr, width: u32) -> Text {
    let ty = expr.ty();
    let Some(unsigned) = unsigned(ty.scalar) else { return code.expr(expr) };
    let text = code.widened(expr, width);
    Text::call(&format!("as_{}{width}", code.scalar(unsigned)), &[text])
}

fn from_modular(code: &mut Code<'_, OpenCl>, ty: ValueType, text: Text) -> Text {
    match unsigned(ty.scalar) {
        None => text,
        Some(_) => Text::call(&format!("as_{}", code.ty(ty)), &[text]),
    }
}

/// The unsigned type of the bits of a signed one.
fn unsigned(scalar: Scalar) -> Option<Scalar> {
    scalar.unsigned().filter(|_| scalar.is_signed_integer())
}

fn binary(code: &mut Code<'_, OpenCl>, expr: &Expr, op: BinaryOp, a: &Expr, b: &Expr) -> Text {
    let ty = expr.ty();
    match op {
        BinaryOp::Or | BinaryOp::And => {
            let symbol = if op == BinaryOp::Or { "|" } else { "&" };
            let (a, b) = (code.widened(a, ty.width), code.widened(b, ty.width));
            Text::infix(Level::Bits, &a, symbol, &b)
        }
        BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => {
            // True is -1 in lanes as large as those compared.
            let text = comparison(code, op, a, b, ty.width);
            Text::primary(format!("convert_uchar{}(-({}))", ty.width, text.text))
        }
        BinaryOp::BitOr | BinaryOp::BitXor | BinaryOp::BitAnd => {
            let (a, b) = (code.widened(a, ty.width), code.widened(b, ty.width));
            Text::infix(level(op), &a, op.symbol(), &b)
        }
        BinaryOp::Shl | BinaryOp::Shr => {
            let b = shift_amount(b);
            let (a, b) = (code.widened(a, ty.width), code.widened(&b, ty.width));
            Text::infix(level(op), &a, op.symbol(), &b)
        }
        BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul => {
            let (a, b) = (modular(code, a, ty.width), modular(code, b, ty.width));
            from_modular(code, ty, Text::infix(level(op), &a, op.symbol(), &b))
        }
        BinaryOp::Rem if ty.scalar.is_float() => {
            let args = [code.widened(a, ty.width), code.widened(b, ty.width)];
            Text::call("fmod", &args)
        }
        BinaryOp::Div | BinaryOp::Rem if ty.scalar.is_signed_integer() => {
            quotient(code, ty, op, a, b)
        }
        BinaryOp::Div | BinaryOp::Rem => code.infix(op, a, b),
    }
}

fn comparison(code: &mut Code<'_, OpenCl>, op: BinaryOp, a: &Expr, b: &Expr, width: u32) -> Text {
    let (a, b) = (code.widened(a, width), code.widened(b, width));
    Text::infix(Level::Comparison, &a, op.symbol(), &b)
}

/// Signed quotients lane by lane: one of them has no room.
fn quotient(code: &mut Code<'_, OpenCl>, ty: ValueType, op: BinaryOp, a: &Expr, b: &Expr) -> Text {
    let lane = |name, lane| {
        let vector = OpenCl::lane(&Text::primary(name), lane).text;
        Box::new(variable(&vector, ty.scalar))
    };
    let lanes =
        (0..ty.width).map(|i| Expr::Binary(op, lane("a", i), lane("b", i))).collect::<Vec<_>>();
    let body = code.expr(&Expr::Vector(ty.scalar, lanes)).text;
    let vector = code.ty(ty);
    let name = if op == BinaryOp::Div { "div" } else { "rem" };
    let function = format!("lift_{name}_{}x{}", ty.scalar, ty.width);
    code.helper(format!("{vector} {function}({vector} a, {vector} b) {{\n  return {body};\n}}"));
    let args = [code.widened(a, ty.width), code.widened(b, ty.width)];
    Text::call(&function, &args)
}

/// A built-in function, on scalars or on vectors of this type.
pub(super) fn function(
    code: &mut Code<'_, OpenCl>,
    math: Math,
    ty: ValueType,
    args: &[Expr],
) -> Text {
    if let (Math::Select, [c, a, b]) = (math, args) {
        let (a, b) = (code.widened(a, ty.width), code.widened(b, ty.width));
        let mask = mask(code, c, ty);
        return Text::call("select", &[b, a, mask]);
    }
    let float = ty.scalar.is_float();
    if ty.scalar == Scalar::F16 && math.is_approximate() {
        return through_float(code, math, args);
    }
    if (float || matches!(math, Math::Sign | Math::Ctz | Math::Abs))
        && let Some(text) = defined::call(code, math, ty, args)
    {
        return text;
    }
    let args: Vec<Text> = args.iter().map(|a| code.widened(&typed(a), ty.width)).collect();
    let name = match math {
        Math::Abs if float => "fabs",
        // Of numbers that have no sign.
        Math::Abs => return args[0].clone(),
        Math::ToBits | Math::FromBits => {
            let to = code.ty(ValueType { scalar: math.result(ty.scalar), ..ty });
            return Text::call(&format!("as_{to}"), &args);
        }
        Math::Round => "rint",
        Math::Clamp | Math::Select | Math::Dot => panic!("printed before types are told apart"),
        // The others have OpenCL's names.
        _ => math.name(),
    };
    Text::call(name, &args)
}

/// A number that is an index, as a literal: OpenCL's functions have to be told which of them is meant.
fn typed(arg: &Expr) -> Expr {
    match arg {
        Expr::Index(nat, scalar) => match nat.as_int() {
            Some(value) => Expr::Literal(Literal::Int(*scalar, value)),
            None => arg.clone(),
        },
        other => other.clone(),
    }
}

/// The function of `float`, rounded back.
fn through_float(code: &mut Code<'_, OpenCl>, math: Math, args: &[Expr]) -> Text {
    let cast = |scalar, value: &Expr| {
        let ty = ValueType { scalar, width: value.ty().width };
        Expr::Cast(ty, Box::new(value.clone()))
    };
    let wide = Expr::Math(math, args.iter().map(|a| cast(Scalar::F32, a)).collect());
    code.expr(&cast(Scalar::F16, &wide))
}

/// A condition in lanes as large as those it chooses, with the highest bit set for true.
fn mask(code: &mut Code<'_, OpenCl>, condition: &Expr, ty: ValueType) -> Text {
    if let Expr::Binary(op, a, b) = condition
        && op.is_comparison()
        && a.ty().scalar != Scalar::Bool
        && a.ty().scalar.bytes() == ty.scalar.bytes()
    {
        return comparison(code, *op, a, b, ty.width);
    }
    let lanes = match ty.scalar.bytes() {
        1 => Scalar::I8,
        2 => Scalar::I16,
        4 => Scalar::I32,
        _ => Scalar::I64,
    };
    let lanes = code.ty(ValueType::vector(lanes, ty.width));
    let condition = code.widened(condition, ty.width).text;
    Text::new(Level::Unary, format!("-convert_{lanes}({condition})"))
}

fn cast(code: &mut Code<'_, OpenCl>, to: ValueType, value: &Expr) -> Text {
    let from = value.ty();
    if to.scalar == Scalar::Bool {
        let zero = match Literal::float(from.scalar, 0.0) {
            Some(zero) => zero,
            None => Literal::Int(from.scalar, 0),
        };
        let text = comparison(code, BinaryOp::Ne, value, &Expr::Literal(zero), to.width);
        return Text::primary(format!("convert_uchar{}(-({}))", to.width, text.text));
    }
    let saturates = from.scalar.is_float() && to.scalar.is_integer();
    let mode = if saturates { "_sat_rtz" } else { "" };
    let text = code.expr(value);
    Text::call(&format!("convert_{}{mode}", code.ty(to)), &[text])
}
