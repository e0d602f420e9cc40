//! Derivations as text: the definition, then for every step a line about it and the definition after it.
//!
//! ```text
//! def twice[N](xs: [i32; N]) -> [i32; N] = …;
//!
//! // 1: split_join at root, m = 8
//! def twice[N](xs: [i32; N]) -> [i32; N] where N % 8 == 0 = …;
//! ```

use std::fmt;

use lift_ir::{Def, Place, Var};
use lift_syntax::check_step;
use lift_syntax::format::format;
use lift_syntax::parser::parse;

use super::{Derivation, Step};
use crate::arguments::Arguments;
use crate::choices::{outer_parts, permutation_in, size_in};
use crate::rule::Rule;
use crate::{apply_in, find};

/// What is told of a step: `split_join at root, m = 8`.
impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}", self.rule.name, self.place)?;
        match self.arguments.to_string() {
            chosen if chosen.is_empty() => Ok(()),
            chosen => write!(f, ", {chosen}"),
        }
    }
}

impl fmt::Display for Derivation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&formatted(&self.start))?;
        for (index, step) in self.steps.iter().enumerate() {
            write!(f, "\n// {}: {step}\n{}", index + 1, formatted(&self.after(index + 1)))?;
        }
        Ok(())
    }
}

/// A definition as text, laid out.
pub fn formatted(def: &Def) -> String {
    let text = format!("{def}\n");
    let parsed = parse(0, &text);
    if parsed.diagnostics.is_empty() { format(&parsed, &text) } else { text }
}

/// Why a derivation cannot be done again.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReplayError {
    /// 0 for the definition at the beginning.
    pub step: usize,
    pub reason: String,
}

impl fmt::Display for ReplayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.step {
            0 => write!(f, "the definition at the beginning: {}", self.reason),
            step => write!(f, "step {step}: {}", self.reason),
        }
    }
}

impl std::error::Error for ReplayError {}

/// Does every step of a printed derivation again and compares with what is printed after it.
pub fn replay(text: &str) -> Result<Derivation, ReplayError> {
    let mut sections = sections(text).into_iter();
    let fail = |step: usize| move |reason: String| ReplayError { step, reason };
    let (_, first) = sections.next().unwrap_or_default();
    let start = definition(&first).map_err(fail(0))?;
    let (mut now, mut steps) = (start.clone(), Vec::new());
    for (index, (title, printed)) in sections.enumerate() {
        let fail = fail(index + 1);
        let (rule, place, chosen) = read_title(&title).map_err(fail)?;
        let arguments = read_arguments(rule, &now, &chosen).map_err(fail)?;
        let arguments = arguments.open(now.parameters.iter().map(|p| p.var.clone()));
        now = apply_in(rule, &now, &place, &arguments)
            .map_err(|e| fail(format!("`{}` at {place}: {e}", rule.name)))?;
        if !is_same(&now, &definition(&printed).map_err(fail)?) {
            let text = format!("`{}` at {place} gives another program:\n{now}", rule.name);
            return Err(fail(text));
        }
        let parameters = now.parameters.len() - start.parameters.len();
        let clauses = now.wheres.len() - start.wheres.len();
        let body = now.body.clone();
        steps.push(Step { rule, place, arguments, body, parameters, clauses });
    }
    let new = now.parameters.iter().skip(start.parameters.len());
    let assumed = now.wheres.iter().skip(start.wheres.len());
    Ok(Derivation {
        parameters: new.map(|p| p.var.clone()).collect(),
        clauses: assumed.map(|c| c.pred.clone()).collect(),
        implied: now.implied.clone(),
        next_number: now.next_number,
        start,
        steps,
    })
}

/// Whether a definition is the one that was read. Sizes that were made before a clause was assumed may be written in
/// another way than those that are read with it, so both are read where they differ.
fn is_same(now: &Def, printed: &Def) -> bool {
    now.alpha_eq(printed) || definition(&now.to_string()).is_ok_and(|read| read.alpha_eq(printed))
}

/// The title of each section without its number, and what follows.
fn sections(text: &str) -> Vec<(String, String)> {
    let mut found = vec![(String::new(), String::new())];
    for line in text.lines() {
        let title = line.strip_prefix("// ").and_then(|rest| rest.split_once(": "));
        match title {
            Some((number, title)) if number.parse::<usize>().is_ok() => {
                found.push((title.to_string(), String::new()));
            }
            _ => {
                if let Some((_, body)) = found.last_mut() {
                    body.push_str(line);
                    body.push('\n');
                }
            }
        }
    }
    found
}

fn definition(text: &str) -> Result<Def, String> {
    let checked = check_step("derivation", text);
    if checked.has_errors() {
        let first = checked.diagnostics.first().map(|d| d.message.clone());
        return Err(first.unwrap_or_default());
    }
    let entry = checked.program.entry().cloned();
    entry.ok_or_else(|| "there is no definition".to_string())
}

/// `split_join at 0.1, m = 8`
fn read_title(title: &str) -> Result<(&'static Rule, Place, String), String> {
    let (name, rest) = title.split_once(" at ").ok_or("expected `RULE at PLACE`")?;
    let (place, chosen) = rest.split_once(", ").unwrap_or((rest, ""));
    let rule = find(name).map_err(|e| e.to_string())?;
    Ok((rule, place.trim().parse()?, chosen.to_string()))
}

/// `m = 8, p = stride(4)`, in terms of the sizes of a definition.
fn read_arguments(rule: &Rule, def: &Def, text: &str) -> Result<Arguments, String> {
    let law = rule.read().map_err(|e| e.to_string())?;
    let mut arguments = Arguments::none();
    for choice in outer_parts(text).into_iter().filter(|part| !part.trim().is_empty()) {
        let (name, value) = choice.split_once('=').ok_or(format!("`{choice}` chooses nothing"))?;
        let (name, value) = (name.trim(), value.trim());
        arguments = if law.reorderings.iter().any(|r| r == name) {
            arguments.permutation(name, permutation_in(def, value)?)
        } else if let Some(new) = value.strip_prefix("new ") {
            arguments.fresh(name, Var::named(new.trim()))
        } else {
            arguments.size(name, size_in(def, value)?)
        };
    }
    Ok(arguments)
}
