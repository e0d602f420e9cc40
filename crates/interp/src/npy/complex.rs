//! Complex numbers: pairs of floats that lie next to each other in a file.

use lift_ir::{Scalar, Type};

use crate::array::Array;
use crate::buffer::Buffer;
use crate::number::{Element, with_scalar};
use crate::strided::{Dim, Strided};
use crate::value::Value;

/// The lengths of an array of pairs of `f32` or of `f64`; none of a single pair. `None` of anything else.
pub(super) fn lengths(value: &Value) -> Option<Vec<usize>> {
    let ty = value.ty();
    let mut element = &ty;
    let mut rank = 0;
    while let Type::Array(inner, _) = element {
        (element, rank) = (inner, rank + 1);
    }
    let Type::Tuple(parts) = element else { return None };
    let is_complex = [Scalar::F32, Scalar::F64]
        .into_iter()
        .any(|s| parts.as_ref() == [Type::Scalar(s), Type::Scalar(s)]);
    let lengths = match value {
        Value::Array(array) => array.outer_lengths(rank),
        Value::Scalar(_) | Value::Vector(_) | Value::Tuple(_) => Vec::new(),
    };
    is_complex.then_some(lengths)
}

/// `re[0], im[0], re[1], im[1], …` Requires: [`lengths`] has some.
pub(super) fn interleaved(value: &Value) -> Result<Buffer, String> {
    let buffers = value.buffers().map_err(|e| e.to_string())?;
    let [re, im] = buffers.as_slice() else {
        return Err(format!("a value of type `{}` is not made of pairs", value.ty()));
    };
    let raw = (0..re.len()).flat_map(|i| [re.raw(i), im.raw(i)]);
    Ok(with_scalar!(re.scalar(), T => T::buffer(raw.map(T::from_raw).collect())))
}

/// Undoes [`interleaved`]; with `fortran` the first index runs fastest.
/// Requires: twice as many elements as the lengths say.
pub(super) fn pairs(buffer: Buffer, lengths: &[usize], fortran: bool) -> Value {
    if lengths.is_empty() {
        return Value::tuple(vec![Value::Scalar(buffer.at(0)), Value::Scalar(buffer.at(1))]);
    }
    let mut dims: Vec<Dim> = lengths.iter().map(|len| Dim { len: *len, stride: 0 }).collect();
    let mut stride = 2isize;
    let mut place = |dim: &mut Dim| {
        dim.stride = stride;
        stride = stride.saturating_mul(dim.len as isize);
    };
    if fortran {
        dims.iter_mut().for_each(&mut place);
    } else {
        dims.iter_mut().rev().for_each(&mut place);
    }
    let part = |offset| {
        let (buffer, dims) = (buffer.clone(), dims.iter().copied().collect());
        Array::leaf(Strided { buffer, offset, dims, vector: false })
    };
    Value::Array(Array::zipped(lengths.len(), vec![part(0), part(1)]))
}
