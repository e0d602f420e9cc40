//! `lift tune-suite`: many problems, one after the other, with one budget and one set of workers.

use std::path::PathBuf;
use std::process::exit;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use lift::tune::{Progress, Settings, Tuner, Worker};
use lift_bench::cases::{At, Case, Selection};
use lift_bench::suite::{self, Point};
use lift_interp::Sizes;
use serde_json::{Value, json};

use crate::arguments::parse_seconds;
use crate::bench::parse_point;
use crate::elsewhere::WorkerOptions;
use crate::report::{Failure, load, remark, say, say_json};
use crate::run::short;
use crate::tune::Search;
use crate::tune::interrupt::Interrupt;
use crate::{entry, stored};

/// Tune the programs of a suite, on several devices, with one budget
///
/// The time is shared by what is left to do. A problem whose search came to its end in an earlier run is passed over, so the
/// same command goes on where it was interrupted. Workers on other machines serve one problem after the other.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:\n\
\x20 lift tune-suite mm --only mm_at --size M=32,K=32,N=32 --devices cpu,opencl:0 --trials 2 --time 40")]
pub struct Options {
    /// The suite, as `lift bench` lists them, or `all`
    #[arg(value_name = "SUITE")]
    suite: String,
    /// Where to run: `cpu`, `opencl:K`, `opencl:PART-OF-THE-NAME`, `cuda:K`
    #[arg(long, value_name = "DEVICES", value_delimiter = ',', default_value = "cpu")]
    devices: Vec<String>,
    /// Stop after so many seconds, everything included
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds)]
    time: Option<Duration>,
    /// Measure so many candidates of a problem at most
    #[arg(long, value_name = "K", default_value_t = 100)]
    trials: usize,
    /// How candidates are chosen
    #[arg(long, value_enum, default_value_t = Search::Learning)]
    search: Search,
    /// What random choices and inputs follow from
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Only these programs, and all programs of these problems
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    only: Vec<String>,
    /// Small sizes
    #[arg(long)]
    quick: bool,
    /// At these sizes instead of the suite's, the problems that have sizes of these names
    #[arg(long = "size", value_name = "SIZES", value_parser = parse_point, conflicts_with = "quick")]
    size: Option<Point>,
    /// The database, instead of the one in the user's data folder
    #[arg(long, value_name = "FILE")]
    db: Option<PathBuf>,
    #[command(flatten)]
    elsewhere: WorkerOptions,
    /// The folder of benchmarks, instead of `bench` here
    #[arg(long, value_name = "FOLDER")]
    bench_dir: Option<PathBuf>,
    /// Print an array of {"program", "sizes", "device", "state", "best_ms", "default_ms", "tried", "seconds"}
    #[arg(long)]
    json: bool,
}

/// What became of a problem.
struct Row {
    program: String,
    sizes: String,
    device: String,
    state: State,
    best_ms: Option<f64>,
    default_ms: Option<f64>,
    tried: usize,
    elapsed: Duration,
}

enum State {
    Tuned,
    /// In an earlier run.
    Before,
    NoTime,
    Failed(String),
}

impl State {
    fn name(&self) -> &'static str {
        match self {
            State::Tuned => "tuned",
            State::Before => "tuned before",
            State::NoTime => "no time",
            State::Failed(_) => "failed",
        }
    }
}

/// Ends the process with status 130 where the user interrupted it, after everything else is done.
pub fn run(options: &Options) -> Result<(), Failure> {
    let start = Instant::now();
    let folder = suite::folder(options.bench_dir.as_deref()).map_err(Failure::of)?;
    let suites = suite::read_all(&folder).map_err(Failure::of)?;
    let suites = suite::chosen(suites, &options.suite).map_err(Failure::of)?;
    let at = match (&options.size, options.quick) {
        (Some(point), _) => At::Given(point.clone()),
        (None, true) => At::Quick,
        (None, false) => At::All,
    };
    let only = options.only.clone();
    let selection = Selection { only, at, against: Some(Vec::new()), gpu: false };
    selection.check(&suites).map_err(Failure::of)?;
    let cases = selection.cases(&suites);
    if cases.is_empty() {
        return Err(Failure::message("no program of the suite has these sizes"));
    }
    let own = crate::own::path()
        .map_err(|e| Failure::message(format!("cannot find the program itself: {e}")))?;
    let mut elsewhere = options.elsewhere.open()?;
    elsewhere.goes_on = true;
    let interrupt = Interrupt::watch(None).map_err(Failure::message)?;
    let tuner = Tuner {
        method: options.search.method(),
        seed: options.seed,
        trials: options.trials,
        resume: true,
        settings: Settings::default(),
        elsewhere,
        ..Tuner::new("cpu", Worker::lift(own), stored::path(options.db.as_deref())?)
    };
    let all: Vec<(&String, &Case)> =
        options.devices.iter().flat_map(|device| cases.iter().map(move |c| (device, c))).collect();
    let rows = Rows(Arc::new(Mutex::new(Some(Vec::new()))));
    rows.watch(options, start)?;
    for (index, (device, case)) in all.iter().enumerate() {
        let begun = Instant::now();
        let left = options.time.map(|time| time.saturating_sub(start.elapsed()));
        let share = left.map(|left| left / u32::try_from(all.len() - index).unwrap_or(u32::MAX));
        let tuner = Tuner { device: device.to_string(), time: share, ..tuner.clone() };
        let mut row = Row {
            program: case.name(),
            sizes: case.point.text(),
            device: device.to_string(),
            state: State::NoTime,
            best_ms: None,
            default_ms: None,
            tried: 0,
            elapsed: Duration::ZERO,
        };
        if !interrupt.came() && left.is_none_or(|left| !left.is_zero()) {
            row.state = match tuned(&tuner, case, &mut row, &interrupt) {
                Ok(state) => state,
                Err(failure) => State::Failed(failure.in_short()),
            };
        }
        row.elapsed = begun.elapsed();
        remark(&format!("{}/{} {}", index + 1, all.len(), row.line()));
        rows.push(row);
    }
    let rows = rows.take();
    if let Some(listener) = &tuner.elsewhere.listener {
        // Those who come for the next problem are told that there is none.
        listener.last();
        std::thread::sleep(FAREWELL);
    }
    report(&rows, options.json)?;
    interrupt.end_if_it_came();
    match rows.iter().filter(|row| matches!(row.state, State::Failed(_))).count() {
        0 => Ok(()),
        n => Err(Failure::message(format!("{n} of {} problems failed", rows.len()))),
    }
}

/// What is done, until somebody reports it.
#[derive(Clone)]
struct Rows(Arc<Mutex<Option<Vec<Row>>>>);

/// A suite that takes so much longer than it has time is not waited for: a single step, such as the lowering of one
/// program, may take long, and nothing interrupts it.
const PATIENCE: Duration = Duration::from_secs(4);

impl Rows {
    /// Where the time is over and nobody has reported, what is done is told, and the process ends.
    fn watch(&self, options: &Options, start: Instant) -> Result<(), Failure> {
        let Some(time) = options.time else { return Ok(()) };
        let (rows, as_json) = (self.clone(), options.json);
        let wait = move || {
            std::thread::sleep(time.saturating_add(PATIENCE).saturating_sub(start.elapsed()));
            if let Some(known) = rows.lock().take() {
                let told = report(&known, as_json);
                exit(if told.is_ok() { 0 } else { 1 });
            }
        };
        let started = std::thread::Builder::new().spawn(wait);
        let failed = |error| Failure::message(format!("cannot start a thread: {error}"));
        started.map(drop).map_err(failed)
    }

    fn lock(&self) -> MutexGuard<'_, Option<Vec<Row>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, row: Row) {
        if let Some(known) = self.lock().as_mut() {
            known.push(row);
        }
    }

    /// Returns where nobody else reports: whoever does ends the process.
    fn take(&self) -> Vec<Row> {
        let known = self.lock().take();
        known.unwrap_or_else(|| {
            loop {
                std::thread::park();
            }
        })
    }
}

/// How long workers have to come back and be told that it is over.
const FAREWELL: Duration = Duration::from_secs(1);

fn tuned(
    tuner: &Tuner,
    case: &Case,
    row: &mut Row,
    interrupt: &Interrupt,
) -> Result<State, Failure> {
    let checked = load(&case.program.file)?;
    let def = entry::find(&checked, &case.program.file, case.program.entry.as_deref())?;
    entry::without_extern(def, "extern code is not run unasked")?;
    let sizes: Sizes =
        case.point.sizes.iter().map(|(name, value)| (name.as_str(), i128::from(*value))).collect();
    let failed = |error: lift::tune::TuneError| Failure::message(error.to_string());
    let mut is_before = tuner.is_done(def, &sizes).map_err(failed)?;
    let mut tuning = None;
    if !is_before {
        tuning = Some(tuner.prepare(def, &sizes).map_err(failed)?);
        // Elsewhere it is known by now which device it is.
        is_before = tuner.is_done(def, &sizes).map_err(failed)?;
    }
    let found = match tuning.filter(|_| !is_before) {
        Some(tuning) => tuning.run(&mut |_| !interrupt.came()),
        None => tuner.found(def, &sizes, Progress::default()),
    };
    let found = found.map_err(failed)?;
    row.best_ms = found.best.as_ref().map(|best| best.ms);
    row.default_ms = found.default_ms;
    row.tried = found.progress.tried;
    Ok(if is_before { State::Before } else { State::Tuned })
}

impl Row {
    /// `mm M=64,K=64,N=64 on cpu: tuned, best 0.1234 ms, 20 tried in 5 s`
    fn line(&self) -> String {
        let best = self.best_ms.map_or(String::new(), |ms| format!(", best {} ms", short(ms)));
        let why = match &self.state {
            State::Failed(why) => format!(": {why}"),
            State::Tuned => {
                format!(", {} tried in {:.0} s", self.tried, self.elapsed.as_secs_f64())
            }
            State::Before | State::NoTime => String::new(),
        };
        let Row { program, sizes, device, .. } = self;
        format!("{program} {sizes} on {device}: {}{best}{why}", self.state.name())
    }

    fn json(&self) -> Value {
        json!({
            "program": self.program, "sizes": self.sizes, "device": self.device,
            "state": self.state.name(), "best_ms": self.best_ms, "default_ms": self.default_ms,
            "tried": self.tried, "seconds": self.elapsed.as_secs_f64(),
            "error": match &self.state {
                State::Failed(why) => Some(why),
                State::Tuned | State::Before | State::NoTime => None,
            },
        })
    }
}

fn report(rows: &[Row], as_json: bool) -> Result<(), Failure> {
    if as_json {
        return say_json(&rows.iter().map(Row::json).collect::<Vec<Value>>().into());
    }
    let time = |ms: Option<f64>| ms.map_or("-".to_string(), short);
    say(&crate::table::of(
        ["program", "sizes", "device", "state", "best ms", "default ms", "tried"],
        rows.iter().map(|row| {
            let state = row.state.name().to_string();
            let (best, default) = (time(row.best_ms), time(row.default_ms));
            let (program, sizes) = (row.program.clone(), row.sizes.clone());
            [program, sizes, row.device.clone(), state, best, default, row.tried.to_string()]
        }),
    ))
}
