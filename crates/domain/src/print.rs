//! The text of a domain, as the language writes it.

use std::fmt;

use lift_nat::{Nat, Var};

use crate::affine::Affine;
use crate::{Constraint, Domain, at};

impl Domain {
    /// Names for the indices that no size has.
    fn names(&self) -> Vec<Nat> {
        let sizes = self.sizes();
        let mut names = Vec::new();
        for letter in ["i", "j", "k", "l"].into_iter().take(self.dimensions) {
            let mut name = letter.to_string();
            while sizes.iter().any(|v| v.to_string() == name) {
                name.push('_');
            }
            names.push(Nat::var(&Var::named(&name)));
        }
        names
    }
}

/// `{ (i, j) | i < j, j < n }`
impl fmt::Display for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.names();
        let list: Vec<String> = names.iter().map(Nat::to_string).collect();
        let constraints: Vec<String> =
            self.constraints.iter().map(|c| written(c, &names)).collect();
        write!(f, "{{ ({}) | {} }}", list.join(", "), constraints.join(", "))
    }
}

/// Indices that are subtracted stand on the left.
fn written(constraint: &Constraint, names: &[Nat]) -> String {
    let value = match constraint {
        Constraint::AtLeast(value) => value,
        Constraint::Multiple { of, divisor } => {
            return format!("({}) % {divisor} == 0", at(of, names));
        }
    };
    let Ok(affine) = Affine::new(value, names.len()) else {
        return format!("0 <= {}", at(value, names));
    };
    let (mut left, mut right) = (Nat::ZERO, Nat::ZERO);
    for (name, c) in names.iter().zip(&affine.coefficients) {
        match c.signum() {
            -1 => left = left + name * Nat::int(-c),
            _ => right = right + name * Nat::int(*c),
        }
    }
    let strict = affine.rest.constant() == -1;
    let rest = if strict { &affine.rest + Nat::ONE } else { affine.rest.clone() };
    // A number that is taken away is added on the other side.
    match rest.as_int() {
        Some(number) if number < 0 => left = left - Nat::int(number),
        _ => right = right + rest,
    }
    format!("{left} {} {right}", if strict { "<" } else { "<=" })
}
