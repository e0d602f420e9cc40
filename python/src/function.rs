//! A definition that is called like a function of Python.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use lift::{Language, compile_text};
use lift_clock::Description;
use lift_interp::{Sizes, concrete_type, solve_sizes};
use lift_ir::{Def, Type, Var};
use lift_runtime::CArg;
use lift_syntax::Checked;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple};

use crate::arguments::{Value, Words, bound, values};
use crate::arrays::{Given, empty, structured};
use crate::error::{diagnosed, error};
use crate::native::Native;
use crate::remote::{self, INTERPRETER};
use crate::shapes::{Leaf, concrete, leaves, shapes};
use crate::tuning::{Tuned, tune};
use crate::waiting::apart;
use crate::{arrays, bytes, dtype};

/// A definition of a program. Called with arrays and numbers, it is compiled for their sizes, once, and run.
///
/// Arguments are given in order or by name. Sizes are read off the arrays; sizes that are in no array's shape, and
/// parameters of the definition, are given by name, and so is `device`: `cpu`, `opencl:0`, `cuda:0`, or `interp`.
#[pyclass(frozen, module = "lift")]
pub struct Function {
    of: Arc<Inner>,
}

pub struct Inner {
    checked: Arc<Checked>,
    index: usize,
    /// What it is known by to the threads of devices.
    pub identity: u64,
    results: Vec<Leaf>,
    allow_extern: bool,
    /// Compiled for `cpu`, by the lengths of all arrays and the sizes given.
    native: Mutex<HashMap<Key, Arc<Native>>>,
    /// Held while one is compiled, so that each is compiled once.
    compiling: Mutex<()>,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct Key {
    lengths: Vec<usize>,
    given: Vec<(String, i128)>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Inner {
    pub fn def(&self) -> &Def {
        &self.checked.program.defs[self.index]
    }

    pub fn diagnosed(&self, failed: lift::Error) -> String {
        diagnosed(failed, &self.checked.sources)
    }

    fn permitted(&self) -> PyResult<()> {
        match self.def().uses_extern() {
            Some(function) if !self.allow_extern => Err(error(format!(
                "`{}` uses the extern function `{function}`, whose code is not checked; where it is trusted, give \
                 `allow_extern=True`",
                self.def().name
            ))),
            _ => Ok(()),
        }
    }

    /// The sizes of a call, by what its arrays are.
    fn sizes(&self, types: &[Type], given: &Sizes) -> Result<Sizes, String> {
        solve_sizes(self.def(), types, given).map_err(|failed| self.diagnosed(failed.into()))
    }

    /// Compiles for `cpu`, unless another thread just did.
    fn compiled(&self, key: &Key, types: &[Type], given: &Sizes) -> Result<Arc<Native>, String> {
        let _alone = locked(&self.compiling);
        if let Some(native) = locked(&self.native).get(key) {
            return Ok(Arc::clone(native));
        }
        let sizes = self.sizes(types, given)?;
        let native = Native::new(self.def(), &sizes).map_err(|failed| self.diagnosed(failed))?;
        let native = Arc::new(native);
        locked(&self.native).insert(key.clone(), Arc::clone(&native));
        Ok(native)
    }

    pub fn forget(&self) {
        locked(&self.native).clear();
    }
}

impl Function {
    pub fn new(checked: Arc<Checked>, index: usize, allow_extern: bool) -> Function {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let results = leaves(&checked.program.defs[index].ret);
        let identity = NEXT.fetch_add(1, Ordering::Relaxed);
        let (native, compiling) = (Mutex::default(), Mutex::default());
        let inner = Inner { checked, index, identity, results, allow_extern, native, compiling };
        Function { of: Arc::new(inner) }
    }

    pub fn name(&self) -> &str {
        &self.of.def().name
    }

    pub fn signature(&self) -> String {
        lift_export::signature(self.of.def())
    }

    fn types(&self, values: &[Value]) -> PyResult<Vec<Type>> {
        let def = self.of.def();
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
    fn native(&self, py: Python<'_>, values: &[Value], words: Words) -> PyResult<Vec<Py<PyAny>>> {
        let mut lengths = Vec::new();
        for value in values {
            if let Value::Arrays(arrays) = value {
                arrays.iter().for_each(|array| lengths.extend_from_slice(&array.shape));
            }
        }
        let given = words.sizes.iter().map(|(name, value)| (name.to_string(), value)).collect();
        let key = Key { lengths, given };
        let known = locked(&self.of.native).get(&key).cloned();
        let native = match known {
            Some(native) => native,
            None => {
                let (of, types) = (Arc::clone(&self.of), self.types(values)?);
                apart(py, move || of.compiled(&key, &types, &words.sizes))?.map_err(error)?
            }
        };
        let results: PyResult<Vec<Given>> = self
            .of
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

    /// Runs on another device, on copies.
    fn remote(
        &self,
        py: Python<'_>,
        device: &str,
        given: &[Value],
        words: Words,
    ) -> PyResult<Vec<Py<PyAny>>> {
        let (types, mut args) = (self.types(given)?, Vec::new());
        for (value, ty) in given.iter().zip(&types) {
            let copied = bytes::value(value, ty).map_err(|e| error(self.of.diagnosed(e)))?;
            args.push(copied);
        }
        let of = Arc::clone(&self.of);
        let sizes = words.sizes;
        let result = if device == INTERPRETER {
            let sizes = sizes.clone();
            apart(py, move || lift_interp::run(of.def(), &args, &sizes))?.map_err(lift::Error::from)
        } else {
            let def = of.def().clone();
            let sizes = of.sizes(&types, &sizes).map_err(error)?;
            remote::run(py, device, of.identity, def, args, sizes)?
        };
        let result = result.map_err(|failed| error(self.of.diagnosed(failed)))?;
        let parts = result.buffers().map_err(|e| error(self.of.diagnosed(e.into())))?;
        let shapes = shapes(&result.ty());
        let results =
            self.of.results.iter().zip(&shapes).zip(&parts).map(|((leaf, shape), part)| {
                let array = arrays::empty(py, leaf, shape)?;
                bytes::copy(part, &array);
                Ok(array.object)
            });
        results.collect()
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
            let (values, _) = values(def, objects)?;
            let sizes = self.of.sizes(&self.types(&values)?, &words.sizes).map_err(error)?;
            return Ok((sizes, words.device));
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
        let (values, home) = values(def, objects)?;
        let arrays = match words.device.clone() {
            None => self.native(py, &values, words)?,
            Some(device) if device == "cpu" => self.native(py, &values, words)?,
            Some(device) => self.remote(py, &device, &values, words)?,
        };
        let result = structured(py, &def.ret, &mut arrays.into_iter())?;
        match home {
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
}

fn predicted(
    of: &Inner,
    sizes: &Sizes,
    machine: Option<PathBuf>,
    device: &str,
) -> Result<String, String> {
    let machine = match machine {
        Some(path) => Description::read(&path)?,
        None => {
            let opened = lift::open(device).map_err(|e| e.to_string())?;
            lift_cli::measured(opened.info())?.ok_or_else(|| {
                format!("`{device}` has not been measured yet; do so by `lift calibrate --device {device}`")
            })?
        }
    };
    let language = match machine.way.as_str() {
        "opencl" => Language::OpenCl,
        "cuda" => Language::Cuda,
        _ => Language::C,
    };
    let by_name: std::collections::BTreeMap<String, i128> =
        sizes.iter().map(|(name, value)| (name.to_string(), value)).collect();
    let options = lift::Options { sizes: by_name.clone(), ..lift::Options::default() };
    let plan = lift_clock::plan(of.def(), &options, language, &machine);
    let plan = plan.map_err(|failed| of.diagnosed(failed))?;
    Ok(lift_clock::predict(&plan, &by_name, &machine)?.to_json().to_string())
}
