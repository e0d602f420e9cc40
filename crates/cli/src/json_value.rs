//! Values of programs as JSON: arrays, tuples and vectors are lists.

use lift_interp::{ScalarValue, Value};
use lift_ir::Scalar;
use serde_json::{Number, Value as Json};

pub fn of(value: &Value) -> Json {
    match value {
        Value::Scalar(scalar) => number(*scalar),
        Value::Vector(vector) => vector.lanes().iter().map(|lane| number(*lane)).collect(),
        Value::Tuple(components) => components.iter().map(of).collect(),
        Value::Array(array) => array.elements().map(|element| of(&element)).collect(),
    }
}

/// JSON has numbers that are finite; the others are strings.
fn number(scalar: ScalarValue) -> Json {
    if scalar.scalar() == Scalar::Bool {
        return Json::Bool(scalar.to_integer() == Some(1));
    }
    if let Some(integer) = scalar.to_integer() {
        return Number::from_i128(integer).map_or_else(|| integer.to_string().into(), Json::Number);
    }
    let float = scalar.to_f64();
    match Number::from_f64(shortest(scalar, float)) {
        Some(number) => Json::Number(number),
        None if float.is_nan() => "nan".into(),
        None if float > 0.0 => "inf".into(),
        None => "-inf".into(),
    }
}

/// The double with the fewest digits that is the same number to the type: `0.1`, not `0.10000000149011612`.
fn shortest(scalar: ScalarValue, float: f64) -> f64 {
    match scalar {
        ScalarValue::F32(x) => x.to_string().parse().unwrap_or(float),
        _ => float,
    }
}
