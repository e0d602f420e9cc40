//! The lanes of a warp, by the variables that tell them apart.
//!
//! On a GPU the lanes are work-items with neighbouring numbers, dimension 0 first. On a processor they are
//! neighbouring iterations of the innermost loop, as vector code runs them, or of the loop around a sum.

use super::scope::{Role, Scope};
use super::values::Values;

/// Who the lanes are.
pub(super) enum Lanes {
    /// Work-items of a group, which has so many in each dimension.
    Items([i128; 3]),
    /// Iterations of a loop, by its variable's number; none where there is no loop.
    Iterations(Option<usize>),
}

/// The lanes that take part, of the warp in the middle: for each of them the values of these variables.
pub(super) struct LaneValues {
    vars: Vec<usize>,
    /// One row of values for each lane.
    values: Vec<i128>,
    count: usize,
}

impl LaneValues {
    pub fn of(scope: &Scope<'_>, lanes: &Lanes, warp: i128) -> LaneValues {
        match lanes {
            Lanes::Items(local) => LaneValues::items(scope, local, warp),
            Lanes::Iterations(number) => LaneValues::iterations(scope, *number, warp),
        }
    }

    pub fn count(&self) -> usize {
        self.count
    }

    /// Calls `f` with the values of the variables for each lane.
    pub fn each(&self, mut f: impl FnMut(&[(usize, i128)])) {
        let mut at = Vec::with_capacity(self.vars.len());
        for lane in 0..self.count {
            self.read(lane, &mut at);
            f(&at);
        }
    }

    /// Whether something holds of the first lane, the last, and some between.
    pub fn probes(&self, holds: impl Fn(&[(usize, i128)]) -> bool) -> bool {
        let last = self.count.saturating_sub(1);
        let mut at = Vec::with_capacity(self.vars.len());
        [0, 1, last / 4, last / 2, last].into_iter().all(|lane| {
            self.read(lane.min(last), &mut at);
            holds(&at)
        })
    }

    fn read(&self, lane: usize, at: &mut Vec<(usize, i128)>) {
        at.clear();
        let row = self.values.iter().skip(lane * self.vars.len());
        at.extend(self.vars.iter().copied().zip(row.copied()));
    }

    fn items(scope: &Scope<'_>, local: &[i128; 3], warp: i128) -> LaneValues {
        let mut own: Vec<(usize, usize, &Values)> = Vec::new();
        for number in 0..scope.len() {
            if let Some((values, Role::Local(d) | Role::Global(d))) = scope.entry(number) {
                own.push((number, d, values));
            }
        }
        let size = |d: usize| local.get(d).copied().unwrap_or(1).max(1);
        // The work-item that stands for all, by dimension; one that no variable is about is in the middle.
        let mut place = [0, 1, 2].map(|d| size(d) / 2);
        for (_, d, values) in &own {
            if let Some(p) = place.get_mut(*d) {
                *p = values.middle().rem_euclid(size(*d));
            }
        }
        let [x, y, z] = place;
        let first = (x + size(0) * (y + size(1) * z)) / warp * warp;
        let all = size(0).saturating_mul(size(1)).saturating_mul(size(2));
        let vars = own.iter().map(|(number, ..)| *number).collect();
        let mut found = LaneValues { vars, values: Vec::new(), count: 0 };
        for item in first..first.saturating_add(warp).min(all) {
            let at = [item % size(0), item / size(0) % size(1), item / size(0) / size(1)];
            let value = |d: usize, values: &Values| {
                let start = values.middle().div_euclid(size(d)) * size(d);
                start.saturating_add(at.get(d).copied().unwrap_or(0))
            };
            if own.iter().all(|(_, d, values)| values.contains(value(*d, values))) {
                found.values.extend(own.iter().map(|(_, d, values)| value(*d, values)));
                found.count += 1;
            }
        }
        found
    }

    fn iterations(scope: &Scope<'_>, number: Option<usize>, warp: i128) -> LaneValues {
        let Some((number, (values, _))) = number.and_then(|n| Some((n, scope.entry(n)?))) else {
            return LaneValues { vars: Vec::new(), values: Vec::new(), count: 1 };
        };
        let first = values.middle().div_euclid(warp) * warp;
        let taken = (first..first.saturating_add(warp)).filter(|v| values.contains(*v));
        let values: Vec<i128> = taken.collect();
        LaneValues { vars: vec![number], count: values.len(), values }
    }
}
