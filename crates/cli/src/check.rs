//! `lift check`: parse, type-check, print signatures.

use std::path::PathBuf;

use lift_interp::laws::{Warning, check_reduce};
use lift_syntax::Checked;
use lift_syntax::diagnostic::Diagnostic;

use crate::report::{Failure, complain, load, say, say_json};
use crate::signature::{Signature, signatures};

/// Type-check a program and print the signature of every definition
///
/// Below a signature stand the bounds on sizes that its body needs besides its `where` clauses.
/// A `reduce` whose operator fails a sampled check of its laws is warned about.
#[derive(clap::Args)]
#[command(after_help = "Example:\n  lift check dot.lift\n  \
                        def dot[N](x: [f32; N], y: [f32; N]) -> f32")]
pub struct Options {
    /// The program
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Print an array of signatures
    #[arg(long)]
    json: bool,
}

pub fn run(options: &Options) -> Result<(), Failure> {
    let checked = load(&options.file)?;
    warn(&checked);
    let signatures = signatures(&checked);
    if options.json {
        return say_json(&signatures.iter().map(Signature::json).collect());
    }
    say(&signatures.iter().map(|s| format!("{s}\n")).collect::<String>())
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
