//! Arrays of other libraries on a GPU, through DLPack: where they are and what they hold.

use std::ffi::c_void;

use lift_ir::Scalar;
use pyo3::ffi::{PyCapsule_GetPointer, PyErr_Clear};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::arrays::{Given, Place};
use crate::error::error;
use crate::shapes::Leaf;

/// Kernels load vectors of up to so many bytes at once.
const ALIGNMENT: usize = 16;

/// The numbers of DLPack for memory that CUDA's kernels reach: the device's, and what the driver moves.
pub const CUDA: [i32; 2] = [2, 13];

/// The array, if kernels on the device can read it as it is. The capsule keeps its memory.
pub fn fitting(capsule: &Bound<'_, PyAny>, leaf: &Leaf, number: i32) -> PyResult<Option<Given>> {
    let Some(tensor) = tensor(capsule) else {
        return Err(error("what `__dlpack__` returns is no capsule `dltensor`"));
    };
    if !CUDA.contains(&tensor.device.kind) || tensor.device.number != number {
        return Err(error(format!(
            "`__dlpack__` gives an array that is not on `cuda:{number}`, as `__dlpack_device__` says"
        )));
    }
    let is_type = tensor.kind == kind(leaf.scalar)
        && usize::from(tensor.bits) == 8 * leaf.scalar.bytes()
        && tensor.lanes == 1;
    let Some(shape) = tensor.row_by_row() else { return Ok(None) };
    let address = (tensor.data as usize).wrapping_add(tensor.byte_offset as usize);
    let is_empty = shape.contains(&0);
    if !is_type || shape.len() != leaf.dimensions || !address.is_multiple_of(ALIGNMENT) {
        return Ok(None);
    }
    if address == 0 && !is_empty {
        return Err(error("`__dlpack__` gives an array that has no address"));
    }
    let object = capsule.clone().unbind();
    Ok(Some(Given { object, pointer: address as *mut c_void, shape, place: Place::Cuda(number) }))
}

/// What a capsule holds, as `dlpack.h` has it.
#[repr(C)]
pub struct Tensor {
    pub data: *mut c_void,
    pub device: TensorDevice,
    pub dimensions: i32,
    pub kind: u8,
    pub bits: u8,
    pub lanes: u16,
    pub shape: *const i64,
    pub strides: *const i64,
    pub byte_offset: u64,
}

#[repr(C)]
pub struct TensorDevice {
    pub kind: i32,
    pub number: i32,
}

fn tensor<'a>(capsule: &'a Bound<'_, PyAny>) -> Option<&'a Tensor> {
    capsule.cast::<PyCapsule>().ok()?;
    // SAFETY: It is a capsule. One of this name holds a description that lives as long as it does.
    unsafe {
        let pointer = PyCapsule_GetPointer(capsule.as_ptr(), c"dltensor".as_ptr());
        if pointer.is_null() {
            PyErr_Clear();
        }
        pointer.cast::<Tensor>().as_ref()
    }
}

impl Tensor {
    /// Its shape, if its elements lie one after the other, the last dimension fastest.
    fn row_by_row(&self) -> Option<Vec<usize>> {
        let dimensions = usize::try_from(self.dimensions).ok()?;
        let mut shape = Vec::with_capacity(dimensions);
        for at in 0..dimensions {
            // SAFETY: The description has a length for each dimension.
            shape.push(usize::try_from(unsafe { *self.shape.add(at) }).ok()?);
        }
        if self.strides.is_null() {
            return Some(shape);
        }
        let mut expected = 1i64;
        for at in (0..dimensions).rev() {
            // SAFETY: Where there are strides, there is one for each dimension.
            let stride = unsafe { *self.strides.add(at) };
            if stride != expected && shape[at] > 1 {
                return None;
            }
            expected = expected.checked_mul(i64::try_from(shape[at]).ok()?)?;
        }
        Some(shape)
    }
}

/// What DLPack calls a kind of number.
pub fn kind(scalar: Scalar) -> u8 {
    match scalar {
        Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::I64 => 0,
        Scalar::U8 | Scalar::U16 | Scalar::U32 | Scalar::U64 => 1,
        Scalar::F16 | Scalar::F32 | Scalar::F64 => 2,
        Scalar::Bool => 6,
    }
}
