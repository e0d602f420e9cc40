//! What documentation asks of its reader: files to write, commands to give.

use crate::pattern::matches;

/// A page or a verb.
pub struct Part {
    pub name: String,
    pub steps: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    File {
        name: String,
        text: String,
    },
    /// With what it is said to print; `…` in that stands for anything.
    Command {
        text: String,
        want: Want,
        shown: Option<String>,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub enum Want {
    Success,
    /// `# exit 1`: a mistake that is shown on purpose.
    Status(i32),
    /// `# needs a GPU`, `# takes minutes`: not run.
    Marked(&'static str),
}

const MARKS: [&str; 2] = ["needs a GPU", "takes minutes"];

impl Step {
    /// A command with its marker, a comment at its end.
    pub fn command(line: &str) -> Step {
        let (text, comment) = line.rsplit_once(" # ").unwrap_or((line, ""));
        let comment = comment.trim();
        let mark = MARKS.into_iter().find(|mark| comment.starts_with(mark));
        let status = comment.strip_prefix("exit ").and_then(|status| status.parse().ok());
        let want = match (mark, status) {
            (Some(mark), _) => Want::Marked(mark),
            (_, Some(status)) => Want::Status(status),
            _ => Want::Success,
        };
        Step::Command { text: text.trim().to_string(), want, shown: None }
    }

    /// What is wrong with how a command ended and with what it printed.
    pub fn fault(&self, status: i32, printed: &str) -> Option<String> {
        let Step::Command { want, shown, .. } = self else { return None };
        let wanted = match want {
            Want::Success => 0,
            Want::Status(status) => *status,
            Want::Marked(_) => return None,
        };
        if status != wanted {
            return Some(format!("ended with status {status}, not {wanted}"));
        }
        let shown = shown.as_ref().filter(|shown| !matches(shown, printed))?;
        Some(format!("does not print\n{shown}"))
    }
}

#[test]
fn markers_are_comments_at_the_end() {
    let want = |line: &str| match Step::command(line) {
        Step::Command { want, .. } => want,
        Step::File { .. } => unreachable!(),
    };
    assert_eq!(want("lift check a.lift"), Want::Success);
    assert_eq!(want("lift check a.lift   # one of many"), Want::Success);
    assert_eq!(want("lift bench all # needs a GPU"), Want::Marked("needs a GPU"));
    assert_eq!(
        want("./scripts/test  # takes minutes, the first time"),
        Want::Marked("takes minutes")
    );
    assert_eq!(want("lift check bad.lift # exit 1"), Want::Status(1));
}

#[test]
fn a_command_is_judged_by_status_and_output() {
    let mut step = Step::command("lift check a.lift");
    assert_eq!(step.fault(0, "anything"), None);
    assert!(step.fault(1, "").is_some());
    assert!(Step::command("lift check a.lift # exit 1").fault(0, "").is_some());
    if let Step::Command { shown, .. } = &mut step {
        *shown = Some("def f".into());
    }
    assert_eq!(step.fault(0, "def f\n"), None);
    assert!(step.fault(0, "def g\n").is_some());
}
