//! What programs are compared with: scripts that time other libraries on the same problem.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use lift_syntax::diagnostic::Diagnostic;
use lift_syntax::suggest::did_you_mean;
use serde_json::Value;

use crate::script::Script;
use crate::suite::listed;

/// How the file of a peer's script ends, after the peer's name.
const ENDING: &str = "_peer.py";

/// The peers of a folder, each started when it is first asked.
pub struct Peers {
    python: PathBuf,
    folder: PathBuf,
    limit: Duration,
    running: BTreeMap<String, Script>,
}

/// What a peer says.
pub enum Answer {
    Times { samples: Vec<f64>, about: String },
    Missing(String),
}

impl Peers {
    pub fn new(python: &Path, bench: &Path, limit: Duration) -> Peers {
        let (python, folder) = (python.to_path_buf(), bench.join("peers"));
        Peers { python, folder, limit, running: BTreeMap::new() }
    }

    /// The names there are scripts for.
    pub fn known(&self) -> BTreeSet<String> {
        let files = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let names = files.filter_map(|file| {
            file.file_name().to_str().and_then(|name| name.strip_suffix(ENDING)).map(String::from)
        });
        names.collect()
    }

    /// Names without a script are mistakes.
    pub fn check(&self, names: &[String]) -> Result<(), Diagnostic> {
        let known = self.known();
        let Some(name) = names.iter().find(|name| !known.contains(*name)) else { return Ok(()) };
        let all: Vec<String> = known.iter().cloned().collect();
        let mut mistake = Diagnostic::error(format!("there is no peer `{name}`"))
            .note(format!("there are {}", listed(&all)));
        if let Some(help) = did_you_mean(name, all.iter().map(String::as_str)) {
            mistake = mistake.help(help);
        }
        Err(mistake)
    }

    /// Asks a peer. One that fails is missing, and is started anew the next time.
    pub fn ask(&mut self, name: &str, question: &Value) -> Answer {
        let script = self.folder.join(format!("{name}{ENDING}"));
        let mut running = match self.running.remove(name) {
            Some(running) => running,
            None => match Script::start(&self.python, &script) {
                Ok(started) => started,
                Err(why) => return Answer::Missing(why),
            },
        };
        match running.ask(question, self.limit) {
            Ok(answer) => {
                self.running.insert(name.to_string(), running);
                read(&answer)
            }
            Err(why) => Answer::Missing(why),
        }
    }
}

fn read(answer: &Value) -> Answer {
    if let Some(why) = answer["missing"].as_str() {
        return Answer::Missing(why.to_string());
    }
    let times = answer["samples"].as_array().into_iter().flatten();
    let is_time = |ms: &f64| ms.is_finite() && *ms >= 0.0;
    let samples: Option<Vec<f64>> = times.map(|ms| ms.as_f64().filter(is_time)).collect();
    match samples.filter(|all| !all.is_empty()) {
        Some(samples) => {
            let about = answer["about"].as_str().unwrap_or_default().to_string();
            Answer::Times { samples, about }
        }
        None => Answer::Missing(format!("it answered what cannot be: {answer}")),
    }
}
