//! Functions that target languages lack, or mean otherwise, in terms of what they have.

use lift_ir::{BinaryOp, Literal, Math, Scalar, UnaryOp};

use super::code::Code;
use super::dialect::Dialect;
use super::expr::variable_of;
use super::text::Text;
use crate::{Arg, Expr, Kernel, ValueType, Variable};

/// A call of a helper function whose body is the function's definition; nothing where there is none.
pub(super) fn call<D: Dialect>(
    code: &mut Code<'_, D>,
    math: Math,
    ty: ValueType,
    args: &[Expr],
) -> Option<Text> {
    let body = definition(math, ty)?;
    let lines = match body {
        // Two choices, one after the other: of a choice inside another gcc 12 makes conditions that are chosen, and no vector
        // code of those.
        Expr::Select(ref first, ref inner, ref other) if matches!(**inner, Expr::Select(..)) => {
            let (named, inner) = (code.ty(ty), code.expr(inner).text);
            let result = variable_of("better", ty);
            let last = choose((**first).clone(), result, (**other).clone());
            format!("{named} better = {inner};\n  return {};", code.expr(&last).text)
        }
        ref body => format!("return {};", code.expr(body).text),
    };
    let (result, operand) = (code.ty(body.ty()), code.ty(ty));
    let shape = match ty.width {
        1 => ty.scalar.to_string(),
        width => format!("{}x{width}", ty.scalar),
    };
    let function = format!("lift_{}_{shape}", math.name());
    let names = ["a", "b", "c"];
    let params: Vec<String> =
        args.iter().zip(names).map(|(_, name)| format!("{operand} {name}")).collect();
    code.helper(format!(
        "{}{result} {function}({}) {{\n  {lines}\n}}",
        D::FUNCTION,
        params.join(", ")
    ));
    let mut args: Vec<&Expr> = args.iter().collect();
    if let (Math::Min | Math::Max, [_, second]) = (math, args.as_slice())
        && is_argument(code.kernel, second)
    {
        args.reverse();
    }
    let args: Vec<Text> = args
        .into_iter()
        .map(|arg| if ty.width == 1 { code.expr(arg) } else { code.widened(arg, ty.width) })
        .collect();
    Some(Text::call(&function, &args))
}

/// Whether a value is a number that the kernel is given. The second operand is asked whether it is a nan, and gcc 12 makes no
/// vector code of a choice that is the same for all lanes.
fn is_argument(kernel: &Kernel, value: &Expr) -> bool {
    let is_own = |arg: &Arg, var: &Variable| matches!(arg, Arg::Scalar(own) if own.id == var.id);
    matches!(value, Expr::Var(var) if kernel.args.iter().any(|arg| is_own(arg, var)))
}

/// The value of a function of `a` and `b`.
fn definition(math: Math, ty: ValueType) -> Option<Expr> {
    let a = || variable_of("a", ty);
    let b = || variable_of("b", ty);
    let zero = || number(ty.scalar, 0.0);
    let one = || number(ty.scalar, 1.0);
    Some(match math {
        // C's functions give a number where one operand is a nan. The second is asked whether it is one, which in
        // a fold is the element: what is built up is not waited for.
        Math::Min | Math::Max if ty.scalar.is_float() => {
            let better = if math == Math::Min { BinaryOp::Lt } else { BinaryOp::Gt };
            let is_better = binary(better, b(), a());
            if ty.width == 1 {
                let is_number = binary(BinaryOp::Eq, b(), b());
                choose(is_number, choose(is_better, b(), a()), b())
            } else {
                choose(binary(BinaryOp::Ne, b(), b()), b(), choose(is_better, b(), a()))
            }
        }
        // The smallest number is its own opposite, which libraries do not promise.
        Math::Abs if ty.scalar.is_signed_integer() => {
            let negated = Expr::Unary(UnaryOp::Neg, Box::new(a()));
            choose(binary(BinaryOp::Lt, a(), zero()), negated, a())
        }
        Math::Min => choose(binary(BinaryOp::Lt, a(), b()), a(), b()),
        Math::Max => choose(binary(BinaryOp::Gt, a(), b()), a(), b()),
        // A zero and a nan are themselves.
        Math::Sign => {
            // The highest bit of a number or of its opposite: gcc 12 compares vectors of unsigned lanes wrongly
            // where the processor has no such comparison.
            if ty.scalar.is_integer() && !ty.scalar.is_signed_integer() {
                let either = binary(BinaryOp::BitOr, a(), binary(BinaryOp::Sub, zero(), a()));
                let highest = number(ty.scalar, (8 * ty.scalar.bytes() - 1) as f64);
                return Some(binary(BinaryOp::Shr, either, highest));
            }
            let positive = binary(BinaryOp::Gt, a(), zero());
            let negative = binary(BinaryOp::Lt, a(), zero());
            choose(positive, one(), choose(negative, number(ty.scalar, -1.0), a()))
        }
        Math::IsNan => binary(BinaryOp::Ne, a(), a()),
        Math::IsInf => {
            let size = Expr::Math(Math::Abs, vec![a()]);
            binary(BinaryOp::Eq, size, number(ty.scalar, f64::INFINITY))
        }
        // The ones of what is below the lowest one; of 0, all there are.
        Math::Ctz => {
            let flipped = Expr::Unary(UnaryOp::BitNot, Box::new(a()));
            let less = binary(BinaryOp::Sub, a(), one());
            Expr::Math(Math::Popcount, vec![binary(BinaryOp::BitAnd, flipped, less)])
        }
        _ => return None,
    })
}

fn number(scalar: Scalar, value: f64) -> Expr {
    let literal = Literal::float(scalar, value).unwrap_or(Literal::Int(scalar, value as i128));
    Expr::Literal(literal)
}

fn binary(op: BinaryOp, a: Expr, b: Expr) -> Expr {
    Expr::Binary(op, Box::new(a), Box::new(b))
}

fn choose(condition: Expr, a: Expr, b: Expr) -> Expr {
    if condition.ty().width > 1 {
        return Expr::Math(Math::Select, vec![condition, a, b]);
    }
    Expr::Select(Box::new(condition), Box::new(a), Box::new(b))
}
