//! Functions of the indices that are a polynomial on each of several pieces, and their sums over an index.
//!
//! Such a sum has a case for each two bounds of the index that may be the ones that count, and for each remainder of
//! the index where quotients are taken of it.

use lift_nat::{Nat, Pred};

use crate::known::Known;
use crate::poly::Poly;
use crate::quasi::{Quasi, lcm};

/// A function with more pieces is not worth a formula.
const MOST_PIECES: usize = 32;

/// Nor is one that repeats itself only after more steps.
const LONGEST_PERIOD: i128 = 24;

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

    fn in_steps(&self, index: usize, step: i128, from: i128) -> Guard {
        match self {
            Guard::AtLeast(value) => Guard::AtLeast(value.in_steps(index, step, from)),
            Guard::Multiple(value, divisor) => {
                // Multiples of the divisor do not matter.
                let value = value.in_steps(index, step, from);
                let whole = value.without(index);
                Guard::Multiple(whole, *divisor)
            }
        }
    }

    fn renamed(&self, from: usize, to: usize) -> Guard {
        match self {
            Guard::AtLeast(value) => Guard::AtLeast(value.renamed(from, to)),
            Guard::Multiple(value, divisor) => Guard::Multiple(value.renamed(from, to), *divisor),
        }
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

/// A polynomial where all guards hold, and nothing elsewhere.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Piece {
    pub guards: Vec<Guard>,
    pub value: Poly,
}

impl Piece {
    pub fn renamed(&self, from: usize, to: usize) -> Piece {
        let guards = self.guards.iter().map(|guard| guard.renamed(from, to)).collect();
        Piece { guards, value: self.value.renamed(from, to) }
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

/// The sum of all pieces, with what is known of the indices.
pub(crate) fn value(pieces: &[Piece], known: &Known) -> Nat {
    let of = |piece: &Piece| {
        let mut inside = known.clone();
        let mut guards: Vec<Pred> = Vec::new();
        for guard in &piece.guards {
            guards.push(guard.pred(&inside));
            guard.tell(&mut inside);
        }
        let value = piece.value.value(&inside);
        match guards.len() {
            0 => value,
            1 => guards.pop().map_or(Nat::ZERO, |only| Nat::cond(only, value, Nat::ZERO)),
            _ => Nat::cond(Pred::And(guards), value, Nat::ZERO),
        }
    };
    pieces.iter().map(of).fold(Nat::ZERO, |sum, piece| sum + piece)
}

/// The sum over all values of an index, of which nothing is known; `None` where it has too many pieces.
///
/// Requires: the guards of each piece bound the index from both sides.
pub(crate) fn sum(pieces: &[Piece], index: usize, known: &Known) -> Option<Vec<Piece>> {
    let mut found = Vec::new();
    for piece in pieces {
        let periods = piece.guards.iter().map(|guard| guard.period(index));
        let step = periods.fold(piece.value.period(index), lcm);
        if step > LONGEST_PERIOD {
            return None;
        }
        for from in 0..step {
            let guards: Vec<Guard> =
                piece.guards.iter().map(|guard| guard.in_steps(index, step, from)).collect();
            let value = piece.value.in_steps(index, step, from);
            found.extend(over_steps(&guards, &value, index, known)?);
            if found.len() > MOST_PIECES {
                return None;
            }
        }
    }
    Some(found)
}

/// The sum over an index that no quotient mentions.
fn over_steps(guards: &[Guard], value: &Poly, index: usize, known: &Known) -> Option<Vec<Piece>> {
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
            other => others.push(other.clone()),
        }
    }
    let always = Piece { guards: others, value: value.clone() };
    let Some(always) = always.simplified(known) else { return Some(Vec::new()) };
    let mut known = known.clone();
    always.guards.iter().for_each(|guard| guard.tell(&mut known));
    let least = |a: &Quasi, b: &Quasi| b.minus(a);
    let greatest = |a: &Quasi, b: &Quasi| a.minus(b);
    let lower = without_dominated(lower, &greatest, &known);
    let upper = without_dominated(upper, &least, &known);
    let mut found = Vec::new();
    for (a, low) in lower.iter().enumerate() {
        for (b, high) in upper.iter().enumerate() {
            let mut guards: Vec<Guard> = counts(&lower, a, &greatest).collect();
            guards.extend(counts(&upper, b, &least));
            guards.push(Guard::AtLeast(high.minus(low).plus(&Quasi::int(1))));
            let value = value.sum(index, &Poly::of(low), &Poly::of(high))?;
            if let Some(mut piece) = (Piece { guards, value }).simplified(&known) {
                piece.guards.extend(always.guards.iter().cloned());
                found.push(piece);
            }
        }
    }
    Some(found)
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
