//! Gradient-boosted regression trees: each tree learns what those before it leave.

use serde::{Deserialize, Serialize};

use crate::learn::dataset::Dataset;
use crate::learn::error::LearnError;
use crate::learn::normalise::Normalisation;
use crate::learn::trained::Model;
use crate::learn::tree::{Binned, Growth, Tree, grow};

const TREES: usize = 200;

/// Small steps, shallow trees and leaves of several rows keep noise from being learned.
const GROWTH: Growth = Growth { depth: 4, leaf: 5, rate: 0.1 };

/// Each tree sees this share of the rows, chosen at random.
const SHARE: f64 = 0.7;

#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Trees {
    seed: u64,
    normalisation: Normalisation,
    /// What is predicted before any tree.
    base: f64,
    trees: Vec<Tree>,
}

impl Trees {
    /// The seed says which rows each tree sees.
    pub fn new(seed: u64) -> Trees {
        Trees { seed, ..Trees::default() }
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
        let rows: Vec<Vec<f64>> = rows.iter().map(|row| self.normalisation.apply(row)).collect();
        self.base = speeds.iter().sum::<f64>() / speeds.len() as f64;
        let mut left: Vec<f64> = speeds.iter().map(|speed| speed - self.base).collect();
        let binned = Binned::new(&rows);
        let mut random = fastrand::Rng::with_seed(self.seed);
        self.trees.clear();
        for _ in 0..TREES {
            let mut seen: Vec<usize> = (0..rows.len()).filter(|_| random.f64() < SHARE).collect();
            let tree = grow(&binned, &mut seen, &left, GROWTH);
            for (row, left) in rows.iter().zip(&mut left) {
                *left -= tree.predict(row);
            }
            self.trees.push(tree);
        }
        Ok(())
    }

    fn predict(&self, features: &[f64]) -> f64 {
        let row = self.normalisation.apply(features);
        self.base + self.trees.iter().map(|tree| tree.predict(&row)).sum::<f64>()
    }
}
