//! `lift rewrite`: rules applied to a definition.

mod application;
mod places;
mod verify;

use std::path::PathBuf;

use lift_ir::Def;
use lift_syntax::diagnostic::Diagnostic;
use lift_syntax::format::format;
use lift_syntax::parser::parse;
use lift_syntax::source::Sources;
use lift_syntax::{Checked, check_text};

use crate::entry;
use crate::report::{Failure, load, remark, say};
use application::Application;

/// Rewrite a definition by rules and print it
///
/// Rules are applied one after the other, each to what the one before left. A PLACE is a path of
/// child numbers such as `0.1`, or `root`, as `--places` prints it; without one, a rule is applied
/// at the first place where it fits, from the outside in. `m=8` chooses a parameter of the rule, a
/// size or one of `reverse`, `stride(8)`, `shift(1)`; a size that is not chosen becomes a
/// parameter of the definition. `lift rules` lists the rules.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  lift rewrite dot.lift --places\n  \
                        lift rewrite dot.lift --apply reduce_promotion:m=8 --apply map_to_seq@2 --verify")]
#[command(group = clap::ArgGroup::new("what").required(true))]
pub struct Options {
    /// The program
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The definition to rewrite: `main` or the last one otherwise
    #[arg(long, value_name = "NAME")]
    entry: Option<String>,
    /// A rule to apply, as in map_fusion or split_join@0.1:m=8; may be repeated
    #[arg(long, value_name = "RULE[@PLACE][:m=8,…]", group = "what")]
    apply: Vec<String>,
    /// List the places where this rule, or any, applies
    #[arg(long, value_name = "RULE", group = "what", conflicts_with = "apply")]
    #[arg(num_args = 0..=1)]
    places: Option<Option<String>>,
    /// Print the definition before and after every step
    #[arg(long, conflicts_with = "places")]
    trace: bool,
    /// Compare before and after with the interpreter on random inputs
    #[arg(long, conflicts_with = "places")]
    verify: bool,
    /// With --places: print an array of {"place", "rule", "expression"}
    #[arg(long, conflicts_with = "apply")]
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

/// Nothing is printed before everything has succeeded.
fn rewrite(def: &Def, options: &Options) -> Result<(), Failure> {
    let read = options.apply.iter().map(|text| Application::read(text));
    let applications = read.collect::<Result<Vec<Application>, Failure>>()?;
    let steps = steps(def, &applications)?;
    let last = steps.last().map_or(def, |step| &step.def);
    let text = printed(last);
    let again = checked_again(last, &text)?;
    if options.verify {
        // What is compared is what is printed.
        let result = again.program.def(&def.name).unwrap_or(last);
        remark(&verify::compare(def, result)?);
    }
    say(&if options.trace { trace(def, &steps) } else { text })
}

/// What one rule made.
struct Step {
    title: String,
    def: Def,
}

fn steps(def: &Def, applications: &[Application]) -> Result<Vec<Step>, Failure> {
    let mut steps: Vec<Step> = Vec::new();
    for application in applications {
        let before = steps.last().map_or(def, |step| &step.def);
        let (place, def) = application.apply(before).map_err(|mistake| {
            let on = places::abbreviated(&before.body);
            Failure::of(if steps.is_empty() {
                mistake
            } else {
                mistake.note(format!("in step {}, on `{on}`", steps.len() + 1))
            })
        })?;
        steps.push(Step { title: format!("{} at {place}", application.rule.name), def });
    }
    Ok(steps)
}

/// The definition as `lift fmt` would have it.
fn printed(def: &Def) -> String {
    let text = format!("{def}\n");
    let mut sources = Sources::new();
    let parsed = parse(sources.add("rewritten", text.as_str()), &text);
    if parsed.diagnostics.is_empty() { format(&parsed, &text) } else { text }
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
    let mut text = printed(def);
    for (number, step) in steps.iter().enumerate() {
        text.push_str(&format!("\n// {}: {}\n{}", number + 1, step.title, printed(&step.def)));
    }
    text
}
