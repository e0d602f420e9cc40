//! `lift db show`: what is known of a problem.

use std::path::PathBuf;

use lift_store::{Measured, Store, deciding};
use serde_json::{Value, json};

use super::{existing, failure, problem, sizes};
use crate::report::{Failure, say, say_json};
use crate::run::short;

/// Show what was measured for a problem: its candidates, the fastest first, and its runs
#[derive(clap::Args)]
#[command(after_help = "\
Examples:\n\
\x20 lift tune programs/mm.lift --size M=32,K=32,N=32 --trials 2 --db shown.db -o best.lift\n\
\x20 lift db show 1 --db shown.db")]
pub struct Options {
    /// The number of the problem, as `lift db list` shows it
    #[arg(value_name = "PROBLEM")]
    problem: i64,
    /// So many candidates at most
    #[arg(long, value_name = "K", default_value_t = 20)]
    most: usize,
    /// The database, instead of the one in the user's data folder
    #[arg(long, value_name = "FILE")]
    db: Option<PathBuf>,
    /// Print {"problem", "program", "sizes", "device", "text", "candidates", "runs"}
    #[arg(long)]
    json: bool,
}

pub fn run(options: &Options) -> Result<(), Failure> {
    let store = Store::open_to_read(existing(options.db.as_deref())?).map_err(failure)?;
    let id = problem(&store, options.problem)?;
    let key = store.key(id).map_err(failure)?;
    let mut measured = store.measured(id).map_err(failure)?;
    let ms = |m: &Measured| deciding(&m.measurements).and_then(|m| m.ms()).unwrap_or(f64::INFINITY);
    measured.sort_by(|a, b| ms(a).total_cmp(&ms(b)));
    let all = measured.len();
    measured.truncate(options.most);
    let runs = store.runs(id).map_err(failure)?;
    if options.json {
        let candidate = |m: &Measured| {
            let last = m.measurements.last();
            json!({
                "id": m.candidate.hash, "parameters": m.candidate.parameters,
                "kernel_ms": deciding(&m.measurements).and_then(|m| m.ms()),
                "outcome": last.map(|m| m.outcome.name()), "message": last.map(|m| &m.message),
                "host": last.map(|m| &m.host), "text": m.candidate.text,
            })
        };
        let run = |past: &lift_store::PastRun| {
            json!({
                "method": past.run.method, "seed": past.run.seed, "budget": past.run.budget,
                "version": past.run.version, "started": past.run.started,
                "finished": past.finished, "counts": past.counts,
            })
        };
        return say_json(&json!({
            "problem": options.problem, "program": key.name, "sizes": key.sizes,
            "device": key.device.name, "text": key.program,
            "candidates": measured.iter().map(candidate).collect::<Vec<Value>>(),
            "runs": runs.iter().map(run).collect::<Vec<Value>>(),
        }));
    }
    let rows = measured.iter().map(|m| {
        let last = m.measurements.last();
        let time = deciding(&m.measurements).and_then(|m| m.ms()).map_or("-".to_string(), short);
        let outcome = last.map_or("-".to_string(), |m| m.outcome.to_string());
        let id = m.candidate.hash.chars().take(12).collect();
        let host = last.map(|m| m.host.clone()).unwrap_or_default();
        [id, time, outcome, m.candidate.parameters.clone(), host]
    });
    let table = crate::table::of(["candidate", "ms", "last", "parameters", "host"], rows);
    say(&format!(
        "{} at {} on {}\n{all} candidates, {} runs\n\n{table}",
        key.name,
        sizes(&key),
        key.device.name,
        runs.len()
    ))
}
