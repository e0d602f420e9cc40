//! Built-in functions of scalars.
//!
//! Floats are computed in `f64` and rounded once. `f64` itself comes from the system's library, which is within a
//! unit or two of the last place, or from the formulas here.

use std::f64::consts::LN_2;

use half::f16;
use lift_ir::Math;

use crate::erf::{erf, erfc};
use crate::number::ScalarValue;
use crate::ops::{Float, Integer, Number, each_integer, each_number};

/// Nothing where a function does not apply to the type. `dot` is of vectors and defined by the evaluator.
pub(crate) fn math(math: Math, args: &[ScalarValue]) -> Option<ScalarValue> {
    let [first, rest @ ..] = args else { return None };
    match math {
        Math::Select => match (first, rest) {
            (ScalarValue::Bool(c), [a, b]) => Some(if *c { *a } else { *b }),
            _ => None,
        },
        Math::Dot => None,
        Math::Abs | Math::Sign | Math::Min | Math::Max | Math::Clamp => {
            each_number!(*first, x => of_number(math, x, rest))
        }
        Math::Popcount | Math::Clz | Math::Ctz => {
            each_integer!(*first, x => of_integer(math, x))
        }
        Math::ToBits => match *first {
            ScalarValue::F16(x) => Some(ScalarValue::U16(x.to_bits())),
            ScalarValue::F32(x) => Some(ScalarValue::U32(x.to_bits())),
            ScalarValue::F64(x) => Some(ScalarValue::U64(x.to_bits())),
            _ => None,
        },
        Math::FromBits => match *first {
            ScalarValue::U16(x) => Some(ScalarValue::F16(f16::from_bits(x))),
            ScalarValue::U32(x) => Some(ScalarValue::F32(f32::from_bits(x))),
            ScalarValue::U64(x) => Some(ScalarValue::F64(f64::from_bits(x))),
            _ => None,
        },
        Math::IsNan => {
            first.scalar().is_float().then(|| ScalarValue::Bool(first.to_f64().is_nan()))
        }
        Math::IsInf => {
            first.scalar().is_float().then(|| ScalarValue::Bool(first.to_f64().is_infinite()))
        }
        _ => match *first {
            ScalarValue::F16(x) => of_float(math, x, rest),
            ScalarValue::F32(x) => of_float(math, x, rest),
            ScalarValue::F64(x) => of_float(math, x, rest),
            _ => None,
        },
    }
}

fn of_number<T: Number>(math: Math, x: T, rest: &[ScalarValue]) -> Option<ScalarValue> {
    let rest = |i: usize| rest.get(i).and_then(|v| T::from_scalar(*v));
    let value = match math {
        Math::Abs => x.abs(),
        Math::Sign => x.sign(),
        Math::Min => x.min(rest(0)?),
        Math::Max => x.max(rest(0)?),
        Math::Clamp => x.max(rest(0)?).min(rest(1)?),
        _ => return None,
    };
    Some(value.scalar())
}

fn of_integer<T: Integer>(math: Math, x: T) -> Option<ScalarValue> {
    let value = match math {
        Math::Popcount => x.count_ones(),
        Math::Clz => x.leading_zeros(),
        Math::Ctz => x.trailing_zeros(),
        _ => return None,
    };
    Some(value.scalar())
}

fn of_float<T: Float>(math: Math, x: T, rest: &[ScalarValue]) -> Option<ScalarValue> {
    let other = |i: usize| rest.get(i).and_then(|v| T::from_scalar(*v));
    let through = |f: fn(f64) -> f64| T::rounded(f(x.widened()));
    let of_two = |f: fn(f64, f64) -> f64| Some(T::rounded(f(x.widened(), other(0)?.widened())));
    let value = match math {
        Math::Floor => through(f64::floor),
        Math::Ceil => through(f64::ceil),
        Math::Round => through(f64::round_ties_even),
        Math::Trunc => through(f64::trunc),
        Math::Copysign => of_two(f64::copysign)?,
        Math::Sqrt => through(f64::sqrt),
        Math::Rsqrt => T::rounded(1.0 / through(f64::sqrt).widened()),
        Math::Cbrt => through(f64::cbrt),
        Math::Hypot => of_two(f64::hypot)?,
        Math::Exp => through(f64::exp),
        Math::Exp2 => through(f64::exp2),
        Math::Expm1 => through(f64::exp_m1),
        Math::Log => through(f64::ln),
        Math::Log2 => through(f64::log2),
        Math::Log10 => through(f64::log10),
        Math::Log1p => through(f64::ln_1p),
        Math::Sin => through(f64::sin),
        Math::Cos => through(f64::cos),
        Math::Tan => through(f64::tan),
        Math::Asin => through(f64::asin),
        Math::Acos => through(f64::acos),
        Math::Atan => through(f64::atan),
        Math::Atan2 => of_two(f64::atan2)?,
        Math::Sinh => through(f64::sinh),
        Math::Cosh => through(f64::cosh),
        Math::Tanh => through(f64::tanh),
        Math::Asinh => through(asinh),
        Math::Acosh => through(acosh),
        Math::Atanh => through(atanh),
        Math::Erf => through(erf),
        Math::Erfc => through(erfc),
        Math::Pow => of_two(f64::powf)?,
        Math::Fma => x.fma(other(0)?, other(1)?),
        Math::Abs
        | Math::Sign
        | Math::Min
        | Math::Max
        | Math::Clamp
        | Math::IsNan
        | Math::IsInf
        | Math::Popcount
        | Math::Clz
        | Math::Ctz
        | Math::ToBits
        | Math::FromBits
        | Math::Select
        | Math::Dot => return None,
    };
    Some(value.scalar())
}

/// From here on `sqrt(x * x ± 1)` is x.
const LARGE: f64 = (1u64 << 28) as f64;

/// `log(x + sqrt(x² + 1))`, without cancellation near 0 and without squares near infinity.
fn asinh(x: f64) -> f64 {
    let a = x.abs();
    let value =
        if a > LARGE { a.ln() + LN_2 } else { (a + a * a / (1.0 + (a * a + 1.0).sqrt())).ln_1p() };
    value.copysign(x)
}

/// `log(x + sqrt(x² - 1))`, in terms of `x - 1`, which is exact near 1.
fn acosh(x: f64) -> f64 {
    if x < 1.0 {
        return f64::NAN;
    }
    if x > LARGE {
        return x.ln() + LN_2;
    }
    let above = x - 1.0;
    (above + (above * (above + 2.0)).sqrt()).ln_1p()
}

/// `log((1 + x) / (1 - x)) / 2`
fn atanh(x: f64) -> f64 {
    let a = x.abs();
    (0.5 * (2.0 * a / (1.0 - a)).ln_1p()).copysign(x)
}
