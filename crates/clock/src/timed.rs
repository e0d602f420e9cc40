//! Programs timed in a process of their own, which may crash or hang and is started again then.
//!
//! Both sides talk in lines, a JSON value each: a [`Question`], then an answer.

use std::collections::BTreeMap;
use std::io::{BufRead, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use lift_execute::Compiled;
use lift_interp::inputs::{Fill, generate};
use lift_interp::{Sizes, Value, concrete_type};
use lift_ir::Def;
use lift_lower::Options;
use lift_process::{Heard, Talk};
use lift_runtime::{CompileOptions, Device, Language, median, open};
use serde::{Deserialize, Serialize};

use crate::calibrate::error;

/// Runs that do not count, and runs that do.
const BEFORE: usize = 3;
const RUNS: usize = 21;
/// On a processor that is done so often, and the best counts, as for probes: what others do on the machine makes a kernel slower, and
/// lasts longer than so many short runs. Not where it took longer than this.
const ROUNDS: usize = 3;
const LONG: Duration = Duration::from_millis(500);
/// How often a program is given its data, run and asked for its result: until the standard error of the middle half is below this part
/// of the median, at least and at most so often.
const TOTALS: usize = 7;
const MOST_TOTALS: usize = 41;
const WELL_KNOWN: f64 = 0.02;
/// How often one whose runs differ is asked for again.
const AGAIN: usize = 2;
/// Quartiles further apart than this part of the median say that something disturbed the runs.
const SPREAD: f64 = 0.1;
/// Of programs that take long there are fewer runs.
const PATIENCE: Duration = Duration::from_secs(2);

/// What is to be timed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Question {
    /// A program, and its definition.
    pub text: String,
    pub entry: String,
    pub sizes: BTreeMap<String, i128>,
    pub device: String,
    pub what: What,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// The kernels, by the device's clock, data resident.
    Kernels,
    /// Allocation, transfers, launches and kernels, once everything has run before.
    Total,
}

/// A median of runs.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Figure {
    pub ms: f64,
    /// The runs differ too much.
    pub unsteady: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Answer {
    Done(Figure),
    Failed(String),
}

/// Answers questions until there are no more. Devices stay open.
pub fn serve(questions: impl BufRead, answers: &mut dyn Write) -> Result<(), String> {
    let mut devices: BTreeMap<String, Box<dyn Device>> = BTreeMap::new();
    for line in questions.lines() {
        let line = line.map_err(|e| e.to_string())?;
        let question: Question =
            serde_json::from_str(&line).map_err(|e| format!("this is no question: {e}"))?;
        let answer = match answer(&question, &mut devices) {
            Ok(figure) => Answer::Done(figure),
            Err(why) => Answer::Failed(why),
        };
        let line = serde_json::to_string(&answer).map_err(|e| e.to_string())?;
        writeln!(answers, "{line}").and_then(|()| answers.flush()).map_err(|e| e.to_string())?;
    }
    Ok(())
}

fn answer(
    question: &Question,
    devices: &mut BTreeMap<String, Box<dyn Device>>,
) -> Result<Figure, String> {
    let checked = lift_syntax::check_text("program.lift", &question.text);
    let def = checked.program.def(&question.entry);
    let def = def.ok_or_else(|| format!("it does not check: {}", checked.render(false)))?;
    if !devices.contains_key(&question.device) {
        let opened = open(&question.device).map_err(|e| e.to_string())?;
        devices.insert(question.device.clone(), opened);
    }
    let device = devices.get_mut(&question.device).ok_or("the device is gone")?;
    match question.what {
        What::Kernels => kernels(&mut **device, def, &question.sizes),
        What::Total => total(&mut **device, def, &question.sizes),
    }
}

/// The median time of a program's kernels, each run finding caches as the one before leaves them.
pub fn kernels(
    device: &mut dyn Device,
    def: &Def,
    sizes: &BTreeMap<String, i128>,
) -> Result<Figure, String> {
    let said = |e: lift_execute::Error| e.to_string();
    let (compiled, args, sizes) = prepared(device, def, sizes)?;
    let rounds = if device.info().language == Language::C { ROUNDS } else { 1 };
    let mut session = compiled.session(device, &args, &sizes).map_err(said)?;
    let begin = Instant::now();
    let mut best = None;
    for _ in 0..rounds {
        let start = Instant::now();
        let mut times = Vec::new();
        for run in 0..BEFORE + RUNS {
            let ms: f64 = session.run().map_err(said)?.iter().map(|k| k.ms).sum();
            if run >= BEFORE || start.elapsed() > PATIENCE {
                times.push(ms);
            }
            if start.elapsed() > PATIENCE && times.len() >= 3 {
                break;
            }
        }
        best = Some(better(best, figure(times)));
        if begin.elapsed() > LONG {
            break;
        }
    }
    best.ok_or_else(|| "it was not run".to_string())
}

/// The one that was disturbed less: the faster one.
fn better(one: Option<Figure>, other: Figure) -> Figure {
    one.filter(|one| one.ms <= other.ms).unwrap_or(other)
}

/// The median time of a program from its data on the host to its result there.
pub fn total(
    device: &mut dyn Device,
    def: &Def,
    sizes: &BTreeMap<String, i128>,
) -> Result<Figure, String> {
    let said = |e: lift_execute::Error| e.to_string();
    let (compiled, args, sizes) = prepared(device, def, sizes)?;
    let start = Instant::now();
    let mut totals = Vec::new();
    // The first one warms up.
    for run in 0..=MOST_TOTALS {
        let mut session = compiled.session(device, &args, &sizes).map_err(said)?;
        session.run().map_err(said)?;
        session.result().map_err(said)?;
        if run > 0 || start.elapsed() > PATIENCE {
            totals.push(session.costs().total_ms());
        }
        let known = || error(&totals) < WELL_KNOWN * median(&totals).unwrap_or(0.0);
        if start.elapsed() > PATIENCE || (totals.len() >= TOTALS && known()) {
            break;
        }
    }
    Ok(figure(totals))
}

/// A program compiled for its sizes, and what it is given.
fn prepared(
    device: &mut dyn Device,
    def: &Def,
    given: &BTreeMap<String, i128>,
) -> Result<(Compiled, Vec<Value>, Sizes), String> {
    let said = |e: lift_execute::Error| e.to_string();
    let options = Options { sizes: given.clone(), ..Options::default() };
    let compiled =
        Compiled::with(def, &options, &CompileOptions::default(), device).map_err(said)?;
    let sizes: Sizes = given.iter().map(|(name, size)| (name.as_str(), *size)).collect();
    compiled.check_memory(device.info(), &sizes).map_err(said)?;
    let mut args = Vec::new();
    for param in &def.params {
        let ty = concrete_type(param.ty(), &sizes).map_err(|e| e.message)?;
        args.push(generate(Fill::Random { seed: 1 }, &ty).map_err(|e| e.message)?);
    }
    Ok((compiled, args, sizes))
}

fn figure(mut times: Vec<f64>) -> Figure {
    times.sort_by(f64::total_cmp);
    let at = |k: usize| times.get(k).copied().unwrap_or(0.0);
    let ms = median(&times).unwrap_or(0.0);
    let spread = at(times.len() * 3 / 4) - at(times.len() / 4);
    Figure { ms, unsteady: spread > SPREAD * ms }
}

/// The other side: a process that is asked.
pub struct Apart {
    command: PathBuf,
    arguments: Vec<String>,
    talk: Option<Talk>,
}

impl Apart {
    /// The command whose process serves. It is started when it is first asked.
    pub fn new(command: PathBuf, arguments: &[&str]) -> Apart {
        let arguments = arguments.iter().map(ToString::to_string).collect();
        Apart { command, arguments, talk: None }
    }

    /// As [`Apart::ask`], again where the runs differ too much: what disturbs one makes it slower, so the least counts.
    pub fn ask_again(&mut self, question: &Question, limit: Duration) -> Result<Figure, String> {
        let mut best = self.ask(question, limit)?;
        for _ in 0..AGAIN {
            if !best.unsteady {
                break;
            }
            let other = self.ask(question, limit)?;
            if !other.unsteady || other.ms < best.ms {
                best = other;
            }
        }
        Ok(best)
    }

    /// The answer, or why there is none: it failed, it crashed, or it took too long. The next question then goes to a new
    /// process: one in which a kernel failed may have lost its device.
    pub fn ask(&mut self, question: &Question, limit: Duration) -> Result<Figure, String> {
        let talk = match self.talk.take() {
            Some(talk) => talk,
            None => {
                let mut command = Command::new(&self.command);
                command.args(&self.arguments).stderr(Stdio::piped());
                Talk::start(&mut command)
                    .map_err(|e| format!("cannot start {}: {e}", self.command.display()))?
            }
        };
        talk.send(serde_json::to_string(question).map_err(|e| e.to_string())?);
        match talk.hear(limit) {
            Heard::Line(line) => match serde_json::from_str(&line) {
                Ok(Answer::Done(figure)) => {
                    self.talk = Some(talk);
                    Ok(figure)
                }
                Ok(Answer::Failed(why)) => Err(first_line(&why)),
                Err(_) => Err(format!("it answered nonsense: `{}`", first_line(&line))),
            },
            Heard::Silence => Err(format!("took more than {:.0} s", limit.as_secs_f64())),
            Heard::End => {
                let end = talk.end();
                match end.complaints.lines().last() {
                    Some(last) => Err(format!("crashed: it {}: {}", end.how, last.trim())),
                    None => Err(format!("crashed: it {}", end.how)),
                }
            }
        }
    }
}

fn first_line(text: &str) -> String {
    text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOON: Duration = Duration::from_secs(20);

    fn question() -> Question {
        Question {
            text: "def f[N](x: [f32; N]) -> [f32; N] = x |> map(\\v -> v + 1.0);".to_string(),
            entry: "f".to_string(),
            sizes: BTreeMap::from([("N".to_string(), 64)]),
            device: "cpu".to_string(),
            what: What::Kernels,
        }
    }

    fn shell(script: &str) -> Apart {
        Apart::new(PathBuf::from("/bin/sh"), &["-c", script])
    }

    #[test]
    fn one_that_crashes_is_started_again() {
        let mut apart = shell("read a; echo oh dear >&2; kill -SEGV $$");
        for _ in 0..2 {
            let said = apart.ask(&question(), SOON).expect_err("it crashes");
            assert!(said.contains("segmentation fault") && said.contains("oh dear"), "{said}");
        }
    }

    /// Its device may be lost to it.
    #[test]
    fn one_that_failed_is_started_again() {
        let mut apart = shell(
            "read a; echo '{\"failed\":\"misaligned address\"}'; read b; echo '{\"failed\":\"the device is lost\"}'",
        );
        for _ in 0..2 {
            assert_eq!(apart.ask(&question(), SOON), Err("misaligned address".to_string()));
        }
    }

    #[test]
    fn one_that_hangs_is_not_waited_for() {
        let said = shell("sleep 1000").ask(&question(), Duration::from_millis(50));
        assert_eq!(said, Err("took more than 0 s".to_string()));
        let said = Apart::new(PathBuf::from("/no/such/command"), &[]).ask(&question(), SOON);
        assert!(said.expect_err("there is none").contains("/no/such/command"));
    }

    #[test]
    fn answers_come_back() {
        let mut apart = shell(
            "read a; echo '{\"done\":{\"ms\":1.5,\"unsteady\":true}}'; read b; echo '{\"failed\":\"no\"}'",
        );
        assert_eq!(apart.ask(&question(), SOON), Ok(Figure { ms: 1.5, unsteady: true }));
        assert_eq!(apart.ask(&question(), SOON), Err("no".to_string()));
    }

    /// The first two answers are of runs that differ; the third is not.
    #[test]
    fn what_was_disturbed_is_asked_again() {
        let told = |ms: f64, unsteady: bool| {
            format!("read a; echo '{{\"done\":{{\"ms\":{ms},\"unsteady\":{unsteady}}}}}';")
        };
        let three = told(7.0, true) + &told(5.0, true) + &told(6.0, false);
        let figure = shell(&three).ask_again(&question(), SOON);
        assert_eq!(figure, Ok(Figure { ms: 6.0, unsteady: false }));
        let always = told(7.0, true) + &told(5.0, true) + &told(9.0, true);
        let figure = shell(&always).ask_again(&question(), SOON);
        assert_eq!(figure, Ok(Figure { ms: 5.0, unsteady: true }));
        let quiet = told(7.0, false) + &told(5.0, false);
        assert_eq!(shell(&quiet).ask_again(&question(), SOON).map(|f| f.ms), Ok(7.0));
    }

    #[test]
    fn questions_are_answered_one_after_the_other() {
        let missing = Question { entry: "g".to_string(), ..question() };
        let nowhere = Question { device: "cuda:99".to_string(), ..question() };
        let total = Question { what: What::Total, ..question() };
        let lines: Vec<String> = [question(), missing, nowhere, total]
            .iter()
            .map(|q| serde_json::to_string(q).expect("JSON"))
            .collect();
        let mut answers = Vec::new();
        serve(lines.join("\n").as_bytes(), &mut answers).expect("questions");
        let answers = String::from_utf8(answers).expect("text");
        let told: Vec<&str> = answers.lines().collect();
        assert_eq!(told.len(), 4, "{answers}");
        assert!(told[0].contains("\"done\"") && told[3].contains("\"done\""), "{answers}");
        assert!(told[1].contains("\"failed\"") && told[2].contains("\"failed\""), "{answers}");
        assert!(serve("nonsense".as_bytes(), &mut Vec::new()).is_err());
    }

    #[test]
    fn the_round_that_was_disturbed_less_counts() {
        let [quiet, busy] = [1.0, 7.0].map(|ms| Figure { ms, unsteady: ms > 2.0 });
        let rounds = [busy, quiet, busy];
        let best = rounds.into_iter().fold(None, |best, round| Some(better(best, round)));
        assert_eq!(best, Some(quiet));
    }

    #[test]
    fn runs_that_differ_are_told() {
        assert_eq!(figure(vec![1.0; 9]), Figure { ms: 1.0, unsteady: false });
        assert!(figure(vec![1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 3.0, 3.0]).unsteady);
        assert_eq!(figure(Vec::new()).ms, 0.0);
    }
}
