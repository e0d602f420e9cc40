//! Values of expressions under several assignments at once.
//!
//! Whoever asks for the addresses of many work-items asks for all of them together: the expression is gone through
//! once. Values are approximate in one respect: what is undefined or leaves 64 bits counts as 0, and a part is asked
//! for also where a choice does not take it.

use std::rc::Rc;

use crate::term::Atom;
use crate::{Nat, Pred, Var};

/// A number in each of `N` assignments. Most are the same in all of them or go on evenly, and are computed once.
#[derive(Clone, Debug)]
pub enum Lanes<const N: usize> {
    Same(i64),
    /// From one assignment to the next as much more; the last fits 64 bits, too.
    Even {
        first: i64,
        step: i64,
    },
    Each(Rc<[i64; N]>),
}

use Lanes::{Each, Even, Same};

impl<const N: usize> Lanes<N> {
    pub fn each(of: impl FnMut(usize) -> i64) -> Lanes<N> {
        Each(Rc::new(std::array::from_fn(of)))
    }

    /// `first`, `first + step` and so on.
    pub fn even(first: i64, step: i64) -> Lanes<N> {
        Lanes::even_within(first, step)
            .unwrap_or_else(|| Lanes::each(|k| first.saturating_add(step.saturating_mul(k as i64))))
    }

    fn even_within(first: i64, step: i64) -> Option<Lanes<N>> {
        match step {
            0 => Some(Same(first)),
            _ => step
                .checked_mul(N as i64 - 1)
                .and_then(|all| first.checked_add(all))
                .map(|_| Even { first, step }),
        }
    }

    /// In every assignment.
    pub fn all(&self) -> [i64; N] {
        match self {
            Same(n) => [*n; N],
            Even { first, step } => std::array::from_fn(|k| first + step * k as i64),
            Each(lanes) => **lanes,
        }
    }

    /// In the first assignment.
    pub fn first(&self) -> i64 {
        match self {
            Same(n) => *n,
            Even { first, .. } => *first,
            Each(lanes) => lanes.first().copied().unwrap_or(0),
        }
    }

    /// The first, and how far it is from one to the next, where that is always the same.
    fn line(&self) -> Option<(i64, i64)> {
        match self {
            Same(n) => Some((*n, 0)),
            Even { first, step } => Some((*first, *step)),
            Each(_) => None,
        }
    }

    /// The first and the last, where all others are between them.
    fn ends(&self) -> Option<(i64, i64)> {
        self.line().map(|(first, step)| (first, first + step * (N as i64 - 1)))
    }

    pub fn map(&self, f: impl Fn(i64) -> i64) -> Lanes<N> {
        match self {
            Same(n) => Same(f(*n)),
            other => Each(Rc::new(other.all().map(f))),
        }
    }

    /// What becomes of two numbers of the same assignment.
    pub fn with(&self, other: &Lanes<N>, f: impl Fn(i64, i64) -> i64) -> Lanes<N> {
        match (self, other) {
            (Same(a), Same(b)) => Same(f(*a, *b)),
            (Same(a), Each(b)) => Lanes::each(|k| f(*a, b[k])),
            (Each(a), Same(b)) => Lanes::each(|k| f(a[k], *b)),
            (a, b) => {
                let (a, b) = (a.all(), b.all());
                Lanes::each(|k| f(a[k], b[k]))
            }
        }
    }

    /// Their sums; 0 beyond 64 bits.
    pub fn plus(&self, other: &Lanes<N>) -> Lanes<N> {
        let even = || {
            let ((a, by_a), (b, by_b)) = (self.line()?, other.line()?);
            Lanes::even_within(a.checked_add(b)?, by_a.checked_add(by_b)?)
        };
        even().unwrap_or_else(|| self.with(other, |a, b| a.checked_add(b).unwrap_or(0)))
    }

    /// Their products; 0 beyond 64 bits.
    fn times(&self, other: &Lanes<N>) -> Lanes<N> {
        let even = || match (self, other) {
            (Same(n), Even { first, step }) | (Even { first, step }, Same(n)) => {
                Lanes::even_within(first.checked_mul(*n)?, step.checked_mul(*n)?)
            }
            _ => None,
        };
        even().unwrap_or_else(|| self.with(other, |a, b| a.checked_mul(b).unwrap_or(0)))
    }

    /// Their quotients, truncated; 0 where there is none.
    fn over(&self, other: &Lanes<N>) -> Lanes<N> {
        let even = || match (self, other) {
            (Even { first, step }, Same(n)) if *n > 0 => {
                let (from, to) = self.ends()?;
                match from >= 0 && to >= 0 {
                    true if step % n == 0 => Lanes::even_within(first / n, step / n),
                    true if from / n == to / n => Some(Same(from / n)),
                    _ => None,
                }
            }
            _ => None,
        };
        even().unwrap_or_else(|| self.with(other, |a, b| a.checked_div(b).unwrap_or(0)))
    }

    /// The better of both, by an order of numbers.
    fn better(&self, other: &Lanes<N>, better: fn(i64, i64) -> i64) -> Lanes<N> {
        // Of two lines one is better everywhere where it is at both ends.
        if let (Some(a), Some(b)) = (self.ends(), other.ends()) {
            let best = (better(a.0, b.0), better(a.1, b.1));
            if best == a {
                return self.clone();
            }
            if best == b {
                return other.clone();
            }
        }
        self.with(other, better)
    }

    /// Whether something holds of two numbers of the same assignment.
    pub fn holds(&self, other: &Lanes<N>, f: impl Fn(i64, i64) -> bool) -> [bool; N] {
        match (self, other) {
            (Same(a), Same(b)) => [f(*a, *b); N],
            (a, b) => {
                let (a, b) = (a.all(), b.all());
                std::array::from_fn(|k| f(a[k], b[k]))
            }
        }
    }

    /// By assignment one or the other.
    pub fn chosen(holds: &[bool; N], yes: &Lanes<N>, no: &Lanes<N>) -> Lanes<N> {
        if holds.iter().all(|h| *h) {
            return yes.clone();
        }
        if !holds.iter().any(|h| *h) {
            return no.clone();
        }
        let (yes, no) = (yes.all(), no.all());
        Lanes::each(|k| if holds[k] { yes[k] } else { no[k] })
    }
}

/// What a variable is in each assignment; nothing where it is not known.
pub type LaneValues<'a, const N: usize> = &'a dyn Fn(&Var) -> Option<Lanes<N>>;

impl Nat {
    /// The value in each of `N` assignments; nothing where a variable has none.
    pub fn eval_lanes<const N: usize>(&self, value: LaneValues<'_, N>) -> Option<Lanes<N>> {
        if let Some(i) = self.as_int() {
            return Some(Same(i64::try_from(i).unwrap_or(0)));
        }
        if let Some(var) = self.as_var() {
            return value(var);
        }
        let mut total = Same(0);
        for term in self.terms().iter() {
            let mut product = Same(i64::try_from(term.coeff).unwrap_or(0));
            for (atom, power) in term.mono.factors() {
                let base = atom.eval_lanes(value)?;
                for _ in 0..*power {
                    product = product.times(&base);
                }
            }
            total = total.plus(&product);
        }
        Some(total)
    }
}

impl Atom {
    fn eval_lanes<const N: usize>(&self, value: LaneValues<'_, N>) -> Option<Lanes<N>> {
        let pair = |a: &Nat, b: &Nat| Some((a.eval_lanes(value)?, b.eval_lanes(value)?));
        let least = |parts: &[Nat], better: fn(i64, i64) -> i64| {
            let mut parts = parts.iter();
            let first = parts.next()?.eval_lanes(value)?;
            parts.try_fold(first, |best, part| Some(best.better(&part.eval_lanes(value)?, better)))
        };
        match self {
            Atom::Var(v) => value(v),
            Atom::Quot(a, b) | Atom::Exact(a, b) => {
                let (a, b) = pair(a, b)?;
                Some(a.over(&b))
            }
            Atom::Pow(a, b) => {
                let (a, b) = pair(a, b)?;
                let power = |a: i64, b| u32::try_from(b).ok().and_then(|b| a.checked_pow(b));
                Some(a.with(&b, |a, b| power(a, b).unwrap_or(0)))
            }
            Atom::Log2(a) => {
                Some(a.eval_lanes(value)?.map(|a| a.checked_ilog2().map_or(0, i64::from)))
            }
            Atom::Min(parts) => least(parts, i64::min),
            Atom::Max(parts) => least(parts, i64::max),
            Atom::Cond(pred, a, b) => {
                let holds = pred.eval_lanes(value)?;
                let (a, b) = pair(a, b)?;
                Some(Lanes::chosen(&holds, &a, &b))
            }
            Atom::Sum(sum) => {
                let end = sum.end.eval_lanes(value)?.all();
                let arg = |arg: &Nat| Some(arg.eval_lanes(value)?.all());
                let args: Option<Vec<[i64; N]>> = sum.args.iter().map(arg).collect();
                let args = args?;
                Some(Lanes::each(|k| {
                    let args: Vec<i128> = args.iter().map(|lanes| lanes[k].into()).collect();
                    let sum = sum.summand.sum(end[k].into(), &args).ok();
                    sum.and_then(|sum| i64::try_from(sum).ok()).unwrap_or(0)
                }))
            }
            Atom::Group(a) => a.eval_lanes(value),
        }
    }
}

impl Pred {
    /// Whether it holds in each of `N` assignments; nothing where a variable has no value.
    pub fn eval_lanes<const N: usize>(&self, value: LaneValues<'_, N>) -> Option<[bool; N]> {
        let compare = |a: &Nat, b: &Nat, holds: fn(i64, i64) -> bool| {
            let (a, b) = (a.eval_lanes(value)?, b.eval_lanes(value)?);
            Some(a.holds(&b, holds))
        };
        match self {
            Pred::Eq(a, b) => compare(a, b, |a, b| a == b),
            Pred::Ne(a, b) => compare(a, b, |a, b| a != b),
            Pred::Lt(a, b) => compare(a, b, |a, b| a < b),
            Pred::Le(a, b) => compare(a, b, |a, b| a <= b),
            Pred::Divides { divisor, of } => {
                compare(of, divisor, |a, b| a.checked_rem(b) == Some(0))
            }
            Pred::And(all) => {
                let mut holds = [true; N];
                for pred in all {
                    let also = pred.eval_lanes(value)?;
                    holds.iter_mut().zip(also).for_each(|(holds, also)| *holds &= also);
                }
                Some(holds)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{parse, parse_assumptions};

    #[test]
    fn lanes_have_the_values_of_one_assignment_each() {
        let texts = [
            "7",
            "x + 3 * y",
            "x * y - y ^ 2",
            "(x + 5) / 4 + x % 3",
            "min(x, y, 4) + max(x, 2 * y)",
            "2 ^ x",
            "log2(x + 1)",
            "(x * 6) // 3",
        ];
        let xs: [i64; 8] = [0, 1, 2, 3, 5, 8, 13, 21];
        for text in texts {
            let nat = parse(text).expect("the text is one");
            let lane =
                |v: &Var| Some(Each(Rc::new(if v.name() == "x" { xs } else { xs.map(|x| 7 - x) })));
            let all = nat.eval_lanes(&lane).expect("all are known").all();
            for (k, x) in xs.iter().enumerate() {
                let one = |v: &Var| Some(i128::from(if v.name() == "x" { *x } else { 7 - x }));
                assert_eq!(nat.eval(&one), Ok(i128::from(all[k])), "{text} at {x}");
            }
        }
    }

    /// What is the same in all assignments is computed once, and is what it is in each.
    #[test]
    fn numbers_that_are_the_same_mix_with_others() {
        for text in ["x + 3 * y + 1", "y * y", "min(x, y, 4) + y / 2", "x * y + y % 3"] {
            let nat = parse(text).expect("the text is one");
            let xs: [i64; 4] = [0, 3, 4, 9];
            let mixed = |v: &Var| Some(if v.name() == "x" { Each(Rc::new(xs)) } else { Same(5) });
            let each = |v: &Var| Some(Each(Rc::new(if v.name() == "x" { xs } else { [5; 4] })));
            let all = nat.eval_lanes(&mixed).map(|lanes| lanes.all());
            assert_eq!(all, nat.eval_lanes(&each).map(|lanes| lanes.all()), "{text}");
        }
    }

    /// Numbers that go on evenly are computed from the first and the step, and are what they are in each assignment: also where
    /// divisions and choices turn between them, below zero, and beyond 64 bits.
    #[test]
    fn numbers_that_go_on_evenly_are_what_they_are_in_each_assignment() {
        let texts = [
            "x + 3 * y - 5",
            "4 * x * y",
            "x * x",
            "(x + 3) / 4",
            "(8 * x + 3) / 4",
            "x / 1000 + x % 7",
            "x / y",
            "min(x, y, 4) + max(x, 2 * y)",
            "max(0, min(x - 2, 9))",
            "if x < y then x + 1 else 3 * y",
            "if x < 1000 then x else y",
        ];
        let most = i64::MAX / 4;
        for (first, step) in [(0, 1), (5, 16), (30, -3), (-6, 2), (most, 1), (-most, -7), (3, 0)] {
            for text in texts {
                let nat = parse(text).expect("the text is one");
                let even = |v: &Var| {
                    Some(if v.name() == "x" { Lanes::even(first, step) } else { Same(6) })
                };
                let each = |v: &Var| {
                    let lanes: Lanes<8> = even(v)?;
                    Some(Each(Rc::new(lanes.all())))
                };
                let all = nat.eval_lanes(&even).map(|lanes| lanes.all());
                assert_eq!(
                    all,
                    nat.eval_lanes(&each).map(|lanes| lanes.all()),
                    "{text} {first} {step}"
                );
            }
        }
    }

    #[test]
    fn conditions_hold_where_they_do() {
        for text in ["x == y", "x != 3", "x < y", "x <= 3", "x % 2 == 0"] {
            let preds = parse_assumptions(text).expect("the text is one");
            let xs: [i64; 6] = [0, 1, 2, 3, 4, 5];
            let lane = |v: &Var| Some(if v.name() == "x" { Each(Rc::new(xs)) } else { Same(3) });
            for pred in &preds {
                let all = pred.eval_lanes(&lane).expect("all are known");
                for (k, x) in xs.iter().enumerate() {
                    let one = |v: &Var| Some(if v.name() == "x" { i128::from(*x) } else { 3 });
                    assert_eq!(pred.eval(&one), Ok(all[k]), "{text} at {x}");
                }
            }
        }
    }

    #[test]
    fn what_is_undefined_is_nothing_to_stop_at() {
        let nat = parse("x / y").expect("the text is one");
        let zero: Lanes<2> =
            nat.eval_lanes(&|_| Some(Each(Rc::new([0, 0])))).expect("all are known");
        assert_eq!(zero.all(), [0, 0]);
        assert!(nat.eval_lanes::<2>(&|_| None).is_none());
    }
}
