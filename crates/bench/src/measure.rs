//! One program at one size: run by turns with its peers, and compared with its reference.

use std::collections::BTreeMap;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use lift::{CompileOptions, Compiled, Session};
use lift_interp::{Sizes, solve_sizes};
use lift_ir::Def;
use lift_syntax::diagnostic::Severity;
use serde_json::{Value, json};

use crate::cases::Case;
use crate::peers::{Answer, Peers};
use crate::reference::Reference;
use crate::row::{Measured, Row};
use crate::suite::Point;
use crate::tuning::{Lookup, Tuning, tune};

/// Threads of whoever ran before may wait in loops for a while.
const SETTLE: Duration = Duration::from_millis(30);

/// How everything is measured.
pub struct How<'l> {
    pub device: String,
    pub rounds: u32,
    /// Runs in a round.
    pub repeat: u32,
    /// No run begins when a round has taken so long.
    pub seconds: f64,
    pub seed: u64,
    pub fast_math: bool,
    /// Where forms are looked up; nothing where programs run untuned.
    pub stored: Option<&'l Lookup<'l>>,
    /// Before a program is run.
    pub tuning: Option<Tuning>,
}

/// Measures a case. What goes wrong is in the row.
pub fn measure(case: &Case, how: &How, peers: &mut Peers, reference: &mut Reference) -> Row {
    let mut row = Row {
        suite: case.suite.to_string(),
        problem: case.problem.name.clone(),
        program: case.name(),
        file: case.program.file.display().to_string(),
        point: case.point.clone(),
        measured: Err(String::new()),
    };
    let loaded = load(&case.program.file, case.program.entry.as_deref());
    row.measured = loaded.and_then(|def| {
        row.program = def.name.clone();
        measured(&def, case, how, peers, reference)
    });
    row
}

/// The definition of a file. Mistakes are told as a row has room for.
fn load(file: &Path, name: Option<&str>) -> Result<Def, String> {
    let checked = lift_syntax::check_file(file)?;
    if let Some(first) = checked.diagnostics.iter().find(|d| d.severity == Severity::Error) {
        return Err(first.message.clone());
    }
    let program = &checked.program;
    let def = match name {
        Some(name) => program.def(name).ok_or(format!("there is no definition `{name}`")),
        None => program.entry().ok_or(format!("{} has no definition to run", file.display())),
    }?;
    match def.uses_extern() {
        Some(function) => Err(format!("`{}` uses the extern function `{function}`", def.name)),
        None => Ok(def.clone()),
    }
}

fn measured(
    def: &Def,
    case: &Case,
    how: &How,
    peers: &mut Peers,
    reference: &mut Reference,
) -> Result<Measured, String> {
    if let Some(tuning) = &how.tuning {
        let (file, entry) = (&case.program.file, Some(def.name.as_str()));
        tune(tuning, file, entry, &case.point.text(), &how.device)?;
    }
    let known = sizes(def, &case.point)?;
    let mut given = reference.inputs(&case.problem.name, def, &case.point, &known)?;
    let values = std::mem::take(&mut given.values);
    let (result, mut measured) = timed(def, &known, values, case, how, peers)?;
    let flops = case.problem.flops.as_ref();
    if let Some(flops) = flops.and_then(|f| f.eval(&|v| known.get(v.name())).ok()) {
        (measured.flops, measured.is_compute_bound) = (Some(flops as f64), true);
    }
    (measured.error, measured.tolerance) = reference.error(&given, &result)?;
    Ok(measured)
}

/// The sizes of a point, which must be the definition's own.
fn sizes(def: &Def, point: &Point) -> Result<Sizes, String> {
    let known = || def.sizes.iter().chain(def.parameters.iter().map(|p| &p.var));
    let mut sizes = Sizes::new();
    for (name, size) in &point.sizes {
        if !known().any(|v| v.name() == name) {
            return Err(format!("`{}` has no size `{name}`", def.name));
        }
        sizes.set(name, i128::from(*size));
    }
    Ok(sizes)
}

/// Compiles the stored form or the definition itself, and times it by turns with the peers.
fn timed(
    def: &Def,
    given: &Sizes,
    values: Vec<lift_interp::Value>,
    case: &Case,
    how: &How,
    peers: &mut Peers,
) -> Result<(lift_interp::Value, Measured), String> {
    let told = |e: lift::Error| e.to_string();
    let mut device = lift::open(&how.device).map_err(|e| e.to_string())?;
    let info = device.info().clone();
    let types: Vec<lift_ir::Type> = values.iter().map(lift_interp::Value::ty).collect();
    let sizes = solve_sizes(def, &types, given).map_err(|e| e.message)?;
    let tuned = how.stored.map(|stored| stored(def, &sizes, &info)).transpose()?.flatten();
    let by_name = sizes.iter().map(|(name, size)| (name.to_string(), size)).collect();
    let lowering = lift::Options { sizes: by_name, ..lift::Options::default() };
    let compiler = CompileOptions { fast_math: how.fast_math };
    let chosen = tuned.as_ref().map_or(def, |best| &best.def);
    let compiled = Compiled::with(chosen, &lowering, &compiler, &mut *device).map_err(told)?;
    compiled.check_memory(&info, &sizes).map_err(told)?;
    let mut session = compiled.session(&mut *device, &values, given).map_err(told)?;
    drop(values);
    let mut measured = Measured {
        variant: tuned.as_ref().map(|best| best.id.clone()),
        bytes: lift_interp::bytes(def, &sizes),
        flops: lift_interp::work(def, &sizes).map(|work| work.float),
        ..Measured::default()
    };
    let question = json!({
        "problem": case.problem.name,
        "sizes": case.point.sizes,
        "seed": how.seed,
        "bytes": measured.bytes.unwrap_or(0.0) as u64,
        "device": { "id": info.id, "kind": info.kind, "name": info.name },
        "repeat": how.repeat,
        "seconds": how.seconds,
    });
    rounds(&mut session, case, how, peers, &question, &mut measured)?;
    let result = session.result().map_err(told)?;
    Ok((result, measured))
}

/// Everyone has a turn in every round.
fn rounds(
    session: &mut Session<'_>,
    case: &Case,
    how: &How,
    peers: &mut Peers,
    question: &Value,
    measured: &mut Measured,
) -> Result<(), String> {
    let since = Instant::now();
    let first = one(session)?;
    let is_slow = since.elapsed().as_secs_f64() > how.seconds;
    if is_slow {
        // It is all there is time for.
        measured.samples.push(first);
    }
    let rounds = if is_slow { 1 } else { how.rounds };
    let mut about = BTreeMap::new();
    for _ in 0..rounds {
        for name in &case.peers {
            if measured.missing.contains_key(name) {
                continue;
            }
            thread::sleep(SETTLE);
            match peers.ask(name, question) {
                Answer::Times { samples, about: words } => {
                    about.insert(name.clone(), words);
                    measured.peers.entry(name.clone()).or_default().samples.extend(samples);
                }
                Answer::Missing(why) => {
                    measured.missing.insert(name.clone(), why);
                }
            }
        }
        if !is_slow {
            thread::sleep(SETTLE);
            turn(session, how, &mut measured.samples)?;
        }
    }
    // One that failed later has no result.
    measured.peers.retain(|name, _| !measured.missing.contains_key(name));
    for (name, peer) in &mut measured.peers {
        peer.about = about.remove(name).unwrap_or_default();
    }
    Ok(())
}

/// The program's own runs in a round. As the peers' do, they stop when time is up.
fn turn(session: &mut Session<'_>, how: &How, samples: &mut Vec<f64>) -> Result<(), String> {
    let since = Instant::now();
    for _ in 0..how.repeat {
        samples.push(one(session)?);
        if since.elapsed().as_secs_f64() > how.seconds {
            break;
        }
    }
    Ok(())
}

/// The milliseconds of one run, over all kernels.
fn one(session: &mut Session<'_>) -> Result<f64, String> {
    let kernels = session.run().map_err(|e| e.to_string())?;
    Ok(kernels.iter().map(|kernel| kernel.ms).sum())
}
