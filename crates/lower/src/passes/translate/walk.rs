//! Indices that go through an array in steps.
//!
//! Before: `for (i < count) { check(a + 4 * i); acc = f(acc, xs[a + 4 * i]); }`
//! After: `if (count > 0) check both ends; for (i < count) acc = f(acc, xs[a + 4 * i]);`
//!
//! What is between two indices that are in range is in range, so the ends say for all of them, and arithmetic on the way does not wrap. Where they
//! fail, some element would have: nothing is folded then. Only reads that every element does count.

use lift_ir::{
    BinaryOp, Expr as Functional, Kind, Lambda, Literal, Nat, Param, Pred, Prim, Range, Scalar,
    Span, Type, UnaryOp,
};
use lift_kernel::{Expr, Stmt};

use super::conditions::is_lazy;
use super::view::View;
use super::{Env, Translator};
use crate::LowerError;
use crate::passes::share;
use crate::plan::Fault;

/// The elements of a range that read arrays at `base + by * number`.
pub(super) struct Walk {
    /// What is called so, and what is made of it.
    index: Param,
    body: Functional,
    base: Nat,
    by: Nat,
    scalar: Scalar,
    /// The lengths of the arrays, and where they are read.
    reads: Vec<(Nat, Option<Span>)>,
}

impl Walk {
    /// How a range is walked, if its elements read at their numbers.
    pub(super) fn of(
        t: &mut Translator,
        element: &Lambda,
        scalar: Scalar,
        env: &Env,
    ) -> Result<Option<Walk>, LowerError> {
        let [number] = element.params.as_slice() else { return Ok(None) };
        if t.out.options.unchecked {
            return Ok(None);
        }
        let (index, value, body) = match element.body.kind() {
            Kind::Let { param, value, body } if steps(value, number) && !body.mentions(number) => {
                (param, Some(value), body)
            }
            _ => (number, None, &element.body),
        };
        let mut reads = Vec::new();
        add_reads(body, index, &mut reads);
        reads.dedup_by(|a, b| a.0 == b.0);
        let scalar = integer(index.ty()).unwrap_or(scalar);
        // What is in range is a value of the type, then.
        let most = scalar.integer_range().map_or(Nat::ZERO, |(_, most)| Nat::int(most));
        let fits = value.is_none() || reads.iter().all(|(n, _)| t.out.facts.at_most(n, &most));
        if reads.is_empty() || !fits {
            return Ok(None);
        }
        let (base, by) = match value {
            None => (Nat::ZERO, Nat::ONE),
            Some(value) => match t.stepping(value, number, env)? {
                Some((base, by)) if t.out.proves(&Pred::Lt(Nat::ZERO, by.clone())) => (base, by),
                _ => return Ok(None),
            },
        };
        let (index, body) = (index.clone(), body.clone());
        Ok(Some(Walk { index, body, base, by, scalar, reads }))
    }

    fn at(&self, number: &Nat) -> Nat {
        &self.base + &self.by * number
    }

    /// The first index that is not below a number, from one of them on.
    fn first_from(&self, first: &Nat, least: &Nat) -> Nat {
        if self.by == Nat::ONE {
            return Nat::max(first, least);
        }
        let steps = (least - first).ceil_div(&self.by);
        Nat::cond(Pred::Lt(first.clone(), least.clone()), first + &self.by * steps, first.clone())
    }

    /// How many elements there are, none where one would read outside of an array.
    pub(super) fn checked(
        &self,
        t: &mut Translator,
        low: &Nat,
        count: &Nat,
    ) -> Result<Nat, LowerError> {
        let first = self.at(low);
        let last = self.at(&(low + count - Nat::ONE));
        let mut all = Vec::new();
        for (length, span) in &self.reads {
            let inside =
                vec![Pred::Le(Nat::ZERO, first.clone()), Pred::Lt(last.clone(), length.clone())];
            let inside: Vec<Pred> = inside.into_iter().filter(|p| !t.out.proves(p)).collect();
            if inside.is_empty() {
                continue;
            }
            let inside = Pred::And(inside);
            let outside = Expr::Unary(UnaryOp::Not, Box::new(Expr::Test(inside.clone())));
            let any = Expr::Test(Pred::Lt(Nat::ZERO, count.clone()));
            let failed = Expr::Binary(BinaryOp::And, Box::new(any), Box::new(outside));
            let fault = Fault::Index { length: length.clone() };
            // The first that is outside, which the last is not before: there is room for it.
            let natural = Pred::Le(Nat::ZERO, first.clone());
            let told = Nat::cond(natural, self.first_from(&first, length), first.clone());
            let told = Some(told).filter(|_| self.scalar == Scalar::I32);
            let told = told.map(|index| Expr::Index(index, Scalar::I32));
            t.out.fail_telling(failed, *span, fault, told.into_iter().collect())?;
            all.push(inside);
        }
        if all.is_empty() {
            return Ok(count.clone());
        }
        let inside = t.out.fresh_index("inside", Range::at_least(Nat::ZERO));
        let value = Expr::Index(Nat::cond(Pred::And(all), count.clone(), Nat::ZERO), Scalar::I64);
        t.out.emit(Stmt::Index { var: inside.clone(), value });
        Ok(Nat::var(&inside))
    }

    /// The element of a number of the range.
    pub(super) fn element(
        &self,
        t: &mut Translator,
        number: Nat,
        env: &Env,
    ) -> Result<View, LowerError> {
        let mut lengths = self.reads.iter().map(|(length, _)| length);
        let Some(first) = lengths.next() else { return Err(super::view::broken("a read")) };
        let at = t.out.fresh_index(self.index.name(), Range::below(first.clone()));
        let value = Expr::Index(self.at(&number), Scalar::I64);
        t.out.emit(Stmt::Index { var: at.clone(), value });
        for length in lengths {
            t.out.assume_of(&at, &Pred::Lt(Nat::var(&at), length.clone()));
        }
        let own = View::Value(Expr::Index(Nat::var(&at), self.scalar));
        t.eval(&self.body, &env.bind(&self.index, own))
    }
}

impl Translator {
    /// An integer as `base + by * number`, where nothing wraps.
    fn stepping(
        &mut self,
        value: &Functional,
        number: &Param,
        env: &Env,
    ) -> Result<Option<(Nat, Nat)>, LowerError> {
        if !value.mentions(number) {
            let found = self.eval(value, env)?.into_value()?;
            return Ok(Some((self.out.index_of_value(found), Nat::ZERO)));
        }
        if value.as_var() == Some(number) {
            return Ok(Some((Nat::ZERO, Nat::ONE)));
        }
        let Some(call) = value.as_call() else { return Ok(None) };
        match (&call.prim, call.args.as_slice()) {
            (Prim::Cast(Scalar::I32 | Scalar::I64), [inner]) => self.stepping(inner, number, env),
            (Prim::Binary(BinaryOp::Add), [a, b]) => {
                let (a, b) = (self.stepping(a, number, env)?, self.stepping(b, number, env)?);
                Ok(a.zip(b).map(|(a, b)| (a.0 + b.0, a.1 + b.1)))
            }
            (Prim::Binary(BinaryOp::Mul), [a, b]) => {
                let (other, factor) = match (a.kind(), b.kind()) {
                    (_, Kind::Literal(Literal::Int(_, n))) => (a, *n),
                    (Kind::Literal(Literal::Int(_, n)), _) => (b, *n),
                    _ => return Ok(None),
                };
                let other = self.stepping(other, number, env)?;
                Ok(other.map(|(base, by)| (base * Nat::int(factor), by * Nat::int(factor))))
            }
            _ => Ok(None),
        }
    }
}

/// Whether an integer is made of a number by adding and multiplying.
fn steps(value: &Functional, number: &Param) -> bool {
    let Some(_) = integer(value.ty()) else { return false };
    if value.as_var() == Some(number) {
        return true;
    }
    value.as_call().is_some_and(|call| {
        let is_arithmetic =
            matches!(call.prim, Prim::Cast(_) | Prim::Binary(BinaryOp::Add | BinaryOp::Mul));
        let of_number = |arg: &&Functional| arg.mentions(number);
        is_arithmetic && call.args.iter().filter(of_number).all(|arg| steps(arg, number))
    }) && value.mentions(number)
}

fn integer(ty: &Type) -> Option<Scalar> {
    match ty {
        Type::Scalar(scalar @ (Scalar::I32 | Scalar::I64)) => Some(*scalar),
        _ => None,
    }
}

/// The lengths of arrays that an expression always reads at an index.
fn add_reads(expr: &Functional, index: &Param, reads: &mut Vec<(Nat, Option<Span>)>) {
    match expr.kind() {
        Kind::Var(_) | Kind::Literal(_) | Kind::Size(..) => {}
        Kind::Let { value, body, .. } => {
            add_reads(value, index, reads);
            add_reads(body, index, reads);
        }
        Kind::Call(call) => {
            let is_lazy = matches!(&call.prim, Prim::Binary(op) if is_lazy(*op, expr));
            let always = if is_lazy || share::chooses(&call.prim) { 1 } else { call.args.len() };
            call.args.iter().take(always).for_each(|arg| add_reads(arg, index, reads));
            if let (Prim::At, [at, xs]) = (&call.prim, call.args.as_slice())
                && at.as_var() == Some(index)
                && let Some((_, length)) = xs.ty().as_array()
            {
                reads.push((length.clone(), expr.span()));
            }
        }
    }
}
