//! Extremely randomised trees: each is different by chance, and their mean is what they agree on.
//!
//! Limits of splits are drawn evenly between the least and the greatest value, so features are taken as logarithms.

use serde::{Deserialize, Serialize};

use crate::learn::dataset::Dataset;
use crate::learn::error::LearnError;
use crate::learn::normalise::Normalisation;
use crate::learn::trained::Model;
use crate::learn::tree::{Growth, Tree, grow};

const TREES: usize = 60;

/// Shares and rates are told apart too, not only numbers far above one.
const SCALE: f64 = 1000.0;

/// Leaves of several rows keep noise from being learned.
const GROWTH: Growth = Growth { leaf: 3, share: 0.5 };

#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Trees {
    seed: u64,
    normalisation: Normalisation,
    trees: Vec<Tree>,
}

impl Trees {
    /// The seed says which splits each tree tries.
    pub fn new(seed: u64) -> Trees {
        Trees { seed, ..Trees::default() }
    }

    /// Features as trees see them.
    fn row(&self, features: &[f64]) -> Vec<f64> {
        let logarithm = |value: f64| value.signum() * (value.abs() * SCALE).ln_1p();
        self.normalisation.apply(features).into_iter().map(logarithm).collect()
    }

    /// What the trees say on average, and by how much they differ (the standard deviation).
    pub fn predict_with_spread(&self, features: &[f64]) -> (f64, f64) {
        let row = self.row(features);
        let said: Vec<f64> = self.trees.iter().map(|tree| tree.predict(&row)).collect();
        let count = said.len().max(1) as f64;
        let mean = said.iter().sum::<f64>() / count;
        let variance = said.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count;
        (mean, variance.sqrt())
    }

    /// Whether it can be asked about features of this number.
    pub(super) fn is_sound(&self, width: usize) -> bool {
        self.trees.iter().all(|tree| tree.is_sound(width))
    }
}

impl Model for Trees {
    fn fit(&mut self, data: &Dataset) -> Result<(), LearnError> {
        let (rows, speeds) = data.measured();
        if rows.is_empty() {
            return Err(LearnError::NothingMeasured);
        }
        self.normalisation = Normalisation::of(&data.layout().names);
        let rows: Vec<Vec<f64>> = rows.iter().map(|row| self.row(row)).collect();
        let mut random = fastrand::Rng::with_seed(self.seed);
        self.trees = (0..TREES).map(|_| grow(&rows, &speeds, GROWTH, &mut random)).collect();
        Ok(())
    }

    fn predict(&self, features: &[f64]) -> f64 {
        self.predict_with_spread(features).0
    }
}
