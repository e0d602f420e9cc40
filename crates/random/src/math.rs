//! Built-in functions of scalars and vectors.

use lift_ir::{BinaryOp, Expr, Literal, Math, Prim, Scalar, Type};

use crate::config::Floats;
use crate::generator::{Generator, Goal};
use crate::registers::shaped;
use crate::scope::Level;

/// Defined on all numbers.
const NUMBERS: &[(u32, Math)] = &[
    (2, Math::Abs),
    (1, Math::Sign),
    (3, Math::Min),
    (3, Math::Max),
    (2, Math::Clamp),
    (3, Math::Select),
];

/// Of the bits of integers.
const BITS: &[(u32, Math)] = &[(1, Math::Popcount), (1, Math::Clz), (1, Math::Ctz)];

/// Exact on small multiples of one half.
const EXACT: &[(u32, Math)] = &[
    (2, Math::Floor),
    (2, Math::Ceil),
    (2, Math::Round),
    (1, Math::Trunc),
    (1, Math::Copysign),
    (2, Math::Fma),
];

const SMOOTH: &[(u32, Math)] = &[
    (1, Math::Sqrt),
    (1, Math::Rsqrt),
    (1, Math::Exp),
    (1, Math::Log),
    (1, Math::Sin),
    (1, Math::Cos),
    (1, Math::Tan),
    (1, Math::Tanh),
    (1, Math::Pow),
    (1, Math::Fma),
    (1, Math::Cbrt),
    (1, Math::Hypot),
    (1, Math::Exp2),
    (1, Math::Expm1),
    (1, Math::Log2),
    (1, Math::Log10),
    (1, Math::Log1p),
    (1, Math::Asin),
    (1, Math::Acos),
    (1, Math::Atan),
    (1, Math::Atan2),
    (1, Math::Sinh),
    (1, Math::Cosh),
    (1, Math::Asinh),
    (1, Math::Acosh),
    (1, Math::Atanh),
    (1, Math::Erf),
    (1, Math::Erfc),
];

pub(crate) fn function(g: &mut Generator, goal: &Goal) -> Option<Expr> {
    let scalar = goal.ty.element_scalar()?;
    if scalar == Scalar::Bool && g.random.chance(40) {
        return classified(g, goal);
    }
    if scalar.is_float() && g.config.floats == Floats::Exact && g.random.chance(5) {
        return through_bits(g, goal, scalar);
    }
    let own = g.random.chance(if scalar.is_float() { 75 } else { 25 });
    let list = match (own, g.config.floats) {
        (true, _) if scalar.is_integer() => BITS,
        (false, _) => NUMBERS,
        (true, _) if !scalar.is_float() => NUMBERS,
        (true, Floats::Exact) => EXACT,
        (true, Floats::Smooth) => SMOOTH,
    };
    let math = g.random.weighted(list)?;
    if scalar == Scalar::Bool && math != Math::Select {
        return None;
    }
    let args = g.arguments(math, goal, scalar)?;
    g.call(Prim::Math(math), vec![], vec![], args)
}

/// Whether a float is nan or infinite: some are made so, which may be done where floats may decide.
fn classified(g: &mut Generator, goal: &Goal) -> Option<Expr> {
    if g.config.floats != Floats::Exact {
        return None;
    }
    let scalar = g.random.pick(&[Scalar::F32, Scalar::F64])?;
    let ty = shaped(scalar, goal.ty)?;
    let value = g.make(&ty, goal.scope, goal.fuel)?;
    let math = g.random.pick(&[Math::IsNan, Math::IsInf])?;
    let value = if g.random.chance(50) {
        let zero = g.number(scalar, 0);
        g.call(Prim::Binary(BinaryOp::Div), vec![], vec![], vec![value, zero])?
    } else {
        value
    };
    g.unary(Prim::Math(math), vec![], value)
}

/// A float to its bits and back.
fn through_bits(g: &mut Generator, goal: &Goal, scalar: Scalar) -> Option<Expr> {
    let value = g.make(&shaped(scalar, goal.ty)?, goal.scope, goal.fuel)?;
    let bits = g.unary(Prim::Math(Math::ToBits), vec![], value)?;
    g.unary(Prim::Math(Math::FromBits), vec![], bits)
}

pub(crate) fn dot(g: &mut Generator, goal: &Goal) -> Option<Expr> {
    let Type::Scalar(scalar) = goal.ty else { return None };
    if !scalar.is_number() || goal.scope.level == Level::Scalar {
        return None;
    }
    let vector = Type::vector(*scalar, g.width());
    let [left, right] = g.split(goal.fuel);
    let args = vec![g.make(&vector, goal.scope, left)?, g.make(&vector, goal.scope, right)?];
    g.call(Prim::Math(Math::Dot), vec![], vec![], args)
}

impl Generator<'_> {
    /// Arguments at which the function is defined and not too steep.
    fn arguments(&mut self, math: Math, goal: &Goal, scalar: Scalar) -> Option<Vec<Expr>> {
        let (ty, scope) = (goal.ty, goal.scope);
        match math {
            Math::Abs
            | Math::Sign
            | Math::Floor
            | Math::Ceil
            | Math::Round
            | Math::Trunc
            | Math::Popcount
            | Math::Clz
            | Math::Ctz
            | Math::Sin
            | Math::Cos
            | Math::Tanh
            | Math::Atan
            | Math::Asinh
            | Math::Erf => Some(vec![self.make(ty, scope, goal.fuel)?]),
            Math::Min | Math::Max => Some(self.operands(goal)?.to_vec()),
            // Of two zeros either may be the smaller, so the sign is not that of what may be one.
            Math::Copysign => {
                let sign = self.random.pick(&[-2, 3])?;
                Some(vec![self.make(ty, scope, goal.fuel)?, self.number(scalar, sign)])
            }
            // The angle of what is right of the axis, so that no sign decides.
            Math::Atan2 | Math::Hypot => {
                let [first, second] = self.split(goal.fuel);
                Some(vec![self.make(ty, scope, first)?, self.positive(ty, scope, second)?])
            }
            Math::Clamp => {
                let value = self.make(ty, scope, goal.fuel)?;
                let low = if scalar.is_signed_integer() || scalar.is_float() { -2 } else { 2 };
                Some(vec![value, self.number(scalar, low), self.number(scalar, 5)])
            }
            Math::Tan | Math::Sinh | Math::Cosh | Math::Erfc => {
                Some(vec![self.between(goal, scalar, 1.0)?])
            }
            Math::Asin | Math::Acos | Math::Atanh => Some(vec![self.between(goal, scalar, 0.5)?]),
            Math::Exp | Math::Exp2 | Math::Expm1 => {
                let value = self.make(ty, scope, goal.fuel)?;
                let bounds = vec![value, self.number(scalar, 1)];
                Some(vec![self.call(Prim::Math(Math::Min), vec![], vec![], bounds)?])
            }
            Math::Sqrt
            | Math::Rsqrt
            | Math::Cbrt
            | Math::Log
            | Math::Log2
            | Math::Log10
            | Math::Log1p => Some(vec![self.positive(ty, scope, goal.fuel)?]),
            Math::Acosh => {
                let value = self.positive(ty, scope, goal.fuel)?;
                let one = self.number(scalar, 1);
                let above = vec![value, one];
                Some(vec![self.call(Prim::Binary(BinaryOp::Add), vec![], vec![], above)?])
            }
            Math::Pow => {
                let base = self.positive(ty, scope, goal.fuel)?;
                let power = self.random.pick(&[-0.5, 0.75, 1.5, 2.0])?;
                Some(vec![base, self.cx.literal(Literal::float(scalar, power)?)])
            }
            Math::Fma => {
                let [first, second, third] = self.split(goal.fuel);
                Some(vec![
                    self.make(ty, scope, first)?,
                    self.make(ty, scope, second)?,
                    self.make(ty, scope, third)?,
                ])
            }
            Math::Select => {
                let [condition, first, second] = self.split(goal.fuel);
                let by_lane = self.random.chance(60);
                let chosen = match ty {
                    Type::Vector(_, width) if by_lane => Type::vector(Scalar::Bool, width.clone()),
                    _ => Type::BOOL,
                };
                Some(vec![
                    self.make(&chosen, scope, condition)?,
                    self.make(ty, scope, first)?,
                    self.make(ty, scope, second)?,
                ])
            }
            Math::IsNan | Math::IsInf | Math::ToBits | Math::FromBits | Math::Dot => None,
        }
    }

    /// A value from `-bound` to `bound`.
    fn between(&mut self, goal: &Goal, scalar: Scalar, bound: f64) -> Option<Expr> {
        let value = self.make(goal.ty, goal.scope, goal.fuel)?;
        let low = self.cx.literal(Literal::float(scalar, -bound)?);
        let high = self.cx.literal(Literal::float(scalar, bound)?);
        self.call(Prim::Math(Math::Clamp), vec![], vec![], vec![value, low, high])
    }
}
