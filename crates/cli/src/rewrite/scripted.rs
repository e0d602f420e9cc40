//! Steps that a strategy or a saved derivation makes.

use std::fs;
use std::path::Path;

use lift_ir::Def;
use lift_rewrite::{Derivation, read_script, read_strategy, replay, run};
use lift_syntax::source::Sources;

use super::{Made, Step};
use crate::report::Failure;

pub(super) fn strategy(def: &Def, text: &str) -> Result<Made, Failure> {
    let mut sources = Sources::new();
    let file = sources.add("--strategy", text);
    let strategy = read_strategy(file, text).map_err(|d| Failure::Diagnostics(d, sources))?;
    let outcome = run(def, &strategy).map_err(|failure| Failure::message(failure.to_string()))?;
    Ok(made(&outcome.derivation))
}

pub(super) fn script(def: &Def, path: &Path) -> Result<Made, Failure> {
    let text = read(path)?;
    let mut sources = Sources::new();
    let file = sources.add(path.display().to_string(), text.as_str());
    let script = read_script(file, &text).map_err(|d| Failure::Diagnostics(d, sources))?;
    let outcome = script.run(def).map_err(|error| Failure::message(error.to_string()))?;
    Ok(made(&outcome.derivation))
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
