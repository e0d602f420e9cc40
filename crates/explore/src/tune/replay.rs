//! Searches on what was measured before: how soon would they have found a good one?

use std::collections::{BTreeMap, HashSet};

use fastrand::Rng;
use lift_store::{Candidate, Measured, Measurement, ProblemId, Store, StoreError, deciding};

use super::earlier::current_features;
use super::search::Search;
use super::search_space::{Configuration, SearchSpace};
use crate::parameters::Values;

/// A configuration with what is known of it.
#[derive(Clone, Debug)]
pub struct Known {
    pub configuration: Configuration,
    pub features: Vec<f64>,
    /// Nothing where it failed.
    pub ms: Option<f64>,
}

/// Configurations that were tried.
pub struct RecordedSpace {
    configurations: Vec<Known>,
}

impl RecordedSpace {
    /// What a database has about a problem.
    pub fn new(store: &Store, problem: ProblemId) -> Result<RecordedSpace, StoreError> {
        let measured = store.measured(problem)?;
        let features = current_features(store, problem)?;
        let known = |(m, configuration): (&Measured, Configuration)| Known {
            configuration,
            features: features.get(&m.id).cloned().unwrap_or_default(),
            ms: deciding(&m.measurements).and_then(Measurement::ms),
        };
        let configurations = configurations(measured.iter().map(|m| &m.candidate));
        Ok(RecordedSpace {
            configurations: measured.iter().zip(configurations).map(known).collect(),
        })
    }

    pub fn of(configurations: Vec<Known>) -> RecordedSpace {
        RecordedSpace { configurations }
    }

    pub fn len(&self) -> usize {
        self.configurations.len()
    }

    pub fn is_empty(&self) -> bool {
        self.configurations.is_empty()
    }

    /// The shortest time.
    pub fn best(&self) -> Option<f64> {
        self.configurations.iter().filter_map(|known| known.ms).min_by(f64::total_cmp)
    }

    /// How many configurations a search tries until it has one whose speed is this share of the best; all where it stops
    /// before.
    pub fn trials_to(&self, share: f64, mut search: impl Search) -> usize {
        let enough = self.best().unwrap_or(0.0) / share;
        let mut tried = 0;
        while let Some(configuration) = search.next(self) {
            tried += 1;
            let Some(Known { features, ms, .. }) = self.known(&configuration) else { continue };
            if ms.is_some_and(|ms| ms <= enough) {
                return tried;
            }
            search.learn(configuration, features, *ms);
        }
        self.len()
    }

    fn known(&self, configuration: &Configuration) -> Option<&Known> {
        self.configurations.iter().find(|known| known.configuration == *configuration)
    }
}

/// The configurations of candidates; those that differ in parameters alone are of one program.
pub fn configurations<'c>(candidates: impl Iterator<Item = &'c Candidate>) -> Vec<Configuration> {
    let mut programs: BTreeMap<&str, usize> = BTreeMap::new();
    let configuration = |candidate: &'c Candidate| {
        let count = programs.len();
        let variant = *programs.entry(&*candidate.derivation).or_insert(count);
        Configuration { variant, values: values_of(&candidate.parameters) }
    };
    candidates.map(configuration).collect()
}

/// Values as a store lists them: `T=16,R=4`.
pub(super) fn values_of(listed: &str) -> Values {
    listed.split(',').filter_map(named).collect()
}

/// `T=16`
fn named(text: &str) -> Option<(String, i128)> {
    let (name, value) = text.split_once('=')?;
    Some((name.to_string(), value.parse().ok()?))
}

/// In how many ways configurations differ; another program counts as one.
fn difference(one: &Configuration, other: &Configuration) -> usize {
    let names: HashSet<&String> = one.values.keys().chain(other.values.keys()).collect();
    let values = names.iter().filter(|n| one.values.get(**n) != other.values.get(**n)).count();
    values + usize::from(one.variant != other.variant)
}

impl SearchSpace for RecordedSpace {
    fn some(&self, random: &mut Rng) -> Option<Configuration> {
        random.choice(&self.configurations).map(|known| known.configuration.clone())
    }

    /// One of those that differ in the fewest ways.
    fn near(
        &self,
        configuration: &Configuration,
        tried: &HashSet<Configuration>,
        random: &mut Rng,
    ) -> Option<Configuration> {
        let left = self
            .configurations
            .iter()
            .map(|known| &known.configuration)
            .filter(|p| !tried.contains(p));
        let by_difference: Vec<(usize, &Configuration)> =
            left.map(|p| (difference(p, configuration), p)).collect();
        let least = by_difference.iter().map(|(d, _)| *d).min()?;
        let nearest: Vec<&Configuration> =
            by_difference.iter().filter(|(d, _)| *d == least).map(|(_, p)| *p).collect();
        random.choice(&nearest).map(|p| (*p).clone())
    }

    fn of_program(&self, variant: usize) -> Option<Vec<Configuration>> {
        let configurations = || self.configurations.iter().map(|known| &known.configuration);
        let is_known = configurations().any(|configuration| configuration.variant >= variant);
        let own = || {
            configurations()
                .filter(|configuration| configuration.variant == variant)
                .cloned()
                .collect()
        };
        is_known.then(own)
    }

    fn features(&self, configurations: &[Configuration]) -> Vec<Option<Vec<f64>>> {
        let features = |configuration: &Configuration| {
            self.known(configuration).map(|known| known.features.clone())
        };
        configurations.iter().map(features).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use lift_model::features::names;

    use super::super::search::{ByModel, Exhaustive, Learning, Random};
    use super::*;

    /// Times that grow with the distance from one configuration, on two programs of which one is slower.
    fn hill() -> RecordedSpace {
        let mut configurations = Vec::new();
        for variant in 0..2 {
            for a in 0i128..16 {
                for b in 0i128..16 {
                    let values = [("A".to_string(), a), ("B".to_string(), b)].into();
                    let far = ((a - 11).abs() + (b - 3).abs()) as f64;
                    let ms = (1.0 + far) * (1.0 + variant as f64);
                    let failed = (a + b) % 5 == 0 && far > 0.0;
                    let mut features = vec![0.0; names().len()];
                    features[..3].copy_from_slice(&[a as f64, b as f64, variant as f64]);
                    let configuration = Configuration { variant, values };
                    configurations.push(Known {
                        configuration,
                        features,
                        ms: (!failed).then_some(ms),
                    });
                }
            }
        }
        RecordedSpace::of(configurations)
    }

    fn median(mut all: Vec<usize>) -> usize {
        all.sort_unstable();
        all[all.len() / 2]
    }

    #[test]
    fn learning_climbs_where_random_wanders() {
        let hill = hill();
        let trials = |of: &dyn Fn(u64) -> usize| median((0..21).map(of).collect());
        let learning = trials(&|seed| hill.trials_to(0.9, Learning::new(seed)));
        let random = trials(&|seed| hill.trials_to(0.9, Random::new(seed)));
        assert!(learning * 2 < random, "{learning} against {random}");
    }

    #[test]
    fn a_search_tries_every_point_once() {
        let hill = hill();
        // A good model: it knows the times.
        let fast = |features: &[f64]| {
            let far = (features[0] - 11.0).abs() + (features[1] - 3.0).abs();
            1.0 / (1.0 + far) / (1.0 + features[2])
        };
        let searches: [Box<dyn Search>; 4] = [
            Box::new(Random::new(3)),
            Box::new(Learning::new(3)),
            Box::new(Exhaustive::default()),
            Box::new(ByModel::new(3, Arc::new(fast))),
        ];
        for mut search in searches {
            let mut seen = HashSet::new();
            while let Some(configuration) = search.next(&hill) {
                let Known { features, ms, .. } = hill.known(&configuration).expect("it is one");
                assert!(seen.insert(configuration.clone()), "{configuration:?} twice");
                search.learn(configuration, features, *ms);
            }
            assert!(seen.len() > hill.len() * 9 / 10, "{} of {}", seen.len(), hill.len());
        }
    }

    #[test]
    fn all_programs_are_gone_through_in_order() {
        let hill = hill();
        let mut search = Exhaustive::default();
        let all: Vec<Configuration> = std::iter::from_fn(|| search.next(&hill)).collect();
        let configurations: Vec<Configuration> =
            hill.configurations.iter().map(|known| known.configuration.clone()).collect();
        assert_eq!(all, configurations);
    }

    #[test]
    fn what_a_model_thinks_fastest_comes_first() {
        let hill = hill();
        let good = |features: &[f64]| -(features[0] - 11.0).abs() - (features[1] - 3.0).abs();
        let trials = |seed| hill.trials_to(0.4, ByModel::new(seed, Arc::new(good)));
        assert!((0..5).all(|seed| trials(seed) <= 2), "{}", trials(0));
    }

    #[test]
    fn the_same_seed_gives_the_same_search() {
        let hill = hill();
        let trials = |seed| hill.trials_to(0.9, Learning::new(seed));
        assert_eq!(trials(5), trials(5));
    }
}
