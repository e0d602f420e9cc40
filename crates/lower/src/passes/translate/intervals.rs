//! Bounds of integers that data decide, as far as a program's text tells them.
//!
//! Before: `x[v & 63]` of 64 elements, `x[b as i32]` of a byte b, `if 0 <= v && v < n then x[v] else 0.0`.
//! After: a mask leaves 0 to 63, a byte has room for 0 to 255, and a condition holds where it guards, so none of these is checked.
//!
//! Interval arithmetic on values of kernels: an operation that might wrap has the whole range of its type. Indices have bounds
//! of their own, by facts; see `conditions` for what holds of them.

use std::collections::BTreeMap;

use lift_ir::{BinaryOp, Literal, Math, Nat, Pred, Scalar, UnaryOp, Var};
use lift_kernel::{Expr, ValueType, Variable};

use super::conditions::{as_index, mirrored, opposite};
use super::emitter::Emitter;

/// An integer is at least `low`, at most `high`, and below a size where one is known.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Interval {
    pub low: i128,
    pub high: i128,
    below: Option<Nat>,
}

impl Interval {
    fn between(low: i128, high: i128) -> Interval {
        Interval { low, high, below: None }
    }

    /// All that a type has room for.
    fn of_type(scalar: Scalar) -> Option<Interval> {
        match scalar {
            Scalar::Bool => Some(Interval::between(0, 1)),
            _ => scalar.integer_range().map(|(low, high)| Interval::between(low, high)),
        }
    }

    fn fits(&self, ty: &Interval) -> bool {
        ty.low <= self.low && self.high <= ty.high
    }

    /// What is in both; a value that is in neither is never computed.
    fn and(self, other: &Interval) -> Interval {
        let below = self.below.or(other.below.clone());
        Interval { low: self.low.max(other.low), high: self.high.min(other.high), below }
    }

    fn or(&self, other: &Interval) -> Interval {
        let below = self.below.clone().filter(|n| other.below.as_ref() == Some(n));
        Interval { low: self.low.min(other.low), high: self.high.max(other.high), below }
    }

    /// The least and the greatest of what an operation makes of the ends; it has to be monotone in each operand.
    fn of_ends(ends: [Option<i128>; 4]) -> Option<Interval> {
        let [a, b, c, d] = ends;
        let (a, b, c, d) = (a?, b?, c?, d?);
        Some(Interval::between(a.min(b).min(c).min(d), a.max(b).max(c).max(d)))
    }
}

/// What is known of variables.
#[derive(Default)]
pub(super) struct Intervals {
    /// Those that the program names, where they have less than the range of their type.
    named: BTreeMap<Var, Interval>,
    /// Those that conditions around the current place compare.
    compared: Vec<(Var, Interval)>,
}

impl Intervals {
    /// How many comparisons hold here.
    pub(super) fn depth(&self) -> usize {
        self.compared.len()
    }

    /// Forgets what comparisons said since there were so many.
    pub(super) fn leave(&mut self, depth: usize) {
        self.compared.truncate(depth);
    }
}

impl Emitter {
    /// A variable of the program's has a value, and is not assigned again.
    pub(super) fn bound(&mut self, var: &Variable, value: &Expr) {
        let known = self.interval(value);
        if let Some(interval) =
            known.filter(|known| Interval::of_type(var.ty.scalar).as_ref() != Some(known))
        {
            self.reached.intervals.named.insert(var.id.clone(), interval);
        }
    }

    /// Between which numbers a value lies; nothing of vectors and floats.
    pub(super) fn interval(&mut self, value: &Expr) -> Option<Interval> {
        let ty = Some(value.ty()).filter(|ty| ty.width == 1)?;
        let whole = Interval::of_type(ty.scalar)?;
        let found = self.narrower(value).filter(|found| found.fits(&whole));
        Some(found.unwrap_or(whole))
    }

    /// As [`Emitter::interval`], of a value as if its type had no end.
    fn narrower(&mut self, value: &Expr) -> Option<Interval> {
        match value {
            Expr::Literal(Literal::Int(_, n)) => Some(Interval::between(*n, *n)),
            Expr::Index(n, _) => {
                Some(Interval::between(self.facts.lower(n)?, self.facts.upper(n)?))
            }
            Expr::Var(var) => self.of_variable(var),
            Expr::Cast(ty, inner) if ty.width == 1 => self.interval(inner),
            Expr::Unary(UnaryOp::Neg, inner) => {
                let a = self.interval(inner)?;
                Some(Interval::between(-a.high, -a.low))
            }
            Expr::Binary(op, a, b) => {
                let found = operation(*op, &self.interval(a)?, &self.interval(b)?, value.ty())?;
                let is_remainder = *op == BinaryOp::Rem && found.low >= 0;
                let below = if is_remainder { self.size(b) } else { None };
                Some(Interval { below, ..found })
            }
            Expr::Math(math, args) => {
                let of: Option<Vec<Interval>> = args.iter().map(|a| self.interval(a)).collect();
                let found = function(*math, &of?, value.ty().scalar)?;
                let most = match (math, args.as_slice()) {
                    (Math::Min, [a, b]) => self.size(a).or_else(|| self.size(b)),
                    (Math::Clamp, [_, _, high]) => self.size(high),
                    _ => None,
                };
                let below = found.below.or(most.map(|n| n + Nat::ONE));
                Some(Interval { below, ..found })
            }
            Expr::Select(_, a, b) => Some(self.interval(a)?.or(&self.interval(b)?)),
            Expr::Literal(_)
            | Expr::Test(_)
            | Expr::Load(..)
            | Expr::Unary(..)
            | Expr::Cast(..)
            | Expr::Vector(..)
            | Expr::Splat(..)
            | Expr::Lane(..)
            | Expr::Extern(..)
            | Expr::Shuffle(..) => None,
        }
    }

    fn of_variable(&self, var: &Variable) -> Option<Interval> {
        let known = &self.reached.intervals;
        let compared = known.compared.iter().filter(|(own, _)| *own == var.id);
        let all =
            known.named.get(&var.id).into_iter().chain(compared.map(|(_, interval)| interval));
        Some(all.fold(Interval::of_type(var.ty.scalar)?, Interval::and))
    }

    /// A value that is certainly in range of an array, in a type of at most 32 bits: what indices reach is told from types.
    pub(super) fn within(&mut self, value: &Expr, length: &Nat) -> Option<(Expr, Interval)> {
        let found = self.interval(value)?;
        let narrow = Interval::of_type(Scalar::I32)?;
        if !found.fits(&narrow) || !self.is_within(&found, length) {
            return None;
        }
        let is_narrow = Interval::of_type(value.ty().scalar)?.fits(&narrow);
        let value = match is_narrow {
            true => value.clone(),
            false => Expr::Cast(ValueType::scalar(Scalar::I32), Box::new(value.clone())),
        };
        Some((value, found))
    }

    /// Whether all of an interval is in range of an array.
    fn is_within(&self, interval: &Interval, length: &Nat) -> bool {
        let is_below = |end: Nat| self.proves(&Pred::Le(end, length.clone()));
        let below = interval.below.clone();
        (0..=interval.high).contains(&interval.low)
            && (is_below(Nat::int(interval.high) + Nat::ONE) || below.is_some_and(is_below))
    }

    /// Learns what a condition says of variables where it holds, or where it does not.
    pub(super) fn learn(&mut self, condition: &Expr, holds: bool) {
        match condition {
            Expr::Unary(UnaryOp::Not, inner) => self.learn(inner, !holds),
            Expr::Binary(BinaryOp::And, a, b) if holds => {
                self.learn(a, holds);
                self.learn(b, holds);
            }
            Expr::Binary(BinaryOp::Or, a, b) if !holds => {
                self.learn(a, holds);
                self.learn(b, holds);
            }
            Expr::Binary(op, a, b) if op.is_comparison() => {
                let op = if holds { *op } else { opposite(*op) };
                self.compared(op, a, b);
                self.compared(mirrored(op), b, a);
            }
            _ => {}
        }
    }

    /// Learns what `a op b` says of a.
    fn compared(&mut self, op: BinaryOp, a: &Expr, b: &Expr) {
        let Some(var) = self.variable(a) else { return };
        let (Some(whole), Some(b_)) = (self.interval(a), self.interval(b)) else { return };
        let end = self.size(b);
        let (low, high) = (whole.low, whole.high);
        let (low, high, below) = match op {
            BinaryOp::Lt => (low, b_.high - 1, end),
            BinaryOp::Le => (low, b_.high, end.map(|n| n + Nat::ONE)),
            BinaryOp::Gt => (b_.low + 1, high, None),
            BinaryOp::Ge => (b_.low, high, None),
            BinaryOp::Eq => (b_.low, b_.high, end.map(|n| n + Nat::ONE)),
            _ => return,
        };
        self.reached.intervals.compared.push((var.id, Interval { low, high, below }));
    }

    /// What sizes make of a value, where it is not a number and does not wrap.
    fn size(&mut self, value: &Expr) -> Option<Nat> {
        let (n, scalar) = as_index(value)?;
        (n.as_int().is_none() && self.is_exact(&n, scalar)).then_some(n)
    }

    /// The variable that a value is, in a type that holds all that it may be.
    fn variable(&mut self, value: &Expr) -> Option<Variable> {
        match value {
            Expr::Var(var) if var.ty.width == 1 => Some(var.clone()),
            Expr::Cast(ty, inner) if ty.width == 1 => {
                let to = Interval::of_type(ty.scalar)?;
                self.interval(inner)?.fits(&to).then(|| self.variable(inner))?
            }
            _ => None,
        }
    }
}

fn operation(op: BinaryOp, a: &Interval, b: &Interval, ty: ValueType) -> Option<Interval> {
    let ends = |f: fn(i128, i128) -> Option<i128>| {
        Interval::of_ends([f(a.low, b.low), f(a.low, b.high), f(a.high, b.low), f(a.high, b.high)])
    };
    let are_natural = a.low >= 0 && b.low >= 0;
    let bits = 8 * ty.scalar.bytes() as i128;
    match op {
        BinaryOp::Add => ends(i128::checked_add),
        BinaryOp::Sub => ends(i128::checked_sub),
        BinaryOp::Mul => ends(i128::checked_mul),
        BinaryOp::Div if b.low > 0 => ends(i128::checked_div),
        // The remainder has the sign of what is divided, and is no larger than that.
        BinaryOp::Rem if b.low > 0 => {
            let most = b.high - 1;
            Some(Interval::between(a.low.max(-most).min(0), a.high.min(most).max(0)))
        }
        BinaryOp::BitAnd if are_natural => Some(Interval::between(0, a.high.min(b.high))),
        BinaryOp::BitAnd if b.low >= 0 => Some(Interval::between(0, b.high)),
        BinaryOp::BitAnd if a.low >= 0 => Some(Interval::between(0, a.high)),
        BinaryOp::BitOr | BinaryOp::BitXor if are_natural => {
            let bits = 128 - a.high.max(b.high).leading_zeros();
            Some(Interval::between(0, 1i128.checked_shl(bits)? - 1))
        }
        BinaryOp::Shl if b.low >= 0 && b.high < bits => ends(shifted_left),
        BinaryOp::Shr if b.low >= 0 && b.high < bits => {
            ends(|a, by| a.checked_shr(u32::try_from(by).ok()?))
        }
        // Of a shift amount the low bits count.
        BinaryOp::Shr => Some(Interval::between(a.low.min(0), a.high.max(-1))),
        _ if op.is_comparison() || op.is_logical() => Some(Interval::between(0, 1)),
        _ => None,
    }
}

fn shifted_left(a: i128, by: i128) -> Option<i128> {
    a.checked_mul(1i128.checked_shl(u32::try_from(by).ok()?)?)
}

fn function(math: Math, args: &[Interval], scalar: Scalar) -> Option<Interval> {
    match (math, args) {
        (Math::Min, [a, b]) => {
            let below = a.below.clone().or(b.below.clone());
            Some(Interval { low: a.low.min(b.low), high: a.high.min(b.high), below })
        }
        (Math::Max, [a, b]) => Some(Interval::between(a.low.max(b.low), a.high.max(b.high))),
        (Math::Clamp, [_, low, high]) => {
            // `min(max(x, low), high)`, whichever of the bounds is larger.
            Some(Interval::between(low.low.min(high.low), high.high))
        }
        (Math::Abs, [a]) => {
            let least = if a.low <= 0 && a.high >= 0 { 0 } else { a.low.abs().min(a.high.abs()) };
            Some(Interval::between(least, a.low.abs().max(a.high.abs())))
        }
        (Math::Sign, [_]) => Some(Interval::between(-1, 1)),
        (Math::Popcount | Math::Clz | Math::Ctz, [_]) => {
            Some(Interval::between(0, 8 * scalar.bytes() as i128))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENDS: [i128; 9] = [-128, -100, -7, -1, 0, 1, 5, 64, 127];

    /// What an operation on bytes with a sign gives, as devices compute it.
    fn computed(op: BinaryOp, x: i8, y: i8) -> i8 {
        let amount = y as u32 & 7;
        match op {
            BinaryOp::Add => x.wrapping_add(y),
            BinaryOp::Sub => x.wrapping_sub(y),
            BinaryOp::Mul => x.wrapping_mul(y),
            BinaryOp::Div => x.wrapping_div(y),
            BinaryOp::Rem => x.wrapping_rem(y),
            BinaryOp::BitAnd => x & y,
            BinaryOp::BitOr => x | y,
            BinaryOp::BitXor => x ^ y,
            BinaryOp::Shl => x.wrapping_shl(amount),
            BinaryOp::Shr => x.wrapping_shr(amount),
            other => i8::from(other.holds(x, y) == Some(true)),
        }
    }

    /// Intervals and a few numbers of each.
    fn intervals() -> Vec<(Interval, Vec<i8>)> {
        let ends = ENDS.iter().enumerate();
        let pairs = ends.flat_map(|(k, low)| ENDS[k..].iter().map(|high| (*low, *high)));
        let some = |(low, high): (i128, i128)| {
            let inside = (low..=high).step_by(3).chain([high]).map(|n| n as i8);
            (Interval::between(low, high), inside.collect())
        };
        pairs.map(some).collect()
    }

    #[test]
    fn every_result_is_in_the_interval() {
        let (ty, whole) = (ValueType::scalar(Scalar::I8), Interval::between(-128, 127));
        let mut told = 0;
        for op in BinaryOp::ALL.iter().filter(|op| !op.is_logical()) {
            for ((a, xs), (b, ys)) in
                intervals().iter().flat_map(|a| intervals().into_iter().map(move |b| (a, b)))
            {
                let found = operation(*op, a, &b, ty).filter(|found| found.fits(&whole));
                let Some(found) = found else { continue };
                told += 1;
                let divides = matches!(op, BinaryOp::Div | BinaryOp::Rem);
                for (x, y) in xs.iter().flat_map(|x| ys.iter().map(move |y| (*x, *y))) {
                    let result = i128::from(computed(*op, x, y));
                    assert!(
                        divides && y == 0 || (found.low..=found.high).contains(&result),
                        "{x} {} {y} is {result}, not in {found:?} of {a:?} and {b:?}",
                        op.symbol()
                    );
                }
            }
        }
        assert!(told > 10_000, "only {told} intervals were told");
    }

    #[test]
    fn functions_are_in_their_intervals() {
        for (a, xs) in intervals() {
            for x in &xs {
                let x = i128::from(*x);
                let one = [a.clone()];
                let of =
                    |math| function(math, &one, Scalar::I8).map(|found| found.low..=found.high);
                assert!(of(Math::Abs).is_some_and(|found| found.contains(&x.abs())));
                assert!(of(Math::Sign).is_some_and(|found| found.contains(&x.signum())));
                let ones = i128::from((x as i8).count_ones());
                assert!(of(Math::Popcount).is_some_and(|found| found.contains(&ones)));
                for (low, high) in [(-3, 9), (9, -3), (200, 300)] {
                    let bounds = [low, high].map(|n| Interval::between(n, n));
                    let all = [a.clone(), bounds[0].clone(), bounds[1].clone()];
                    let clamped = function(Math::Clamp, &all, Scalar::I8);
                    let value = x.max(low).min(high);
                    assert!(clamped.is_some_and(|found| (found.low..=found.high).contains(&value)));
                }
            }
        }
    }
}
