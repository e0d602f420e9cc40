//! `lift bench`: suites of programs against what others do, in the same run.

mod cluster;
mod cross;
mod crossover;
mod decide;
mod progress;

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use lift::DeviceInfo;
use lift_bench::cases::{At, Case, Selection, peers_of};
use lift_bench::suite::{self, Point, Suite};
use lift_bench::{Form, How, Lookup, Peers, Reference, Row, Table, Tuning, measure, python};
use lift_interp::Sizes;
use lift_ir::Def;
use lift_syntax::diagnostic::Diagnostic;
use lift_syntax::source::Sources;
use serde_json::{Value, json};

use crate::arguments::parse_seconds;
use crate::report::{Failure, say, say_json};
use crate::{output, run, stored};
use progress::Progress;

/// Run a suite of benchmarks, each program against its peers in the same run
///
/// Without a suite, lists the suites; `all` runs every one. A program runs as its best stored form, or by the default
/// lowering where nothing is stored. Times are medians; programs and peers take turns. Every result is compared with one
/// in double precision: where one differs, or a program fails, the exit status is 1. In the table, the number after a
/// peer's time is that time over Lift's: above 1, Lift is faster. Peers that are not installed are listed as missing.
/// Needs a Python with numpy. `OMP_NUM_THREADS` holds for everyone.
#[derive(clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:\n\
\x20 lift bench\n\
\x20 lift bench stencils --only jacobi2d_5 --quick --against copy,numpy\n\
\x20 lift bench mm --size M=256,K=256,N=256 --only mm --tune 3 --json\n\
\x20 lift bench cross --devices cpu,opencl:0 --program programs/mm.lift \\\n\
\x20   --size M=64,K=64,N=64 --trials 3"
)]
pub struct Options {
    #[command(subcommand)]
    verb: Option<Verb>,
    /// The suite, or `all`; without, suites are listed
    #[arg(value_name = "SUITE")]
    suite: Option<String>,
    /// Where to run: `cpu`, `opencl:K`, `opencl:PART-OF-THE-NAME` or `cuda:K`
    #[arg(long, value_name = "DEVICE", default_value = "cpu")]
    device: String,
    /// Compare with these peers instead of the suite's; `none` for none
    #[arg(long, value_name = "PEER", value_delimiter = ',', num_args = 1..)]
    against: Vec<String>,
    /// Only these programs, and all programs of these problems
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    only: Vec<String>,
    /// Small sizes, which show that everything works and nothing else
    #[arg(long, conflicts_with = "sizes")]
    quick: bool,
    /// Which of a problem's sizes
    #[arg(long, value_enum, default_value_t = Which::All)]
    sizes: Which,
    /// At these sizes instead of the suite's, the problems that have sizes of these names
    #[arg(long = "size", value_name = "SIZES", value_parser = parse_point, conflicts_with_all = ["quick", "sizes"])]
    size: Option<Point>,
    /// By the default lowering, also where a tuned form is stored
    #[arg(long)]
    untuned: bool,
    /// Tune every program for so many seconds first
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds, conflicts_with = "untuned")]
    tune: Option<Duration>,
    /// How often programs and peers take turns
    #[arg(long, value_name = "K", default_value_t = 3,
          value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Timed runs of a turn
    #[arg(long, value_name = "K", default_value_t = 7,
          value_parser = clap::value_parser!(u32).range(1..))]
    repeat: u32,
    /// Begin no run when a turn has taken so long
    #[arg(long, value_name = "SECONDS", default_value_t = 2.0)]
    seconds: f64,
    /// A peer that has not answered after so long counts as missing
    #[arg(long, value_name = "SECONDS", default_value = "300", value_parser = parse_seconds)]
    patience: Duration,
    /// What inputs are made from
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Let the device's compiler reorder floating-point arithmetic
    #[arg(long)]
    fast_math: bool,
    /// The tuning database, instead of the one in the user's data folder
    #[arg(long, value_name = "FILE")]
    db: Option<PathBuf>,
    /// The folder of benchmarks, instead of `bench` here
    #[arg(long, value_name = "FOLDER")]
    bench_dir: Option<PathBuf>,
    /// The Python that runs peers, instead of the first with numpy
    #[arg(long, value_name = "FILE")]
    python: Option<PathBuf>,
    /// Write the JSON to this file too, whole after every program
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print an array of {"program", "size", "ms", "peers", "missing", "error", …} instead of the table
    #[arg(long)]
    json: bool,
}

#[derive(clap::Subcommand)]
enum Verb {
    Cluster(cluster::Options),
    Cross(cross::Options),
    Crossover(crossover::Options),
    Decide(decide::Options),
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Which {
    All,
    Smallest,
    Largest,
}

/// For `--against`: nobody.
const NONE: &str = "none";

/// Rows that went wrong and are told about below the table.
const MOST_TOLD: usize = 5;

pub fn run(options: &Options) -> Result<(), Failure> {
    match &options.verb {
        Some(Verb::Cluster(options)) => return cluster::run(options),
        Some(Verb::Cross(options)) => return cross::run(options),
        Some(Verb::Crossover(options)) => return crossover::run(options),
        Some(Verb::Decide(options)) => return decide::run(options),
        None => {}
    }
    let folder = suite::folder(options.bench_dir.as_deref()).map_err(Failure::of)?;
    let suites = suite::read_all(&folder).map_err(Failure::of)?;
    let Some(name) = &options.suite else { return list(&suites, options.json) };
    let suites = suite::chosen(suites, name).map_err(Failure::of)?;
    let mut selection = options.selection();
    selection.check(&suites).map_err(Failure::of)?;
    let info = device(&options.device)?;
    selection.gpu = info.kind != "cpu";
    let cases = selection.cases(&suites);
    if cases.is_empty() {
        return Err(Failure::message("no program of the suite has these sizes"));
    }
    let python = python(options.python.as_deref()).map_err(Failure::of)?;
    let peers = Peers::new(&python, &folder, options.patience);
    peers.check(&peers_of(&cases)).map_err(Failure::of)?;
    let reference = Reference::new(&python, &folder, options.seed, selection.gpu);
    bench(&cases, &info, options, peers, reference)
}

impl Options {
    fn selection(&self) -> Selection {
        let at = match (&self.size, self.quick, self.sizes) {
            (Some(point), _, _) => At::Given(point.clone()),
            (None, true, _) => At::Quick,
            (None, false, Which::All) => At::All,
            (None, false, Which::Smallest) => At::Smallest,
            (None, false, Which::Largest) => At::Largest,
        };
        let against = match self.against.as_slice() {
            [] => None,
            [none] if none == NONE => Some(Vec::new()),
            named => Some(named.to_vec()),
        };
        Selection { only: self.only.clone(), at, against, gpu: false }
    }
}

/// What is known of a device that programs can be timed on.
fn device(id: &str) -> Result<DeviceInfo, Failure> {
    if id == run::INTERPRETER {
        return Err(Failure::message("the interpreter is no device: its times mean nothing"));
    }
    let device = run::open(id).map_err(|e| Failure::compile(e, &Sources::new()))?;
    Ok(device.info().clone())
}

fn bench(
    cases: &[Case],
    info: &DeviceInfo,
    options: &Options,
    mut peers: Peers,
    mut reference: Reference,
) -> Result<(), Failure> {
    let database = database(options)?;
    let stored = database.as_deref().map(|path| best_of(path, options.fast_math));
    let how = how(options, database.as_deref(), stored.as_deref())?;
    let table = Table::new(cases.iter().map(|c| (c.name(), &c.point)), peers_of(cases), &info.name);
    if !options.json {
        say(&format!("{} ({})\n\n{}", info.name, info.driver, table.heading()))?;
    }
    let mut progress = Progress::new(cases.len());
    let mut rows: Vec<Row> = Vec::new();
    for case in cases {
        progress.begins(&format!("{} {}", case.name(), case.point.label()));
        let row = measure(case, &how, &mut peers, &mut reference);
        progress.ends();
        if !options.json {
            say(&table.row(&row))?;
        }
        rows.push(row);
        if let Some(path) = &options.output {
            write(path, &array(&rows, &options.device))?;
        }
    }
    if options.json {
        say_json(&array(&rows, &options.device))?;
    } else {
        say(&notes(&rows))?;
    }
    verdict(&rows)
}

/// The tuning database. Without a data folder there is none to look into.
fn database(options: &Options) -> Result<Option<PathBuf>, Failure> {
    match stored::path(options.db.as_deref()) {
        Ok(path) => Ok(Some(path)),
        Err(_) if options.db.is_none() && options.tune.is_none() => Ok(None),
        Err(error) => Err(error),
    }
}

/// Looks forms up in a database.
fn best_of(database: &Path, fast_math: bool) -> Box<Lookup<'_>> {
    Box::new(move |def: &Def, sizes: &Sizes, device: &DeviceInfo| {
        let best = stored::tuned(database, def, sizes, device, fast_math, false);
        let best = best.map_err(|failure| failure.in_short())?;
        Ok(best.map(|best| Form { id: best.id, def: best.def }))
    })
}

/// The command that this is.
fn own_command() -> Result<PathBuf, Failure> {
    crate::own::path().map_err(|e| Failure::message(format!("cannot find the program itself: {e}")))
}

fn how<'l>(
    options: &Options,
    database: Option<&Path>,
    stored: Option<&'l Lookup<'l>>,
) -> Result<How<'l>, Failure> {
    let tuning = |(time, database): (Duration, &Path)| {
        Ok(Tuning {
            lift: own_command()?,
            time: Some(time),
            input: None,
            trials: None,
            database: database.to_path_buf(),
            fast_math: options.fast_math,
        })
    };
    Ok(How {
        device: options.device.clone(),
        rounds: options.rounds,
        repeat: options.repeat,
        seconds: options.seconds,
        seed: options.seed,
        fast_math: options.fast_math,
        stored: stored.filter(|_| !options.untuned),
        tuning: options.tune.zip(database).map(tuning).transpose()?,
    })
}

fn list(suites: &[Suite], as_json: bool) -> Result<(), Failure> {
    let count = |suite: &Suite| suite.problems.iter().map(|p| p.programs.len()).sum::<usize>();
    if as_json {
        let one = |suite: &Suite| json!({ "suite": suite.name, "about": suite.about, "programs": count(suite) });
        return say_json(&suites.iter().map(one).collect());
    }
    let width = suites.iter().map(|s| s.name.chars().count()).max().unwrap_or(0);
    let line = |suite: &Suite| {
        format!("{:<width$}  {} programs: {}\n", suite.name, count(suite), suite.about)
    };
    say(&suites.iter().map(line).collect::<String>())
}

fn array(rows: &[Row], device: &str) -> Value {
    rows.iter().map(|row| row.json(device)).collect()
}

/// Writes JSON to a file that is whole at any time.
fn write(path: &Path, json: &Value) -> Result<(), Failure> {
    output::replace(path, |file| writeln!(file, "{json:#}"))
        .map_err(|e| Failure::message(format!("cannot write {}: {e}", path.display())))
}

/// Who the peers are and which are missing, below the table.
fn notes(rows: &[Row]) -> String {
    let mut lines = BTreeSet::new();
    for measured in rows.iter().filter_map(|row| row.measured.as_ref().ok()) {
        for (name, peer) in &measured.peers {
            lines.insert(format!("{name}: {}", peer.about));
        }
        for (name, why) in &measured.missing {
            lines.insert(format!("{name} is missing: {why}"));
        }
    }
    lines.into_iter().fold(String::from("\n"), |text, line| text + &line + "\n")
}

/// Rows that are wrong or failed are a mistake of somebody.
fn verdict(rows: &[Row]) -> Result<(), Failure> {
    let bad: Vec<&Row> = rows.iter().filter(|row| !row.is_right()).collect();
    if bad.is_empty() {
        return Ok(());
    }
    let text = format!("{} of {} wrong or failed", bad.len(), rows.len());
    let note = |row: &&Row| {
        let how = match &row.measured {
            Ok(measured) => format!("wrong by {:.0e}", measured.error),
            Err(why) => why.clone(),
        };
        format!("{} at {}: {how}", row.program, row.point.label())
    };
    let told = bad.iter().take(MOST_TOLD).map(note);
    Err(Failure::of(told.fold(Diagnostic::error(text), Diagnostic::note)))
}

pub fn parse_point(text: &str) -> Result<Point, String> {
    let one = |part: &str| {
        let (name, value) = part.split_once('=')?;
        Some((name.trim().to_string(), value.trim().parse::<u64>().ok().filter(|n| *n > 0)?))
    };
    let sizes = text.split(',').map(one).collect::<Option<_>>();
    sizes
        .map(|sizes| Point { sizes, original_ms: None })
        .ok_or("sizes are written N=1024 or M=512,N=512".into())
}
