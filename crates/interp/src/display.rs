//! Values as the language writes them.

use std::fmt;

use lift_ir::Type;

use crate::number::ScalarValue;
use crate::value::Value;

/// Longer dimensions are abbreviated.
const SHOWN: usize = 16;
/// How many elements an abbreviated dimension shows at its end.
const LAST: usize = 3;

/// Abbreviated: `[1.0, 2.0, …, 9.0]` where a dimension is long.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_value(f, self, SHOWN)
    }
}

impl fmt::Display for ScalarValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.literal().fmt(f)
    }
}

/// A value written out in full; it parses as an expression of the same value.
pub struct Full<'a>(&'a Value);

impl fmt::Display for Full<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_value(f, self.0, usize::MAX)
    }
}

impl Value {
    /// The value written out in full.
    pub fn display_full(&self) -> Full<'_> {
        Full(self)
    }
}

fn write_value(f: &mut fmt::Formatter<'_>, value: &Value, shown: usize) -> fmt::Result {
    match value {
        Value::Scalar(x) => write!(f, "{x}"),
        Value::Vector(v) => {
            write!(f, "{}x{}(", v.scalar(), v.lanes().len())?;
            for (i, lane) in v.lanes().iter().enumerate() {
                let comma = if i > 0 { ", " } else { "" };
                write!(f, "{comma}{lane}")?;
            }
            f.write_str(")")
        }
        Value::Tuple(components) => {
            f.write_str("(")?;
            for (i, component) in components.iter().enumerate() {
                if i > 0 {
                    f.write_str(", ")?;
                }
                write_value(f, component, shown)?;
            }
            f.write_str(")")
        }
        Value::Array(array) if array.is_empty() => {
            // No brackets without elements are an expression: this one says the type, too.
            f.write_str("repeat(0, ")?;
            match array.ty() {
                Type::Array(element, _) => write_any(f, &element)?,
                other => write_any(f, &other)?,
            }
            f.write_str(")")
        }
        Value::Array(array) => {
            let length = array.len();
            f.write_str("[")?;
            let mut i = 0;
            while i < length {
                if i > 0 {
                    f.write_str(", ")?;
                }
                if length > shown && i == shown - LAST - 1 {
                    f.write_str("…")?;
                    i = length - LAST;
                    continue;
                }
                if let Some(element) = array.get(i) {
                    write_value(f, &element, shown)?;
                }
                i += 1;
            }
            f.write_str("]")
        }
    }
}

/// Some expression of the type.
fn write_any(f: &mut fmt::Formatter<'_>, ty: &Type) -> fmt::Result {
    match ty {
        Type::Scalar(scalar) => write!(f, "{}", ScalarValue::zero(*scalar)),
        Type::Vector(scalar, width) => {
            write!(f, "{scalar}x{width}({})", ScalarValue::zero(*scalar))
        }
        Type::Tuple(components) => {
            f.write_str("(")?;
            for (i, component) in components.iter().enumerate() {
                if i > 0 {
                    f.write_str(", ")?;
                }
                write_any(f, component)?;
            }
            f.write_str(")")
        }
        Type::Array(element, length) => {
            write!(f, "repeat({length}, ")?;
            write_any(f, element)?;
            f.write_str(")")
        }
    }
}
