//! A domain as nested ranges: each index goes from a lowest to a highest value in terms of those before it.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use lift_nat::{Facts, Nat, Pred};

use crate::affine::{Affine, are_units, bounds, constraints, eliminate};
use crate::known::Known;
use crate::poly::Poly;
use crate::quasi::Quasi;
use crate::{Constraint, Domain, at, natural};

/// The range of an index, in terms of those before it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Level {
    pub low: Nat,
    /// The last value.
    pub high: Nat,
    /// How many points have the same indices before this one and a smaller one here: for a value in the range, and where `each`
    /// is known for one that has points.
    pub before: Nat,
    /// How many points there are for each value of this index that has any, where that does not depend on it.
    pub each: Option<Nat>,
    /// How far these values are apart, from `low` on.
    pub step: i128,
    /// What `before` is, where it is a polynomial in which this index is squared.
    pub quadratic: Option<Quadratic>,
}

/// `2 * before = bend * x * x + slope * x + first`, in terms of the indices before x; bend is not 0.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Quadratic {
    pub bend: i128,
    pub slope: Nat,
    pub first: Nat,
}

/// A domain whose points are counted by a formula.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Levels {
    levels: Vec<Level>,
    count: Nat,
}

/// What is found of a domain once, for it and its clones. It follows from the domain, so no comparison looks at it.
#[derive(Clone, Default)]
pub(crate) struct Found(Arc<OnceLock<Option<Levels>>>);

/// What was found of the domains of late, equal ones among them that are no clones of each other.
static KNOWN: Mutex<BTreeMap<Domain, Option<Levels>>> = Mutex::new(BTreeMap::new());
const MOST_KNOWN: usize = 256;

impl PartialEq for Found {
    fn eq(&self, _: &Found) -> bool {
        true
    }
}

impl Eq for Found {}

impl PartialOrd for Found {
    fn partial_cmp(&self, other: &Found) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Found {
    fn cmp(&self, _: &Found) -> Ordering {
        Ordering::Equal
    }
}

impl Hash for Found {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

impl fmt::Debug for Found {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(if self.0.get().is_some() { "found" } else { "not asked for" })
    }
}

impl Domain {
    /// The domain as nested ranges; `None` where formulas become too long.
    pub fn levels(&self) -> Option<Levels> {
        self.levels.0.get_or_init(|| self.known_levels()).clone()
    }

    /// The same, which a program asks for each time it names the domain.
    fn known_levels(&self) -> Option<Levels> {
        let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known().get(self) {
            return found.clone();
        }
        let found = self.levels_of_polynomials().or_else(|| self.levels_in_pieces());
        let found = found.filter(Levels::are_written);
        let mut known = known();
        if known.len() >= MOST_KNOWN {
            known.clear();
        }
        // A domain that keeps what was found of it would be kept by itself.
        let key = Domain { levels: Found::default(), ..self.clone() };
        known.insert(key, found.clone());
        found
    }

    /// The same, each range with one lowest and one highest value and none inside the first empty; `None` where it is
    /// otherwise.
    fn levels_of_polynomials(&self) -> Option<Levels> {
        let last = self.dimensions.checked_sub(1)?;
        let multiple = |c: &Constraint| matches!(c, Constraint::Multiple { .. });
        if self.constraints.iter().any(multiple) {
            return None;
        }
        // What holds of the first k + 1 indices of a point.
        let mut of_first = vec![constraints(self)?];
        for k in (1..=last).rev() {
            let inner = of_first.last()?;
            of_first.push(eliminate(inner, k));
        }
        if !of_first.iter().all(|constraints| are_units(constraints)) {
            return None;
        }
        of_first.reverse();
        let sizes = natural(self.sizes());
        let mut ranges: Vec<(Affine, Affine)> = Vec::new();
        for k in 0..=last {
            let mut facts = sizes.clone();
            if let Some(outer) = k.checked_sub(1).and_then(|outer| of_first.get(outer)) {
                let mentions = outer.iter().filter(|c| !c.is_constant());
                mentions.for_each(|c| facts.assume(&Pred::Le(Nat::ZERO, c.value())));
            }
            let (lower, upper) = bounds(of_first.get(k)?, k);
            // x + rest >= 0, and rest - x >= 0
            let low = the_least(&lower, k, &facts)?.without(k);
            let high = the_least(&upper, k, &facts)?.without(k);
            ranges.push((negated(&low), high));
        }
        let mut levels = Vec::new();
        let mut inside = Poly::int(1);
        for (k, (low, high)) in ranges.iter().enumerate().rev() {
            let (first, end) = (Quasi::of(low), Quasi::of(high));
            let before = inside.sum(k, &first, &Quasi::index(k).minus(&Quasi::int(1)))?;
            let quadratic = before.quadratic_in(k);
            let before = before.value(&Known::default());
            let each = inside.is_free_of(k).then(|| inside.value(&Known::default()));
            let (low, high) = (low.value(), high.value());
            levels.push(Level { low, high, before, each, step: 1, quadratic });
            inside = inside.sum(k, &first, &end)?;
        }
        levels.reverse();
        let always = of_first.first()?.iter().filter(|c| c.is_constant()).map(|c| c.rest.clone());
        let always: Vec<Nat> = always.collect();
        let count =
            never_negative(inside.value(&Known::default()), ranges.first()?, &always, &sizes);
        Some(Levels { levels, count })
    }
}

/// The one of several constraints on an index that implies the others.
fn the_least(constraints: &[Affine], index: usize, facts: &Facts) -> Option<Affine> {
    let value = |c: &Affine| c.without(index).value();
    let least = |c: &&Affine| constraints.iter().all(|d| facts.at_most(&value(c), &value(d)));
    constraints.iter().find(least).cloned()
}

fn negated(affine: &Affine) -> Affine {
    Affine { coefficients: affine.coefficients.iter().map(|c| -c).collect(), rest: -&affine.rest }
}

/// The number of points is a polynomial where the first range has at least no values and what is free of indices is
/// met, and 0 elsewhere.
fn never_negative(
    count: Nat,
    (low, high): &(Affine, Affine),
    always: &[Nat],
    sizes: &Facts,
) -> Nat {
    let values = high.value() - low.value() + Nat::ONE;
    let mut some = sizes.clone();
    some.assume(&Pred::Lt(Nat::ZERO, values.clone()));
    let mut needed: Vec<Pred> = always.iter().map(|n| Pred::Le(Nat::ZERO, n.clone())).collect();
    needed.retain(|p| !some.proves(p));
    if !is_zero_without_values(&count, &values, sizes) {
        needed.push(Pred::Le(Nat::ZERO, values));
    }
    match needed.pop() {
        None => count,
        Some(only) if needed.is_empty() => Nat::cond(only, count, Nat::ZERO),
        Some(last) => {
            needed.push(last);
            Nat::cond(Pred::And(needed), count, Nat::ZERO)
        }
    }
}

/// Whether the polynomial is 0 wherever the first range has no values: where there cannot be less than none, and often
/// one step further, where the sizes themselves are 0.
fn is_zero_without_values(count: &Nat, values: &Nat, sizes: &Facts) -> bool {
    if sizes.proves(&Pred::Le(Nat::ZERO, values.clone())) {
        return true;
    }
    let nearly = values + Nat::ONE;
    let step = values.vars().into_iter().find(|v| (values - Nat::var(v)).as_int().is_some());
    step.is_some_and(|v| {
        let there = Nat::var(&v) - &nearly;
        sizes.proves(&Pred::Le(Nat::ZERO, nearly))
            && count.substitute(&|w| (*w == v).then(|| there.clone())) == Nat::ZERO
    })
}

impl Levels {
    pub(crate) fn new(levels: Vec<Level>, count: Nat) -> Levels {
        Levels { levels, count }
    }

    /// Whether no formula has become too long to be written.
    fn are_written(&self) -> bool {
        let of_level =
            |level: &Level| [level.low.clone(), level.high.clone(), level.before.clone()];
        let mut all = self.levels.iter().flat_map(of_level).chain([self.count.clone()]);
        !all.any(|n| n.is_overflow())
    }

    /// How many points there are.
    pub fn count(&self) -> &Nat {
        &self.count
    }

    /// Outermost first.
    pub fn levels(&self) -> &[Level] {
        &self.levels
    }

    /// The number of a point of the domain, in lexicographic order.
    pub fn rank(&self, point: &[Nat]) -> Nat {
        self.levels.iter().fold(Nat::ZERO, |sum, level| sum + at(&level.before, point))
    }
}
