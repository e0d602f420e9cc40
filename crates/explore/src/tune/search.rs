//! Which point is tried next.

use std::collections::HashSet;

use fastrand::Rng;

use super::ground::{Ground, Point};
use super::surrogate::{Finding, Surrogate};

/// How often a point that was tried already is chosen again before there are no others.
const PATIENCE: usize = 500;

/// So many points are chosen at random before there is something to learn from.
const FIRST: usize = 6;

/// One in so many later points is chosen at random.
const STRAYS: usize = 6;

/// The most promising of so many is tried: some are near what was fast, others anywhere.
const NEAR: usize = 16;
const ANYWHERE: usize = 16;

/// Chooses points, each once.
pub struct Search {
    random: Rng,
    tried: HashSet<Point>,
    /// Whether results say where to look.
    learns: bool,
    /// What was measured, fastest first.
    results: Vec<(f64, Point)>,
    surrogate: Surrogate,
    /// What is tried first, in reverse order.
    suggested: Vec<Point>,
}

impl Search {
    pub fn random(seed: u64) -> Search {
        Search {
            random: Rng::with_seed(seed),
            tried: HashSet::new(),
            learns: false,
            results: Vec::new(),
            surrogate: Surrogate::new(seed),
            suggested: Vec::new(),
        }
    }

    /// Looks near what was fast and elsewhere, and tries what the results so far promise most of.
    pub fn learning(seed: u64) -> Search {
        Search { learns: true, ..Search::random(seed) }
    }

    /// Has a point tried soon.
    pub fn suggest(&mut self, point: Point) {
        if self.learns {
            self.suggested.insert(0, point);
        }
    }

    /// The next point; nothing where there seems to be none.
    pub fn next(&mut self, ground: &dyn Ground) -> Option<Point> {
        while let Some(point) = self.suggested.pop() {
            if self.tried.insert(point.clone()) {
                return Some(point);
            }
        }
        let is_stray = self.tried.len() < FIRST || self.random.usize(..STRAYS) == 0;
        let point = match self.learns && !is_stray {
            true => self.promising(ground).or_else(|| self.anywhere(ground)),
            false => self.anywhere(ground),
        };
        self.tried.extend(point.clone());
        point
    }

    /// What came of a point: its time, unless it failed.
    pub fn learn(&mut self, point: Point, features: &[f64], ms: Option<f64>) {
        self.learn_finding(Finding { problem: 0, features: features.to_vec(), ms });
        let Some(ms) = ms else { return };
        let at = self.results.partition_point(|(known, _)| *known <= ms);
        self.results.insert(at, (ms, point));
    }

    /// What came of a candidate whose point is not known, or was for another problem.
    pub fn learn_finding(&mut self, finding: Finding) {
        if self.learns {
            self.surrogate.learn(finding);
        }
    }

    /// Some point that was not tried.
    fn anywhere(&mut self, ground: &dyn Ground) -> Option<Point> {
        for _ in 0..PATIENCE {
            let point = ground.some(&mut self.random)?;
            if !self.tried.contains(&point) {
                return Some(point);
            }
        }
        None
    }

    /// Of several points that were not tried, the one that is expected to be fastest.
    fn promising(&mut self, ground: &dyn Ground) -> Option<Point> {
        let mut points: Vec<Point> =
            (0..NEAR).map_while(|_| self.near_a_fast_one(ground)).collect();
        points.extend((0..ANYWHERE).map_while(|_| self.anywhere(ground)));
        let mut best: Option<(f64, Point)> = None;
        for (features, point) in ground.features(&points).into_iter().zip(points) {
            let Some(features) = features else {
                self.tried.insert(point);
                continue;
            };
            let expected = self.surrogate.predict(&features).unwrap_or(0.0);
            if best.as_ref().is_none_or(|(most, _)| expected > *most) {
                best = Some((expected, point));
            }
        }
        best.map(|(_, point)| point)
    }

    /// The fastest is the likeliest to be chosen, each further one half as likely.
    fn near_a_fast_one(&mut self, ground: &dyn Ground) -> Option<Point> {
        let Search { random, tried, results, .. } = self;
        let mut rank = 0;
        while rank + 1 < results.len() && random.bool() {
            rank += 1;
        }
        // Where everything near is tried, a slower one is gone on from.
        results.iter().skip(rank).find_map(|(_, point)| ground.near(point, tried, random))
    }
}
