//! Quasi-affine values: multiples of indices and of quotients rounded down, and sizes.
//!
//! Where an index is taken in steps, `x = 2 t + 1`, a quotient of it is affine in the step: `x / 2 = t`. So everything
//! quasi-affine is affine in the steps of some [`Quasi::period`], which is how sums over an index are found.

use std::collections::BTreeMap;

use lift_nat::{Nat, Pred};

use crate::Domain;
use crate::affine::Affine;
use crate::known::{Known, Witness};
use crate::poly::gcd;

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Quasi {
    /// The factor of each index, without zeros.
    factors: BTreeMap<usize, i128>,
    floors: BTreeMap<Floor, i128>,
    /// Free of indices.
    rest: Nat,
}

/// `of / by`, rounded down; `by` is positive.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Floor {
    of: Quasi,
    by: i128,
}

/// How a quotient goes on as an index grows by one each time: a value more after `by` steps, or after all but one of them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    Forwards,
    Backwards,
}

impl Quasi {
    pub fn int(value: i128) -> Quasi {
        Quasi { factors: BTreeMap::new(), floors: BTreeMap::new(), rest: Nat::int(value) }
    }

    /// What is free of indices, or taken as such.
    pub fn size(value: &Nat) -> Quasi {
        Quasi { rest: value.clone(), ..Quasi::int(0) }
    }

    pub fn index(index: usize) -> Quasi {
        Quasi { factors: BTreeMap::from([(index, 1)]), ..Quasi::int(0) }
    }

    pub fn of(affine: &Affine) -> Quasi {
        let factors = affine.coefficients.iter().copied().enumerate();
        let factors = factors.filter(|(_, c)| *c != 0).collect();
        Quasi { factors, floors: BTreeMap::new(), rest: affine.rest.clone() }
    }

    /// `self / by`, rounded down. What is a multiple of `by` is taken out, so that factors and the constant that are left
    /// inside lie between 0 and `by`, and they have no divisor in common with it.
    ///
    /// Requires: `by` is positive.
    pub fn over(&self, by: i128) -> Quasi {
        if by == 1 {
            return self.clone();
        }
        let shared = self.multiples().fold(by, gcd);
        if shared > 1 && self.multiples().next().is_some() {
            let apart = Quasi { rest: Nat::ZERO, ..self.clone() }.mapped(&|c| c / shared);
            return apart.plus(&Quasi::size(&self.rest).over(shared)).over(by / shared);
        }
        let constant = self.rest.constant();
        let mut whole = Quasi::int(constant.div_euclid(by));
        let mut inside = Quasi::int(0);
        inside.rest = &self.rest - Nat::int(constant - constant.rem_euclid(by));
        for (index, c) in &self.factors {
            whole.add_index(*index, c.div_euclid(by));
            inside.add_index(*index, c.rem_euclid(by));
        }
        for (floor, c) in &self.floors {
            whole.add_floor(floor, c.div_euclid(by));
            inside.add_floor(floor, c.rem_euclid(by));
        }
        // A constant between 0 and `by` is rounded down to nothing.
        if inside.as_int().is_none() {
            whole.add_floor(&Floor { of: inside, by }, 1);
        }
        whole
    }

    pub fn plus(&self, other: &Quasi) -> Quasi {
        let mut sum = self.clone();
        other.factors.iter().for_each(|(index, c)| sum.add_index(*index, *c));
        other.floors.iter().for_each(|(floor, c)| sum.add_floor(floor, *c));
        sum.rest = &sum.rest + &other.rest;
        sum
    }

    pub fn minus(&self, other: &Quasi) -> Quasi {
        self.plus(&other.times(-1))
    }

    pub fn times(&self, by: i128) -> Quasi {
        Quasi { rest: &self.rest * Nat::int(by), ..self.mapped(&|c| c * by) }
    }

    /// A value that leaves the same remainder, with factors and a constant near 0.
    pub fn modulo(&self, divisor: i128) -> Quasi {
        let nearest = |c: i128| (c + divisor / 2).rem_euclid(divisor) - divisor / 2;
        let constant = self.rest.constant();
        let rest = &self.rest - Nat::int(constant - nearest(constant));
        Quasi { rest, ..self.mapped(&nearest) }
    }

    /// With other factors of indices and quotients.
    fn mapped(&self, f: &dyn Fn(i128) -> i128) -> Quasi {
        let mut other = Quasi::size(&self.rest);
        self.factors.iter().for_each(|(index, c)| other.add_index(*index, f(*c)));
        self.floors.iter().for_each(|(floor, c)| other.add_floor(floor, f(*c)));
        other
    }

    /// The factors of indices and of quotients.
    fn multiples(&self) -> impl Iterator<Item = i128> {
        self.factors.values().chain(self.floors.values()).copied()
    }

    pub fn factor(&self, index: usize) -> i128 {
        self.factors.get(&index).copied().unwrap_or(0)
    }

    /// Without the multiple of an index that is not in a quotient.
    pub fn without(&self, index: usize) -> Quasi {
        let mut other = self.clone();
        other.factors.remove(&index);
        other
    }

    /// Whether a quotient mentions an index.
    pub fn is_nested(&self, index: usize) -> bool {
        self.floors.keys().any(|floor| floor.mentions(index))
    }

    pub fn as_int(&self) -> Option<i128> {
        let free = self.factors.is_empty() && self.floors.is_empty();
        self.rest.as_int().filter(|_| free)
    }

    /// The factor of each index, the quotients with theirs, and what is free of indices.
    pub fn terms(&self) -> (&BTreeMap<usize, i128>, &BTreeMap<Floor, i128>, &Nat) {
        (&self.factors, &self.floors, &self.rest)
    }

    /// How far an index has to step for the value to be affine in its steps.
    pub fn period(&self, index: usize) -> i128 {
        self.floors.keys().fold(1, |all, floor| lcm(all, floor.period(index)))
    }

    /// What a step of an index adds, which is a multiple of the period.
    fn slope(&self, index: usize, step: i128) -> i128 {
        let own = self.factor(index) * step;
        self.floors.iter().fold(own, |sum, (f, c)| sum + c * (f.of.slope(index, step) / f.by))
    }

    /// The value where an index is `step * x + from` in place of x; `from` is free of that index.
    pub fn in_steps(&self, index: usize, step: i128, from: &Quasi) -> Quasi {
        let c = self.factor(index);
        let mut value = Quasi { floors: BTreeMap::new(), ..self.without(index) };
        value.add_index(index, c * step);
        value = value.plus(&from.times(c));
        for (floor, c) in &self.floors {
            value = value.plus(&floor.in_steps(index, step, from).times(*c));
        }
        value
    }

    /// With an index in place of another one.
    pub fn renamed(&self, from: usize, to: usize) -> Quasi {
        let rename = |k: usize| if k == from { to } else { k };
        let mut value = Quasi { rest: self.rest.clone(), ..Quasi::int(0) };
        self.factors.iter().for_each(|(index, c)| value.add_index(rename(*index), *c));
        for (floor, c) in &self.floors {
            value.add_floor(&floor.renamed(from, to), *c);
        }
        value
    }

    /// Its value for some numbers; `None` where that has no room.
    pub fn at(&self, witness: Witness) -> Option<i128> {
        let mut sum = self.rest.eval(&|v| Some(witness.size(v))).ok()?;
        for (index, c) in &self.factors {
            sum = sum.checked_add(c.checked_mul(witness.index(*index))?)?;
        }
        for (floor, c) in &self.floors {
            let quotient = floor.of.at(witness)?.div_euclid(floor.by);
            sum = sum.checked_add(c.checked_mul(quotient)?)?;
        }
        Some(sum)
    }

    pub fn value(&self, known: &Known) -> Nat {
        let indices = self.factors.iter().map(|(index, c)| Domain::index(*index) * Nat::int(*c));
        let floors = self.floors.iter().map(|(floor, c)| floor.value(known) * Nat::int(*c));
        indices.chain(floors).fold(self.rest.clone(), |sum, term| sum + term)
    }

    fn add_index(&mut self, index: usize, c: i128) {
        add(&mut self.factors, index, c);
    }

    fn add_floor(&mut self, floor: &Floor, c: i128) {
        add(&mut self.floors, floor.clone(), c);
    }
}

impl Floor {
    pub fn period(&self, index: usize) -> i128 {
        let inner = self.of.period(index);
        let slope = self.of.slope(index, inner);
        inner * (self.by / gcd(slope.abs(), self.by).max(1))
    }

    pub fn in_steps(&self, index: usize, step: i128, from: &Quasi) -> Quasi {
        self.of.in_steps(index, step, from).over(self.by)
    }

    pub fn renamed(&self, from: usize, to: usize) -> Floor {
        Floor { of: self.of.renamed(from, to), by: self.by }
    }

    /// `by * q <= of <= by * q + by - 1`, of the quotient q.
    pub fn bounds(&self) -> [Quasi; 2] {
        let mut quotient = Quasi::int(0);
        quotient.add_floor(self, self.by);
        let rest = self.of.minus(&quotient);
        [rest.clone(), Quasi::int(self.by - 1).minus(&rest)]
    }

    pub fn mentions(&self, index: usize) -> bool {
        self.of.is_nested(index) || self.of.factor(index) != 0
    }

    /// How it goes on, and the rest: of `(x + rest) / by`, or of `((by - 1) * x + rest) / by`, which is `x + (rest - x) / by`.
    pub fn unit(&self, index: usize) -> Option<(Unit, Quasi)> {
        let unit = match self.of.factor(index) {
            1 => Unit::Forwards,
            c if c == self.by - 1 => Unit::Backwards,
            _ => return None,
        };
        (!self.of.is_nested(index)).then(|| (unit, self.of.without(index)))
    }

    pub fn by(&self) -> i128 {
        self.by
    }

    /// Quotients of sizes are rounded towards 0, so a negative one is taken from the other side.
    pub fn value(&self, known: &Known) -> Nat {
        let (of, by) = (self.of.value(known), Nat::int(self.by));
        let natural = Pred::Le(Nat::ZERO, of.clone());
        let below = (&by - Nat::ONE - &of).div(&by);
        match known.proves(&self.of) {
            true => of.div(&by),
            false => Nat::cond(natural, of.div(&by), -below),
        }
    }
}

pub(crate) fn lcm(a: i128, b: i128) -> i128 {
    a / gcd(a, b).max(1) * b
}

fn add<K: Ord>(to: &mut BTreeMap<K, i128>, key: K, c: i128) {
    let sum = to.get(&key).copied().unwrap_or(0) + c;
    match sum {
        0 => to.remove(&key),
        _ => to.insert(key, sum),
    };
}
