//! Functions of the indices that are a polynomial on each of several pieces, and their sums over an index.
//!
//! Such a sum has a case for each two bounds of the index that may be the ones that count, and for each remainder of
//! the index where quotients are taken of it.

use lift_nat::{Nat, Pred};

use crate::known::Known;
use crate::poly::{Poly, gcd};
use crate::quasi::{Quasi, lcm};

/// A function with more pieces is not worth a formula.
const MOST_PIECES: usize = 64;

/// Nor is one that repeats itself only after more steps.
const LONGEST_PERIOD: i128 = 256;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Guard {
    /// `0 <= value`
    AtLeast(Quasi),
    /// `value % divisor == 0`
    Multiple(Quasi, i128),
}

impl Guard {
    fn period(&self, index: usize) -> i128 {
        match self {
            Guard::AtLeast(value) => value.period(index),
            Guard::Multiple(value, divisor) => value.over(*divisor).period(index),
        }
    }

    fn in_steps(&self, index: usize, step: i128, from: &Quasi) -> Guard {
        let value = |value: &Quasi| value.in_steps(index, step, from);
        match self {
            Guard::AtLeast(of) => Guard::AtLeast(value(of)),
            Guard::Multiple(of, divisor) => Guard::Multiple(value(of).modulo(*divisor), *divisor),
        }
    }

    /// The values of an index that leave the remainder which this asks for: `step * t + from` for all t, and what has to hold
    /// of the others for there to be any.
    fn solved(&self, index: usize) -> Option<(i128, Quasi, Guard)> {
        let Guard::Multiple(value, divisor) = self else { return None };
        let factor = value.factor(index).rem_euclid(*divisor);
        if factor == 0 || value.is_nested(index) {
            return None;
        }
        let shared = gcd(factor, *divisor);
        let (step, rest) = (divisor / shared, value.without(index));
        let inverse = (1..=step).find(|c| (c * (factor / shared) - 1) % step == 0)?;
        let from = rest.over(shared).times(-inverse).modulo(step);
        Some((step, from, Guard::Multiple(rest, shared)))
    }

    fn pred(&self, known: &Known) -> Pred {
        match self {
            Guard::AtLeast(value) => Pred::Le(Nat::ZERO, value.value(known)),
            Guard::Multiple(value, divisor) => {
                Pred::divides(Nat::int(*divisor), value.value(known))
            }
        }
    }

    /// Whether it holds, where that is known.
    fn decided(&self, known: &Known) -> Option<bool> {
        match self {
            Guard::AtLeast(value) => known.decides(value),
            Guard::Multiple(value, divisor) => value.as_int().map(|value| value % divisor == 0),
        }
    }

    /// Adds what it says where it holds.
    fn tell(&self, known: &mut Known) {
        if let Guard::AtLeast(value) = self {
            known.assume(value);
        }
    }
}

/// A polynomial where all guards hold, and nothing elsewhere. A function is the sum of its pieces.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Piece {
    pub guards: Vec<Guard>,
    pub value: Poly,
}

impl Piece {
    /// The same sum over another index t, where x is `step * t + from`: so that no guard asks for a remainder of it. With it
    /// x, in terms of t.
    fn without_remainders(mut self, index: usize) -> (Piece, Quasi) {
        let mut x = Quasi::index(index);
        while let Some((at, (step, from, others))) =
            self.guards.iter().enumerate().find_map(|(at, g)| Some((at, g.solved(index)?)))
        {
            self.guards.remove(at);
            let guards = self.guards.iter().map(|g| g.in_steps(index, step, &from));
            self.guards = guards.chain([others]).collect();
            self.value = self.value.in_steps(index, step, &from);
            x = x.in_steps(index, step, &from);
        }
        (self, x)
    }

    /// Without the guards that hold anyway; `None` where one never does.
    fn simplified(self, known: &Known) -> Option<Piece> {
        let mut known = known.clone();
        let mut guards = Vec::new();
        for guard in self.guards {
            match guard.decided(&known) {
                Some(true) => {}
                Some(false) => return None,
                None => {
                    guard.tell(&mut known);
                    guards.push(guard);
                }
            }
        }
        Some(Piece { guards, value: self.value })
    }
}

/// The sum over all values of an index, of which nothing is known; `None` where it has too many pieces.
///
/// Requires: the guards of each piece bound the index from both sides.
pub(crate) fn sum(pieces: &[Piece], index: usize, known: &Known) -> Option<Vec<Piece>> {
    let mut found = Vec::new();
    for range in ranges(pieces, index, known)? {
        let made = match range.is_never_empty() {
            true => range.apart(index)?,
            false => range.in_pairs(index)?,
        };
        for piece in made {
            if let Some(mut piece) = piece.simplified(&range.known) {
                piece.guards.extend(range.guards.iter().cloned());
                found.push(piece);
            }
        }
        if found.len() > MOST_PIECES {
            return None;
        }
    }
    Some(found)
}

/// The same sum as a value, of which no sum is taken again: where several bounds may count, it has their maximum or minimum.
pub(crate) fn total(pieces: &[Piece], index: usize, known: &Known) -> Option<Nat> {
    let mut total = Nat::ZERO;
    for range in ranges(pieces, index, known)? {
        let value = |bound: &Quasi| bound.value(&range.known);
        let sum = match (range.lower.as_slice(), range.upper.as_slice()) {
            ([low], [high]) if range.known.proves(&values(low, high)) => {
                range.value.sum(index, low, high)?
            }
            (lower, upper) => {
                let low = lower.iter().map(value).reduce(|a, b| Nat::max(&a, &b))?;
                let high = upper.iter().map(value).reduce(|a, b| Nat::min(&a, &b))?;
                // No value is as one less than the lowest.
                let high = Nat::max(&high, &(&low - Nat::ONE));
                range.value.sum(index, &Quasi::size(&low), &Quasi::size(&high))?
            }
        };
        total = total + guarded(&range.guards, sum.value(&range.known), known);
    }
    Some(total)
}

/// The function itself as a value, of which nothing is known.
pub(crate) fn value(pieces: &[Piece]) -> Nat {
    let known = Known::default();
    let value = |piece: &Piece| piece.value.value(&known);
    pieces
        .iter()
        .map(|piece| guarded(&piece.guards, value(piece), &known))
        .fold(Nat::ZERO, |a, b| a + b)
}

/// A value where all guards hold, and nothing elsewhere.
fn guarded(guards: &[Guard], value: Nat, known: &Known) -> Nat {
    where_all(guards.iter().map(|guard| guard.pred(known)).collect(), value)
}

/// A value where all conditions hold, and nothing elsewhere.
pub(crate) fn where_all(conditions: Vec<Pred>, value: Nat) -> Nat {
    match conditions.as_slice() {
        [] => value,
        [only] => Nat::cond(only.clone(), value, Nat::ZERO),
        _ => Nat::cond(Pred::And(conditions), value, Nat::ZERO),
    }
}

/// The values of an index: `first`, `first + step`, and so on, each of which has as many points.
pub(crate) struct Even {
    pub first: Nat,
    pub step: i128,
    pub each: Nat,
}

/// The values of an index where pieces have points, if those are as far apart and have as many points each, given the indices
/// before.
pub(crate) fn even(pieces: &[Piece], index: usize, known: &Known) -> Option<Even> {
    let [piece] = pieces else { return None };
    let (piece, x) = piece.clone().without_remainders(index);
    if piece.guards.iter().any(|guard| guard.period(index) != 1) || !piece.value.is_free_of(index) {
        return None;
    }
    let range = range(piece.guards, piece.value, index, known)?;
    let low = range.lower.iter().map(|low| low.value(&range.known));
    let low = low.reduce(|a, b| Nat::max(&a, &b))?;
    let (step, from) = (x.factor(index), x.without(index));
    let first = low * Nat::int(step) + from.value(&range.known);
    Some(Even { first, step, each: range.value.value(&range.known) })
}

/// A polynomial over some steps of an index, which no quotient mentions.
struct Range {
    value: Poly,
    /// All that may count, and none that another one is always ahead of.
    lower: Vec<Quasi>,
    upper: Vec<Quasi>,
    /// What has to hold besides.
    guards: Vec<Guard>,
    known: Known,
}

impl Range {
    /// Whether no upper bound is more than one below a lower one.
    fn is_never_empty(&self) -> bool {
        let fits = |low: &Quasi, high: &Quasi| self.known.proves(&values(low, high));
        self.lower.iter().all(|low| self.upper.iter().all(|high| fits(low, high)))
    }

    /// The sum up to the least upper bound without that up to the greatest lower one: `S(high) - S(low - 1)`.
    fn apart(&self, index: usize) -> Option<Vec<Piece>> {
        let up_to = |end: &Quasi| self.value.sum(index, &Quasi::int(0), end);
        let mut pieces = Vec::new();
        for (b, high) in self.upper.iter().enumerate() {
            let guards = counts(&self.upper, b, &least).collect();
            pieces.push(Piece { guards, value: up_to(high)? });
        }
        for (a, low) in self.lower.iter().enumerate() {
            let guards = counts(&self.lower, a, &greatest).collect();
            let value = up_to(&low.minus(&Quasi::int(1)))?.times(&Poly::int(-1));
            pieces.push(Piece { guards, value });
        }
        pieces.retain(|piece| piece.value != Poly::int(0));
        Some(pieces)
    }

    /// The sum between each two bounds, where they are the ones that count and the range is not empty.
    fn in_pairs(&self, index: usize) -> Option<Vec<Piece>> {
        let mut pieces = Vec::new();
        for (a, low) in self.lower.iter().enumerate() {
            for (b, high) in self.upper.iter().enumerate() {
                let mut guards: Vec<Guard> = counts(&self.lower, a, &greatest).collect();
                guards.extend(counts(&self.upper, b, &least));
                guards.push(Guard::AtLeast(values(low, high)));
                let value = self.value.sum(index, low, high)?;
                pieces.push(Piece { guards, value });
            }
        }
        Some(pieces)
    }
}

/// How many values there are from a bound to another one.
fn values(low: &Quasi, high: &Quasi) -> Quasi {
    high.minus(low).plus(&Quasi::int(1))
}

/// The ranges of an index that pieces consist of; `None` where there are too many.
fn ranges(pieces: &[Piece], index: usize, known: &Known) -> Option<Vec<Range>> {
    let mut found = Vec::new();
    for piece in pieces {
        let (piece, _) = piece.clone().without_remainders(index);
        let periods = piece.guards.iter().map(|guard| guard.period(index));
        let step = periods.fold(piece.value.period_of_sum(index), lcm);
        if step > LONGEST_PERIOD {
            return None;
        }
        for from in (0..step).map(Quasi::int) {
            let guards = piece.guards.iter().map(|guard| guard.in_steps(index, step, &from));
            let value = piece.value.in_steps(index, step, &from);
            found.extend(range(guards.collect(), value, index, known));
        }
        if found.len() > MOST_PIECES {
            return None;
        }
    }
    Some(found)
}

/// The range of an index that guards say; `None` where it is known to be empty.
fn range(guards: Vec<Guard>, value: Poly, index: usize, known: &Known) -> Option<Range> {
    let (mut lower, mut upper, mut others) = (Vec::new(), Vec::new(), Vec::new());
    for guard in guards {
        match guard {
            // c * x + rest >= 0
            Guard::AtLeast(bound) if bound.factor(index) > 0 => {
                lower.push(bound.without(index).over(bound.factor(index)).times(-1));
            }
            Guard::AtLeast(bound) if bound.factor(index) < 0 => {
                upper.push(bound.without(index).over(-bound.factor(index)));
            }
            other => others.push(other),
        }
    }
    let Piece { guards, value } = Piece { guards: others, value }.simplified(known)?;
    let mut known = known.clone();
    guards.iter().for_each(|guard| guard.tell(&mut known));
    let lower = without_dominated(lower, &greatest, &known);
    let upper = without_dominated(upper, &least, &known);
    let crossed = |low: &Quasi, high: &Quasi| known.decides(&high.minus(low)) == Some(false);
    let is_empty = lower.iter().any(|low| upper.iter().any(|high| crossed(low, high)));
    (!is_empty).then_some(Range { value, lower, upper, guards, known })
}

/// How far a lower bound is ahead of another one.
fn greatest(a: &Quasi, b: &Quasi) -> Quasi {
    a.minus(b)
}

/// How far an upper bound is ahead of another one.
fn least(a: &Quasi, b: &Quasi) -> Quasi {
    b.minus(a)
}

/// How far one bound is ahead of another.
type Ahead<'a> = dyn Fn(&Quasi, &Quasi) -> Quasi + 'a;

/// When one of several bounds is the one that counts: it is ahead of those before it and not behind those after it.
fn counts<'a>(
    bounds: &'a [Quasi],
    which: usize,
    ahead: &'a Ahead<'a>,
) -> impl Iterator<Item = Guard> + 'a {
    let others = bounds.iter().enumerate().filter(move |(at, _)| *at != which);
    others.filter_map(move |(at, other)| {
        let by = ahead(bounds.get(which)?, other);
        Some(Guard::AtLeast(if at < which { by.minus(&Quasi::int(1)) } else { by }))
    })
}

/// Without the bounds that another one is always ahead of.
fn without_dominated(bounds: Vec<Quasi>, ahead: &Ahead, known: &Known) -> Vec<Quasi> {
    let mut kept: Vec<Quasi> = Vec::new();
    for bound in bounds {
        let never_behind = |a: &Quasi, b: &Quasi| known.proves(&ahead(a, b));
        if kept.iter().any(|other| never_behind(other, &bound)) {
            continue;
        }
        kept.retain(|other| !never_behind(&bound, other));
        kept.push(bound);
    }
    kept
}
