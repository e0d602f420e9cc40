//! `lift`: the command. One file a verb; what they share is how they report.
//!
//! It is a library, so that other packages can carry the command: [`command`] is all of it.

mod arguments;
mod auto;
mod bench;
mod cache;
mod calibrate;
mod check;
mod collection;
mod compile;
mod completions;
mod db;
mod device_flags;
mod devices;
mod elsewhere;
mod entry;
mod eval;
mod explain;
mod export;
mod fmt;
mod json_value;
mod literal;
mod lowering_flags;
mod machine_file;
mod man;
mod model;
mod nat;
mod output;
mod own;
mod predict;
mod rates;
mod report;
mod report_page;
mod rewrite;
mod rules;
mod run;
mod signature;
mod stored;
mod table;
mod test;
mod timed;
mod tune;
mod tune_suite;
mod worker;

use std::ffi::OsString;

use clap::{CommandFactory, Parser, Subcommand};

use report::Failure;
pub use report::compile_diagnostic;

/// Evaluation follows the nesting of the program, so the work runs on a stack that no program
/// which passes the checker fills.
const STACK: usize = 256 * 1024 * 1024;

/// A compiler for data-parallel programs on arrays.
#[derive(Parser)]
#[command(name = "lift", version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    Check(check::Options),
    Fmt(fmt::Options),
    Eval(eval::Options),
    Test(test::Options),
    Nat(nat::Options),
    Devices(devices::Options),
    Compile(compile::Options),
    Export(export::Options),
    Run(run::Options),
    Rules(rules::Options),
    Rewrite(rewrite::Options),
    Tune(tune::Options),
    TuneSuite(tune_suite::Options),
    Worker(worker::Options),
    Db(db::Options),
    Cache(cache::Options),
    Calibrate(calibrate::Options),
    Predict(Box<predict::Options>),
    Model(model::Options),
    Report(report_page::Options),
    Bench(Box<bench::Options>),
    Completions(completions::Options),
    Man(man::Options),
    #[command(hide = true)]
    Timed(timed::Options),
}

impl Verb {
    fn run(&self) -> Result<(), Failure> {
        match self {
            Verb::Check(options) => check::run(options),
            Verb::Fmt(options) => fmt::run(options),
            Verb::Eval(options) => eval::run(options),
            Verb::Test(options) => test::run(options),
            Verb::Nat(options) => nat::run(options),
            Verb::Devices(options) => devices::run(options),
            Verb::Compile(options) => compile::run(options),
            Verb::Export(options) => export::run(options),
            Verb::Run(options) => run::run(options),
            Verb::Rules(options) => rules::run(options),
            Verb::Rewrite(options) => rewrite::run(options),
            Verb::Tune(options) => tune::run(options),
            Verb::TuneSuite(options) => tune_suite::run(options),
            Verb::Db(options) => db::run(options),
            Verb::Cache(options) => cache::run(options),
            Verb::Calibrate(options) => calibrate::run(options),
            Verb::Predict(options) => predict::run(options),
            Verb::Model(options) => model::run(options),
            Verb::Report(options) => report_page::run(options),
            Verb::Bench(options) => bench::run(options),
            Verb::Completions(options) => completions::run(options, Cli::command()),
            Verb::Man(options) => man::run(options, Cli::command()),
            Verb::Worker(options) => worker::run(options),
            Verb::Timed(options) => timed::run(options),
        }
    }
}

/// What `lift calibrate` measured of a device, if it did.
pub fn measured(device: &lift::DeviceInfo) -> Result<Option<lift_clock::Description>, String> {
    let flags = lift_clock::calibrate::flags(&lift::CompileOptions::default());
    machine_file::of_device(device, flags).map_err(Failure::in_short)
}

/// Does what the arguments say, the first of which is the command's own name. Ends the process where they ask for help
/// or cannot be understood.
pub fn command(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    lift_runtime::wait_briefly();
    let cli = Cli::parse_from(arguments);
    let work = move || match cli.verb.run() {
        Ok(()) => 0,
        Err(failure) => {
            failure.print();
            1
        }
    };
    match std::thread::Builder::new().stack_size(STACK).spawn(work) {
        // A panic has printed its message already.
        Ok(thread) => thread.join().unwrap_or(101),
        Err(error) => {
            Failure::message(format!("cannot start a thread: {error}")).print();
            1
        }
    }
}
