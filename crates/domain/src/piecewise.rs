//! Domains whose points one polynomial does not count: several borders, factors, remainders.
//!
//! Where a sum over an index has too many cases it stays one, `sum(t < end, …)` of what there is for each value.

use lift_nat::{Facts, Nat, Pred};

use crate::affine::{Affine, bounds, constraints, eliminate};
use crate::known::Known;
use crate::pieces::{self, Even, Guard, Piece};
use crate::poly::Poly;
use crate::quasi::Quasi;
use crate::{Constraint, Domain, Level, Levels, natural};

/// A longer formula is not written; nor are several that together are too long for one.
const LONGEST: usize = 1 << 9;

/// Nor is a longer one added up index by index, where adding up what it is the sum of says the same in less.
const LONGEST_ADDED: usize = 1 << 7;

/// How many points have given first indices.
enum Inside {
    Pieces(Vec<Piece>),
    /// Where there would be too many.
    Formula(Nat),
}

impl Inside {
    fn pieces(&self) -> Option<&[Piece]> {
        match self {
            Inside::Pieces(pieces) => Some(pieces),
            Inside::Formula(_) => None,
        }
    }

    /// Only where a guard holds, which it does wherever the formula is asked for.
    fn hold(&mut self, guard: &Guard) {
        if let Inside::Pieces(pieces) = self {
            pieces.iter_mut().for_each(|piece| piece.guards.push(guard.clone()));
        }
    }

    /// The number as it is added up: `sum` is that of what is inside of the next index. Either was found for points alone, pieces
    /// say where they hold.
    fn added(&self, sum: Option<Nat>, of_points: Vec<Pred>) -> Nat {
        match (self, sum) {
            (Inside::Formula(of), _) => pieces::where_all(of_points, of.clone()),
            (Inside::Pieces(pieces), None) => pieces::value(pieces),
            (Inside::Pieces(pieces), Some(sum)) => {
                let value = pieces::value(pieces);
                match value.size() > LONGEST_ADDED {
                    true => pieces::where_all(of_points, sum),
                    false => value,
                }
            }
        }
    }
}

/// The sum of `of` over the values of an index from `low` to `end - 1`, of those from `low` to `most - 1`.
fn one_by_one(of: &Nat, index: usize, (low, most): (&Nat, &Nat), end: &Nat) -> Nat {
    let var = Domain::index_var(index);
    let of = of.substitute(&|v| (*v == var).then(|| Domain::index(index) + low));
    Nat::sum_over(&var, &(end - low), &(most - low), &of)
}

impl Domain {
    /// The domain as nested ranges, of whose values some may have no points; `None` where numbers become too large.
    pub(crate) fn levels_in_pieces(&self) -> Option<Levels> {
        let shadows = self.shadows()?;
        let sizes = natural(self.sizes());
        let all = Piece { guards: self.guards()?, value: Poly::int(1) };
        let mut inside = Inside::Pieces(vec![all]);
        let mut levels = Vec::new();
        let mut sum = None;
        for (k, shadow) in shadows.iter().enumerate().rev() {
            let outer = k.checked_sub(1).and_then(|outer| shadows.get(outer));
            let outer = outer.map(Vec::as_slice).unwrap_or_default();
            let around = known(outer);
            let (low, high) = range(shadow, k, &facts(outer, &sizes))?;
            // A piece holds where the indices around it are those of points; now this one is among them.
            for constraint in shadow.iter().filter(|c| c.coefficient(k) != 0) {
                inside.hold(&Guard::AtLeast(Quasi::of(constraint)));
            }
            // The last index takes all values of its range, unless some are left out by a remainder or a factor.
            let is_last = k + 1 == self.dimensions();
            let values = match is_last && self.takes_all(k) {
                true => Some(Even { first: low.clone(), step: 1, each: Nat::ONE }),
                false => inside.pieces().and_then(|pieces| pieces::even(pieces, k, &around)),
            };
            let end = &high + Nat::ONE;
            // The range begins at bounds that need no division: the others leave out some of its first values.
            let loose = shadow.iter().filter(|c| c.coefficient(k) > 1);
            let of_points = loose.map(|c| Pred::Le(Nat::ZERO, c.value())).collect();
            let added = inside.added(sum, of_points);
            let from_low = |to: &Nat| one_by_one(&added, k, (&low, &end), to);
            let is_short = |value: &Nat| !value.is_overflow() && value.size() <= LONGEST;
            sum = self.row(shadow, k).or_else(|| Some(from_low(&end)));
            levels.push(match values {
                Some(Even { first, step, each }) => {
                    let before = (Domain::index(k) - &first).exact_div(&Nat::int(step)) * &each;
                    Level { low: first, high, before, step, each: Some(each), quadratic: None }
                }
                None => {
                    let before = inside.pieces().and_then(|pieces| self.before(pieces, k, shadow));
                    let before = before.filter(is_short);
                    let before = before.unwrap_or_else(|| from_low(&Domain::index(k)));
                    let low = low.clone();
                    Level { low, high, before, step: 1, each: None, quadratic: None }
                }
            });
            let pieces = inside.pieces().filter(|_| k > 0);
            inside = match pieces.and_then(|pieces| pieces::sum(pieces, k, &around)) {
                Some(pieces) => Inside::Pieces(pieces),
                None => {
                    let total = inside.pieces().and_then(|p| pieces::total(p, k, &around));
                    let total = total.filter(is_short);
                    Inside::Formula(total.unwrap_or_else(|| from_low(&end)))
                }
            };
        }
        levels.reverse();
        match inside {
            Inside::Formula(count) => Some(Levels::new(levels, count)),
            Inside::Pieces(_) => None,
        }
    }

    /// How many values the last index has, given any others; `None` where it leaves remainders.
    fn row(&self, shadow: &[Affine], index: usize) -> Option<Nat> {
        let var = Domain::index_var(index);
        let leaves_some =
            |c: &Constraint| matches!(c, Constraint::Multiple { of, .. } if of.mentions(&var));
        if index + 1 != self.dimensions() || self.constraints().iter().any(leaves_some) {
            return None;
        }
        let (lower, upper) = bounds(shadow, index);
        // Rounded up from 0 on, which is among them.
        let low = |c: &Affine| {
            let factor = c.coefficient(index);
            (Nat::int(factor - 1) - c.without(index).value()).div(&Nat::int(factor))
        };
        let low = lower.iter().map(low).reduce(|a, b| Nat::max(&a, &b))?;
        // The value behind the last one, which is rounded down from 0 on and has none below it elsewhere.
        let end = |c: &Affine| {
            let factor = Nat::int(-c.coefficient(index));
            (c.without(index).value() + &factor).div(&factor)
        };
        let end = upper.iter().map(end).reduce(|a, b| Nat::min(&a, &b))?;
        let others = self.constraints().iter().map(Constraint::pred);
        let others = others.filter(|condition| !condition.mentions(&var)).collect();
        Some(pieces::where_all(others, Nat::max(&(end - low), &Nat::ZERO)))
    }

    /// How many points have the same indices before one and a smaller one there.
    fn before(&self, inside: &[Piece], index: usize, shadow: &[Affine]) -> Option<Nat> {
        // A further index stands for the value that the others are compared with.
        let here = self.dimensions();
        let less = Quasi::index(here).minus(&Quasi::index(index)).minus(&Quasi::int(1));
        let mut smaller = inside.to_vec();
        smaller.iter_mut().for_each(|piece| piece.guards.push(Guard::AtLeast(less.clone())));
        let mut at_here = Known::default();
        for constraint in shadow.iter().filter(|c| !c.is_constant()) {
            at_here.assume(&Quasi::of(constraint).renamed(index, here));
        }
        let found = pieces::total(&smaller, index, &at_here)?;
        let here = Domain::index_var(here);
        Some(found.substitute(&|v| (*v == here).then(|| Domain::index(index))))
    }

    /// What holds of the first index, of the first two, and so on: of all points, and of others where a factor or a
    /// remainder leaves out some.
    fn shadows(&self) -> Option<Vec<Vec<Affine>>> {
        let mut all = vec![constraints(self)?];
        for k in (1..self.dimensions()).rev() {
            all.push(eliminate(all.last()?, k));
        }
        all.reverse();
        Some(all)
    }

    fn guards(&self) -> Option<Vec<Guard>> {
        let mut guards: Vec<Guard> =
            constraints(self)?.iter().map(|c| Guard::AtLeast(Quasi::of(c))).collect();
        for constraint in self.constraints() {
            if let Constraint::Multiple { of, divisor } = constraint {
                let value = Quasi::of(&Affine::new(of, self.dimensions()).ok()?);
                guards.push(Guard::Multiple(value, *divisor));
            }
        }
        Some(guards)
    }

    /// Whether an index takes every value of its range.
    fn takes_all(&self, index: usize) -> bool {
        let var = Domain::index_var(index);
        self.constraints().iter().all(|constraint| match constraint {
            Constraint::AtLeast(value) => Affine::new(value, self.dimensions())
                .is_ok_and(|affine| affine.coefficient(index) <= 1),
            Constraint::Multiple { of, .. } => !of.mentions(&var),
        })
    }
}

/// What is known where constraints on indices hold.
fn known(constraints: &[Affine]) -> Known {
    let mut known = Known::default();
    let of_indices = constraints.iter().filter(|c| !c.is_constant());
    of_indices.for_each(|constraint| known.assume(&Quasi::of(constraint)));
    known
}

/// The same for `lift_nat`, with what is known of sizes.
fn facts(constraints: &[Affine], sizes: &Facts) -> Facts {
    let mut facts = sizes.clone();
    for constraint in constraints.iter().filter(|c| !c.is_constant()) {
        facts.assume(&Pred::Le(Nat::ZERO, constraint.value()));
    }
    facts
}

/// The least and the greatest value of an index, given those before it.
pub(crate) fn range(constraints: &[Affine], index: usize, around: &Facts) -> Option<(Nat, Nat)> {
    let (lower, upper) = bounds(constraints, index);
    let low = |c: &Affine| (c.coefficient(index) == 1).then(|| -c.without(index).value());
    let high = |c: &Affine| match c.coefficient(index) {
        -1 => c.without(index).value(),
        // Rounded towards 0, which a natural number is below where it is below the quotient.
        factor => c.without(index).value().div(&Nat::int(-factor)),
    };
    let lows = without(lower.iter().filter_map(low), &|a, b| around.at_most(b, a));
    let highs = without(upper.iter().map(high), &|a, b| around.at_most(a, b));
    let low = lows.into_iter().reduce(|a, b| Nat::max(&a, &b))?;
    Some((low, highs.into_iter().reduce(|a, b| Nat::min(&a, &b))?))
}

/// Without the values that another one makes needless.
fn without(values: impl Iterator<Item = Nat>, implies: &dyn Fn(&Nat, &Nat) -> bool) -> Vec<Nat> {
    let mut kept: Vec<Nat> = Vec::new();
    for value in values {
        if kept.iter().any(|other| implies(other, &value)) {
            continue;
        }
        kept.retain(|other| !implies(&value, other));
        kept.push(value);
    }
    kept
}
