//! Arrays of numpy copied to values of programs, and back.

use std::slice;

use half::f16;
use lift_interp::{Buffer, Element};
use lift_ir::{Scalar, Type};

use crate::arguments::Value;
use crate::arrays::Given;
use crate::shapes::leaves;

/// A copy of a call's argument.
pub fn value(given: &Value, ty: &Type) -> Result<lift_interp::Value, lift::Error> {
    let buffers = match given {
        Value::Scalar(scalar, bits) => vec![buffer(*scalar, bits.as_ptr(), 1)],
        Value::Arrays(arrays) => {
            let pairs = leaves(ty).into_iter().zip(arrays);
            pairs
                .map(|(leaf, array)| {
                    buffer(leaf.scalar, array.pointer.cast(), array.shape.iter().product())
                })
                .collect()
        }
    };
    Ok(lift_interp::Value::from_buffers(ty, buffers)?)
}

fn buffer(scalar: Scalar, start: *const u8, count: usize) -> Buffer {
    match scalar {
        // Memory may hold other bytes than 0 and 1.
        Scalar::Bool => {
            bool::buffer(copied::<u8>(start, count).into_iter().map(|b| b != 0).collect())
        }
        Scalar::I8 => i8::buffer(copied(start, count)),
        Scalar::I16 => i16::buffer(copied(start, count)),
        Scalar::I32 => i32::buffer(copied(start, count)),
        Scalar::I64 => i64::buffer(copied(start, count)),
        Scalar::U8 => u8::buffer(copied(start, count)),
        Scalar::U16 => u16::buffer(copied(start, count)),
        Scalar::U32 => u32::buffer(copied(start, count)),
        Scalar::U64 => u64::buffer(copied(start, count)),
        Scalar::F16 => f16::buffer(copied(start, count)),
        Scalar::F32 => f32::buffer(copied(start, count)),
        Scalar::F64 => f64::buffer(copied(start, count)),
    }
}

fn copied<T: Copy + Default>(start: *const u8, count: usize) -> Vec<T> {
    let mut all = vec![T::default(); count];
    // SAFETY: The array has so many elements of the type, which is one of plain numbers; numpy may write them meanwhile
    // in another thread, as it may in any of its own functions. A scalar's bytes need not be aligned.
    unsafe {
        std::ptr::copy_nonoverlapping(start, all.as_mut_ptr().cast(), count * size_of::<T>());
    }
    all
}

/// Copies a part of a result to an array that was made for it.
pub fn copy(part: &Buffer, to: &Given) {
    fn write<T: Copy>(from: &[T], to: &Given) {
        let count = from.len().min(to.shape.iter().product());
        // SAFETY: The array is new, of this type and shape, and nobody else knows it.
        unsafe { slice::from_raw_parts_mut(to.pointer.cast::<T>(), count) }
            .copy_from_slice(&from[..count]);
    }
    match part {
        Buffer::Bool(xs) => write(xs, to),
        Buffer::I8(xs) => write(xs, to),
        Buffer::I16(xs) => write(xs, to),
        Buffer::I32(xs) => write(xs, to),
        Buffer::I64(xs) => write(xs, to),
        Buffer::U8(xs) => write(xs, to),
        Buffer::U16(xs) => write(xs, to),
        Buffer::U32(xs) => write(xs, to),
        Buffer::U64(xs) => write(xs, to),
        Buffer::F16(xs) => write(xs, to),
        Buffer::F32(xs) => write(xs, to),
        Buffer::F64(xs) => write(xs, to),
    }
}
