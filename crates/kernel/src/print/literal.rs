//! Constants.

use lift_ir::{Literal, Scalar};

use super::text::{Level, Text};

/// How a language writes what C writes differently.
pub(super) struct Spelling {
    pub i64: &'static str,
    pub u32: &'static str,
    pub u64: &'static str,
    /// `{}` stands for the digits.
    pub f16: &'static str,
    /// Infinity and nan of the three float types.
    pub infinity: [&'static str; 3],
    pub nan: [&'static str; 3],
}

/// `type_name` is that of the literal's own type.
pub(super) fn literal(value: Literal, spelling: &Spelling, type_name: &str) -> Text {
    match value {
        Literal::Bool(b) => Text::primary(if b { "true" } else { "false" }),
        Literal::Int(scalar, v) => integer(scalar, v, spelling, type_name),
        Literal::F16(_) => {
            // Every f16 is an f32, whose shortest digits tell it from every other f16.
            let v = value.as_f64().unwrap_or(0.0) as f32;
            float(v.is_nan(), v.is_infinite(), v.is_sign_negative(), spelling, 0, || {
                spelling.f16.replace("{}", &digits(format!("{:?}", v.abs())))
            })
        }
        Literal::F32(bits) => {
            let v = f32::from_bits(bits);
            float(v.is_nan(), v.is_infinite(), v.is_sign_negative(), spelling, 1, || {
                digits(format!("{:?}", v.abs())) + "f"
            })
        }
        Literal::F64(bits) => {
            let v = f64::from_bits(bits);
            float(v.is_nan(), v.is_infinite(), v.is_sign_negative(), spelling, 2, || {
                digits(format!("{:?}", v.abs()))
            })
        }
    }
}

fn integer(scalar: Scalar, v: i128, spelling: &Spelling, type_name: &str) -> Text {
    let suffix = match scalar {
        Scalar::I64 => spelling.i64,
        Scalar::U32 => spelling.u32,
        Scalar::U64 => spelling.u64,
        // Smaller ones would be `int` otherwise, which overloaded functions tell apart.
        Scalar::I8 | Scalar::I16 | Scalar::U8 | Scalar::U16 => {
            return Text::new(Level::Unary, format!("({type_name}){v}"));
        }
        Scalar::I32 | Scalar::Bool | Scalar::F16 | Scalar::F32 | Scalar::F64 => "",
    };
    let least = scalar.integer_range().map(|(low, _)| low);
    if v < 0 && Some(v) == least {
        // The minus is not part of a constant, and the rest of it has no room.
        return Text::primary(format!("({}{suffix} - 1)", v + 1));
    }
    let level = if v < 0 { Level::Unary } else { Level::Primary };
    Text::new(level, format!("{v}{suffix}"))
}

fn float(
    nan: bool,
    infinite: bool,
    negative: bool,
    spelling: &Spelling,
    kind: usize,
    finite: impl Fn() -> String,
) -> Text {
    if nan {
        return Text::new(Level::Unary, spelling.nan[kind]);
    }
    let text = if infinite { spelling.infinity[kind].to_owned() } else { finite() };
    if negative {
        return Text::new(Level::Unary, format!("-{text}"));
    }
    let level = if text.starts_with('(') { Level::Unary } else { Level::Primary };
    Text::new(level, text)
}

/// With a point or an exponent, without which a number is an integer.
fn digits(text: String) -> String {
    if text.contains(['.', 'e']) { text } else { text + ".0" }
}
