//! `lift tune`: the fastest of many low-level programs, found by measuring.

use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::time::Duration;

use lift::Target;
use lift_explore::measure::{Pool, PoolOptions, Problem};
use lift_explore::parameters::Bounds;
use lift_explore::space::{Space, everything};
use lift_explore::tune::{Method, Progress, Request, counts, tune};
use lift_interp::Sizes;
use lift_ir::Def;
use lift_rewrite::formatted;
use lift_store::{Best, Store};
use serde_json::json;

use crate::arguments::{self, SizeArgument, by_name, parse_sizes};
use crate::report::{Failure, load, remark, say, say_json};
use crate::{entry, output, stored};

/// Find the fastest low-level form of a program for a device, by measuring many
///
/// Candidates are derived by rules, given values for their parameters, run in processes of their own and compared
/// with the program itself. Everything measured is kept in the database; `lift run` uses the best there is for the
/// program, sizes and device. Ctrl-C keeps what was measured; `--resume` goes on.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  lift tune mm.lift --size M=1024,K=1024,N=1024 --device opencl:0 --trials 200\n  \
                        lift tune sum.lift --size N=1048576 --time 60 -o best.lift"
)]
pub struct Options {
    /// The program
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The definition to tune: `main` or the last one otherwise
    #[arg(long, value_name = "NAME")]
    entry: Option<String>,
    /// Sizes, as in N=1024 or M=512,N=512; may be repeated
    #[arg(long = "size", value_name = "SIZES", value_parser = parse_sizes)]
    sizes: Vec<SizeArgument>,
    /// Where to run: `cpu`, `opencl:K`, `opencl:PART-OF-THE-NAME` or `cuda:K`
    #[arg(long, value_name = "DEVICE", default_value = "cpu")]
    device: String,
    /// Measure so many candidates at most
    #[arg(long, value_name = "K", default_value_t = 100)]
    trials: usize,
    /// Stop after so many seconds
    #[arg(long, value_name = "SECONDS")]
    time: Option<u64>,
    /// How candidates are chosen
    #[arg(long, value_enum, default_value_t = Search::Random)]
    search: Search,
    /// What random choices and inputs follow from
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Timed runs of a candidate
    #[arg(long, value_name = "K", default_value_t = 10)]
    repeat: u32,
    /// The database, instead of the one in the user's data folder
    #[arg(long, value_name = "FILE")]
    db: Option<PathBuf>,
    /// Do not measure again what the database has
    #[arg(long)]
    resume: bool,
    /// Let the device's compiler reorder floating-point arithmetic
    #[arg(long)]
    fast_math: bool,
    /// Write the best program to this file
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print {"best", "tried", "failed", "seconds", "phases"}
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Search {
    Random,
    Exhaustive,
}

pub fn run(options: &Options) -> Result<(), Failure> {
    let checked = load(&options.file)?;
    let def = entry::find(&checked, &options.file, options.entry.as_deref())?;
    entry::without_extern(def, "extern code is not run unasked")?;
    let sizes = arguments::sizes(def, &options.sizes)?;
    if let Some(open) = def.sizes.iter().find(|v| sizes.get(v.name()).is_none()) {
        let name = open.name();
        return Err(Failure::message(format!("`{name}` has no value: give `--size {name}=…`")));
    }
    let info = crate::run::open(&options.device)
        .map_err(|e| Failure::compile(e, &checked.sources))?
        .info()
        .clone();
    let mut store = Store::open(&stored::path(options.db.as_deref())?).map_err(failed)?;
    let key = stored::key(def, &sizes, &info, options.fast_math);
    let problem = store.problem(&key).map_err(failed)?;
    let space = everything(def);
    remark(&format!("{} low-level programs to choose from", space.variants.len()));
    let pool = pool(def, &sizes, options)?;
    let request = request(def, &sizes, &info, options);
    let mut show = Show::new(options);
    let progress = tune(&request, &space, &pool, &mut store, problem, &mut |p| show.tell(p));
    show.done();
    let progress = progress.map_err(failed)?;
    let best = store.best(problem).map_err(failed)?;
    if let (Some(path), Some(best)) = (&options.output, &best) {
        let text = best.candidate.text.as_bytes();
        output::replace(path, |file| file.write_all(text))
            .map_err(|e| Failure::message(format!("cannot write {}: {e}", path.display())))?;
    }
    if options.json {
        return say_json(&report(&best, &progress, &space));
    }
    say(&summary(&best, &progress))
}

fn failed(error: lift_store::StoreError) -> Failure {
    Failure::message(error.to_string())
}

fn pool(def: &Def, sizes: &Sizes, options: &Options) -> Result<Pool, Failure> {
    let own = std::env::current_exe()
        .map_err(|e| Failure::message(format!("cannot find the program itself: {e}")))?;
    let problem = Problem {
        text: formatted(def),
        entry: def.name.clone(),
        sizes: by_name(sizes),
        seed: options.seed,
        device: options.device.clone(),
        fast_math: options.fast_math,
    };
    Pool::start(&PoolOptions::new(own, ["worker"]), &problem)
        .map_err(|e| Failure::message(e.to_string()))
}

fn request<'d>(
    def: &'d Def,
    sizes: &Sizes,
    info: &lift::DeviceInfo,
    options: &Options,
) -> Request<'d> {
    let target = match info.language {
        lift::Language::C => Target::Loops,
        lift::Language::OpenCl | lift::Language::Cuda => Target::Threads,
    };
    let most = i128::from(info.max_group_size).min(1024);
    let bounds = Bounds { most_items: most, ..Bounds::default() };
    let method = match options.search {
        Search::Random => Method::Random,
        Search::Exhaustive => Method::Exhaustive,
    };
    Request {
        def,
        sizes: by_name(sizes),
        target,
        bounds,
        method,
        seed: options.seed,
        trials: options.trials,
        time: options.time.map(Duration::from_secs),
        repeats: options.repeat,
        resume: options.resume,
        host: info.name.clone(),
        version: env!("CARGO_PKG_VERSION").to_string(),
    }
}

/// Tells how far the search is: one line that changes on a terminal, a line for every new best elsewhere.
struct Show {
    trials: usize,
    is_terminal: bool,
    best: Option<f64>,
}

impl Show {
    fn new(options: &Options) -> Show {
        let is_terminal = std::io::stderr().is_terminal();
        Show { trials: options.trials, is_terminal, best: None }
    }

    fn tell(&mut self, progress: &Progress) -> bool {
        let failed: usize = progress.failed.values().sum();
        let best = progress.best_ms.map_or("none".to_string(), |ms| format!("{ms:.4} ms"));
        let seconds = progress.elapsed.as_secs_f64();
        let each = seconds / progress.tried.max(1) as f64;
        let left = each * self.trials.saturating_sub(progress.tried) as f64;
        let line = format!(
            "{} of {} tried, {failed} failed, best {best}, {seconds:.0} s, about {left:.0} s left",
            progress.tried, self.trials
        );
        if self.is_terminal {
            // Nobody is left to be told that standard error is closed.
            write!(std::io::stderr(), "\r\x1b[K{line}").ok();
        } else if self.best != progress.best_ms {
            remark(&line);
        }
        self.best = progress.best_ms;
        true
    }

    fn done(&self) {
        if self.is_terminal {
            remark("");
        }
    }
}

fn report(best: &Option<Best>, progress: &Progress, space: &Space) -> serde_json::Value {
    let best = best.as_ref().map(|best| {
        json!({
            "id": best.candidate.hash,
            "kernel_ms": best.median,
            "derivation": best.candidate.derivation,
            "parameters": best.candidate.parameters,
            "global": best.candidate.global,
            "local": best.candidate.local,
        })
    });
    json!({
        "best": best,
        "tried": progress.tried,
        "failed": progress.failed,
        "seconds": progress.elapsed.as_secs_f64(),
        "phases": counts(space, progress),
    })
}

fn summary(best: &Option<Best>, progress: &Progress) -> String {
    let failed: Vec<String> =
        progress.failed.iter().map(|(kind, n)| format!("{n} {kind}")).collect();
    let failed =
        if failed.is_empty() { String::new() } else { format!(" ({})", failed.join(", ")) };
    let tried =
        format!("{} tried in {:.0} s{failed}", progress.tried, progress.elapsed.as_secs_f64());
    match best {
        Some(best) => {
            let text = &best.candidate.text;
            format!("{text}\n// {:.4} ms; {tried}\n", best.median)
        }
        None => format!("// no candidate was right; {tried}\n"),
    }
}
