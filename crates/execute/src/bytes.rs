//! Buffers of the interpreter as the bytes that devices hold, and back. Nothing is copied on the way.

use std::sync::Arc;

use lift_interp::Buffer;
use lift_ir::Scalar;
use lift_runtime::prepare;

use crate::Error;
use crate::costs::timed;

/// The bytes of a buffer in the host's order; a `bool` is one byte, 0 or 1.
pub(crate) fn of_buffer(buffer: &Buffer) -> &[u8] {
    match buffer {
        Buffer::Bool(xs) => bytemuck::cast_slice(xs),
        Buffer::I8(xs) => bytemuck::cast_slice(xs),
        Buffer::I16(xs) => bytemuck::cast_slice(xs),
        Buffer::I32(xs) => bytemuck::cast_slice(xs),
        Buffer::I64(xs) => bytemuck::cast_slice(xs),
        Buffer::U8(xs) => xs,
        Buffer::U16(xs) => bytemuck::cast_slice(xs),
        Buffer::U32(xs) => bytemuck::cast_slice(xs),
        Buffer::U64(xs) => bytemuck::cast_slice(xs),
        Buffer::F16(xs) => bytemuck::cast_slice(xs),
        Buffer::F32(xs) => bytemuck::cast_slice(xs),
        Buffer::F64(xs) => bytemuck::cast_slice(xs),
    }
}

/// A buffer of so many scalars, whose bytes `fill` writes. The time to have memory for it is added to `allocate_ms`.
pub(crate) fn to_buffer(
    scalar: Scalar,
    count: usize,
    allocate_ms: &mut f64,
    fill: &mut dyn FnMut(&mut [u8]) -> Result<(), Error>,
) -> Result<Buffer, Error> {
    let ms = allocate_ms;
    Ok(match scalar {
        Scalar::Bool => {
            let bytes: Vec<u8> = filled(count, ms, fill)?;
            Buffer::Bool(Arc::new(bytes.into_iter().map(|b| b != 0).collect()))
        }
        Scalar::I8 => Buffer::I8(Arc::new(filled(count, ms, fill)?)),
        Scalar::I16 => Buffer::I16(Arc::new(filled(count, ms, fill)?)),
        Scalar::I32 => Buffer::I32(Arc::new(filled(count, ms, fill)?)),
        Scalar::I64 => Buffer::I64(Arc::new(filled(count, ms, fill)?)),
        Scalar::U8 => Buffer::U8(Arc::new(filled(count, ms, fill)?)),
        Scalar::U16 => Buffer::U16(Arc::new(filled(count, ms, fill)?)),
        Scalar::U32 => Buffer::U32(Arc::new(filled(count, ms, fill)?)),
        Scalar::U64 => Buffer::U64(Arc::new(filled(count, ms, fill)?)),
        Scalar::F16 => Buffer::F16(Arc::new(filled(count, ms, fill)?)),
        Scalar::F32 => Buffer::F32(Arc::new(filled(count, ms, fill)?)),
        Scalar::F64 => Buffer::F64(Arc::new(filled(count, ms, fill)?)),
    })
}

fn filled<T: bytemuck::Pod>(
    count: usize,
    allocate_ms: &mut f64,
    fill: &mut dyn FnMut(&mut [u8]) -> Result<(), Error>,
) -> Result<Vec<T>, Error> {
    let mut elements = timed(allocate_ms, || {
        let mut elements = bytemuck::allocation::try_zeroed_vec(count)?;
        prepare(bytemuck::cast_slice_mut(&mut elements));
        Ok(elements)
    })
    .map_err(|()| {
        Error::arguments(format!("there is no memory on the host for a result of {count} elements"))
    })?;
    fill(bytemuck::cast_slice_mut(&mut elements))?;
    Ok(elements)
}
