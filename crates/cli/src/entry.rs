//! Which definition of a program a verb works on, and what it may do.

use std::path::Path;

use lift_ir::Def;
use lift_syntax::Checked;
use lift_syntax::diagnostic::Diagnostic;

use crate::report::{Failure, did_you_mean};
use crate::signature::signatures;

/// Definitions that are named where another is asked for, at most.
const LISTED: usize = 12;

/// The definition that was asked for, or the one that stands for the program.
pub fn find<'c>(checked: &'c Checked, file: &Path, name: Option<&str>) -> Result<&'c Def, Failure> {
    let program = &checked.program;
    let Some(name) = name else {
        let text = format!("{} has no definition that can be evaluated", file.display());
        return program.entry().ok_or_else(|| Failure::message(text));
    };
    if let Some(def) = program.def(name) {
        return Ok(def);
    }
    if signatures(checked).iter().any(|s| s.is_generic() && s.name() == name) {
        let text = format!("`{name}` has type, function or size parameters");
        let note = "such a definition is expanded where it is called and cannot be evaluated";
        return Err(Failure::of(Diagnostic::error(text).note(note)));
    }
    let mut mistake = Diagnostic::error(format!("there is no definition `{name}`"));
    let names = || program.defs.iter().map(|d| d.name.as_str());
    mistake = match did_you_mean(name, names()) {
        Some(help) => mistake.help(help),
        None => mistake.note(listed(file, names())),
    };
    Err(Failure::of(mistake))
}

/// The definitions that there are, the first of them where they are many.
fn listed<'n>(file: &Path, mut names: impl Iterator<Item = &'n str>) -> String {
    let first: Vec<String> = names.by_ref().take(LISTED).map(|name| format!("`{name}`")).collect();
    let more = match names.count() {
        0 => String::new(),
        n => format!(" and {n} more"),
    };
    format!("{} has {}{more}", file.display(), first.join(", "))
}

/// Foreign code has no meaning to the interpreter, with or without permission to run it.
pub fn refuse_extern(def: &Def, allowed: bool) -> Result<(), Failure> {
    let note = if allowed {
        "the interpreter cannot evaluate extern code, even with `--allow-extern`"
    } else {
        "the interpreter cannot evaluate extern code; on a device it needs `--allow-extern`"
    };
    without_extern(def, note)
}

/// Foreign code runs on a device as it stands, so the user has to agree.
pub fn permit_extern(def: &Def, allowed: bool) -> Result<(), Failure> {
    if allowed {
        return Ok(());
    }
    without_extern(def, "extern code is not checked; where it is trusted, give `--allow-extern`")
}

/// Refuses a definition that uses foreign code, and says why.
pub fn without_extern(def: &Def, note: &str) -> Result<(), Failure> {
    let Some(function) = def.uses_extern() else { return Ok(()) };
    let text = format!("`{}` uses the extern function `{function}`", def.name);
    Err(Failure::of(Diagnostic::error(text).note(note)))
}
