//! Commands in the examples of `--help`.
//!
//! Behind `Example:` or `Examples:` a line that begins with `lift` is a command, with markers as in pages (`step`); other
//! lines are what the command before them prints.

use crate::common::{in_folder, root};
use crate::step::{Part, Step};

/// What every verb, and every verb of a verb, shows.
pub fn part() -> Part {
    let mut steps = Vec::new();
    visit(&[], &mut steps);
    Part { name: "--help".to_string(), steps }
}

fn visit(verb: &[&str], found: &mut Vec<Step>) {
    let asked = [verb, &["--help"]].concat();
    let help = in_folder(&root(), &asked).stdout;
    let name = ["lift"].iter().chain(verb).copied().collect::<Vec<_>>().join(" ");
    let steps = examples(&help);
    assert!(verb.is_empty() || !steps.is_empty(), "`{name} --help` has no example:\n{help}");
    found.extend(steps);
    for below in verbs(&help) {
        visit(&[verb, &[below.as_str()]].concat(), found);
    }
}

/// Listed under `Commands:`; `help` is clap's own.
fn verbs(help: &str) -> Vec<String> {
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let listed = listed.take_while(|line| line.starts_with("  "));
    // Descriptions that go on have more space in front.
    let names =
        listed.filter(|line| !line.starts_with("   ")).filter_map(|l| l.split_whitespace().next());
    names.filter(|name| *name != "help").map(String::from).collect()
}

fn examples(help: &str) -> Vec<Step> {
    let lines = help.lines().skip_while(|line| !matches!(*line, "Example:" | "Examples:")).skip(1);
    let mut steps = Vec::new();
    let mut begun = String::new();
    for line in lines.map(str::trim).filter(|line| !line.is_empty()) {
        if let Some(part) = line.strip_suffix('\\') {
            begun.push_str(part);
        } else if !begun.is_empty() || line.starts_with("lift") || line.starts_with("cat ") {
            steps.push(Step::command(&format!("{begun}{line}")));
            begun.clear();
        } else if let Some(Step::Command { shown, .. }) = steps.last_mut() {
            let shown = shown.get_or_insert_default();
            shown.push_str(&format!("{line}\n"));
        }
    }
    steps
}

#[test]
fn examples_are_told_from_their_output() {
    let help = "Usage: lift nat\n\nExamples:\n  lift nat 'N - N'\n  0\n\n  lift nat \\\n    N\n  lift rules | head\n";
    let shown = |text: &str, shown: Option<&str>| match Step::command(text) {
        Step::Command { text, want, .. } => {
            Step::Command { text, want, shown: shown.map(String::from) }
        }
        step => step,
    };
    assert_eq!(
        examples(help),
        [
            shown("lift nat 'N - N'", Some("0\n")),
            shown("lift nat N", None),
            shown("lift rules | head", None)
        ]
    );
}

#[test]
fn verbs_are_listed() {
    let help = "A compiler\n\nCommands:\n  check  Type-check\n           and more\n  help   Print\n\nOptions:\n  -h\n";
    assert_eq!(verbs(help), ["check"]);
}
