//! Built-in functions of scalars and vectors.

use lift_ir::{Expr, Literal, Math, Prim, Scalar, Type};

use crate::config::Floats;
use crate::generator::{Generator, Goal};
use crate::place::Level;

/// Defined on all numbers.
const NUMBERS: &[(u32, Math)] =
    &[(2, Math::Abs), (3, Math::Min), (3, Math::Max), (2, Math::Clamp), (3, Math::Select)];

/// Exact on small multiples of one half.
const EXACT: &[(u32, Math)] =
    &[(2, Math::Floor), (2, Math::Ceil), (2, Math::Round), (2, Math::Fma)];

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
];

pub(crate) fn function(g: &mut Generator, goal: &Goal) -> Option<Expr> {
    let scalar = goal.ty.element_scalar()?;
    let of_floats = scalar.is_float() && g.random.chance(75);
    let list = match (of_floats, g.config.floats) {
        (false, _) => NUMBERS,
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

pub(crate) fn dot(g: &mut Generator, goal: &Goal) -> Option<Expr> {
    let Type::Scalar(scalar) = goal.ty else { return None };
    if !scalar.is_number() || goal.place.level == Level::Scalar {
        return None;
    }
    let vector = Type::vector(*scalar, g.width());
    let [left, right] = g.split(goal.fuel);
    let args = vec![g.make(&vector, goal.place, left)?, g.make(&vector, goal.place, right)?];
    g.call(Prim::Math(Math::Dot), vec![], vec![], args)
}

impl Generator<'_> {
    /// Arguments at which the function is defined and not too steep.
    fn arguments(&mut self, math: Math, goal: &Goal, scalar: Scalar) -> Option<Vec<Expr>> {
        let (ty, place) = (goal.ty, goal.place);
        match math {
            Math::Abs | Math::Floor | Math::Ceil | Math::Round => {
                Some(vec![self.make(ty, place, goal.fuel)?])
            }
            Math::Sin | Math::Cos | Math::Tanh => Some(vec![self.make(ty, place, goal.fuel)?]),
            Math::Min | Math::Max => Some(self.operands(goal)?.to_vec()),
            Math::Clamp => {
                let value = self.make(ty, place, goal.fuel)?;
                let low = if scalar.is_signed_integer() || scalar.is_float() { -2 } else { 2 };
                Some(vec![value, self.number(scalar, low), self.number(scalar, 5)])
            }
            Math::Tan => {
                let value = self.make(ty, place, goal.fuel)?;
                let bounds = vec![value, self.number(scalar, -1), self.number(scalar, 1)];
                Some(vec![self.call(Prim::Math(Math::Clamp), vec![], vec![], bounds)?])
            }
            Math::Exp => {
                let value = self.make(ty, place, goal.fuel)?;
                let bounds = vec![value, self.number(scalar, 1)];
                Some(vec![self.call(Prim::Math(Math::Min), vec![], vec![], bounds)?])
            }
            Math::Sqrt | Math::Rsqrt | Math::Log => {
                Some(vec![self.positive(ty, place, goal.fuel)?])
            }
            Math::Pow => {
                let base = self.positive(ty, place, goal.fuel)?;
                let power = self.random.pick(&[-0.5, 0.75, 1.5, 2.0])?;
                Some(vec![base, self.cx.literal(Literal::float(scalar, power)?)])
            }
            Math::Fma => {
                let [first, second, third] = self.split(goal.fuel);
                Some(vec![
                    self.make(ty, place, first)?,
                    self.make(ty, place, second)?,
                    self.make(ty, place, third)?,
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
                    self.make(&chosen, place, condition)?,
                    self.make(ty, place, first)?,
                    self.make(ty, place, second)?,
                ])
            }
            Math::Dot => None,
        }
    }
}
