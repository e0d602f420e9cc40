//! `lift bench cluster`: what one `lift tune` can hold.

use std::path::PathBuf;

use lift_bench::cluster::{Held, Simulated, durations, held, simulate};
use serde_json::{Value, json};

use crate::report::{Failure, say, say_json};
use crate::run::short;

/// How many workers one `lift tune` can hold, measured and by simulation
///
/// Workers that answer at once connect over TCP to this process, which records every answer in a database: so many results a
/// second are the most there can be. Then searches are simulated, with as many workers as asked for, whose candidates take the
/// time that they took in the database; the parent takes as long for a result as was measured.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:\n\
\x20 lift bench cluster --workers 20 --results 200\n\
\x20 lift bench cluster --workers 20 --results 200 --simulate 1,10,100,1000 --latency 0.001")]
pub struct Options {
    /// Workers that answer at once
    #[arg(long, value_name = "W", default_value_t = 200, value_parser = clap::value_parser!(u16).range(1..=2000))]
    workers: u16,
    /// What they answer, together
    #[arg(long, value_name = "K", default_value_t = 4000)]
    results: usize,
    /// Simulate searches with so many workers
    #[arg(long, value_name = "W", value_delimiter = ',', default_value = "1,10,100,300,1000")]
    simulate: Vec<usize>,
    /// The time of a message to a worker, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 0.0005)]
    latency: f64,
    /// A tuning database whose measurements are replayed; without, candidates take a second each
    #[arg(long, value_name = "FILE")]
    db: Option<PathBuf>,
    /// Print {"held", "replayed", "simulated"}
    #[arg(long)]
    json: bool,
}

pub fn run(options: &Options) -> Result<(), Failure> {
    if !options.latency.is_finite() || options.latency < 0.0 {
        return Err(Failure::message("the latency is a time: it is not negative"));
    }
    let times = match &options.db {
        None => vec![1.0],
        Some(path) if !path.is_file() => {
            return Err(Failure::message(format!("there is no database {}", path.display())));
        }
        Some(path) => durations(path).map_err(Failure::message)?,
    };
    if times.is_empty() {
        return Err(Failure::message("the database has no measurements to replay"));
    }
    let folder = std::env::temp_dir().join(format!("lift-cluster-{}", std::process::id()));
    std::fs::create_dir_all(&folder)
        .map_err(|e| Failure::message(format!("cannot make {}: {e}", folder.display())))?;
    let measured = held(options.workers.into(), options.results, &folder);
    let _ = std::fs::remove_dir_all(&folder);
    let measured = measured.map_err(Failure::message)?;
    let parent = 1.0 / measured.per_second().max(f64::MIN_POSITIVE);
    let simulated: Vec<Simulated> =
        options.simulate.iter().map(|w| simulate(&times, parent, options.latency, *w)).collect();
    let mean = times.iter().sum::<f64>() / times.len() as f64;
    let enough = (mean + 2.0 * options.latency) / parent + 1.0;
    if options.json {
        return say_json(&json!({
            "held": {
                "workers": measured.workers, "results": measured.results,
                "recorded": measured.recorded, "seconds": measured.seconds,
                "results_per_second": measured.per_second(),
                "messages_per_second": measured.messages_per_second(),
                "bytes_per_worker": measured.bytes_per_worker,
            },
            "replayed": { "candidates": times.len(), "mean_seconds": mean },
            "saturated_at_workers": enough,
            "simulated": simulated.iter().map(row).collect::<Vec<Value>>(),
        }));
    }
    say(&text(&measured, &simulated, times.len(), mean, enough))
}

fn row(one: &Simulated) -> Value {
    json!({
        "workers": one.workers, "results_per_second": one.per_second,
        "parent_busy": one.parent_busy,
    })
}

fn text(held: &Held, simulated: &[Simulated], replayed: usize, mean: f64, enough: f64) -> String {
    let table = crate::table::of(
        ["workers", "results a second", "parent at work"],
        simulated.iter().map(|one| {
            let busy = format!("{:.0} %", one.parent_busy * 100.0);
            [one.workers.to_string(), short(one.per_second), busy]
        }),
    );
    format!(
        "{} workers that answer at once: {} results in {:.2} s, {} recorded\n\
         {:.0} results and {:.0} messages a second, {:.0} KiB of memory a worker\n\n\
         {replayed} measurements of {} s replayed; the parent is always at work from {enough:.0} workers on\n\n{table}",
        held.workers,
        held.results,
        held.seconds,
        held.recorded,
        held.per_second(),
        held.messages_per_second(),
        held.bytes_per_worker / 1024.0,
        short(mean),
    )
}
