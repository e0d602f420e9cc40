//! `lift db`: what tuning has found, as files: listed, looked at, deleted, merged, run on other devices.

mod across;
mod list;
mod merge;
mod show;

use std::path::{Path, PathBuf};

use lift_store::{ProblemId, Store, StoreError};

use crate::report::{Failure, say};
use crate::stored;

/// Look at tuning databases, delete from them, and merge them
#[derive(clap::Args)]
#[command(after_help = "\
Examples:\n\
\x20 lift tune programs/mm.lift --size M=32,K=32,N=32 --trials 2 --db one.db -o best.lift\n\
\x20 lift db list --db one.db")]
pub struct Options {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(clap::Subcommand)]
enum Verb {
    List(list::Options),
    Show(show::Options),
    Delete(Delete),
    Merge(merge::Options),
    Across(across::Options),
}

/// Delete problems, with all that was measured for them
#[derive(clap::Args)]
#[command(after_help = "\
Examples:\n\
\x20 lift tune programs/mm.lift --size M=32,K=32,N=32 --trials 2 --db gone.db -o best.lift\n\
\x20 lift db delete 1 --db gone.db")]
struct Delete {
    /// Numbers of problems, as `lift db list` shows them
    #[arg(value_name = "PROBLEM", required = true)]
    problems: Vec<i64>,
    /// The database, instead of the one in the user's data folder
    #[arg(long, value_name = "FILE")]
    db: Option<PathBuf>,
}

pub fn run(options: &Options) -> Result<(), Failure> {
    match &options.verb {
        Verb::List(options) => list::run(options),
        Verb::Show(options) => show::run(options),
        Verb::Delete(options) => delete(options),
        Verb::Merge(options) => merge::run(options),
        Verb::Across(options) => across::run(options),
    }
}

fn delete(options: &Delete) -> Result<(), Failure> {
    let path = existing(options.db.as_deref())?;
    let mut store = Store::open(&path).map_err(failure)?;
    // None is deleted where one is not there.
    let found: Result<Vec<ProblemId>, Failure> =
        options.problems.iter().map(|number| problem(&store, *number)).collect();
    let found = found?;
    store.delete_problems(&found).map_err(failure)?;
    let numbers: Vec<String> = options.problems.iter().map(ToString::to_string).collect();
    say(&format!("deleted {} from {}\n", numbers.join(", "), path.display()))
}

/// The problem of this number.
fn problem(store: &Store, number: i64) -> Result<ProblemId, Failure> {
    let problems = store.problems().map_err(failure)?;
    problems.into_iter().find(|problem| problem.number() == number).ok_or_else(|| {
        let path = store.path().display();
        Failure::message(format!(
            "{path} has no problem {number}: `lift db list` shows those it has"
        ))
    })
}

/// A database that is there: none is made in order to look at it.
fn existing(given: Option<&Path>) -> Result<PathBuf, Failure> {
    let path = stored::path(given)?;
    match path.is_file() {
        true => Ok(path),
        false => Err(Failure::message(format!("there is no database {}", path.display()))),
    }
}

fn failure(error: StoreError) -> Failure {
    Failure::message(error.to_string())
}

/// `K=64,M=64`
fn sizes(key: &lift_store::ProblemKey) -> String {
    let sizes: Vec<String> =
        key.sizes.iter().map(|(name, value)| format!("{name}={value}")).collect();
    sizes.join(",")
}
