//! Which point is tried next.

use std::collections::HashSet;

use fastrand::Rng;

use super::ground::{Ground, Point};

/// How often a point that was tried already is chosen again before there are no others.
const PATIENCE: usize = 500;

/// So many points are chosen at random before there is something to learn from.
const FIRST: usize = 6;

/// One in so many later points is chosen at random.
const STRAYS: usize = 4;

/// Chooses points, each once.
pub struct Search {
    /// Whether results say where to look.
    learns: bool,
    random: Rng,
    tried: HashSet<Point>,
    /// What was measured, fastest first.
    results: Vec<(f64, Point)>,
}

impl Search {
    pub fn random(seed: u64) -> Search {
        let (tried, results) = (HashSet::new(), Vec::new());
        Search { learns: false, random: Rng::with_seed(seed), tried, results }
    }

    /// Looks near what was fast, and now and then elsewhere.
    pub fn learning(seed: u64) -> Search {
        Search { learns: true, ..Search::random(seed) }
    }

    /// The next point; nothing where there seems to be none.
    pub fn next(&mut self, ground: &dyn Ground) -> Option<Point> {
        if self.learns
            && self.tried.len() >= FIRST
            && self.random.usize(..STRAYS) != 0
            && let Some(point) = self.near_a_fast_one(ground)
        {
            self.tried.insert(point.clone());
            return Some(point);
        }
        for _ in 0..PATIENCE {
            let point = ground.some(&mut self.random)?;
            if self.tried.insert(point.clone()) {
                return Some(point);
            }
        }
        None
    }

    /// What came of a point: its time, unless it failed.
    pub fn learn(&mut self, point: Point, ms: Option<f64>) {
        let Some(ms) = ms else { return };
        let at = self.results.partition_point(|(known, _)| *known <= ms);
        self.results.insert(at, (ms, point));
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
