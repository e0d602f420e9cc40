//! Values made of one buffer a scalar component, as they are stored outside.

use lift_ir::{Scalar, Type};
use lift_nat::Nat;

use crate::array::Array;
use crate::buffer::Buffer;
use crate::error::{Eval, RunError, fault};
use crate::meter::Meter;
use crate::number::{Element, with_scalar};
use crate::sizes::{Sizes, concrete_type};
use crate::strided::Strided;
use crate::value::{Value, Vector, WIDTHS};

impl Value {
    /// The value of a type (its sizes constants) whose [`Value::buffers`] these are.
    pub fn from_buffers(ty: &Type, buffers: Vec<Buffer>) -> Result<Value, RunError> {
        let mut buffers = buffers.into_iter();
        let value = from_leaves(ty, &mut |scalar, count| match buffers.next() {
            Some(buffer) if buffer.scalar() == scalar && buffer.len() == count => Ok(buffer),
            Some(buffer) => fault(format!(
                "expected {count} `{scalar}` of a `{ty}`, found {} `{}`",
                buffer.len(),
                buffer.scalar()
            )),
            None => fault(format!("too few buffers for a `{ty}`")),
        });
        value.map_err(|e| *e)
    }

    /// All zeros (`false` for `bool`).
    pub fn zeros(ty: &Type, sizes: &Sizes) -> Result<Value, RunError> {
        let ty = concrete_type(ty, sizes)?;
        let zeros = from_leaves(&ty, &mut |scalar, count| {
            Ok(with_scalar!(scalar, T => T::buffer(vec![T::default(); count])))
        });
        zeros.map_err(|e| *e)
    }
}

/// The value of a type whose sizes are constants; `leaf` makes the buffer of each scalar or vector
/// component, so many scalars, row by row. Nothing is asked for that could not be stored.
pub(crate) fn from_leaves(
    ty: &Type,
    leaf: &mut dyn FnMut(Scalar, usize) -> Eval<Buffer>,
) -> Eval<Value> {
    below(ty, &mut Vec::new(), leaf)
}

/// `outer` are the lengths of the arrays around `ty`.
fn below(
    ty: &Type,
    outer: &mut Vec<usize>,
    leaf: &mut dyn FnMut(Scalar, usize) -> Eval<Buffer>,
) -> Eval<Value> {
    let mut meter = Meter::default();
    match ty {
        Type::Scalar(scalar) => {
            let buffer = leaf(*scalar, meter.array(*scalar, outer.iter().copied())?)?;
            Ok(match outer.as_slice() {
                [] => Value::Scalar(buffer.at(0)),
                lengths => Value::Array(Array::leaf(Strided::packed(buffer, lengths, false))),
            })
        }
        Type::Vector(scalar, width) => {
            let width = length(width)?;
            if !WIDTHS.contains(&width) {
                return fault(format!("a vector has 2, 3, 4, 8 or 16 lanes, not {width}"));
            }
            outer.push(width);
            let buffer = leaf(*scalar, meter.array(*scalar, outer.iter().copied())?)?;
            let value = match outer.as_slice() {
                [_] => Vector::of_buffer(&buffer).map(Value::Vector),
                lengths => Some(Value::Array(Array::leaf(Strided::packed(buffer, lengths, true)))),
            };
            outer.pop();
            value.map_or_else(|| fault(format!("`{ty}` is no vector type")), Ok)
        }
        Type::Tuple(components) => {
            let values: Eval<Vec<Value>> =
                components.iter().map(|c| below(c, outer, leaf)).collect();
            let values = values?;
            if outer.is_empty() {
                return Ok(Value::tuple(values));
            }
            let arrays = values.iter().filter_map(|v| v.as_array().cloned()).collect();
            Ok(Value::Array(Array::zipped(outer.len(), arrays)))
        }
        Type::Array(element, size) => {
            outer.push(length(size)?);
            let value = below(element, outer, leaf);
            outer.pop();
            value
        }
    }
}

fn length(size: &Nat) -> Eval<usize> {
    match size.as_int().and_then(|n| usize::try_from(n).ok()) {
        Some(length) => Ok(length),
        None => fault(format!("`{size}` is not a length")),
    }
}
