//! `lift bench cluster`: what one `lift tune` can hold.

use std::path::PathBuf;

use lift_bench::cluster::{Held, Parent, Simulated, away, held, recorded, saturated_at, simulate};
use lift_store::Durations;
use serde_json::{Value, json};

use crate::arguments::parse_seconds;
use crate::report::{Failure, say, say_json};
use crate::run::short;

/// How many workers one `lift tune` can hold, measured and by simulation
///
/// Workers that answer at once connect over TCP to this process, which records every answer in a database: so many results a
/// second are the most there can be. With `--db`, searches with many workers are simulated from what was recorded there: every
/// candidate takes the time that it took to choose, compile, run and compare it, the parent takes as long for a result as was
/// measured, and so do messages.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:\n\
\x20 lift bench cluster --workers 20 --results 200\n\
\x20 lift tune programs/mm.lift --size M=64,K=64,N=64 --trials 6 --db recorded.db -o best.lift\n\
\x20 lift bench cluster --workers 20 --results 200 --db recorded.db --simulate 1,10,100,1000")]
pub struct Options {
    /// Workers that answer at once
    #[arg(long, value_name = "W", default_value_t = 200, value_parser = clap::value_parser!(u16).range(1..=2000))]
    workers: u16,
    /// What they answer, together
    #[arg(long, value_name = "K", default_value_t = 4000)]
    results: usize,
    /// A tuning database whose measurements are replayed
    #[arg(long, value_name = "FILE")]
    db: Option<PathBuf>,
    /// Simulate searches with so many workers
    #[arg(
        long,
        value_name = "W",
        value_delimiter = ',',
        default_value = "1,10,100,300,1000",
        requires = "db"
    )]
    simulate: Vec<usize>,
    /// The time of a message to a worker and its answer, as `ping` says it, instead of that measured on this machine
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds, requires = "db")]
    round_trip: Option<std::time::Duration>,
    /// Print {"held", "replayed", "saturated_at_workers", "simulated"}
    #[arg(long)]
    json: bool,
}

pub fn run(options: &Options) -> Result<(), Failure> {
    let replayed = options.db.as_ref().map(|path| read(path)).transpose()?;
    let folder = std::env::temp_dir().join(format!("lift-cluster-{}", std::process::id()));
    std::fs::create_dir_all(&folder)
        .map_err(|e| Failure::message(format!("cannot make {}: {e}", folder.display())))?;
    let measured = held(options.workers.into(), options.results, &folder);
    let _ = std::fs::remove_dir_all(&folder);
    let measured = measured.map_err(Failure::message)?;
    let mut parent = measured.parent();
    parent.round_trip = options.round_trip.map_or(parent.round_trip, |time| time.as_secs_f64());
    let replay = replayed.map(|recorded| Replay::new(recorded, parent, &options.simulate));
    if options.json {
        let (replayed, enough, simulated) = match &replay {
            Some(replay) => replay.json(),
            None => (Value::Null, Value::Null, Value::Null),
        };
        return say_json(&json!({
            "held": {
                "workers": measured.workers, "results": measured.results,
                "recorded": measured.recorded, "seconds": measured.seconds,
                "results_per_second": measured.per_second(),
                "messages_per_second": measured.messages_per_second(),
                "bytes_per_worker": measured.bytes_per_worker,
                "peak_bytes": measured.peak_bytes, "round_trip_seconds": measured.round_trip,
            },
            "replayed": replayed,
            "saturated_at_workers": enough,
            "simulated": simulated,
        }));
    }
    say(&format!("{}{}", text(&measured), replay.map_or(String::new(), |replay| replay.text())))
}

fn read(path: &std::path::Path) -> Result<Vec<Durations>, Failure> {
    let failed = |why: &str| Failure::message(format!("{}: {why}", path.display()));
    if !path.is_file() {
        return Err(failed("there is no such database"));
    }
    let recorded = recorded(path).map_err(Failure::message)?;
    match recorded.is_empty() {
        true => Err(failed(
            "it does not say how long candidates took, as databases of older versions do not: tune again",
        )),
        false => Ok(recorded),
    }
}

/// Searches that were simulated.
struct Replay {
    recorded: Vec<Durations>,
    parent: Parent,
    simulated: Vec<Simulated>,
}

impl Replay {
    fn new(recorded: Vec<Durations>, parent: Parent, workers: &[usize]) -> Replay {
        let simulated = workers.iter().map(|w| simulate(&recorded, parent, *w)).collect();
        Replay { recorded, parent, simulated }
    }

    /// Means, in seconds: to choose a candidate, and how long it is away.
    fn means(&self) -> (f64, f64) {
        let mean = |of: &dyn Fn(&Durations) -> f64| {
            self.recorded.iter().map(of).sum::<f64>() / self.recorded.len().max(1) as f64
        };
        (mean(&|one| one.choose_ms / 1000.0), mean(&away))
    }

    fn json(&self) -> (Value, Value, Value) {
        let (choose, away) = self.means();
        let row = |one: &Simulated| {
            json!({
                "workers": one.workers, "results_per_second": one.per_second,
                "parent_busy": one.parent_busy,
            })
        };
        (
            json!({
                "candidates": self.recorded.len(), "mean_choose_seconds": choose,
                "mean_away_seconds": away, "result_seconds": self.parent.result,
                "round_trip_seconds": self.parent.round_trip,
            }),
            json!(saturated_at(&self.recorded, self.parent)),
            self.simulated.iter().map(row).collect(),
        )
    }

    fn text(&self) -> String {
        let table = crate::table::of(
            ["workers", "results a second", "parent at work"],
            self.simulated.iter().map(|one| {
                let busy = format!("{:.0} %", one.parent_busy * 100.0);
                [one.workers.to_string(), short(one.per_second), busy]
            }),
        );
        let (choose, away) = self.means();
        format!(
            "\n{} measurements replayed: {} ms to choose one, {} ms away, on average\n\
             the parent is always at work from {:.0} workers on\n\n{table}",
            self.recorded.len(),
            short(choose * 1000.0),
            short(away * 1000.0),
            saturated_at(&self.recorded, self.parent),
        )
    }
}

fn text(held: &Held) -> String {
    format!(
        "{} workers that answer at once: {} results in {:.2} s, {} recorded\n\
         {:.0} results and {:.0} messages a second, {:.0} KiB of memory a worker, {:.0} MiB in all\n\
         {:.0} microseconds for a message and its answer\n",
        held.workers,
        held.results,
        held.seconds,
        held.recorded,
        held.per_second(),
        held.messages_per_second(),
        held.bytes_per_worker / 1024.0,
        held.peak_bytes as f64 / (1024.0 * 1024.0),
        held.round_trip * 1e6,
    )
}
