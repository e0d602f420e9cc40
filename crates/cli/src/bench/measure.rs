//! One program at one size: run by turns with its peers, and compared with its reference.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use lift::{Compiled, Session};
use lift_ir::Def;
use lift_runtime::CompileOptions;
use lift_syntax::diagnostic::Severity;
use serde_json::{Value, json};

use super::peers::{Answer, Peers};
use super::reference::{Given, Reference};
use super::row::{Measured, Row};
use super::suite::{Point, Problem, Program};
use super::tuning::{self, Tuning, tune};
use crate::arguments::{self, Inputs, SizeArgument, by_name, parse_sizes};
use crate::report::Failure;
use crate::{entry, run};

/// Threads of whoever ran before may wait in loops for a while.
const SETTLE: Duration = Duration::from_millis(30);

/// How everything is measured.
pub struct How {
    pub device: String,
    pub rounds: u32,
    /// Runs in a round.
    pub repeat: u32,
    /// No run begins when a round has taken so long.
    pub seconds: f64,
    pub seed: u64,
    pub fast_math: bool,
    /// Nothing where programs run untuned.
    pub database: Option<PathBuf>,
    /// Before a program is run.
    pub tuning: Option<Tuning>,
}

/// One program of a problem at a size.
pub struct Case<'s> {
    pub suite: &'s str,
    pub problem: &'s Problem,
    pub program: &'s Program,
    pub point: Point,
    pub peers: Vec<String>,
}

impl Case<'_> {
    /// The name of the definition, as far as it is known without reading the file.
    pub fn name(&self) -> String {
        self.program.name()
    }

    pub fn is_named(&self, name: &str) -> bool {
        self.name() == name || self.problem.name == name
    }
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
    let def = entry::find(&checked, file, name).map_err(in_short)?;
    entry::without_extern(def, "").map_err(in_short)?;
    Ok(def.clone())
}

fn measured(
    def: &Def,
    case: &Case,
    how: &How,
    peers: &mut Peers,
    reference: &mut Reference,
) -> Result<Measured, String> {
    let sizes = [parse_sizes(&case.point.text())?];
    if let Some(tuning) = &how.tuning {
        let (file, entry) = (&case.program.file, Some(def.name.as_str()));
        tune(tuning, file, entry, &case.point.text(), &how.device)?;
    }
    let known = arguments::sizes(def, &sizes).map_err(in_short)?;
    let given = reference.inputs(&case.problem.name, def, &case.point, &known)?;
    let inputs = read(def, &given, &sizes)?;
    let (result, mut measured) = timed(def, inputs, case, how, peers)?;
    let flops = case.problem.flops.as_ref();
    if let Some(flops) = flops.and_then(|f| f.eval(&|v| known.get(v.name())).ok()) {
        (measured.flops, measured.is_compute_bound) = (Some(flops as f64), true);
    }
    (measured.error, measured.tolerance) = reference.error(&given, &result)?;
    Ok(measured)
}

fn read<'d>(def: &'d Def, given: &Given, sizes: &[SizeArgument]) -> Result<Inputs<'d>, String> {
    let nowhere = lift_syntax::source::Sources::new();
    arguments::read(def, &given.arguments, sizes, &nowhere).map_err(in_short)
}

/// Compiles the stored form or the definition itself, and times it by turns with the peers.
fn timed(
    def: &Def,
    inputs: Inputs<'_>,
    case: &Case,
    how: &How,
    peers: &mut Peers,
) -> Result<(lift_interp::Value, Measured), String> {
    let told = |e: lift::Error| e.to_string();
    let mut device = run::open(&how.device).map_err(told)?;
    let info = device.info().clone();
    let tuned = how
        .database
        .as_ref()
        .map(|path| tuning::best(path, def, &inputs.sizes, &info, how.fast_math).map_err(in_short));
    let tuned = tuned.transpose()?.flatten();
    let lowering = lift::Options { sizes: by_name(&inputs.sizes), ..lift::Options::default() };
    let compiler = CompileOptions { fast_math: how.fast_math };
    let chosen = tuned.as_ref().map_or(def, |best| &best.def);
    let compiled = Compiled::with(chosen, &lowering, &compiler, &mut *device).map_err(told)?;
    compiled.check_memory(&info, &inputs.sizes).map_err(told)?;
    let (sizes, all_sizes) = (inputs.given.clone(), inputs.sizes.clone());
    let values = inputs.values().map_err(|e| e.message)?;
    let mut session = compiled.session(&mut *device, &values, &sizes).map_err(told)?;
    drop(values);
    let mut measured = Measured {
        variant: tuned.as_ref().map(|best| best.id.clone()),
        bytes: lift_interp::bytes(def, &all_sizes),
        flops: lift_interp::work(def, &all_sizes).map(|work| work.float),
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

/// What a failure says first.
pub fn in_short(failure: Failure) -> String {
    match failure {
        Failure::Diagnostics(all, _) => all.into_iter().next().map(|d| d.message),
        Failure::Reported => None,
    }
    .unwrap_or("it failed".to_string())
}
