//! Scripts that are asked and answer: a JSON object a line, both ways.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use lift_syntax::diagnostic::Diagnostic;
use serde_json::Value;

use crate::report::Failure;

/// How long a script may take to end when nobody asks any more.
const FAREWELL: Duration = Duration::from_secs(5);

/// The first Python that has numpy: the one that is named, or one of the usual.
pub fn python(given: Option<&Path>) -> Result<PathBuf, Failure> {
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
        Failure::of(Diagnostic::error(text).note("results are compared with numpy's").help(help))
    })
}

/// A script that runs, and ends with this.
pub struct Script {
    child: Child,
    /// Gone when it is to end.
    questions: Option<ChildStdin>,
    answers: Receiver<String>,
    complaints: Receiver<String>,
}

impl Script {
    pub fn start(python: &Path, script: &Path) -> Result<Script, String> {
        let failed = |e: std::io::Error| format!("cannot start {}: {e}", script.display());
        let mut child = Command::new(python)
            .arg(script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        let (questions, answers) = (child.stdin.take(), lines(child.stdout.take()));
        let complaints = lines(child.stderr.take());
        Ok(Script { child, questions, answers, complaints })
    }

    /// The answer to a question, or why there is none.
    pub fn ask(&mut self, question: &Value, limit: Duration) -> Result<Value, String> {
        let sent = self.questions.as_mut().map(|pipe| writeln!(pipe, "{question}"));
        if !matches!(sent, Some(Ok(()))) {
            return Err(self.epitaph());
        }
        match self.answers.recv_timeout(limit) {
            Ok(line) => serde_json::from_str(&line)
                .map_err(|_| format!("it answered nonsense: `{}`", line.trim())),
            Err(RecvTimeoutError::Timeout) => {
                // Nothing it says from now on is an answer to what is asked.
                self.questions = None;
                self.child.kill().ok();
                Err(format!("it did not answer in {} s", limit.as_secs()))
            }
            Err(RecvTimeoutError::Disconnected) => Err(self.epitaph()),
        }
    }

    /// The last it said when it ended.
    fn epitaph(&mut self) -> String {
        self.questions = None;
        let last = self.complaints.iter().filter(|line| !line.trim().is_empty()).last();
        last.map_or("it ended".to_string(), |line| format!("it ended: {}", line.trim()))
    }
}

impl Drop for Script {
    fn drop(&mut self) {
        // Without questions it ends, and removes what it made.
        self.questions = None;
        let since = Instant::now();
        while since.elapsed() < FAREWELL {
            match self.child.try_wait() {
                Ok(None) => thread::sleep(Duration::from_millis(5)),
                _ => return,
            }
        }
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// The lines of a pipe as they come.
fn lines(pipe: Option<impl Read + Send + 'static>) -> Receiver<String> {
    let (sender, receiver) = channel();
    if let Some(pipe) = pipe {
        thread::spawn(move || {
            let mut reader = BufReader::new(pipe);
            let mut line = Vec::new();
            // What is no text is told as well as it can be.
            while reader.read_until(b'\n', &mut line).is_ok_and(|n| n > 0) {
                if sender.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                    break;
                }
                line.clear();
            }
        });
    }
    receiver
}
