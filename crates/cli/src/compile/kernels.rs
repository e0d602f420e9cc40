//! Kernels written by hand, in the language that `--after` prints.

use std::path::Path;

use lift::Language;
use lift_kernel::{Expr, Kernel, Mark, Runs, Stmt, c, cuda, opencl, read, validate};
use lift_lower::{for_processor, for_threads};

use crate::report::Failure;

/// Whether a file holds kernels, not a program.
pub fn is_kernels(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == "kernel")
}

/// The kernels of a file for a target, one after the other.
pub fn compile(file: &Path, language: Language, allow_extern: bool) -> Result<String, Failure> {
    let kernels = prepared(file, language, allow_extern)?;
    let texts: Result<Vec<String>, String> = kernels.iter().map(|k| printed(k, language)).collect();
    let texts =
        texts.map_err(|message| Failure::message(format!("{}: {message}", file.display())))?;
    Ok(texts.join("\n"))
}

/// The kernels of a file, valid and as they are printed for a target.
pub fn prepared(
    file: &Path,
    language: Language,
    allow_extern: bool,
) -> Result<Vec<Kernel>, Failure> {
    let shown = file.display();
    let text = std::fs::read_to_string(file)
        .map_err(|error| Failure::message(format!("cannot read {shown}: {error}")))?;
    let kernels = read(&text)
        .map_err(|error| Failure::message(format!("{shown}:{}: {}", error.line, error.message)))?;
    if kernels.is_empty() {
        return Err(Failure::message(format!("{shown}: there is no kernel")));
    }
    let prepared = kernels.into_iter().map(|kernel| prepare(kernel, language, allow_extern));
    let prepared: Result<Vec<Kernel>, String> = prepared.collect();
    prepared.map_err(|message| Failure::message(format!("{shown}: {message}")))
}

fn prepare(mut kernel: Kernel, language: Language, allow_extern: bool) -> Result<Kernel, String> {
    let name = kernel.name.clone();
    if holds(&kernel, |e| matches!(e, Expr::Extern(..))) && !allow_extern {
        return Err(format!(
            "`{name}` calls extern functions, whose code is not checked; where it is trusted, give `--allow-extern`"
        ));
    }
    if language != Language::Cuda && holds(&kernel, |e| matches!(e, Expr::Shuffle(..))) {
        return Err(format!(
            "the work-items of `{name}` give each other numbers, which only CUDA has"
        ));
    }
    match (language, kernel.runs) {
        (Language::C, Runs::Threads) => {
            return Err(format!("the work-items of `{name}` are threads, which C has none of"));
        }
        (Language::OpenCl | Language::Cuda, Runs::Loops) => {
            // What is wrong is said of what was written.
            validate(&kernel).map_err(|errors| faults(&name, &errors))?;
            for_threads(&mut kernel, true);
        }
        (Language::C, Runs::Loops) if !is_marked(&kernel) => for_processor(&mut kernel),
        _ => {}
    }
    validate(&kernel).map_err(|errors| faults(&name, &errors))?;
    Ok(kernel)
}

fn printed(kernel: &Kernel, language: Language) -> Result<String, String> {
    let valid = validate(kernel).map_err(|errors| faults(&kernel.name, &errors))?;
    Ok(match language {
        Language::OpenCl => opencl(&valid),
        Language::Cuda => cuda(&valid),
        Language::C => c(&valid),
    })
}

fn faults(name: &str, errors: &[String]) -> String {
    format!("`{name}` is no valid kernel: {}", errors.join("; "))
}

/// Whether the kernel says itself what threads share.
fn is_marked(kernel: &Kernel) -> bool {
    let mut found = false;
    let mut look = |s: &Stmt| found |= matches!(s, Stmt::Loop(l) if l.mark != Mark::None);
    kernel.body.iter().for_each(|stmt| stmt.each(&mut look));
    found
}

fn holds(kernel: &Kernel, wanted: fn(&Expr) -> bool) -> bool {
    let mut found = false;
    let mut look = |s: &Stmt| {
        s.values().for_each(|value| value.each(&mut |e| found |= wanted(e)));
    };
    kernel.body.iter().for_each(|stmt| stmt.each(&mut look));
    found
}
