//! A surrogate: predicts candidates that were not tried from observations so far.

use std::collections::HashMap;

use lift_model::learn::{Dataset, Layout, Model, Sample, Trees};

/// A candidate that failed counts as so many times slower than the slowest.
const FAILED: f64 = 2.0;

/// So many results say something.
const FEW: usize = 6;

/// What came of a candidate.
#[derive(Clone, Debug, Default)]
pub struct Observation {
    /// Which problem it was for: times of different ones are not compared. The one at hand is 0.
    pub problem: usize,
    pub features: Vec<f64>,
    /// Nothing where it failed.
    pub ms: Option<f64>,
}

/// Learns from the features of candidates how fast they are.
pub(super) struct Surrogate {
    seed: u64,
    results: Vec<Observation>,
    trees: Option<Trees>,
    /// The trees are about so many results.
    known: usize,
}

impl Surrogate {
    pub fn new(seed: u64) -> Surrogate {
        Surrogate { seed, results: Vec::new(), trees: None, known: 0 }
    }

    pub fn learn(&mut self, observation: Observation) {
        self.results.push(observation);
    }

    /// How fast a candidate may well be, as a share of the fastest; nothing where too little is known. What is
    /// not known for sure gets the benefit of the doubt.
    pub fn predict(&mut self, features: &[f64]) -> Option<f64> {
        let new = self.results.len() - self.known;
        if self.results.len() >= FEW && new * 10 >= self.known {
            self.trees = self.grown();
            self.known = self.results.len();
        }
        let (mean, spread) = self.trees.as_ref()?.predict_with_spread(features);
        Some(mean + spread)
    }

    fn grown(&self) -> Option<Trees> {
        let mut slowest: HashMap<usize, f64> = HashMap::new();
        for Observation { problem, ms, .. } in &self.results {
            let slowest = slowest.entry(*problem).or_default();
            *slowest = slowest.max(ms.unwrap_or(0.0));
        }
        let mut data = Dataset::new(Layout::current());
        for Observation { problem, features, ms } in &self.results {
            let failed = slowest.get(problem).filter(|ms| **ms > 0.0).map(|ms| ms * FAILED);
            let (features, sizes) = (features.clone(), problem.to_string());
            // What cannot be learned from is left out.
            let _ = data.push(Sample { sizes, features, ms: ms.or(failed), ..Sample::default() });
        }
        let mut trees = Trees::new(self.seed);
        trees.fit(&data).ok()?;
        Some(trees)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn features(x: f64) -> Vec<f64> {
        let mut all = vec![0.0; Layout::current().names.len()];
        all[0] = x;
        all
    }

    #[test]
    fn what_was_fast_or_slow_or_failed_is_expected_again() {
        let mut surrogate = Surrogate::new(1);
        assert_eq!(surrogate.predict(&features(1.0)), None);
        for k in 0..30 {
            let x = f64::from(k);
            let ms = (k < 20).then_some(1.0 + x);
            surrogate.learn(Observation { features: features(x), ms, problem: 0 });
            // The same elsewhere, where everything takes longer.
            let ms = ms.map(|ms| ms * 1000.0);
            surrogate.learn(Observation { features: features(x), ms, problem: 1 });
        }
        let mut of = |x: f64| surrogate.predict(&features(x)).expect("much is known");
        let (fast, slow, failed) = (of(1.0), of(15.0), of(28.0));
        assert!(fast > slow && slow > failed, "{fast} {slow} {failed}");
        assert!(fast > 0.3, "{fast}");
    }

    #[test]
    fn where_everything_failed_nothing_is_known() {
        let mut surrogate = Surrogate::new(1);
        let failed = |k| Observation { features: features(f64::from(k)), ..Observation::default() };
        (0..30).for_each(|k| surrogate.learn(failed(k)));
        assert_eq!(surrogate.predict(&features(1.0)), None);
    }
}
