//! A device with the problem's arguments, and candidates measured on it one after the other.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{BufReader, BufWriter, Write};
use std::path::Path;

use lift_execute::{Compiled, Error, Session, read_value, write_value};
use lift_interp::inputs::{Fill, generate};
use lift_interp::{Sizes, Value, compare_sums, concrete_type, solve_sizes};
use lift_ir::Def;
use lift_lower::Options;
use lift_runtime::{CompileOptions, Device, RuntimeError};

use super::failure::{verdict, verdict_of_run};
use super::shared::Shared;
use super::{Expected, Job, Problem, Stage, Verdict};

/// Memory that no cache holds. Runs take turns at copies that fill so much together.
const BEYOND_CACHES: u64 = 256 << 20;

/// Each copy takes time to make. So many kilobytes stay in the caches whatever one does; what a kernel takes
/// there is mostly the launch.
const MOST_COPIES: u64 = 256;

/// Warming up goes on for so long, by the device's clock: clocks rise, pages and threads come.
const WARM_UP_MS: f64 = 10.0;
const MOST_WARM_UPS: usize = 20;

/// A run that takes so long has warmed up by itself.
const LONG_RUN_MS: f64 = 100.0;

/// When timed runs have taken so long together, there are no more.
const ENOUGH_MS: f64 = 1000.0;

/// A first run is slow for reasons of its own, but not by so much.
const FAR_BEYOND_CUTOFF: f64 = 10.0;

pub(super) struct Bench {
    device: Box<dyn Device>,
    /// What results are compared on.
    compared: Inputs,
    expected: Value,
    /// What is timed, where that is something else.
    timed: Option<Inputs>,
    /// How long the program itself took, where it ran.
    reference_ms: Option<f64>,
    is_kept: bool,
    fast_math: bool,
    allow_extern: bool,
}

/// Arguments for given sizes.
struct Inputs {
    arguments: Vec<Value>,
    sizes: Sizes,
}

/// The device is shared with others, who measure on it: it is used in turns.
pub(super) trait Turns {
    type Error;

    /// Returns when nobody else measures.
    fn wait(&mut self) -> Result<(), Self::Error>;

    /// Others may measure. What goes on in this process does not disturb them.
    fn give_back(&mut self) -> Result<(), Self::Error>;
}

impl Bench {
    /// Makes the inputs and computes what is expected of candidates. `wait` returns when nobody else measures.
    pub fn on(
        mut device: Box<dyn Device>,
        problem: &Problem,
        wait: &mut dyn FnMut() -> Result<(), Error>,
    ) -> Result<Bench, Error> {
        let def = definition("problem.lift", &problem.text, &problem.entry)?;
        let Problem { fast_math, allow_extern, seed, .. } = *problem;
        let (compared, expected, reference_ms) = {
            let shared = Shared::new(&mut *device);
            let sizes = problem.compare_at.as_ref().unwrap_or(&problem.sizes);
            reference(&def, sizes, problem, &shared, wait)?
        };
        let timed = match &problem.compare_at {
            Some(_) => Some(Inputs::new(&def, &problem.sizes, seed)?),
            None => None,
        };
        let is_kept = match &problem.expected {
            // One who cannot write it says so, and everybody computes it.
            Expected::Kept(path) => keep(&expected, path).is_ok(),
            Expected::Computed | Expected::Read(_) => false,
        };
        Ok(Bench {
            device,
            compared,
            expected,
            timed,
            reference_ms,
            is_kept,
            fast_math,
            allow_extern,
        })
    }

    pub fn reference_ms(&self) -> Option<f64> {
        self.reference_ms
    }

    /// Whether the expected result is where others find it.
    pub fn is_kept(&self) -> bool {
        self.is_kept
    }

    /// What kind of device it is.
    pub fn kind(&self) -> &'static str {
        self.device.info().kind
    }

    /// Measures a candidate: compiled before its turn, compared after it. Nothing of the candidate is left on the
    /// device. Fails where a turn does.
    pub fn measure<T: Turns>(&mut self, job: &Job, turns: &mut T) -> Result<Verdict, T::Error> {
        let def = match definition("candidate.lift", &job.text, &job.entry) {
            Ok(def) => def,
            Err(error) => return Ok(verdict(&error, Stage::Compile)),
        };
        let Bench { device, compared, expected, timed, fast_math, allow_extern, .. } = self;
        if let (Some(function), false) = (def.uses_extern(), *allow_extern) {
            let why = format!("it uses the extern function `{function}` without permission");
            return Ok(Verdict::Refused(why));
        }
        let shared = Shared::new(&mut **device);
        let device_options = CompileOptions { fast_math: *fast_math };
        let compile = |inputs: &Inputs| {
            let lowering = lowering(job, &def, &inputs.sizes);
            Compiled::with(&def, &lowering, &device_options, &mut shared.lend())
        };
        let compiled = compile(compared).and_then(|small| {
            let large = match timed {
                Some(inputs) => Some((compile(inputs)?, &*inputs)),
                None => None,
            };
            Ok((small, large))
        });
        let (small, large) = match compiled {
            Ok(compiled) => compiled,
            Err(error) => return Ok(verdict(&error, Stage::Compile)),
        };
        turns.wait()?;
        let on = |compiled, arguments| Trial { shared: &shared, compiled, arguments };
        let small = on(&small, &compared.arguments);
        let ran = match &large {
            None => small.run(job),
            Some((large, inputs)) => small.result().and_then(|found| {
                let (_, verdict) = on(large, &inputs.arguments).run(job)?;
                Ok((found, verdict))
            }),
        };
        turns.give_back()?;
        let compared = ran.and_then(|(found, verdict)| match compare_sums(&found, expected) {
            Ok(()) => Ok(verdict),
            Err(mismatch) => Err(Verdict::Wrong(mismatch.to_string())),
        });
        Ok(compared.unwrap_or_else(|verdict| verdict))
    }
}

impl Inputs {
    fn new(def: &Def, given: &BTreeMap<String, i128>, seed: u64) -> Result<Inputs, Error> {
        let sizes: Sizes = given.iter().map(|(name, value)| (name, *value)).collect();
        let arguments = arguments(def, &all_sizes(def, &sizes)?, seed)?;
        Ok(Inputs { arguments, sizes })
    }
}

/// The arguments, the result of the program on them, and how long it took unless the result was there already.
fn reference(
    def: &Def,
    given: &BTreeMap<String, i128>,
    problem: &Problem,
    shared: &Shared<'_>,
    wait: &mut dyn FnMut() -> Result<(), Error>,
) -> Result<(Inputs, Value, Option<f64>), Error> {
    if let Expected::Read(path) = &problem.expected {
        let inputs = Inputs::new(def, given, problem.seed)?;
        let ty = concrete_type(&def.ret, &all_sizes(def, &inputs.sizes)?)?;
        let file = File::open(path).map_err(|e| not_kept(path, &e))?;
        let expected = read_value(&ty, &mut BufReader::new(file))?;
        return Ok((inputs, expected, None));
    }
    let mut lent = shared.lend();
    let lowering = Options { sizes: given.clone(), ..Options::default() };
    let mut reference = Compiled::new(def, &lowering, &mut lent)?;
    let sizes: Sizes = given.iter().map(|(name, value)| (name, *value)).collect();
    // Inputs that are too large are not even made.
    reference.check_memory(lent.info(), &all_sizes(def, &sizes)?)?;
    let inputs = Inputs::new(def, given, problem.seed)?;
    wait()?;
    let run = reference.run(&mut lent, &inputs.arguments, &inputs.sizes)?;
    let ms = run.kernels.iter().map(|kernel| kernel.ms).sum();
    Ok((inputs, run.result, Some(ms)))
}

/// Writes the expected result for others.
fn keep(expected: &Value, path: &Path) -> Result<(), Error> {
    let file = OpenOptions::new().write(true).truncate(true).open(path);
    let mut file = BufWriter::new(file.map_err(|e| not_kept(path, &e))?);
    write_value(expected, &mut file)?;
    file.flush().map_err(|e| not_kept(path, &e))
}

fn not_kept(path: &Path, error: &std::io::Error) -> Error {
    Error::arguments(format!("the expected result in {}: {error}", path.display()))
}

/// A compiled candidate and what it is tried on.
struct Trial<'t, 'd> {
    shared: &'t Shared<'d>,
    compiled: &'t Compiled,
    arguments: &'t [Value],
}

impl Trial<'_, '_> {
    /// What it computes.
    fn result(&self) -> Result<Value, Verdict> {
        let mut user = self.shared.lend();
        let mut session = self.session(&mut user).map_err(|error| verdict(&error, Stage::Run))?;
        run_once(&mut session)?;
        session.result().map_err(|error| verdict_of_run(&error))
    }

    /// The result, and the verdict if it is right. Whatever ends the trial early is the verdict.
    fn run(&self, job: &Job) -> Result<(Value, Verdict), Verdict> {
        let cutoff = job.cutoff_ms.unwrap_or(f64::INFINITY);
        // Sessions end before those whose device they use.
        let (mut user, mut users) = (self.shared.lend(), Vec::new());
        let before = self.shared.allocated();
        let mut first = self.session(&mut user).map_err(|error| verdict(&error, Stage::Run))?;
        let footprint = self.shared.allocated() - before;
        let ms = run_once(&mut first)?;
        let found = first.result().map_err(|error| verdict_of_run(&error))?;
        if ms > cutoff * FAR_BEYOND_CUTOFF {
            return Ok((found, Verdict::TooSlow { ms }));
        }
        users.extend((1..copies(footprint)).map(|_| self.shared.lend()));
        let mut sessions = vec![first];
        for user in &mut users {
            match self.session(user) {
                Ok(session) => sessions.push(session),
                // Then there are as many as there is room for.
                Err(Error::Device(RuntimeError::OutOfMemory { .. })) => break,
                Err(error) => return Err(verdict(&error, Stage::Run)),
            }
        }
        Ok((found, times(&mut sessions, job.samples(), cutoff, ms)?))
    }

    /// The arguments on the device, and the result poisoned: every byte is 0xff, which is a NaN for floats.
    fn session<'a>(&'a self, device: &'a mut dyn Device) -> Result<Session<'a>, Error> {
        self.compiled.session(device, self.arguments, &Sizes::new())
    }
}

/// So many timed runs, fewer where they are long, after some that do not count, on each of the sessions in turn.
///
/// Requires: at least one session, whose first has run last, for `first_ms`.
fn times(
    sessions: &mut [Session<'_>],
    samples: usize,
    cutoff_ms: f64,
    first_ms: f64,
) -> Result<Verdict, Verdict> {
    let mut turn = 0;
    let mut next = || {
        turn = (turn + 1) % sessions.len();
        run_once(&mut sessions[turn])
    };
    let mut warm_up_ms = if first_ms >= LONG_RUN_MS { first_ms } else { 0.0 };
    for _ in 0..MOST_WARM_UPS {
        if warm_up_ms >= WARM_UP_MS {
            break;
        }
        warm_up_ms += next()?;
    }
    let mut samples_ms: Vec<f64> = Vec::new();
    while samples_ms.len() < samples && samples_ms.iter().sum::<f64>() < ENOUGH_MS {
        let ms = next()?;
        if samples_ms.is_empty() && ms > cutoff_ms {
            return Ok(Verdict::TooSlow { ms });
        }
        samples_ms.push(ms);
    }
    Ok(Verdict::Ok { samples_ms })
}

/// The milliseconds of one run, over all kernels.
fn run_once(session: &mut Session<'_>) -> Result<f64, Verdict> {
    let kernels = session.run().map_err(|error| verdict_of_run(&error))?;
    Ok(kernels.iter().map(|kernel| kernel.ms).sum())
}

/// How many copies of so many bytes do not fit a cache; at least one.
fn copies(footprint: u64) -> u64 {
    BEYOND_CACHES.div_ceil(footprint.max(1)).clamp(1, MOST_COPIES)
}

/// The definition that is asked for.
fn definition(file: &str, text: &str, entry: &str) -> Result<Def, Error> {
    let checked = lift_syntax::check_text(file, text);
    if checked.has_errors() {
        return Err(Error::Program(checked.render(false)));
    }
    let missing = || Error::Program(format!("there is no definition `{entry}`"));
    checked.program.def(entry).cloned().ok_or_else(missing)
}

/// The given sizes and the defaults of others.
fn all_sizes(def: &Def, given: &Sizes) -> Result<Sizes, Error> {
    let mut without_arguments = def.clone();
    without_arguments.params.clear();
    Ok(solve_sizes(&without_arguments, &[], given)?)
}

/// Arguments made up from a seed. They differ from one another.
fn arguments(def: &Def, sizes: &Sizes, seed: u64) -> Result<Vec<Value>, Error> {
    let mut values = Vec::new();
    for (index, param) in def.params.iter().enumerate() {
        let fill = Fill::Random { seed: seed ^ ((index as u64) << 32) };
        values.push(generate(fill, &concrete_type(param.ty(), sizes)?)?);
    }
    Ok(values)
}

/// How a candidate is lowered: for the sizes of the problem, as far as they are its own.
fn lowering(job: &Job, def: &Def, sizes: &Sizes) -> Options {
    let own = |name: &str| {
        def.sizes.iter().chain(def.parameters.iter().map(|p| &p.var)).any(|v| v.name() == name)
    };
    let sizes = sizes.iter().filter(|(name, _)| own(name));
    Options {
        sizes: sizes.map(|(name, value)| (name.to_string(), value)).collect(),
        local: job.local.clone(),
        global: job.global.clone(),
        local_padding: job.local_padding,
        pipeline: job.pipeline,
        ..Options::default()
    }
}

#[cfg(test)]
mod tests;
