//! Powers, logarithms, extrema and choices, folded as far as no facts are needed.

use crate::term::{Atom, Mono};
use crate::{Nat, Pred};
use std::sync::Arc;

/// Extrema of more parts are not searched for parts that never count.
const MAX_COMPARED: usize = 64;
/// Constant exponents beyond this stay symbolic.
const MAX_EXPONENT: i128 = 1 << 16;

impl Nat {
    /// `self ^ exponent`; undefined where the exponent is negative. `x ^ 0` is one.
    pub fn pow(&self, exponent: &Nat) -> Nat {
        if self.is_overflow() || exponent.is_overflow() {
            return Nat::overflow();
        }
        match (self.as_int(), exponent.as_int()) {
            (_, Some(0)) | (Some(1), _) => return Nat::ONE,
            (_, Some(k)) if (1..=MAX_EXPONENT).contains(&k) => {
                return u32::try_from(k).map_or_else(|_| Nat::overflow(), |k| self.raise(k));
            }
            _ => {}
        }
        match self.as_atom() {
            // (a ^ b) ^ c = a ^ (b * c)
            Some(Atom::Pow(a, b)) => Nat::atom(Atom::Pow(a.clone(), b * exponent)),
            _ => Nat::atom(Atom::Pow(self.clone(), exponent.clone())),
        }
    }

    /// The greatest `k` with `2^k <= self`; undefined below one.
    ///
    /// `log2(2^e * x) = e + log2(x)` and `log2(2^e) = e`.
    pub fn log2(&self) -> Nat {
        if self.is_overflow() {
            return Nat::overflow();
        }
        if let Some(i) = self.as_int() {
            return match i.checked_ilog2() {
                Some(log) => Nat::from(log),
                None => Nat::atom(Atom::Log2(self.clone())),
            };
        }
        let content = self.content();
        let (mut outside, mut factor) = (Nat::ZERO, Nat::ONE);
        let twos = content.coeff.trailing_zeros().min(126);
        outside = outside + Nat::from(twos);
        factor = factor * Nat::int(1 << twos);
        for (atom, k) in content.mono.factors() {
            if let Atom::Pow(base, e) = atom
                && base.as_int() == Some(2)
            {
                outside = outside + Nat::from(*k) * e;
                factor = factor * Nat::atom(atom.clone()).raise(*k);
            }
        }
        match self.over(&factor) {
            Some(inside) if inside.as_int() == Some(1) => outside,
            Some(inside) if factor.as_int() != Some(1) => outside + inside.log2(),
            _ => Nat::atom(Atom::Log2(self.clone())),
        }
    }

    pub fn min(&self, other: &Nat) -> Nat {
        Nat::min_of(vec![self.clone(), other.clone()])
    }

    pub fn max(&self, other: &Nat) -> Nat {
        Nat::max_of(vec![self.clone(), other.clone()])
    }

    /// The least of `parts`, of which there is at least one.
    pub(crate) fn min_of(parts: Vec<Nat>) -> Nat {
        let nested = |n: &Nat| match n.as_atom() {
            Some(Atom::Min(inner)) => inner.clone(),
            _ => vec![n.clone()],
        };
        extremum(parts.iter().flat_map(nested).collect(), |difference| difference <= 0, Atom::Min)
    }

    /// The greatest of `parts`, of which there is at least one.
    pub(crate) fn max_of(parts: Vec<Nat>) -> Nat {
        let nested = |n: &Nat| match n.as_atom() {
            Some(Atom::Max(inner)) => inner.clone(),
            _ => vec![n.clone()],
        };
        extremum(parts.iter().flat_map(nested).collect(), |difference| difference >= 0, Atom::Max)
    }

    /// `if condition then yes else no`
    pub fn cond(condition: Pred, yes: Nat, no: Nat) -> Nat {
        match condition.decide() {
            Some(true) => yes,
            Some(false) => no,
            None if yes == no => yes,
            None => Nat::atom(Atom::Cond(Arc::new(condition), yes, no)),
        }
    }
}

/// Drops every part that another beats by a constant: `min(n + 5, n + 10) = n + 5`.
fn extremum(parts: Vec<Nat>, beats: fn(i128) -> bool, rebuild: fn(Vec<Nat>) -> Atom) -> Nat {
    if parts.iter().any(Nat::is_overflow) {
        return Nat::overflow();
    }
    let mut kept: Vec<Nat> = Vec::new();
    for part in parts {
        if kept.len() > MAX_COMPARED {
            kept.push(part);
            continue;
        }
        if kept.iter().any(|k| (k - &part).as_int().is_some_and(beats)) {
            continue;
        }
        kept.retain(|k| !(&part - k).as_int().is_some_and(beats));
        kept.push(part);
    }
    kept.sort();
    kept.dedup();
    match kept.as_slice() {
        [only] => only.clone(),
        _ => Nat::term(1, Mono::atom(rebuild(kept))),
    }
}
