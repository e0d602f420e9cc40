//! `lift run`: a program on a device, timed.

use std::path::PathBuf;

use lift::{Compiled, Costs, Device, KernelPlan, KernelTime};
use lift_interp::{Value, npy};
use lift_ir::Def;
use lift_runtime::median;
use serde_json::json;

use crate::arguments::{
    self, Argument, Inputs, SizeArgument, Threads, by_name, parse_argument, parse_sizes,
    parse_threads,
};
use crate::device_flags::DeviceFlags;
use crate::eval::{self, parse_output};
use crate::rates::Rates;
use crate::report::{Failure, load, remark, say, say_json};
use crate::{auto, entry, explain, lowering_flags, machine_file, stored};

/// The device that is no device: the reference interpreter.
pub const INTERPRETER: &str = "interp";

/// Run a program on a device and time its kernels
///
/// Arguments are those of `lift eval`. The kernels are made for the sizes at hand. The result is
/// printed, abbreviated, or written; times go to standard error.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:\n\
\x20 lift run programs/reduce/dot.lift 'x=[1,2,3]' y=ones\n\
\x20 lift run programs/mm.lift --device opencl:0 A=random B=random \\\n\
\x20   --size M=512,K=512,N=512 --repeat 10 -o c.npy\n\
\x20 lift run programs/thesis/gemv.lift --entry gemv_t A=c.npy x=ones y=zeros alpha=1.0 beta=0.0")]
pub struct Options {
    /// The program; `-` is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// What each parameter is given
    #[arg(value_name = "NAME=VALUE", value_parser = parse_argument)]
    arguments: Vec<Argument>,
    /// Where to run: `cpu`, `opencl:K`, `opencl:PART-OF-THE-NAME`, `cuda:K`, `interp`, or `auto`: where `lift predict`
    /// expects it to be done first
    #[arg(long, value_name = "DEVICE", default_value = "cpu")]
    device: String,
    /// With `--device auto`: the data is on the devices already, so transfers do not count
    #[arg(long)]
    resident: bool,
    /// The definition to run: `main` or the last one otherwise
    #[arg(long, value_name = "NAME")]
    entry: Option<String>,
    /// Sizes and parameters, as in N=1024 or M=512,N=512; may be repeated
    #[arg(long = "size", value_name = "SIZES", value_parser = parse_sizes)]
    sizes: Vec<SizeArgument>,
    /// Write the result to a `.npy` file, or `.npz` for tuples, instead of printing it
    #[arg(short, long, value_name = "FILE", value_parser = parse_output)]
    output: Option<PathBuf>,
    /// Run so many times, after one that does not count, and report the median
    #[arg(long, value_name = "K", default_value_t = 1,
          value_parser = clap::value_parser!(u32).range(1..))]
    repeat: u32,
    /// Work-items of a group in each dimension, as in 16,16, instead of the program's
    #[arg(long, value_name = "COUNTS", value_parser = parse_threads)]
    local: Option<Threads>,
    /// Work-items of a launch in each dimension, as in 1024,1024, instead of the program's
    #[arg(long, value_name = "COUNTS", value_parser = parse_threads)]
    global: Option<Threads>,
    /// The tuning database, instead of the one in the user's data folder
    #[arg(long, value_name = "FILE")]
    db: Option<PathBuf>,
    /// Run the program as it is, also where a tuned form of it is stored
    #[arg(long)]
    untuned: bool,
    /// Lower the program by rules alone, without predicting which of the ways to do so is fastest
    #[arg(long)]
    unplanned: bool,
    /// Memory that all arrays may take together, in bytes, where that is less than the device has: what does not fit is
    /// made in batches
    #[arg(long, value_name = "BYTES")]
    memory: Option<u64>,
    #[command(flatten)]
    flags: DeviceFlags,
    /// Say what each kernel does: points, threads, what it stores and reads, and why
    #[arg(long)]
    explain: bool,
    /// Accept programs with `extern` functions
    #[arg(long)]
    allow_extern: bool,
    /// Print {"kernel_ms", "kernels", "gb_per_s", "gflop_per_s", "variant", …}
    #[arg(long)]
    json: bool,
}

/// What was measured; nothing where the interpreter ran.
#[derive(Default)]
struct Times {
    kernel_ms: Option<f64>,
    /// One a kernel of the plan.
    kernels: Vec<(String, f64)>,
    /// Of the device's compiler.
    compile_ms: Option<f64>,
    /// Memory on the device, and on the host for the result.
    allocation_ms: Option<f64>,
    /// Arguments to the device and results back.
    transfer_ms: Option<f64>,
    /// Allocation, transfers and a run: launches and kernels. Neither the compiler nor files.
    total_ms: Option<f64>,
    rates: Rates,
    /// The stored program that ran.
    variant: Option<String>,
    /// Where it ran, where the choice was left to predictions.
    chosen: Option<String>,
    /// What its kernels do, where that was asked for.
    plan: Option<Vec<KernelPlan>>,
    /// How points of domains are mapped, and in which order arrays that read themselves are made.
    domains: Vec<String>,
    /// Where that departs from the rules, and why.
    planned: Vec<String>,
}

/// The stored program that is best for the sizes and the device, with its number. Whoever chooses thread counts
/// wants the program itself.
fn tuned(
    def: &Def,
    inputs: &Inputs<'_>,
    device: &lift::DeviceInfo,
    options: &Options,
) -> Result<Option<(String, Def)>, Failure> {
    if options.untuned || options.local.is_some() || options.global.is_some() {
        return Ok(None);
    }
    // Without a data folder there is no database to look into.
    let path = match (stored::path(options.db.as_deref()), &options.db) {
        (Ok(path), _) => path,
        (Err(_), None) => return Ok(None),
        (Err(error), Some(_)) => return Err(error),
    };
    let (fast_math, allow_extern) = (options.flags.fast_math, options.allow_extern);
    let best = stored::tuned(&path, def, &inputs.sizes, device, fast_math, allow_extern)?;
    Ok(best.map(|best| (best.id, best.def)))
}

pub fn run(options: &Options) -> Result<(), Failure> {
    let checked = load(&options.file)?;
    let def = entry::find(&checked, &options.file, options.entry.as_deref())?;
    let interpreted = options.device == INTERPRETER;
    if interpreted {
        entry::refuse_extern(def, options.allow_extern)?;
    } else {
        entry::permit_extern(def, options.allow_extern)?;
    }
    let sources = &checked.sources;
    let inputs = arguments::read(def, &options.arguments, &options.sizes, sources)?;
    let (result, times) = if interpreted {
        let result = eval::interpreted(def, inputs).map_err(|e| Failure::run(e, sources))?;
        (result, Times::default())
    } else {
        let id = device_id(def, &inputs, options)?;
        let device = open(&id).map_err(|e| Failure::compile(e, sources))?;
        let tuned = tuned(def, &inputs, device.info(), options)?;
        let chosen = tuned.as_ref().map_or(def, |(_, def)| def);
        let (result, times) = measure(def, chosen, inputs, device, options)
            .map_err(|e| Failure::compile(e, sources))?;
        let chosen = (options.device == auto::AUTO).then_some(id);
        (result, Times { variant: tuned.map(|(id, _)| id), chosen, ..times })
    };
    if let Some(path) = &options.output {
        npy::write(path, &result).map_err(Failure::message)?;
    }
    if options.json {
        return say_json(&json(&result, &times, options));
    }
    if let Some(plan) = &times.plan {
        let lines = [times.domains.clone(), explain::told(plan), times.planned.clone()].concat();
        say(&(lines.join("\n") + "\n"))?;
    }
    if options.output.is_none() {
        say(&format!("{result:#}\n"))?;
    }
    tell(&times, options);
    Ok(())
}

/// The device to run on, chosen where that is asked for.
fn device_id(def: &Def, inputs: &Inputs<'_>, options: &Options) -> Result<String, Failure> {
    if options.device != auto::AUTO {
        return Ok(options.device.clone());
    }
    let form = |info: &lift::DeviceInfo| Ok(tuned(def, inputs, info, options)?.map(|(_, def)| def));
    let lowering = lift::Options {
        local: options.local.as_ref().map(|t| t.0.clone()),
        global: options.global.as_ref().map(|t| t.0.clone()),
        ..options.flags.lowering()
    };
    let flags = lift_clock::calibrate::flags(&options.flags.compiler());
    auto::choose(def, &inputs.sizes, &lowering, flags, options.resident, &form)
}

/// Opens a device.
pub fn open(id: &str) -> Result<Box<dyn Device>, lift::Error> {
    lift::open(id).map_err(lift::Error::Device)
}

/// Compiles the chosen form of the definition for the sizes at hand, puts the inputs on the device and times so many runs.
/// Whatever can be refused is, before the inputs are made up.
fn measure(
    def: &Def,
    chosen: &Def,
    inputs: Inputs<'_>,
    mut device: Box<dyn Device>,
    options: &Options,
) -> Result<(Value, Times), lift::Error> {
    let lowering = lift::Options {
        sizes: by_name(&inputs.sizes),
        local: options.local.as_ref().map(|t| t.0.clone()),
        global: options.global.as_ref().map(|t| t.0.clone()),
        memory_bytes: options.memory,
        ..options.flags.lowering()
    };
    let (lowering, planned) = planned(chosen, lowering, device.info(), options)?;
    let compiled = Compiled::with(chosen, &lowering, &options.flags.compiler(), &mut *device)?;
    compiled.check_memory(device.info(), &inputs.sizes)?;
    let language = device.info().language;
    let plan = options.explain.then(|| compiled.explained(language)).transpose()?;
    let domains = options.explain.then(|| compiled.explained_domains(language)).transpose()?;
    let domains = domains.unwrap_or_default();
    let (given, sizes) = (inputs.given.clone(), inputs.sizes.clone());
    let values = inputs.values()?;
    let mut session = compiled.session(&mut *device, &values, &given)?;
    drop(values);
    if options.repeat > 1 {
        session.run()?;
    }
    let (mut runs, mut run_ms) = (Vec::new(), Vec::new());
    for _ in 0..options.repeat {
        runs.push(session.run()?);
        run_ms.push(session.costs().run_ms);
    }
    let result = session.result()?;
    let costs = session.costs();
    let costs = Costs { run_ms: median(&run_ms).unwrap_or(costs.run_ms), ..costs };
    let times = Times::of(&runs);
    let times = Times {
        rates: Rates::of(def, &sizes, times.kernel_ms),
        compile_ms: Some(compiled.compile_ms),
        allocation_ms: Some(costs.allocate_ms),
        transfer_ms: Some(costs.transfer_ms),
        total_ms: Some(costs.total_ms()),
        plan,
        planned,
        domains,
        ..times
    };
    Ok((result, times))
}

/// Lowering by the plan that is predicted to be fastest, on the device or one like it; as it is where neither was measured. With
/// where the plan departs from the rules.
fn planned(
    def: &Def,
    lowering: lift::Options,
    device: &lift::DeviceInfo,
    options: &Options,
) -> Result<(lift::Options, Vec<String>), lift::Error> {
    if options.unplanned {
        return Ok((lowering, Vec::new()));
    }
    let flags = lift_clock::calibrate::flags(&options.flags.compiler());
    let measured = machine_file::of_device(device, flags).ok().flatten();
    let like = || lift_clock::like(device.language, device.local_memory_bytes);
    let Some(machine) = measured.or_else(|| like().filter(|_| device.kind == "gpu")) else {
        return Ok((lowering, Vec::new()));
    };
    let planned = lift_clock::planned(def, &lowering, device.language, &machine)?;
    let told = planned.told();
    Ok((lift::Options { choices: planned.choices, ..lowering }, told))
}

impl Times {
    /// Medians over the runs.
    fn of(runs: &[Vec<KernelTime>]) -> Times {
        let names = runs.iter().take(1).flatten().map(|k| k.name.clone());
        let of_kernel =
            |k: usize| runs.iter().filter_map(|run| Some(run.get(k)?.ms)).collect::<Vec<_>>();
        let kernels =
            names.enumerate().map(|(k, name)| (name, median(&of_kernel(k)).unwrap_or(0.0)));
        let totals: Vec<f64> = runs.iter().map(|run| run.iter().map(|k| k.ms).sum()).collect();
        Times { kernel_ms: median(&totals), kernels: kernels.collect(), ..Times::default() }
    }
}

fn json(result: &Value, times: &Times, options: &Options) -> serde_json::Value {
    let kernels = times.kernels.iter();
    // Flags mean nothing to the interpreter.
    let compiled = times.kernel_ms.is_some();
    let lowering = if compiled { options.flags.lowering() } else { lift::Options::default() };
    let mut json = json!({
        "device": times.chosen.as_ref().unwrap_or(&options.device),
        "repeat": options.repeat,
        "kernel_ms": times.kernel_ms,
        "compile_ms": times.compile_ms,
        "allocation_ms": times.allocation_ms,
        "transfer_ms": times.transfer_ms,
        "total_ms": times.total_ms,
        "kernels": kernels.map(|(name, ms)| json!({ "name": name, "ms": ms })).collect::<Vec<_>>(),
        "variant": times.variant.as_deref().unwrap_or("default"),
        "fast_math": compiled && options.flags.fast_math,
        "unchecked": lowering.unchecked,
        "no_simplify": lowering_flags::left_out(lowering.simplify),
        "pad_local": lowering.local_padding,
        "pipeline": lowering.pipeline,
        "warp": lowering.warp,
    });
    times.rates.add_to(&mut json);
    if let Some(plan) = &times.plan {
        json["plan"] = explain::json(plan);
        json["planned"] = times.planned.clone().into();
        json["domains"] = times.domains.clone().into();
    }
    match &options.output {
        Some(path) => json["output"] = path.display().to_string().into(),
        None => json["result"] = result.to_string().into(),
    }
    json
}

fn tell(times: &Times, options: &Options) {
    let Some(ms) = times.kernel_ms else { return };
    let of =
        if options.repeat > 1 { format!(", median of {}", options.repeat) } else { String::new() };
    remark(&format!("kernel time: {} ms{of}", short(ms)));
    if times.kernels.len() > 1 {
        for (name, ms) in &times.kernels {
            remark(&format!("  {name}: {} ms", short(*ms)));
        }
    }
    times.rates.told().iter().for_each(|rate| remark(rate));
    if let Some(id) = &times.variant {
        remark(&format!("the tuned program {id}"));
    }
    if options.flags.fast_math {
        remark("compiled with fast math");
    }
    for line in lowering_flags::remarks(&options.flags.lowering()) {
        remark(&line);
    }
}

/// Four digits that count: `1234`, `12.35`, `0.001235`.
pub fn short(value: f64) -> String {
    if value <= 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    let digits = format!("{value:.3e}");
    let power: i32 = digits.split_once('e').and_then(|(_, e)| e.parse().ok()).unwrap_or(0);
    let decimals = (3 - power).clamp(0, 9) as usize;
    format!("{:.decimals$}", digits.parse().unwrap_or(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_digits_count() {
        let of = [1234.4, 12.345678, 0.001_234_56, 99.996, 1_234_567.0, 3e-7, 0.0].map(short);
        assert_eq!(of, ["1234", "12.35", "0.001235", "100.0", "1235000", "0.000000300", "0"]);
    }
}
