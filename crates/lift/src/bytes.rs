//! Buffers of the interpreter as the bytes that devices hold, and back.

use std::sync::Arc;

use lift_interp::Buffer;
use lift_ir::Scalar;

/// The bytes of a buffer in the host's order; a `bool` is one byte, 0 or 1.
pub(crate) fn of_buffer(buffer: &Buffer) -> Vec<u8> {
    match buffer {
        Buffer::Bool(xs) => xs.iter().map(|b| u8::from(*b)).collect(),
        Buffer::I8(xs) => bytemuck::cast_slice(xs).to_vec(),
        Buffer::I16(xs) => bytemuck::cast_slice(xs).to_vec(),
        Buffer::I32(xs) => bytemuck::cast_slice(xs).to_vec(),
        Buffer::I64(xs) => bytemuck::cast_slice(xs).to_vec(),
        Buffer::U8(xs) => bytemuck::cast_slice(xs).to_vec(),
        Buffer::U16(xs) => bytemuck::cast_slice(xs).to_vec(),
        Buffer::U32(xs) => bytemuck::cast_slice(xs).to_vec(),
        Buffer::U64(xs) => bytemuck::cast_slice(xs).to_vec(),
        Buffer::F16(xs) => bytemuck::cast_slice(xs).to_vec(),
        Buffer::F32(xs) => bytemuck::cast_slice(xs).to_vec(),
        Buffer::F64(xs) => bytemuck::cast_slice(xs).to_vec(),
    }
}

/// The buffer that bytes hold.
pub(crate) fn to_buffer(scalar: Scalar, bytes: &[u8]) -> Buffer {
    fn typed<T: bytemuck::Pod>(bytes: &[u8]) -> Arc<Vec<T>> {
        Arc::new(bytemuck::allocation::pod_collect_to_vec(bytes))
    }
    match scalar {
        Scalar::Bool => Buffer::Bool(Arc::new(bytes.iter().map(|b| *b != 0).collect())),
        Scalar::I8 => Buffer::I8(typed(bytes)),
        Scalar::I16 => Buffer::I16(typed(bytes)),
        Scalar::I32 => Buffer::I32(typed(bytes)),
        Scalar::I64 => Buffer::I64(typed(bytes)),
        Scalar::U8 => Buffer::U8(typed(bytes)),
        Scalar::U16 => Buffer::U16(typed(bytes)),
        Scalar::U32 => Buffer::U32(typed(bytes)),
        Scalar::U64 => Buffer::U64(typed(bytes)),
        Scalar::F16 => Buffer::F16(typed(bytes)),
        Scalar::F32 => Buffer::F32(typed(bytes)),
        Scalar::F64 => Buffer::F64(typed(bytes)),
    }
}
