//! `lift model`: how fast programs will be, learned from those that were measured.

pub mod columns;
mod database;
mod evaluate;
mod export;
mod features;
mod measurements;
mod predict;
mod program;
mod renew;
mod table_file;
mod train;
mod validate;

use std::path::Path;

use lift_model::learn::{Layout, Trained};

use crate::report::Failure;

/// Learn from measured programs how fast others will be
///
/// Measurements are databases of `lift tune`, or tables that `lift model export` made of them.
#[derive(clap::Args)]
#[command(
    arg_required_else_help = true,
    after_help = "\
Examples:\n\
\x20 lift model eval data/others-cpu.csv.gz\n\
\x20 lift model train data/others-cpu.csv.gz -o model.json\n\
\x20 lift model features programs/reduce/dot.lift --size N=1048576"
)]
pub struct Options {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(clap::Subcommand)]
enum Verb {
    Train(train::Options),
    Eval(evaluate::Options),
    Features(features::Options),
    Predict(predict::Options),
    Export(export::Options),
    Renew(renew::Options),
    Validate(validate::Options),
}

pub fn run(options: &Options) -> Result<(), Failure> {
    match &options.verb {
        Verb::Train(options) => train::run(options),
        Verb::Eval(options) => evaluate::run(options),
        Verb::Features(options) => features::run(options),
        Verb::Predict(options) => predict::run(options),
        Verb::Export(options) => export::run(options),
        Verb::Renew(options) => renew::run(options),
        Verb::Validate(options) => validate::run(options),
    }
}

/// The model in a file.
pub fn read(path: &Path) -> Result<Trained, Failure> {
    let text = std::fs::read_to_string(path)
        .map_err(|e| Failure::message(format!("cannot read {}: {e}", path.display())))?;
    Trained::read(&text, &Layout::current())
        .map_err(|e| Failure::message(format!("{}: {e}", path.display())))
}
