//! Laws of the parts that the public interface does not show.

mod keys;
mod limits;
mod monomials;
mod polynomials;
mod shapes;

use crate::term::{Atom, Mono, Term};
use crate::{Nat, Var, parse};

fn nat(text: &str) -> Nat {
    parse(text).unwrap_or_else(|e| panic!("{text}: {e}"))
}

fn atom(name: &str) -> Atom {
    Atom::Var(Var::named(name))
}

fn term(coeff: i128, mono: &Mono) -> Term {
    Term::new(coeff, mono.clone())
}

/// Exponents of `a`, `b` and `c`.
type Exponents = [u32; 3];

/// All products of powers below three.
fn monomials() -> Vec<(Exponents, Mono)> {
    let all = (0..27).map(|i| [i / 9, i / 3 % 3, i % 3]);
    all.map(|exponents| (exponents, monomial(exponents))).collect()
}

fn monomial(exponents: Exponents) -> Mono {
    let factors = ["a", "b", "c"].map(atom).into_iter().zip(exponents);
    factors.filter(|(_, k)| *k > 0).collect()
}
