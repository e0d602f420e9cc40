//! How well a model does for programs that it has not seen: each program in turn is left out, the model is fitted
//! to all others, and asked about the one left out.

use std::collections::BTreeSet;
use std::panic::resume_unwind;
use std::thread::ScopedJoinHandle;

use crate::learn::correlation::{pearson, spearman};
use crate::learn::dataset::Dataset;
use crate::learn::error::LearnError;
use crate::learn::order::{
    Cost, Tried, in_order, in_random_order, reached_in_order, reached_in_random_order,
};
use crate::learn::trained::Kind;

/// After how many runs it is told what is reached.
const AFTER: [usize; 9] = [1, 2, 5, 10, 20, 50, 100, 200, 500];

/// A problem of a program that was left out.
#[derive(Clone, PartialEq, Debug)]
pub struct GroupResult {
    pub sizes: String,
    /// Candidates that were measured, and those that failed.
    pub measured: usize,
    pub failed: usize,
    /// Of predicted with measured throughput; nothing where all are as fast.
    pub pearson: Option<f64>,
    pub spearman: Option<f64>,
    /// Throughput of what is predicted to be best, compared with the best.
    pub first: f64,
    /// To reach 90 % of the best in predicted order.
    pub model: Cost,
    /// In random order.
    pub random: Cost,
    /// What is reached after some numbers of runs.
    pub reached: Vec<Reached>,
}

/// The best throughput so far, compared with the best there is.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Reached {
    pub runs: usize,
    /// In predicted order.
    pub model: f64,
    /// In random order.
    pub random: f64,
}

impl GroupResult {
    /// How many times fewer runs the model needs.
    pub fn fewer_runs(&self) -> f64 {
        self.random.runs / self.model.runs
    }

    /// How many times less kernel time it needs.
    pub fn less_time(&self) -> f64 {
        // Where a clock saw nothing there is nothing to gain.
        if self.model.ms > 0.0 { self.random.ms / self.model.ms } else { 1.0 }
    }
}

/// A program that was left out, at all its sizes.
#[derive(Clone, PartialEq, Debug)]
pub struct ProgramResult {
    pub program: String,
    pub groups: Vec<GroupResult>,
}

/// Of one model.
#[derive(Clone, PartialEq, Debug)]
pub struct Evaluation {
    pub kind: Kind,
    pub programs: Vec<ProgramResult>,
}

/// Means over sizes or programs; ratios have the geometric one.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Summary {
    pub pearson: Option<f64>,
    pub spearman: Option<f64>,
    pub first: f64,
    pub model: Cost,
    pub random: Cost,
    pub fewer_runs: f64,
    pub less_time: f64,
}

impl ProgramResult {
    pub fn summary(&self) -> Summary {
        let groups = &self.groups;
        let of = |value: fn(&GroupResult) -> f64| mean(groups.iter().map(value)).unwrap_or(0.0);
        let ratio = |value: fn(&GroupResult) -> f64| geometric_mean(groups.iter().map(value));
        Summary {
            pearson: mean(groups.iter().filter_map(|g| g.pearson)),
            spearman: mean(groups.iter().filter_map(|g| g.spearman)),
            first: of(|g| g.first),
            model: Cost { runs: of(|g| g.model.runs), ms: of(|g| g.model.ms) },
            random: Cost { runs: of(|g| g.random.runs), ms: of(|g| g.random.ms) },
            fewer_runs: ratio(GroupResult::fewer_runs),
            less_time: ratio(GroupResult::less_time),
        }
    }
}

impl Evaluation {
    /// Over programs, each of which counts as much.
    pub fn summary(&self) -> Summary {
        let all: Vec<Summary> = self.programs.iter().map(ProgramResult::summary).collect();
        let of = |value: fn(&Summary) -> f64| mean(all.iter().map(value)).unwrap_or(0.0);
        Summary {
            pearson: mean(all.iter().filter_map(|s| s.pearson)),
            spearman: mean(all.iter().filter_map(|s| s.spearman)),
            first: of(|s| s.first),
            model: Cost { runs: of(|s| s.model.runs), ms: of(|s| s.model.ms) },
            random: Cost { runs: of(|s| s.random.runs), ms: of(|s| s.random.ms) },
            fewer_runs: geometric_mean(all.iter().map(|s| s.fewer_runs)),
            less_time: geometric_mean(all.iter().map(|s| s.less_time)),
        }
    }
}

/// Leaves each program out in turn. Programs of which nothing was measured are passed over.
pub fn leave_one_out(data: &Dataset, kind: Kind, seed: u64) -> Result<Evaluation, LearnError> {
    data.device()?;
    let measured = data.samples().iter().filter(|sample| sample.ms.is_some());
    let programs: BTreeSet<&str> = measured.map(|sample| sample.program.as_str()).collect();
    if programs.is_empty() {
        return Err(LearnError::NothingMeasured);
    }
    // One thread a program; what comes out does not depend on which is done first.
    let programs: Result<Vec<ProgramResult>, LearnError> = std::thread::scope(|scope| {
        let left_out = |program| scope.spawn(move || leave_out(data, program, kind, seed));
        let running: Vec<_> = programs.into_iter().map(left_out).collect();
        let done = |thread: ScopedJoinHandle<'_, _>| match thread.join() {
            Ok(result) => result,
            Err(panic) => resume_unwind(panic),
        };
        running.into_iter().map(done).collect()
    });
    Ok(Evaluation { kind, programs: programs? })
}

fn leave_out(
    data: &Dataset,
    program: &str,
    kind: Kind,
    seed: u64,
) -> Result<ProgramResult, LearnError> {
    let predicted = predictions(data, program, kind, seed)?;
    let groups = groups(&data.only(|sample| sample.program == program), &predicted);
    Ok(ProgramResult { program: program.to_string(), groups })
}

/// What is predicted for the samples of this program, in their order, by a model fitted to the others alone.
pub fn predictions(
    data: &Dataset,
    program: &str,
    kind: Kind,
    seed: u64,
) -> Result<Vec<f64>, LearnError> {
    let mut model = kind.model(seed);
    model.fit(&data.only(|sample| sample.program != program)).map_err(|error| match error {
        LearnError::NothingMeasured => LearnError::OneProgram { program: program.to_string() },
        other => other,
    })?;
    let own = data.samples().iter().filter(|sample| sample.program == program);
    Ok(own.map(|sample| model.predict(&sample.features)).collect())
}

/// The problems of one program, each with what was predicted for its samples.
fn groups(data: &Dataset, predicted: &[f64]) -> Vec<GroupResult> {
    let relative = data.relative();
    data.problems()
        .iter()
        .filter_map(|numbers| group(data, numbers, predicted, &relative))
        .collect()
}

fn group(
    data: &Dataset,
    numbers: &[usize],
    predicted: &[f64],
    relative: &[Option<f64>],
) -> Option<GroupResult> {
    let mut candidates = Vec::new();
    let (mut of_measured, mut speeds) = (Vec::new(), Vec::new());
    for number in numbers {
        let (predicted, speed) = (*predicted.get(*number)?, *relative.get(*number)?);
        let ms = data.samples().get(*number)?.ms;
        candidates.push(Tried { predicted, ms, speed: speed.unwrap_or(0.0) });
        if let Some(speed) = speed {
            of_measured.push(predicted);
            speeds.push(speed);
        }
    }
    let sizes = &data.samples().get(*numbers.first()?)?.sizes;
    Some(GroupResult {
        sizes: sizes.clone(),
        measured: speeds.len(),
        failed: numbers.len() - speeds.len(),
        pearson: pearson(&of_measured, &speeds),
        spearman: spearman(&of_measured, &speeds),
        first: first(&of_measured, &speeds),
        model: in_order(&candidates)?,
        random: in_random_order(&candidates)?,
        reached: reached(&candidates),
    })
}

fn reached(candidates: &[Tried]) -> Vec<Reached> {
    let after = AFTER.into_iter().take_while(|runs| *runs <= candidates.len());
    after
        .map(|runs| Reached {
            runs,
            model: reached_in_order(candidates, runs),
            random: reached_in_random_order(candidates, runs),
        })
        .collect()
}

/// The speed of the best predicted, of several their mean.
fn first(predicted: &[f64], speeds: &[f64]) -> f64 {
    let best = predicted.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let pairs = predicted.iter().zip(speeds);
    mean(pairs.filter(|(predicted, _)| **predicted == best).map(|(_, speed)| *speed)).unwrap_or(0.0)
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (count, sum) = values.fold((0, 0.0), |(count, sum), value| (count + 1, sum + value));
    (count > 0).then(|| sum / f64::from(count))
}

fn geometric_mean(values: impl Iterator<Item = f64>) -> f64 {
    mean(values.map(f64::ln)).map_or(1.0, f64::exp)
}
