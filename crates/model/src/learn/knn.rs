//! The mean of the nearest neighbours, as in the literature: normalised by the size of the input, standardised,
//! projected on the principal components that explain 95 % of the variance, and the mean of the 5 nearest.

use serde::{Deserialize, Serialize};

use crate::learn::components::Components;
use crate::learn::dataset::Dataset;
use crate::learn::error::LearnError;
use crate::learn::normalise::{Normalisation, Standard};
use crate::learn::trained::Model;

const NEIGHBOURS: usize = 5;

/// The share of the variance that is kept.
const EXPLAINED: f64 = 0.95;

#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Knn {
    normalisation: Normalisation,
    standard: Standard,
    components: Components,
    /// By their first coordinate.
    points: Vec<Point>,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
struct Point(Vec<f64>, f64);

impl Point {
    fn first(&self) -> f64 {
        self.0.first().copied().unwrap_or(0.0)
    }
}

impl Model for Knn {
    fn fit(&mut self, data: &Dataset) -> Result<(), LearnError> {
        let (rows, speeds) = data.measured();
        if rows.is_empty() {
            return Err(LearnError::NothingMeasured);
        }
        self.normalisation = Normalisation::of(&data.layout().names);
        let rows: Vec<Vec<f64>> = rows.iter().map(|row| self.normalisation.apply(row)).collect();
        self.standard = Standard::of(&rows);
        let rows: Vec<Vec<f64>> = rows.iter().map(|row| self.standard.apply(row)).collect();
        self.components = Components::explaining(EXPLAINED, &rows);
        let place = |(row, speed): (&Vec<f64>, f64)| Point(self.components.apply(row), speed);
        self.points = rows.iter().zip(speeds).map(place).collect();
        self.points.sort_by(|a, b| a.first().total_cmp(&b.first()));
        Ok(())
    }

    fn predict(&self, features: &[f64]) -> f64 {
        let row = self.standard.apply(&self.normalisation.apply(features));
        let near = self.nearest(&self.components.apply(&row));
        near.iter().map(|(_, speed)| speed).sum::<f64>() / near.len().max(1) as f64
    }
}

impl Knn {
    /// Whether it can be asked about features of this number.
    pub(super) fn is_sound(&self, width: usize) -> bool {
        let count = self.components.count();
        !self.points.is_empty()
            && self.standard.width() == width
            && self.components.fit(width)
            && self.points.iter().all(|Point(at, _)| at.len() == count)
    }

    /// Squared distances and speeds of the nearest points, nearest first.
    ///
    /// Goes outward from the place among the first coordinates, on the side that is nearer, until these alone are
    /// farther apart than the neighbours found.
    fn nearest(&self, at: &[f64]) -> Vec<(f64, f64)> {
        let first = at.first().copied().unwrap_or(0.0);
        let (mut below, mut above) = {
            let (below, above) =
                self.points.split_at(self.points.partition_point(|p| p.first() < first));
            (below.iter().rev().peekable(), above.iter().peekable())
        };
        let mut near: Vec<(f64, f64)> = Vec::with_capacity(NEIGHBOURS + 1);
        loop {
            let gap = |point: Option<&&Point>| point.map(|p| (p.first() - first).powi(2));
            let (down, up) = (gap(below.peek()), gap(above.peek()));
            let Some(least) = [down, up].into_iter().flatten().min_by(f64::total_cmp) else {
                break;
            };
            let farthest = near.get(NEIGHBOURS - 1).map_or(f64::INFINITY, |(apart, _)| *apart);
            if least > farthest {
                break;
            }
            let point = if down == Some(least) { below.next() } else { above.next() };
            let Some(Point(place, speed)) = point else { break };
            let apart: f64 = place.iter().zip(at).map(|(a, b)| (a - b).powi(2)).sum();
            if apart < farthest {
                let rank = near.partition_point(|(other, _)| *other <= apart);
                near.insert(rank, (apart, *speed));
                near.truncate(NEIGHBOURS);
            }
        }
        near
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A model that measures distances as they are.
    fn with_points(points: Vec<Point>) -> Knn {
        Knn { points, ..Knn::default() }
    }

    #[test]
    fn the_search_finds_what_looking_at_all_finds() {
        let mut random = fastrand::Rng::with_seed(7);
        let mut at = || (0..3).map(|_| random.f64()).collect::<Vec<f64>>();
        let mut points: Vec<Point> = (0..300).map(|k| Point(at(), f64::from(k))).collect();
        let asked: Vec<Vec<f64>> = (0..50).map(|_| at()).collect();
        points.sort_by(|a, b| a.first().total_cmp(&b.first()));
        let model = with_points(points.clone());
        for at in &asked {
            let apart = |p: &Point| p.0.iter().zip(at).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
            let mut all: Vec<(f64, f64)> = points.iter().map(|p| (apart(p), p.1)).collect();
            all.sort_by(|a, b| a.0.total_cmp(&b.0));
            assert_eq!(model.nearest(at), all[..NEIGHBOURS]);
        }
    }

    #[test]
    fn fewer_points_than_neighbours_are_all_taken() {
        let model = with_points(vec![Point(vec![0.0], 0.2), Point(vec![1.0], 0.4)]);
        assert_eq!(model.nearest(&[5.0]), [(16.0, 0.4), (25.0, 0.2)]);
    }
}
