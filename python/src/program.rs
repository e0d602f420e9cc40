//! A program: definitions that can be called.

use std::path::PathBuf;
use std::sync::Arc;

use lift_syntax::{Checked, check_file, check_text_in};
use pyo3::exceptions::PyAttributeError;
use pyo3::prelude::*;

use crate::error::error;
use crate::function::Function;
use crate::html;
use crate::waiting::apart;

/// A checked program. Its definitions are attributes: `program.mm(a, b)`.
#[pyclass(frozen, module = "lift")]
pub struct Program {
    functions: Vec<Py<Function>>,
    name: String,
    /// The program's text.
    #[pyo3(get)]
    text: String,
}

/// Checks a program given as text. Files that it imports are looked for where Python runs.
///
/// Programs with `extern` functions, whose code is not checked, are refused unless `allow_extern` is true.
#[pyfunction]
#[pyo3(signature = (text, *, name = "program", allow_extern = false))]
pub fn program(py: Python<'_>, text: &str, name: &str, allow_extern: bool) -> PyResult<Program> {
    let (text, name) = (text.to_string(), name.to_string());
    let shown = name.clone();
    let checked = apart(py, move || check_text_in("".as_ref(), &name, &text))?;
    Program::new(py, checked, shown, allow_extern)
}

/// Reads and checks a program from a file.
///
/// Programs with `extern` functions, whose code is not checked, are refused unless `allow_extern` is true.
#[pyfunction]
#[pyo3(signature = (path, *, allow_extern = false))]
pub fn load(py: Python<'_>, path: PathBuf, allow_extern: bool) -> PyResult<Program> {
    let name = path.display().to_string();
    let checked = apart(py, move || check_file(&path))?.map_err(error)?;
    Program::new(py, checked, name, allow_extern)
}

impl Program {
    fn new(
        py: Python<'_>,
        checked: Checked,
        name: String,
        allow_extern: bool,
    ) -> PyResult<Program> {
        if checked.has_errors() {
            return Err(error(checked.render(false).trim_end()));
        }
        let text = checked.sources.text(0).to_string();
        let checked = Arc::new(checked);
        let functions: PyResult<Vec<Py<Function>>> = (0..checked.program.defs.len())
            .map(|index| Py::new(py, Function::new(Arc::clone(&checked), index, allow_extern)))
            .collect();
        Ok(Program { functions: functions?, name, text })
    }
}

#[pymethods]
impl Program {
    /// The definitions, in the order of the file.
    #[getter]
    fn functions(&self, py: Python<'_>) -> Vec<Py<Function>> {
        self.functions.iter().map(|function| function.clone_ref(py)).collect()
    }

    fn __getattr__(&self, py: Python<'_>, name: &str) -> PyResult<Py<Function>> {
        let found = self.functions.iter().find(|function| function.get().name() == name);
        let found = found.map(|function| function.clone_ref(py));
        found.ok_or_else(|| {
            let names: Vec<&str> = self.functions.iter().map(|f| f.get().name()).collect();
            let text =
                format!("{} has no definition `{name}`, only {}", self.name, names.join(", "));
            PyAttributeError::new_err(text)
        })
    }

    fn __getitem__(&self, py: Python<'_>, name: &str) -> PyResult<Py<Function>> {
        self.__getattr__(py, name)
    }

    fn __dir__(&self) -> Vec<String> {
        let own = ["functions", "text"].map(str::to_string);
        own.into_iter().chain(self.functions.iter().map(|f| f.get().name().to_string())).collect()
    }

    fn __repr__(&self) -> String {
        let signatures: Vec<String> =
            self.functions.iter().map(|f| format!("  {}", f.get().signature())).collect();
        format!("<lift program {}\n{}>", self.name, signatures.join("\n"))
    }

    fn _repr_html_(&self) -> String {
        format!("<pre>{}</pre>", html::escaped(&self.text))
    }
}
