//! The best candidate: its program, and the kernels it is compiled to.

use std::collections::BTreeMap;

use lift_execute::compile_text;
use lift_explore::key::canonical_size;
use lift_ir::Def;
use lift_lower::Options;
use lift_runtime::Language;
use lift_store::ProblemKey;
use serde::Serialize;

use crate::derivation::{Step, steps};

#[derive(Serialize)]
pub struct Winner {
    pub hash: String,
    pub text: String,
    pub parameters: String,
    pub global: String,
    pub local: String,
    pub steps: Vec<Step>,
    /// `OpenCL C`
    pub language: &'static str,
    pub kernels: Vec<Kernel>,
    /// Why there are no kernels.
    pub failure: Option<String>,
}

#[derive(Serialize)]
pub struct Kernel {
    pub name: String,
    pub text: String,
}

impl Winner {
    pub fn new(key: &ProblemKey, best: &lift_store::Best) -> Winner {
        let candidate = &best.candidate;
        let (kernels, failure) = match kernels(key, &candidate.text) {
            Ok(kernels) => (kernels, None),
            Err(why) => (Vec::new(), Some(why)),
        };
        Winner {
            hash: candidate.hash.clone(),
            text: candidate.text.clone(),
            parameters: candidate.parameters.replace(',', ", "),
            global: candidate.global.clone(),
            local: candidate.local.clone(),
            steps: steps(&candidate.derivation),
            language: language(key).map_or("", |(_, name)| name),
            kernels,
            failure,
        }
    }
}

fn language(key: &ProblemKey) -> Option<(Language, &'static str)> {
    match key.device.kind.as_str() {
        "cpu" => Some((Language::C, "C")),
        "opencl" => Some((Language::OpenCl, "OpenCL C")),
        "cuda" => Some((Language::Cuda, "CUDA C")),
        _ => None,
    }
}

fn kernels(key: &ProblemKey, text: &str) -> Result<Vec<Kernel>, String> {
    let kind = &key.device.kind;
    let (language, _) = language(key).ok_or(format!("there is no kind of devices `{kind}`"))?;
    let def = definition(text)?;
    let sizes = named_sizes(key, &def).into_iter();
    let sizes = sizes.map(|(name, value)| (name, i128::from(value))).collect();
    let options = Options { sizes, ..Options::default() };
    let (_, texts) = compile_text(&def, &options, language).map_err(|e| e.to_string())?;
    Ok(texts.into_iter().map(|kernel| Kernel { name: kernel.name, text: kernel.text }).collect())
}

pub fn definition(text: &str) -> Result<Def, String> {
    let checked = lift_syntax::check_text("stored program", text);
    if checked.has_errors() {
        let first = checked.diagnostics.first().map(|d| d.message.clone());
        return Err(format!("this `lift` does not read it: {}", first.unwrap_or_default()));
    }
    checked.program.entry().cloned().ok_or_else(|| "there is no definition".to_string())
}

/// The sizes under the names that the program has for them, where it can be read.
pub fn sizes(key: &ProblemKey, text: &str) -> Vec<(String, u64)> {
    match definition(text) {
        Ok(def) => named_sizes(key, &def),
        Err(_) => key.sizes.clone().into_iter().collect(),
    }
}

/// Keys have names that depend on positions alone; parameters follow the sizes.
pub fn named_sizes(key: &ProblemKey, def: &Def) -> Vec<(String, u64)> {
    let own = def.sizes.iter().chain(def.parameters.iter().map(|p| &p.var));
    let names: BTreeMap<String, &str> =
        own.enumerate().map(|(index, var)| (canonical_size(index), var.name())).collect();
    let named = |(name, value): (&String, &u64)| {
        (names.get(name).map_or(name.clone(), |own| own.to_string()), *value)
    };
    key.sizes.iter().map(named).collect()
}
