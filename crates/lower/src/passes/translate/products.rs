//! Products of indices that 64 bits have room for.
//!
//! Indices are computed in 64 bits, and what may not fit there is refused. A product of values wraps instead, so one that gets too
//! large stays a value: `k * k` of bounds that are data, and `i * i * i`, which is no place in an array.

use lift_ir::{Nat, Scalar, Spread, Var, Written};

use super::emitter::Emitter;

impl Emitter {
    /// Whether a product is computed as an index is: in 64 bits, without an end. One of a type of that width has an end there.
    pub(super) fn is_near(&self, product: &Nat, scalar: Scalar) -> bool {
        let (of_indices, of_all) = self.degree(&product.written());
        let is_place = of_indices < 2 || of_all < 3;
        (is_place || scalar == Scalar::I64) && self.fits_as_far_as_known(product)
    }

    /// Whether no number that is known bounds the value by more than 64 bits hold.
    fn fits_as_far_as_known(&self, value: &Nat) -> bool {
        let largest = i128::from(i64::MAX);
        let of = |var: &Var| {
            let value = Nat::var(var);
            match (self.facts.lower(&value), self.facts.upper(&value)) {
                (Some(low), Some(high)) => {
                    let below = Nat::int(low.saturating_neg().max(0));
                    Spread { below, above: Nat::int(high.max(0)) }
                }
                _ => Spread::up_to(value),
            }
        };
        let mut fits = true;
        value.spread(&of, &mut |n| fits &= n.as_int().is_none_or(|n| n <= largest));
        fits
    }

    /// How many indices are multiplied by each other at most, and how many indices and sizes.
    fn degree(&self, written: &Written) -> (u32, u32) {
        let most = |(a, b): (u32, u32), (c, d): (u32, u32)| (a.max(c), b.max(d));
        match written {
            Written::Int(_) | Written::Log2(_) | Written::Over(_) | Written::Overflow => (0, 0),
            Written::Var(var) => (u32::from(!self.sizes.contains(var)), 1),
            Written::Sum(parts) => {
                parts.iter().map(|(_, part)| self.degree(part)).fold((0, 0), most)
            }
            Written::Min(parts) | Written::Max(parts) => {
                parts.iter().map(|part| self.degree(part)).fold((0, 0), most)
            }
            Written::Choice(_, yes, no) => most(self.degree(yes), self.degree(no)),
            Written::Product(factors) => {
                let add = |(a, b): (u32, u32), (c, d)| (a.saturating_add(c), b.saturating_add(d));
                factors.iter().map(|factor| self.degree(factor)).fold((0, 0), add)
            }
            Written::Pow(base, exponent) => {
                let (of_indices, of_all) = self.degree(base);
                let times = match **exponent {
                    Written::Int(times) => u32::try_from(times).unwrap_or(u32::MAX),
                    _ => u32::MAX,
                };
                (of_indices.saturating_mul(times), of_all.saturating_mul(times))
            }
            Written::Div(a, _) => self.degree(a),
            // What is left is below what is divided, and below what it is divided by.
            Written::Rem(a, b) => self.degree(a).min(self.degree(b)),
        }
    }
}
