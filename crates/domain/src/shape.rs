//! Boxes, bounds, inclusion.

use lift_nat::{Facts, Nat, Pred};

use crate::affine::{Affine, NotAffine, constraints, eliminate};
use crate::piecewise::range;
use crate::{Constraint, Domain, natural};

impl Domain {
    /// The first value in the constraints that is not affine in the indices.
    pub fn not_affine(&self) -> Option<NotAffine> {
        let affine = |c: &Constraint| Affine::new(c.value(), self.dimensions).err();
        self.constraints.iter().find_map(affine)
    }

    /// The first index that has no upper bound.
    ///
    /// Requires: all constraints are affine.
    pub fn unbounded(&self) -> Option<usize> {
        let mut affine: Vec<Affine> = Vec::new();
        for constraint in &self.constraints {
            if let Constraint::AtLeast(value) = constraint
                && let Ok(value) = Affine::new(value, self.dimensions)
            {
                affine.push(value);
            }
        }
        // An index is bounded where a constraint has it with the other sign than all indices that are not.
        let mut bounded = vec![false; self.dimensions];
        loop {
            let found = (0..self.dimensions).find(|k| {
                let bounds = |c: &Affine| {
                    c.coefficient(*k) < 0
                        && (0..self.dimensions)
                            .all(|other| other == *k || bounded[other] || c.coefficient(other) <= 0)
                };
                !bounded[*k] && affine.iter().any(bounds)
            });
            match found {
                Some(k) => bounded[k] = true,
                None => return bounded.iter().position(|b| !b),
            }
        }
    }

    /// How long a box is in each dimension; `None` where the domain is none. It is one where, without the constraints
    /// that follow from others, each index has only upper bounds free of indices. That is decided without facts about
    /// sizes.
    pub fn extents(&self) -> Option<Vec<Nat>> {
        let mut plain: Vec<Vec<Nat>> = vec![Vec::new(); self.dimensions];
        let mut others = Vec::new();
        for constraint in &self.constraints {
            let affine = match constraint {
                Constraint::AtLeast(value) => Affine::new(value, self.dimensions).ok()?,
                Constraint::Multiple { .. } => return None,
            };
            let mut used = (0..self.dimensions).filter(|k| affine.coefficient(*k) != 0);
            match (used.next(), used.next()) {
                (Some(k), None) if affine.coefficient(k) < 0 => {
                    // c * x <= rest; a quotient is rounded towards 0, so that one below -1 stays below 1.
                    let divisor = Nat::int(-affine.coefficient(k));
                    plain[k].push((&affine.rest + &divisor).div(&divisor));
                }
                (None, _) => {}
                _ => others.push(constraint.clone()),
            }
        }
        let extents: Option<Vec<Nat>> = plain
            .into_iter()
            .map(|bounds| bounds.into_iter().reduce(|a, b| Nat::min(&a, &b)))
            .collect();
        let extents = extents?;
        let mut facts = natural(self.sizes());
        for (k, extent) in extents.iter().enumerate() {
            facts.assume(&Pred::Le(Nat::ZERO, Domain::index(k)));
            facts.assume(&Pred::Lt(Domain::index(k), extent.clone()));
        }
        others.iter().all(|c| facts.proves(&c.pred())).then_some(extents)
    }

    /// How long a box is, in each dimension, that holds all points; `None` where numbers get too large.
    pub fn bounding_box(&self) -> Option<Vec<Nat>> {
        let all = constraints(self)?;
        let sizes = natural(self.sizes());
        (0..self.dimensions)
            .map(|k| {
                let others = (0..self.dimensions).filter(|other| *other != k);
                let alone = others.fold(all.clone(), |c, other| eliminate(&c, other));
                let (_, high) = range(&alone, k, &sizes)?;
                Some(high + Nat::ONE)
            })
            .collect()
    }

    /// Whether each index has a least value that is known to be below 2^31. No index of others need have room in 32 bits, however
    /// few points there are.
    pub fn starts_low(&self) -> bool {
        let Some(all) = constraints(self) else { return true };
        let sizes = natural(self.sizes());
        (0..self.dimensions).all(|k| {
            let others = (0..self.dimensions).filter(|other| *other != k);
            let alone = others.fold(all.clone(), |c, other| eliminate(&c, other));
            let low = range(&alone, k, &sizes).map(|(low, _)| low);
            low.is_some_and(|low| sizes.at_most(&low, &Nat::int(i128::from(i32::MAX))))
        })
    }

    /// The box of given extents.
    pub fn of_extents(extents: &[Nat]) -> Domain {
        let constraint = |(k, n): (usize, &Nat)| Constraint::less(&Domain::index(k), n);
        Domain::new(extents.len(), extents.iter().enumerate().map(constraint).collect())
    }

    /// A condition of this domain that a point is not known to meet, which is known to be in another one under what is
    /// known of sizes; `None` where all are met.
    ///
    /// `point` is in terms of the indices of `inside`.
    pub fn open_condition(&self, point: &[Nat], inside: &Domain, known: &Facts) -> Option<Pred> {
        let mut facts = known.clone();
        for condition in inside.conditions(&inside.point()) {
            facts.assume(&condition);
        }
        let is_open =
            |condition: &Pred| !facts.proves(condition) && !inside.bounds_prove(condition, known);
        self.conditions(point).into_iter().find(is_open)
    }

    /// Whether a bound of indices follows from those of this domain, which are put in their places one index after the other.
    fn bounds_prove(&self, condition: &Pred, known: &Facts) -> bool {
        let Pred::Le(low, high) = condition else { return false };
        let least = self.least(&(high - low), known);
        least.iter().any(|value| known.proves(&Pred::Le(Nat::ZERO, value.clone())))
    }

    /// Values free of indices that one in terms of them is nowhere below, the least it is among them where there is a point at
    /// the ends of all ranges; none where that is not found out.
    pub fn least(&self, value: &Nat, known: &Facts) -> Vec<Nat> {
        let Some(nest) = self.nest(known) else { return Vec::new() };
        let mut least = vec![value.clone()];
        for (k, bounds) in nest.iter().enumerate().rev() {
            let mut placed = Vec::new();
            for value in &least {
                let Ok(affine) = Affine::new(value, self.dimensions) else { continue };
                let factor = affine.coefficient(k);
                let with = |end: Nat| affine.without(k).value() + end * Nat::int(factor);
                match factor.signum() {
                    0 => placed.push(value.clone()),
                    -1 => placed.extend(bounds.upper.iter().map(|b| with(b.highest()))),
                    _ => placed.extend(bounds.lower.iter().map(|b| with(b.lowest()))),
                }
            }
            least = placed;
        }
        least
    }

    /// The point whose indices are the variables themselves.
    pub fn point(&self) -> Vec<Nat> {
        (0..self.dimensions).map(Domain::index).collect()
    }

    /// Whether two domains have the same points, as far as that is known.
    pub fn same_points(&self, other: &Domain, known: &Facts) -> bool {
        self == other
            || (self.dimensions == other.dimensions
                && self.open_condition(&self.point(), other, known).is_none()
                && other.open_condition(&self.point(), self, known).is_none())
    }
}
