//! Sizes that depend on outer indices, as values.
//!
//! An index is no size of the finished program, so what a size says of indices is computed when the program runs: in 64 bits,
//! where nothing wraps that is a number of points.

use lift_domain::{Constraint, Domain, MAX_DIMENSIONS};
use lift_ir::{
    BinaryOp, Expr, Literal, Math, Nat, Pred, Prim, Scalar, Span, Type, UnaryOp, Var, Written,
};

use super::super::apply::Lets;
use super::super::domains::Used;
use super::super::errors::{Errors, Parts, all};
use super::super::{Elaborator, Result};
use crate::diagnostic::Diagnostic;

/// What is known of numbers that indices are.
const LARGEST: i128 = i32::MAX as i128;
const SMALLEST: i128 = i32::MIN as i128;

/// A power of more factors is not written as a product.
const MOST_FACTORS: u128 = 16;

/// What the variables of a size stand for, and where it is needed.
struct Scope<'s> {
    /// The indices of a point.
    point: &'s [Expr],
    span: Span,
}

impl<'a> Elaborator<'a> {
    /// A size as a value, also where it depends on outer indices.
    pub(in crate::elaborate) fn size_as(
        &self,
        size: &Nat,
        scalar: Scalar,
        span: Span,
    ) -> Result<Expr> {
        match self.mentions_index(size) {
            true => self.value_at(size, &[], scalar, span),
            false => self.cx.size(size, scalar).map_err(|e| Parts::of(span).blame(e)),
        }
    }

    /// A value in terms of the indices of a point, of outer indices and of sizes. In 32 bits, a value that is too large for them ends the run.
    pub(super) fn value_at(
        &self,
        value: &Nat,
        point: &[Expr],
        scalar: Scalar,
        span: Span,
    ) -> Result<Expr> {
        let value = &self.cx.simplify(value);
        let wide = self.wide_value(value, &Scope { point, span })?;
        if scalar == Scalar::I64 {
            return Ok(wide);
        }
        let (largest, smallest) = (Nat::int(LARGEST), Nat::int(SMALLEST));
        let mut facts = self.facts_here();
        for var in value.vars() {
            if self.mentions_index(&Nat::var(&var)) {
                facts.assume(&Pred::Le(Nat::var(&var), largest.clone()));
            }
        }
        let mut held = wide;
        if !facts.at_most(value, &largest) {
            let most = self.size_as(&largest, Scalar::I64, span)?;
            let le = Prim::Binary(BinaryOp::Le);
            let has_room = self.call(le, vec![held.clone(), most], span)?;
            held = self.held_to(has_room, held, span)?;
        }
        if !facts.at_most(&smallest, value) {
            let least = self.size_as(&smallest, Scalar::I64, span)?;
            held = self.call(Prim::Math(Math::Max), vec![least, held], span)?;
        }
        self.call(Prim::Cast(Scalar::I32), vec![held], span)
    }

    /// A size in 64 bits.
    fn wide_value(&self, value: &Nat, scope: &Scope) -> Result<Expr> {
        self.wide_written(&value.written(), scope)
    }

    fn wide_written(&self, written: &Written, scope: &Scope) -> Result<Expr> {
        let Scope { span, .. } = *scope;
        let value = |part: &Written| self.wide_written(part, scope);
        let operation = |op, a: Expr, b: Expr| self.call(Prim::Binary(op), vec![a, b], span);
        match written {
            Written::Int(number) => {
                let number = i128::try_from(*number).map_err(|_| no_value(span))?;
                self.size_as(&Nat::int(number), Scalar::I64, span)
            }
            Written::Var(var) => self.wide_variable(var, scope),
            Written::Sum(parts) => {
                let add = |sum: Option<Expr>, (is_negative, part): &(bool, Written)| {
                    let part = value(part)?;
                    Ok(Some(match (sum, is_negative) {
                        (None, false) => part,
                        (None, true) => self.call(Prim::Unary(UnaryOp::Neg), vec![part], span)?,
                        (Some(sum), false) => operation(BinaryOp::Add, sum, part)?,
                        (Some(sum), true) => operation(BinaryOp::Sub, sum, part)?,
                    }))
                };
                parts.iter().try_fold(None, add)?.ok_or_else(|| no_value(span))
            }
            Written::Product(factors) => self.joined(Prim::Binary(BinaryOp::Mul), factors, scope),
            Written::Div(a, b) => operation(BinaryOp::Div, value(a)?, value(b)?),
            Written::Rem(a, b) => operation(BinaryOp::Rem, value(a)?, value(b)?),
            Written::Pow(base, exponent) => {
                let Written::Int(k @ 1..=MOST_FACTORS) = **exponent else {
                    return Err(no_value(span));
                };
                let base = value(base)?;
                (1..k).try_fold(base.clone(), |power, _| {
                    operation(BinaryOp::Mul, power, base.clone())
                })
            }
            Written::Min(parts) => self.joined(Prim::Math(Math::Min), parts, scope),
            Written::Max(parts) => self.joined(Prim::Math(Math::Max), parts, scope),
            Written::Choice(pred, yes, no) => {
                let args = vec![self.wide_test(pred, scope)?, value(yes)?, value(no)?];
                self.call(Prim::If, args, span)
            }
            Written::Over(_) => Err(no_formula(span)),
            Written::Log2(_) | Written::Overflow => Err(no_value(span)),
        }
    }

    /// Parts joined by an operation that associates.
    fn joined(&self, with: Prim, parts: &[Written], scope: &Scope) -> Result<Expr> {
        let mut values = all(parts.iter().map(|part| self.wide_written(part, scope)))?.into_iter();
        let first = values.next().ok_or_else(|| no_value(scope.span))?;
        values.try_fold(first, |a, b| self.call(with.clone(), vec![a, b], scope.span))
    }

    /// A condition on sizes.
    fn wide_test(&self, pred: &Pred, scope: &Scope) -> Result<Expr> {
        let compared = |op, a: &Nat, b: &Nat| {
            let args = vec![self.wide_value(a, scope)?, self.wide_value(b, scope)?];
            self.call(Prim::Binary(op), args, scope.span)
        };
        match pred {
            Pred::Eq(a, b) => compared(BinaryOp::Eq, a, b),
            Pred::Ne(a, b) => compared(BinaryOp::Ne, a, b),
            Pred::Lt(a, b) => compared(BinaryOp::Lt, a, b),
            Pred::Le(a, b) => compared(BinaryOp::Le, a, b),
            Pred::Divides { divisor, of } => compared(BinaryOp::Eq, &of.rem(divisor), &Nat::ZERO),
            Pred::And(parts) => {
                let tests = all(parts.iter().map(|part| self.wide_test(part, scope)))?;
                let always = self.cx.literal(Literal::Bool(true));
                let and = Prim::Binary(BinaryOp::And);
                tests.into_iter().try_fold(always, |holds, test| {
                    self.call(and.clone(), vec![holds, test], scope.span)
                })
            }
        }
    }

    /// An index of the point, an outer index or a size, in 64 bits.
    fn wide_variable(&self, var: &Var, scope: &Scope) -> Result<Expr> {
        let own = (0..scope.point.len()).find(|k| Domain::index_var(*k) == *var);
        let outer = || self.indices.borrow().iter().find(|(v, _)| v == var).map(|(_, e)| e.clone());
        match own.and_then(|k| scope.point.get(k).cloned()).or_else(outer) {
            Some(index) => self.call(Prim::Cast(Scalar::I64), vec![index], scope.span),
            None => self.size_as(&Nat::var(var), Scalar::I64, scope.span),
        }
    }

    /// A value, where a point is in a domain; elsewhere the run ends. Sizes of the domain may be outer indices.
    pub(super) fn ensured(
        &self,
        domain: Domain,
        point: Vec<Expr>,
        value: Expr,
        span: Span,
    ) -> Result<Expr> {
        let (mut indices, mut known) = (point.clone(), domain.clone());
        let mut ends = Vec::new();
        for (var, outer) in self.outer_indices(&domain) {
            let k = indices.len();
            indices.push(outer);
            ends.extend(self.end_of(&var).map(|end| Constraint::less(&Domain::index(k), &end)));
            known = Domain::new(indices.len(), known.constraints().to_vec())
                .substitute(&|v| (*v == var).then(|| Domain::index(k)));
        }
        // All points are listed where the program is interpreted, so indices are said to be where they are.
        if known.unbounded().is_some() {
            let constraints = known.constraints().iter().cloned().chain(ends).collect();
            known = Domain::new(indices.len(), constraints);
        }
        let is_told = indices.len() <= MAX_DIMENSIONS
            && known.not_affine().is_none()
            && known.unbounded().is_none()
            && known.levels().is_some();
        if is_told {
            return self.met(known, indices, value, span);
        }
        let holds = self.inside(&domain, &point, span)?;
        self.held_to(holds, value, span)
    }

    /// The outer indices that a domain depends on, outermost first, and their values.
    fn outer_indices(&self, domain: &Domain) -> Vec<(Var, Expr)> {
        let sizes = domain.sizes();
        self.indices.borrow().iter().filter(|(var, _)| sizes.contains(var)).cloned().collect()
    }

    /// A size that an outer index is known to be below.
    fn end_of(&self, index: &Var) -> Option<Nat> {
        let facts = self.facts_here();
        let is_end = |size: &Nat| {
            !self.mentions_index(size) && facts.proves(&Pred::Lt(Nat::var(index), size.clone()))
        };
        facts.vars().into_iter().map(|size| Nat::var(&size)).find(is_end)
    }

    /// `point(D, r)` of a domain that depends on outer indices: the point of the domain of these and its own that has the
    /// number r among those with the same outer ones.
    pub(super) fn outer_point(&self, used: &Used, number: Expr, span: Span) -> Result<Expr> {
        let outer = self.outer_indices(&used.points);
        let (first, own) = (outer.len(), used.points.dimensions());
        let place = |v: &Var| {
            let behind = |k| Domain::index(first + k);
            let here = outer.iter().position(|(var, _)| var == v).map(Domain::index);
            here.or_else(|| (0..own).find(|k| Domain::index_var(*k) == *v).map(behind))
        };
        let moved = |c: &Constraint| match c {
            Constraint::AtLeast(n) => Constraint::AtLeast(n.substitute(&place)),
            Constraint::Multiple { of, divisor } => {
                Constraint::Multiple { of: of.substitute(&place), divisor: *divisor }
            }
        };
        let ends = outer.iter().enumerate().filter_map(|(k, (var, _))| {
            Some(Constraint::less(&Domain::index(k), &self.end_of(var)?))
        });
        let constraints = used.points.constraints().iter().map(moved).chain(ends).collect();
        let all_points = Domain::new(first + own, constraints);
        let levels = match first + own <= MAX_DIMENSIONS
            && all_points.not_affine().is_none()
            && all_points.unbounded().is_none()
        {
            true => all_points.levels(),
            false => None,
        };
        let (Some(levels), Some(own_levels)) = (levels, used.points.levels()) else {
            return Err(Errors::one(
                Diagnostic::error("the points of this domain depend on an outer index")
                    .at(span, format!("no formula finds those of `{}` for all of them", used.text))
                    .help("name the points themselves: `[ e | p in D ]`"),
            ));
        };
        let mut lets = Lets::new();
        let scalar = match number.ty() {
            Type::Scalar(Scalar::I64) => Scalar::I64,
            _ => Scalar::I32,
        };
        let number = self.call(Prim::Cast(Scalar::I64), vec![number], span)?;
        let number = self.shared("r", number, &mut lets);
        // How many points come before those of these outer indices.
        let values: Vec<Expr> = outer.iter().map(|(_, value)| value.clone()).collect();
        let before = levels.levels().iter().take(first).map(|level| level.before.clone());
        let before = before.fold(Nat::ZERO, |sum, n| sum + n);
        let before = self.value_at(&before, &values, Scalar::I64, span)?;
        let count = self.value_at(own_levels.count(), &[], Scalar::I64, span)?;
        let zero = self.size_as(&Nat::ZERO, Scalar::I64, span)?;
        let natural = self.call(Prim::Binary(BinaryOp::Le), vec![zero, number.clone()], span)?;
        let below = self.call(Prim::Binary(BinaryOp::Lt), vec![number.clone(), count], span)?;
        let is_one = self.call(Prim::Binary(BinaryOp::And), vec![natural, below], span)?;
        let there = self.call(Prim::Binary(BinaryOp::Add), vec![before, number], span)?;
        // No point has it, which ends the run.
        let nowhere = self.size_as(&Nat::int(-1), Scalar::I64, span)?;
        let there = self.call(Prim::If, vec![is_one, there, nowhere], span)?;
        let point = self.call(Prim::Point(all_points.into()), vec![there], span)?;
        let point = self.shared("p", point, &mut lets);
        let index = |k: usize| {
            let index = self.field(point.clone(), (first + k) as u32, span)?;
            match scalar {
                Scalar::I64 => Ok(index),
                _ => self.call(Prim::Cast(Scalar::I32), vec![index], span),
            }
        };
        let mut found = all((0..own).map(index))?;
        let found = match (found.pop(), found.is_empty()) {
            (Some(only), true) => only,
            (last, _) => {
                found.extend(last);
                self.call(Prim::Tuple, found, span)?
            }
        };
        Ok(self.close(lets, found))
    }

    /// A value, where a condition holds; elsewhere the run ends.
    fn held_to(&self, holds: Expr, value: Expr, span: Span) -> Result<Expr> {
        let zero = self.size_as(&Nat::ZERO, Scalar::I32, span)?;
        let less = self.size_as(&Nat::int(-1), Scalar::I32, span)?;
        let state = self.call(Prim::If, vec![holds, zero, less], span)?;
        let only = Domain::new(1, vec![Constraint::less(&Domain::index(0), &Nat::ONE)]);
        self.met(only, vec![state], value, span)
    }

    /// Asking for the number of a point checks that there is one.
    fn met(&self, domain: Domain, point: Vec<Expr>, value: Expr, span: Span) -> Result<Expr> {
        let rank = self.call(Prim::Rank(domain.into()), point, span)?;
        let zero = self.size_as(&Nat::ZERO, Scalar::I32, span)?;
        let holds = self.call(Prim::Binary(BinaryOp::Le), vec![zero, rank], span)?;
        self.call(Prim::If, vec![holds, value.clone(), value], span)
    }
}

fn no_formula(span: Span) -> Errors {
    Errors::one(
        Diagnostic::error("no formula gives this number, which depends on an outer index")
            .at(span, "")
            .help("fold over the points: `reduce(0, (+), [ 1 | (i, j, k) in D ])` counts them"),
    )
}

fn no_value(span: Span) -> Errors {
    Errors::at(span, "a size with an outer index is too large here to be computed")
}
