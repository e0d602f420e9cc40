//! Principal components: the few directions in which samples differ most.

use nalgebra::{DMatrix, SymmetricEigen};
use serde::{Deserialize, Serialize};

/// Directions, orthogonal and of length 1, the one with the largest variance first.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Components {
    directions: Vec<Vec<f64>>,
}

impl Components {
    /// As few directions as explain this share of the variance of rows that have mean 0.
    pub fn explaining(share: f64, rows: &[Vec<f64>]) -> Components {
        let width = rows.first().map_or(0, Vec::len);
        if width == 0 {
            return Components::default();
        }
        let values = rows.iter().flat_map(|row| row.iter().copied());
        let matrix = DMatrix::from_row_iterator(rows.len(), width, values);
        let covariance = matrix.tr_mul(&matrix) / rows.len().max(1) as f64;
        let eigen = SymmetricEigen::new(covariance);
        let variances: Vec<f64> = eigen.eigenvalues.iter().map(|value| value.max(0.0)).collect();
        let total: f64 = variances.iter().sum();
        let mut order: Vec<usize> = (0..width).collect();
        order.sort_by(|a, b| variances[*b].total_cmp(&variances[*a]));
        let mut explained = 0.0;
        let needed = order.into_iter().take_while(|number| {
            let enough = explained >= share * total;
            explained += variances[*number];
            !enough
        });
        let column = |number: usize| eigen.eigenvectors.column(number).iter().copied().collect();
        Components { directions: needed.map(column).collect() }
    }

    pub fn count(&self) -> usize {
        self.directions.len()
    }

    /// Whether every direction is one of rows of this width.
    pub fn fit(&self, width: usize) -> bool {
        self.directions.iter().all(|direction| direction.len() == width)
    }

    /// How far a row reaches in each direction.
    pub fn apply(&self, row: &[f64]) -> Vec<f64> {
        let along = |direction: &Vec<f64>| direction.iter().zip(row).map(|(d, v)| d * v).sum();
        self.directions.iter().map(along).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::normalise::Standard;

    fn components(rows: &[Vec<f64>]) -> Components {
        let standard = Standard::of(rows);
        let rows: Vec<Vec<f64>> = rows.iter().map(|row| standard.apply(row)).collect();
        Components::explaining(0.95, &rows)
    }

    #[test]
    fn columns_that_say_the_same_become_one_component() {
        let row = |k: i32| vec![f64::from(k), f64::from(3 * k + 1), f64::from(-k)];
        let found = components(&(0..50).map(row).collect::<Vec<_>>());
        assert_eq!(found.count(), 1);
        let length: f64 = found.directions[0].iter().map(|d| d * d).sum();
        assert!((length - 1.0).abs() < 1e-12);
        assert!(found.directions[0].iter().all(|d| (d.abs() - 1.0 / 3.0_f64.sqrt()).abs() < 1e-9));
    }

    #[test]
    fn columns_that_say_different_things_are_all_kept() {
        let row = |k: i32| vec![f64::from(k % 10), f64::from(k / 10), 5.0];
        let found = components(&(0..100).map(row).collect::<Vec<_>>());
        assert_eq!(found.count(), 2, "the third column is always the same");
    }

    #[test]
    fn rows_that_are_all_the_same_have_no_components() {
        assert_eq!(components(&vec![vec![1.0, 2.0]; 4]).count(), 0);
        assert_eq!(components(&[]).count(), 0);
    }
}
