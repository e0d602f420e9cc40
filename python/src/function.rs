//! A definition that is called like a function of Python.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use lift::{Language, compile_text};
use lift_interp::{Sizes, concrete_type};
use lift_ir::{Type, Var};
use lift_syntax::Checked;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple};

use crate::arguments::{Words, bound, values};
use crate::arrays::structured;
use crate::definition::Definition;
use crate::error::error;
use crate::prediction::predicted;
use crate::remote;
use crate::shapes::{concrete, leaves, lengths};
use crate::tuning::{Tuned, tune};
use crate::waiting::apart;
use crate::{dtype, html};

/// A definition of a program. Called with arrays and numbers, it is compiled for their sizes, once, and run.
///
/// Arguments are given in order or by name. Sizes are read off the arrays; sizes that are in no array's shape, and
/// parameters of the definition, are given by name, and so is `device`: `cpu`, `opencl:0`, `cuda:0`, or `interp`.
#[pyclass(frozen, module = "lift")]
pub struct Function {
    of: Arc<Definition>,
}

impl Function {
    pub fn new(checked: Arc<Checked>, index: usize, allow_extern: bool) -> Function {
        Function { of: Arc::new(Definition::new(checked, index, allow_extern)) }
    }

    pub fn name(&self) -> &str {
        &self.of.def().name
    }

    pub fn signature(&self) -> String {
        lift_export::signature(self.of.def())
    }

    /// The sizes that example arrays have, or that are given by name.
    fn sizes_of(
        &self,
        positional: &Bound<'_, PyTuple>,
        named: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<(Sizes, Option<String>)> {
        let def = self.of.def();
        if !positional.is_empty() {
            let (objects, words) = bound(def, positional, named)?;
            let (values, origin) = values(def, objects)?;
            let sizes = self.of.sizes(&self.of.types(&values)?, &words.sizes).map_err(error)?;
            let here = origin.on.map(|on| format!("cuda:{}", on.number));
            return Ok((sizes, words.device.or(here)));
        }
        let mut words = Words::default();
        for (name, value) in named.into_iter().flatten() {
            words.take(def, &name.extract::<String>()?, &value)?;
        }
        let open: Vec<&str> = def.sizes.iter().map(Var::name).collect();
        if let Some(open) = open.iter().find(|name| words.sizes.get(name).is_none()) {
            return Err(error(format!(
                "the size `{open}` of `{}` is not known: give arrays, or `{open}=…`",
                def.name
            )));
        }
        Ok((words.sizes, words.device))
    }
}

#[pymethods]
impl Function {
    #[pyo3(signature = (*args, **kwargs))]
    fn __call__(
        &self,
        py: Python<'_>,
        args: &Bound<'_, PyTuple>,
        kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Py<PyAny>> {
        let def = self.of.def();
        self.of.permitted()?;
        let (objects, words) = bound(def, args, kwargs)?;
        let (values, origin) = values(def, objects)?;
        if let Some(on) = origin.on {
            let here = format!("cuda:{}", on.number);
            if let Some(device) = words.device.as_ref().filter(|device| **device != here) {
                return Err(error(format!(
                    "the arrays given to `{}` lie on `{here}`, not on `{device}`; move them first",
                    def.name
                )));
            }
            let arrays = self.of.queued(py, &values, words, &origin, on)?;
            return structured(py, &def.ret, &mut arrays.into_iter());
        }
        let arrays = match words.device.clone() {
            None => self.of.native(py, &values, words)?,
            Some(device) if device == "cpu" => self.of.native(py, &values, words)?,
            Some(device) => self.of.remote(py, &device, &values, words)?,
        };
        let result = structured(py, &def.ret, &mut arrays.into_iter())?;
        match origin.home {
            None => Ok(result),
            Some(home) => {
                static RETURNED: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
                let returned = RETURNED.import(py, "lift._arrays", "returned")?;
                Ok(returned.call1((result, home))?.unbind())
            }
        }
    }

    /// The kernels for a target, `c`, `opencl` or `cuda`, as text. Sizes given by name are fixed in them.
    #[pyo3(signature = (target, **sizes))]
    fn compile(
        &self,
        py: Python<'_>,
        target: &str,
        sizes: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<String> {
        let language = match target {
            "c" => Language::C,
            "opencl" => Language::OpenCl,
            "cuda" => Language::Cuda,
            _ => {
                return Err(error(format!(
                    "`{target}` is no target: `c`, `opencl` and `cuda` are"
                )));
            }
        };
        self.of.permitted()?;
        let mut words = Words::default();
        for (name, value) in sizes.into_iter().flatten() {
            words.take(self.of.def(), &name.extract::<String>()?, &value)?;
        }
        let (of, given) = (Arc::clone(&self.of), words.sizes);
        let texts = apart(py, move || {
            let sizes = given.iter().map(|(name, value)| (name.to_string(), value)).collect();
            let options = lift::Options { sizes, ..lift::Options::default() };
            let (_, texts) = compile_text(of.def(), &options, language)?;
            Ok(texts.into_iter().map(|text| text.text).collect::<Vec<String>>().join("\n"))
        })?;
        texts.map_err(|failed| error(self.of.diagnosed(failed)))
    }

    /// Looks for the fastest form for the sizes of these arrays, or sizes given by name, and keeps it: later calls use it.
    ///
    /// `time` is in seconds, everything included; `trials` is how many forms are measured at most. `progress` is called
    /// after each with how many were tried and the best time so far, in milliseconds. Ctrl-C ends it and keeps what was
    /// measured.
    #[pyo3(signature = (*args, time = None, trials = 100, progress = None, **kwargs))]
    fn tune(
        &self,
        py: Python<'_>,
        args: &Bound<'_, PyTuple>,
        time: Option<f64>,
        trials: usize,
        progress: Option<Py<PyAny>>,
        kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Tuned> {
        let (sizes, device) = self.sizes_of(args, kwargs)?;
        let time = match time {
            None => None,
            Some(seconds) => match Duration::try_from_secs_f64(seconds) {
                Ok(time) if !time.is_zero() => Some(time),
                _ => return Err(error("`time` is a positive number of seconds")),
            },
        };
        let device = device.unwrap_or_else(|| "cpu".to_string());
        let tuned = tune(py, &self.of, sizes, &device, time, trials, progress);
        self.of.forget();
        if device != "cpu" {
            remote::forget(py, &device, self.of.identity)?;
        }
        if let Ok(tuned) = &tuned {
            self.of.found(tuned.derivation.clone());
        }
        tuned
    }

    /// How long it would take for the sizes of these arrays, or sizes given by name, without running it: a dictionary of
    /// times in milliseconds.
    ///
    /// The device has been measured by `lift calibrate`, or `machine` is the file of a description.
    #[pyo3(signature = (*args, machine = None, **kwargs))]
    fn predict(
        &self,
        py: Python<'_>,
        args: &Bound<'_, PyTuple>,
        machine: Option<PathBuf>,
        kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Py<PyAny>> {
        let (sizes, device) = self.sizes_of(args, kwargs)?;
        let device = device.unwrap_or_else(|| "cpu".to_string());
        let of = Arc::clone(&self.of);
        let predicted = apart(py, move || predicted(&of, &sizes, machine, &device))?;
        let json = py.import("json")?;
        Ok(json.call_method1("loads", (predicted.map_err(error)?,))?.unbind())
    }

    /// What a call with arrays of these shapes returns: a shape and a type for each array of the result, in order. A
    /// parameter that is a tuple has several shapes, one that is a number has none.
    #[pyo3(signature = (shapes, **sizes))]
    fn result_types(
        &self,
        shapes: Vec<Vec<Vec<usize>>>,
        sizes: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Vec<(Vec<usize>, &'static str)>> {
        let def = self.of.def();
        let mut words = Words::default();
        for (name, value) in sizes.into_iter().flatten() {
            words.take(def, &name.extract::<String>()?, &value)?;
        }
        let mut types = Vec::new();
        for (param, shapes) in def.params.iter().zip(&shapes) {
            let shapes: Vec<&[usize]> = shapes.iter().map(Vec::as_slice).collect();
            let wanted = leaves(param.ty());
            let fits =
                wanted.iter().zip(&shapes).all(|(leaf, shape)| leaf.dimensions == shape.len());
            let ty = match param.ty() {
                Type::Scalar(scalar) => Some(Type::Scalar(*scalar)),
                ty if fits && wanted.len() == shapes.len() => concrete(ty, &shapes),
                _ => None,
            };
            types.push(ty.ok_or_else(|| {
                error(format!(
                    "the argument `{}` of `{}` is `{}`, which has other dimensions",
                    param.name(),
                    def.name,
                    param.ty()
                ))
            })?);
        }
        let sizes = self.of.sizes(&types, &words.sizes).map_err(error)?;
        let ret = concrete_type(&def.ret, &sizes);
        let ret = ret.map_err(|failed| error(self.of.diagnosed(failed.into())))?;
        let names = self.of.results.iter().map(|leaf| dtype::name(leaf.scalar));
        Ok(crate::shapes::shapes(&ret).into_iter().zip(names).collect())
    }

    /// For each parameter its name, and for each of its arrays the type and the lengths as the program writes them. A
    /// number is one without lengths.
    #[getter]
    fn parameters(&self) -> Vec<(String, Vec<Described>)> {
        let params = self.of.def().params.iter();
        params.map(|param| (param.name().to_string(), described(param.ty()))).collect()
    }

    /// For each array of the result the type and the lengths as the program writes them.
    #[getter]
    fn results(&self) -> Vec<Described> {
        described(&self.of.def().ret)
    }

    /// How the form that was found by tuning, or compiled for a call, last came about: the rules and the programs on the
    /// way. `None` where it is the program as it is written.
    #[getter]
    fn derivation(&self) -> Option<String> {
        self.of.derivation()
    }

    #[getter]
    fn __name__(&self) -> &str {
        self.name()
    }

    /// As the program writes it.
    #[getter(signature)]
    fn signature_text(&self) -> String {
        self.signature()
    }

    fn __repr__(&self) -> String {
        format!("<lift {}>", self.signature())
    }

    fn _repr_html_(&self) -> String {
        format!("<pre>{}</pre>", html::escaped(&self.signature()))
    }
}

/// The type of an array's elements, and the lengths of its dimensions.
type Described = (&'static str, Vec<String>);

fn described(ty: &Type) -> Vec<Described> {
    let arrays = lengths(ty).into_iter();
    arrays.map(|(scalar, lengths)| (dtype::name(scalar), lengths)).collect()
}
