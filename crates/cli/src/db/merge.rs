//! `lift db merge`: the union of databases.

use std::path::PathBuf;

use lift_store::merge;
use serde_json::json;

use super::failure;
use crate::report::{Failure, remark, say, say_json};

/// Write the union of databases to a new one
///
/// Rows are the same where program, sizes, device, flags and candidate are; measurements and runs where all they say is. The
/// result does not depend on the order of the files, or on how often one is named. The files are only read, and the result is
/// there as a whole or not at all. Rows that were altered since they were recorded are left out.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:\n\
\x20 lift tune programs/mm.lift --size M=32,K=32,N=32 --trials 2 --db a.db -o best.lift\n\
\x20 lift tune programs/mm.lift --size M=64,K=32,N=32 --trials 2 --db b.db -o best.lift\n\
\x20 lift db merge a.db b.db -o all.db")]
pub struct Options {
    /// The databases
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Write the union to this file
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Print {"problems", "candidates", "measurements", "runs", "altered", "conflicts"}
    #[arg(long)]
    json: bool,
}

pub fn run(options: &Options) -> Result<(), Failure> {
    let merged = merge(&options.files, &options.output).map_err(failure)?;
    for conflict in &merged.conflicts {
        remark(&format!("warning: {conflict}"));
    }
    if merged.altered > 0 {
        remark(&format!("warning: {} rows were altered and are left out", merged.altered));
    }
    if options.json {
        return say_json(&json!({
            "problems": merged.problems, "candidates": merged.candidates,
            "measurements": merged.measurements, "runs": merged.runs,
            "altered": merged.altered, "conflicts": merged.conflicts,
        }));
    }
    say(&format!(
        "wrote {}: {} problems, {} candidates, {} measurements, {} runs\n",
        options.output.display(),
        merged.problems,
        merged.candidates,
        merged.measurements,
        merged.runs
    ))
}
