//! `lift test`: run the `test` declarations.

use std::path::{Path, PathBuf};

use anstyle::{AnsiColor, Style};
use lift::{Compiled, Device};
use lift_interp::{
    Mismatch, RunError, Sizes, Value, compare, eval_closed, run as interpret, solve_sizes,
};
use lift_ir::{Def, Program, Subject, Test};
use lift_syntax::diagnostic::{Diagnostic, render};
use lift_syntax::source::Sources;
use serde_json::json;

use crate::arguments::by_name;
use crate::device_flags::DeviceFlags;
use crate::report::{Failure, MAIN_FILE, compile_diagnostic, load, run_diagnostic, say, say_json};
use crate::run::{INTERPRETER, open};

/// Run the tests of programs with the reference interpreter, and on a device
///
/// On a device run the tests that call a definition; closed expressions need none.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:\n\
\x20 lift test programs/reduce/dot.lift\n\
\x20 ok dot_small\n\
\x20 1 passed, 0 failed\n\
\n\
\x20 lift test programs/*.lift --device cpu")]
pub struct Options {
    /// The programs; `-` is standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Where to run besides: `cpu`, `opencl:K`, `opencl:PART-OF-THE-NAME` or `cuda:K`
    #[arg(long, value_name = "DEVICE", default_value = INTERPRETER)]
    device: String,
    #[command(flatten)]
    flags: DeviceFlags,
    /// Run tests of definitions with `extern` functions on the device, where the interpreter cannot
    #[arg(long)]
    allow_extern: bool,
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
    Run(Box<Diagnostic>),
}

/// What became of a test: whether the interpreter could take part; or where it failed, if not with the
/// interpreter, and why.
type Outcome = Result<Passed, (Option<String>, Fault)>;

#[derive(Clone, Copy, PartialEq)]
enum Passed {
    Everywhere,
    /// Extern code means nothing to the interpreter.
    OnDeviceOnly,
}

pub fn run(options: &Options) -> Result<(), Failure> {
    let mut device = match options.device.as_str() {
        INTERPRETER => None,
        id => Some(open(id).map_err(|error| Failure::message(error.to_string()))?),
    };
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
            let outcome = examine(test, &checked.program, device.as_deref_mut(), options);
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

/// Runs a test with the interpreter and, where it calls a definition, on the device.
fn examine(
    test: &Test,
    program: &Program,
    device: Option<&mut (dyn Device + 'static)>,
    options: &Options,
) -> Outcome {
    let here = |fault| (None, fault);
    let expected = eval_closed(&test.expected).map_err(|e| here(no_result(e)))?;
    let (def, args) = match &test.subject {
        Subject::Expr(expr) => {
            let found = eval_closed(expr).map_err(|e| here(no_result(e)))?;
            agree(&found, &expected, test).map_err(here)?;
            return Ok(Passed::Everywhere);
        }
        Subject::Call { def, args } => (def, args),
    };
    let Some(def) = program.defs.get(*def) else {
        unreachable!("a test calls a definition of its own program")
    };
    let values: Result<Vec<Value>, RunError> = args.iter().map(eval_closed).collect();
    let values = values.map_err(|e| here(no_result(e)))?;
    let foreign = device.is_some() && options.allow_extern && def.uses_extern().is_some();
    let passed = if foreign { Passed::OnDeviceOnly } else { Passed::Everywhere };
    if passed == Passed::Everywhere {
        let found = interpret(def, &values, &Sizes::new()).map_err(|e| here(no_result(e)))?;
        agree(&found, &expected, test).map_err(here)?;
    }
    let Some(device) = device else { return Ok(passed) };
    let there = |fault| (Some(options.device.clone()), fault);
    let found = on_device(def, &values, device, &options.flags)
        .map_err(|e| there(Fault::Run(Box::new(compile_diagnostic(e)))))?;
    agree(&found, &expected, test).map_err(there)?;
    Ok(passed)
}

/// The value of a definition compiled for the sizes of these arguments.
fn on_device(
    def: &Def,
    values: &[Value],
    device: &mut dyn Device,
    flags: &DeviceFlags,
) -> Result<Value, lift::Error> {
    let types: Vec<_> = values.iter().map(Value::ty).collect();
    let sizes = by_name(&solve_sizes(def, &types, &Sizes::new())?);
    let lowering = lift::Options { sizes, ..flags.lowering() };
    let mut compiled = Compiled::with(def, &lowering, &flags.compiler(), device)?;
    Ok(compiled.run(device, values, &Sizes::new())?.result)
}

fn no_result(error: RunError) -> Fault {
    Fault::Run(Box::new(run_diagnostic(error)))
}

fn agree(found: &Value, expected: &Value, test: &Test) -> Result<(), Fault> {
    compare(found, expected, test.approximate).map_err(|mismatch| Fault::Different {
        expected: expected.to_string(),
        found: found.to_string(),
        mismatch: Box::new(mismatch),
    })
}

fn told(test: &Test, outcome: &Outcome, sources: &Sources) -> String {
    let name = &test.name;
    let (device, fault) = match outcome {
        Ok(Passed::Everywhere) => return format!("{GOOD}ok{GOOD:#} {name}\n"),
        Ok(Passed::OnDeviceOnly) => {
            return format!("{GOOD}ok{GOOD:#} {name} (extern code: on the device only)\n");
        }
        Err((device, fault)) => (device, fault),
    };
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
                Mismatch::Type { .. } | Mismatch::TooLarge(_) => format!("  {mismatch}\n"),
            }
        }
        Fault::Run(diagnostic) => render(&[(**diagnostic).clone()], sources, true),
    };
    match device {
        None => format!("{BAD}FAILED{BAD:#} {name} ({place})\n{why}"),
        Some(id) => format!("{BAD}FAILED{BAD:#} {name} (on {id})\n  the test at {place}\n{why}"),
    }
}

fn row(file: &Path, test: &Test, outcome: &Outcome, sources: &Sources) -> serde_json::Value {
    let (line, column) = sources.line_column(test.span);
    let mut row = json!({
        "file": file.display().to_string(),
        "name": test.name,
        "line": line,
        "column": column,
        "passed": outcome.is_ok(),
    });
    let (device, fault) = match outcome {
        Ok(passed) => {
            if *passed == Passed::OnDeviceOnly {
                row["interpreted"] = false.into();
            }
            return row;
        }
        Err((device, fault)) => (device, fault),
    };
    if let Some(id) = device {
        row["device"] = id.as_str().into();
    }
    match fault {
        Fault::Different { expected, found, mismatch } => {
            row["expected"] = expected.as_str().into();
            row["found"] = found.as_str().into();
            row["message"] = mismatch.to_string().into();
        }
        Fault::Run(diagnostic) => {
            let notes = diagnostic.notes.iter().map(String::as_str);
            let all: Vec<&str> =
                std::iter::once(diagnostic.message.as_str()).chain(notes).collect();
            row["message"] = all.join("; ").into();
        }
    }
    row
}
