//! Variables made up to solve others, and the way back from them.

use crate::divide::gcd;
use crate::term::{Atom, Mono, Term};
use crate::{Nat, Var};

/// The powers of a variable that are gathered.
pub(crate) const MAX_GATHERED: u32 = 3;

/// A variable made up to solve another: `of = var * divisor`.
#[derive(Clone, Debug)]
pub(crate) struct Fresh {
    pub(crate) var: Var,
    /// In terms of the variables the facts are about.
    pub(crate) of: Nat,
    pub(crate) divisor: Nat,
}

impl Fresh {
    /// `divisor * var` is `of`; where only a part `d'` of a constant divisor `d = d' * e` is at
    /// hand, `d' * var` is `of // e`.
    pub(crate) fn gather(&self, n: Nat, divisor: &Nat) -> Nat {
        let atom = Atom::Var(self.var.clone());
        let mut out = n;
        for _ in 0..=MAX_GATHERED {
            if out.terms().iter().all(|t| t.mono.power_of(&atom) == 0) {
                return out;
            }
            let mut with = Vec::new();
            let mut without = Vec::new();
            for t in out.terms().iter() {
                match t.mono.power_of(&atom) {
                    0 => without.push(t.clone()),
                    _ => with.extend(t.over(&Term::new(1, Mono::atom(atom.clone())))),
                }
            }
            let cofactor = Nat::from_terms(with);
            let whole = match divisor.as_int() {
                Some(d) => cofactor.rounded_over(d),
                None => cofactor.multiples_of(divisor),
            };
            if whole.as_int() == Some(0) {
                return self.gather_parts(cofactor, divisor) + Nat::from_sorted(without);
            }
            let rest = (cofactor - &whole * divisor) * Nat::atom(atom.clone());
            out = whole * &self.of + rest + Nat::from_sorted(without);
        }
        out
    }

    fn gather_parts(&self, cofactor: Nat, divisor: &Nat) -> Nat {
        let k = Nat::var(&self.var);
        let Some(d) = divisor.as_int().filter(|_| self.divisor == *divisor) else {
            return cofactor * k;
        };
        let mut total = Nat::ZERO;
        for t in cofactor.terms().iter() {
            let part = gcd(t.coeff, d);
            if part <= 1 || part == d {
                total = total + Nat::from(t.clone()) * &k;
            } else {
                let share = self.of.exact_div(&Nat::int(d / part));
                total = total + Nat::term(t.coeff / part, t.mono.clone()) * share;
            }
        }
        total
    }
}
