//! Lift for Python: programs are compiled, tuned and called on arrays.
//!
//! On `cpu` a program is one function in C, as `lift export` makes it, that works on the memory of numpy's arrays. Arrays
//! on a GPU are worked on where they are too; to other devices arrays are copied and back. What Python sees besides is in the folder `lift`.

mod arguments;
mod arrays;
mod bytes;
mod calls;
mod definition;
mod dlpack;
mod dtype;
mod error;
mod function;
mod html;
mod native;
mod prediction;
mod program;
mod remote;
mod results;
mod shapes;
mod streams;
mod tuning;
mod waiting;

use std::ffi::OsString;

use pyo3::prelude::*;

#[pymodule]
fn _lift(module: &Bound<'_, PyModule>) -> PyResult<()> {
    lift_runtime::wait_briefly();
    module.add("Error", module.py().get_type::<error::Error>())?;
    module.add_class::<program::Program>()?;
    module.add_class::<function::Function>()?;
    module.add_class::<tuning::Tuned>()?;
    module.add_class::<remote::DeviceInfo>()?;
    module.add_class::<results::DeviceArray>()?;
    module.add_function(wrap_pyfunction!(program::program, module)?)?;
    module.add_function(wrap_pyfunction!(program::load, module)?)?;
    module.add_function(wrap_pyfunction!(remote::devices, module)?)?;
    module.add_function(wrap_pyfunction!(command, module)?)?;
    Ok(())
}

/// Does what the command `lift` does with these arguments, the first of which is its name.
#[pyfunction]
fn command(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| lift_cli::command(arguments))
}
