//! `lift model features`: what a model sees of a program.

use std::path::PathBuf;

use lift_model::features::{VERSION, names};
use serde_json::{Map, Value, json};

use crate::arguments::{SizeArgument, parse_sizes};
use crate::model::columns::columns;
use crate::model::program;
use crate::report::{Failure, say, say_json};

/// Print what a model sees of a low-level program: its features by name
#[derive(clap::Args)]
#[command(after_help = "\
Example:\n\
\x20 lift model features programs/reduce/dot.lift --size N=1048576 --device opencl:0")]
pub struct Options {
    /// The program; `-` is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The definition to look at: `main` or the last one otherwise
    #[arg(long, value_name = "NAME")]
    entry: Option<String>,
    /// Sizes and parameters, as in N=1024 or M=512,N=512; may be repeated
    #[arg(long = "size", value_name = "SIZES", value_parser = parse_sizes)]
    sizes: Vec<SizeArgument>,
    /// The device it would run on: `cpu`, `opencl:K`, `opencl:PART-OF-THE-NAME` or `cuda:K`
    #[arg(long, value_name = "DEVICE", default_value = "cpu")]
    device: String,
    /// Print {"version", "device", "features"}
    #[arg(long)]
    json: bool,
}

pub fn run(options: &Options) -> Result<(), Failure> {
    let info = program::device(&options.device)?;
    let found = program::of_file(&options.file, options.entry.as_deref(), &options.sizes, &info)?;
    let pairs = names().iter().zip(&found.values);
    if options.json {
        let features: Map<String, Value> =
            pairs.map(|(name, value)| (name.to_string(), json!(value))).collect();
        let device = program::label(&info);
        return say_json(&json!({ "version": VERSION, "device": device, "features": features }));
    }
    let headings = ["feature", "value"].map(String::from).to_vec();
    let rows = pairs.map(|(name, value)| vec![name.to_string(), value.to_string()]);
    say(&columns(&std::iter::once(headings).chain(rows).collect::<Vec<_>>()))
}
