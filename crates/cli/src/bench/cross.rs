//! `lift bench cross`: what was tuned for one device, run on every other.

use std::path::{Path, PathBuf};
use std::time::Duration;

use lift::DeviceInfo;
use lift_explore::measure::{Job, Pool, PoolOptions, Problem, Verdict};
use lift_interp::Sizes;
use lift_ir::Def;
use lift_rewrite::formatted;
use lift_runtime::median;
use lift_syntax::diagnostic::Diagnostic;
use serde_json::{Value, json};

use super::progress::Progress;
use super::suite::listed;
use super::table::time;
use super::tuning::{self, Form, Tuning, tune};
use crate::arguments::{self, SizeArgument, by_name, parse_seconds, parse_sizes};
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

/// The best stored form for a device.
struct Tuned {
    device: String,
    form: Form,
}

/// What became of a form on a device.
#[derive(Clone)]
enum Cell {
    Times(Vec<f64>),
    Failed { why: String, is_wrong: bool },
}

impl Cell {
    fn ms(&self) -> Option<f64> {
        match self {
            Cell::Times(samples) => median(samples),
            Cell::Failed { .. } => None,
        }
    }
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
    // What standard input had is read once, and given to `lift tune` again.
    let text = checked.sources.text(MAIN_FILE);
    let input = (options.program == Path::new(STDIN)).then(|| text.to_string());
    let forms = forms(def, &sizes, input, options)?;
    // By device that runs, then by form.
    let mut cells = Vec::new();
    let mut progress = Progress::new(options.devices.len());
    for device in &options.devices {
        progress.begins(&format!("on {device}"));
        cells.push(on_device(def, &sizes, &forms, device, options)?);
        progress.ends();
    }
    let json = array(&forms, &cells, options);
    if let Some(path) = &options.output {
        super::write(path, &json)?;
    }
    if options.json {
        say_json(&json)?;
    } else {
        say(&table(&forms, &cells, options))?;
    }
    verdict(&forms, &cells, options)
}

/// The best form for every device, tuned for where there is none and that is asked for.
fn forms(
    def: &Def,
    sizes: &Sizes,
    input: Option<String>,
    options: &Options,
) -> Result<Vec<Tuned>, Failure> {
    let database = stored::path(options.db.as_deref())?;
    let mut devices = Vec::new();
    for device in &options.devices {
        devices.push((device, super::device(device)?));
    }
    let best = |info: &DeviceInfo| tuning::best(&database, def, sizes, info, false);
    let how = (options.tune.is_some() || options.trials.is_some()).then(|| Tuning {
        time: options.tune,
        input,
        trials: options.trials,
        database: database.clone(),
        fast_math: false,
    });
    if let Some(how) = &how {
        let sizes: Vec<String> =
            sizes.iter().map(|(name, size)| format!("{name}={size}")).collect();
        for (device, info) in &devices {
            if best(info)?.is_none() {
                tune(how, &options.program, Some(&def.name), &sizes.join(","), device)
                    .map_err(Failure::message)?;
            }
        }
    }
    let (mut forms, mut without) = (Vec::new(), Vec::new());
    for (device, info) in devices {
        match best(&info)? {
            Some(form) => forms.push(Tuned { device: device.clone(), form }),
            None => without.push(device.clone()),
        }
    }
    if without.is_empty() {
        return Ok(forms);
    }
    let text = format!("nothing is stored for {} at these sizes", listed(&without));
    let help = match how {
        Some(_) => "no candidate was right in that time: give more",
        None => "tune first, or give `--tune SECONDS`",
    };
    Err(Failure::of(Diagnostic::error(text).help(help)))
}

/// Every form on one device, by turns, in processes of their own.
fn on_device(
    def: &Def,
    sizes: &Sizes,
    forms: &[Tuned],
    device: &str,
    options: &Options,
) -> Result<Vec<Cell>, Failure> {
    let own = std::env::current_exe()
        .map_err(|e| Failure::message(format!("cannot find the program itself: {e}")))?;
    let problem = Problem {
        text: formatted(def),
        entry: def.name.clone(),
        sizes: by_name(sizes),
        seed: options.seed,
        device: device.to_string(),
        fast_math: false,
        ..Problem::default()
    };
    let mut pool = PoolOptions::new(own, ["worker"]);
    pool.run_limit = options.patience;
    let pool = Pool::start(&pool, &problem).map_err(|e| Failure::message(e.to_string()))?;
    let mut cells = vec![Cell::Times(Vec::new()); forms.len()];
    for _ in 0..options.rounds {
        for (Tuned { form, .. }, cell) in forms.iter().zip(&mut cells) {
            let Cell::Times(samples) = cell else { continue };
            let job = Job::new(formatted(&form.def), form.def.name.as_str(), options.repeat);
            match outcome(pool.measure(&job)) {
                Cell::Times(more) => samples.extend(more),
                failed => *cell = failed,
            }
        }
    }
    Ok(cells)
}

fn outcome(verdict: Verdict) -> Cell {
    let failed = |kind: &str, why: String| {
        let first = why.lines().next().unwrap_or_default();
        let is_wrong = kind == "wrong";
        Cell::Failed { why: format!("{kind}: {first}"), is_wrong }
    };
    match verdict {
        Verdict::Ok { samples_ms } => Cell::Times(samples_ms),
        Verdict::TooSlow { ms } => Cell::Times(vec![ms]),
        Verdict::Wrong(why) => failed("wrong", why),
        Verdict::Crashed(why) => failed("crashed", why),
        Verdict::TimedOut { after_s, .. } => failed("timed out", format!("after {after_s:.0} s")),
        Verdict::Refused(why) => failed("refused", why),
        Verdict::FailedToCompile(why) => failed("failed to compile", why),
        Verdict::OutOfResources(why) => failed("out of resources", why),
    }
}

/// How fast a form is on a device, in percent of the device's own best.
fn percent(column: &[Cell], own: usize, row: usize) -> Option<f64> {
    let best = column.get(own)?.ms()?;
    let ms = column.get(row)?.ms().filter(|ms| *ms > 0.0)?;
    // In this order, so that the best has 100 exactly.
    Some(best / ms * 100.0)
}

fn array(forms: &[Tuned], cells: &[Vec<Cell>], options: &Options) -> Value {
    let mut rows = Vec::new();
    for (index, tuned) in forms.iter().enumerate() {
        for (own, (device, column)) in options.devices.iter().zip(cells).enumerate() {
            let Some(cell) = column.get(index) else { continue };
            let mut row = json!({
                "tuned_for": tuned.device,
                "run_on": device,
                "variant": tuned.form.id,
                "ms": cell.ms(),
                "percent": percent(column, own, index),
            });
            match cell {
                Cell::Times(samples) => row["samples"] = json!(samples),
                Cell::Failed { why, .. } => row["failed"] = why.as_str().into(),
            }
            rows.push(row);
        }
    }
    rows.into()
}

fn table(forms: &[Tuned], cells: &[Vec<Cell>], options: &Options) -> String {
    let mut heading = vec!["tuned for".to_string()];
    heading.extend(options.devices.iter().map(|device| format!("on {device}")));
    let mut lines = vec![heading];
    let mut notes = String::new();
    for (index, tuned) in forms.iter().enumerate() {
        let mut line = vec![tuned.device.clone()];
        for (own, (device, column)) in options.devices.iter().zip(cells).enumerate() {
            line.push(match (column.get(index), percent(column, own, index)) {
                (Some(cell), Some(percent)) => {
                    format!("{} {percent:.0} %", cell.ms().map_or(String::new(), time))
                }
                (Some(Cell::Failed { why, .. }), _) => {
                    notes.push_str(&format!("{} on {device}: {why}\n", tuned.device));
                    why.split(':').next().unwrap_or_default().to_string()
                }
                (Some(cell), None) => cell.ms().map_or("-".to_string(), time),
                (None, _) => "-".to_string(),
            });
        }
        lines.push(line);
    }
    let width = |column: usize| {
        let cells = lines.iter().filter_map(|line| line.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let mut text = String::new();
    for line in &lines {
        let padded = line.iter().enumerate().map(|(k, cell)| format!("{cell:<0$}", width(k)));
        text.push_str(padded.collect::<Vec<_>>().join("  ").trim_end());
        text.push('\n');
    }
    if notes.is_empty() { text } else { format!("{text}\n{notes}") }
}

fn verdict(forms: &[Tuned], cells: &[Vec<Cell>], options: &Options) -> Result<(), Failure> {
    for (device, column) in options.devices.iter().zip(cells) {
        for (tuned, cell) in forms.iter().zip(column) {
            if let Cell::Failed { why, is_wrong: true } = cell {
                let text = format!("what was tuned for {} is {why} on {device}", tuned.device);
                return Err(Failure::message(text));
            }
        }
    }
    Ok(())
}
