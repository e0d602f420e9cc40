//! Constraints as coefficients of the indices, and elimination of an index.

use lift_nat::Nat;

use crate::{Constraint, Domain, at};

/// `0 <= coefficients · indices + rest`
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Affine {
    pub coefficients: Vec<i128>,
    /// Free of indices.
    pub rest: Nat,
}

/// A value that is no sum of multiples of the indices, by constants, and of sizes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NotAffine(pub Nat);

impl Affine {
    pub fn new(value: &Nat, dimensions: usize) -> Result<Affine, NotAffine> {
        let zero = vec![Nat::ZERO; dimensions];
        let rest = at(value, &zero);
        let mut coefficients = Vec::new();
        let mut whole = rest.clone();
        for k in 0..dimensions {
            let mut unit = zero.clone();
            unit[k] = Nat::ONE;
            let slope =
                (at(value, &unit) - &rest).as_int().ok_or_else(|| NotAffine(value.clone()))?;
            coefficients.push(slope);
            whole = whole + Domain::index(k) * Nat::int(slope);
        }
        match whole == *value {
            true => Ok(Affine { coefficients, rest }),
            false => Err(NotAffine(value.clone())),
        }
    }

    pub fn coefficient(&self, index: usize) -> i128 {
        self.coefficients.get(index).copied().unwrap_or(0)
    }

    pub fn value(&self) -> Nat {
        let terms = self.coefficients.iter().enumerate();
        terms.fold(self.rest.clone(), |sum, (k, c)| sum + Domain::index(k) * Nat::int(*c))
    }

    /// The value without the index.
    pub fn without(&self, index: usize) -> Affine {
        let mut other = self.clone();
        if let Some(c) = other.coefficients.get_mut(index) {
            *c = 0;
        }
        other
    }

    pub fn is_constant(&self) -> bool {
        self.coefficients.iter().all(|c| *c == 0)
    }

    fn times(&self, by: i128) -> Affine {
        let coefficients = self.coefficients.iter().map(|c| c * by).collect();
        Affine { coefficients, rest: &self.rest * Nat::int(by) }
    }

    fn plus(&self, other: &Affine) -> Affine {
        let coefficients = self.coefficients.iter().zip(&other.coefficients);
        Affine {
            coefficients: coefficients.map(|(a, b)| a + b).collect(),
            rest: &self.rest + &other.rest,
        }
    }
}

/// A value as the factor of each index and what is free of indices.
pub fn affine(value: &Nat, dimensions: usize) -> Result<(Vec<i128>, Nat), NotAffine> {
    let affine = Affine::new(value, dimensions)?;
    Ok((affine.coefficients, affine.rest))
}

/// The bounds among the constraints of a domain, that of each index being natural among them; `None` where one has numbers
/// so large that formulas might not hold them.
pub(crate) fn constraints(domain: &Domain) -> Option<Vec<Affine>> {
    let dimensions = domain.dimensions();
    let mut all = Vec::new();
    for k in 0..dimensions {
        all.push(Affine::new(&Domain::index(k), dimensions).ok()?);
    }
    for constraint in domain.constraints() {
        let affine = Affine::new(constraint.value(), dimensions).ok()?;
        let large = |c: &i128| c.unsigned_abs() >> (FACTOR_BITS / dimensions) != 0;
        let constant = affine.rest.constant().unsigned_abs();
        if affine.coefficients.iter().any(large) || constant >> (96 / dimensions) != 0 {
            return None;
        }
        match constraint {
            Constraint::AtLeast(_) => all.push(affine),
            Constraint::Multiple { divisor, .. } if large(divisor) => return None,
            Constraint::Multiple { .. } => {}
        }
    }
    Some(all)
}

/// Of the factors of indices in a constraint that is counted, and of divisors: there is one for each index in a product.
const FACTOR_BITS: usize = 28;

/// Whether no index has a factor.
pub(crate) fn are_units(constraints: &[Affine]) -> bool {
    constraints.iter().all(|c| c.coefficients.iter().all(|c| c.abs() <= 1))
}

/// What holds of the other indices where some number meets all constraints on one (Fourier and Motzkin). With factors
/// of 1 it is exact: each point of the rest has an integer that does.
pub(crate) fn eliminate(constraints: &[Affine], index: usize) -> Vec<Affine> {
    let mut kept: Vec<Affine> = Vec::new();
    let mut keep = |affine: Affine| {
        if !kept.contains(&affine) {
            kept.push(affine);
        }
    };
    let (lower, upper) = bounds(constraints, index);
    constraints.iter().filter(|c| c.coefficient(index) == 0).for_each(|c| keep(c.clone()));
    for low in &lower {
        for high in &upper {
            let (a, b) = (low.coefficient(index), -high.coefficient(index));
            keep(low.times(b).plus(&high.times(a)));
        }
    }
    kept
}

/// The constraints that bound an index from below and from above.
pub(crate) fn bounds(constraints: &[Affine], index: usize) -> (Vec<Affine>, Vec<Affine>) {
    let with = |sign: i128| {
        let those = constraints.iter().filter(|c| c.coefficient(index).signum() == sign);
        those.cloned().collect()
    };
    (with(1), with(-1))
}
