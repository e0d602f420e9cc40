//! Functions of the bits of integers and floats, in C and CUDA C.

use lift_ir::{Math, Scalar};

use super::code::Code;
use super::dialect::Dialect;
use super::text::Text;
use crate::Expr;

/// What a language counts bits with: functions of 32 and of 64 bits.
pub(super) struct Counting {
    pub popcount: [&'static str; 2],
    /// Not asked for 0.
    pub clz: [&'static str; 2],
    /// Not asked for 0.
    pub ctz: [&'static str; 2],
    /// What the latter count from: the place of the lowest bit.
    pub lowest: u32,
}

/// A helper that counts bits of a type; of 0, the zeros are as many as it has bits.
pub(super) fn count<D: Dialect>(
    code: &mut Code<'_, D>,
    counting: &Counting,
    math: Math,
    scalar: Scalar,
    args: &[Expr],
) -> Text {
    let width = scalar.width();
    let size = usize::from(width == 64);
    let unsigned = scalar.unsigned().unwrap_or(scalar);
    let (ty, bits) = (code.scalar(scalar), code.scalar(unsigned));
    let zero = format!("a == 0 ? {width} : ");
    let minus = |n: u32| if n == 0 { String::new() } else { format!(" - {n}") };
    let body = match math {
        Math::Clz => {
            let above = minus(32u32.saturating_sub(width));
            format!("{zero}{}(({bits})a){above}", counting.clz[size])
        }
        Math::Ctz => format!("{zero}{}(({bits})a){}", counting.ctz[size], minus(counting.lowest)),
        _ => format!("{}(({bits})a)", counting.popcount[size]),
    };
    let function = format!("lift_{}_{scalar}", math.name());
    code.helper(format!("{}{ty} {function}({ty} a) {{\n  return {body};\n}}", D::FUNCTION));
    let args = code.all(args);
    Text::call(&function, &args)
}

/// A helper that copies the bits of a value to a value of another type.
pub(super) fn copied<D: Dialect>(
    code: &mut Code<'_, D>,
    math: Math,
    scalar: Scalar,
    args: &[Expr],
) -> Text {
    let (from, to) = (code.scalar(scalar), code.scalar(math.result(scalar)));
    let function = format!("lift_{}_{scalar}", math.name());
    code.helper(format!(
        "{}{to} {function}({from} a) {{\n  {to} r;\n  __builtin_memcpy(&r, &a, sizeof r);\n  return r;\n}}",
        D::FUNCTION
    ));
    let args = code.all(args);
    Text::call(&function, &args)
}
