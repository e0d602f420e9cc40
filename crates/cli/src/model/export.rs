//! `lift model export`: measurements as a table.

use std::path::PathBuf;

use lift_model::learn::Layout;
use serde_json::json;

use crate::model::{measurements, table_file};
use crate::report::{Failure, say, say_json};

/// Write the measured candidates of a database as a table
///
/// One line a candidate: program, sizes, device, hash, parameters, outcome, median in milliseconds, spread of its
/// times, and its features by name. A name that ends in `.gz` is compressed.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:\n\
\x20 lift tune programs/reduce/sum.lift --size N=65536 --trials 5 --db tune.db\n\
\x20 lift model export tune.db -o sum.csv.gz")]
pub struct Options {
    /// A database of `lift tune`, or another table
    #[arg(value_name = "DB")]
    file: PathBuf,
    /// The file to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Print {"output", "candidates"}
    #[arg(long)]
    json: bool,
}

pub fn run(options: &Options) -> Result<(), Failure> {
    let layout = Layout::current();
    let rows = measurements::rows(&options.file, &layout)?;
    let path = &options.output;
    table_file::write(path, &rows, &layout)
        .map_err(|e| Failure::message(format!("cannot write {}: {e}", path.display())))?;
    if options.json {
        let output = path.display().to_string();
        return say_json(&json!({ "output": output, "candidates": rows.len() }));
    }
    say(&format!("{}: {} candidates\n", path.display(), rows.len()))
}
