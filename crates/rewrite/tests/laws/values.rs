//! Random arguments.

use lift_interp::{ScalarValue, Value};
use lift_ir::{Scalar, Type};
use lift_random::Random;

/// A value of a type whose sizes are constants and whose scalars are integers or `f64`.
pub fn value(ty: &Type, random: &mut Random) -> Result<Value, String> {
    let number = |scalar: Scalar, random: &mut Random| {
        let value = random.between(-9, 9);
        if scalar == Scalar::F64 {
            // Tenths are rounded, so the order of additions shows.
            return ScalarValue::F64(value as f64 / 10.0 + 0.05);
        }
        let value = if scalar.is_signed_integer() { value } else { value.abs() };
        ScalarValue::from_integer(scalar, i128::from(value))
    };
    match ty {
        Type::Scalar(scalar) => Ok(Value::Scalar(number(*scalar, random))),
        Type::Vector(scalar, width) => {
            let lanes: Vec<ScalarValue> =
                (0..width.as_int().unwrap_or(0)).map(|_| number(*scalar, random)).collect();
            Value::vector(lanes).ok_or(format!("no vector has {width} lanes"))
        }
        Type::Tuple(parts) => {
            let parts: Result<Vec<Value>, String> =
                parts.iter().map(|part| value(part, random)).collect();
            Ok(Value::tuple(parts?))
        }
        Type::Array(element, length) => {
            let length = length.as_int().ok_or(format!("`{length}` has no value"))?;
            let elements: Result<Vec<Value>, String> =
                (0..length).map(|_| value(element, random)).collect();
            Value::array(elements?).map_err(|e| e.to_string())
        }
    }
}
