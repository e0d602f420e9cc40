//! Configurations at random.

use std::collections::HashSet;

use fastrand::Rng;

use super::Search;
use crate::tune::search_space::{Configuration, SearchSpace};

/// How often a configuration that was tried already is chosen again before there are no others.
const PATIENCE: usize = 500;

pub struct Random {
    pub(super) random: Rng,
    pub(super) tried: HashSet<Configuration>,
}

impl Random {
    pub fn new(seed: u64) -> Random {
        Random { random: Rng::with_seed(seed), tried: HashSet::new() }
    }

    /// Some configuration that was not tried.
    pub(super) fn untried(&mut self, space: &dyn SearchSpace) -> Option<Configuration> {
        for _ in 0..PATIENCE {
            let configuration = space.some(&mut self.random)?;
            if !self.tried.contains(&configuration) {
                return Some(configuration);
            }
        }
        None
    }
}

impl Search for Random {
    fn next(&mut self, space: &dyn SearchSpace) -> Option<Configuration> {
        let configuration = self.untried(space);
        self.tried.extend(configuration.clone());
        configuration
    }
}
