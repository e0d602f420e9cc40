//! Configurations that a model predicts to be fastest.

use std::sync::Arc;

use fastrand::Rng;

use super::Search;
use super::random::Random;
use crate::tune::search_space::{Configuration, SearchSpace};

/// How fast a candidate will be, as a share of the best, by its features.
pub type Prediction = Arc<dyn Fn(&[f64]) -> f64 + Send + Sync>;

/// So many configurations are ranked at a time.
const RANKED: usize = 400;

/// The exploration rate: the last of so many configurations is drawn at random.
const EXPLORATION: usize = 10;

pub struct ByModel {
    prediction: Prediction,
    anywhere: Random,
    /// What is left of the configurations that were ranked, best last.
    ranked: Vec<Configuration>,
    /// How many of them were chosen.
    chosen: usize,
    strays: Rng,
}

impl ByModel {
    pub fn new(seed: u64, prediction: Prediction) -> ByModel {
        ByModel {
            prediction,
            anywhere: Random::new(seed),
            ranked: Vec::new(),
            chosen: 0,
            strays: Rng::with_seed(seed),
        }
    }

    /// Configurations at random, best last; those that cannot be compiled are left out.
    fn rank(&mut self, space: &dyn SearchSpace) -> Vec<Configuration> {
        let configurations: Vec<Configuration> =
            (0..RANKED).map_while(|_| self.anywhere.next(space)).collect();
        let known = space.features(&configurations).into_iter().zip(configurations);
        let mut ranked: Vec<(f64, Configuration)> = known
            .filter_map(|(features, configuration)| {
                Some(((self.prediction)(&features?), configuration))
            })
            .collect();
        ranked.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        ranked.into_iter().map(|(_, configuration)| configuration).collect()
    }
}

impl Search for ByModel {
    fn next(&mut self, space: &dyn SearchSpace) -> Option<Configuration> {
        if self.ranked.is_empty() {
            self.ranked = self.rank(space);
        }
        self.chosen += 1;
        // Now and then one that the model knows nothing about: what it never sees it cannot like.
        match self.chosen % EXPLORATION {
            0 if self.ranked.len() > 1 => {
                let at = self.strays.usize(..self.ranked.len());
                Some(self.ranked.remove(at))
            }
            _ => self.ranked.pop(),
        }
    }
}
