//! Random types and sizes.

use lift_ir::{Nat, Pred, Scalar, Type};

use crate::generator::Generator;
use crate::scope::Level;

const SCALARS: &[(u32, Scalar)] = &[
    (45, Scalar::I32),
    (24, Scalar::F32),
    (6, Scalar::Bool),
    (5, Scalar::U8),
    (5, Scalar::I64),
    (4, Scalar::F64),
    (2, Scalar::I8),
    (2, Scalar::I16),
    (2, Scalar::U16),
    (2, Scalar::U32),
    (2, Scalar::U64),
];

const WIDTHS: &[(u32, u32)] = &[(4, 2), (1, 3), (4, 4), (1, 8)];

const LENGTHS: &[(u32, i128)] = &[(1, 1), (4, 2), (3, 3), (5, 4), (1, 5), (2, 6), (3, 8)];

impl Generator<'_> {
    pub(crate) fn scalar(&mut self) -> Scalar {
        self.random.weighted(SCALARS).unwrap_or(Scalar::I32)
    }

    /// Scalars of which there are values on both sides of zero, or bits that overflow.
    pub(crate) fn integer(&mut self) -> Scalar {
        loop {
            let scalar = self.scalar();
            if scalar.is_integer() {
                return scalar;
            }
        }
    }

    pub(crate) fn width(&mut self) -> u32 {
        self.random.weighted(WIDTHS).unwrap_or(4)
    }

    /// A scalar, a vector, or a tuple of them.
    pub(crate) fn register_type(&mut self) -> Type {
        match self.random.below(10) {
            0 => {
                let scalar = self.scalar();
                Type::vector(scalar, self.width())
            }
            1 | 2 => {
                let count = if self.random.chance(80) { 2 } else { 3 };
                Type::tuple((0..count).map(|_| self.register_or_tuple()).collect::<Vec<_>>())
            }
            _ => Type::Scalar(self.scalar()),
        }
    }

    fn register_or_tuple(&mut self) -> Type {
        if self.random.chance(10) { self.register_type() } else { Type::Scalar(self.scalar()) }
    }

    /// A type of so many dimensions at most.
    pub(crate) fn element_type(&mut self, dimensions: u32) -> Type {
        if dimensions == 0 || self.random.chance(65) {
            return self.register_type();
        }
        let length = self.length();
        match self.random.below(10) {
            0 => {
                let parts = [self.register_type(), Type::array(self.register_type(), length)];
                Type::tuple(parts)
            }
            _ => Type::array(self.element_type(dimensions - 1), length),
        }
    }

    /// A length at which arrays are common.
    pub(crate) fn length(&mut self) -> Nat {
        let declared: Vec<Nat> =
            self.sizes.iter().filter(|s| !s.bound).map(|s| Nat::var(&s.var)).collect();
        if !declared.is_empty() && self.random.chance(40) {
            let size = self.random.pick(&declared).unwrap_or(Nat::int(4));
            let half = Nat::int(2);
            return match self.random.below(7) {
                0 if self.divides(&half, &size) => size.exact_div(&half),
                1 => size * half,
                2 => size + Nat::int(1),
                // Nothing, where the size is one.
                3 => size - Nat::int(1),
                _ => size,
            };
        }
        Nat::int(self.random.weighted(LENGTHS).unwrap_or(4))
    }

    pub(crate) fn divides(&self, divisor: &Nat, of: &Nat) -> bool {
        self.cx.proves(&Pred::divides(divisor.clone(), of.clone()))
    }

    /// Two sizes whose product this is.
    pub(crate) fn factors(&mut self, n: &Nat) -> Option<(Nat, Nat)> {
        let largest = n.as_int().unwrap_or(8);
        let divisors: Vec<Nat> = (1..=largest.min(64))
            .map(Nat::int)
            .filter(|d| (n.as_int().is_some() || d.as_int() < Some(9)) && self.divides(d, n))
            .collect();
        let divisor = self.random.pick(&divisors)?;
        let rest = self.cx.simplify(&n.exact_div(&divisor));
        Some(if self.random.chance(50) { (rest, divisor) } else { (divisor, rest) })
    }

    /// The element type of an array of length `n` to read: often that of an array in scope.
    pub(crate) fn source(&mut self, n: &Nat, level: Level) -> Type {
        let known: Vec<Type> = self
            .inputs
            .iter()
            .chain(&self.scope)
            .filter_map(|param| param.ty().as_array())
            .filter(|(_, length)| self.cx.same_size(length, n))
            .map(|(element, _)| element.clone())
            .collect();
        if !known.is_empty() && self.random.chance(60) {
            return self.random.pick(&known).unwrap_or(Type::I32);
        }
        let dimensions = match level {
            Level::Host => 2,
            Level::Group | Level::Warp => 1,
            Level::Item => u32::from(self.random.chance(30)),
            Level::Scalar => 0,
        };
        self.element_type(dimensions)
    }
}
