//! `lift model predict`: which of several programs is fastest, without running any.

use std::path::PathBuf;

use lift::DeviceInfo;
use lift_model::learn::Trained;
use serde_json::{Value, json};

use crate::arguments::{SizeArgument, parse_sizes};
use crate::model::columns::{columns, decimals};
use crate::model::program;
use crate::report::{Failure, say, say_json};

/// Predict how fast low-level programs are, fastest first
///
/// A prediction is throughput compared with the best there is, about 1 for the best. The order is what counts:
/// programs that solve the same problem can be compared, others cannot.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:\n\
\x20 lift tune programs/mm.lift --size M=64,K=64,N=64 --trials 20 --db tune.db -o tuned.lift\n\
\x20 lift model train tune.db -o model.json\n\
\x20 lift model predict model.json programs/mm.lift tuned.lift --size M=64,K=64,N=64")]
pub struct Options {
    /// A model of `lift model train`
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    /// The programs; `-` is standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// The definition to look at in each: `main` or the last one otherwise
    #[arg(long, value_name = "NAME")]
    entry: Option<String>,
    /// Sizes and parameters, as in N=1024 or M=512,N=512; may be repeated
    #[arg(long = "size", value_name = "SIZES", value_parser = parse_sizes)]
    sizes: Vec<SizeArgument>,
    /// The device they would run on; otherwise the one of this machine that the model is for
    #[arg(long, value_name = "DEVICE")]
    device: Option<String>,
    /// Print an array of {"file", "predicted"}, fastest first
    #[arg(long)]
    json: bool,
}

pub fn run(options: &Options) -> Result<(), Failure> {
    let model = super::read(&options.model)?;
    let info = device(&model, options.device.as_deref())?;
    let mut ranked: Vec<(f64, String)> = Vec::new();
    for file in &options.files {
        let found = program::of_file(file, options.entry.as_deref(), &options.sizes, &info)?;
        ranked.push((model.predict(&found.values), file.display().to_string()));
    }
    // Of equals the one named first comes first.
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
    if options.json {
        let row =
            |(predicted, file): &(f64, String)| json!({ "file": file, "predicted": predicted });
        return say_json(&ranked.iter().map(row).collect::<Value>());
    }
    let headings = ["predicted", "file"].map(String::from).to_vec();
    let rows = ranked.into_iter().map(|(predicted, file)| vec![decimals(predicted, 3), file]);
    say(&columns(&std::iter::once(headings).chain(rows).collect::<Vec<_>>()))
}

/// The device that was asked for, which the model must know, or the first one that it knows.
fn device(model: &Trained, id: Option<&str>) -> Result<DeviceInfo, Failure> {
    if let Some(id) = id {
        let info = program::device(id)?;
        model
            .for_device(&program::label(&info))
            .map_err(|error| Failure::message(error.to_string()))?;
        return Ok(info);
    }
    let known = lift::devices().into_iter().flatten().find(|i| program::label(i) == model.device);
    known.ok_or_else(|| {
        Failure::message(format!(
            "the model is for `{}`, which this machine has not (`lift devices` lists what it has): predict \
             there, or train a model for a device that is here",
            model.device
        ))
    })
}
