//! What the passes of a compilation are, what there is after one, and what each takes.

use std::time::Instant;

use lift::{Def, Language};
use lift_lower::{Pass, Stage, passes};

use crate::report::{Failure, say};

/// The pipeline, a line a pass.
pub fn list() -> Result<(), Failure> {
    let width = passes().iter().map(|pass| pass.name.len()).max().unwrap_or(0);
    let line =
        |pass: &Pass| format!("{:width$}  {:7}  {}", pass.name, pass.targets.name(), pass.law);
    let lines: Vec<String> = passes().iter().map(line).collect();
    say(&format!("{}\n", lines.join("\n")))
}

/// A pass by its name.
pub fn find(name: &str) -> Result<&'static Pass, Failure> {
    passes().iter().find(|pass| pass.name == name).ok_or_else(|| {
        Failure::message(format!("there is no pass `{name}`; `lift compile --passes` lists them"))
    })
}

/// What there is after a pass: a program, or kernels in the language they have before they are printed for a target.
pub fn after(
    def: &Def,
    options: &lift::Options,
    language: Language,
    pass: &'static Pass,
) -> Result<Result<String, lift::Error>, Failure> {
    let mut found = None;
    let lowered = lift::lower_for(def, options, language, &mut |done, stage| {
        if done.name == pass.name {
            found = Some(match stage {
                Stage::Program(program) => lift_rewrite::formatted(&program.def),
                Stage::Plan(plan) => {
                    let texts: Vec<String> = plan.kernels.iter().map(lift_kernel::text).collect();
                    texts.join("\n")
                }
            });
        }
    });
    match (found, lowered) {
        // A later pass may refuse the program.
        (Some(found), _) => Ok(Ok(found)),
        (None, Err(error)) => Ok(Err(error)),
        (None, Ok(_)) => Err(Failure::message(format!(
            "`{}` is not part of this compilation: it is for {}, or left out by an option",
            pass.name,
            pass.targets.name()
        ))),
    }
}

/// What each pass took, in the order they ran.
pub fn timing(
    def: &Def,
    options: &lift::Options,
    language: Language,
) -> Result<String, lift::Error> {
    let (mut lines, mut since) = (Vec::new(), Instant::now());
    let start = since;
    lift::lower_for(def, options, language, &mut |pass, _| {
        lines.push(format!("{:10.3} ms  {}", since.elapsed().as_secs_f64() * 1e3, pass.name));
        since = Instant::now();
    })?;
    lines.push(format!("{:10.3} ms  all", start.elapsed().as_secs_f64() * 1e3));
    Ok(format!("{}\n", lines.join("\n")))
}
