//! Inputs made up: the same on every machine.

use lift_ir::{Scalar, Type};

use crate::error::RunError;
use crate::leaves::from_leaves;
use crate::number::{Element, ScalarValue, with_scalar};
use crate::ops;
use crate::value::Value;

/// How to fill an input.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fill {
    /// Floats uniform in `[0, 1)`, integers from 0 to 9, `bool`s at random.
    Random {
        seed: u64,
    },
    Zeros,
    /// `true` for `bool`.
    Ones,
    /// `0, 1, 2, …` row by row, each component by itself; integers wrap, `bool`s alternate.
    Iota,
}

/// A value of a type whose sizes are constants.
pub fn generate(fill: Fill, ty: &Type) -> Result<Value, RunError> {
    let mut random = match fill {
        Fill::Random { seed } => Random::new(seed),
        Fill::Zeros | Fill::Ones | Fill::Iota => Random::new(0),
    };
    let value = from_leaves(ty, &mut |scalar, count| {
        let mut next = |i: usize| match fill {
            Fill::Random { .. } => random.scalar(scalar),
            Fill::Zeros => ScalarValue::zero(scalar),
            Fill::Ones => ScalarValue::from_integer(scalar, 1),
            Fill::Iota if scalar == Scalar::Bool => ScalarValue::Bool(i % 2 == 1),
            Fill::Iota => ScalarValue::from_integer(scalar, i as i128),
        };
        Ok(with_scalar!(scalar, T => {
            let elements = (0..count).map(|i| T::from_scalar(next(i)).unwrap_or_default());
            T::buffer(elements.collect())
        }))
    });
    value.map_err(|e| *e)
}

/// SplitMix64: a counter, mixed. Small, and the same everywhere.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`, which is not zero.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    fn scalar(&mut self, scalar: Scalar) -> ScalarValue {
        let digits = match scalar {
            Scalar::F16 => 11,
            Scalar::F32 => 24,
            Scalar::F64 => 53,
            Scalar::Bool => return ScalarValue::Bool(self.below(2) == 1),
            _ => return ScalarValue::from_integer(scalar, i128::from(self.below(10))),
        };
        // As many bits as the type has digits: exact, and never rounded up to one.
        let fraction = (self.next() >> (64 - digits)) as f64 / (1u64 << digits) as f64;
        ops::float_to(fraction, scalar)
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    /// The published sequence of SplitMix64 from this seed.
    #[test]
    fn the_generator_is_split_mix() {
        let mut random = Random::new(1_234_567);
        let first = [random.next(), random.next(), random.next()];
        assert_eq!(
            first,
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
        );
    }
}
