//! What was tuned for one device, run on every other.

use std::path::{Path, PathBuf};
use std::time::Duration;

use lift::DeviceInfo;
use lift_explore::measure::{Job, Pool, PoolOptions, Problem, Verdict};
use lift_interp::Sizes;
use lift_ir::Def;
use lift_rewrite::formatted;
use lift_runtime::median;
use lift_syntax::diagnostic::Diagnostic;
use serde_json::{Value, json};

use crate::suite::listed;
use crate::table::time;
use crate::tuning::{Form, Lookup, Tuning, tune};

/// A program at some sizes, and how it is measured.
pub struct Subject<'d> {
    pub def: &'d Def,
    /// Where the program is.
    pub file: &'d Path,
    pub sizes: &'d Sizes,
    /// The command whose `worker` runs a form.
    pub lift: PathBuf,
    pub rounds: u32,
    /// Timed runs in a round.
    pub repeat: u32,
    /// What inputs are made from.
    pub seed: u64,
    /// A form that runs longer on a device is given up.
    pub patience: Duration,
}

/// The best stored form for a device.
pub struct Tuned {
    device: String,
    form: Form,
}

/// What became of a form on a device.
#[derive(Clone)]
pub enum Cell {
    Times(Vec<f64>),
    Failed { why: String, is_wrong: bool },
}

impl Cell {
    fn ms(&self) -> Option<f64> {
        match self {
            Cell::Times(samples) => median(samples),
            Cell::Failed { .. } => None,
        }
    }
}

/// Every form on every device.
pub struct Cross {
    pub devices: Vec<String>,
    /// One a device.
    pub forms: Vec<Tuned>,
    /// By device that runs, then by form.
    pub cells: Vec<Vec<Cell>>,
}

/// The best form for every device, tuned for where there is none and that is asked for.
pub fn forms(
    subject: &Subject,
    devices: &[(String, DeviceInfo)],
    tuning: Option<&Tuning>,
    stored: &Lookup,
) -> Result<Vec<Tuned>, Diagnostic> {
    let Subject { def, file, sizes, .. } = subject;
    let best = |info: &DeviceInfo| stored(def, sizes, info).map_err(Diagnostic::error);
    if let Some(tuning) = tuning {
        let listed: Vec<String> =
            sizes.iter().map(|(name, size)| format!("{name}={size}")).collect();
        for (device, info) in devices {
            if best(info)?.is_none() {
                tune(tuning, file, Some(&def.name), &listed.join(","), device)
                    .map_err(Diagnostic::error)?;
            }
        }
    }
    let (mut forms, mut without) = (Vec::new(), Vec::new());
    for (device, info) in devices {
        match best(info)? {
            Some(form) => forms.push(Tuned { device: device.clone(), form }),
            None => without.push(device.clone()),
        }
    }
    if without.is_empty() {
        return Ok(forms);
    }
    let text = format!("nothing is stored for {} at these sizes", listed(&without));
    let help = match tuning {
        Some(_) => "no candidate was right in that time: give more",
        None => "tune first, or give `--tune SECONDS`",
    };
    Err(Diagnostic::error(text).help(help))
}

/// Every form on one device, by turns, in processes of their own.
pub fn on_device(subject: &Subject, forms: &[Tuned], device: &str) -> Result<Vec<Cell>, String> {
    let Subject { def, sizes, .. } = subject;
    let problem = Problem {
        text: formatted(def),
        entry: def.name.clone(),
        sizes: sizes.iter().map(|(name, size)| (name.to_string(), size)).collect(),
        seed: subject.seed,
        device: device.to_string(),
        fast_math: false,
        ..Problem::default()
    };
    let mut pool = PoolOptions::new(subject.lift.clone(), ["worker", "--direct"]);
    pool.run_limit = subject.patience;
    let pool = Pool::start(&pool, &problem).map_err(|e| e.to_string())?;
    let mut cells = vec![Cell::Times(Vec::new()); forms.len()];
    for _ in 0..subject.rounds {
        for (Tuned { form, .. }, cell) in forms.iter().zip(&mut cells) {
            let Cell::Times(samples) = cell else { continue };
            let job = Job::new(formatted(&form.def), form.def.name.as_str(), subject.repeat);
            match outcome(pool.measure(&job)) {
                Cell::Times(more) => samples.extend(more),
                failed => *cell = failed,
            }
        }
    }
    Ok(cells)
}

fn outcome(verdict: Verdict) -> Cell {
    let failed = |kind: &str, why: String| {
        let first = why.lines().next().unwrap_or_default();
        let is_wrong = kind == "wrong";
        Cell::Failed { why: format!("{kind}: {first}"), is_wrong }
    };
    match verdict {
        Verdict::Ok { samples_ms } => Cell::Times(samples_ms),
        Verdict::TooSlow { ms } => Cell::Times(vec![ms]),
        Verdict::Wrong(why) => failed("wrong", why),
        Verdict::Crashed(why) => failed("crashed", why),
        Verdict::Lost(who) => failed("lost", who),
        Verdict::TimedOut { after_s, .. } => failed("timed out", format!("after {after_s:.0} s")),
        Verdict::Refused(why) => failed("refused", why),
        Verdict::FailedToCompile(why) => failed("failed to compile", why),
        Verdict::OutOfResources(why) => failed("out of resources", why),
    }
}

/// How fast a form is on a device, in percent of the device's own best.
fn percent(column: &[Cell], own: usize, row: usize) -> Option<f64> {
    let best = column.get(own)?.ms()?;
    let ms = column.get(row)?.ms().filter(|ms| *ms > 0.0)?;
    // In this order, so that the best has 100 exactly.
    Some(best / ms * 100.0)
}

impl Cross {
    /// An object for every form on every device.
    pub fn json(&self) -> Value {
        let Cross { devices, forms, cells } = self;
        let mut rows = Vec::new();
        for (index, tuned) in forms.iter().enumerate() {
            for (own, (device, column)) in devices.iter().zip(cells).enumerate() {
                let Some(cell) = column.get(index) else { continue };
                let mut row = json!({
                    "tuned_for": tuned.device,
                    "run_on": device,
                    "variant": tuned.form.id,
                    "ms": cell.ms(),
                    "percent": percent(column, own, index),
                });
                match cell {
                    Cell::Times(samples) => row["samples"] = json!(samples),
                    Cell::Failed { why, .. } => row["failed"] = why.as_str().into(),
                }
                rows.push(row);
            }
        }
        rows.into()
    }

    /// A line a form, a column a device.
    pub fn table(&self) -> String {
        let Cross { devices, forms, cells } = self;
        let mut heading = vec!["tuned for".to_string()];
        heading.extend(devices.iter().map(|device| format!("on {device}")));
        let mut lines = vec![heading];
        let mut notes = String::new();
        for (index, tuned) in forms.iter().enumerate() {
            let mut line = vec![tuned.device.clone()];
            for (own, (device, column)) in devices.iter().zip(cells).enumerate() {
                line.push(match (column.get(index), percent(column, own, index)) {
                    (Some(cell), Some(percent)) => {
                        format!("{} {percent:.0} %", cell.ms().map_or(String::new(), time))
                    }
                    (Some(Cell::Failed { why, .. }), _) => {
                        notes.push_str(&format!("{} on {device}: {why}\n", tuned.device));
                        why.split(':').next().unwrap_or_default().to_string()
                    }
                    (Some(cell), None) => cell.ms().map_or("-".to_string(), time),
                    (None, _) => "-".to_string(),
                });
            }
            lines.push(line);
        }
        let width = |column: usize| {
            let cells = lines.iter().filter_map(|line| line.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let mut text = String::new();
        for line in &lines {
            let padded = line.iter().enumerate().map(|(k, cell)| format!("{cell:<0$}", width(k)));
            text.push_str(padded.collect::<Vec<_>>().join("  ").trim_end());
            text.push('\n');
        }
        if notes.is_empty() { text } else { format!("{text}\n{notes}") }
    }

    /// A form whose result is not the program's, if there is one.
    pub fn wrong(&self) -> Option<String> {
        let Cross { devices, forms, cells } = self;
        for (device, column) in devices.iter().zip(cells) {
            for (tuned, cell) in forms.iter().zip(column) {
                if let Cell::Failed { why, is_wrong: true } = cell {
                    let text = format!("what was tuned for {} is {why} on {device}", tuned.device);
                    return Some(text);
                }
            }
        }
        None
    }
}
