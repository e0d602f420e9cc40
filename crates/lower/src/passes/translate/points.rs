//! Points of domains and their numbers.
//!
//! The number of a point is a formula of its indices. Back from a number, an index at a time is found: by division where
//! its values are evenly apart and as many points follow each, by a square root in a triangle of moderate size, else by bisection of the number of
//! points before it, in integers, so that it is exact. What the domain says of its indices is known of them afterwards.

use lift_domain::{Domain, Level, Levels};
use lift_ir::{BinaryOp, Call, Literal, Nat, Pred, Range, Scalar, Span, UnaryOp};
use lift_kernel::{Expr, LoopKind, Stmt, ValueType};

use super::checks::{compared, inside};
use super::conditions::as_index;
use super::emitter::Emitter;
use super::view::{View, broken};
use super::{Env, Translator};
use crate::LowerError;
use crate::plan::{Fault, Index};

/// Indices are below 2^31, so that this many bits make one up.
const BITS: i128 = 31;

impl Translator {
    /// The number of a point, which is checked where it is not proved to be in the domain.
    pub(super) fn rank(
        &mut self,
        domain: &Domain,
        call: &Call,
        env: &Env,
        span: Option<Span>,
    ) -> Result<View, LowerError> {
        let levels = domain.levels().ok_or_else(|| broken("a domain that is counted"))?;
        let mut point = Vec::new();
        for arg in &call.args {
            point.push(self.eval(arg, env)?.into_value()?);
        }
        let are_narrow = point.iter().all(|x| is_narrow(x.ty().scalar));
        let apart = self.out.in_room(&mut point, domain);
        let point = self.out.point_indices(point, domain, span);
        let mut open = domain.conditions(&point);
        open.retain(|condition| !self.out.proves(condition));
        let is_open = !open.is_empty() || !apart.is_empty();
        let checked = is_open && !self.out.options.unchecked;
        // Products of three numbers of 32 bits have no room in 64.
        let held = match checked && domain.dimensions() > 2 {
            true => self.out.held_in_box(&point, domain),
            false => point.clone(),
        };
        let mut rank = self.out.simplify(&levels.rank(&held));
        if checked {
            let inside = Pred::And(open);
            let all = apart.into_iter().fold(Expr::Test(inside.clone()), |all, test| {
                Expr::Binary(BinaryOp::And, Box::new(test), Box::new(all))
            });
            let outside = Expr::Unary(UnaryOp::Not, Box::new(all));
            let fault = Fault::Point { domain: domain.clone() };
            let told = point.iter().filter(|_| are_narrow);
            let told = told.map(|x| Expr::Index(x.clone(), Scalar::I32)).collect();
            self.out.fail_telling(outside, span, fault, told)?;
            rank = Nat::cond(inside, rank, Nat::ZERO);
        }
        if !self.out.proves(&inside(&rank, levels.count())) {
            let var = self.out.fresh_index("rank", Range::at_least(Nat::ZERO));
            self.out.emit(Stmt::Index { var: var.clone(), value: Expr::Index(rank, Scalar::I64) });
            rank = Nat::var(&var);
            // Outside, 0 takes its place, which there may be no point of.
            if !checked || self.out.proves(&Pred::Lt(Nat::ZERO, levels.count().clone())) {
                self.out.assume_of(&var, &Pred::Lt(rank.clone(), levels.count().clone()));
            }
        }
        Ok(View::Value(Expr::Index(rank, Scalar::I32)))
    }

    /// The point of a number, which is checked where it is not proved to be one.
    pub(super) fn point(
        &mut self,
        domain: &Domain,
        call: &Call,
        env: &Env,
        span: Option<Span>,
    ) -> Result<View, LowerError> {
        let levels = domain.levels().ok_or_else(|| broken("a domain that is counted"))?;
        let number = call.args.first().ok_or_else(|| broken("a number"))?;
        let number = self.eval(number, env)?.into_value()?;
        let scalar = match number.ty().scalar {
            Scalar::I64 => Scalar::I64,
            _ => Scalar::I32,
        };
        let known = as_index(&number).map(|(n, _)| self.out.simplify(&n));
        if let Some(point) = known.and_then(|n| self.visited(domain, &n)) {
            return Ok(self.indices(point, scalar, domain, span));
        }
        let rest = match as_index(&number) {
            Some((n, scalar)) if self.out.proves(&inside(&n, levels.count())) => {
                let (value, length) = (n.clone(), levels.count().clone());
                self.out.written.values.push(Index { value, length, scalar, span });
                self.out.simplify(&n)
            }
            _ => self.out.number_below(number, domain, levels.count(), span)?,
        };
        let point = self.point_of(domain, &levels, rest)?;
        Ok(self.indices(point, scalar, domain, span))
    }

    /// The indices of a point as the value that `point` gives, where each has room.
    fn indices(
        &mut self,
        point: Vec<Nat>,
        scalar: Scalar,
        domain: &Domain,
        span: Option<Span>,
    ) -> View {
        for length in domain.bounding_box().unwrap_or_default() {
            let value = &length - Nat::ONE;
            self.out.written.values.push(Index { value, length, scalar, span });
        }
        let mut indices: Vec<View> =
            point.into_iter().map(|x| View::Value(Expr::Index(x, scalar))).collect();
        match indices.pop() {
            Some(only) if indices.is_empty() => only,
            last => View::Tuple(indices.into_iter().chain(last).collect()),
        }
    }

    /// The point of a number that is one.
    pub(super) fn point_of(
        &mut self,
        domain: &Domain,
        levels: &Levels,
        mut rest: Nat,
    ) -> Result<Vec<Nat>, LowerError> {
        let mut point: Vec<Nat> = Vec::new();
        for level in levels.levels() {
            let value = self.index_at(domain, level, &point, &rest)?;
            let var = self.out.fresh_index("x", Range::at_least(Nat::ZERO));
            // It is not beyond its range, and says so to whoever asks how far it reaches.
            let value = below(value, placed(&level.high, &point) + Nat::ONE);
            self.out.emit(Stmt::Index { var: var.clone(), value });
            point.push(Nat::var(&var));
            let bounds = [
                Pred::Le(placed(&level.low, &point), Nat::var(&var)),
                Pred::Le(Nat::var(&var), placed(&level.high, &point)),
            ];
            bounds.iter().for_each(|bound| self.out.assume_of(&var, bound));
            rest = self.out.simplify(&(rest - placed(&level.before, &point)));
        }
        // What the domain says besides its ranges.
        for condition in domain.conditions(&point) {
            let last = point.iter().rev().filter_map(Nat::as_var).find(|v| condition.mentions(v));
            if let Some(var) = last.cloned()
                && !self.out.proves(&condition)
            {
                self.out.assume_of(&var, &condition);
            }
        }
        Ok(point)
    }

    /// The value of an index, given those before it and the number of the point among all that begin with them.
    fn index_at(
        &mut self,
        domain: &Domain,
        level: &Level,
        before: &[Nat],
        rest: &Nat,
    ) -> Result<Expr, LowerError> {
        let low = placed(&level.low, before);
        if let Some(each) = &level.each {
            let each = placed(each, before);
            let steps = if each == Nat::ONE { rest.clone() } else { rest.div(&each) };
            let found = low + steps * Nat::int(level.step);
            return Ok(Expr::Index(self.out.simplify(&found), Scalar::I64));
        }
        if let Some(found) = self.out.index_by_root(level, before, rest)? {
            return Ok(found);
        }
        // The largest value before which there are not more points than the number, a bit at a time.
        let high = placed(&level.high, before);
        // The range is no longer than 2^31, wherever it begins.
        let scalar = if domain.starts_low() { Scalar::U32 } else { Scalar::U64 };
        let ty = ValueType::scalar(scalar);
        let number = self.out.fresh_index("number", Range::at_least(Nat::ZERO));
        let value = Expr::Index(rest.clone(), Scalar::I64);
        self.out.emit(Stmt::Index { var: number.clone(), value });
        let (found, step) =
            (self.out.fresh_variable("found", ty), self.out.fresh_variable("step", ty));
        let start = Expr::Cast(ty, Box::new(Expr::Index(self.out.simplify(&low), Scalar::I64)));
        self.out.emit(Stmt::Declare { var: found.clone(), value: Some(start) });
        let start = Expr::Literal(Literal::Int(scalar, 1 << (BITS - 1)));
        self.out.emit(Stmt::Declare { var: step.clone(), value: Some(start) });
        self.repeat(LoopKind::Seq, &Nat::int(BITS), |t, _| {
            let (from, by) = (Expr::Var(found.clone()), Expr::Var(step.clone()));
            let value = Expr::Binary(BinaryOp::Add, Box::new(from), Box::new(by.clone()));
            let next = t.out.fresh_variable("next", ty);
            t.out.emit(Stmt::Declare { var: next.clone(), value: Some(value) });
            let index = t.out.fresh_index("next", Range::at_least(Nat::ZERO));
            t.out.emit(Stmt::Index { var: index.clone(), value: Expr::Var(next.clone()) });
            let there: Vec<Nat> = before.iter().cloned().chain([Nat::var(&index)]).collect();
            let few = Pred::Le(placed(&level.before, &there), Nat::var(&number));
            let taken = Stmt::Assign { var: found.clone(), value: Expr::Var(next) };
            let condition = Expr::Test(few);
            // Compared only inside the range, where polynomials do not get large.
            let inside = Stmt::If { condition, then: vec![taken], otherwise: Vec::new() };
            let condition = Expr::Test(Pred::Le(Nat::var(&index), high));
            t.out.emit(Stmt::If { condition, then: vec![inside], otherwise: Vec::new() });
            let one = Expr::Literal(Literal::Int(scalar, 1));
            let half = Expr::Binary(BinaryOp::Shr, Box::new(by), Box::new(one));
            t.out.emit(Stmt::Assign { var: step.clone(), value: half });
            Ok(())
        })?;
        let wide = ValueType::scalar(Scalar::I64);
        Ok(Expr::Cast(wide, Box::new(Expr::Var(found))))
    }
}

impl Emitter {
    /// The indices of a point as they are, where that proves it to be in the domain; else what their types make of them.
    fn point_indices(&mut self, point: Vec<Expr>, domain: &Domain, span: Option<Span>) -> Vec<Nat> {
        let plain: Option<Vec<(Nat, Scalar)>> = point.iter().map(as_index).collect();
        if let Some(plain) = plain {
            let indices: Vec<Nat> = plain.iter().map(|(n, _)| self.simplify(n)).collect();
            if domain.conditions(&indices).iter().all(|condition| self.proves(condition)) {
                for (value, (_, scalar)) in indices.iter().zip(&plain) {
                    let (value, length) = (value.clone(), Nat::int(i128::from(i64::MAX)));
                    self.written.values.push(Index { value, length, scalar: *scalar, span });
                }
                return indices;
            }
        }
        point.into_iter().map(|value| self.index_of_value(value)).collect()
    }

    /// Makes indices of more than 32 bits those of a point in the box around a domain, 0 where they are outside; what tells
    /// whether they are inside.
    fn in_room(&mut self, point: &mut [Expr], domain: &Domain) -> Vec<Expr> {
        let Some(extents) = domain.bounding_box() else { return Vec::new() };
        let mut tests = Vec::new();
        for (value, extent) in point.iter_mut().zip(extents) {
            let Some(compared) = compared(value.ty().scalar) else { continue };
            if self.options.unchecked || as_index(value).is_some_and(|(n, s)| self.is_exact(&n, s))
            {
                continue;
            }
            let own = self.fresh_variable("at", ValueType::scalar(compared));
            let own_value = Expr::Cast(own.ty, Box::new(value.clone()));
            self.emit(Stmt::Declare { var: own.clone(), value: Some(own_value) });
            let zero = Box::new(Expr::Literal(Literal::Int(compared, 0)));
            let own = Box::new(Expr::Var(own));
            let natural = Expr::Binary(BinaryOp::Le, zero.clone(), own.clone());
            let length = Box::new(Expr::Index(extent.clone(), compared));
            let less = Expr::Binary(BinaryOp::Lt, own.clone(), length);
            let inside = Expr::Binary(BinaryOp::And, Box::new(natural), Box::new(less));
            let held = self.fresh_index("at", Range::at_least(Nat::ZERO));
            let chosen = Expr::Select(Box::new(inside.clone()), own, zero);
            self.emit(Stmt::Index { var: held.clone(), value: chosen });
            // Of an extent that is 0 it is that.
            self.assume_of(&held, &Pred::Le(Nat::var(&held), extent));
            *value = Expr::Index(Nat::var(&held), Scalar::I64);
            tests.push(inside);
        }
        tests
    }

    /// A point as one that formulas have room for, whatever it is: an index outside the box around the domain is 0.
    fn held_in_box(&mut self, point: &[Nat], domain: &Domain) -> Vec<Nat> {
        let Some(extents) = domain.bounding_box() else { return point.to_vec() };
        let mut held = Vec::new();
        for (x, extent) in point.iter().zip(extents) {
            if self.proves(&inside(x, &extent)) {
                held.push(x.clone());
                continue;
            }
            let var = self.fresh_index("at", Range::at_least(Nat::ZERO));
            let value = below(Expr::Index(x.clone(), Scalar::I64), extent.clone());
            self.emit(Stmt::Index { var: var.clone(), value });
            // Of an extent that is 0 it is that.
            self.assume_of(&var, &Pred::Le(Nat::var(&var), extent));
            held.push(Nat::var(&var));
        }
        held
    }

    /// A value as an index, of which its type is known.
    pub(super) fn index_of_value(&mut self, value: Expr) -> Nat {
        if let Some((index, scalar)) = as_index(&value)
            && self.is_exact(&index, scalar)
        {
            return self.simplify(&index);
        }
        let range = match value.ty().scalar.integer_range() {
            Some((low, high)) => Range::between(Nat::int(low), Nat::int(high)),
            None => Range::any(),
        };
        let var = self.fresh_index("at", range);
        self.emit(Stmt::Index { var: var.clone(), value });
        Nat::var(&var)
    }

    /// A number as that of a point of a domain, of which there are so many; 0 where it is none.
    fn number_below(
        &mut self,
        number: Expr,
        domain: &Domain,
        count: &Nat,
        span: Option<Span>,
    ) -> Result<Nat, LowerError> {
        let is_narrow = is_narrow(number.ty().scalar);
        let index = self.index_of_value(number);
        let there = inside(&index, count);
        if self.options.unchecked || self.proves(&there) {
            return Ok(index);
        }
        let outside = Expr::Unary(UnaryOp::Not, Box::new(Expr::Test(there.clone())));
        let fault = Fault::Number { domain: domain.clone(), count: count.clone() };
        let told = is_narrow.then(|| Expr::Index(index.clone(), Scalar::I32));
        self.fail_telling(outside, span, fault, told.into_iter().collect())?;
        Ok(Nat::cond(there, index, Nat::ZERO))
    }
}

/// Whether an `i32` holds every value of a type.
fn is_narrow(scalar: Scalar) -> bool {
    let range = |scalar: Scalar| scalar.integer_range();
    match (range(scalar), range(Scalar::I32)) {
        (Some((low, high)), Some((least, most))) => least <= low && high <= most,
        _ => false,
    }
}

/// A value that is below a length, and says so: 0 where it is not.
pub(super) fn below(value: Expr, length: Nat) -> Expr {
    let zero = Expr::Literal(Literal::Int(Scalar::I64, 0));
    let natural = Expr::Binary(BinaryOp::Le, Box::new(zero.clone()), Box::new(value.clone()));
    let length = Box::new(Expr::Index(length, Scalar::I64));
    let less = Expr::Binary(BinaryOp::Lt, Box::new(value.clone()), length);
    let inside = Expr::Binary(BinaryOp::And, Box::new(natural), Box::new(less));
    Expr::Select(Box::new(inside), Box::new(value), Box::new(zero))
}

/// A value in terms of the indices of a domain, at a point that may lack the last ones.
pub(super) fn placed(value: &Nat, point: &[Nat]) -> Nat {
    value.substitute(&|v| {
        let k = (0..point.len()).find(|k| Domain::index_var(*k) == *v)?;
        point.get(k).cloned()
    })
}
