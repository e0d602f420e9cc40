//! Calls: on numpy's arrays, on arrays of other libraries where they are on a GPU, and on copies for other devices.

use std::sync::Arc;

use lift::Placed;
use lift_ir::Type;
use lift_runtime::CArg;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyTuple;

use crate::arguments::{Origin, Value, Words};
use crate::arrays::{Given, empty};
use crate::definition::{Definition, Key};
use crate::error::error;
use crate::native::Native;
use crate::remote::{self, INTERPRETER};
use crate::shapes::shapes;
use crate::streams::{self, On};
use crate::waiting::apart;
use crate::{bytes, dtype};

impl Definition {
    pub fn types(&self, values: &[Value]) -> PyResult<Vec<Type>> {
        let def = self.def();
        let pairs = def.params.iter().zip(values);
        let types = pairs.map(|(param, value)| {
            value.ty(param.ty()).ok_or_else(|| {
                error(format!(
                    "the arrays of the argument `{}` of `{}` differ in length, but together are one `{}`",
                    param.name(),
                    def.name,
                    param.ty()
                ))
            })
        });
        types.collect()
    }

    /// Runs on `cpu`, on the arrays themselves.
    pub fn native(
        self: &Arc<Self>,
        py: Python<'_>,
        values: &[Value],
        words: Words,
    ) -> PyResult<Vec<Py<PyAny>>> {
        let key = Key::of(values, &words.sizes);
        let known = self.known(&key);
        let native = match known {
            Some(native) => native,
            None => {
                let (of, types) = (Arc::clone(self), self.types(values)?);
                apart(py, move || of.compiled(&key, &types, &words.sizes))?.map_err(error)?
            }
        };
        let results: PyResult<Vec<Given>> = self
            .results
            .iter()
            .zip(&native.shapes)
            .map(|(leaf, shape)| empty(py, leaf, shape))
            .collect();
        let results = results?;
        let mut args = Vec::with_capacity(values.len() + results.len());
        values.iter().for_each(|value| value.push_to(&mut args));
        args.extend(results.iter().map(|result| CArg::Pointer(result.pointer)));
        let call = Call { native: &native, args: &args };
        py.detach(move || call.run()).map_err(error)?;
        Ok(results.into_iter().map(|result| result.object).collect())
    }

    /// Runs on the GPU that the arrays lie on, in the order of their library's stream.
    pub fn queued(
        self: &Arc<Self>,
        py: Python<'_>,
        values: &[Value],
        words: Words,
        origin: &Origin<'_>,
        on: On,
    ) -> PyResult<Vec<Py<PyAny>>> {
        static EMPTY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        let device = streams::device(py, on.number)?;
        let key = (on.number, Key::of(values, &words.sizes));
        let known = self.known_on(&key);
        let ready = match known {
            Some(ready) => ready,
            None => {
                let (of, types) = (Arc::clone(self), self.types(values)?);
                let device = Arc::clone(&device);
                apart(py, move || of.ready(&device, &key, &types, &words.sizes))?.map_err(error)?
            }
        };
        let empty = EMPTY.import(py, "lift._devices", "empty")?;
        let (mut results, mut addresses) = (Vec::new(), Vec::new());
        for (leaf, shape) in self.results.iter().zip(&ready.shapes) {
            let made =
                empty.call1((&origin.home, PyTuple::new(py, shape)?, dtype::name(leaf.scalar)))?;
            let (array, address): (Py<PyAny>, u64) = made.extract()?;
            results.push(array);
            addresses.push(address);
        }
        // What others do with memory that is dropped is not in the order of this stream.
        let waits = origin.is_mixed || !on.is_shown;
        let args: Vec<Placed> = values.iter().map(Value::placed).collect();
        // SAFETY: The arrays are of the types and lengths that the program was compiled for: `dlpack::fitting` and
        // `Key`. Their library keeps the memory of those that are dropped until what is in its stream is done.
        let ran = py.detach(|| unsafe { device.run(&ready, &args, &addresses, on.stream, waits) });
        ran.map_err(|failed| error(self.diagnosed(failed)))?;
        if on.is_shown {
            return Ok(results);
        }
        static TAKEN: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        let taken = TAKEN.import(py, "lift._devices", "taken")?;
        results.into_iter().map(|array| Ok(taken.call1((&origin.home, array))?.unbind())).collect()
    }

    /// Runs on another device, on copies.
    pub fn remote(
        self: &Arc<Self>,
        py: Python<'_>,
        device: &str,
        given: &[Value],
        words: Words,
    ) -> PyResult<Vec<Py<PyAny>>> {
        let (types, mut args) = (self.types(given)?, Vec::new());
        for (value, ty) in given.iter().zip(&types) {
            let copied = bytes::value(value, ty).map_err(|e| error(self.diagnosed(e)))?;
            args.push(copied);
        }
        let of = Arc::clone(self);
        let sizes = words.sizes;
        let result = if device == INTERPRETER {
            let sizes = sizes.clone();
            apart(py, move || lift_interp::run(of.def(), &args, &sizes))?.map_err(lift::Error::from)
        } else {
            let sizes = of.sizes(&types, &sizes).map_err(error)?;
            remote::run(py, device, of, args, sizes)?
        };
        let result = result.map_err(|failed| error(self.diagnosed(failed)))?;
        let parts = result.buffers().map_err(|e| error(self.diagnosed(e.into())))?;
        let shapes = shapes(&result.ty());
        let results = self.results.iter().zip(&shapes).zip(&parts).map(|((leaf, shape), part)| {
            let array = empty(py, leaf, shape)?;
            bytes::copy(part, &array);
            Ok(array.object)
        });
        results.collect()
    }
}

/// A call that is ready, for the time without Python.
struct Call<'a> {
    native: &'a Native,
    args: &'a [CArg],
}

// SAFETY: The arrays behind the pointers are held by the thread that waits for the call.
unsafe impl Send for Call<'_> {}

impl Call<'_> {
    fn run(&self) -> Result<(), String> {
        // SAFETY: The arrays are of the types and lengths that the program was compiled for: `values` and `Key`.
        unsafe { self.native.call(self.args) }
    }
}
