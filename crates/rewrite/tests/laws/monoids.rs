//! Associative and commutative functions with their identities, at any type.

use lift_ir::{
    BinaryOp, Context, Expr, Lambda, Literal, MapKind, Math, Prim, Scalar, Type, TypeError,
};
use lift_random::Random;

pub enum Monoid {
    Plus,
    Times,
    Min,
    Max,
    /// Of the bits of integers.
    Xor,
    /// One a component.
    Tuple(Vec<Monoid>),
    /// The same for every element.
    Array(Box<Monoid>),
}

impl Monoid {
    pub fn random(ty: &Type, random: &mut Random) -> Monoid {
        match ty {
            Type::Scalar(_) | Type::Vector(..) => match random.below(5) {
                0 => Monoid::Plus,
                4 if ty.element_scalar().is_some_and(Scalar::is_integer) => Monoid::Xor,
                1 => Monoid::Times,
                2 => Monoid::Min,
                _ => Monoid::Max,
            },
            Type::Tuple(parts) => {
                Monoid::Tuple(parts.iter().map(|p| Monoid::random(p, random)).collect())
            }
            Type::Array(element, _) => Monoid::Array(Box::new(Monoid::random(element, random))),
        }
    }

    pub fn zero(&self, cx: &Context, ty: &Type) -> Result<Expr, TypeError> {
        match (self, ty) {
            (Monoid::Tuple(own), Type::Tuple(parts)) => {
                let zeros = own.iter().zip(parts.iter()).map(|(m, ty)| m.zero(cx, ty));
                cx.call(Prim::Tuple, vec![], vec![], zeros.collect::<Result<_, _>>()?)
            }
            (Monoid::Array(own), Type::Array(element, length)) => {
                let zero = own.zero(cx, element)?;
                cx.call(Prim::Repeat, vec![length.clone()], vec![], vec![zero])
            }
            (_, Type::Vector(scalar, width)) => {
                let zero = self.zero(cx, &Type::Scalar(*scalar))?;
                cx.call(Prim::Splat, vec![width.clone()], vec![], vec![zero])
            }
            (_, ty) => Ok(cx.literal(self.identity(ty.element_scalar().unwrap_or(Scalar::I32)))),
        }
    }

    fn identity(&self, scalar: Scalar) -> Literal {
        if scalar.is_float() {
            let value = match self {
                Monoid::Plus | Monoid::Xor | Monoid::Tuple(_) | Monoid::Array(_) => 0.0,
                Monoid::Times => 1.0,
                Monoid::Min => f64::INFINITY,
                Monoid::Max => f64::NEG_INFINITY,
            };
            return Literal::float(scalar, value).unwrap_or(Literal::f64(value));
        }
        let (low, high) = scalar.integer_range().unwrap_or((0, 0));
        let value = match self {
            Monoid::Plus | Monoid::Xor | Monoid::Tuple(_) | Monoid::Array(_) => 0,
            Monoid::Times => 1,
            Monoid::Min => high,
            Monoid::Max => low,
        };
        Literal::Int(scalar, value)
    }

    pub fn function(&self, cx: &Context, ty: &Type) -> Result<Lambda, TypeError> {
        let params = vec![cx.fresh("acc", ty.clone()), cx.fresh("x", ty.clone())];
        let body = match params.as_slice() {
            [a, b] => self.combine(cx, cx.var(a), cx.var(b))?,
            _ => unreachable!("there are two"),
        };
        Ok(Lambda { size: None, params, body })
    }

    fn combine(&self, cx: &Context, a: Expr, b: Expr) -> Result<Expr, TypeError> {
        let call = |prim: Prim, args: Vec<Expr>| cx.call(prim, vec![], vec![], args);
        match self {
            Monoid::Plus => call(Prim::Binary(BinaryOp::Add), vec![a, b]),
            Monoid::Xor => call(Prim::Binary(BinaryOp::BitXor), vec![a, b]),
            Monoid::Times => call(Prim::Binary(BinaryOp::Mul), vec![a, b]),
            Monoid::Min => call(Prim::Math(Math::Min), vec![a, b]),
            Monoid::Max => call(Prim::Math(Math::Max), vec![a, b]),
            Monoid::Tuple(own) => {
                let parts = own.iter().enumerate().map(|(i, m)| {
                    let field = Prim::Field(i as u32);
                    m.combine(
                        cx,
                        call(field.clone(), vec![a.clone()])?,
                        call(field, vec![b.clone()])?,
                    )
                });
                let parts = parts.collect::<Result<_, _>>()?;
                call(Prim::Tuple, parts)
            }
            Monoid::Array(own) => {
                let pairs = call(Prim::Zip, vec![a, b])?;
                let element = pairs.ty().as_array().map_or(Type::I32, |(e, _)| e.clone());
                let p = cx.fresh("p", element);
                let [x, y] = [0, 1].map(|i| call(Prim::Field(i), vec![cx.var(&p)]));
                let body = own.combine(cx, x?, y?)?;
                let f = Lambda { size: None, params: vec![p], body };
                cx.call(Prim::Map(MapKind::Map), vec![], vec![f], vec![pairs])
            }
        }
    }
}
