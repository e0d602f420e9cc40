//! `lift check`: parse, type-check, print signatures.

use std::path::PathBuf;

use lift_interp::laws::{Warning, check_reduce};
use lift_syntax::Checked;
use lift_syntax::diagnostic::Diagnostic;

use crate::report::{Failure, complain, load, say, say_json};
use crate::signature::signatures;

/// Type-check programs and print the signature of every definition
///
/// Below a signature stand the bounds on sizes that its body needs besides its `where` clauses.
/// A `reduce` whose operator fails a sampled check of its laws is warned about.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:\n\
\x20 lift check programs/reduce/dot.lift\n\
\x20 def dot[N](x: [f32; N], y: [f32; N]) -> f32\n\
\n\
\x20 lift check programs/mm.lift programs/mm_at.lift --json\n\
\x20 lift check - < programs/mm.lift")]
pub struct Options {
    /// The programs; `-` is standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Print an array of signatures, each with its file
    #[arg(long)]
    json: bool,
}

/// Files with errors do not keep others from being checked.
pub fn run(options: &Options) -> Result<(), Failure> {
    let mut failed = false;
    let mut rows = Vec::new();
    for file in &options.files {
        let checked = match load(file) {
            Ok(checked) => checked,
            Err(failure) => {
                failure.print();
                failed = true;
                continue;
            }
        };
        warn(&checked);
        let signatures = signatures(&checked);
        if options.json {
            rows.extend(signatures.iter().map(|signature| {
                let mut row = signature.json();
                row["file"] = file.display().to_string().into();
                row
            }));
            continue;
        }
        if options.files.len() > 1 {
            say(&format!("// {}\n", file.display()))?;
        }
        say(&signatures.iter().map(|s| format!("{s}\n")).collect::<String>())?;
    }
    if options.json && !failed {
        say_json(&rows.into())?;
    }
    if failed { Err(Failure::Reported) } else { Ok(()) }
}

/// Operators that break the laws `reduce` relies on, each said once.
fn warn(checked: &Checked) {
    let mut warnings: Vec<Warning> = Vec::new();
    for def in &checked.program.defs {
        for warning in check_reduce(&def.body) {
            if !warnings.contains(&warning) {
                warnings.push(warning);
            }
        }
    }
    let diagnostics: Vec<Diagnostic> = warnings.into_iter().map(diagnostic).collect();
    complain(&diagnostics, &checked.sources);
}

fn diagnostic(warning: Warning) -> Diagnostic {
    let diagnostic = Diagnostic::warning(warning.message);
    match warning.span {
        Some(span) => diagnostic.at(span, ""),
        None => diagnostic,
    }
}
