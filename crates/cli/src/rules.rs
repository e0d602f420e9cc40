//! `lift rules`: the laws by which programs are rewritten.

use lift_rewrite::strategy::{Listed, listed};
use lift_rewrite::{Family, Rule, RuleKind, families};
use serde_json::{Value, json};

use crate::report::{Failure, say, say_json};

/// List the rewrite rules
///
/// A rule is a law: its left side may be replaced by its right side wherever its condition holds.
/// Names that the left side does not bind are chosen by who applies the rule.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:\n\
\x20 lift rules --json\n\
\x20 lift rules --strategies")]
pub struct Options {
    /// Print the reference of the rules
    #[arg(long, conflicts_with = "json")]
    markdown: bool,
    /// List the strategies of the library instead: name, arguments, what each does
    #[arg(long)]
    strategies: bool,
    /// Print an array of {"name", "about", "law", "condition", "kind", "variables", "parameters"}
    #[arg(long)]
    json: bool,
}

pub fn run(options: &Options) -> Result<(), Failure> {
    if options.strategies {
        return strategies(options);
    }
    let sections = families().iter().map(|f| Section::of(f)).collect::<Result<Vec<_>, _>>()?;
    let entries = sections.iter().flat_map(|section| &section.entries);
    if options.json {
        return say_json(&entries.map(Entry::json).collect());
    }
    if options.markdown {
        return say(&markdown(&sections));
    }
    let texts: Vec<String> = entries.map(Entry::text).collect();
    say(&texts.join("\n"))
}

fn strategies(options: &Options) -> Result<(), Failure> {
    let all = listed().map_err(|e| Failure::message(e.to_string()))?;
    if options.json {
        let row = |s: &Listed| json!({ "name": s.name, "arguments": s.arguments, "about": s.about, "theme": s.theme });
        return say_json(&all.iter().map(row).collect());
    }
    if options.markdown {
        let row = |s: &Listed| format!("| `{s}` | {} |\n", s.about);
        let rows: String = all.iter().map(row).collect();
        return say(&format!("| strategy | does |\n|---|---|\n{rows}"));
    }
    let text = |s: &Listed| format!("{s}\n  {}\n", s.about);
    say(&all.iter().map(text).collect::<Vec<String>>().join("\n"))
}

/// The rules of one family.
struct Section {
    family: &'static Family,
    entries: Vec<Entry>,
}

impl Section {
    fn of(family: &'static Family) -> Result<Section, Failure> {
        let entries = family.rules.iter().map(|rule| Entry::of(family, rule));
        Ok(Section { family, entries: entries.collect::<Result<_, _>>()? })
    }

    fn markdown(&self) -> String {
        let Family { name, about, .. } = self.family;
        let start = format!("## {name}\n\n{about}\n");
        self.entries.iter().fold(start, |text, entry| text + "\n" + &entry.markdown())
    }
}

/// A rule and the names that must be chosen to apply it.
struct Entry {
    family: &'static Family,
    rule: &'static Rule,
    parameters: Vec<String>,
}

impl Entry {
    fn of(family: &'static Family, rule: &'static Rule) -> Result<Entry, Failure> {
        let law = rule.read().map_err(|e| Failure::message(format!("`{}`: {e}", rule.name)))?;
        let parameters = law.parameters.iter().chain(&law.reorderings).cloned().collect();
        Ok(Entry { family, rule, parameters })
    }

    fn json(&self) -> Value {
        let Rule { name, about, signature, left, right, condition, .. } = self.rule;
        json!({
            "name": name,
            "about": about,
            "law": format!("{left} = {right}"),
            "condition": condition,
            "kind": self.family.name,
            "variables": signature,
            "parameters": self.parameters,
        })
    }

    fn text(&self) -> String {
        let Rule { name, about, signature, left, right, condition, .. } = self.rule;
        let mut text = format!("{name}: {signature}\n  {about}\n  {left}\n  = {right}\n");
        if !condition.is_empty() {
            text.push_str(&format!("  where {condition}\n"));
        }
        if !self.parameters.is_empty() {
            text.push_str(&format!("  choose {}\n", self.parameters.join(", ")));
        }
        text
    }

    fn markdown(&self) -> String {
        let Rule { name, about, signature, left, right, condition, .. } = self.rule;
        let mut text = format!("### {name}\n\n{about}\n\n");
        text.push_str(&format!("```\n{left}\n  = {right}\n```\n\nFor `{signature}`"));
        if !condition.is_empty() {
            text.push_str(&format!(", where `{condition}`"));
        }
        text.push_str(".\n");
        if !self.parameters.is_empty() {
            text.push_str(&format!(
                "Chosen when it is applied: `{}`.\n",
                self.parameters.join("`, `")
            ));
        }
        if let RuleKind::Function(_) = self.rule.kind {
            text.push_str("Matched by a function; the law says what it does.\n");
        }
        text
    }
}

const INTRODUCTION: &str = "\
# Rules

<!-- Printed by `lift rules --markdown`. -->

Wherever the left side of a law stands in a program it may be replaced by the right side, if the condition
is known to hold there: `lift rewrite FILE --apply RULE`. Small letters `a`, `b`, … in types stand for any
type, `n`, `m`, … for sizes, `s_m` for vectors of m scalars `s`; `splat(m, x)` is the vector of m times x.
Every rule is tested on random instances by `crates/rewrite/tests/laws`, and has a program that it must not change
in `crates/rewrite/tests/apply/unmoved.txt`.
";

fn markdown(sections: &[Section]) -> String {
    let start = INTRODUCTION.to_string();
    sections.iter().fold(start, |text, section| text + "\n" + &section.markdown())
}
