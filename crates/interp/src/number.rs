//! Scalars of the twelve types, and what code generic over them needs.

use half::f16;
use lift_ir::{BinaryOp, Literal, Scalar};

use crate::buffer::Buffer;
use crate::ops;

/// A value of a scalar type.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum ScalarValue {
    Bool(bool),
    I8(i8),
    I16(i16),
    I32(i32),
    I64(i64),
    U8(u8),
    U16(u16),
    U32(u32),
    U64(u64),
    F16(f16),
    F32(f32),
    F64(f64),
}

/// `each_scalar!(value, ScalarValue(x) => body)`: the body for whichever variant it is, `x` its
/// payload. Works on every enum with one variant a scalar type.
macro_rules! each_scalar {
    ($value:expr, $kind:ident($x:pat) => $body:expr) => {
        match $value {
            $kind::Bool($x) => $body,
            $kind::I8($x) => $body,
            $kind::I16($x) => $body,
            $kind::I32($x) => $body,
            $kind::I64($x) => $body,
            $kind::U8($x) => $body,
            $kind::U16($x) => $body,
            $kind::U32($x) => $body,
            $kind::U64($x) => $body,
            $kind::F16($x) => $body,
            $kind::F32($x) => $body,
            $kind::F64($x) => $body,
        }
    };
}

/// `with_scalar!(scalar, T => body)`: the body with `T` the Rust type of a scalar type.
macro_rules! with_scalar {
    ($scalar:expr, $T:ident => $body:expr) => {
        with_scalar!(@arms $scalar, $T, $body, Bool bool, I8 i8, I16 i16, I32 i32, I64 i64,
            U8 u8, U16 u16, U32 u32, U64 u64, F16 half::f16, F32 f32, F64 f64)
    };
    (@arms $scalar:expr, $T:ident, $body:expr, $($variant:ident $ty:ty),*) => {
        match $scalar {
            $(lift_ir::Scalar::$variant => {
                type $T = $ty;
                $body
            })*
        }
    };
}

pub(crate) use {each_scalar, with_scalar};

/// A Rust type that is a scalar type of the language.
pub trait Element: Copy + Default + PartialEq + Send + Sync + 'static {
    const SCALAR: Scalar;

    fn scalar(self) -> ScalarValue;
    fn from_scalar(value: ScalarValue) -> Option<Self>;
    fn slice(buffer: &Buffer) -> Option<&[Self]>;
    fn buffer(elements: Vec<Self>) -> Buffer;

    /// The bits of the value, and back.
    fn raw(self) -> u64;
    fn from_raw(bits: u64) -> Self;

    /// `+ - * / %`, rounded to the type or wrapped; `bool` has none.
    fn arithmetic(op: BinaryOp, a: Self, b: Self) -> Result<Self, &'static str>;
}

macro_rules! elements {
    ($($variant:ident $ty:ty, $arithmetic:path, $to:expr, $from:expr;)*) => {$(
        impl Element for $ty {
            const SCALAR: Scalar = Scalar::$variant;

            #[inline]
            fn scalar(self) -> ScalarValue {
                ScalarValue::$variant(self)
            }

            #[inline]
            fn from_scalar(value: ScalarValue) -> Option<$ty> {
                match value {
                    ScalarValue::$variant(x) => Some(x),
                    _ => None,
                }
            }

            #[inline]
            fn slice(buffer: &Buffer) -> Option<&[$ty]> {
                match buffer {
                    Buffer::$variant(xs) => Some(xs),
                    _ => None,
                }
            }

            fn buffer(elements: Vec<$ty>) -> Buffer {
                Buffer::$variant(elements.into())
            }

            #[inline]
            fn raw(self) -> u64 {
                $to(self)
            }

            #[inline]
            fn from_raw(bits: u64) -> $ty {
                $from(bits)
            }

            #[inline]
            fn arithmetic(op: BinaryOp, a: $ty, b: $ty) -> Result<$ty, &'static str> {
                $arithmetic(op, a, b)
            }
        }

        impl From<$ty> for ScalarValue {
            fn from(value: $ty) -> ScalarValue {
                ScalarValue::$variant(value)
            }
        }
    )*};
}

elements! {
    Bool bool, ops::no_arithmetic, u64::from, |bits| bits != 0;
    I8 i8, ops::arithmetic, |x| x as u64, |bits| bits as i8;
    I16 i16, ops::arithmetic, |x| x as u64, |bits| bits as i16;
    I32 i32, ops::arithmetic, |x| x as u64, |bits| bits as i32;
    I64 i64, ops::arithmetic, |x| x as u64, |bits| bits as i64;
    U8 u8, ops::arithmetic, |x| x as u64, |bits| bits as u8;
    U16 u16, ops::arithmetic, |x| x as u64, |bits| bits as u16;
    U32 u32, ops::arithmetic, |x| x as u64, |bits| bits as u32;
    U64 u64, ops::arithmetic, std::convert::identity, std::convert::identity;
    F16 f16, ops::arithmetic, |x: f16| u64::from(x.to_bits()), |bits| f16::from_bits(bits as u16);
    F32 f32, ops::arithmetic, |x: f32| u64::from(x.to_bits()), |bits| f32::from_bits(bits as u32);
    F64 f64, ops::arithmetic, f64::to_bits, f64::from_bits;
}

impl ScalarValue {
    pub fn scalar(self) -> Scalar {
        fn of<T: Element>(_: T) -> Scalar {
            T::SCALAR
        }
        each_scalar!(self, ScalarValue(x) => of(x))
    }

    /// See [`Element::raw`].
    pub(crate) fn raw(self) -> u64 {
        each_scalar!(self, ScalarValue(x) => x.raw())
    }

    pub(crate) fn from_raw(scalar: Scalar, bits: u64) -> ScalarValue {
        with_scalar!(scalar, T => T::from_raw(bits).scalar())
    }

    pub fn zero(scalar: Scalar) -> ScalarValue {
        with_scalar!(scalar, T => T::default().scalar())
    }

    /// The value of an integer or `bool` (0 or 1).
    pub fn to_integer(self) -> Option<i128> {
        match self {
            ScalarValue::Bool(x) => Some(i128::from(x)),
            ScalarValue::I8(x) => Some(i128::from(x)),
            ScalarValue::I16(x) => Some(i128::from(x)),
            ScalarValue::I32(x) => Some(i128::from(x)),
            ScalarValue::I64(x) => Some(i128::from(x)),
            ScalarValue::U8(x) => Some(i128::from(x)),
            ScalarValue::U16(x) => Some(i128::from(x)),
            ScalarValue::U32(x) => Some(i128::from(x)),
            ScalarValue::U64(x) => Some(i128::from(x)),
            ScalarValue::F16(_) | ScalarValue::F32(_) | ScalarValue::F64(_) => None,
        }
    }

    /// The value as the nearest `f64`; exact but for large 64-bit integers.
    #[inline]
    pub fn to_f64(self) -> f64 {
        match self {
            ScalarValue::F16(x) => x.to_f64(),
            ScalarValue::F32(x) => f64::from(x),
            ScalarValue::F64(x) => x,
            integer => integer.to_integer().unwrap_or(0) as f64,
        }
    }

    /// `value` wrapped to an integer type, or as a float or `bool` (`!= 0`).
    pub fn from_integer(scalar: Scalar, value: i128) -> ScalarValue {
        match scalar {
            Scalar::Bool => ScalarValue::Bool(value != 0),
            Scalar::I8 => ScalarValue::I8(value as i8),
            Scalar::I16 => ScalarValue::I16(value as i16),
            Scalar::I32 => ScalarValue::I32(value as i32),
            Scalar::I64 => ScalarValue::I64(value as i64),
            Scalar::U8 => ScalarValue::U8(value as u8),
            Scalar::U16 => ScalarValue::U16(value as u16),
            Scalar::U32 => ScalarValue::U32(value as u32),
            Scalar::U64 => ScalarValue::U64(value as u64),
            // Integers of more than 53 bits are infinite as f16 in any case.
            Scalar::F16 => ScalarValue::F16(lift_ir::f16_from_f64(value as f64)),
            Scalar::F32 => ScalarValue::F32(value as f32),
            Scalar::F64 => ScalarValue::F64(value as f64),
        }
    }

    pub fn literal(self) -> Literal {
        match self {
            ScalarValue::Bool(x) => Literal::Bool(x),
            ScalarValue::F16(x) => Literal::F16(x.to_bits()),
            ScalarValue::F32(x) => Literal::f32(x),
            ScalarValue::F64(x) => Literal::f64(x),
            integer => Literal::Int(integer.scalar(), integer.to_integer().unwrap_or(0)),
        }
    }
}

impl From<Literal> for ScalarValue {
    fn from(literal: Literal) -> ScalarValue {
        match literal {
            Literal::Bool(x) => ScalarValue::Bool(x),
            Literal::Int(scalar, x) => ScalarValue::from_integer(scalar, x),
            Literal::F16(bits) => ScalarValue::F16(f16::from_bits(bits)),
            Literal::F32(bits) => ScalarValue::F32(f32::from_bits(bits)),
            Literal::F64(bits) => ScalarValue::F64(f64::from_bits(bits)),
        }
    }
}
