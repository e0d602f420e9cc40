//! Tuning from Python, with progress and an end by Ctrl-C.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;

use lift::tune::{Database, Progress, TuneError, Tuner, Worker};
use lift_interp::Sizes;
use pyo3::prelude::*;

use crate::definition::Definition;
use crate::error::error;
use crate::html;
use crate::waiting::wait;

/// What tuning found.
#[pyclass(frozen, get_all, module = "lift")]
pub struct Tuned {
    /// The time of the fastest form, in milliseconds; `None` where none was right.
    ms: Option<f64>,
    /// The time of the program as it is.
    default_ms: Option<f64>,
    /// How many forms were tried.
    tried: usize,
    /// The fastest form, as a program.
    text: Option<String>,
    /// The rules that led to it, and the programs on the way; `None` where it is the program as it is.
    pub derivation: Option<String>,
}

#[pymethods]
impl Tuned {
    fn __repr__(&self) -> String {
        let times = match (self.ms, self.default_ms) {
            (Some(ms), Some(before)) => {
                format!("{ms:.4} ms, {:.2} times as fast as before", before / ms)
            }
            (Some(ms), None) => format!("{ms:.4} ms"),
            _ => "nothing found".to_string(),
        };
        format!("<lift tuned: {times}, {} tried>", self.tried)
    }

    fn _repr_html_(&self) -> String {
        let mut rows = Vec::new();
        let mut time =
            |name, ms: Option<f64>| rows.extend(ms.map(|ms| (name, format!("{ms:.4} ms"))));
        time("fastest form", self.ms);
        time("the program as it is", self.default_ms);
        if let Some((ms, before)) = self.ms.zip(self.default_ms) {
            rows.push(("times as fast", format!("{:.2}", before / ms)));
        }
        rows.push(("forms tried", self.tried.to_string()));
        let texts = [("program", &self.text), ("derivation", &self.derivation)];
        let texts: Vec<(&str, &str)> =
            texts.into_iter().filter_map(|(name, text)| Some((name, text.as_deref()?))).collect();
        html::report(&rows, &texts)
    }
}

enum News {
    Tried(usize, Option<f64>),
    Done(Result<Tuned, String>),
}

pub fn tune(
    py: Python<'_>,
    of: &Arc<Definition>,
    sizes: Sizes,
    device: &str,
    time: Option<Duration>,
    trials: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<Tuned> {
    let database = Database::usual_path()
        .ok_or_else(|| error("there is no folder for what is found: set XDG_DATA_HOME"))?;
    let python: std::path::PathBuf = py.import("sys")?.getattr("executable")?.extract()?;
    let worker = Worker::command(python, ["-m", "lift", "worker", "--direct"]);
    let tuner = Tuner { time, trials, ..Tuner::new(device, worker, database) };
    let (stop, of) = (Arc::new(AtomicBool::new(false)), Arc::clone(of));
    let (tell, news) = channel();
    let is_stopped = Arc::clone(&stop);
    let work = move || {
        let mut watch = |now: &Progress| {
            tell.send(News::Tried(now.tried, now.best_ms)).ok();
            !is_stopped.load(Ordering::Relaxed)
        };
        let found = tuner.prepare(of.def(), &sizes).and_then(|tuning| tuning.run(&mut watch));
        let found = found.map(result).map_err(|failed| match failed {
            TuneError::Program(failed) => of.diagnosed(failed),
            other => other.to_string(),
        });
        tell.send(News::Done(found)).ok();
    };
    std::thread::Builder::new()
        .stack_size(256 * 1024 * 1024)
        .spawn(work)
        .map_err(|e| error(format!("cannot start a thread: {e}")))?;
    let mut interrupted = None;
    loop {
        let told = match wait(py, &news) {
            Ok(News::Done(found)) => match interrupted {
                // What was measured is kept.
                Some(signal) => return Err(signal),
                None => return found.map_err(error),
            },
            Ok(News::Tried(tried, best)) => match (&progress, &interrupted) {
                (Some(progress), None) => progress.call1(py, (tried, best)).map(drop),
                _ => Ok(()),
            },
            Err(failed) => Err(failed),
        };
        if let Err(failed) = told {
            stop.store(true, Ordering::Relaxed);
            // Who is impatient twice waits no longer.
            if interrupted.is_some() {
                return Err(failed);
            }
            interrupted = Some(failed);
        }
    }
}

fn result(tuned: lift::tune::Tuned) -> Tuned {
    let best = tuned.best;
    Tuned {
        ms: best.as_ref().map(|best| best.ms),
        default_ms: tuned.default_ms,
        tried: tuned.progress.tried,
        text: best.as_ref().map(|best| best.text.clone()),
        derivation: best.map(|best| best.derivation).filter(|derivation| !derivation.is_empty()),
    }
}
