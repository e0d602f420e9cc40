//! Scripts that are asked and answer: a JSON object a line, both ways.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use lift_process::{Heard, Talk};
use lift_syntax::diagnostic::Diagnostic;
use serde_json::Value;

/// How long a script may take to end when nobody asks any more.
const FAREWELL: Duration = Duration::from_secs(5);

/// The first Python that has numpy: the one that is named, or one of the usual.
pub fn python(given: Option<&Path>) -> Result<PathBuf, Diagnostic> {
    let usual = [PathBuf::from("python3"), PathBuf::from("/usr/bin/python3")];
    let known = given.map_or(usual.to_vec(), |python| vec![python.to_path_buf()]);
    let has_numpy = |python: &PathBuf| {
        let mut command = Command::new(python);
        command.args(["-c", "import numpy"]).stdin(Stdio::null());
        let done = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
        done.is_ok_and(|status| status.success())
    };
    known.iter().find(|p| has_numpy(p)).cloned().ok_or_else(|| {
        let tried: Vec<String> = known.iter().map(|p| format!("`{}`", p.display())).collect();
        let text = format!("there is no Python with numpy: tried {}", tried.join(", "));
        let help = "install numpy, or name a Python that has it by `--python`";
        Diagnostic::error(text).note("results are compared with numpy's").help(help)
    })
}

/// A script that runs, and ends with this.
pub struct Script {
    /// Gone when nothing it says is an answer any more.
    talk: Option<Talk>,
}

impl Script {
    pub fn start(python: &Path, script: &Path) -> Result<Script, String> {
        let talk = Talk::start(Command::new(python).arg(script).stderr(Stdio::piped()));
        let talk = talk.map_err(|e| format!("cannot start {}: {e}", script.display()))?;
        Ok(Script { talk: Some(talk) })
    }

    /// The answer to a question, or why there is none. One that did not answer is not asked again.
    pub fn ask(&mut self, question: &Value, limit: Duration) -> Result<Value, String> {
        let talk = self.talk.take().ok_or("it ended")?;
        talk.send(question.to_string());
        match talk.hear(limit) {
            Heard::Line(line) => {
                self.talk = Some(talk);
                serde_json::from_str(&line)
                    .map_err(|_| format!("it answered nonsense: `{}`", line.trim()))
            }
            Heard::Silence => Err(format!("it did not answer in {} s", limit.as_secs())),
            Heard::End => match talk.end().complaints.lines().last() {
                Some(last) => Err(format!("it ended: {}", last.trim())),
                None => Err("it ended".to_string()),
            },
        }
    }
}

impl Drop for Script {
    fn drop(&mut self) {
        // Without questions it ends, and removes what it made.
        if let Some(talk) = self.talk.take() {
            talk.close(FAREWELL);
        }
    }
}
