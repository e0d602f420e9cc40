//! What is known from earlier runs: of the same problem where the search is resumed, and of the same program at other
//! sizes or through another interface on a device of the same name.

use std::collections::BTreeMap;

use lift_model::features::{VERSION, names};
use lift_store::{
    CandidateFeatures, CandidateId, Measured, Measurement, ProblemId, ProblemKey, Store,
    StoreError, deciding,
};

use super::replay::values_of;
use super::surrogate::Observation;
use crate::parameters::Values;

/// So many of the fastest of each problem are worth trying again.
const FASTEST: usize = 3;

#[derive(Default)]
pub(super) struct Earlier {
    pub observations: Vec<Observation>,
    pub fastest: Vec<Fast>,
}

/// A candidate that was fast.
pub(super) struct Fast {
    pub text: String,
    pub values: Values,
}

/// What the store has; of the problem itself only where that is asked for.
pub(super) fn earlier(
    store: &Store,
    problem: ProblemId,
    resume: bool,
) -> Result<Earlier, StoreError> {
    let mut found = Earlier::default();
    let own = store.key(problem)?;
    for (number, other) in store.problems()?.into_iter().enumerate() {
        let is_own = other == problem;
        if (is_own && resume) || (!is_own && are_akin(&store.key(other)?, &own)) {
            let number = if is_own { 0 } else { number + 1 };
            found.add(store, other, number, is_own)?;
        }
    }
    Ok(found)
}

/// Whether what is fast for one may well be fast for the other.
fn are_akin(one: &ProblemKey, other: &ProblemKey) -> bool {
    one.program == other.program && one.device.name == other.device.name
}

impl Earlier {
    /// Adds what is known of a problem, which gets this number. What is its own is not tried again.
    fn add(
        &mut self,
        store: &Store,
        problem: ProblemId,
        number: usize,
        is_own: bool,
    ) -> Result<(), StoreError> {
        let features = current_features(store, problem)?;
        let mut fastest: Vec<(f64, Fast)> = Vec::new();
        for Measured { id, candidate, measurements } in store.measured(problem)? {
            let ms = deciding(&measurements).and_then(Measurement::ms);
            if let Some(features) = features.get(&id) {
                let features = features.clone();
                self.observations.push(Observation { problem: number, features, ms });
            }
            if let Some(ms) = ms.filter(|_| !is_own) {
                let values = values_of(&candidate.parameters);
                let at = fastest.partition_point(|(known, _)| *known <= ms);
                if at < FASTEST {
                    fastest.insert(at, (ms, Fast { text: candidate.text, values }));
                    fastest.truncate(FASTEST);
                }
            }
        }
        self.fastest.extend(fastest.into_iter().map(|(_, fast)| fast));
        Ok(())
    }
}

/// The features of candidates, as far as they are those of today.
pub(super) fn current_features(
    store: &Store,
    problem: ProblemId,
) -> Result<BTreeMap<CandidateId, Vec<f64>>, StoreError> {
    let mut all = BTreeMap::new();
    for CandidateFeatures { candidate, version, numbers } in store.features(problem)? {
        let values: Option<Vec<f64>> =
            names().iter().map(|name| numbers.get(*name).copied()).collect();
        if let (VERSION, Some(values)) = (version, values) {
            all.insert(candidate, values);
        }
    }
    Ok(all)
}
