//! The devices that a database has results of, and the order of its problems: device by device.

use serde::Serialize;

use crate::collected::Problem;
use crate::numbers::short;

/// What was done for a device.
#[derive(Serialize)]
pub struct DeviceView {
    pub name: String,
    pub problems: usize,
    pub tried: usize,
    pub timed: usize,
    /// How many times as fast the best are as the default lowering: the geometric mean, where both are known.
    pub times: Option<String>,
}

/// The problems of the first device first, each device's in the order in which they came.
pub fn by_device(problems: Vec<Problem>) -> Vec<Problem> {
    let mut known: Vec<String> = Vec::new();
    let mut placed: Vec<(usize, Problem)> = Vec::new();
    for problem in problems {
        let name = &problem.key.device.fingerprint;
        let place = known.iter().position(|other| other == name).unwrap_or_else(|| {
            known.push(name.clone());
            known.len() - 1
        });
        placed.push((place, problem));
    }
    placed.sort_by_key(|(place, _)| *place);
    placed.into_iter().map(|(_, problem)| problem).collect()
}

/// A row for each device, where there are several. Requires: the order of [`by_device`].
pub fn devices(problems: &[Problem]) -> Vec<DeviceView> {
    let same = |a: &Problem, b: &Problem| a.key.device.fingerprint == b.key.device.fingerprint;
    let groups: Vec<&[Problem]> = problems.chunk_by(same).collect();
    if groups.len() < 2 {
        return Vec::new();
    }
    groups.iter().map(|own| view(own, problems)).collect()
}

fn view(own: &[Problem], all: &[Problem]) -> DeviceView {
    let speedups: Vec<f64> = own
        .iter()
        .filter_map(|problem| Some(problem.default()?.ms? / problem.best.as_ref()?.median))
        .filter(|times| times.is_finite() && *times > 0.0)
        .collect();
    let mean = speedups.iter().map(|times| times.ln()).sum::<f64>() / speedups.len().max(1) as f64;
    let timed = |problem: &Problem| problem.tried.iter().filter(|one| one.ms.is_some()).count();
    DeviceView {
        name: own.first().map_or(String::new(), |problem| full_name(problem, all)),
        problems: own.len(),
        tried: own.iter().map(|problem| problem.tried.len()).sum(),
        timed: own.iter().map(timed).sum(),
        times: (!speedups.is_empty()).then(|| short(mean.exp())),
    }
}

/// Kind and name of the device, and its driver too where another among these differs in that alone.
pub fn full_name<'p>(of: &Problem, all: impl IntoIterator<Item = &'p Problem>) -> String {
    let device = &of.key.device;
    let twin = |other: &Problem| {
        other.device() == of.device() && other.key.device.fingerprint != device.fingerprint
    };
    match all.into_iter().any(twin) {
        true => device.fingerprint.clone(),
        false => of.device(),
    }
}
