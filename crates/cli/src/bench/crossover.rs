//! `lift bench crossover`: from which size on another device wins.

use std::collections::BTreeMap;
use std::path::PathBuf;

use lift_clock::{Crossover, Description, crossover, plan, predict};
use lift_ir::Def;
use serde_json::json;

use crate::arguments::{SizeArgument, parse_sizes};
use crate::predict::language;
use crate::report::{Failure, load, say, say_json};
use crate::run::open;
use crate::{entry, machine_file};

/// Say from which size on a program is done sooner on another device
///
/// All sizes that are not given grow together. Times are those of `lift predict`, transfers included; with `--measure`, also
/// those of runs.
#[derive(clap::Args)]
#[command(after_help = "\
Example:\n\
\x20 lift bench crossover programs/mm.lift \\\n\
\x20   --machines data/machines/xeon-16.json,data/machines/h200-cuda.json")]
pub struct Options {
    /// The program; `-` is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The definition: `main` or the last one otherwise
    #[arg(long, value_name = "NAME")]
    entry: Option<String>,
    /// Two devices that `lift calibrate` has measured: that of small sizes first
    #[arg(long, value_name = "DEVICE", value_delimiter = ',', num_args = 1..)]
    devices: Vec<String>,
    /// Two descriptions of machines, in place of devices
    #[arg(long, value_name = "FILE", value_delimiter = ',', num_args = 1.., conflicts_with = "devices")]
    machines: Vec<PathBuf>,
    /// Sizes that stay as they are, as in K=16; may be repeated
    #[arg(long = "size", value_name = "SIZES", value_parser = parse_sizes)]
    sizes: Vec<SizeArgument>,
    /// The smallest size to try
    #[arg(long, value_name = "N", default_value_t = 16)]
    from: i128,
    /// The largest one
    #[arg(long, value_name = "N", default_value_t = 8192)]
    to: i128,
    /// Run the program too, to find where it is so in fact
    #[arg(long, conflicts_with = "machines")]
    measure: bool,
    /// Print {"predicted", "measured"}
    #[arg(long)]
    json: bool,
}

pub fn run(options: &Options) -> Result<(), Failure> {
    let checked = load(&options.file)?;
    let def = entry::find(&checked, &options.file, options.entry.as_deref())?;
    entry::refuse_extern(def, false)?;
    let machines = machines(options)?;
    let [first, second] = machines.as_slice() else {
        return Err(Failure::message(
            "two are compared: give two by `--devices`, as in cpu,cuda:0, or by `--machines`",
        ));
    };
    let predicted = crossover(options.from, options.to, &mut |n| {
        Ok(predicted_ms(def, options, n, second)? < predicted_ms(def, options, n, first)?)
    });
    let predicted = predicted.map_err(Failure::message)?;
    let measured = match (options.measure, options.devices.as_slice()) {
        (true, [first, second]) => {
            let found = crossover(options.from, options.to, &mut |n| {
                Ok(measured_ms(def, options, n, second)? < measured_ms(def, options, n, first)?)
            });
            Some(found.map_err(Failure::message)?)
        }
        _ => None,
    };
    if options.json {
        return say_json(&json!({ "predicted": size(predicted), "measured": measured.map(size) }));
    }
    let mut text = format!("predicted: {} {}\n", second.device, told(predicted));
    if let Some(measured) = measured {
        text += &format!("measured: {} {}\n", second.device, told(measured));
    }
    say(&text)
}

fn machines(options: &Options) -> Result<Vec<Description>, Failure> {
    let of_file = |path: &PathBuf| machine_file::read(path);
    let of_device = |id: &String| {
        let device = open(id).map_err(|e| Failure::message(e.to_string()))?;
        machine_file::of_device(device.info(), "")?.ok_or_else(|| {
            Failure::message(format!(
                "`{id}` has not been measured yet; do so by `lift calibrate --device {id}`"
            ))
        })
    };
    match options.machines.is_empty() {
        true => options.devices.iter().map(of_device).collect(),
        false => options.machines.iter().map(of_file).collect(),
    }
}

/// All sizes and parameters: those given, and the others as large as this one.
fn at(def: &Def, options: &Options, n: i128) -> BTreeMap<String, i128> {
    let mut sizes: BTreeMap<String, i128> =
        def.sizes.iter().map(|v| (v.name().to_string(), n)).collect();
    for argument in &options.sizes {
        sizes.extend(argument.0.iter().cloned());
    }
    sizes
}

fn predicted_ms(
    def: &Def,
    options: &Options,
    n: i128,
    machine: &Description,
) -> Result<f64, String> {
    let sizes = at(def, options, n);
    let language = language(machine).map_err(Failure::in_short)?;
    let lowering = lift::Options { sizes: sizes.clone(), ..lift::Options::default() };
    let plan = plan(def, &lowering, language, machine).map_err(|e| e.to_string())?;
    Ok(predict(&plan, &sizes, machine)?.total_ms())
}

fn measured_ms(def: &Def, options: &Options, n: i128, device: &str) -> Result<f64, String> {
    let mut device = open(device).map_err(|e| e.to_string())?;
    Ok(lift_clock::timed::total(&mut *device, def, &at(def, options, n))?.ms)
}

fn size(found: Crossover) -> serde_json::Value {
    match found {
        Crossover::Never => json!("never"),
        Crossover::Always => json!("always"),
        Crossover::From(n) => json!(n),
    }
}

fn told(found: Crossover) -> String {
    match found {
        Crossover::Never => "never wins in this range".to_string(),
        Crossover::Always => "always wins in this range".to_string(),
        Crossover::From(n) => format!("wins from {n} on"),
    }
}
