//! Results on a GPU for libraries that take them over through DLPack, because they let nobody else write to arrays of theirs.

use std::ffi::c_void;
use std::sync::Arc;

use lift_ir::Scalar;
use pyo3::exceptions::PyTypeError;
use pyo3::ffi::{PyCapsule_GetPointer, PyCapsule_IsValid, PyCapsule_New, PyObject};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::dlpack::{CUDA, Tensor, TensorDevice, kind};
use crate::dtype;
use crate::error::error;
use crate::streams::{self, Memory};

/// An array in the memory of a GPU.
#[pyclass(frozen, module = "lift")]
pub struct DeviceArray {
    memory: Arc<Memory>,
    number: i32,
    shape: Vec<usize>,
    scalar: Scalar,
}

#[pymethods]
impl DeviceArray {
    #[new]
    fn new(py: Python<'_>, number: i32, shape: Vec<usize>, dtype: &str) -> PyResult<DeviceArray> {
        let scalar = dtype::named(dtype)
            .ok_or_else(|| PyTypeError::new_err(format!("`{dtype}` is no type of arrays")))?;
        let bytes = shape.iter().try_fold(scalar.bytes(), |all, length| all.checked_mul(*length));
        let bytes = bytes.ok_or_else(|| error("the result is larger than any memory"))?;
        let device = streams::device(py, number)?;
        let memory = py.detach(|| Memory::new(&device, bytes as u64));
        let memory = Arc::new(memory.map_err(|failed| error(failed.to_string()))?);
        Ok(DeviceArray { memory, number, shape, scalar })
    }

    /// Where it begins, as CUDA's driver counts.
    #[getter]
    fn address(&self) -> u64 {
        self.memory.address
    }

    fn __dlpack_device__(&self) -> (i32, i32) {
        (CUDA[0], self.number)
    }

    /// The array is done when it is given out, so that no stream has to wait for it.
    #[pyo3(signature = (**_more))]
    fn __dlpack__<'py>(
        &self,
        py: Python<'py>,
        _more: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let mut shape: Vec<i64> = self.shape.iter().map(|length| *length as i64).collect();
        let tensor = Tensor {
            data: self.memory.address as *mut c_void,
            device: TensorDevice { kind: CUDA[0], number: self.number },
            dimensions: shape.len() as i32,
            kind: kind(self.scalar),
            bits: 8 * self.scalar.bytes() as u8,
            lanes: 1,
            shape: shape.as_mut_ptr(),
            strides: std::ptr::null(),
            byte_offset: 0,
        };
        let (context, memory) = (std::ptr::null_mut(), Arc::clone(&self.memory));
        let given = Given { tensor, context, delete, _shape: shape, _memory: memory };
        let given = Box::into_raw(Box::new(given));
        // SAFETY: What is given out lives until whoever takes it calls `delete`, or the capsule ends unused.
        unsafe {
            let capsule = PyCapsule_New(given.cast(), c"dltensor".as_ptr(), Some(unused));
            if capsule.is_null() {
                delete(given);
            }
            Bound::from_owned_ptr_or_err(py, capsule)
        }
    }
}

/// `DLManagedTensor` of dlpack.h, and what it keeps.
#[repr(C)]
struct Given {
    tensor: Tensor,
    context: *mut c_void,
    delete: unsafe extern "C" fn(*mut Given),
    _shape: Vec<i64>,
    _memory: Arc<Memory>,
}

unsafe extern "C" fn delete(given: *mut Given) {
    // SAFETY: It was made by `Box::into_raw`, and is deleted once.
    drop(unsafe { Box::from_raw(given) });
}

/// Whoever takes what a capsule holds renames it.
unsafe extern "C" fn unused(capsule: *mut PyObject) {
    // SAFETY: It is a capsule that was made above.
    unsafe {
        if PyCapsule_IsValid(capsule, c"dltensor".as_ptr()) == 1 {
            delete(PyCapsule_GetPointer(capsule, c"dltensor".as_ptr()).cast());
        }
    }
}
