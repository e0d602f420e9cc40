//! Scalar types, literals and the operators on them.

use std::fmt;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Scalar {
    Bool,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    F16,
    F32,
    F64,
}

impl Scalar {
    pub const ALL: [Scalar; 12] = [
        Scalar::Bool,
        Scalar::I8,
        Scalar::I16,
        Scalar::I32,
        Scalar::I64,
        Scalar::U8,
        Scalar::U16,
        Scalar::U32,
        Scalar::U64,
        Scalar::F16,
        Scalar::F32,
        Scalar::F64,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Scalar::Bool => "bool",
            Scalar::I8 => "i8",
            Scalar::I16 => "i16",
            Scalar::I32 => "i32",
            Scalar::I64 => "i64",
            Scalar::U8 => "u8",
            Scalar::U16 => "u16",
            Scalar::U32 => "u32",
            Scalar::U64 => "u64",
            Scalar::F16 => "f16",
            Scalar::F32 => "f32",
            Scalar::F64 => "f64",
        }
    }

    pub fn from_name(name: &str) -> Option<Scalar> {
        Scalar::ALL.into_iter().find(|s| s.name() == name)
    }

    pub fn is_float(self) -> bool {
        matches!(self, Scalar::F16 | Scalar::F32 | Scalar::F64)
    }

    pub fn is_signed_integer(self) -> bool {
        matches!(self, Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::I64)
    }

    pub fn is_integer(self) -> bool {
        self.is_signed_integer()
            || matches!(self, Scalar::U8 | Scalar::U16 | Scalar::U32 | Scalar::U64)
    }

    pub fn is_number(self) -> bool {
        self != Scalar::Bool
    }

    /// Size in memory.
    pub fn bytes(self) -> usize {
        match self {
            Scalar::Bool | Scalar::I8 | Scalar::U8 => 1,
            Scalar::I16 | Scalar::U16 | Scalar::F16 => 2,
            Scalar::I32 | Scalar::U32 | Scalar::F32 => 4,
            Scalar::I64 | Scalar::U64 | Scalar::F64 => 8,
        }
    }

    /// The unsigned integer type that holds the bits of a float type.
    pub fn bits(self) -> Option<Scalar> {
        match self {
            Scalar::F16 => Some(Scalar::U16),
            Scalar::F32 => Some(Scalar::U32),
            Scalar::F64 => Some(Scalar::U64),
            _ => None,
        }
    }

    /// The float type whose bits an unsigned integer type holds.
    pub fn float_of_bits(self) -> Option<Scalar> {
        match self {
            Scalar::U16 => Some(Scalar::F16),
            Scalar::U32 => Some(Scalar::F32),
            Scalar::U64 => Some(Scalar::F64),
            _ => None,
        }
    }

    /// The unsigned integer type of the same width as an integer type.
    pub fn unsigned(self) -> Option<Scalar> {
        match self {
            Scalar::I8 | Scalar::U8 => Some(Scalar::U8),
            Scalar::I16 | Scalar::U16 => Some(Scalar::U16),
            Scalar::I32 | Scalar::U32 => Some(Scalar::U32),
            Scalar::I64 | Scalar::U64 => Some(Scalar::U64),
            Scalar::Bool | Scalar::F16 | Scalar::F32 | Scalar::F64 => None,
        }
    }

    /// How many bits a value has.
    pub fn width(self) -> u32 {
        8 * self.bytes() as u32
    }

    /// The values of an integer type, both ends included.
    pub fn integer_range(self) -> Option<(i128, i128)> {
        let bits = 8 * self.bytes() as u32;
        if self.is_signed_integer() {
            Some((-(1 << (bits - 1)), (1 << (bits - 1)) - 1))
        } else if self.is_integer() {
            Some((0, (1 << bits) - 1))
        } else {
            None
        }
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A constant of a scalar type.
///
/// Floats are kept as their bits, rounded to their type already, so that literals can be compared
/// and hashed: `0.0` and `-0.0` differ, `nan` equals itself.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Literal {
    Bool(bool),
    /// A value in range of an integer type.
    Int(Scalar, i128),
    F16(u16),
    F32(u32),
    F64(u64),
}

impl Literal {
    pub fn scalar(self) -> Scalar {
        match self {
            Literal::Bool(_) => Scalar::Bool,
            Literal::Int(s, _) => s,
            Literal::F16(_) => Scalar::F16,
            Literal::F32(_) => Scalar::F32,
            Literal::F64(_) => Scalar::F64,
        }
    }

    /// The value of a type whose bits are all 0.
    pub fn zero(scalar: Scalar) -> Literal {
        match scalar {
            Scalar::Bool => Literal::Bool(false),
            _ => Literal::float(scalar, 0.0).unwrap_or(Literal::Int(scalar, 0)),
        }
    }

    /// `value` as a literal of an integer type, if it is one of its values.
    pub fn int(scalar: Scalar, value: i128) -> Option<Literal> {
        let (low, high) = scalar.integer_range()?;
        (low..=high).contains(&value).then_some(Literal::Int(scalar, value))
    }

    pub fn f32(value: f32) -> Literal {
        Literal::F32(value.to_bits())
    }

    pub fn f64(value: f64) -> Literal {
        Literal::F64(value.to_bits())
    }

    /// `value` rounded to a float type.
    ///
    /// The text of a literal is rounded once: [`Literal::parse_float`] reads it at its own type.
    pub fn float(scalar: Scalar, value: f64) -> Option<Literal> {
        match scalar {
            Scalar::F16 => Some(Literal::F16(crate::f16_from_f64(value).to_bits())),
            Scalar::F32 => Some(Literal::f32(value as f32)),
            Scalar::F64 => Some(Literal::f64(value)),
            _ => None,
        }
    }

    /// Reads a decimal number as a float type, rounding once.
    pub fn parse_float(scalar: Scalar, text: &str) -> Option<Literal> {
        match scalar {
            Scalar::F16 => {
                text.parse().ok().map(|v| Literal::F16(crate::f16_from_f64(v).to_bits()))
            }
            Scalar::F32 => text.parse().ok().map(Literal::f32),
            Scalar::F64 => text.parse().ok().map(Literal::f64),
            _ => None,
        }
    }

    /// The value of a float literal; every f16 and f32 is an f64.
    pub fn as_f64(self) -> Option<f64> {
        match self {
            Literal::F16(bits) => Some(half::f16::from_bits(bits).to_f64()),
            Literal::F32(bits) => Some(f32::from_bits(bits) as f64),
            Literal::F64(bits) => Some(f64::from_bits(bits)),
            Literal::Bool(_) | Literal::Int(..) => None,
        }
    }
}

/// Prints as the language writes it, with a suffix where the type is not the default one.
impl fmt::Display for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fn float(f: &mut fmt::Formatter<'_>, digits: String, scalar: Scalar) -> fmt::Result {
            let suffix = if scalar == Scalar::F32 { "" } else { scalar.name() };
            match digits.as_str() {
                "NaN" | "inf" | "-inf" => {
                    let value = digits.to_lowercase();
                    if scalar == Scalar::F32 {
                        f.write_str(&value)
                    } else {
                        write!(f, "({value} as {scalar})")
                    }
                }
                _ if digits.contains(['.', 'e']) => write!(f, "{digits}{suffix}"),
                _ => write!(f, "{digits}.0{suffix}"),
            }
        }
        match *self {
            Literal::Bool(b) => write!(f, "{b}"),
            Literal::Int(Scalar::I32, v) => write!(f, "{v}"),
            Literal::Int(s, v) => write!(f, "{v}{s}"),
            Literal::F16(bits) => {
                let v = half::f16::from_bits(bits);
                float(f, format!("{:?}", v.to_f32()), Scalar::F16)
            }
            Literal::F32(bits) => float(f, format!("{:?}", f32::from_bits(bits)), Scalar::F32),
            Literal::F64(bits) => float(f, format!("{:?}", f64::from_bits(bits)), Scalar::F64),
        }
    }
}
