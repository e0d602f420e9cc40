//! Elements of a `rec` that are arrays: their parts are put in their places one by one.

use lift_ir::{BinaryOp, Expr, Lambda, Nat, Prim, Scalar, Span, Type};

use super::errors::Parts;
use super::recurrences::Front;
use super::{Elaborator, Result};

impl Elaborator<'_> {
    /// What is made for each number of an element that is an array, or once where it is none.
    pub(super) fn each_inner(
        &self,
        front: &Front,
        make: &dyn Fn(Option<&Expr>) -> Result<Expr>,
    ) -> Result<Expr> {
        if front.inner.is_empty() {
            return make(None);
        }
        let param = self.cx.fresh("c", Type::I32);
        let body = make(Some(&self.cx.var(&param)))?;
        let f = Lambda { size: None, params: vec![param], body };
        let each = front.inner.iter().fold(Nat::ONE, |product, n| product * n);
        self.build(Prim::Generate, vec![each], vec![f], vec![], &Parts::of(front.span))
    }

    /// The number of a part of an element, given that of the element.
    pub(super) fn number_inside(
        &self,
        front: &Front,
        number: Expr,
        at: Option<&Expr>,
    ) -> Result<Expr> {
        let Some(at) = at else { return Ok(number) };
        let span = front.span;
        let each = front.inner.iter().fold(Nat::ONE, |product, n| product * n);
        let each = self.size_as(&each, Scalar::I64, span)?;
        let binary = |op, a: Expr, b: Expr| {
            self.build(Prim::Binary(op), vec![], vec![], vec![a, b], &Parts::of(span))
        };
        let at = self.widened(std::slice::from_ref(at), span)?.remove(0);
        binary(BinaryOp::Add, binary(BinaryOp::Mul, number, each)?, at)
    }

    /// A part of an element, or the element where it has none.
    pub(super) fn leaf_of(&self, front: &Front, element: Expr, at: Option<&Expr>) -> Result<Expr> {
        let Some(at) = at else { return Ok(element) };
        let parts = Parts::of(front.span);
        let flat = front.inner.iter().skip(1).try_fold(element, |array, _| {
            self.build(Prim::Join, vec![], vec![], vec![array], &parts)
        })?;
        self.build(Prim::At, vec![], vec![], vec![at.clone(), flat], &parts)
    }

    /// The parts of elements, one after the other, as elements.
    pub(super) fn in_rows(&self, flat: Expr, inner: &[Nat], span: Span) -> Result<Expr> {
        inner.iter().rev().try_fold(flat, |array, n| {
            self.build(Prim::Split, vec![n.clone()], vec![], vec![array], &Parts::of(span))
        })
    }
}

/// What arrays are made of, and their lengths, outermost first; the type itself where it is no array.
pub(super) fn leaves(ty: &Type) -> (Type, Vec<Nat>) {
    let (mut ty, mut lengths) = (ty, Vec::new());
    while let Some((element, length)) = ty.as_array() {
        lengths.push(length.clone());
        ty = element;
    }
    (ty.clone(), lengths)
}
