//! What a call is given: arrays and numbers for parameters, sizes by name, a device.

use half::f16;
use lift::Placed;
use lift_interp::Sizes;
use lift_ir::{Def, Scalar, Type};
use lift_runtime::CArg;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple};

use crate::arrays::{Given, Place, fitting};
use crate::error::error;
use crate::shapes::{Leaf, concrete, leaves};
use crate::streams::On;
use crate::{dlpack, dtype};

/// The words of a call that are no parameters.
#[derive(Default)]
pub struct Words {
    pub sizes: Sizes,
    pub device: Option<String>,
}

/// One parameter's value.
pub enum Value {
    /// By value, in the host's byte order.
    Scalar(Scalar, [u8; 8]),
    Arrays(Vec<Given>),
}

impl Value {
    /// Its type with the lengths that it has.
    pub fn ty(&self, wanted: &Type) -> Option<Type> {
        match self {
            Value::Scalar(scalar, _) => Some(Type::Scalar(*scalar)),
            Value::Arrays(arrays) => {
                let shapes: Vec<&[usize]> = arrays.iter().map(|a| a.shape.as_slice()).collect();
                concrete(wanted, &shapes)
            }
        }
    }

    pub fn push_to(&self, args: &mut Vec<CArg>) {
        match self {
            Value::Scalar(_, bits) => args.push(CArg::Bits(*bits)),
            Value::Arrays(arrays) => args.extend(arrays.iter().map(|a| CArg::Pointer(a.pointer))),
        }
    }

    pub fn placed(&self) -> Placed {
        match self {
            Value::Scalar(scalar, bits) => Placed::Scalar(bits[..scalar.bytes()].to_vec()),
            Value::Arrays(arrays) => {
                Placed::Arrays(arrays.iter().map(|array| array.pointer as u64).collect())
            }
        }
    }
}

/// Puts what a call gives in the order of the parameters. Words that name a size or parameter of the definition are that.
pub fn bound<'py>(
    def: &Def,
    positional: &Bound<'py, PyTuple>,
    named: Option<&Bound<'py, PyDict>>,
) -> PyResult<(Vec<Bound<'py, PyAny>>, Words)> {
    let count = def.params.len();
    if positional.len() > count {
        let plural = if count == 1 { "" } else { "s" };
        let found = positional.len();
        return Err(error(format!("`{}` takes {count} argument{plural}, found {found}", def.name)));
    }
    let mut values: Vec<Option<Bound<'py, PyAny>>> = positional.iter().map(Some).collect();
    values.resize(count, None);
    let mut words = Words::default();
    for (name, value) in named.into_iter().flatten() {
        let name: String = name.extract()?;
        if let Some(index) = def.params.iter().position(|p| p.name() == name) {
            let slot = &mut values[index];
            if slot.is_some() {
                return Err(error(format!(
                    "the argument `{name}` of `{}` is given twice",
                    def.name
                )));
            }
            *slot = Some(value);
        } else {
            words.take(def, &name, &value)?;
        }
    }
    let missing: Vec<String> = def
        .params
        .iter()
        .zip(&values)
        .filter(|(_, v)| v.is_none())
        .map(|(p, _)| format!("`{}: {}`", p.name(), p.ty()))
        .collect();
    if !missing.is_empty() {
        return Err(error(format!("`{}` is not given {}", def.name, missing.join(", "))));
    }
    Ok((values.into_iter().flatten().collect(), words))
}

impl Words {
    /// A size, a parameter of the definition, or the device.
    pub fn take(&mut self, def: &Def, name: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let known = def.sizes.iter().chain(def.parameters.iter().map(|p| &p.var));
        if known.into_iter().any(|var| var.name() == name) {
            let number = value.extract::<i64>().map_err(|_| {
                error(format!("the size `{name}` of `{}` is a whole number, not {value}", def.name))
            })?;
            self.sizes.set(name, number.into());
            return Ok(());
        }
        if name != "device" {
            return Err(error(format!("`{}` has no argument and no size `{name}`", def.name)));
        }
        self.device = value.extract()?;
        Ok(())
    }
}

/// Where the arrays of a call come from, where they are not numpy's alone.
#[derive(Default)]
pub struct Origin<'py> {
    /// An object of another library, whose arrays the results should be too.
    pub home: Option<Bound<'py, PyAny>>,
    /// Where all arrays lie, if not in the memory of the host.
    pub on: Option<On>,
    /// Arrays on the GPU come from several libraries, which do not know of each other's work.
    pub is_mixed: bool,
}

/// A call's values, and where they come from.
pub fn values<'py>(
    def: &Def,
    objects: Vec<Bound<'py, PyAny>>,
) -> PyResult<(Vec<Value>, Origin<'py>)> {
    let (mut all, mut origin) = (Vec::with_capacity(objects.len()), Origin::default());
    // The first array decides where all of them are.
    let mut first: Option<(&str, Place)> = None;
    for (param, object) in def.params.iter().zip(objects) {
        if let Type::Scalar(scalar) = param.ty() {
            let bits = number(*scalar, &object).map_err(|_| {
                let (name, wanted) = (param.name(), dtype::name(*scalar));
                let found = object.repr().map_or(String::new(), |text| text.to_string());
                error(format!(
                    "the argument `{name}` of `{}` is one number, a {wanted}, not {found}",
                    def.name
                ))
            })?;
            all.push(Value::Scalar(*scalar, bits));
            continue;
        }
        let wanted = leaves(param.ty());
        let parts = parts(param.ty(), &object, &wanted, param.name(), def)?;
        let mut arrays = Vec::with_capacity(wanted.len());
        for (leaf, part) in wanted.iter().zip(parts) {
            let of = Argument { leaf, name: param.name(), ty: param.ty(), def };
            let given = match fitting(&part, leaf) {
                Some(given) => given,
                None => match of.handed(&part, &mut origin)? {
                    Some((number, capsule)) => of.on_device(&part, number, capsule, &mut origin)?,
                    None => of.on_host(part, &mut origin)?,
                },
            };
            let (other, place) = *first.get_or_insert((param.name(), given.place));
            if place != given.place {
                return Err(error(format!(
                    "the argument `{}` of `{}` lies {}, but `{other}` {}; move one to where the other is",
                    param.name(),
                    def.name,
                    where_is(given.place),
                    where_is(place)
                )));
            }
            arrays.push(given);
        }
        all.push(Value::Arrays(arrays));
    }
    Ok((all, origin))
}

fn where_is(place: Place) -> String {
    match place {
        Place::Host => "in the memory of the host".to_string(),
        Place::Cuda(number) => format!("on `cuda:{number}`"),
    }
}

/// What stands for each array of a value: the object itself, or the parts of a tuple.
fn parts<'py>(
    ty: &Type,
    object: &Bound<'py, PyAny>,
    wanted: &[Leaf],
    name: &str,
    def: &Def,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    if wanted.len() == 1 {
        return Ok(vec![object.clone()]);
    }
    fn flat<'py>(object: &Bound<'py, PyAny>, out: &mut Vec<Bound<'py, PyAny>>) -> PyResult<()> {
        match object.cast::<PyTuple>() {
            Ok(tuple) => tuple.iter().try_for_each(|part| flat(&part, out)),
            Err(_) => {
                out.push(object.clone());
                Ok(())
            }
        }
    }
    let mut parts = Vec::new();
    flat(object, &mut parts)?;
    if parts.len() != wanted.len() {
        return Err(error(format!(
            "the argument `{name}` of `{}` is a tuple of {} arrays, for `{ty}`, not of {}",
            def.name,
            wanted.len(),
            parts.len()
        )));
    }
    Ok(parts)
}

/// One array of a parameter.
struct Argument<'a> {
    leaf: &'a Leaf,
    name: &'a str,
    ty: &'a Type,
    def: &'a Def,
}

impl Argument<'_> {
    /// An array of numpy that fits, made from what is given where users expect it.
    fn on_host<'py>(&self, object: Bound<'py, PyAny>, origin: &mut Origin<'py>) -> PyResult<Given> {
        static PREPARED: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        let prepared = PREPARED.import(object.py(), "lift._arrays", "prepared")?;
        let (array, is_foreign): (Bound<'_, PyAny>, bool) =
            prepared.call1(self.described(&object))?.extract()?;
        if is_foreign {
            origin.home.get_or_insert(object);
        }
        let given = fitting(&array, self.leaf);
        given.ok_or_else(|| error("numpy made no array of what it was given"))
    }

    /// The number of the GPU that an array lies on, and the capsule in which its library hands it over; nothing where it
    /// lies on none.
    fn handed<'py>(
        &self,
        object: &Bound<'py, PyAny>,
        origin: &mut Origin<'py>,
    ) -> PyResult<Option<(i32, Bound<'py, PyAny>)>> {
        static HANDED: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        static STREAM: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        let py = object.py();
        let home = origin.on.and(origin.home.as_ref());
        let handed = HANDED.import(py, "lift._devices", "handed")?;
        let handed = handed.call1((object, home, origin.on.map(|on| on.stream)))?;
        let Some((number, capsule, is_home)) =
            handed.extract::<Option<(i32, Bound<'py, PyAny>, bool)>>()?
        else {
            return Ok(None);
        };
        origin.is_mixed |= !is_home;
        if origin.on.is_none() {
            let stream = STREAM.import(py, "lift._devices", "stream")?.call1((object, number))?;
            let (stream, is_shown) = stream.extract()?;
            origin.on = Some(On { number, stream, is_shown });
            origin.home = Some(object.clone());
        }
        Ok(Some((number, capsule)))
    }

    /// An array on a GPU, copied there by its library where it does not fit.
    fn on_device<'py>(
        &self,
        object: &Bound<'py, PyAny>,
        number: i32,
        capsule: Bound<'py, PyAny>,
        origin: &mut Origin<'py>,
    ) -> PyResult<Given> {
        static COPIED: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        if let Some(given) = dlpack::fitting(&capsule, self.leaf, number)? {
            return Ok(given);
        }
        let copied = COPIED.import(object.py(), "lift._devices", "copied")?;
        let copied = copied.call1(self.described(object))?;
        let given = match self.handed(&copied, origin)? {
            Some((number, capsule)) => dlpack::fitting(&capsule, self.leaf, number)?,
            None => None,
        };
        given.ok_or_else(|| error("the array's library made no array of what it was given"))
    }

    fn described<'a, 'py>(
        &'a self,
        object: &'a Bound<'py, PyAny>,
    ) -> (&'a Bound<'py, PyAny>, &'static str, usize, &'a str, String, &'a str) {
        let Argument { leaf, name, ty, def } = self;
        (object, dtype::name(leaf.scalar), leaf.dimensions, name, ty.to_string(), &def.name)
    }
}

/// A number as the bytes that a kernel takes.
fn number(scalar: Scalar, object: &Bound<'_, PyAny>) -> PyResult<[u8; 8]> {
    fn put<const N: usize>(bytes: [u8; N]) -> [u8; 8] {
        let mut bits = [0; 8];
        bits[..N].copy_from_slice(&bytes);
        bits
    }
    Ok(match scalar {
        Scalar::Bool => put([u8::from(object.extract::<bool>()?)]),
        Scalar::I8 => put(object.extract::<i8>()?.to_ne_bytes()),
        Scalar::I16 => put(object.extract::<i16>()?.to_ne_bytes()),
        Scalar::I32 => put(object.extract::<i32>()?.to_ne_bytes()),
        Scalar::I64 => put(object.extract::<i64>()?.to_ne_bytes()),
        Scalar::U8 => put(object.extract::<u8>()?.to_ne_bytes()),
        Scalar::U16 => put(object.extract::<u16>()?.to_ne_bytes()),
        Scalar::U32 => put(object.extract::<u32>()?.to_ne_bytes()),
        Scalar::U64 => put(object.extract::<u64>()?.to_ne_bytes()),
        Scalar::F16 => put(f16::from_f64(object.extract::<f64>()?).to_ne_bytes()),
        Scalar::F32 => put((object.extract::<f64>()? as f32).to_ne_bytes()),
        Scalar::F64 => put(object.extract::<f64>()?.to_ne_bytes()),
    })
}
