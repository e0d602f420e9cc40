//! Scalar operations.
//!
//! Floats are rounded to their type after every operation; integers wrap.

use half::f16;
use lift_ir::{BinaryOp, Scalar, UnaryOp};

use crate::number::{Element, ScalarValue, each_scalar};

const NOT_APPLICABLE: &str = "the operator does not apply to these types";

/// Numbers: every scalar type but `bool`.
pub(crate) trait Number: Element + PartialOrd {
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    /// Truncates on integers as C does; nothing where an integer is divided by zero.
    fn div(self, other: Self) -> Option<Self>;
    /// Has the sign of `self`, as in C; nothing for an integer and zero.
    fn rem(self, other: Self) -> Option<Self>;
    fn neg(self) -> Self;
    fn abs(self) -> Self;
    /// -1, 0 or 1; a zero and a `nan` are themselves.
    fn sign(self) -> Self;

    /// `& | ^ << >>` of integers; nothing for floats and other operators. Of a shift amount the low bits count.
    fn bits(_: BinaryOp, _: Self, _: Self) -> Option<Self> {
        None
    }

    /// The smaller; a `nan` if one is.
    fn min(self, other: Self) -> Self {
        if other < self || other.is_nan() { other } else { self }
    }

    /// The larger; a `nan` if one is.
    fn max(self, other: Self) -> Self {
        if other > self || other.is_nan() { other } else { self }
    }

    #[expect(clippy::eq_op, reason = "only a nan differs from itself")]
    fn is_nan(self) -> bool {
        self != self
    }
}

/// Integers as rows of bits.
pub(crate) trait Integer: Number {
    fn not(self) -> Self;
    fn count_ones(self) -> Self;
    fn leading_zeros(self) -> Self;
    fn trailing_zeros(self) -> Self;
}

macro_rules! integers {
    ($($ty:ty, $abs:expr, $sign:expr;)*) => {$(
        impl Integer for $ty {
            fn not(self) -> $ty {
                !self
            }
            fn count_ones(self) -> $ty {
                <$ty>::count_ones(self) as $ty
            }
            fn leading_zeros(self) -> $ty {
                <$ty>::leading_zeros(self) as $ty
            }
            fn trailing_zeros(self) -> $ty {
                <$ty>::trailing_zeros(self) as $ty
            }
        }

        impl Number for $ty {
            #[inline]
            fn add(self, other: $ty) -> $ty {
                self.wrapping_add(other)
            }
            #[inline]
            fn sub(self, other: $ty) -> $ty {
                self.wrapping_sub(other)
            }
            #[inline]
            fn mul(self, other: $ty) -> $ty {
                self.wrapping_mul(other)
            }
            fn div(self, other: $ty) -> Option<$ty> {
                (other != 0).then(|| self.wrapping_div(other))
            }
            fn rem(self, other: $ty) -> Option<$ty> {
                (other != 0).then(|| self.wrapping_rem(other))
            }
            fn neg(self) -> $ty {
                self.wrapping_neg()
            }
            fn abs(self) -> $ty {
                $abs(self)
            }
            fn sign(self) -> $ty {
                $sign(self)
            }
            fn bits(op: BinaryOp, a: $ty, b: $ty) -> Option<$ty> {
                match op {
                    BinaryOp::BitAnd => Some(a & b),
                    BinaryOp::BitOr => Some(a | b),
                    BinaryOp::BitXor => Some(a ^ b),
                    BinaryOp::Shl => Some(a.wrapping_shl(b as u32)),
                    BinaryOp::Shr => Some(a.wrapping_shr(b as u32)),
                    _ => None,
                }
            }
        }
    )*};
}

integers! {
    i8, i8::wrapping_abs, i8::signum;
    i16, i16::wrapping_abs, i16::signum;
    i32, i32::wrapping_abs, i32::signum;
    i64, i64::wrapping_abs, i64::signum;
    u8, std::convert::identity, |x: u8| u8::from(x != 0);
    u16, std::convert::identity, |x: u16| u16::from(x != 0);
    u32, std::convert::identity, |x: u32| u32::from(x != 0);
    u64, std::convert::identity, |x: u64| u64::from(x != 0);
}

/// Floats: what is computed in `f64` is rounded once to the type.
pub(crate) trait Float: Number {
    fn widened(self) -> f64;
    fn rounded(value: f64) -> Self;
    /// `self * b + c`, rounded once.
    fn fma(self, b: Self, c: Self) -> Self;
}

macro_rules! floats {
    ($($ty:ty, $wide:ty, $round:expr;)*) => {$(
        impl Number for $ty {
            #[inline]
            fn add(self, other: $ty) -> $ty {
                $round(<$wide>::from(self) + <$wide>::from(other))
            }
            #[inline]
            fn sub(self, other: $ty) -> $ty {
                $round(<$wide>::from(self) - <$wide>::from(other))
            }
            #[inline]
            fn mul(self, other: $ty) -> $ty {
                $round(<$wide>::from(self) * <$wide>::from(other))
            }
            fn div(self, other: $ty) -> Option<$ty> {
                Some($round(<$wide>::from(self) / <$wide>::from(other)))
            }
            fn rem(self, other: $ty) -> Option<$ty> {
                Some($round(<$wide>::from(self) % <$wide>::from(other)))
            }
            fn neg(self) -> $ty {
                -self
            }
            fn abs(self) -> $ty {
                $round(<$wide>::from(self).abs())
            }
            fn sign(self) -> $ty {
                let wide = <$wide>::from(self);
                if wide.is_nan() || wide == 0.0 { self } else { $round(wide.signum()) }
            }
        }
    )*};
}

floats! {
    // f32 holds twice the digits of f16 and two more, so rounding twice is rounding once.
    f16, f32, f16::from_f32;
    f32, f32, std::convert::identity;
    f64, f64, std::convert::identity;
}

impl Float for f16 {
    fn widened(self) -> f64 {
        self.to_f64()
    }
    fn rounded(value: f64) -> f16 {
        lift_ir::f16_from_f64(value)
    }
    fn fma(self, b: f16, c: f16) -> f16 {
        // The product is exact in f64, and a sum that f64 has to round is nowhere near halfway
        // between two f16.
        lift_ir::f16_from_f64(self.to_f64().mul_add(b.to_f64(), c.to_f64()))
    }
}

impl Float for f32 {
    fn widened(self) -> f64 {
        f64::from(self)
    }
    fn rounded(value: f64) -> f32 {
        value as f32
    }
    fn fma(self, b: f32, c: f32) -> f32 {
        self.mul_add(b, c)
    }
}

impl Float for f64 {
    fn widened(self) -> f64 {
        self
    }
    fn rounded(value: f64) -> f64 {
        value
    }
    fn fma(self, b: f64, c: f64) -> f64 {
        self.mul_add(b, c)
    }
}

#[inline]
pub(crate) fn arithmetic<T: Number>(op: BinaryOp, a: T, b: T) -> Result<T, &'static str> {
    match op {
        BinaryOp::Add => Ok(a.add(b)),
        BinaryOp::Sub => Ok(a.sub(b)),
        BinaryOp::Mul => Ok(a.mul(b)),
        BinaryOp::Div => a.div(b).ok_or("division by zero"),
        BinaryOp::Rem => a.rem(b).ok_or("remainder of a division by zero"),
        BinaryOp::BitOr | BinaryOp::BitXor | BinaryOp::BitAnd | BinaryOp::Shl | BinaryOp::Shr => {
            T::bits(op, a, b).ok_or(NOT_APPLICABLE)
        }
        BinaryOp::Or
        | BinaryOp::And
        | BinaryOp::Eq
        | BinaryOp::Ne
        | BinaryOp::Lt
        | BinaryOp::Le
        | BinaryOp::Gt
        | BinaryOp::Ge => no_arithmetic(op, a, b),
    }
}

pub(crate) fn no_arithmetic<T>(_: BinaryOp, _: T, _: T) -> Result<T, &'static str> {
    Err(NOT_APPLICABLE)
}

/// Both operands evaluated: short circuits are the evaluator's.
pub(crate) fn binary(
    op: BinaryOp,
    a: ScalarValue,
    b: ScalarValue,
) -> Result<ScalarValue, &'static str> {
    fn typed<T: Element + PartialOrd>(
        op: BinaryOp,
        a: T,
        b: ScalarValue,
    ) -> Result<ScalarValue, &'static str> {
        let Some(b) = T::from_scalar(b) else { return no_arithmetic(op, a.scalar(), b) };
        match op.holds(a, b) {
            Some(truth) => Ok(ScalarValue::Bool(truth)),
            None => T::arithmetic(op, a, b).map(T::scalar),
        }
    }
    match (op, a, b) {
        (BinaryOp::And, ScalarValue::Bool(a), ScalarValue::Bool(b)) => {
            Ok(ScalarValue::Bool(a && b))
        }
        (BinaryOp::Or, ScalarValue::Bool(a), ScalarValue::Bool(b)) => Ok(ScalarValue::Bool(a || b)),
        _ => each_scalar!(a, ScalarValue(x) => typed(op, x, b)),
    }
}

/// The body for every number type; `bool` gives nothing.
macro_rules! each_number {
    ($value:expr, $x:ident => $body:expr) => {
        match $value {
            ScalarValue::Bool(_) => None,
            ScalarValue::I8($x) => $body,
            ScalarValue::I16($x) => $body,
            ScalarValue::I32($x) => $body,
            ScalarValue::I64($x) => $body,
            ScalarValue::U8($x) => $body,
            ScalarValue::U16($x) => $body,
            ScalarValue::U32($x) => $body,
            ScalarValue::U64($x) => $body,
            ScalarValue::F16($x) => $body,
            ScalarValue::F32($x) => $body,
            ScalarValue::F64($x) => $body,
        }
    };
}

/// The body for every integer type; other types give nothing.
macro_rules! each_integer {
    ($value:expr, $x:ident => $body:expr) => {
        match $value {
            ScalarValue::I8($x) => $body,
            ScalarValue::I16($x) => $body,
            ScalarValue::I32($x) => $body,
            ScalarValue::I64($x) => $body,
            ScalarValue::U8($x) => $body,
            ScalarValue::U16($x) => $body,
            ScalarValue::U32($x) => $body,
            ScalarValue::U64($x) => $body,
            ScalarValue::Bool(_)
            | ScalarValue::F16(_)
            | ScalarValue::F32(_)
            | ScalarValue::F64(_) => None,
        }
    };
}

pub(crate) use {each_integer, each_number};

pub(crate) fn unary(op: UnaryOp, value: ScalarValue) -> Option<ScalarValue> {
    match (op, value) {
        (UnaryOp::Not, ScalarValue::Bool(x)) => Some(ScalarValue::Bool(!x)),
        (UnaryOp::Not, _) => None,
        (UnaryOp::Neg, value) => each_number!(value, x => Some(x.neg().scalar())),
        (UnaryOp::BitNot, value) => each_integer!(value, x => Some(Integer::not(x).scalar())),
    }
}

/// `value as scalar`: floats to integers truncate and saturate (`nan` is 0), integers wrap, numbers
/// to `bool` are `!= 0`, `bool` to a number is 0 or 1.
pub(crate) fn cast(value: ScalarValue, scalar: Scalar) -> ScalarValue {
    match value.to_integer() {
        Some(integer) => ScalarValue::from_integer(scalar, integer),
        None => float_to(value.to_f64(), scalar),
    }
}

/// Every f16 and f32 is an f64, so one conversion serves all three.
pub(crate) fn float_to(value: f64, scalar: Scalar) -> ScalarValue {
    match scalar {
        Scalar::Bool => ScalarValue::Bool(value != 0.0),
        Scalar::I8 => ScalarValue::I8(value as i8),
        Scalar::I16 => ScalarValue::I16(value as i16),
        Scalar::I32 => ScalarValue::I32(value as i32),
        Scalar::I64 => ScalarValue::I64(value as i64),
        Scalar::U8 => ScalarValue::U8(value as u8),
        Scalar::U16 => ScalarValue::U16(value as u16),
        Scalar::U32 => ScalarValue::U32(value as u32),
        Scalar::U64 => ScalarValue::U64(value as u64),
        Scalar::F16 => ScalarValue::F16(lift_ir::f16_from_f64(value)),
        Scalar::F32 => ScalarValue::F32(value as f32),
        Scalar::F64 => ScalarValue::F64(value),
    }
}
