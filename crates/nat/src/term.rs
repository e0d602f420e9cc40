//! What sums are made of: atoms, monomials (products of atoms) and terms (scaled monomials).

use crate::over::Over;
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
    /// A sum that is added up one by one.
    Sum(Arc<Over>),
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
            Atom::Sum(sum) => deepest.max(sum.summand.of().depth()) + 1,
            _ => deepest + 1,
        }
    }

    /// Whether it is a sum that is added up one by one, or has one inside.
    pub(crate) fn is_summed(&self) -> bool {
        let mut found = matches!(self, Atom::Sum(..));
        self.each_part(&mut |part| found = found || part.is_summed());
        found
    }

    /// How many atoms and terms there are, counting shared ones again.
    pub(crate) fn size(&self) -> usize {
        let mut size = match self {
            Atom::Sum(sum) => sum.summand.of().size(),
            _ => 1_usize,
        };
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
            Atom::Sum(sum) => sum.parts().for_each(f),
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
            Atom::Sum(sum) => Nat::sum(Over {
                summand: sum.summand.clone(),
                end: f(&sum.end),
                most: f(&sum.most),
                args: sum.args.iter().map(f).collect(),
            }),
            Atom::Group(a) => f(a),
        }
    }
}

/// A product of powers of different atoms, sorted by atom; the empty product is one and has no list.
/// A clone costs one reference count.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Mono(Option<Arc<[(Atom, u32)]>>);

impl FromIterator<(Atom, u32)> for Mono {
    fn from_iter<I: IntoIterator<Item = (Atom, u32)>>(factors: I) -> Mono {
        Mono::of(factors.into_iter().collect())
    }
}

impl Mono {
    pub(crate) fn one() -> Mono {
        Mono(None)
    }

    pub(crate) fn atom(atom: Atom) -> Mono {
        Mono(Some(Arc::new([(atom, 1)])))
    }

    fn of(factors: Vec<(Atom, u32)>) -> Mono {
        Mono((!factors.is_empty()).then(|| factors.into()))
    }

    pub(crate) fn factors(&self) -> &[(Atom, u32)] {
        self.0.as_deref().unwrap_or_default()
    }

    pub(crate) fn is_one(&self) -> bool {
        self.0.is_none()
    }

    pub(crate) fn degree(&self) -> u64 {
        self.factors().iter().map(|(_, k)| u64::from(*k)).sum()
    }

    pub(crate) fn power_of(&self, atom: &Atom) -> u32 {
        self.factors().iter().find(|(a, _)| a == atom).map_or(0, |(_, k)| *k)
    }

    /// This monomial without any power of `atom`.
    pub(crate) fn without(&self, atom: &Atom) -> Mono {
        self.factors().iter().filter(|(a, _)| a != atom).cloned().collect()
    }

    /// Whether both are the same list in memory; equal ones need not be.
    fn is_shared_with(&self, other: &Mono) -> bool {
        match (&self.0, &other.0) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (None, None) => true,
            _ => false,
        }
    }

    /// `None` when an exponent or the number of factors leaves its range.
    pub(crate) fn times(&self, other: &Mono) -> Option<Mono> {
        if self.is_one() {
            return Some(other.clone());
        }
        if other.is_one() {
            return Some(self.clone());
        }
        let (left, right) = (self.factors(), other.factors());
        let mut out = Vec::with_capacity(left.len() + right.len());
        let (mut left, mut right) = (left.iter().peekable(), right.iter().peekable());
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
        (out.len() <= MAX_FACTORS).then(|| Mono::of(out))
    }

    pub(crate) fn to_power(&self, k: u32) -> Option<Mono> {
        if k == 0 {
            return Some(Mono::one());
        }
        let raise = |(a, e): &(Atom, u32)| Some((a.clone(), e.checked_mul(k)?));
        self.factors().iter().map(raise).collect()
    }

    /// `self / other` where `other` divides `self`.
    pub(crate) fn over(&self, other: &Mono) -> Option<Mono> {
        if other.is_one() {
            return Some(self.clone());
        }
        let (mine, theirs) = (self.factors(), other.factors());
        // Both are sorted, so that the first atoms tell most that do not divide.
        if theirs.len() > mine.len() {
            return None;
        }
        let mut out = Vec::new();
        let mut divisor = theirs.iter().peekable();
        for (atom, k) in mine {
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
        divisor.peek().is_none().then(|| Mono::of(out))
    }

    /// Whether `other` divides `self` and every power that is left fits.
    pub(crate) fn leaves(&self, other: &Mono, fits: impl Fn(&Atom, u32) -> bool) -> bool {
        let mut divisor = other.factors().iter().peekable();
        for (atom, k) in self.factors() {
            let mut left = *k;
            match divisor.peek() {
                Some((a, e)) if a == atom => {
                    let Some(rest) = k.checked_sub(*e) else { return false };
                    left = rest;
                    divisor.next();
                }
                Some((a, _)) if a < atom => return false,
                _ => {}
            }
            if left > 0 && !fits(atom, left) {
                return false;
            }
        }
        divisor.peek().is_none()
    }

    /// The greatest monomial that divides both.
    pub(crate) fn common(&self, other: &Mono) -> Mono {
        let shared = |(a, k): &(Atom, u32)| match other.power_of(a).min(*k) {
            0 => None,
            least => Some((a.clone(), least)),
        };
        self.factors().iter().filter_map(shared).collect()
    }
}

/// Graded lexicographic order: a monomial order, so that division by leading terms terminates.
impl Ord for Mono {
    fn cmp(&self, other: &Mono) -> Ordering {
        if self.is_shared_with(other) {
            return Ordering::Equal;
        }
        self.degree().cmp(&other.degree()).then_with(|| {
            for ((a, i), (b, j)) in self.factors().iter().zip(other.factors()) {
                // The one with more of the smaller atom is the greater.
                match b.cmp(a).then(i.cmp(j)) {
                    Ordering::Equal => {}
                    unequal => return unequal,
                }
            }
            self.factors().len().cmp(&other.factors().len())
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
