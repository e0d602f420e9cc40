//! Commands in a page of Markdown.
//!
//! A fenced block `sh` holds commands, one a line; `\` at the end of a line joins the next one to it, and a line that
//! begins with `#` is a comment. A comment at the end of a command may be a marker (`step`). A block `output` behind it is
//! what the last command prints. A block whose first line has a second word, as `lift blur.lift`, is a file of that name.
//! Commands stand nowhere else but in `sh` and inline: a line of another block that looks like one is a mistake.
//!
//! Inline code that begins with the name of a command is one of three: names of verbs alone (`lift model eval`); usage,
//! which has a word in capitals or `…` for what is to be filled in (`lift check FILE`); or a command, which is run.

use crate::step::{Step, Want};

/// What commands begin with.
const COMMANDS: [&str; 5] = ["lift ", "cargo ", "./scripts/", "scripts/", "python3 "];

pub fn steps(page: &str) -> Result<Vec<Step>, String> {
    let mut steps: Vec<Step> = Vec::new();
    let mut lines = without_comments(page).into_iter();
    let mut prose = String::new();
    while let Some(line) = lines.next() {
        let Some(info) = line.trim_start().strip_prefix("```") else {
            if line.starts_with("    ") && looks_like_command(line.trim_start()) {
                return Err(format!("a command outside of an `sh` block: {}", line.trim()));
            }
            prose.push_str(&line);
            prose.push('\n');
            continue;
        };
        steps.extend(inline(&std::mem::take(&mut prose)));
        let block: Vec<String> =
            lines.by_ref().take_while(|line| !line.trim_start().starts_with("```")).collect();
        match info.split_whitespace().collect::<Vec<_>>().as_slice() {
            ["sh"] => steps.extend(joined(&block).iter().map(|line| Step::command(line))),
            ["output"] => show(&mut steps, &block)?,
            [_, name] => {
                let text = block.iter().map(|line| format!("{line}\n")).collect();
                steps.push(Step::File { name: name.to_string(), text });
            }
            _ => {
                if let Some(line) = block.iter().find(|line| looks_like_command(line.trim_start()))
                {
                    return Err(format!("a command outside of an `sh` block: {line}"));
                }
            }
        }
    }
    steps.extend(inline(&prose));
    Ok(steps)
}

/// The lines of a page, without HTML comments.
fn without_comments(page: &str) -> Vec<String> {
    let mut text = String::new();
    let mut rest = page;
    while let Some((before, comment)) = rest.split_once("<!--") {
        text.push_str(before);
        rest = comment.split_once("-->").map_or("", |(_, after)| after);
    }
    text.push_str(rest);
    text.lines().map(String::from).collect()
}

/// Commands of a block, those of several lines as one.
fn joined(block: &[String]) -> Vec<String> {
    let mut commands = vec![String::new()];
    for line in block {
        let last = commands.last_mut().unwrap();
        match line.trim_end().strip_suffix('\\') {
            Some(part) => last.push_str(&format!("{} ", part.trim())),
            None => {
                last.push_str(line.trim());
                commands.push(String::new());
            }
        }
    }
    commands.retain(|line| !line.is_empty() && !line.starts_with('#'));
    commands
}

/// The last command prints this.
fn show(steps: &mut [Step], block: &[String]) -> Result<(), String> {
    match steps.iter_mut().rev().find(|step| matches!(step, Step::Command { .. })) {
        Some(Step::Command { shown, want, .. })
            if shown.is_none() && !matches!(want, Want::Marked(_)) =>
        {
            *shown = Some(block.join("\n"));
            Ok(())
        }
        _ => Err(format!("output without a command that is run:\n{}", block.join("\n"))),
    }
}

fn looks_like_command(line: &str) -> bool {
    COMMANDS.iter().any(|start| line.starts_with(start))
}

/// Commands among the code in prose.
fn inline(prose: &str) -> Vec<Step> {
    let spans = prose.split('`').skip(1).step_by(2);
    let spans = spans.map(|span| span.split_whitespace().collect::<Vec<_>>().join(" "));
    spans
        .filter(|span| looks_like_command(span) && !is_usage(span))
        .map(|s| Step::command(&s))
        .collect()
}

/// Text about commands: with something to fill in, or names alone.
fn is_usage(span: &str) -> bool {
    // What is quoted is given, whatever its letters.
    let unquoted: String = span.split(['\'', '"']).step_by(2).collect::<Vec<_>>().join("'quoted'");
    let words: Vec<&str> = unquoted.split_whitespace().collect();
    let name = |word: &&str| {
        word.chars().all(|c| c.is_ascii_lowercase() || c == '-') && !word.starts_with('-')
    };
    words.iter().skip(1).all(name) || words.iter().any(|word| is_placeholder(word))
}

/// `FILE`, `NAME=VALUE`, `[--check]`, `…`; not `N=1024`, nor what is quoted.
fn is_placeholder(word: &str) -> bool {
    if word.contains('…') || word.starts_with('[') {
        return true;
    }
    let value = word.rsplit_once('=').map_or(word, |(_, value)| value);
    let bare = value.trim_matches(|c: char| !c.is_alphanumeric());
    !bare.is_empty() && bare.chars().all(|c| c.is_ascii_uppercase() || "-_.".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(page: &str) -> Vec<String> {
        let text = |step: Step| match step {
            Step::Command { text, .. } => text,
            Step::File { name, .. } => format!("file {name}"),
        };
        steps(page).unwrap().into_iter().map(text).collect()
    }

    #[test]
    fn commands_of_blocks_and_of_prose_come_in_order() {
        let page = "# Title\n\nSee `lift devices`, `lift check FILE…` and `lift rules --json`.\n\n\
                    ```lift a.lift\ndef f() -> f32 = 1.0;\n```\n\n```sh\n# One.\nlift check a.lift\n\
                    lift eval \\\n  a.lift\n```\n\nThen `cargo bench -p lift-lang-nat`.\n";
        assert_eq!(
            texts(page),
            [
                "lift rules --json",
                "file a.lift",
                "lift check a.lift",
                "lift eval a.lift",
                "cargo bench -p lift-lang-nat"
            ]
        );
    }

    #[test]
    fn output_belongs_to_the_command_before() {
        let page = "```sh\nlift check a.lift\n```\n\n```output\ndef f\n…\n```\n";
        let Step::Command { shown, .. } = &steps(page).unwrap()[0] else { unreachable!() };
        assert_eq!(shown.as_deref(), Some("def f\n…"));
        assert!(steps("```output\nnothing\n```\n").is_err());
        assert!(steps("```sh\nlift bench all # needs a GPU\n```\n```output\nx\n```\n").is_err());
    }

    #[test]
    fn commands_elsewhere_are_mistakes() {
        for page in [
            "    lift check a.lift\n",
            "```\nlift check a.lift\n```\n",
            "```rust\ncargo doc\n```\n",
        ] {
            assert!(steps(page).is_err(), "{page}");
        }
        assert_eq!(steps("<!-- ```sh\nlift nothing\n``` -->\n"), Ok(Vec::new()));
    }

    #[test]
    fn usage_has_something_to_fill_in() {
        for usage in [
            "lift check FILE",
            "lift eval A=a.npy …",
            "lift model eval",
            "lift tune --db DB",
            "lift fmt [--check]",
            "cargo build",
            "scripts/test",
        ] {
            assert!(is_usage(usage), "{usage}");
        }
        for command in [
            "lift check a.lift",
            "lift run a.lift --size N=4",
            "lift rules --json",
            "lift nat 'N / N'",
        ] {
            assert!(!is_usage(command), "{command}");
        }
    }
}
