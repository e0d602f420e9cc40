//! `lift tune`: the fastest of many low-level programs, found by measuring.

mod any;
mod hurry;
pub mod interrupt;
mod progress;
mod summary;

use std::io::Write;
use std::path::PathBuf;
use std::process::exit;
use std::sync::Arc;
use std::time::Duration;

use lift::tune::{Method, Progress, Settings, TuneError, Tuned, Tuner, Worker};
use lift_interp::Sizes;
use lift_ir::Def;
use lift_syntax::Checked;

use crate::arguments::{self, SizeArgument, parse_seconds, parse_sizes};
use crate::elsewhere::WorkerOptions;
use crate::rates::Rates;
use crate::report::{Failure, load, remark, say, say_json};
use crate::run::open;
use crate::{entry, machine_file, model, output, stored};
use hurry::Hurry;
use interrupt::Interrupt;
use progress::Show;

/// Find the fastest low-level form of a program for a device, by measuring many
///
/// Candidates are derived by rules, given values for their parameters, run in processes of their own and compared
/// with the program itself. Everything measured is kept in the database; `lift run` uses the best there is for the
/// program, sizes and device. Ctrl-C keeps what was measured; `--resume` goes on.
#[derive(Clone, clap::Args)]
#[command(after_help = "\
Examples:\n\
\x20 lift tune programs/mm.lift --size M=256,K=256,N=256 --trials 8\n\
\x20 lift tune programs/reduce/sum.lift --size N=1048576 --device opencl:0 --time 5 -o best.lift\n\
\x20 lift tune programs/mm.lift --size M=64,K=64,N=64 --trials 4 --worker 'lift worker'\n\
\x20 lift tune --print-config > tune.toml")]
pub struct Options {
    /// The program; `-` is standard input
    #[arg(value_name = "FILE", required_unless_present = "print_config")]
    file: Option<PathBuf>,
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
    /// Stop after so many seconds, everything included
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds)]
    time: Option<Duration>,
    /// How candidates are chosen
    #[arg(long, value_enum, default_value_t = Search::Learning)]
    search: Search,
    /// A model of `lift model train` for this device, for `--search model`
    #[arg(long, value_name = "FILE", required_if_eq("search", "model"))]
    model: Option<PathBuf>,
    /// What random choices and inputs follow from
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Timed runs of a candidate, instead of the settings' 10
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..))]
    repeat: Option<u32>,
    /// Settings that are not as usual
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Print all settings as a file for `--config`, and do nothing else
    #[arg(long)]
    print_config: bool,
    /// The database, instead of the one in the user's data folder
    #[arg(long, value_name = "FILE")]
    db: Option<PathBuf>,
    /// Do not measure again what the database has
    #[arg(long)]
    resume: bool,
    /// Run also what is predicted to be more than 16 times slower than the fastest, on a device that `lift calibrate` measured
    #[arg(long)]
    run_hopeless: bool,
    /// Let the device's compiler reorder floating-point arithmetic
    #[arg(long)]
    fast_math: bool,
    #[command(flatten)]
    elsewhere: WorkerOptions,
    /// Workers with other devices than the first have problems of their own, instead of being refused
    #[arg(long, value_enum, conflicts_with_all = ["output", "model"])]
    devices: Option<Devices>,
    /// Write the best program to this file
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print {"best", "tried", "failed", "skipped", "hopeless", "seconds", "phases"}
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, clap::ValueEnum)]
pub enum Search {
    /// Programs and values at random
    Random,
    /// What the results so far promise most of, those for other sizes included
    Learning,
    /// One program after the other, each with all values
    Exhaustive,
    /// What `--model` predicts to be fastest
    Model,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Devices {
    /// Each is tuned for
    Any,
}

impl Search {
    pub fn method(self) -> Method {
        match self {
            Search::Random => Method::Random,
            Search::Learning => Method::Learning,
            Search::Exhaustive => Method::Exhaustive,
            Search::Model => Method::Model,
        }
    }
}

/// Ends the process with status 130 where the user interrupted it, after everything else is done.
pub fn run(options: &Options) -> Result<(), Failure> {
    let settings = settings(options)?;
    let file = match &options.file {
        Some(file) if !options.print_config => file,
        _ => return say(&settings.to_string()),
    };
    let checked = load(file)?;
    let def = entry::find(&checked, file, options.entry.as_deref())?;
    entry::without_extern(def, "extern code is not run unasked")?;
    let sizes = sizes(def, options)?;
    let tuner = tuner(options, settings)?;
    if options.devices.is_some() {
        return any::run(&tuner, def, &sizes, options);
    }
    let hurry = Hurry::watch(options.time, late(&tuner, def, &sizes, options));
    let hurry = hurry.map_err(Failure::message)?;
    let tuning = tuner.prepare(def, &sizes).map_err(|error| failure(error, &checked))?;
    remark(&format!("{} low-level programs to choose from", tuning.programs()));
    if let Some(at) = tuning.compared_at() {
        let at: Vec<String> = at.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let at = at.join(",");
        remark(&format!("the program itself takes too long: results are compared at {at}"));
    }
    let mut show = Show::new(options.trials, options.time);
    let interrupt = Interrupt::watch(show.bar()).map_err(Failure::message)?;
    let tuned = tuning.run(&mut |progress| {
        show.tell(progress);
        hurry.tell(|known| *known = progress.clone());
        !interrupt.came()
    });
    let tuned = tuned.map_err(|error| failure(error, &checked))?;
    let rates = Rates::of(def, &sizes, tuned.best.as_ref().map(|best| best.ms));
    hurry.end();
    show.done();
    if let Some(why) = &tuned.progress.cut_short {
        remark(&format!("warning: {why}; what was measured is kept"));
    }
    report(&tuned, &rates, options)?;
    interrupt.end_if_it_came();
    Ok(())
}

/// What tells what is in the database, in place of a search that does not end, and ends the process.
fn late(
    tuner: &Tuner,
    def: &Def,
    sizes: &Sizes,
    options: &Options,
) -> impl FnOnce(Progress) + Send + 'static {
    let (tuner, def, sizes, options) = (tuner.clone(), def.clone(), sizes.clone(), options.clone());
    move |progress| {
        let found = tuner.found(&def, &sizes, progress);
        let found = found.map_err(|error| Failure::message(error.to_string()));
        let told = found.and_then(|found| report(&found, &Rates::default(), &options));
        if let Err(failure) = told {
            failure.print();
            exit(1);
        }
        exit(0);
    }
}

/// Writes and prints what was found.
fn report(tuned: &Tuned, rates: &Rates, options: &Options) -> Result<(), Failure> {
    if let (Some(path), Some(best)) = (&options.output, &tuned.best) {
        output::replace(path, |file| file.write_all(best.text.as_bytes()))
            .map_err(|e| Failure::message(format!("cannot write {}: {e}", path.display())))?;
    }
    if options.json {
        return say_json(&summary::json(tuned, rates));
    }
    say(&summary::text(tuned, rates, options.output.as_deref()))
}

/// The settings of the file, if there is one; the command line has the last word.
fn settings(options: &Options) -> Result<Settings, Failure> {
    let mut settings = match &options.config {
        None => Settings::default(),
        Some(path) => {
            let text = std::fs::read_to_string(path)
                .map_err(|e| Failure::message(format!("cannot read {}: {e}", path.display())))?;
            Settings::read(&text)
                .map_err(|e| Failure::message(format!("{}, {e}", path.display())))?
        }
    };
    settings.repeats = options.repeat.unwrap_or(settings.repeats);
    Ok(settings)
}

/// The values of all sizes.
fn sizes(def: &Def, options: &Options) -> Result<Sizes, Failure> {
    let sizes = arguments::sizes(def, &options.sizes)?;
    match def.sizes.iter().find(|v| sizes.get(v.name()).is_none()) {
        Some(open) => {
            let name = open.name();
            Err(Failure::message(format!("`{name}` has no value: give `--size {name}=…`")))
        }
        None => Ok(sizes),
    }
}

fn tuner(options: &Options, settings: Settings) -> Result<Tuner, Failure> {
    let own = crate::own::path()
        .map_err(|e| Failure::message(format!("cannot find the program itself: {e}")))?;
    let database = stored::path(options.db.as_deref())?;
    let mut elsewhere = options.elsewhere.open()?;
    elsewhere.any_device = options.devices.is_some();
    // The device may not even be here.
    let is_here = elsewhere.commands.is_empty() && elsewhere.listener.is_none();
    if is_here && options.devices.is_some() {
        let text = "`--devices any` is for workers elsewhere: give `--worker` or `--listen`";
        return Err(Failure::message(text));
    }
    let machine = if options.run_hopeless || !is_here { None } else { machine(options) };
    Ok(Tuner {
        method: options.search.method(),
        model: options.model.as_deref().map(model::read).transpose()?.map(Arc::new),
        machine,
        seed: options.seed,
        trials: options.trials,
        time: options.time,
        resume: options.resume,
        fast_math: options.fast_math,
        settings,
        elsewhere,
        ..Tuner::new(&options.device, Worker::lift(own), database)
    })
}

/// The description of the device, if it was measured. One that does not fit is no reason not to tune.
fn machine(options: &Options) -> Option<Arc<lift_clock::Description>> {
    let device = open(&options.device).ok()?;
    let compiler = lift::CompileOptions { fast_math: options.fast_math };
    let flags = lift_clock::calibrate::flags(&compiler);
    match machine_file::of_device(device.info(), flags) {
        Ok(found) => found.map(Arc::new),
        Err(why) => {
            remark(&format!("warning: {}; every candidate is run", why.in_short()));
            None
        }
    }
}

fn failure(error: TuneError, checked: &Checked) -> Failure {
    match error {
        TuneError::Program(error) => Failure::compile(error, &checked.sources),
        other => Failure::message(other.to_string()),
    }
}
