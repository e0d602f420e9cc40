//! Indices that may have no room in 32 bits: those of domains that begin far from 0.
//!
//! As a value such an index is an `i32`, like any other, and one without room is an error when the program runs. Where arrays
//! are read, it is computed with in 64 bits: `xs[i - B]` is there wherever `i - B` is an index of `xs`.

use lift_ir::{Expr, Nat, Param, Prim, Scalar, Span, Type};

use super::domains::Used;
use super::errors::all;
use super::scope::Env;
use super::{Elaborator, Hint, Result};
use crate::ast;

impl<'a> Elaborator<'a> {
    /// The indices of a point in 64 bits, known from now on: a name for the point, and what it is.
    pub(super) fn wide_point(
        &self,
        used: &Used,
        number: &Param,
        indices: &[(Expr, Nat)],
        span: Span,
    ) -> Result<(Param, Expr)> {
        let number = self.checked(used, self.cx.var(number), span)?;
        let number = self.call(Prim::Cast(Scalar::I64), vec![number], span)?;
        let found = self.call(Prim::Point(used.points.clone().into()), vec![number], span)?;
        let param = self.cx.fresh("p", found.ty().clone());
        let point = self.cx.var(&param);
        for (k, (_, size)) in indices.iter().enumerate() {
            let value = match indices.len() {
                1 => point.clone(),
                _ => self.field(point.clone(), k as u32, span)?,
            };
            if let Some(var) = size.as_var() {
                self.wide.borrow_mut().push((var.clone(), value));
            }
        }
        Ok((param, found))
    }

    /// An index in 64 bits, where it may have no room in 32.
    pub(super) fn wide_index(&self, size: &Nat) -> Option<Expr> {
        let var = size.as_var()?;
        self.wide.borrow().iter().find(|(v, _)| v == var).map(|(_, value)| value.clone())
    }

    /// An index of an array. Where it is made of indices that may have no room in 32 bits, and can be made in 64, it is.
    pub(super) fn array_index(&self, ast: &'a ast::Expr, env: &Env<'a>) -> Result<Expr> {
        if !self.wide.borrow().is_empty() && !self.is_exact.replace(true) {
            let exact = self.expr(ast, env, Hint::None);
            self.is_exact.set(false);
            if exact.is_ok() {
                return exact;
            }
        }
        self.expr(ast, env, Hint::None)
    }

    /// The indices of a point in 64 bits.
    pub(super) fn exact_point(&self, point: &[(Expr, Nat)], span: Span) -> Result<Vec<Expr>> {
        all(point.iter().map(|(value, size)| match self.wide_index(size) {
            Some(wide) => Ok(wide),
            None if *value.ty() == Type::Scalar(Scalar::I64) => Ok(value.clone()),
            None => self.call(Prim::Cast(Scalar::I64), vec![value.clone()], span),
        }))
    }
}
