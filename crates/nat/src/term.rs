//! What sums are made of: atoms, monomials (products of atoms) and terms (scaled monomials).

use crate::{Nat, Pred, Var};
use std::cmp::Ordering;
use std::sync::Arc;

/// Different factors in one product.
const MAX_FACTORS: usize = 128;

/// A value the polynomial arithmetic does not look into.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Atom {
    Var(Var),
    /// `a / b`, truncating.
    Quot(Nat, Nat),
    /// `a // b`, defined only where `b` divides `a`.
    Exact(Nat, Nat),
    /// `a ^ b`, where `b` is not a small constant.
    Pow(Nat, Nat),
    /// The greatest `k` with `2^k <= a`.
    Log2(Nat),
    /// The least of two or more different values.
    Min(Vec<Nat>),
    /// The greatest of two or more different values.
    Max(Vec<Nat>),
    Cond(Arc<Pred>, Nat, Nat),
    /// A sum kept closed because multiplying it out would take too many terms.
    Group(Nat),
}

impl Atom {
    /// How deeply sums nest below this atom.
    pub(crate) fn depth(&self) -> u32 {
        let mut deepest = 0;
        self.each_part(&mut |part| deepest = deepest.max(part.depth()));
        match self {
            Atom::Var(_) => 0,
            _ => deepest + 1,
        }
    }

    /// How many atoms and terms there are, counting shared ones again.
    pub(crate) fn size(&self) -> usize {
        let mut size = 1_usize;
        self.each_part(&mut |part| size = size.saturating_add(part.size()));
        size
    }

    /// Calls `f` on every sum directly inside this atom.
    pub(crate) fn each_part(&self, f: &mut dyn FnMut(&Nat)) {
        match self {
            Atom::Var(_) => {}
            Atom::Quot(a, b) | Atom::Exact(a, b) | Atom::Pow(a, b) => {
                f(a);
                f(b);
            }
            Atom::Log2(a) | Atom::Group(a) => f(a),
            Atom::Min(parts) | Atom::Max(parts) => parts.iter().for_each(f),
            Atom::Cond(pred, a, b) => {
                pred.each_part(f);
                f(a);
                f(b);
            }
        }
    }

    /// The same construction over rewritten parts; the constructors bring it into canonical form.
    pub(crate) fn map_parts(&self, f: &mut dyn FnMut(&Nat) -> Nat) -> Nat {
        match self {
            Atom::Var(v) => Nat::var(v),
            Atom::Quot(a, b) => f(a).div(&f(b)),
            Atom::Exact(a, b) => f(a).exact_div(&f(b)),
            Atom::Pow(a, b) => f(a).pow(&f(b)),
            Atom::Log2(a) => f(a).log2(),
            Atom::Min(parts) => Nat::min_of(parts.iter().map(f).collect()),
            Atom::Max(parts) => Nat::max_of(parts.iter().map(f).collect()),
            Atom::Cond(pred, a, b) => Nat::cond(pred.map_parts(f), f(a), f(b)),
            Atom::Group(a) => f(a),
        }
    }
}

/// A product of powers of different atoms, sorted by atom; the empty product is one.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Mono(Vec<(Atom, u32)>);

impl Mono {
    pub(crate) fn one() -> Mono {
        Mono(Vec::new())
    }

    pub(crate) fn atom(atom: Atom) -> Mono {
        Mono(vec![(atom, 1)])
    }

    pub(crate) fn factors(&self) -> &[(Atom, u32)] {
        &self.0
    }

    pub(crate) fn is_one(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn degree(&self) -> u64 {
        self.0.iter().map(|(_, k)| u64::from(*k)).sum()
    }

    pub(crate) fn power_of(&self, atom: &Atom) -> u32 {
        self.0.iter().find(|(a, _)| a == atom).map_or(0, |(_, k)| *k)
    }

    /// This monomial without any power of `atom`.
    pub(crate) fn without(&self, atom: &Atom) -> Mono {
        Mono(self.0.iter().filter(|(a, _)| a != atom).cloned().collect())
    }

    /// `None` when an exponent or the number of factors leaves its range.
    pub(crate) fn times(&self, other: &Mono) -> Option<Mono> {
        if self.is_one() {
            return Some(other.clone());
        }
        if other.is_one() {
            return Some(self.clone());
        }
        let mut out = Vec::with_capacity(self.0.len() + other.0.len());
        let (mut left, mut right) = (self.0.iter().peekable(), other.0.iter().peekable());
        while let (Some(l), Some(r)) = (left.peek(), right.peek()) {
            match l.0.cmp(&r.0) {
                Ordering::Less => out.extend(left.next().cloned()),
                Ordering::Greater => out.extend(right.next().cloned()),
                Ordering::Equal => {
                    out.push((l.0.clone(), l.1.checked_add(r.1)?));
                    left.next();
                    right.next();
                }
            }
        }
        out.extend(left.cloned());
        out.extend(right.cloned());
        (out.len() <= MAX_FACTORS).then_some(Mono(out))
    }

    pub(crate) fn to_power(&self, k: u32) -> Option<Mono> {
        if k == 0 {
            return Some(Mono::one());
        }
        let raise = |(a, e): &(Atom, u32)| Some((a.clone(), e.checked_mul(k)?));
        self.0.iter().map(raise).collect::<Option<_>>().map(Mono)
    }

    /// `self / other` where `other` divides `self`.
    pub(crate) fn over(&self, other: &Mono) -> Option<Mono> {
        let mut out = Vec::with_capacity(self.0.len());
        let mut divisor = other.0.iter().peekable();
        for (atom, k) in &self.0 {
            match divisor.peek() {
                Some((a, e)) if a == atom => {
                    match k.checked_sub(*e)? {
                        0 => {}
                        rest => out.push((atom.clone(), rest)),
                    }
                    divisor.next();
                }
                Some((a, _)) if a < atom => return None,
                _ => out.push((atom.clone(), *k)),
            }
        }
        divisor.peek().is_none().then_some(Mono(out))
    }

    /// The greatest monomial that divides both.
    pub(crate) fn common(&self, other: &Mono) -> Mono {
        let shared = |(a, k): &(Atom, u32)| match other.power_of(a).min(*k) {
            0 => None,
            least => Some((a.clone(), least)),
        };
        Mono(self.0.iter().filter_map(shared).collect())
    }
}

/// Graded lexicographic order: a monomial order, so that division by leading terms terminates.
impl Ord for Mono {
    fn cmp(&self, other: &Mono) -> Ordering {
        self.degree().cmp(&other.degree()).then_with(|| {
            for ((a, i), (b, j)) in self.0.iter().zip(&other.0) {
                // The one with more of the smaller atom is the greater.
                match b.cmp(a).then(i.cmp(j)) {
                    Ordering::Equal => {}
                    unequal => return unequal,
                }
            }
            self.0.len().cmp(&other.0.len())
        })
    }
}

impl PartialOrd for Mono {
    fn partial_cmp(&self, other: &Mono) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// `coeff * mono`, never zero.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Term {
    pub(crate) mono: Mono,
    pub(crate) coeff: i128,
}

impl Term {
    pub(crate) fn new(coeff: i128, mono: Mono) -> Term {
        Term { mono, coeff }
    }

    pub(crate) fn size(&self) -> usize {
        self.mono.factors().iter().map(|(a, _)| a.size()).fold(1, usize::saturating_add)
    }

    pub(crate) fn times(&self, other: &Term) -> Option<Term> {
        let coeff = self.coeff.checked_mul(other.coeff)?;
        Some(Term { mono: self.mono.times(&other.mono)?, coeff })
    }

    /// `self / other` where the division leaves nothing.
    pub(crate) fn over(&self, other: &Term) -> Option<Term> {
        if self.coeff.checked_rem(other.coeff)? != 0 {
            return None;
        }
        let coeff = self.coeff.checked_div(other.coeff)?;
        Some(Term { mono: self.mono.over(&other.mono)?, coeff })
    }
}
