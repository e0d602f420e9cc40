//! `lift model train`: a model from measurements.

use std::io::Write;
use std::path::PathBuf;

use lift_model::learn::{Kind, Trained};
use serde_json::json;

use crate::model::measurements::Named;
use crate::output;
use crate::report::{Failure, say, say_json};

/// Train a model from measurements
///
/// The model says how fast a low-level program is compared with the best for the same problem. It is for the device
/// whose measurements it has seen.
#[derive(clap::Args)]
#[command(after_help = "\
Example:\n\
\x20 lift model train data/stencils-cpu.csv.gz -o model.json --kind trees")]
pub struct Options {
    #[command(flatten)]
    measurements: Named,
    /// The file to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Nearest neighbours after principal components, or extremely randomised trees
    #[arg(long, value_name = "KIND", default_value = "trees", value_parser = ["knn", "trees"])]
    kind: String,
    /// What random choices follow from
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print {"output", "kind", "device", "programs", "samples", "features"}
    #[arg(long)]
    json: bool,
}

pub fn run(options: &Options) -> Result<(), Failure> {
    let data = options.measurements.read()?.data;
    let kind: Kind = options.kind.parse().map_err(|e: String| Failure::message(e))?;
    let trained = Trained::fit(kind, &data, options.seed)
        .map_err(|error| Failure::message(error.to_string()))?;
    let path = &options.output;
    output::replace(path, |file| file.write_all(trained.to_json().as_bytes()))
        .map_err(|e| Failure::message(format!("cannot write {}: {e}", path.display())))?;
    if options.json {
        return say_json(&json!({
            "output": path.display().to_string(),
            "kind": trained.kind().to_string(),
            "device": trained.device,
            "programs": trained.programs,
            "samples": trained.samples,
            "features": trained.features.len(),
        }));
    }
    say(&format!(
        "{}: {kind} for `{}`, from {} candidates of {}\n",
        path.display(),
        trained.device,
        trained.samples,
        trained.programs.join(", ")
    ))
}
