//! Operations on vectors lane by lane, where the language has none on whole vectors.

use super::code::Code;
use super::dialect::Dialect;
use super::expr::variable;
use super::text::{Level, Text};
use crate::{Expr, ValueType};

const PARAMETERS: [&str; 3] = ["a", "b", "c"];

/// A call of a helper function that does the scalar operation on every lane.
pub(super) fn by_lanes<D: Dialect>(code: &mut Code<'_, D>, expr: &Expr) -> Text {
    let (name, args) = parts(expr);
    let width = expr.ty().width;
    let operand = args.last().map_or(expr.ty(), |a| a.ty());
    let suffix = if let Expr::Cast(ty, _) = expr {
        format!("{}x{width}_to_{}x{width}", operand.scalar, ty.scalar)
    } else {
        format!("{name}_{}x{width}", operand.scalar)
    };
    let function = format!("lift_{suffix}");
    define(code, &function, expr, &args);
    let args: Vec<Text> = args.iter().map(|a| code.widened(a, width)).collect();
    Text::call(&function, &args)
}

/// The same with an operator to call it by, in a language where operators can be defined.
pub(super) fn by_operator<D: Dialect>(code: &mut Code<'_, D>, expr: &Expr) -> Text {
    let width = expr.ty().width;
    match expr {
        Expr::Unary(op, a) => {
            define(code, &format!("operator{}", op.symbol()), expr, &[a]);
            let a = code.widened(a, width);
            Text::prefix(op.symbol(), &a)
        }
        Expr::Binary(op, a, b) => {
            define(code, &format!("operator{}", op.symbol()), expr, &[a, b]);
            let (a, b) = (code.widened(a, width), code.widened(b, width));
            Text::infix(super::expr::level(*op), &a, op.symbol(), &b)
        }
        Expr::Literal(_)
        | Expr::Var(_)
        | Expr::Index(..)
        | Expr::Test(_)
        | Expr::Load(..)
        | Expr::Math(..)
        | Expr::Cast(..)
        | Expr::Select(..)
        | Expr::Vector(..)
        | Expr::Splat(..)
        | Expr::Lane(..)
        | Expr::Extern(..)
        | Expr::Shuffle(..) => by_lanes(code, expr),
    }
}

fn define<D: Dialect>(code: &mut Code<'_, D>, function: &str, expr: &Expr, args: &[&Expr]) {
    let ty = expr.ty();
    let lanes: Vec<Expr> = args
        .iter()
        .zip(PARAMETERS)
        .map(|(a, name)| variable(&format!("{name}[i]"), a.ty().scalar))
        .collect();
    let lane = code.expr(&rebuilt(expr, &lanes)).text;
    let result = code.ty(ty);
    let params: Vec<String> = args
        .iter()
        .zip(PARAMETERS)
        .map(|(a, name)| {
            let ty = code.ty(ValueType::vector(a.ty().scalar, ty.width));
            format!("{ty} {name}")
        })
        .collect();
    let head = format!("{result} {function}({})", params.join(", "));
    over_lanes(code, &head, Some(&result), ty.width, &format!("r[i] = {lane}"));
}

/// A helper function that does something for every lane `i`, of its result `r` if it has one.
fn over_lanes<D: Dialect>(
    code: &mut Code<'_, D>,
    head: &str,
    result: Option<&str>,
    width: u32,
    each: &str,
) {
    let mut text = format!("{}{head} {{\n", D::FUNCTION);
    if let Some(ty) = result {
        text += &format!("  {ty} r{};\n", D::EMPTY);
    }
    if let Some(unroll) = D::unroll(width.into()) {
        text += &format!("  {unroll}\n");
    }
    text += &format!("  for (int i = 0; i < {width}; ++i) {each};\n");
    text += if result.is_some() { "  return r;\n}" } else { "}" };
    code.helper(text);
}

/// The operation's name and operands.
fn parts(expr: &Expr) -> (&'static str, Vec<&Expr>) {
    match expr {
        Expr::Unary(op, a) => (op.name(), vec![a]),
        Expr::Binary(op, a, b) => (op.name(), vec![a, b]),
        Expr::Math(math, args) => (math.name(), args.iter().collect()),
        Expr::Cast(_, a) => ("cast", vec![a]),
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

/// The same operation on other operands, which are scalars.
fn rebuilt(expr: &Expr, args: &[Expr]) -> Expr {
    let arg = |i: usize| Box::new(args[i].clone());
    match expr {
        Expr::Unary(op, _) => Expr::Unary(*op, arg(0)),
        Expr::Binary(op, ..) => Expr::Binary(*op, arg(0), arg(1)),
        Expr::Math(math, _) => Expr::Math(*math, args.to_vec()),
        Expr::Cast(ty, _) => Expr::Cast(ValueType::scalar(ty.scalar), arg(0)),
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

/// `v[2]`
pub(super) fn subscript(vector: &Text, lane: u32) -> Text {
    Text::primary(format!("{}[{lane}]", vector.at(Level::Primary)))
}

/// A function that puts a scalar into every lane.
pub(super) fn splat<D: Dialect>(code: &mut Code<'_, D>, ty: ValueType, value: &Expr) -> Text {
    let (vector, scalar) = (code.ty(ty), code.scalar(ty.scalar));
    let function = format!("lift_splat_{}x{}", ty.scalar, ty.width);
    let head = format!("{vector} {function}({scalar} a)");
    over_lanes(code, &head, Some(&vector), ty.width, "r[i] = a");
    let value = code.expr(value);
    Text::call(&function, &[value])
}

/// A function that reads lanes that lie in a row, aligned as scalars are.
pub(super) fn load<D: Dialect>(code: &mut Code<'_, D>, ty: ValueType, pointer: &str) -> Text {
    let (vector, memory) = (code.ty(ty), code.memory(ty.scalar));
    let function = format!("lift_load_{}x{}", ty.scalar, ty.width);
    let head = format!("{vector} {function}(const {memory}* p)");
    over_lanes(code, &head, Some(&vector), ty.width, "r[i] = p[i]");
    Text::primary(format!("{function}({pointer})"))
}

/// A function that writes lanes in a row, aligned as scalars are.
pub(super) fn store<D: Dialect>(
    code: &mut Code<'_, D>,
    ty: ValueType,
    pointer: &str,
    value: &Text,
) -> String {
    let (vector, memory) = (code.ty(ty), code.memory(ty.scalar));
    let function = format!("lift_store_{}x{}", ty.scalar, ty.width);
    let head = format!("void {function}({memory}* p, {vector} v)");
    over_lanes(code, &head, None, ty.width, "p[i] = v[i]");
    format!("{function}({pointer}, {})", value.text)
}
