//! Predictions beside measurements.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use lift_ir::Def;
use lift_lower::Options;
use lift_runtime::{Device, Language};
use serde::{Deserialize, Serialize};

use crate::bodies::{SIZES, Set, programs};
use crate::description::Description;
use crate::predict::{plan, predict};
use crate::timed::{Figure, kernels};

/// One body at one size.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Pair {
    /// Which of the set, from 0.
    pub body: usize,
    pub height: i128,
    pub width: i128,
    pub measured_ms: f64,
    /// The runs differ too much.
    pub unsteady: bool,
}

/// What was measured of a set.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Measured {
    pub device: String,
    pub set: String,
    pub seed: u64,
    pub count: usize,
    pub date: String,
    pub pairs: Vec<Pair>,
}

/// Measures the bodies of a set at all sizes, as many as there is time for.
pub fn measure(
    device: &mut dyn Device,
    set: Set,
    count: usize,
    seed: u64,
    time: Duration,
    told: &mut dyn FnMut(usize, usize),
) -> Result<Vec<Pair>, String> {
    let bodies = programs(set, count, seed);
    let start = Instant::now();
    let mut pairs = Vec::new();
    for (body, text) in bodies.iter().enumerate().take_while(|_| start.elapsed() < time) {
        told(body, bodies.len());
        let def = checked(text)?;
        for (height, width) in SIZES {
            let sizes = options(height, width).sizes;
            let mut found = kernels(device, &def, &sizes)?;
            if found.unsteady {
                found = kernels(device, &def, &sizes)?;
            }
            let Figure { ms: measured_ms, unsteady } = found;
            pairs.push(Pair { body, height, width, measured_ms, unsteady });
        }
    }
    Ok(pairs)
}

fn checked(text: &str) -> Result<Def, String> {
    let checked = lift_syntax::check_text("body", text);
    let def = checked.program.defs.last().cloned();
    def.ok_or_else(|| format!("a body does not check: {}", checked.render(false)))
}

fn options(height: i128, width: i128) -> Options {
    let sizes = BTreeMap::from([("H".to_string(), height), ("W".to_string(), width)]);
    Options { sizes, ..Options::default() }
}

/// A measurement with its prediction.
#[derive(Clone, PartialEq, Debug)]
pub struct Compared {
    pub pair: Pair,
    pub predicted_ms: f64,
    pub bound_by: &'static str,
}

impl Compared {
    /// Predicted over measured.
    pub fn q(&self) -> f64 {
        self.predicted_ms / self.pair.measured_ms.max(1e-9)
    }

    /// The greater over the smaller of the two.
    pub fn d(&self) -> f64 {
        self.q().max(1.0 / self.q().max(1e-12))
    }

    pub fn elements(&self) -> i128 {
        self.pair.height * self.pair.width
    }
}

/// Predicts what was measured.
pub fn compare(
    set: Set,
    measured: &Measured,
    language: Language,
    machine: &Description,
) -> Result<Vec<Compared>, String> {
    let bodies = programs(set, measured.count, measured.seed);
    let mut all = Vec::new();
    for pair in &measured.pairs {
        let text =
            bodies.get(pair.body).ok_or("a measurement is of a body that the set has not")?;
        let def = checked(text)?;
        let options = options(pair.height, pair.width);
        let plan = plan(&def, &options, language, machine).map_err(|e| e.to_string())?;
        let predicted = predict(&plan, &options.sizes, machine)?;
        let bound_by = predicted.kernels.first().map_or("nothing", |k| k.time.bound_by);
        let predicted_ms = predicted.kernel_ms();
        all.push(Compared { pair: pair.clone(), predicted_ms, bound_by });
    }
    Ok(all)
}

/// Mean and standard deviation.
pub fn spread(values: &[f64]) -> (f64, f64) {
    let n = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / (n - 1.0).max(1.0);
    (mean, variance.sqrt())
}
