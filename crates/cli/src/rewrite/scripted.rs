//! Steps that a strategy or a saved derivation makes.

use std::fs;
use std::path::Path;

use lift_ir::Def;
use lift_rewrite::{
    Derivation, ScriptError, read_script, read_strategy, replay, run, strategy as strategies,
};
use lift_syntax::diagnostic::Diagnostic;
use lift_syntax::source::Sources;

use super::places::abbreviated;
use super::{Made, Step};
use crate::report::Failure;

pub(super) fn strategy(def: &Def, text: &str) -> Result<Made, Failure> {
    let mut sources = Sources::new();
    let file = sources.add("--strategy", text);
    let strategy = read_strategy(file, text).map_err(|d| Failure::Diagnostics(d, sources))?;
    let outcome = run(def, &strategy).map_err(|failure| Failure::of(failed(&failure)))?;
    Ok(made(&outcome.derivation))
}

pub(super) fn script(def: &Def, path: &Path) -> Result<Made, Failure> {
    let text = read(path)?;
    let mut sources = Sources::new();
    let file = sources.add(path.display().to_string(), text.as_str());
    let script = match read_script(file, &text) {
        Ok(script) => script,
        Err(mistakes) => return Err(Failure::Diagnostics(mistakes, sources)),
    };
    let outcome = script.run(def).map_err(|error| {
        let mistake = match (&error, error.span()) {
            (ScriptError::Failed(failure), _) => failed(failure),
            (_, Some(span)) => Diagnostic::error(error.to_string()).at(span, "here"),
            (_, None) => Diagnostic::error(error.to_string()),
        };
        Failure::Diagnostics(vec![mistake], sources)
    })?;
    Ok(made(&outcome.derivation))
}

/// What failed, and what stood there.
fn failed(failure: &strategies::Failure) -> Diagnostic {
    let mistake = Diagnostic::error(failure.to_string());
    match &failure.cause().expr {
        Some(expr) => mistake.note(format!("there stands `{}`", abbreviated(expr))),
        None => mistake,
    }
}

pub(super) fn replayed(def: &Def, path: &Path) -> Result<Made, Failure> {
    let text = read(path)?;
    let again = replay(&text).map_err(|e| Failure::message(format!("{}: {e}", path.display())))?;
    if !again.start.body.alpha_eq(&def.body) && !again.start.alpha_eq(def) {
        let text = format!("{} does not start from `{}`", path.display(), def.name);
        return Err(Failure::message(text));
    }
    Ok(made(&again))
}

fn made(derivation: &Derivation) -> Made {
    let step = |(index, step): (usize, &lift_rewrite::Step)| Step {
        title: step.to_string(),
        def: derivation.after(index + 1),
    };
    let steps = derivation.steps.iter().enumerate().map(step).collect();
    Made { start: derivation.start.clone(), steps }
}

fn read(path: &Path) -> Result<String, Failure> {
    fs::read_to_string(path)
        .map_err(|e| Failure::message(format!("cannot read {}: {e}", path.display())))
}
