//! `lift test`: run the `test` declarations.

use std::path::{Path, PathBuf};

use anstyle::{AnsiColor, Style};
use lift_interp::{Mismatch, RunError, Sizes, Value, compare, eval_closed, run as interpret};
use lift_ir::{Program, Subject, Test};
use lift_syntax::diagnostic::render;
use lift_syntax::source::Sources;
use serde_json::json;

use crate::report::{Failure, MAIN_FILE, load, run_diagnostic, say, say_json};

/// Run the tests of programs with the reference interpreter
#[derive(clap::Args)]
#[command(after_help = "Example:\n  lift test dot.lift\n  ok dot_small\n  1 passed, 0 failed")]
pub struct Options {
    /// The programs
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Where to run besides: so far, `interp` is all there is
    #[arg(long, value_name = "DEVICE", default_value = "interp")]
    device: String,
    /// Print an array of {"file", "name", "passed", …}
    #[arg(long)]
    json: bool,
}

const GOOD: Style = AnsiColor::Green.on_default();
const BAD: Style = AnsiColor::Red.on_default().bold();

/// Why a test failed.
enum Fault {
    /// Both values, abbreviated, and where they differ.
    Different { expected: String, found: String, mismatch: Box<Mismatch> },
    /// It has no result.
    Run(RunError),
}

pub fn run(options: &Options) -> Result<(), Failure> {
    if options.device != "interp" {
        let text = format!("the device `{}` is not available yet", options.device);
        let diagnostic = lift_syntax::diagnostic::Diagnostic::error(text);
        return Err(Failure::of(diagnostic.help("`--device interp` is the reference interpreter")));
    }
    let (mut passed, mut failed, mut broken) = (0, 0, false);
    let mut rows = Vec::new();
    for file in &options.files {
        let checked = match load(file) {
            Ok(checked) => checked,
            Err(failure) => {
                failure.print();
                broken = true;
                continue;
            }
        };
        // Those of imported files are run where they stand.
        let own = checked.program.tests.iter().filter(|t| t.span.file == MAIN_FILE);
        let tests: Vec<&Test> = own.collect();
        if tests.is_empty() && !options.json {
            say(&format!("{} has no tests\n", file.display()))?;
        }
        for test in tests {
            let outcome = examine(test, &checked.program);
            passed += usize::from(outcome.is_ok());
            failed += usize::from(outcome.is_err());
            if options.json {
                rows.push(row(file, test, &outcome, &checked.sources));
            } else {
                say(&told(test, &outcome, &checked.sources))?;
            }
        }
    }
    if options.json {
        say_json(&rows.into())?;
    } else {
        say(&format!("{passed} passed, {failed} failed\n"))?;
    }
    if failed > 0 || broken { Err(Failure::Reported) } else { Ok(()) }
}

fn examine(test: &Test, program: &Program) -> Result<(), Fault> {
    let found = subject(&test.subject, program).map_err(Fault::Run)?;
    let expected = eval_closed(&test.expected).map_err(Fault::Run)?;
    compare(&found, &expected, test.approximate).map_err(|mismatch| Fault::Different {
        expected: expected.to_string(),
        found: found.to_string(),
        mismatch: Box::new(mismatch),
    })
}

fn subject(subject: &Subject, program: &Program) -> Result<Value, RunError> {
    match subject {
        Subject::Expr(expr) => eval_closed(expr),
        Subject::Call { def, args } => {
            let values: Vec<Value> = args.iter().map(eval_closed).collect::<Result<_, _>>()?;
            let Some(def) = program.defs.get(*def) else {
                unreachable!("a test calls a definition of its own program")
            };
            interpret(def, &values, &Sizes::new())
        }
    }
}

fn told(test: &Test, outcome: &Result<(), Fault>, sources: &Sources) -> String {
    let name = &test.name;
    let Err(fault) = outcome else { return format!("{GOOD}ok{GOOD:#} {name}\n") };
    let (line, column) = sources.line_column(test.span);
    let place = format!("{}:{line}:{column}", sources.name(test.span.file));
    let why = match fault {
        Fault::Different { expected, found, mismatch } => {
            let both = format!("  expected {expected}\n  found    {found}\n");
            match &**mismatch {
                Mismatch::Scalars { path, .. } if !path.is_empty() => {
                    format!("{both}  first difference at {path}: {mismatch}\n")
                }
                Mismatch::Scalars { .. } => both,
                Mismatch::Type { .. } => format!("  {mismatch}\n"),
            }
        }
        Fault::Run(error) => render(&[run_diagnostic(error.clone())], sources, true),
    };
    format!("{BAD}FAILED{BAD:#} {name} ({place})\n{why}")
}

fn row(
    file: &Path,
    test: &Test,
    outcome: &Result<(), Fault>,
    sources: &Sources,
) -> serde_json::Value {
    let (line, column) = sources.line_column(test.span);
    let mut row = json!({
        "file": file.display().to_string(),
        "name": test.name,
        "line": line,
        "column": column,
        "passed": outcome.is_ok(),
    });
    match outcome {
        Ok(()) => {}
        Err(Fault::Different { expected, found, mismatch }) => {
            row["expected"] = expected.as_str().into();
            row["found"] = found.as_str().into();
            row["message"] = mismatch.to_string().into();
        }
        Err(Fault::Run(error)) => row["message"] = error.to_string().into(),
    }
    row
}
