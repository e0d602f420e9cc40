//! Polynomials with fractions, and their sums over a range.

use std::collections::BTreeMap;

use lift_nat::Nat;

use crate::known::Known;
use crate::quasi::{Floor, Quasi, Unit, lcm};
use crate::{Domain, Quadratic};

/// A reduced fraction; the denominator is positive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Ratio(i128, i128);

impl Ratio {
    fn new(numerator: i128, denominator: i128) -> Ratio {
        let shared = gcd(numerator.abs(), denominator.abs()).max(1);
        let sign = denominator.signum();
        Ratio(sign * numerator / shared, sign * denominator / shared)
    }

    fn plus(self, other: Ratio) -> Ratio {
        Ratio::new(self.0 * other.1 + other.0 * self.1, self.1 * other.1)
    }

    fn times(self, other: Ratio) -> Ratio {
        Ratio::new(self.0 * other.0, self.1 * other.1)
    }
}

pub(crate) fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Unknown {
    Index(usize),
    Floor(Floor),
    /// What sizes make up.
    Size(Nat),
}

impl Unknown {
    fn value(&self, known: &Known) -> Nat {
        match self {
            Unknown::Index(index) => Domain::index(*index),
            Unknown::Floor(floor) => floor.value(known),
            Unknown::Size(size) => size.clone(),
        }
    }
}

/// How often each unknown is a factor.
type Monomial = BTreeMap<Unknown, u32>;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Poly(BTreeMap<Monomial, Ratio>);

impl Poly {
    pub fn int(value: i128) -> Poly {
        Poly::zero().with(Monomial::new(), Ratio(value, 1))
    }

    fn zero() -> Poly {
        Poly(BTreeMap::new())
    }

    fn unknown(unknown: Unknown) -> Poly {
        Poly::zero().with(Monomial::from([(unknown, 1)]), Ratio(1, 1))
    }

    pub fn index(index: usize) -> Poly {
        Poly::unknown(Unknown::Index(index))
    }

    /// What is free of indices, or taken as such.
    pub fn size(value: &Nat) -> Poly {
        let constant = value.constant();
        let rest = value - Nat::int(constant);
        match rest.as_int() {
            Some(_) => Poly::int(constant),
            None => Poly::int(constant).plus(&Poly::unknown(Unknown::Size(rest))),
        }
    }

    pub fn of(value: &Quasi) -> Poly {
        let (factors, floors, rest) = value.terms();
        let mut sum = Poly::size(rest);
        for (index, c) in factors {
            sum = sum.plus(&Poly::index(*index).times(&Poly::int(*c)));
        }
        for (floor, c) in floors {
            sum = sum.plus(&Poly::unknown(Unknown::Floor(floor.clone())).times(&Poly::int(*c)));
        }
        sum
    }

    fn with(mut self, monomial: Monomial, factor: Ratio) -> Poly {
        let sum = self.0.get(&monomial).copied().unwrap_or(Ratio(0, 1)).plus(factor);
        match sum.0 {
            0 => self.0.remove(&monomial),
            _ => self.0.insert(monomial, sum),
        };
        self
    }

    pub fn plus(&self, other: &Poly) -> Poly {
        other.0.iter().fold(self.clone(), |sum, (m, c)| sum.with(m.clone(), *c))
    }

    pub fn minus(&self, other: &Poly) -> Poly {
        self.plus(&other.times(&Poly::int(-1)))
    }

    pub fn times(&self, other: &Poly) -> Poly {
        let mut product = Poly::zero();
        for (a, c) in &self.0 {
            for (b, d) in &other.0 {
                let mut both = a.clone();
                b.iter().for_each(|(unknown, k)| *both.entry(unknown.clone()).or_insert(0) += k);
                product = product.with(both, c.times(*d));
            }
        }
        product
    }

    /// Divided by an integer that is not 0.
    fn over(&self, by: i128) -> Poly {
        self.times(&Poly::zero().with(Monomial::new(), Ratio(1, by)))
    }

    fn power(&self, exponent: u32) -> Poly {
        (0..exponent).fold(Poly::int(1), |product, _| product.times(self))
    }

    /// By the exponent of an index, its cofactor.
    fn by_power(&self, index: usize) -> BTreeMap<u32, Poly> {
        let variable = Unknown::Index(index);
        let mut found: BTreeMap<u32, Poly> = BTreeMap::new();
        for (monomial, c) in &self.0 {
            let mut rest = monomial.clone();
            let power = rest.remove(&variable).unwrap_or(0);
            let poly = found.remove(&power).unwrap_or_else(Poly::zero);
            found.insert(power, poly.with(rest, *c));
        }
        found
    }

    /// Twice the polynomial by powers of an index, where that is squared and all factors are integers.
    pub fn quadratic_in(&self, index: usize) -> Option<Quadratic> {
        let mut powers = self.times(&Poly::int(2)).by_power(index);
        let is_integral = |p: &Poly| p.0.values().all(|c| c.1 == 1);
        if powers.keys().any(|power| *power > 2) || !powers.values().all(is_integral) {
            return None;
        }
        let mut factor =
            |power: u32| powers.remove(&power).map_or(Nat::ZERO, |p| p.value(&Known::default()));
        let bend = factor(2).as_int().filter(|bend| *bend != 0)?;
        Some(Quadratic { bend, slope: factor(1), first: factor(0) })
    }

    /// Whether an index is no factor.
    pub fn is_free_of(&self, index: usize) -> bool {
        self.by_power(index).into_keys().all(|power| power == 0)
            && !self.floors().any(|floor| floor.mentions(index))
    }

    fn floors(&self) -> impl Iterator<Item = &Floor> {
        self.0.keys().flat_map(floors)
    }

    /// With something in place of each unknown.
    fn replaced(&self, with: &dyn Fn(&Unknown) -> Poly) -> Poly {
        let mut sum = Poly::zero();
        for (monomial, c) in &self.0 {
            let one = Poly::zero().with(Monomial::new(), *c);
            let product = monomial.iter().fold(one, |p, (u, k)| p.times(&with(u).power(*k)));
            sum = sum.plus(&product);
        }
        sum
    }

    /// The value where an index is `step * x + from` in place of x; `from` is free of that index.
    pub fn in_steps(&self, index: usize, step: i128, from: &Quasi) -> Poly {
        self.replaced(&|unknown| match unknown {
            Unknown::Index(k) if *k == index => {
                Poly::index(index).times(&Poly::int(step)).plus(&Poly::of(from))
            }
            Unknown::Floor(floor) => Poly::of(&floor.in_steps(index, step, from)),
            Unknown::Index(_) | Unknown::Size(_) => Poly::unknown(unknown.clone()),
        })
    }

    /// How far an index has to step for the sum over it to have a formula.
    pub fn period_of_sum(&self, index: usize) -> i128 {
        let open = self.0.keys().filter(|monomial| quotient_alone(monomial, index).is_none());
        open.flat_map(floors).fold(1, |all, floor| lcm(all, floor.period(index)))
    }

    /// The sum of the values where an index goes from `low` up to `high`, which is at least `low - 1`; `None` where
    /// the degree is too high. Quotients mention the index only where each value of them comes up equally often.
    pub fn sum(&self, index: usize, low: &Quasi, high: &Quasi) -> Option<Poly> {
        let (mut total, mut powers) = (Poly::zero(), Poly::zero());
        for (monomial, c) in &self.0 {
            match quotient_alone(monomial, index) {
                Some((floor, unit, rest)) => {
                    let mut others = monomial.clone();
                    others.remove(&Unknown::Floor(floor.clone()));
                    let quotients = sum_of_quotients(floor.by(), unit, &rest, low, high);
                    total = total.plus(&quotients.times(&Poly::zero().with(others, *c)));
                }
                None => powers = powers.with(monomial.clone(), *c),
            }
        }
        let (below, high) = (Poly::of(low).minus(&Poly::int(1)), Poly::of(high));
        for (power, cofactor) in powers.by_power(index) {
            let range = sum_of_powers(power, &high)?.minus(&sum_of_powers(power, &below)?);
            total = total.plus(&range.times(&cofactor));
        }
        Some(total)
    }

    /// The value, which is an integer wherever it is asked for.
    pub fn value(&self, known: &Known) -> Nat {
        let denominator = self.0.values().fold(1, |all, c| all / gcd(all, c.1) * c.1);
        let mut sum = Nat::ZERO;
        for (monomial, c) in &self.0 {
            let mut term = Nat::int(c.0 * (denominator / c.1));
            for (unknown, k) in monomial {
                let unknown = unknown.value(known);
                term = (0..*k).fold(term, |term, _| term * &unknown);
            }
            sum = sum + term;
        }
        match denominator {
            1 => sum,
            d => sum.div(&Nat::int(d)),
        }
    }
}

fn floors(monomial: &Monomial) -> impl Iterator<Item = &Floor> {
    monomial.keys().filter_map(|unknown| match unknown {
        Unknown::Floor(floor) => Some(floor),
        Unknown::Index(_) | Unknown::Size(_) => None,
    })
}

/// The quotient of a product in which nothing else mentions an index, where that goes through its values one after the other.
fn quotient_alone(monomial: &Monomial, index: usize) -> Option<(&Floor, Unit, Quasi)> {
    let mut those = floors(monomial).filter(|floor| floor.mentions(index));
    let floor = those.next().filter(|_| those.next().is_none())?;
    let is_factor = monomial.contains_key(&Unknown::Index(index));
    let is_alone = !is_factor && monomial.get(&Unknown::Floor(floor.clone())) == Some(&1);
    let (unit, rest) = floor.unit(index).filter(|_| is_alone)?;
    Some((floor, unit, rest))
}

/// The sum of `(x + rest) / by` where x goes from `low` up to `high`, or of `x + (rest - x) / by`.
fn sum_of_quotients(by: i128, unit: Unit, rest: &Quasi, low: &Quasi, high: &Quasi) -> Poly {
    let one = Quasi::int(1);
    // 0 / by + 1 / by + … + (end - 1) / by: all values below q = end / by come `by` times, and q as often as it has come.
    let up_to = |end: &Quasi| {
        let q = Poly::of(&end.over(by));
        let whole = q.times(&q.plus(&Poly::int(1))).over(2);
        q.times(&Poly::of(end)).minus(&whole.times(&Poly::int(by)))
    };
    match unit {
        Unit::Forwards => up_to(&high.plus(rest).plus(&one)).minus(&up_to(&low.plus(rest))),
        Unit::Backwards => {
            let (least, end) = (rest.minus(high), rest.minus(low).plus(&one));
            let (first, last) = (Poly::of(low), Poly::of(high));
            let count = last.minus(&first).plus(&Poly::int(1));
            let own = first.plus(&last).times(&count).over(2);
            own.plus(&up_to(&end)).minus(&up_to(&least))
        }
    }
}

/// `0^k + 1^k + … + m^k`, which is 0 for `m = -1`.
fn sum_of_powers(k: u32, m: &Poly) -> Option<Poly> {
    let next = m.plus(&Poly::int(1));
    let twice = m.times(&Poly::int(2)).plus(&Poly::int(1));
    Some(match k {
        0 => next,
        1 => m.times(&next).over(2),
        2 => m.times(&next).times(&twice).over(6),
        3 => m.times(&next).power(2).over(4),
        _ => return None,
    })
}
