//! `lift model validate`: predictions of the clock beside measurements.

mod forms;

use std::path::{Path, PathBuf};
use std::time::Duration;

use lift_clock::bodies::{Set, programs};
use lift_clock::validate::{Compared, Measured, compare, measure, spread};
use lift_clock::{Description, four_digits};
use serde::de::DeserializeOwned;
use serde_json::json;

use crate::arguments::parse_seconds;
use crate::machine_file;
use crate::model::columns::columns;
use crate::predict::language;
use crate::report::{Failure, remark, say, say_json};
use crate::run::open;

/// Predict random programs, run them, and compare
///
/// The device must have been measured by `lift calibrate`. q is predicted over measured, d the greater over the smaller. Of
/// set c, which are the programs of the suites in several forms, `rank` is how alike the orders of a program's forms are by
/// prediction and in fact: 1 where they are the same.
#[derive(clap::Args)]
#[command(after_help = "\
Example:\n\
\x20 lift model validate --set b --measured data/clock/b-h200-cuda.json \\\n\
\x20   --machine data/machines/h200-cuda.json")]
pub struct Options {
    /// Where programs run
    #[arg(long, value_name = "DEVICE", default_value = "cpu")]
    device: String,
    /// The description of the machine, instead of the device's own
    #[arg(long, value_name = "FILE")]
    machine: Option<PathBuf>,
    /// Which programs: unrestricted bodies, restricted ones, programs of the suites and random forms of them, or the worst one
    /// of the document
    #[arg(long, value_enum)]
    set: SetName,
    /// How many; of set c, programs at a size
    #[arg(long, value_name = "N", default_value_t = 200)]
    count: usize,
    /// Of set c: only these programs and problems
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    only: Vec<String>,
    /// Seconds until nothing more is begun
    #[arg(long, value_name = "S", value_parser = parse_seconds, default_value = "1800")]
    time: Duration,
    /// Which ones
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Compare with what was measured before, instead of measuring
    #[arg(long, value_name = "FILE")]
    measured: Option<PathBuf>,
    /// Write what was measured
    #[arg(short, long, value_name = "FILE", conflicts_with = "measured")]
    output: Option<PathBuf>,
    /// Print all pairs
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum SetName {
    A,
    B,
    C,
    D,
}

pub fn run(options: &Options) -> Result<(), Failure> {
    let (set, name) = match options.set {
        SetName::A => (Set::A, "a"),
        SetName::B => (Set::B, "b"),
        SetName::C => return forms::run(options),
        SetName::D => (Set::D, "d"),
    };
    let (measured, machine) = match &options.measured {
        Some(path) => {
            let measured: Measured = kept(path)?;
            if measured.set != name {
                let shown = path.display();
                let text = format!("{shown}: measurements of set {}", measured.set);
                return Err(Failure::message(text));
            }
            (measured, machine_of_kept(options)?)
        }
        None => on_device(options, set, name)?,
    };
    let language = language(&machine)?;
    let all = compare(set, &measured, language, &machine).map_err(Failure::message)?;
    if options.json {
        let pairs: Vec<_> = all.iter().map(pair).collect();
        let tried = measured.pairs.iter().map(|p| p.body + 1).max().unwrap_or(0);
        let bodies: Vec<_> =
            programs(set, measured.count, measured.seed).into_iter().take(tried).collect();
        return say_json(&json!({
            "device": measured.device, "set": name, "seed": measured.seed, "date": measured.date, "bodies": bodies,
            "pairs": pairs,
        }));
    }
    say(&table(&all))
}

/// What was measured before.
fn kept<T: DeserializeOwned>(path: &Path) -> Result<T, Failure> {
    let shown = path.display();
    let text = std::fs::read_to_string(path)
        .map_err(|e| Failure::message(format!("cannot read {shown}: {e}")))?;
    serde_json::from_str(&text)
        .map_err(|e| Failure::message(format!("{shown}: no measurements: {e}")))
}

fn machine_of_kept(options: &Options) -> Result<Description, Failure> {
    let machine = options.machine.as_ref().ok_or_else(|| {
        Failure::message(
            "measurements need the description they are compared with: give `--machine`",
        )
    })?;
    machine_file::read(machine)
}

/// The device and its description.
fn described(options: &Options) -> Result<(lift::DeviceInfo, Description), Failure> {
    let info = open(&options.device).map_err(|e| Failure::message(e.to_string()))?.info().clone();
    let machine = match &options.machine {
        Some(path) => machine_file::read(path)?,
        None => machine_file::of_device(&info, "")?.ok_or_else(|| {
            Failure::message(format!(
                "measure it first, by `lift calibrate --device {}`",
                options.device
            ))
        })?,
    };
    machine.fits(&info, "").map_err(Failure::message)?;
    Ok((info, machine))
}

fn on_device(options: &Options, set: Set, name: &str) -> Result<(Measured, Description), Failure> {
    let (_, machine) = described(options)?;
    let mut device = open(&options.device).map_err(|e| Failure::message(e.to_string()))?;
    let mut told = |k: usize, n: usize| remark(&format!("body {} of {n}", k + 1));
    let pairs = measure(&mut *device, set, options.count, options.seed, options.time, &mut told)
        .map_err(Failure::message)?;
    let measured = Measured {
        device: machine.device.clone(),
        set: name.to_string(),
        seed: options.seed,
        count: options.count,
        date: machine_file::today(),
        pairs,
    };
    if let Some(path) = &options.output {
        let text = serde_json::to_string(&measured)
            .map_err(|e| Failure::message(format!("{}: {e}", path.display())))?;
        let write = |file: &mut std::fs::File| std::io::Write::write_all(file, text.as_bytes());
        crate::output::replace(path, write)
            .map_err(|e| Failure::message(format!("cannot write {}: {e}", path.display())))?;
    }
    Ok((measured, machine))
}

fn pair(c: &Compared) -> serde_json::Value {
    json!({
        "body": c.pair.body, "height": c.pair.height, "width": c.pair.width, "unsteady": c.pair.unsteady,
        "measured_ms": four_digits(c.pair.measured_ms), "predicted_ms": four_digits(c.predicted_ms),
        "q": four_digits(c.q()), "bound_by": c.bound_by,
    })
}

fn table(all: &[Compared]) -> String {
    let mut rows = vec![
        ["what", "pairs", "mean of q", "its deviation", "median of d"].map(String::from).to_vec(),
    ];
    let mut row = |what: String, chosen: Vec<&Compared>| {
        if chosen.is_empty() {
            return;
        }
        let (mean, deviation) = spread(&chosen.iter().map(|c| c.q()).collect::<Vec<_>>());
        let d =
            lift_runtime::median(&chosen.iter().map(|c| c.d()).collect::<Vec<_>>()).unwrap_or(1.0);
        let figures = [mean, deviation, d].map(|f| format!("{f:.3}"));
        rows.push([vec![what, chosen.len().to_string()], figures.to_vec()].concat());
    };
    let steady = || all.iter().filter(|c| !c.pair.unsteady);
    row("all".to_string(), steady().collect());
    row("below 50,000 elements".to_string(), steady().filter(|c| c.elements() < 50_000).collect());
    let mut sizes: Vec<(i128, i128)> = all.iter().map(|c| (c.pair.height, c.pair.width)).collect();
    sizes.sort_unstable();
    sizes.dedup();
    for (height, width) in sizes {
        let chosen = steady().filter(|c| (c.pair.height, c.pair.width) == (height, width));
        row(format!("{height} x {width}"), chosen.collect());
    }
    let mut bounds: Vec<&str> = all.iter().map(|c| c.bound_by).collect();
    bounds.sort_unstable();
    bounds.dedup();
    for bound in bounds {
        row(format!("bound by {bound}"), steady().filter(|c| c.bound_by == bound).collect());
    }
    row(
        "unsteady, not counted above".to_string(),
        all.iter().filter(|c| c.pair.unsteady).collect(),
    );
    columns(&rows)
}
