//! `lift db list`: the problems of a database.

use std::path::PathBuf;

use lift_store::Store;
use serde_json::{Value, json};

use super::{existing, failure, sizes};
use crate::report::{Failure, say, say_json};
use crate::run::short;

/// List the problems of a database: program, sizes, device, how many candidates, the best time
///
/// Sizes have the names that they have in the database, by position: N0 is the first of the program's.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:\n\
\x20 lift tune programs/mm.lift --size M=32,K=32,N=32 --trials 2 --db listed.db -o best.lift\n\
\x20 lift db list --db listed.db --json")]
pub struct Options {
    /// The database, instead of the one in the user's data folder
    #[arg(long, value_name = "FILE")]
    db: Option<PathBuf>,
    /// Print an array of {"problem", "program", "sizes", "device", "fingerprint", "flags", "candidates", "best_ms", "runs"}
    #[arg(long)]
    json: bool,
}

pub fn run(options: &Options) -> Result<(), Failure> {
    let store = Store::open_to_read(existing(options.db.as_deref())?).map_err(failure)?;
    let mut rows = Vec::new();
    for problem in store.problems().map_err(failure)? {
        let key = store.key(problem).map_err(failure)?;
        let candidates = store.candidates(problem).map_err(failure)?.len();
        // One that was altered is none.
        let best = store.best(problem).ok().flatten().map(|best| best.median);
        let runs = store.runs(problem).map_err(failure)?.len();
        rows.push((problem.number(), key, candidates, best, runs));
    }
    if options.json {
        let row = |(number, key, candidates, best, runs): &(_, lift_store::ProblemKey, _, _, _)| {
            json!({
                "problem": number, "program": key.name, "sizes": key.sizes, "device": key.device.name,
                "fingerprint": key.device.fingerprint, "flags": key.flags,
                "candidates": candidates, "best_ms": best, "runs": runs,
            })
        };
        return say_json(&rows.iter().map(row).collect::<Vec<Value>>().into());
    }
    let headings = ["problem", "program", "sizes", "candidates", "best ms", "runs", "device"];
    say(&crate::table::of(
        headings,
        rows.into_iter().map(|(number, key, candidates, best, runs)| {
            let best = best.map_or("-".to_string(), short);
            let device = format!("{} {}", key.device.kind, key.device.name);
            let (number, candidates) = (number.to_string(), candidates.to_string());
            [number, key.name.clone(), sizes(&key), candidates, best, runs.to_string(), device]
        }),
    ))
}
