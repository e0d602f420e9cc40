//! Arrays over domains: iterations and elements at points. What is called by name is in [`operations`], sizes as values in [`values`].
//!
//! An iteration over a box is a nest of `generate`, an array over a box a nested array, so whatever is known about
//! those holds. Any other is a `generate` of as many elements as there are points, which finds the point of each number;
//! while a program is checked, the length of such an array is a variable that stands for the domain, so that types tell
//! domains apart. In the finished program it is the number of points (`packed`).

mod operations;
mod values;

pub(super) use operations::{Operation, takes_domain};

use std::sync::Arc;

use lift_domain::{Constraint, Domain};
use lift_ir::{BinaryOp, Expr, Facts, Lambda, Literal, Nat, Param, Pred, Prim, Scalar, Span, Type};

use super::apply::Lets;
use super::domains::{Used, plain};
use super::errors::{Errors, Parts, all, error};
use super::scope::{Binding, Env};
use super::{Elaborator, Hint, Result};
use crate::ast::{self, ExprKind, PatternKind};
use crate::diagnostic::Diagnostic;

/// An index: its value, and the variable that stands for it in sizes.
type Index = (Expr, Nat);

/// Makes the element at a point.
type Element<'e> = dyn FnMut(&[Index], Hint) -> Result<Expr> + 'e;

impl<'a> Elaborator<'a> {
    /// The lengths of an array over a domain, outermost first: those of the box that it is, or the one of a packed array.
    pub(super) fn lengths(&self, domain: &Used, span: Span) -> Result<Vec<Nat>> {
        match domain.extents() {
            Some(extents) => Ok(extents.iter().map(|n| self.cx.simplify(n)).collect()),
            None => Ok(vec![self.packed_length(domain, span)?]),
        }
    }

    /// `count(D)`
    pub(super) fn count(&self, ast: &'a ast::Expr, env: &Env<'a>, span: Span) -> Result<Nat> {
        let domain = self.domain(ast, env)?;
        let count = self.counted(&domain, span)?;
        // Outside of domains a size is one of the finished program, which knows no index.
        match self.mentions_index(&count) && !self.in_domain.get() {
            false => Ok(count),
            true => Err(Errors::one(
                Diagnostic::error("the number of these points depends on an outer index")
                    .at(span, format!("`{}` has another one for each", domain.text))
                    .note("of sizes, only those of a domain may depend on an index"),
            )),
        }
    }

    pub(super) fn counted(&self, domain: &Used, span: Span) -> Result<Nat> {
        if let Some(extents) = domain.extents() {
            let extents = all(extents.iter().map(|n| self.natural_extent(n, span)))?;
            return Ok(extents.into_iter().fold(Nat::ONE, |product, n| product * n));
        }
        match domain.points.levels() {
            Some(levels) => Ok(self.cx.simplify(levels.count())),
            None => error(span, format!("no formula counts the points of `{}`", domain.text)),
        }
    }

    /// How long a box is in a dimension. As wherever it is iterated over, the sizes are such that this is not negative; where outer
    /// indices say how long it is, there is nothing in it instead.
    fn natural_extent(&self, extent: &Nat, span: Span) -> Result<Nat> {
        let extent = self.cx.simplify(extent);
        let natural = Pred::Le(Nat::ZERO, extent.clone());
        if self.mentions_index(&extent) {
            let known = self.facts_here().proves(&natural);
            return Ok(if known { extent } else { Nat::max(&extent, &Nat::ZERO) });
        }
        match self.required(&natural) {
            true => Ok(extent),
            false => {
                error(span, format!("the length of a box is never negative, found `{extent}`"))
            }
        }
    }

    /// Whether a size depends on the index of an iteration.
    pub(super) fn mentions_index(&self, size: &Nat) -> bool {
        self.indices.borrow().iter().any(|(var, _)| size.mentions(var))
    }

    /// What is known here, inside of the iterations around.
    pub(super) fn facts_here(&self) -> Facts {
        let indices = self.indices.borrow();
        self.cx.facts().inside(indices.iter().map(|(var, _)| var.clone()).collect())
    }

    /// `[ e | p in D ]`
    pub(super) fn iteration(
        &self,
        value: &'a ast::Expr,
        pattern: &'a ast::Pattern,
        domain: &'a ast::Expr,
        span: Span,
        env: &Env<'a>,
        hint: Hint,
    ) -> Result<Expr> {
        if let ExprKind::Range(..) = &domain.kind {
            return Err(super::ragged::escaping(span));
        }
        let used = self.domain(domain, env)?;
        let names = index_names(pattern, &used)?;
        self.tabulate(&used, &names, domain.span, span, hint, &mut |env_of, hint| {
            let inner =
                names.iter().zip(env_of).fold(
                    env.clone(),
                    |env, (name, (value, size))| match name {
                        Some(name) => env.bind(name, Binding::Index(value.clone(), size.clone())),
                        None => env,
                    },
                );
            self.expr(value, &inner, hint)
        })
    }

    /// The array of what `element` makes of the indices of every point.
    pub(super) fn tabulate(
        &self,
        used: &Used,
        names: &[Option<&'a str>],
        domain_span: Span,
        span: Span,
        hint: Hint,
        element: &mut Element,
    ) -> Result<Expr> {
        let Some(extents) = used.extents() else {
            return self.numbered(used, names, domain_span, span, hint, element);
        };
        if extents.iter().any(|n| self.mentions_index(n)) {
            return Err(varying(used, domain_span));
        }
        let params = self.index_params(names);
        let values = all(params.iter().map(|p| self.checked(used, self.cx.var(p), domain_span)))?;
        let point = self.declare_point(&used.points, &params, Some(&values));
        let inner_hint = extents.iter().fold(hint, |hint, _| hint.element());
        let mut made = element(&point, inner_hint);
        self.forget_indices(params.len());
        for (extent, param) in extents.into_iter().zip(params).rev() {
            let extent = self.cx.simplify(&extent);
            let f = Lambda { size: None, params: vec![param], body: made? };
            let parts = Parts { sizes: vec![domain_span], ..Parts::of(span) };
            made = self.build(Prim::Generate, vec![extent], vec![f], vec![], &parts);
        }
        made
    }

    /// As [`Elaborator::tabulate`], over a domain that is no box.
    fn numbered(
        &self,
        used: &Used,
        names: &[Option<&'a str>],
        domain_span: Span,
        span: Span,
        hint: Hint,
        element: &mut Element,
    ) -> Result<Expr> {
        let length = self.packed_length(used, domain_span)?;
        let number = self.cx.fresh("r", Type::I32);
        let prim = Prim::Point(Arc::new(used.points.clone()));
        let own = self.checked(used, self.cx.var(&number), domain_span)?;
        let found = self.call(prim, vec![own], domain_span)?;
        let param = self.cx.fresh("p", found.ty().clone());
        let point = self.cx.var(&param);
        let values = match names.len() {
            1 => vec![point],
            many => all((0..many).map(|k| self.field(point.clone(), k as u32, span)))?,
        };
        let params = self.index_params(names);
        let indices = self.declare_point(&used.points, &params, Some(&values));
        let wide = match used.points.starts_low() {
            true => None,
            false => Some(self.wide_point(used, &number, &indices, domain_span)?),
        };
        let made = element(&indices, hint.element());
        self.forget_indices(params.len());
        let mut body = made?;
        if let Some((param, found)) = wide {
            let mut known = self.wide.borrow_mut();
            let kept = known.len().saturating_sub(params.len());
            known.truncate(kept);
            if body.mentions(&param) {
                body = self.named(param, found, body);
            }
        }
        // Of a point that nobody asks for, no index need have room.
        if body.mentions(&param) || !used.checked.is_empty() {
            body = self.named(param, found, body);
        }
        let f = Lambda { size: None, params: vec![number], body };
        let parts = Parts { sizes: vec![domain_span], ..Parts::of(span) };
        self.build(Prim::Generate, vec![length], vec![f], vec![], &parts)
    }

    /// A value, where outer indices are such that a domain may be used; elsewhere the run ends.
    pub(super) fn checked(&self, used: &Used, value: Expr, span: Span) -> Result<Expr> {
        let mut checked = value;
        for pred in &used.checked {
            let constraint = match pred {
                Pred::Le(low, high) => Constraint::at_most(low, high),
                Pred::Eq(..)
                | Pred::Ne(..)
                | Pred::Lt(..)
                | Pred::Divides { .. }
                | Pred::And(_) => {
                    return error(span, format!("`{pred}` is not known to hold"));
                }
            };
            checked = self.ensured(Domain::new(0, vec![constraint]), Vec::new(), checked, span)?;
        }
        Ok(checked)
    }

    pub(super) fn index_params(&self, names: &[Option<&'a str>]) -> Vec<Param> {
        names.iter().map(|name| self.cx.fresh(name.unwrap_or("i"), Type::I32)).collect()
    }

    /// Variables that stand for the indices of a point in sizes, with what is known of them.
    pub(super) fn declare_point(
        &self,
        domain: &Domain,
        params: &[Param],
        values: Option<&[Expr]>,
    ) -> Vec<Index> {
        let mut sizes: Vec<Nat> = Vec::new();
        let mut point = Vec::new();
        for (k, param) in params.iter().enumerate() {
            let var = self.cx.fresh_inside(param.name(), &[]);
            let value = match values.and_then(|values| values.get(k)) {
                Some(value) => value.clone(),
                None => self.cx.var(param),
            };
            self.indices.borrow_mut().push((var.clone(), value.clone()));
            sizes.push(Nat::var(&var));
            point.push((value, Nat::var(&var)));
        }
        for condition in domain.conditions(&sizes) {
            self.cx.assume_inside(&condition);
        }
        point
    }

    pub(super) fn forget_indices(&self, count: usize) {
        let mut indices = self.indices.borrow_mut();
        let kept = indices.len().saturating_sub(count);
        indices.truncate(kept);
    }

    /// `m[x, y]`: an element of a nested array.
    pub(super) fn element_of(
        &self,
        array: Expr,
        array_span: Span,
        indices: &'a [ast::Expr],
        span: Span,
        env: &Env<'a>,
    ) -> Result<Expr> {
        if let Some(domain) = self.packed_domain(array.ty()) {
            return self.element_at_point(array, &domain, indices, span, env);
        }
        let mut depth = 0;
        let mut ty = array.ty();
        while let Some((element, _)) = ty.as_array() {
            (depth, ty) = (depth + 1, element);
        }
        if depth < indices.len() {
            let levels = if depth == 1 { "one level" } else { &format!("{depth} levels") };
            let text =
                format!("{} indices are given, but `{}` has {levels}", indices.len(), array.ty());
            return error(span, text);
        }
        let values = all(indices.iter().map(|i| self.array_index(i, env)))?;
        let mut found = array;
        for (value, index) in values.into_iter().zip(indices) {
            found = self.element(value, found, span, [index.span, array_span])?;
        }
        Ok(found)
    }

    /// `m[x, y]`: an element of a packed array.
    fn element_at_point(
        &self,
        array: Expr,
        domain: &Used,
        indices: &'a [ast::Expr],
        span: Span,
        env: &Env<'a>,
    ) -> Result<Expr> {
        let wanted = domain.points.dimensions();
        if indices.len() != wanted {
            return Err(wrong_indices(domain, indices.len(), span));
        }
        let point = all(indices.iter().map(|i| self.array_index(i, env)))?;
        let known: Option<Vec<Nat>> =
            indices.iter().map(|i| self.within(|s| s.size(i, env)).ok()).collect();
        if let Some(known) = known
            && domain.points.conditions(&known).iter().any(|c| self.cx.refutes(c))
            && self.is_reached()
        {
            let written: Vec<String> = known.iter().map(|n| plain(n).to_string()).collect();
            let text = format!("the point ({}) is never in `{}`", written.join(", "), domain.text);
            return error(span, text);
        }
        self.at_point(array, domain, point, span)
    }

    pub(super) fn at_point(
        &self,
        array: Expr,
        domain: &Used,
        point: Vec<Expr>,
        span: Span,
    ) -> Result<Expr> {
        let rank = self.call(Prim::Rank(Arc::new(domain.points.clone())), point, span)?;
        self.element(rank, array, span, [span, span])
    }

    /// `(x, y) in D`
    pub(super) fn membership(
        &self,
        point: &'a ast::Expr,
        domain: &'a ast::Expr,
        span: Span,
        env: &Env<'a>,
    ) -> Result<Expr> {
        let used = self.domain(domain, env)?;
        let mut lets = Lets::new();
        let point = self.point_values(point, &used, env, &mut lets)?;
        let point: Vec<Expr> =
            point.into_iter().map(|value| self.shared("x", value, &mut lets)).collect();
        let mut holds = self.inside(&used.points, &point, span)?;
        let wide = self.widened(&point, span)?;
        for pred in &used.checked {
            let test = self.test(pred, &wide, span)?;
            holds = self.call(Prim::Binary(BinaryOp::And), vec![test, holds], span)?;
        }
        Ok(self.close(lets, holds))
    }

    /// Whether a point is in a domain.
    pub(super) fn inside(&self, domain: &Domain, point: &[Expr], span: Span) -> Result<Expr> {
        let wide = self.widened(point, span)?;
        let conditions = domain.conditions(&domain.point());
        let tests = all(conditions.iter().map(|condition| self.test(condition, &wide, span)))?;
        let mut tests = tests.into_iter();
        let first = tests.next().unwrap_or_else(|| self.cx.literal(Literal::Bool(true)));
        let and = Prim::Binary(BinaryOp::And);
        tests.try_fold(first, |holds, test| self.call(and.clone(), vec![holds, test], span))
    }

    /// Indices in 64 bits, where nothing that is compared wraps.
    pub(super) fn widened(&self, point: &[Expr], span: Span) -> Result<Vec<Expr>> {
        all(point.iter().map(|x| self.call(Prim::Cast(Scalar::I64), vec![x.clone()], span)))
    }

    /// A condition on the indices of a point as a value.
    pub(super) fn test(&self, condition: &Pred, point: &[Expr], span: Span) -> Result<Expr> {
        match condition {
            Pred::Le(_, value) => {
                let (left, right) = self.sides(value, point, Scalar::I64, span)?;
                self.call(Prim::Binary(BinaryOp::Le), vec![left, right], span)
            }
            Pred::Divides { divisor, of } => {
                let of = self.affine_value(of, point, Scalar::I64, span)?;
                let by = self.size_as(divisor, Scalar::I64, span)?;
                let rest = self.call(Prim::Binary(BinaryOp::Rem), vec![of, by], span)?;
                let zero = self.size_as(&Nat::ZERO, Scalar::I64, span)?;
                self.call(Prim::Binary(BinaryOp::Eq), vec![rest, zero], span)
            }
            Pred::Eq(..) | Pred::Ne(..) | Pred::Lt(..) | Pred::And(_) => {
                unreachable!("constraints are bounds and divisibilities")
            }
        }
    }

    /// `0 <= value` as two sides that are compared: what is subtracted stands on the left.
    fn sides(
        &self,
        value: &Nat,
        point: &[Expr],
        scalar: Scalar,
        span: Span,
    ) -> Result<(Expr, Expr)> {
        if !self.is_affine(value, point.len()) {
            let zero = self.size_as(&Nat::ZERO, scalar, span)?;
            return Ok((zero, self.value_at(value, point, scalar, span)?));
        }
        let (point, value) = self.with_outer(value, point);
        let (coefficients, rest) =
            lift_domain::affine(&value, point.len()).map_err(|_| not_affine(span))?;
        let (mut left, mut right) = (None, None);
        for (x, c) in point.iter().zip(coefficients) {
            let side = if c < 0 { &mut left } else { &mut right };
            *side = self.plus(side.take(), x, c.abs(), scalar, span)?;
        }
        let nothing = |side: Option<Expr>| match side {
            Some(side) => Ok(side),
            None => self.size_as(&Nat::ZERO, scalar, span),
        };
        let right = match (right, rest == Nat::ZERO) {
            (Some(right), true) => right,
            (Some(right), false) => {
                let rest = self.size_as(&rest, scalar, span)?;
                self.call(Prim::Binary(BinaryOp::Add), vec![right, rest], span)?
            }
            (None, _) => self.size_as(&rest, scalar, span)?,
        };
        Ok((nothing(left)?, right))
    }

    fn plus(
        &self,
        sum: Option<Expr>,
        x: &Expr,
        factor: i128,
        scalar: Scalar,
        span: Span,
    ) -> Result<Option<Expr>> {
        if factor == 0 {
            return Ok(sum);
        }
        let x = match factor {
            1 => x.clone(),
            _ => {
                let factor = self.size_as(&Nat::int(factor), scalar, span)?;
                self.call(Prim::Binary(BinaryOp::Mul), vec![factor, x.clone()], span)?
            }
        };
        Ok(Some(match sum {
            None => x,
            Some(sum) => self.call(Prim::Binary(BinaryOp::Add), vec![sum, x], span)?,
        }))
    }

    /// A value in terms of the indices of a point.
    pub(super) fn affine_value(
        &self,
        value: &Nat,
        point: &[Expr],
        scalar: Scalar,
        span: Span,
    ) -> Result<Expr> {
        if !self.is_affine(value, point.len()) {
            return self.value_at(value, point, scalar, span);
        }
        let (left, right) = self.sides(value, point, scalar, span)?;
        let nothing = matches!(left.kind(), lift_ir::Kind::Literal(Literal::Int(_, 0)));
        match nothing {
            true => Ok(right),
            false => self.call(Prim::Binary(BinaryOp::Sub), vec![right, left], span),
        }
    }

    /// Whether a value is affine in the indices of a point and in outer ones.
    fn is_affine(&self, value: &Nat, dimensions: usize) -> bool {
        let mut behind = dimensions;
        let mut placed = value.clone();
        for (var, _) in self.indices.borrow().iter().filter(|(var, _)| value.mentions(var)) {
            let k = behind;
            placed = placed.substitute(&|v| (v == var).then(|| Domain::index(k)));
            behind += 1;
        }
        lift_domain::affine(&placed, behind).is_ok()
    }

    /// Outer indices in a value are further indices of the point.
    fn with_outer(&self, value: &Nat, point: &[Expr]) -> (Vec<Expr>, Nat) {
        let indices = self.indices.borrow();
        let mut all = point.to_vec();
        let mut value = value.clone();
        for (var, outer) in indices.iter() {
            if !value.mentions(var) {
                continue;
            }
            let k = all.len();
            value = value.substitute(&|v| (v == var).then(|| Domain::index(k)));
            all.push(match point.first().map(Expr::ty) {
                Some(Type::Scalar(Scalar::I64)) => {
                    let wide =
                        self.cx.call(Prim::Cast(Scalar::I64), vec![], vec![], vec![outer.clone()]);
                    wide.unwrap_or_else(|_| outer.clone())
                }
                _ => outer.clone(),
            });
        }
        (all, value)
    }

    pub(super) fn call(&self, prim: Prim, args: Vec<Expr>, span: Span) -> Result<Expr> {
        self.build(prim, vec![], vec![], args, &Parts::of(span))
    }

    /// The indices of a point as it is written: `(x, y)`, one index, or a tuple of them.
    fn point_values(
        &self,
        ast: &'a ast::Expr,
        used: &Used,
        env: &Env<'a>,
        lets: &mut Lets,
    ) -> Result<Vec<Expr>> {
        let items = match &ast.kind {
            ExprKind::Tuple(items) => items.as_slice(),
            ExprKind::Paren(inner) => return self.point_values(inner, used, env, lets),
            _ => std::slice::from_ref(ast),
        };
        let wanted = used.points.dimensions();
        if let ([only], 2..) = (items, wanted) {
            let point = self.expr(only, env, Hint::None)?;
            return self.components(point, used, only.span, lets);
        }
        if items.len() != wanted {
            return Err(wrong_indices(used, items.len(), ast.span));
        }
        let values = all(items.iter().map(|item| self.array_index(item, env)))?;
        all(values.into_iter().zip(items).map(|(value, item)| an_index(value, item.span)))
    }

    /// The indices of a point that is a tuple.
    fn components(
        &self,
        point: Expr,
        used: &Used,
        span: Span,
        lets: &mut Lets,
    ) -> Result<Vec<Expr>> {
        let wanted = used.points.dimensions();
        let found = match point.ty() {
            Type::Tuple(items) => items.len(),
            _ => 1,
        };
        if found != wanted {
            return Err(wrong_indices(used, found, span));
        }
        if wanted == 1 {
            return Ok(vec![an_index(point, span)?]);
        }
        let point = self.shared("p", point, lets);
        let items = (0..wanted).map(|k| self.field(point.clone(), k as u32, span));
        all(items.map(|item| an_index(item?, span)))
    }
}

fn an_index(value: Expr, span: Span) -> Result<Expr> {
    match value.ty().element_scalar() {
        Some(scalar) if scalar.is_integer() => Ok(value),
        _ => error(span, format!("an index is an integer, found `{}`", value.ty())),
    }
}

pub(super) fn wrong_indices(used: &Used, found: usize, span: Span) -> Errors {
    let wanted = used.points.dimensions();
    let plural = if wanted == 1 { "index" } else { "indices" };
    Errors::at(span, format!("`{}` has {wanted} {plural}, found {found}", used.text))
}

/// The name of each index, where it has one.
pub(super) fn index_names<'a>(
    pattern: &'a ast::Pattern,
    used: &Used,
) -> Result<Vec<Option<&'a str>>> {
    super::apply::bound_once(std::slice::from_ref(pattern))?;
    let items = match &pattern.kind {
        PatternKind::Tuple(items) => items.as_slice(),
        PatternKind::Name(_) | PatternKind::Wildcard => std::slice::from_ref(pattern),
    };
    let wanted = used.points.dimensions();
    if items.len() != wanted {
        return Err(wrong_indices(used, items.len(), pattern.span));
    }
    all(items.iter().map(|item| match &item.kind {
        PatternKind::Name(name) => Ok(Some(name.as_str())),
        PatternKind::Wildcard => Ok(None),
        PatternKind::Tuple(_) => error(item.span, "an index is a number, not a tuple"),
    }))
}

fn not_affine(span: Span) -> Errors {
    Errors::at(span, "this is not affine in the indices")
}

pub(super) fn varying(used: &Used, span: Span) -> Errors {
    Errors::one(
        Diagnostic::error("the shape of this array depends on an outer index")
            .at(span, format!("as many as `{}` has points", used.text))
            .help("iterate over one domain of all points, such as `{ (i, j) | j <= i, i < n }`"),
    )
}
