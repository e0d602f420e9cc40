//! `lift db across`: what was tuned for other devices, run on one.

use std::path::PathBuf;

use lift::tune::{Foreign, Tuner, Worker};
use serde_json::{Value, json};

use super::existing;
use crate::report::{Failure, remark, say, say_json};
use crate::run::{open, short};
use crate::tune::interrupt::Interrupt;

/// Run what was tuned for other devices on this one, and keep what comes of it
///
/// For every program of the database that was tuned for this device and others, at the same sizes: the best form for each of
/// the others is run here, compared with the program itself and recorded, as by `lift tune`. `lift report` shows it as what
/// was tuned for one device and ran on another. What is known already is not run again.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:\n\
\x20 lift tune programs/mm.lift --size M=32,K=32,N=32 --trials 2 --db both.db\n\
\x20 lift tune programs/mm.lift --size M=32,K=32,N=32 --trials 2 --db both.db --device opencl:0\n\
\x20 lift db across --db both.db --device opencl:0")]
pub struct Options {
    /// The database, instead of the one in the user's data folder
    #[arg(long, value_name = "FILE")]
    db: Option<PathBuf>,
    /// Where to run: `cpu`, `opencl:K`, `opencl:PART-OF-THE-NAME` or `cuda:K`
    #[arg(long, value_name = "DEVICE", default_value = "cpu")]
    device: String,
    /// What inputs follow from
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print an array of {"program", "sizes", "tuned_for", "run_on", "id", "outcome", "ms", "best_ms"}
    #[arg(long)]
    json: bool,
}

pub fn run(options: &Options) -> Result<(), Failure> {
    let path = existing(options.db.as_deref())?;
    let own = crate::own::path()
        .map_err(|e| Failure::message(format!("cannot find the program itself: {e}")))?;
    let opened = open(&options.device).map_err(|e| Failure::message(e.to_string()))?;
    let device = opened.info().clone();
    let here = format!("{} {}", device.way(), device.name);
    let interrupt = Interrupt::watch(None).map_err(Failure::message)?;
    let tuner =
        Tuner { seed: options.seed, ..Tuner::new(&options.device, Worker::lift(own), &path) };
    let run = tuner.run_forms_of_others(&mut |_| !interrupt.came());
    let run = run.map_err(|error| Failure::message(error.to_string()))?;
    if options.json {
        let row = |one: &Foreign| {
            json!({
                "program": one.program, "sizes": sizes(one), "tuned_for": one.tuned_for,
                "run_on": here, "id": one.id, "outcome": one.outcome.name(), "ms": one.ms,
                "best_ms": one.best_ms,
            })
        };
        say_json(&run.iter().map(row).collect::<Vec<Value>>().into())?;
    } else if run.is_empty() {
        remark(&format!(
            "{} has no form for another device that was not run on {here}",
            path.display()
        ));
    } else {
        let headings = ["program", "sizes", "tuned for", "ms here", "best here"];
        say(&crate::table::of(headings, run.iter().map(row)))?;
    }
    interrupt.end_if_it_came();
    Ok(())
}

fn row(one: &Foreign) -> [String; 5] {
    let ms = one.ms.map_or(one.outcome.name().to_string(), short);
    let best = one.best_ms.map_or("-".to_string(), short);
    [one.program.clone(), sizes(one), one.tuned_for.clone(), ms, best]
}

/// `N0=64,N1=64`
fn sizes(one: &Foreign) -> String {
    let sizes = one.sizes.iter().map(|(name, value)| format!("{name}={value}"));
    sizes.collect::<Vec<String>>().join(",")
}
