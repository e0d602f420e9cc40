//! Suites of benchmarks: files that say which programs solve which problems at which sizes.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use lift_ir::Nat;
use lift_syntax::diagnostic::Diagnostic;
use lift_syntax::suggest::did_you_mean;
use serde_json::{Map, Value};

/// The word for every suite.
pub const ALL: &str = "all";

pub struct Suite {
    pub name: String,
    pub about: String,
    pub problems: Vec<Problem>,
}

/// What is computed, by which programs, and what to compare with.
pub struct Problem {
    /// As the scripts of the peers know it.
    pub name: String,
    pub programs: Vec<Program>,
    pub sizes: Vec<Point>,
    pub quick: Point,
    /// Operations that count, where memory is not the bound.
    pub flops: Option<Nat>,
    pub peers: Peers,
}

#[derive(Clone)]
pub struct Program {
    pub file: PathBuf,
    pub entry: Option<String>,
}

/// Sizes, and what the original's kernels took at them on the device they were measured on.
#[derive(Clone)]
pub struct Point {
    pub sizes: BTreeMap<String, u64>,
    pub original_ms: Option<f64>,
}

/// By the kind of device.
pub struct Peers {
    pub cpu: Vec<String>,
    pub gpu: Vec<String>,
}

impl Program {
    /// The definition, or else the file.
    pub fn name(&self) -> String {
        let of_file = || self.file.file_stem().map(|s| s.to_string_lossy().into_owned());
        self.entry.clone().or_else(of_file).unwrap_or_default()
    }
}

impl Point {
    /// `K=512,M=512,N=512`, sorted by name.
    pub fn text(&self) -> String {
        let parts: Vec<String> = self.sizes.iter().map(|(n, size)| format!("{n}={size}")).collect();
        parts.join(",")
    }

    /// `512³` where all are the same, else as [`Point::text`].
    pub fn label(&self) -> String {
        let mut values = self.sizes.values();
        match (values.next(), self.sizes.len()) {
            (Some(first), 2 | 3) if values.all(|v| v == first) => {
                format!("{first}{}", if self.sizes.len() == 2 { '²' } else { '³' })
            }
            _ => self.text(),
        }
    }
}

/// The folder of benchmarks: the one that is named, or `bench` here.
pub fn folder(given: Option<&Path>) -> Result<PathBuf, Diagnostic> {
    let folder = given.unwrap_or(Path::new("bench"));
    if folder.join("suites").is_dir() {
        return Ok(folder.to_path_buf());
    }
    let text = format!("there are no benchmarks in `{}`", folder.display());
    let note = "a folder of benchmarks has `suites`, `peers` and `reference.py`";
    let help = "run this in the folder of Lift's sources, or name its `bench` by `--bench-dir`";
    Err(Diagnostic::error(text).note(note).help(help))
}

/// Every suite of a folder, in order of their names.
pub fn read_all(folder: &Path) -> Result<Vec<Suite>, Diagnostic> {
    let place = folder.join("suites");
    let failed =
        |e: std::io::Error| Diagnostic::error(format!("cannot read {}: {e}", place.display()));
    let mut files = Vec::new();
    for entry in fs::read_dir(&place).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|e| e == "json") {
            files.push(path);
        }
    }
    files.sort();
    files.iter().map(|file| read(file, &programs_beside(folder))).collect()
}

/// Those of a name, or all.
pub fn chosen(suites: Vec<Suite>, name: &str) -> Result<Vec<Suite>, Diagnostic> {
    if name == ALL {
        return Ok(suites);
    }
    let names: Vec<String> = suites.iter().map(|s| s.name.clone()).collect();
    let found: Vec<Suite> = suites.into_iter().filter(|s| s.name == name).collect();
    if !found.is_empty() {
        return Ok(found);
    }
    let mut mistake = Diagnostic::error(format!("there is no suite `{name}`"))
        .note(format!("there are {}, and `{ALL}`", listed(&names)));
    if let Some(help) = did_you_mean(name, names.iter().map(String::as_str)) {
        mistake = mistake.help(help);
    }
    Err(mistake)
}

/// `` `a`, `b` ``
pub fn listed(names: &[String]) -> String {
    names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ")
}

fn programs_beside(folder: &Path) -> PathBuf {
    match folder.parent() {
        Some(parent) if folder.file_name().is_some() => parent.join("programs"),
        _ => folder.join("../programs"),
    }
}

fn read(file: &Path, programs: &Path) -> Result<Suite, Diagnostic> {
    let in_file = |e: String| Diagnostic::error(format!("{}: {e}", file.display()));
    let text = fs::read_to_string(file).map_err(|e| in_file(e.to_string()))?;
    let value: Value = serde_json::from_str(&text).map_err(|e| in_file(e.to_string()))?;
    let name = file.file_stem().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    suite(name, &value, programs).map_err(in_file)
}

fn suite(name: String, value: &Value, programs: &Path) -> Result<Suite, String> {
    let fields = Fields::of(value, &["about", "problems"])?;
    let about = fields.text("about")?;
    let mut problems = Vec::new();
    for (index, value) in fields.list("problems")?.iter().enumerate() {
        let problem = problem(value, programs);
        problems.push(problem.map_err(|e| format!("problem {}: {e}", index + 1))?);
    }
    Ok(Suite { name, about, problems })
}

const PROBLEM: [&str; 7] =
    ["problem", "programs", "sizes", "original_ms", "quick", "flops", "peers"];

fn problem(value: &Value, folder: &Path) -> Result<Problem, String> {
    let fields = Fields::of(value, &PROBLEM)?;
    let mut programs = Vec::new();
    for text in fields.texts("programs")? {
        let (file, entry) = match text.split_once(':') {
            Some((file, entry)) => (file, Some(entry.to_string())),
            None => (text.as_str(), None),
        };
        programs.push(Program { file: folder.join(file), entry });
    }
    let originals = fields.optional("original_ms").and_then(Value::as_array);
    let mut sizes = Vec::new();
    for (index, value) in fields.list("sizes")?.iter().enumerate() {
        let original_ms = originals.and_then(|all| all.get(index)?.as_f64());
        sizes.push(Point { original_ms, ..point(value)? });
    }
    if originals.is_some_and(|all| all.len() != sizes.len()) {
        return Err("`original_ms` and `sizes` differ in length".into());
    }
    let flops = fields.optional("flops").map(|_| fields.text("flops")).transpose()?;
    let flops = flops.map(|text| {
        lift_nat::parse(&text).map_err(|e| format!("`flops` is no size: {}", e.message))
    });
    let peers = Fields::of(fields.one("peers")?, &["cpu", "gpu"])?;
    Ok(Problem {
        name: fields.text("problem")?,
        programs,
        sizes,
        quick: point(fields.one("quick")?)?,
        flops: flops.transpose()?,
        peers: Peers { cpu: peers.texts("cpu")?, gpu: peers.texts("gpu")? },
    })
}

fn point(value: &Value) -> Result<Point, String> {
    let wrong = || format!("{value} is no object of sizes");
    let mut sizes = BTreeMap::new();
    for (name, size) in value.as_object().ok_or_else(wrong)? {
        sizes.insert(name.clone(), size.as_u64().filter(|n| *n > 0).ok_or_else(wrong)?);
    }
    Ok(Point { sizes, original_ms: None })
}

/// An object whose keys are known.
struct Fields<'v>(&'v Map<String, Value>);

impl<'v> Fields<'v> {
    fn of(value: &'v Value, known: &[&str]) -> Result<Fields<'v>, String> {
        let object = value.as_object().ok_or("it is no JSON object")?;
        match object.keys().find(|key| !known.contains(&key.as_str())) {
            Some(key) => Err(format!("`{key}` means nothing here")),
            None => Ok(Fields(object)),
        }
    }

    fn optional(&self, key: &str) -> Option<&'v Value> {
        self.0.get(key)
    }

    fn one(&self, key: &str) -> Result<&'v Value, String> {
        self.optional(key).ok_or_else(|| format!("`{key}` is missing"))
    }

    fn text(&self, key: &str) -> Result<String, String> {
        let text = self.one(key)?.as_str();
        text.map(String::from).ok_or_else(|| format!("`{key}` is no text"))
    }

    fn list(&self, key: &str) -> Result<&'v Vec<Value>, String> {
        self.one(key)?.as_array().ok_or_else(|| format!("`{key}` is no list"))
    }

    fn texts(&self, key: &str) -> Result<Vec<String>, String> {
        let text = |v: &Value| v.as_str().map(String::from);
        let all: Option<Vec<String>> = self.list(key)?.iter().map(text).collect();
        all.ok_or_else(|| format!("`{key}` is no list of texts"))
    }
}
