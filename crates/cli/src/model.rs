//! `lift model`: how fast programs will be, learned from those that were measured.

mod columns;
mod database;
mod evaluate;
mod export;
mod features;
mod measurements;
mod predict;
mod program;
mod table_file;
mod train;

use crate::report::Failure;

/// Learn from measured programs how fast others will be
///
/// Measurements are databases of `lift tune`, or tables that `lift model export` made of them.
#[derive(clap::Args)]
#[command(
    arg_required_else_help = true,
    after_help = "Example:\n  lift model eval tune.db\n  lift model train tune.db -o model.json\n  \
                  lift model predict model.json a.lift b.lift --size N=1048576"
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
}

pub fn run(options: &Options) -> Result<(), Failure> {
    match &options.verb {
        Verb::Train(options) => train::run(options),
        Verb::Eval(options) => evaluate::run(options),
        Verb::Features(options) => features::run(options),
        Verb::Predict(options) => predict::run(options),
        Verb::Export(options) => export::run(options),
    }
}
