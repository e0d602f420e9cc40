//! A domain as nested loops: what bounds each index in terms of those before it, however many bounds there are.

use lift_nat::{Facts, Nat, Pred};

use crate::Domain;
use crate::affine::{Affine, bounds, constraints, eliminate};

/// A bound of an index x: `factor * x >= rest` from below, `factor * x <= rest` from above. The factor is above 0.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bound {
    pub factor: i128,
    /// In terms of the indices before.
    pub rest: Nat,
}

impl Bound {
    /// The lowest natural number that meets it from below. The quotient is rounded towards 0, below which there is none.
    pub fn lowest(&self) -> Nat {
        match self.factor {
            1 => self.rest.clone(),
            factor => (&self.rest + Nat::int(factor - 1)).div(&Nat::int(factor)),
        }
    }

    /// A number that none above it meets from above, the highest that does where there is one.
    pub fn highest(&self) -> Nat {
        match self.factor {
            1 => self.rest.clone(),
            factor => self.rest.div(&Nat::int(factor)),
        }
    }
}

/// What bounds an index, of which the largest lower and the smallest upper bound count.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bounds {
    pub lower: Vec<Bound>,
    pub upper: Vec<Bound>,
    /// Whether no value may be so few that the last possible one is more than one below the first.
    pub may_cross: bool,
}

impl Domain {
    /// The bounds of each index, outermost first, without those that are known to follow from others; `None` where numbers
    /// get too large.
    ///
    /// The points of the domain are the ones between these bounds that meet its constraints by remainders: each other
    /// constraint is a bound of the last index in it.
    pub fn nest(&self, known: &Facts) -> Option<Vec<Bounds>> {
        let last = self.dimensions.checked_sub(1)?;
        let own = constraints(self)?;
        // What holds of the first k + 1 indices of a point.
        let mut of_first = vec![own.clone()];
        for k in (1..=last).rev() {
            let inner = of_first.last()?;
            of_first.push(eliminate(inner, k));
        }
        of_first.reverse();
        let mut facts = known.clone();
        let mut nest = Vec::new();
        for (k, constraints) in of_first.iter().enumerate() {
            let (lower, upper) = bounds(constraints, k);
            let (own_upper, derived): (Vec<Affine>, Vec<Affine>) =
                upper.into_iter().partition(|c| own.contains(c));
            let lower: Vec<Bound> = lower.iter().map(|c| lower_bound(c, k)).collect();
            let lower = strongest(lower, &|a, b| facts.at_most(b, a));
            let follows = |end: &Nat| {
                lower.iter().all(|low| low.factor == 1 && facts.at_most(&low.rest, end))
            };
            // What follows from inner bounds need not be met: a value more, for which there is nothing inside, spares asking
            // whether there are less than none.
            let derived = derived.iter().map(|c| {
                let bound = upper_bound(c, k);
                let (end, further) = (&bound.rest + Nat::ONE, &bound.rest + Nat::int(2));
                match bound.factor == 1 && !follows(&end) && follows(&further) {
                    true => Bound { rest: end, ..bound },
                    false => bound,
                }
            });
            let upper = own_upper.iter().map(|c| upper_bound(c, k)).chain(derived).collect();
            let upper = strongest(upper, &|a, b| facts.at_most(a, b));
            let grows = |b: &Bound| b.factor == 1 && follows(&(&b.rest + Nat::ONE));
            let may_cross = !upper.iter().all(grows);
            let x = Domain::index(k);
            for Bound { factor, rest } in &lower {
                facts.assume(&Pred::Le(rest.clone(), &x * Nat::int(*factor)));
            }
            for Bound { factor, rest } in &upper {
                facts.assume(&Pred::Le(&x * Nat::int(*factor), rest.clone()));
            }
            nest.push(Bounds { lower, upper, may_cross });
        }
        Some(nest)
    }
}

impl Domain {
    /// Whether no point meets all bounds, as far as that is known.
    pub fn is_nowhere(&self, known: &Facts) -> bool {
        let Some(all) = constraints(self) else { return false };
        let left = (0..self.dimensions).fold(all, |all, k| eliminate(&all, k));
        left.iter().any(|c| known.proves(&Pred::Lt(c.value(), Nat::ZERO)))
    }
}

/// `factor * x + rest >= 0`
fn lower_bound(constraint: &Affine, index: usize) -> Bound {
    Bound { factor: constraint.coefficient(index), rest: -constraint.without(index).value() }
}

/// `rest - factor * x >= 0`
fn upper_bound(constraint: &Affine, index: usize) -> Bound {
    Bound { factor: -constraint.coefficient(index), rest: constraint.without(index).value() }
}

/// Without the bounds that another one of the same factor makes needless.
fn strongest(bounds: Vec<Bound>, implies: &dyn Fn(&Nat, &Nat) -> bool) -> Vec<Bound> {
    let implies = |a: &Bound, b: &Bound| a.factor == b.factor && implies(&a.rest, &b.rest);
    let mut kept: Vec<Bound> = Vec::new();
    for bound in bounds {
        if kept.iter().any(|other| implies(other, &bound)) {
            continue;
        }
        kept.retain(|other| !implies(&bound, other));
        kept.push(bound);
    }
    kept
}
