//! Random values.

use lift_interp::inputs::{Fill, generate};
use lift_interp::{RunError, ScalarValue, Value};
use lift_ir::{Literal, Nat, Scalar, Type};

use crate::config::Floats;
use crate::random::Random;

/// Fills inputs.
pub(crate) struct Filler {
    pub random: Random,
    pub floats: Floats,
}

/// The value with its floats moved by more than rounding does and less than is compared, to see how
/// much results depend on their last digits.
pub(crate) fn nudged(value: &Value, random: &mut Random) -> Result<Value, RunError> {
    let moved = |x: ScalarValue, random: &mut Random| {
        let part = if x.scalar() == Scalar::F64 { 1e-13 } else { 1e-6 };
        let factor = if random.chance(50) { 1.0 + part } else { 1.0 - part };
        Literal::float(x.scalar(), x.to_f64() * factor).map_or(x, ScalarValue::from)
    };
    let parts = || (0..value.len()).filter_map(|i| value.get(i));
    match value {
        Value::Scalar(x) => Ok(Value::Scalar(moved(*x, random))),
        Value::Vector(v) => {
            let lanes: Vec<ScalarValue> = v.lanes().iter().map(|x| moved(*x, random)).collect();
            Value::vector(lanes).ok_or_else(|| RunError::new("no such vector"))
        }
        Value::Tuple(_) => {
            let parts: Result<_, _> = parts().map(|part| nudged(&part, random)).collect();
            Ok(Value::tuple(parts?))
        }
        Value::Array(array) if array.is_empty() => Ok(value.clone()),
        Value::Array(_) => {
            let parts: Result<_, _> = parts().map(|part| nudged(&part, random)).collect();
            Value::array(parts?)
        }
    }
}

impl Filler {
    /// A value of a type whose sizes are constants.
    pub fn value(&mut self, ty: &Type) -> Result<Value, RunError> {
        match ty {
            Type::Scalar(scalar) => Ok(Value::Scalar(self.scalar(*scalar))),
            Type::Vector(scalar, width) => {
                let lanes = width.as_int().unwrap_or(0);
                let lanes: Vec<ScalarValue> = (0..lanes).map(|_| self.scalar(*scalar)).collect();
                Value::vector(lanes)
                    .ok_or_else(|| RunError::new(format!("no vector has {width} lanes")))
            }
            Type::Tuple(parts) => {
                let parts: Result<Vec<Value>, RunError> =
                    parts.iter().map(|part| self.value(part)).collect();
                Ok(Value::tuple(parts?))
            }
            Type::Array(_, length) if *length == Nat::ZERO => generate(Fill::Zeros, ty),
            Type::Array(element, length) => {
                let length = length.as_int().unwrap_or(0);
                let elements: Result<Vec<Value>, RunError> =
                    (0..length).map(|_| self.value(element)).collect();
                Value::array(elements?)
            }
        }
    }

    /// Small numbers, sometimes the ends of an integer type.
    fn scalar(&mut self, scalar: Scalar) -> ScalarValue {
        let small = i128::from(self.random.between(-9, 9));
        let rare = self.random.below(50);
        if scalar == Scalar::Bool {
            return ScalarValue::Bool(small > 0);
        }
        if let Some((low, high)) = scalar.integer_range() {
            let value = match rare {
                0 => low,
                1 => high,
                _ if scalar.is_signed_integer() => small,
                _ => small.abs(),
            };
            return ScalarValue::from_integer(scalar, value);
        }
        let value = match self.floats {
            Floats::Exact => small as f64 / 2.0,
            Floats::Smooth => self.random.between(-2000, 2000) as f64 / 1000.0,
        };
        Literal::float(scalar, value).map_or(ScalarValue::zero(scalar), ScalarValue::from)
    }
}
