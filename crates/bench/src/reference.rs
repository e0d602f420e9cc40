//! Inputs of programs, and whether their results are right, by `reference.py`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use lift_interp::{ScalarValue, Sizes, Value, concrete_type, npy};
use lift_ir::{Def, Literal, Type};
use serde_json::json;

use crate::script::Script;
use crate::suite::Point;

/// To make inputs, or to compute a result in double precision.
const LIMIT: Duration = Duration::from_secs(600);

pub struct Reference {
    python: PathBuf,
    file: PathBuf,
    seed: u64,
    gpu: bool,
    /// Started when it is first asked, and anew when it ended.
    script: Option<Script>,
}

/// What a program is given, in the order of its parameters, and where its result may be written.
pub struct Given {
    pub values: Vec<Value>,
    folder: PathBuf,
}

impl Reference {
    pub fn new(python: &Path, bench: &Path, seed: u64, gpu: bool) -> Reference {
        let (python, file) = (python.to_path_buf(), bench.join("reference.py"));
        Reference { python, file, seed, gpu, script: None }
    }

    /// Makes the inputs of a problem for a program that solves it.
    pub fn inputs(
        &mut self,
        problem: &str,
        def: &Def,
        point: &Point,
        sizes: &Sizes,
    ) -> Result<Given, String> {
        let mut params = Vec::new();
        for param in &def.params {
            let ty = concrete_type(param.ty(), sizes).map_err(|e| e.message)?;
            params.push(json!({ "name": param.name(), "extents": extents(&ty) }));
        }
        let answer = self.ask(json!({
            "ask": "inputs",
            "problem": problem,
            "sizes": point.sizes,
            "seed": self.seed,
            "gpu": self.gpu,
            "params": params,
        }))?;
        let given = |param: &lift_ir::Param| {
            let text = answer["arguments"][param.name()].as_str();
            let text = text.ok_or_else(|| format!("it gave nothing for `{}`", param.name()))?;
            value(text, param.ty())
        };
        let values = def.params.iter().map(given).collect::<Result<Vec<Value>, String>>()?;
        let folder = PathBuf::from(answer["folder"].as_str().unwrap_or_default());
        Ok(Given { values, folder })
    }

    /// How far a result is from that in double precision, and how far it may be.
    pub fn error(&mut self, given: &Given, result: &Value) -> Result<(f64, f64), String> {
        let name = if has_tuples(&result.ty()) { "result.npz" } else { "result.npy" };
        let path = given.folder.join(name);
        npy::write(&path, result)?;
        let answer = self.ask(json!({ "ask": "error", "result": path.display().to_string() }))?;
        let tolerance = answer["tolerance"].as_f64().ok_or("it told no tolerance")?;
        // What is no number is infinite.
        Ok((answer["error"].as_f64().unwrap_or(f64::INFINITY), tolerance))
    }

    fn ask(&mut self, question: serde_json::Value) -> Result<serde_json::Value, String> {
        let told = |why: String| format!("reference.py: {why}");
        let mut script = match self.script.take() {
            Some(script) => script,
            None => Script::start(&self.python, &self.file)?,
        };
        let answer = script.ask(&question, LIMIT).map_err(told)?;
        self.script = Some(script);
        match answer["failed"].as_str() {
            Some(why) => Err(told(why.to_string())),
            None => Ok(answer),
        }
    }
}

/// What a text stands for: a file of an array, or a number.
fn value(text: &str, ty: &Type) -> Result<Value, String> {
    let path = Path::new(text);
    if path.extension().is_some_and(|e| e == "npy" || e == "npz") {
        return Ok(npy::coerce(npy::read(path)?, ty));
    }
    let number = match ty {
        Type::Scalar(scalar) if scalar.is_float() => Literal::parse_float(*scalar, text),
        Type::Scalar(scalar) => text.parse().ok().and_then(|n| Literal::int(*scalar, n)),
        Type::Vector(..) | Type::Tuple(_) | Type::Array(..) => None,
    };
    let number = number.ok_or_else(|| format!("`{text}` is not a value of `{ty}`"))?;
    Ok(Value::Scalar(ScalarValue::from(number)))
}

/// The lengths of an array, outermost first.
fn extents(ty: &Type) -> Vec<i64> {
    let (mut ty, mut extents) = (ty, Vec::new());
    while let Type::Array(element, length) = ty {
        extents.extend(length.as_int().and_then(|n| i64::try_from(n).ok()));
        ty = element;
    }
    extents
}

fn has_tuples(ty: &Type) -> bool {
    match ty {
        Type::Tuple(_) => true,
        Type::Array(element, _) => has_tuples(element),
        Type::Scalar(_) | Type::Vector(..) => false,
    }
}
