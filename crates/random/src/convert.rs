//! A value seen as one of another type, so that what is in scope gets used.

use lift_ir::{BinaryOp, Expr, Lambda, MapKind, Nat, Pred, Prim, Scalar, Type};

use crate::config::Floats;
use crate::generator::{Generator, array};

impl Generator<'_> {
    /// Something of the type that depends on a value.
    pub(crate) fn convert(&mut self, value: Expr, ty: &Type) -> Option<Expr> {
        if self.cx.same_type(value.ty(), ty) {
            return Some(value);
        }
        match (value.ty().clone(), ty) {
            (_, Type::Tuple(parts)) => {
                let parts: Option<Vec<Expr>> =
                    parts.iter().map(|part| self.convert(value.clone(), part)).collect();
                self.call(Prim::Tuple, vec![], vec![], parts?)
            }
            (Type::Tuple(parts), _) => {
                let index = self.random.below(parts.len() as u64) as u32;
                let part = self.unary(Prim::Field(index), vec![], value)?;
                self.convert(part, ty)
            }
            (Type::Array(_, length), Type::Array(element, wanted)) => {
                self.resized(value, &length, element, wanted)
            }
            (_, Type::Array(element, wanted)) => {
                let f = self.lambda(&[Type::I32], |g, params| {
                    let value = g.convert(value, element)?;
                    let index = g.var(params.first()?);
                    g.mixed(value, index)
                })?;
                self.call(Prim::Generate, vec![wanted.clone()], vec![f], vec![])
            }
            (Type::Array(_, length), Type::Scalar(_) | Type::Vector(..)) => {
                if !self.has_some(&length) {
                    return None;
                }
                let first = Nat::int(i128::from(self.random.below(4)));
                let inside = self.cx.proves(&Pred::Lt(first.clone(), length.clone()));
                let last = &length - &Nat::int(1);
                let index = self.size_value(if inside { &first } else { &last })?;
                let element = self.call(Prim::At, vec![], vec![], vec![index, value])?;
                self.convert(element, ty)
            }
            (Type::Vector(_, width), Type::Scalar(_)) => {
                let width = u64::try_from(width.as_int()?).ok()?;
                let lane = Nat::int(i128::from(self.random.below(width)));
                let lane = self.unary(Prim::Lane, vec![lane], value)?;
                self.convert(lane, ty)
            }
            (Type::Vector(from, m), Type::Vector(to, n)) if self.cx.same_size(&m, n) => {
                self.cast_to(value, from, *to)
            }
            (_, Type::Vector(scalar, width)) => {
                let lane = self.convert(value, &Type::Scalar(*scalar))?;
                self.unary(Prim::Splat, vec![width.clone()], lane)
            }
            (Type::Scalar(from), Type::Scalar(to)) => self.cast_to(value, from, *to),
        }
    }

    /// An array of another length or other elements: mapped, or its elements over and over.
    fn resized(&mut self, value: Expr, length: &Nat, element: &Type, wanted: &Nat) -> Option<Expr> {
        let (own, _) = array(value.ty())?;
        if self.cx.same_size(length, wanted) && self.random.chance(70) {
            let f = self.lambda(&[own], |g, params| {
                let x = g.var(params.first()?);
                g.convert(x, element)
            })?;
            return self.call(Prim::Map(MapKind::Map), vec![], vec![f], vec![value]);
        }
        if !self.has_some(length) {
            return None;
        }
        let count = self.size_value(length)?;
        let f: Lambda = self.lambda(&[Type::I32], |g, params| {
            let i = g.var(params.first()?);
            let index = g.call(Prim::Binary(BinaryOp::Rem), vec![], vec![], vec![i, count])?;
            let x = g.call(Prim::At, vec![], vec![], vec![index, value])?;
            g.convert(x, element)
        })?;
        self.call(Prim::Generate, vec![wanted.clone()], vec![f], vec![])
    }

    fn cast_to(&mut self, value: Expr, from: Scalar, to: Scalar) -> Option<Expr> {
        if !self.may_cast(from, to) {
            return None;
        }
        if to == Scalar::Bool && from.is_number() && self.random.chance(80) {
            let bound = self.random.between(-1, 3).into();
            let bound = self.number(from, bound);
            return self.call(Prim::Binary(BinaryOp::Gt), vec![], vec![], vec![value, bound]);
        }
        self.unary(Prim::Cast(to), vec![], value)
    }

    /// A float becomes an integer only where floats are exact, a narrow float a wide one too, since
    /// its error would be judged by the finer measure.
    pub(crate) fn may_cast(&self, from: Scalar, to: Scalar) -> bool {
        self.config.floats == Floats::Exact
            || !from.is_float()
            || (to.is_float() && from.bytes() >= to.bytes())
    }

    /// A number with an index added to it.
    fn mixed(&mut self, value: Expr, index: Expr) -> Option<Expr> {
        match value.ty() {
            Type::Scalar(scalar) if scalar.is_number() && self.random.chance(70) => {
                let index = self.convert(index, &Type::Scalar(*scalar))?;
                self.call(Prim::Binary(BinaryOp::Add), vec![], vec![], vec![value, index])
            }
            _ => Some(value),
        }
    }
}
