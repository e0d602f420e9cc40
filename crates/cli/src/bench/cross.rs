//! `lift bench cross`: what was tuned for one device, run on every other.

use std::path::{Path, PathBuf};
use std::time::Duration;

use lift_bench::Tuning;
use lift_bench::cross::{Cross, Subject, forms, on_device};

use super::progress::Progress;
use super::{best_of, device, own_command, write};
use crate::arguments::{self, SizeArgument, parse_seconds, parse_sizes};
use crate::report::{Failure, MAIN_FILE, STDIN, load, say, say_json};
use crate::{entry, stored};

/// Run what was tuned for each device on every device
///
/// A row is the best stored form for a device, a column a device it runs on: the time, and how fast that is in percent of
/// the column's own best. Results are compared with the program's own by default lowering; where one differs, the exit
/// status is 1. A form that another device refuses is a cell that says so.
#[derive(clap::Args)]
#[command(after_help = "\
Example:\n\
\x20 lift bench cross --devices cpu,opencl:0 --program programs/mm.lift \\\n\
\x20   --size M=64,K=64,N=64 --trials 3")]
pub struct Options {
    /// The devices: `cpu`, `opencl:K`, `opencl:PART-OF-THE-NAME`, `cuda:K`
    #[arg(long, value_name = "DEVICE", value_delimiter = ',', required = true)]
    devices: Vec<String>,
    /// The program; `-` is standard input
    #[arg(long, value_name = "FILE")]
    program: PathBuf,
    /// The definition: `main` or the last one otherwise
    #[arg(long, value_name = "NAME")]
    entry: Option<String>,
    /// Sizes, as in N=1024 or M=512,N=512; may be repeated
    #[arg(long = "size", value_name = "SIZES", value_parser = parse_sizes)]
    sizes: Vec<SizeArgument>,
    /// Where nothing is stored for a device, tune for so many seconds first
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds)]
    tune: Option<Duration>,
    /// Where nothing is stored for a device, measure so many candidates at most first
    #[arg(long, value_name = "K")]
    trials: Option<usize>,
    /// How often everything is measured
    #[arg(long, value_name = "K", default_value_t = 3,
          value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Timed runs in a round
    #[arg(long, value_name = "K", default_value_t = 7,
          value_parser = clap::value_parser!(u32).range(1..))]
    repeat: u32,
    /// What inputs are made from
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Give up on a form that runs longer on a device
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = parse_seconds)]
    patience: Duration,
    /// The tuning database, instead of the one in the user's data folder
    #[arg(long, value_name = "FILE")]
    db: Option<PathBuf>,
    /// Write the JSON to this file too
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print an array of {"tuned_for", "run_on", "ms", "percent", "variant", "failed"} instead of the table
    #[arg(long)]
    json: bool,
}

pub fn run(options: &Options) -> Result<(), Failure> {
    let checked = load(&options.program)?;
    let def = entry::find(&checked, &options.program, options.entry.as_deref())?;
    entry::without_extern(def, "extern code is not run unasked")?;
    let sizes = arguments::sizes(def, &options.sizes)?;
    if let Some(open) = def.sizes.iter().find(|v| sizes.get(v.name()).is_none()) {
        let name = open.name();
        return Err(Failure::message(format!("`{name}` has no value: give `--size {name}=…`")));
    }
    let subject = Subject {
        def,
        file: &options.program,
        sizes: &sizes,
        lift: own_command()?,
        rounds: options.rounds,
        repeat: options.repeat,
        seed: options.seed,
        patience: options.patience,
    };
    // What standard input had is read once, and given to `lift tune` again.
    let text = checked.sources.text(MAIN_FILE);
    let input = (options.program == Path::new(STDIN)).then(|| text.to_string());
    let mut devices = Vec::new();
    for id in &options.devices {
        devices.push((id.clone(), device(id)?));
    }
    let database = stored::path(options.db.as_deref())?;
    let tuning = (options.tune.is_some() || options.trials.is_some()).then(|| Tuning {
        lift: subject.lift.clone(),
        time: options.tune,
        input,
        trials: options.trials,
        database: database.clone(),
        fast_math: false,
    });
    let stored = best_of(&database, false);
    let forms = forms(&subject, &devices, tuning.as_ref(), &*stored).map_err(Failure::of)?;
    let mut cells = Vec::new();
    let mut progress = Progress::new(options.devices.len());
    for device in &options.devices {
        progress.begins(&format!("on {device}"));
        cells.push(on_device(&subject, &forms, device).map_err(Failure::message)?);
        progress.ends();
    }
    let cross = Cross { devices: options.devices.clone(), forms, cells };
    if let Some(path) = &options.output {
        write(path, &cross.json())?;
    }
    if options.json {
        say_json(&cross.json())?;
    } else {
        say(&cross.table())?;
    }
    cross.wrong().map_or(Ok(()), |text| Err(Failure::message(text)))
}
