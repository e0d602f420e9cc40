//! Inputs made up: the same on every machine.

use half::f16;
use lift_ir::Type;

use crate::error::RunError;
use crate::leaves::from_leaves;
use crate::number::{Element, with_scalar};
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
        Fill::Random { seed } => SplitMix::new(seed),
        Fill::Zeros | Fill::Ones | Fill::Iota => SplitMix::new(0),
    };
    let value = from_leaves(ty, &mut |scalar, count| {
        Ok(with_scalar!(scalar, T => T::buffer(elements(fill, &mut random, count))))
    });
    value.map_err(|e| *e)
}

fn elements<T: Filled>(fill: Fill, random: &mut SplitMix, count: usize) -> Vec<T> {
    match fill {
        Fill::Random { .. } => {
            // Numbers that are a function of their place, not of the one before, are made several at once.
            let start = random.skip(count);
            (1..=count as u64).map(|i| T::random(start.nth(i))).collect()
        }
        Fill::Zeros => vec![T::default(); count],
        Fill::Ones => vec![T::counted(1); count],
        Fill::Iota => (0..count).map(T::counted).collect(),
    }
}

/// What a scalar type is filled with.
trait Filled: Element {
    /// The value that 64 random bits stand for.
    fn random(bits: u64) -> Self;

    /// The number as a value of the type; integers wrap, `bool`s alternate.
    fn counted(number: usize) -> Self;
}

macro_rules! filled_integers {
    ($($ty:ty)*) => {$(
        impl Filled for $ty {
            #[inline]
            fn random(bits: u64) -> $ty {
                (bits % 10) as $ty
            }

            #[inline]
            fn counted(number: usize) -> $ty {
                number as $ty
            }
        }
    )*};
}

filled_integers!(i8 i16 i32 i64 u8 u16 u32 u64);

/// As many random bits as the type has digits: exact, and never rounded up to one.
macro_rules! filled_floats {
    ($($ty:ty, $digits:literal, $round:expr;)*) => {$(
        impl Filled for $ty {
            #[inline]
            fn random(bits: u64) -> $ty {
                $round((bits >> (64 - $digits)) as f64 / (1u64 << $digits) as f64)
            }

            #[inline]
            fn counted(number: usize) -> $ty {
                $round(number as f64)
            }
        }
    )*};
}

filled_floats! {
    f16, 11, lift_ir::f16_from_f64;
    f32, 24, |x: f64| x as f32;
    f64, 53, std::convert::identity;
}

impl Filled for bool {
    #[inline]
    fn random(bits: u64) -> bool {
        bits % 2 == 1
    }

    #[inline]
    fn counted(number: usize) -> bool {
        number % 2 == 1
    }
}

/// SplitMix64: a counter, mixed. Small, and the same everywhere.
#[derive(Clone, Copy, Debug)]
pub struct SplitMix(u64);

impl SplitMix {
    pub fn new(seed: u64) -> SplitMix {
        SplitMix(seed)
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.skip(1).nth(1)
    }

    /// A number below `bound`, which is not zero.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.bits() % bound
    }

    /// Passes over so many numbers; gives where they start.
    fn skip(&mut self, count: usize) -> SplitMix {
        let start = *self;
        self.0 = start.counter(count as u64);
        start
    }

    /// The number at a place from here, the next one being the first.
    fn nth(self, place: u64) -> u64 {
        let mut z = self.counter(place);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn counter(self, place: u64) -> u64 {
        self.0.wrapping_add(place.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }
}

#[cfg(test)]
mod tests {
    use lift_ir::{Scalar, Type};

    use super::{Fill, SplitMix, generate};

    /// The published sequence of SplitMix64 from this seed.
    const SEED: u64 = 1_234_567;
    const SEQUENCE: [u64; 3] =
        [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];

    #[test]
    fn the_generator_is_split_mix() {
        let mut random = SplitMix::new(SEED);
        assert_eq!([random.bits(), random.bits(), random.bits()], SEQUENCE);
    }

    #[test]
    fn numbers_come_one_by_one_or_by_their_place() {
        let mut random = SplitMix::new(SEED);
        let start = random.skip(2);
        assert_eq!([start.nth(1), start.nth(2), random.bits()], SEQUENCE);
    }

    #[test]
    fn every_type_has_its_own_reading_of_the_sequence() {
        let of = |ty: &Type| generate(Fill::Random { seed: 1 }, ty).unwrap().to_string();
        let expected = [
            (Scalar::F16, "[0.56640625f16, 0.74560547f16, 0.9707031f16]"),
            (Scalar::F32, "[0.5665615, 0.7457817, 0.9710027]"),
            (Scalar::F64, "[0.5665615751722809f64, 0.7457817572627011f64, 0.9710027535867962f64]"),
            (Scalar::U8, "[5u8, 9u8, 0u8]"),
            (Scalar::I64, "[5i64, 9i64, 0i64]"),
            (Scalar::Bool, "[true, true, false]"),
        ];
        for (scalar, text) in expected {
            assert_eq!(of(&Type::array(Type::Scalar(scalar), 3)), text);
        }
        // Each component goes on where the one before ended.
        let pair = Type::tuple([Type::array(Type::I32, 2), Type::array(Type::F32, 1)]);
        assert_eq!(of(&pair), "([5, 9], [0.9710027])");
    }
}
