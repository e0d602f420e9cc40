//! `lift rewrite`: rules applied to a definition.

mod application;
mod places;
mod scripted;
mod verify;

use std::io::Write;
use std::path::{Path, PathBuf};

use lift_ir::{Clause, Def, Pred, Var};
use lift_rewrite::formatted;
use lift_syntax::diagnostic::Diagnostic;
use lift_syntax::{Checked, check_text};

use crate::report::{Failure, load, remark, say};
use crate::{entry, output};
use application::{Application, Refused};

/// Rewrite a definition by rules and print it
///
/// Rules are applied one after the other, each to what the one before left. A PLACE is a path of
/// child numbers such as `0.1`, or `root`, as `--places` prints it; without one, a rule is applied
/// at the first place where it fits, from the outside in. `m=8` chooses a parameter of the rule, a
/// size or one of `reverse`, `stride(8)`, `shift(1)`; a size that is not chosen becomes a
/// parameter of the definition, and what a rule needs of sizes a `where` clause. `lift rules` lists
/// the rules. A strategy says where many rules are applied; a file of strategies ends in the one that
/// is run, or has it as `main`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:\n\
\x20 lift rewrite programs/mm.lift --places split_join\n\
\x20 lift rewrite programs/mm.lift --apply split_join:m=8 --verify\n\
\x20 lift rewrite programs/reduce/dot.lift --apply reduce_promotion:m=8 \\\n\
\x20   --apply map_to_seq@2 --verify\n\
\x20 lift rewrite programs/mm.lift --strategy 'tile(m, k)' --trace\n\
\x20 lift rewrite programs/mm.lift --script derivations/mm_tiled.strategy --save mm.derivation\n\
\x20 lift rewrite programs/mm.lift --replay mm.derivation")]
#[command(group = clap::ArgGroup::new("what").required(true))]
pub struct Options {
    /// The program; `-` is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The definition to rewrite: `main` or the last one otherwise
    #[arg(long, value_name = "NAME")]
    entry: Option<String>,
    /// A rule to apply, as in map_fusion or split_join@0.1:m=8; may be repeated
    #[arg(long, value_name = "RULE[@PLACE][:m=8,…]", group = "what")]
    apply: Vec<String>,
    /// A strategy to run, as in 'tile(16, 16) >> sequential'
    #[arg(long, value_name = "S(args)", group = "what")]
    strategy: Option<String>,
    /// A file of strategies to run
    #[arg(long, value_name = "FILE.strategy", group = "what")]
    script: Option<PathBuf>,
    /// Do the steps of a saved derivation of the definition again
    #[arg(long, value_name = "FILE", group = "what")]
    replay: Option<PathBuf>,
    /// List the places where this rule, or any, applies
    #[arg(long, value_name = "RULE", group = "what", num_args = 0..=1)]
    places: Option<Option<String>>,
    /// Print the definition before and after every step
    #[arg(long, conflicts_with = "places")]
    trace: bool,
    /// Write every step with the definition after it to this file, for --replay
    #[arg(long, value_name = "FILE", conflicts_with_all = ["places", "replay"])]
    save: Option<PathBuf>,
    /// Compare before and after with the interpreter on random inputs
    #[arg(long, conflicts_with = "places")]
    verify: bool,
    /// With --places: print an array of {"place", "rule", "expression"}
    #[arg(long, conflicts_with_all = ["apply", "strategy", "script", "replay"])]
    json: bool,
}

pub fn run(options: &Options) -> Result<(), Failure> {
    let checked = load(&options.file)?;
    let def = entry::find(&checked, &options.file, options.entry.as_deref())?;
    match &options.places {
        Some(rule) => places::list(def, rule.as_deref(), options.json),
        None => rewrite(def, options),
    }
}

/// Nothing is printed or written before everything has succeeded.
fn rewrite(def: &Def, options: &Options) -> Result<(), Failure> {
    let Made { start, steps } = made(def, options)?;
    let last = steps.last().map_or(&start, |step| &step.def);
    let text = formatted(last);
    let again = checked_again(last, &text)?;
    if options.verify {
        // What is compared is what is printed.
        let result = again.program.def(&def.name).unwrap_or(last);
        remark(&verify::compare(def, result)?);
    }
    if let Some(path) = &options.save {
        save(path, &trace(&start, &steps))?;
    }
    say(&if options.trace { trace(&start, &steps) } else { text })
}

/// The steps that the user asked for.
fn made(def: &Def, options: &Options) -> Result<Made, Failure> {
    match (&options.strategy, &options.script, &options.replay) {
        (Some(text), ..) => scripted::strategy(def, text),
        (_, Some(path), _) => scripted::script(def, path),
        (.., Some(path)) => scripted::replayed(def, path),
        _ => {
            let read = options.apply.iter().map(|text| Application::read(text));
            applied(def, &read.collect::<Result<Vec<Application>, Failure>>()?)
        }
    }
}

/// What the steps were made from, and they.
struct Made {
    start: Def,
    steps: Vec<Step>,
}

/// What one rule made.
struct Step {
    /// `split_join at root, m = 8`
    title: String,
    def: Def,
}

/// What a rule needs of the sizes and cannot be proved becomes a `where` clause: whoever chooses `m=8` means sizes that
/// 8 divides.
fn applied(def: &Def, applications: &[Application]) -> Result<Made, Failure> {
    let mut start = def.clone();
    loop {
        match steps(&start, applications) {
            Ok(steps) => {
                let assumed = start.wheres.iter().skip(def.wheres.len());
                assumed.for_each(|clause| remark(&format!("assumed: `where {}`", clause.pred)));
                return Ok(Made { start, steps });
            }
            Err(Refused { mistake, condition }) => {
                let Some(pred) = condition.filter(|pred| can_be_stated(pred, &start)) else {
                    return Err(Failure::of(*mistake));
                };
                start.wheres.push(Clause { pred, span: None });
            }
        }
    }
}

/// Whether sizes can have what a clause says, and the definition does not say it yet.
fn can_be_stated(pred: &Pred, def: &Def) -> bool {
    /// Many numbers divide it.
    const DIVISIBLE: i128 = 64 * 232_792_560;
    let own = |var: &Var| def.sizes.contains(var);
    pred.vars().iter().all(own)
        && pred.eval(&|_| Some(DIVISIBLE)) == Ok(true)
        && !def.wheres.iter().any(|clause| clause.pred == *pred)
}

fn steps(def: &Def, applications: &[Application]) -> Result<Vec<Step>, Refused> {
    let mut steps: Vec<Step> = Vec::new();
    for application in applications {
        let before = steps.last().map_or(def, |step| &step.def);
        let (title, def) = application.apply(before).map_err(|refused| {
            let on = places::abbreviated(&before.body);
            let note = format!("in step {}, on `{on}`", steps.len() + 1);
            let Refused { mistake, condition } = refused;
            let mistake = if steps.is_empty() { *mistake } else { mistake.note(note) };
            Refused { mistake: Box::new(mistake), condition }
        })?;
        steps.push(Step { title, def });
    }
    Ok(steps)
}

/// Rules keep types, but which low-level patterns may stand where is a matter of the whole.
fn checked_again(def: &Def, text: &str) -> Result<Checked, Failure> {
    let checked = check_text("rewritten", text);
    if !checked.has_errors() {
        return Ok(checked);
    }
    let note = format!("`{}` is this after the rules, and cannot stay so", def.name);
    let noted = |diagnostic: Diagnostic| diagnostic.note(note.as_str());
    Err(Failure::Diagnostics(checked.diagnostics.into_iter().map(noted).collect(), checked.sources))
}

fn trace(def: &Def, steps: &[Step]) -> String {
    let mut text = formatted(def);
    for (number, step) in steps.iter().enumerate() {
        text.push_str(&format!("\n// {}: {}\n{}", number + 1, step.title, formatted(&step.def)));
    }
    text
}

fn save(path: &Path, text: &str) -> Result<(), Failure> {
    output::replace(path, |file| file.write_all(text.as_bytes()))
        .map_err(|e| Failure::message(format!("cannot write {}: {e}", path.display())))
}
