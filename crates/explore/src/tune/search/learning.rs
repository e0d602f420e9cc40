//! Configurations near fast ones and from anywhere, by the upper confidence bound of what was learned so far.

use super::random::Random;
use super::{Observation, Search};
use crate::tune::search_space::{Configuration, SearchSpace};
use crate::tune::surrogate::Surrogate;

/// So many configurations are chosen at random before there is something to learn from.
const FIRST: usize = 6;

/// The exploration rate: one in so many configurations is drawn at random.
const EXPLORATION: usize = 6;

/// The most promising of so many is tried: some are near what was fast, others anywhere.
const NEAR: usize = 16;
const ANYWHERE: usize = 16;

pub struct Learning {
    anywhere: Random,
    /// What was measured, fastest first.
    results: Vec<(f64, Configuration)>,
    surrogate: Surrogate,
    /// What is tried first, in reverse order.
    suggested: Vec<Configuration>,
}

impl Learning {
    pub fn new(seed: u64) -> Learning {
        Learning {
            anywhere: Random::new(seed),
            results: Vec::new(),
            surrogate: Surrogate::new(seed),
            suggested: Vec::new(),
        }
    }

    /// Of several configurations that were not tried, the one that is expected to be fastest.
    fn promising(&mut self, space: &dyn SearchSpace) -> Option<Configuration> {
        let mut configurations: Vec<Configuration> =
            (0..NEAR).map_while(|_| self.near_a_fast_one(space)).collect();
        configurations.extend((0..ANYWHERE).map_while(|_| self.anywhere.untried(space)));
        let mut best: Option<(f64, Configuration)> = None;
        for (features, configuration) in
            space.features(&configurations).into_iter().zip(configurations)
        {
            let Some(features) = features else {
                self.anywhere.tried.insert(configuration);
                continue;
            };
            let expected = self.surrogate.predict(&features).unwrap_or(0.0);
            if best.as_ref().is_none_or(|(most, _)| expected > *most) {
                best = Some((expected, configuration));
            }
        }
        best.map(|(_, configuration)| configuration)
    }

    /// The fastest is the likeliest to be chosen, each further one half as likely.
    fn near_a_fast_one(&mut self, space: &dyn SearchSpace) -> Option<Configuration> {
        let Learning { anywhere: Random { random, tried }, results, .. } = self;
        let mut rank = 0;
        while rank + 1 < results.len() && random.bool() {
            rank += 1;
        }
        // Where everything near is tried, a slower one is gone on from.
        results
            .iter()
            .skip(rank)
            .find_map(|(_, configuration)| space.near(configuration, tried, random))
    }
}

impl Search for Learning {
    fn next(&mut self, space: &dyn SearchSpace) -> Option<Configuration> {
        while let Some(configuration) = self.suggested.pop() {
            if self.anywhere.tried.insert(configuration.clone()) {
                return Some(configuration);
            }
        }
        let Random { random, tried } = &mut self.anywhere;
        let explores = tried.len() < FIRST || random.usize(..EXPLORATION) == 0;
        let promising = if explores { None } else { self.promising(space) };
        let configuration = promising.or_else(|| self.anywhere.untried(space));
        self.anywhere.tried.extend(configuration.clone());
        configuration
    }

    fn learn(&mut self, configuration: Configuration, features: &[f64], ms: Option<f64>) {
        self.observe(Observation { problem: 0, features: features.to_vec(), ms });
        let Some(ms) = ms else { return };
        let at = self.results.partition_point(|(known, _)| *known <= ms);
        self.results.insert(at, (ms, configuration));
    }

    fn observe(&mut self, observation: Observation) {
        self.surrogate.learn(observation);
    }

    fn suggest(&mut self, configuration: Configuration) {
        self.suggested.insert(0, configuration);
    }

    fn remembers(&self) -> bool {
        true
    }
}
