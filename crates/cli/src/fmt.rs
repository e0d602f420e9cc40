//! `lift fmt`: the canonical layout.

use std::fs;
use std::io::Write;
use std::path::Path;

use lift_syntax::format::format;
use lift_syntax::parser::parse;
use lift_syntax::source::Sources;

use crate::output;
use crate::report::{Failure, STDIN, say, standard_input};

/// Format programs in place, keeping comments
///
/// A file that is formatted already is not touched, nor is one with syntax errors.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:\n\
\x20 lift fmt programs/mm.lift programs/reduce/dot.lift\n\
\x20 lift fmt --check programs/*.lift\n\
\x20 lift fmt - < programs/mm.lift")]
pub struct Options {
    /// The programs; `-` formats standard input to standard output
    #[arg(value_name = "FILE", required = true)]
    files: Vec<String>,
    /// Change nothing: list the files that would change, and fail if there are any
    #[arg(long)]
    check: bool,
}

pub fn run(options: &Options) -> Result<(), Failure> {
    let mut failed = false;
    for file in &options.files {
        match one(file, options.check) {
            Ok(fine) => failed |= !fine,
            Err(failure) => {
                failure.print();
                failed = true;
            }
        }
    }
    if failed { Err(Failure::Reported) } else { Ok(()) }
}

/// Formats one file; false where it should have been formatted and only a check was asked for.
fn one(name: &str, check: bool) -> Result<bool, Failure> {
    let stdin = name == STDIN;
    let text = if stdin {
        standard_input()?
    } else {
        let bytes = fs::read(name);
        let bytes = bytes.map_err(|e| Failure::message(format!("cannot read {name}: {e}")))?;
        let text = String::from_utf8(bytes);
        text.map_err(|_| Failure::message(format!("{name} is not UTF-8 text")))?
    };
    let mut sources = Sources::new();
    let file = sources.add(name, text.as_str());
    let parsed = parse(file, &text);
    if !parsed.diagnostics.is_empty() {
        return Err(Failure::Diagnostics(parsed.diagnostics, sources));
    }
    let formatted = format(&parsed, &text);
    match (check, formatted == text) {
        (true, false) => {
            say(&format!("{name}\n"))?;
            return Ok(false);
        }
        (false, _) if stdin => say(&formatted)?,
        (false, false) => {
            output::replace(Path::new(name), |file| file.write_all(formatted.as_bytes()))
                .map_err(|e| Failure::message(format!("cannot write {name}: {e}")))?;
        }
        (_, true) => {}
    }
    Ok(true)
}
