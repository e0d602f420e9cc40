//! What a pool and its workers tell each other: one JSON value a line.
//!
//! ```text
//! over a connection
//! worker: Hello
//! pool:   Reply
//! then
//! pool:   Problem
//! worker: Opened, or Impossible
//! worker: Waits, or Impossible, or Ready where the expected result is known
//! pool:   Turn
//! worker: Ready, or Impossible
//! then for every job
//! pool:   Job, with its number
//! worker: Waits, or Done where it was refused
//! pool:   Turn
//! worker: Ran
//! worker: Done, with that number
//! ```
//!
//! One who watches over a worker says `Beat` at any time, from the start and regularly, and `Ended` where the worker
//! did. Instead of the next message a pool may say [`Reply::Over`] or [`Reply::Refused`] over a connection.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::identity::Identity;

/// Changes whenever a message means something else.
pub const PROTOCOL: u32 = 2;

/// What candidates are to compute, on which arguments and where.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Problem {
    /// The high-level program.
    pub text: String,
    /// Its definition.
    pub entry: String,
    pub sizes: BTreeMap<String, i128>,
    /// What the inputs are made from, as by `random:SEED` of `lift run`.
    pub seed: u64,
    pub device: String,
    /// For the candidates; what is expected is computed without.
    pub fast_math: bool,
    /// Whether candidates may use extern functions: those of a database are not to be trusted with it.
    #[serde(default)]
    pub allow_extern: bool,
    /// Results are compared at these sizes in place of those that candidates are timed at.
    #[serde(default)]
    pub compare_at: Option<BTreeMap<String, i128>>,
    #[serde(default)]
    pub expected: Expected,
}

/// Where the result comes from that is expected of candidates.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Expected {
    /// The program itself is run.
    #[default]
    Computed,
    /// The same, and the result is written to a file for other workers.
    Kept(PathBuf),
    /// It is read from that file.
    Read(PathBuf),
}

/// A candidate to measure.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Job {
    /// A low-level program that takes the problem's arguments. Its parameters have defaults.
    pub text: String,
    /// Its definition.
    pub entry: String,
    /// Thread counts in place of the program's.
    pub local: Option<Vec<u64>>,
    pub global: Option<Vec<u64>>,
    /// See [`lift_lower::Options`].
    pub local_padding: u32,
    pub pipeline: bool,
    /// Timed runs; there is at least one.
    pub repeats: u32,
    /// Where the first timed run takes longer than this, it is the last one.
    pub cutoff_ms: Option<f64>,
}

impl Job {
    /// So many timed runs of a program as it stands.
    pub fn new(text: impl Into<String>, entry: impl Into<String>, repeats: u32) -> Job {
        Job {
            text: text.into(),
            entry: entry.into(),
            local: None,
            global: None,
            local_padding: 0,
            pipeline: true,
            repeats,
            cutoff_ms: None,
        }
    }

    /// How many timed runs there are.
    pub fn samples(&self) -> usize {
        self.repeats.max(1) as usize
    }
}

/// What became of a job.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The result is right. One time a run, over all kernels; fewer than asked for where runs are long.
    Ok { samples_ms: Vec<f64> },
    /// The result is not the expected one, and how.
    Wrong(String),
    /// The worker did not survive, or the device failed: how it ended and what it said.
    Crashed(String),
    /// Workers were lost that were at it, one after the other, for reasons of their own: the last one and how.
    Lost(String),
    /// The worker had to be killed.
    TimedOut { after_s: f64, during: Stage },
    /// The program has errors, cannot be lowered, or does not fit the problem.
    Refused(String),
    /// There is a kernel, but the device's compiler does not take it.
    FailedToCompile(String),
    /// The device has less memory or fewer work-items than the candidate asks for.
    OutOfResources(String),
    /// The result is right, and a run took longer than the cutoff.
    TooSlow { ms: f64 },
}

impl Verdict {
    /// Whether a worker that said so can be trusted with the next job. On some devices a kernel that writes where
    /// it should not writes in the worker itself.
    pub(super) fn leaves_worker_intact(&self) -> bool {
        match self {
            Verdict::Ok { .. }
            | Verdict::Refused(_)
            | Verdict::FailedToCompile(_)
            | Verdict::OutOfResources(_)
            | Verdict::TooSlow { .. } => true,
            Verdict::Wrong(_)
            | Verdict::Crashed(_)
            | Verdict::Lost(_)
            | Verdict::TimedOut { .. } => false,
        }
    }
}

/// What a worker does for a job.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    Compile,
    Run,
}

/// What a worker says.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// Who it is, and which device it has opened.
    Opened(Box<Identity>),
    /// Jobs may come. What kind of device it is, how long it took to prepare, how long the kernels of the program
    /// itself took of that where they ran, and whether the result is kept.
    Ready {
        kind: String,
        seconds: f64,
        #[serde(default)]
        reference_ms: Option<f64>,
        #[serde(default)]
        is_kept: bool,
    },
    /// The problem itself cannot be run, and why.
    Impossible(String),
    /// The next it does is to use the device, in its turn.
    Waits,
    /// It does not use the device any more.
    Ran,
    /// What became of the job of this number.
    Done { id: u64, verdict: Verdict },
    /// It is there.
    Beat,
    /// The process that served is not there any more, and how it ended.
    Ended(String),
}

/// A job as it is sent.
#[derive(Serialize)]
pub(super) struct Numbered<'j> {
    pub id: u64,
    #[serde(flatten)]
    pub job: &'j Job,
}

/// A job as it is read.
#[derive(Deserialize)]
pub(super) struct Task {
    pub id: u64,
    #[serde(flatten)]
    pub job: Job,
}

/// The first that somebody says who wants to be a worker.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Hello {
    pub protocol: u32,
    pub version: String,
    pub token: String,
    /// By which people know it.
    pub name: String,
}

/// What it is told.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    Welcome,
    /// It is not taken, and why. There is no use in trying again.
    Refused(String),
    /// There is nothing more to do.
    Over,
}

/// A message as it is sent.
pub fn line(message: &impl Serialize) -> String {
    // Every message has a text. If one had not, the empty line would be refused by whoever hears it.
    serde_json::to_string(message).unwrap_or_default()
}

/// What a worker is told when nobody else measures.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Turn {
    Run,
}
