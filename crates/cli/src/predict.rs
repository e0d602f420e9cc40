//! `lift predict`: how long a program takes, before it runs.

use std::collections::BTreeMap;
use std::path::PathBuf;

use lift::Language;
use lift_clock::calibrate::flags;
use lift_clock::{Description, Prediction, Sizes, like, predict_kernel};
use lift_kernel::{Arg, Kernel};

use crate::arguments::{self, SizeArgument, Threads, by_name, parse_sizes, parse_threads};
use crate::compile::kernels;
use crate::report::{Failure, load, say, say_json};
use crate::run::{open, short};
use crate::{entry, machine_file, stored};

/// Say how long a program takes on a device, without running it
///
/// The device must have been measured by `lift calibrate`. With `--machine` no device is needed. A file of kernels,
/// called `NAME.kernel`, is predicted as it is.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:\n\
\x20 lift predict programs/mm.lift --size M=512,K=512,N=512 \\\n\
\x20   --machine data/machines/h200-cuda.json\n\
\x20 lift predict programs/kernels/saxpy.kernel --size N=1048576 \\\n\
\x20   --machine data/machines/h200-cuda.json")]
pub struct Options {
    /// The program or the kernels; `-` is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The definition to look at: `main` or the last one otherwise
    #[arg(long, value_name = "NAME")]
    entry: Option<String>,
    /// Sizes and parameters, as in N=1024 or M=512,N=512; may be repeated
    #[arg(long = "size", value_name = "SIZES", value_parser = parse_sizes)]
    sizes: Vec<SizeArgument>,
    /// The device it would run on: `cpu`, `opencl:K`, `opencl:PART-OF-THE-NAME` or `cuda:K`
    #[arg(long, value_name = "DEVICE", default_value = "cpu", conflicts_with = "machine")]
    device: String,
    /// The description of a machine that `lift calibrate -o` wrote, in place of a device
    #[arg(long, value_name = "FILE")]
    machine: Option<PathBuf>,
    /// Work-items of a group in each dimension, as in 16,16, instead of the program's
    #[arg(long, value_name = "COUNTS", value_parser = parse_threads)]
    local: Option<Threads>,
    /// Work-items of a launch in each dimension, as in 1024,1024, instead of the program's
    #[arg(long, value_name = "COUNTS", value_parser = parse_threads)]
    global: Option<Threads>,
    /// Which form of the program: the tuned one that is stored for the device, or the program itself
    #[arg(long, value_enum, default_value_t = Form::Default)]
    form: Form,
    /// Print arithmetic intensity, the ceilings of the machine, and where the program stands
    #[arg(long)]
    roofline: bool,
    /// As compiled with `--fast-math`: the description must have been made so
    #[arg(long)]
    fast_math: bool,
    /// Accept kernels with `extern` functions
    #[arg(long)]
    allow_extern: bool,
    /// Print {"total_ms", "allocation_ms", "transfer_ms", "launch_ms", "kernels", "machine", "planned"}
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Form {
    Stored,
    Default,
}

pub fn run(options: &Options) -> Result<(), Failure> {
    let (machine, device) = machine(options)?;
    let language = language(&machine)?;
    let (prediction, planned) = if kernels::is_kernels(&options.file) {
        (of_kernels(options, language, &machine)?, Vec::new())
    } else {
        of_program(options, language, &machine, device.as_ref())?
    };
    if options.json {
        let mut json = prediction.to_json();
        json["planned"] = planned.into();
        if options.roofline {
            json["roofline"] = prediction.roofline(&machine).map_err(Failure::message)?.to_json();
        }
        return say_json(&json);
    }
    say(&told(&prediction))?;
    say(&planned.iter().map(|line| format!("{line}\n")).collect::<String>())?;
    if options.roofline {
        say(&prediction.roofline(&machine).map_err(Failure::message)?.to_string())?;
    }
    Ok(())
}

/// The description, and the device if one was asked for.
fn machine(options: &Options) -> Result<(Description, Option<lift::DeviceInfo>), Failure> {
    let flags = flags(&lift::CompileOptions { fast_math: options.fast_math });
    if let Some(path) = &options.machine {
        let described = machine_file::read(path)?;
        described
            .made_with(flags)
            .map_err(|why| Failure::message(format!("{}: {why}", path.display())))?;
        return Ok((described, None));
    }
    let device = open(&options.device).map_err(|e| Failure::message(e.to_string()))?;
    let info = device.info().clone();
    match machine_file::of_device(&info, flags)? {
        Some(description) => Ok((description, Some(info))),
        None => Err(Failure::message(format!(
            "`{0}` has not been measured yet; do so by `lift calibrate --device {0}`, or give a description by \
             `--machine`",
            options.device
        ))),
    }
}

/// The language of a described device's kernels.
pub fn language(machine: &Description) -> Result<Language, Failure> {
    match machine.way.as_str() {
        "cpu" => Ok(Language::C),
        "opencl" => Ok(Language::OpenCl),
        "cuda" => Ok(Language::Cuda),
        other => Err(Failure::message(format!(
            "the machine's description is of a device reached by `{other}`, which is not known; make it anew by `lift \
             calibrate`"
        ))),
    }
}

/// The prediction, and how the plan differs from the usual one.
fn of_program(
    options: &Options,
    language: Language,
    machine: &Description,
    device: Option<&lift::DeviceInfo>,
) -> Result<(Prediction, Vec<String>), Failure> {
    let checked = load(&options.file)?;
    let def = entry::find(&checked, &options.file, options.entry.as_deref())?;
    let given = arguments::sizes(def, &options.sizes)?;
    if let Some(open) = def.sizes.iter().find(|v| given.get(v.name()).is_none()) {
        return Err(Failure::message(format!(
            "the size `{open}` of `{}` is not given; times are of sizes: give it by `--size {open}=…`",
            def.name
        )));
    }
    let stored = match (options.form, device) {
        (Form::Stored, Some(info)) => {
            let path = stored::path(None)?;
            let (fast_math, allow_extern) = (options.fast_math, options.allow_extern);
            stored::tuned(&path, def, &given, info, fast_math, allow_extern)?
        }
        (Form::Stored, None) => {
            return Err(Failure::message(
                "tuned forms are stored for devices: give `--device`, not `--machine`",
            ));
        }
        (Form::Default, _) => None,
    };
    let chosen = stored.as_ref().map_or(def, |best| &best.def);
    let lowering = lift::Options {
        sizes: by_name(&given),
        local: options.local.as_ref().map(|t| t.0.clone()),
        global: options.global.as_ref().map(|t| t.0.clone()),
        ..lift::Options::default()
    };
    // Different descriptions are asked about the same kernels: only a device's own decides what it runs.
    let like = machine.local_bytes().and_then(|bytes| like(language, bytes));
    let by = like.as_ref().filter(|_| device.is_none()).unwrap_or(machine);
    let mut planned = lift_clock::planned(chosen, &lowering, language, by)
        .map_err(|e| Failure::compile(e, &checked.sources))?;
    let prediction = planned.predict(&by_name(&given), machine).map_err(Failure::message)?;
    Ok((prediction, planned.told()))
}

fn of_kernels(
    options: &Options,
    language: Language,
    machine: &Description,
) -> Result<Prediction, Failure> {
    let flags = [
        ("--entry", options.entry.is_some()),
        ("--local", options.local.is_some()),
        ("--global", options.global.is_some()),
        ("--form", options.form == Form::Stored),
    ];
    if let Some((flag, _)) = flags.iter().find(|(_, given)| *given) {
        return Err(Failure::message(format!(
            "`{flag}` is for programs: a kernel is predicted as it is"
        )));
    }
    let mut sizes: Sizes = BTreeMap::new();
    for argument in &options.sizes {
        sizes.extend(argument.0.iter().map(|(name, value)| (name.clone(), *value)));
    }
    let all = kernels::prepared(&options.file, language, options.allow_extern)?;
    check_sizes(&all, &sizes)?;
    let mut whole: Option<Prediction> = None;
    for kernel in &all {
        let one = predict_kernel(kernel, &sizes, machine).map_err(Failure::message)?;
        whole = Some(match whole {
            None => one,
            Some(before) => before.and(one),
        });
    }
    whole.ok_or_else(|| Failure::message(format!("{}: there is no kernel", options.file.display())))
}

/// Fails where a size is none of the kernels', or no size.
fn check_sizes(all: &[Kernel], sizes: &Sizes) -> Result<(), Failure> {
    let known = |name: &str| {
        let of = |arg: &Arg| matches!(arg, Arg::Size(var) if var.name() == name);
        all.iter().any(|kernel| kernel.args.iter().any(of))
    };
    for (name, value) in sizes {
        if !known(name) {
            return Err(Failure::message(format!("no kernel has a size `{name}`")));
        }
        if *value < 1 {
            return Err(Failure::message(format!(
                "the size `{name}` is {value}, but every size is at least 1"
            )));
        }
    }
    Ok(())
}

fn told(prediction: &Prediction) -> String {
    let mut text = format!(
        "{} ms in all, {} of it transfers, on {}\n",
        short(prediction.total_ms()),
        short(prediction.transfer_ms),
        prediction.machine
    );
    for kernel in &prediction.kernels {
        let time = &kernel.time;
        let runs = if kernel.runs == 1.0 { String::new() } else { format!("{} x ", kernel.runs) };
        text += &format!(
            "{}: {runs}{} ms, bound by {} (launch {}, tail {})\n",
            kernel.name,
            short(time.ms()),
            time.bound_by,
            short(time.launch_ms),
            short(time.tail_ms)
        );
        for (name, ms) in &time.components {
            text += &format!("  {name:<12} {} ms\n", short(*ms));
        }
        for note in &time.assumed {
            text += &format!("  assumed: {note}\n");
        }
    }
    text
}
