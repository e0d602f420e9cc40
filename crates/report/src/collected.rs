//! What a database has about each problem.

use std::collections::{BTreeSet, HashMap};

use lift_model::learn::{Layout, Sample, device_label};
use lift_store::{
    Best, Candidate, Measured, Outcome, PastRun, ProblemId, ProblemKey, Store, StoreError, deciding,
};

/// A problem with all that was tried for it.
pub struct Problem {
    pub key: ProblemKey,
    /// In the order in which they were tried first.
    pub tried: Vec<Tried>,
    /// How many were found and not tried.
    pub untried: usize,
    pub best: Option<Best>,
    pub runs: Vec<PastRun>,
    /// Of the features there are.
    pub versions: BTreeSet<u32>,
    /// A feature that some of this version do not have.
    pub lacking: Option<String>,
}

/// A candidate with what counts of its measurements.
pub struct Tried {
    pub candidate: Candidate,
    pub outcome: Outcome,
    pub message: String,
    /// Nothing where it failed.
    pub ms: Option<f64>,
    /// Nothing where there are none of this version.
    pub features: Option<Vec<f64>>,
    first_started: i64,
}

impl Problem {
    /// Speed over that of the best, from 0 to 1.
    pub fn share(&self, tried: &Tried) -> Option<f64> {
        let best = self.best.as_ref()?.median;
        let ms = tried.ms?;
        Some(if ms > best { best / ms } else { 1.0 })
    }

    /// The program as it is, by default lowering.
    pub fn default(&self) -> Option<&Tried> {
        self.tried.iter().find(|tried| tried.candidate.derivation.is_empty())
    }

    pub fn device(&self) -> String {
        device_label(&self.key.device.kind, &self.key.device.name)
    }

    /// The candidate as something to learn from; nothing without features.
    pub fn sample(&self, tried: &Tried) -> Option<Sample> {
        let sizes = self.key.sizes.iter().map(|(name, value)| format!("{name}={value}"));
        Some(Sample {
            // The text, as several programs may have the same name.
            program: self.key.program.clone(),
            sizes: format!("{} {}", sizes.collect::<Vec<String>>().join(","), self.key.flags),
            device: self.device(),
            features: tried.features.clone()?,
            ms: tried.ms,
        })
    }

    /// Why there are no features, and what to do.
    pub fn why_no_features(&self) -> String {
        let version = Layout::current().version;
        let others: Vec<String> = self.versions.iter().map(u32::to_string).collect();
        let why = match (&self.lacking, others.as_slice()) {
            _ if self.tried.iter().any(|tried| tried.features.is_some()) => {
                return "No candidate that has features was timed: measure more with `lift tune`."
                    .to_string();
            }
            (Some(name), _) => format!(" that is complete, see `{name}`"),
            (None, []) => String::new(),
            (None, others) => format!(", but of version {}", others.join(", ")),
        };
        format!(
            "No candidate has features of version {version}{why}: compute them with `lift model renew`."
        )
    }
}

pub fn problems(store: &Store) -> Result<Vec<Problem>, StoreError> {
    let layout = Layout::current();
    store.problems()?.into_iter().map(|id| problem(store, id, &layout)).collect()
}

fn problem(store: &Store, id: ProblemId, layout: &Layout) -> Result<Problem, StoreError> {
    let mut versions = BTreeSet::new();
    let mut features = HashMap::new();
    let mut lacking = None;
    for of in store.features(id)? {
        versions.insert(of.version);
        if of.version != layout.version {
            continue;
        }
        let value = |name: &String| of.numbers.get(name).copied().ok_or_else(|| name.clone());
        match layout.names.iter().map(value).collect::<Result<Vec<f64>, String>>() {
            Ok(values) => {
                features.insert(of.candidate, values);
            }
            Err(name) => lacking = Some(name),
        }
    }
    let measured = store.measured(id)?;
    let untried = store.candidates(id)?.len().saturating_sub(measured.len());
    let found = measured.into_iter().filter_map(|m| {
        let features = features.remove(&m.id);
        tried(m, features)
    });
    let mut tried: Vec<Tried> = found.collect();
    tried.sort_by_key(|tried| tried.first_started);
    let (key, best, runs) = (store.key(id)?, store.best(id)?, store.runs(id)?);
    Ok(Problem { key, tried, untried, best, runs, versions, lacking })
}

fn tried(measured: Measured, features: Option<Vec<f64>>) -> Option<Tried> {
    let first_started = measured.measurements.first()?.started;
    let last = deciding(&measured.measurements).or(measured.measurements.last())?;
    Some(Tried {
        outcome: last.outcome,
        message: last.message.clone(),
        ms: last.ms(),
        candidate: measured.candidate,
        features,
        first_started,
    })
}
