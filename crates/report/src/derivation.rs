//! A derivation taken apart: the program at the beginning, then every rule with the program after it.

use std::collections::HashSet;

use serde::Serialize;

#[derive(Serialize, PartialEq, Debug)]
pub struct Step {
    /// `split_join`; empty for the program at the beginning.
    pub rule: String,
    /// `at root, m = 8`
    pub rest: String,
    pub lines: Vec<Line>,
}

#[derive(Serialize, PartialEq, Debug)]
pub struct Line {
    pub text: String,
    /// The program before has no such line.
    pub is_new: bool,
}

/// Of the text of a derivation; empty where that is.
pub fn steps(text: &str) -> Vec<Step> {
    if text.trim().is_empty() {
        return Vec::new();
    }
    let mut sections: Vec<(&str, Vec<&str>)> = vec![("", Vec::new())];
    for line in text.lines() {
        match title(line) {
            Some(title) => sections.push((title, Vec::new())),
            None => {
                if let Some((_, lines)) = sections.last_mut() {
                    lines.push(line);
                }
            }
        }
    }
    let mut before: HashSet<&str> =
        sections.first().into_iter().flat_map(|s| words(&s.1)).collect();
    let mut steps = Vec::new();
    for (title, lines) in sections {
        let (rule, rest) = title.split_once(' ').unwrap_or((title, ""));
        let blank = |line: &&&str| line.trim().is_empty();
        let end = lines.len() - lines.iter().rev().take_while(blank).count();
        let line =
            |line: &&str| Line { text: line.to_string(), is_new: !before.contains(line.trim()) };
        let (rule, rest) = (rule.to_string(), rest.to_string());
        steps.push(Step { rule, rest, lines: lines.iter().take(end).map(line).collect() });
        before = words(&lines).collect();
    }
    steps
}

/// Lines without how far they are to the right.
fn words<'t>(lines: &[&'t str]) -> impl Iterator<Item = &'t str> {
    lines.iter().map(|line| line.trim())
}

/// `// 1: split_join at root, m = 8` without the number.
fn title(line: &str) -> Option<&str> {
    let (number, title) = line.strip_prefix("// ")?.split_once(": ")?;
    number.parse::<usize>().ok().map(|_| title)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_have_the_rule_and_what_changed() {
        let text = "def f =\n  a\n  |> b;\n\n// 1: fuse at root, m = 8\ndef f =\n    a\n  |> c;\n";
        let steps = steps(text);
        assert_eq!(steps.len(), 2);
        assert_eq!((steps[0].rule.as_str(), steps[0].lines.len()), ("", 3));
        assert_eq!((steps[1].rule.as_str(), steps[1].rest.as_str()), ("fuse", "at root, m = 8"));
        let new: Vec<&str> =
            steps[1].lines.iter().filter(|l| l.is_new).map(|l| l.text.as_str()).collect();
        assert_eq!(new, ["  |> c;"]);
        assert!(steps[0].lines.iter().all(|line| !line.is_new));
    }

    #[test]
    fn no_text_has_no_steps() {
        assert_eq!(steps(""), []);
    }
}
