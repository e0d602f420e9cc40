//! Folds over the points of a domain that depends on an outer index: nested ranges, one an index.
//!
//! `reduce(z, f, [ e | (a, b) in upper[i] ])` is `reduce(z, f, [ reduce(z, f, [ e | b in a + 1 .. i ]) | a in 0 .. i - 1 ])`, since z
//! is the identity of f; a fold from the left hands its state on from row to row.

use std::rc::Rc;

use lift_domain::{Bound, Bounds, Constraint, Domain};
use lift_ir::{BinaryOp, Expr, FoldKind, Lambda, Math, Nat, Param, Prim, Scalar, Span, Type};

use super::super::apply::Lets;
use super::super::errors::{Errors, all};
use super::super::iterations::Operation;
use super::super::scope::Env;
use super::super::{Elaborator, Given, Hint, Result};
use super::{Element, Over, Points, Ragged, counted};
use crate::ast::{self, ExprKind};
use crate::diagnostic::Diagnostic;

impl<'a> Elaborator<'a> {
    /// The points of a domain that depends on an outer index; `None` where it does not.
    pub(super) fn varying_points(
        &self,
        domain: &'a ast::Expr,
        env: &Env<'a>,
    ) -> Result<Option<Points>> {
        if matches!(domain.kind, ExprKind::Range(..)) {
            return Ok(None);
        }
        let used = self.domain(domain, env)?;
        if !used.points.sizes().iter().any(|v| self.mentions_index(&Nat::var(v))) {
            return Ok(None);
        }
        let is_nested = used.points.dimensions() > 1 && used.extents().is_some();
        Ok(Some(Points { used: Rc::new(used), span: domain.span, is_nested }))
    }

    /// Whether an expression reads as a domain that depends on an outer index.
    pub(super) fn is_varying(&self, domain: &'a ast::Expr, env: &Env<'a>) -> bool {
        self.varying_points(domain, env).is_ok_and(|points| points.is_some())
    }

    /// `view(D, m)`, `tabulate(D, f)` and `flat(xs)`, where D depends on an outer index.
    pub(super) fn ragged_operation(
        &self,
        operation: Operation,
        given: &[Given<'a>],
        lets: &mut Lets,
    ) -> Result<Option<Ragged<'a>>> {
        match (operation, given) {
            (Operation::Flat, [xs]) => {
                let Some(mut ragged) = self.ragged(xs, lets)? else { return Ok(None) };
                if let Over::Points(points) = &mut ragged.over {
                    points.is_nested = false;
                }
                Ok(Some(ragged))
            }
            (Operation::View, [Given::Ast(domain, env), array]) => {
                let Some(points) = self.varying_points(domain, env)? else { return Ok(None) };
                let array_span = array.span();
                let array = self.value(array, Hint::None)?;
                let held = Rc::new(self.held(&points.used, &array, domain.span, array_span)?);
                let array = self.shared("seen", array, lets);
                let (_, meant) = points.used.root();
                let element = Element::Seen { array, held, meant };
                Ok(Some(Ragged { over: Over::Points(points), element }))
            }
            (Operation::Tabulate, [Given::Ast(domain, env), function]) => {
                let Some(points) = self.varying_points(domain, env)? else { return Ok(None) };
                let element = Element::Applied(self.given_function(function)?);
                Ok(Some(Ragged { over: Over::Points(points), element }))
            }
            _ => Ok(None),
        }
    }

    /// `reduce(z, f, xs)` over the points of a domain.
    pub(super) fn reduce_points(
        &self,
        kind: FoldKind,
        (start, f): (&Given<'a>, &Given<'a>),
        points: &Points,
        ragged: &Ragged<'a>,
        span: Span,
        hint: Hint,
    ) -> Result<Expr> {
        let domain = &points.used.points;
        let Some(nest) = domain.nest(&self.facts_here()) else {
            return Err(Errors::one(
                Diagnostic::error(format!("the numbers in `{}` are too large", points.used.text))
                    .at(points.span, "a fold over its points is not supported yet"),
            ));
        };
        let mut names = ragged.element.index_names();
        names.resize(nest.len(), None);
        let params: Vec<Param> =
            names.iter().map(|name| self.cx.fresh(name.unwrap_or("k"), Type::I32)).collect();
        let point: Vec<Expr> = params.iter().map(|p| self.cx.var(p)).collect();
        let element = self.ragged_element(ragged, &point, span)?;
        let mut lets = Lets::new();
        let z = self.ragged_start(kind, start, element.ty(), hint)?;
        let z = self.shared("z", z, &mut lets);
        let inside = self.meets_remainders(domain, &point, points.span)?;
        // The states of the folds around, and what the innermost makes of a point.
        let states: Vec<Param> = match kind {
            FoldKind::Any => Vec::new(),
            _ => nest.iter().map(|_| self.cx.fresh("acc", z.ty().clone())).collect(),
        };
        let (made, otherwise) = match states.last() {
            None => (element, z.clone()),
            Some(state) => {
                let state = self.cx.var(state);
                let function = self.given_function(f)?;
                let given = [state.clone(), element].map(|v| Given::Value(v, function.span));
                (self.apply_spread(&function, given.to_vec(), Hint::Type(z.ty()))?, state)
            }
        };
        let mut made = match inside {
            Some(inside) => self.call(Prim::If, vec![inside, made, otherwise], span)?,
            None => made,
        };
        for (k, (bounds, param)) in nest.iter().zip(&params).enumerate().rev() {
            let outer = point.get(..k).unwrap_or(&[]);
            let mut own = Lets::new();
            let low = self.lowest(bounds, outer, points.span)?;
            let low = if k == 0 { self.checked(&points.used, low, points.span)? } else { low };
            let low = self.shared("start", low, &mut own);
            let mut high = self.behind_highest(bounds, outer, points.span)?;
            if bounds.may_cross {
                // No value is as from the start up to it.
                high = self.call(Prim::Math(Math::Max), vec![low.clone(), high], points.span)?;
            }
            let (fold, element) = match states.get(k) {
                None => {
                    let types = [z.ty().clone(), made.ty().clone()];
                    let fold = self.lambda(f, &types, &["acc", "x"], Hint::Type(z.ty()))?;
                    (fold, Lambda { size: None, params: vec![param.clone()], body: made })
                }
                Some(state) => {
                    let number = self.cx.fresh(param.name(), Type::I32);
                    let itself = self.cx.var(&number);
                    let params = vec![state.clone(), param.clone()];
                    let fold = Lambda { size: None, params, body: made };
                    (fold, Lambda { size: None, params: vec![number], body: itself })
                }
            };
            let from = match k.checked_sub(1).and_then(|outer| states.get(outer)) {
                Some(state) => self.cx.var(state),
                None => z.clone(),
            };
            let parts = super::Parts::of(span);
            let prim = Prim::ReduceRange(counted(kind));
            let folded =
                self.build(prim, vec![], vec![fold, element], vec![from, low, high], &parts)?;
            made = self.close(own, folded);
        }
        Ok(self.close(lets, made))
    }

    /// The first value of an index, given those before it.
    fn lowest(&self, bounds: &Bounds, outer: &[Expr], span: Span) -> Result<Expr> {
        let value = |b: &Bound| {
            // The quotient is rounded towards 0, below which there is no index.
            let rest = &b.rest + Nat::int(b.factor - 1);
            self.quotient(&rest, b.factor, outer, span)
        };
        self.extreme_of(Math::Max, all(bounds.lower.iter().map(value))?, span)
    }

    /// The value behind the last one of an index.
    fn behind_highest(&self, bounds: &Bounds, outer: &[Expr], span: Span) -> Result<Expr> {
        let value = |b: &Bound| {
            // Likewise: what is below 0 leaves no value.
            let rest = &b.rest + Nat::int(b.factor);
            self.quotient(&rest, b.factor, outer, span)
        };
        self.extreme_of(Math::Min, all(bounds.upper.iter().map(value))?, span)
    }

    fn quotient(&self, value: &Nat, by: i128, outer: &[Expr], span: Span) -> Result<Expr> {
        let value = self.affine_value(value, outer, Scalar::I32, span)?;
        if by == 1 {
            return Ok(value);
        }
        let by = self.size_as(&Nat::int(by), Scalar::I32, span)?;
        self.call(Prim::Binary(BinaryOp::Div), vec![value, by], span)
    }

    /// Whether a point meets what a domain says of remainders; `None` where it says nothing.
    fn meets_remainders(
        &self,
        domain: &Domain,
        point: &[Expr],
        span: Span,
    ) -> Result<Option<Expr>> {
        let wide = self.widened(point, span)?;
        let multiples = domain.constraints().iter().filter_map(|c| match c {
            Constraint::Multiple { .. } => Some(c.pred()),
            Constraint::AtLeast(_) => None,
        });
        let tests = all(multiples.map(|pred| self.test(&pred, &wide, span)))?;
        let and = |a: Expr, b: Expr| self.call(Prim::Binary(BinaryOp::And), vec![a, b], span);
        let mut tests = tests.into_iter();
        match tests.next() {
            Some(first) => tests.try_fold(first, and).map(Some),
            None => Ok(None),
        }
    }
}
