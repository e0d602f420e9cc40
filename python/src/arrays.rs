//! Arrays of numpy as memory that kernels read and write.

use std::ffi::c_void;

use lift_ir::Type;
use numpy::{PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyTuple;

use crate::dtype;
use crate::shapes::Leaf;

/// An array as a kernel sees it: row by row, aligned, of the type wanted. The object keeps the memory.
pub struct Given {
    pub object: Py<PyAny>,
    pub pointer: *mut c_void,
    pub shape: Vec<usize>,
    pub place: Place,
}

/// Whose memory an array lies in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    Host,
    /// The GPU of this number.
    Cuda(i32),
}

// SAFETY: The memory belongs to the object, which is held; kernels only read it.
unsafe impl Send for Given {}
unsafe impl Sync for Given {}

/// The array, if it needs no copy to be read by a kernel.
pub fn fitting(object: &Bound<'_, PyAny>, leaf: &Leaf) -> Option<Given> {
    let array = object.cast::<PyUntypedArray>().ok()?;
    let found = array.dtype();
    let is_type = found.kind() == dtype::kind(leaf.scalar)
        && found.itemsize() == leaf.scalar.bytes()
        && found.is_native_byteorder() != Some(false);
    if !is_type || array.ndim() != leaf.dimensions || !array.is_c_contiguous() {
        return None;
    }
    // SAFETY: The pointer is to the array's own description, which lives as long as the array.
    let pointer = unsafe { (*array.as_array_ptr()).fields.data }.cast::<c_void>();
    if !(pointer as usize).is_multiple_of(leaf.scalar.bytes()) {
        return None;
    }
    let shape = array.shape().to_vec();
    Some(Given { object: object.clone().unbind(), pointer, shape, place: Place::Host })
}

/// An array to write to.
pub fn empty(py: Python<'_>, leaf: &Leaf, shape: &[usize]) -> PyResult<Given> {
    static EMPTY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let shape_of = PyTuple::new(py, shape)?;
    let array = EMPTY.import(py, "numpy", "empty")?.call1((shape_of, dtype::name(leaf.scalar)))?;
    let made = fitting(&array, leaf);
    made.ok_or_else(|| crate::error::error("numpy made an array that is not what was asked for"))
}

/// The arrays of a value as its type says: tuples of arrays, numbers where there are no dimensions.
pub fn structured(
    py: Python<'_>,
    ty: &Type,
    arrays: &mut impl Iterator<Item = Py<PyAny>>,
) -> PyResult<Py<PyAny>> {
    fn tuples(ty: &Type) -> Option<&[Type]> {
        match ty {
            Type::Tuple(components) => Some(components),
            Type::Array(element, _) => tuples(element),
            Type::Scalar(_) | Type::Vector(..) => None,
        }
    }
    if let Some(components) = tuples(ty) {
        let parts: PyResult<Vec<Py<PyAny>>> =
            components.iter().map(|component| structured(py, component, arrays)).collect();
        return Ok(PyTuple::new(py, parts?)?.into_any().unbind());
    }
    let array = arrays.next().ok_or_else(|| crate::error::error("a result lacks a part"))?;
    match ty {
        // Inside of an array of tuples a scalar is an array: it has dimensions.
        Type::Scalar(_) => {
            let array = array.bind(py);
            let is_number = array.cast::<PyUntypedArray>().is_ok_and(|a| a.ndim() == 0);
            match is_number {
                true => Ok(array.get_item(PyTuple::empty(py))?.unbind()),
                false => Ok(array.clone().unbind()),
            }
        }
        _ => Ok(array),
    }
}
