//! `lift report`: a page about a tuning database, or about the clock.

mod clock;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use lift_store::Store;

use crate::report::{Failure, remark, say};
use crate::{output, stored};

/// Make a page about what tuning found, to look at in a browser
///
/// For every problem of the database: how fast candidates are and how they failed, how soon a good one was found,
/// how well a model predicts them, which features matter, and how the best one was derived, with its kernels. The page
/// is one file that needs no network. With `--validation` or `--roofline` it is about the clock instead: predicted and
/// measured times, and where programs stand under the roofs of a machine.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:\n\
\x20 lift tune programs/reduce/sum.lift --size N=65536 --trials 5 --db tune.db\n\
\x20 lift report tune.db -o report.html\n\
\x20 lift predict programs/mm.lift --size M=512,K=512,N=512 --roofline --json \\\n\
\x20   --machine data/machines/h200-cuda.json > mm.json\n\
\x20 lift report --roofline mm.json -o clock.html")]
pub struct Options {
    /// A database of `lift tune`, instead of the one in the user's data folder
    #[arg(value_name = "DB")]
    db: Option<PathBuf>,
    /// What `lift model validate --json` printed; may be repeated
    #[arg(long, value_name = "FILE", conflicts_with = "db")]
    validation: Vec<PathBuf>,
    /// What `lift predict --roofline --json` printed; may be repeated
    #[arg(long, value_name = "FILE", conflicts_with = "db")]
    roofline: Vec<PathBuf>,
    /// Write the page to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub fn run(options: &Options) -> Result<(), Failure> {
    if !options.validation.is_empty() || !options.roofline.is_empty() {
        let page = clock::page(&options.validation, &options.roofline)?;
        return write(&page, options);
    }
    let path = stored::path(options.db.as_deref())?;
    check_database(&path)?;
    if let Some(output) = &options.output {
        check_output(output, &path)?;
    }
    let store = Store::open_to_read(&path).map_err(|error| Failure::message(error.to_string()))?;
    let page = lift_report::page(&store).map_err(|error| Failure::message(error.to_string()))?;
    write(&page, options)
}

fn write(page: &str, options: &Options) -> Result<(), Failure> {
    let Some(output) = &options.output else { return say(page) };
    output::replace(output, |file| file.write_all(page.as_bytes()))
        .map_err(|e| Failure::message(format!("cannot write {}: {e}", output.display())))?;
    remark(&format!("wrote {}", output.display()));
    Ok(())
}

/// Opening a database makes it where there is none, which is of no use here.
fn check_database(path: &Path) -> Result<(), Failure> {
    let shown = path.display();
    let make = format!("make one with `lift tune --db {shown}`");
    match fs::metadata(path) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
            Err(Failure::message(format!("there is no database {shown}: {make}")))
        }
        Err(e) => Err(Failure::message(format!("cannot read {shown}: {e}"))),
        Ok(file) if file.is_file() && file.len() == 0 => {
            Err(Failure::message(format!("{shown} is empty: {make}")))
        }
        Ok(_) => Ok(()),
    }
}

/// The page is never written over what it is about.
fn check_output(output: &Path, database: &Path) -> Result<(), Failure> {
    let whole = |path: &Path| fs::canonicalize(path).ok();
    if whole(output).is_some() && whole(output) == whole(database) {
        let shown = output.display();
        return Err(Failure::message(format!(
            "the page would replace the database {shown}: name another file by `-o`"
        )));
    }
    Ok(())
}
