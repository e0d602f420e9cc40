//! How much of memory a launch touches, from the groups that were followed.

use std::collections::BTreeMap;

/// Pieces of one buffer that the groups touch, followed ones alone.
#[derive(Default)]
pub(super) struct Pieces {
    /// Summed over all groups.
    pub by_group: f64,
    /// Those of the first of each pair, with how many of these touch a piece.
    apart: BTreeMap<i64, (f64, f64)>,
    /// Those of a pair together, and the sum of how many that are over the pairs.
    pair: BTreeMap<i64, f64>,
    pub by_pair: f64,
}

impl Pieces {
    pub fn add(&mut self, pieces: &BTreeMap<i64, f64>, first_of_pair: bool) {
        if first_of_pair {
            self.end_pair();
        }
        for (piece, weight) in pieces {
            self.by_group += weight;
            self.pair.entry(*piece).or_insert(*weight);
            if first_of_pair {
                let (_, times) = self.apart.entry(*piece).or_insert((*weight, 0.0));
                *times += 1.0;
            }
        }
    }

    pub fn end_pair(&mut self) {
        self.by_pair += self.pair.values().sum::<f64>();
        self.pair.clear();
    }

    /// How many different pieces so many groups touch, of which some were followed: what nearly all of those touch, all do;
    /// the rest is found from how much they share.
    pub fn distinct(&self, followed: f64, groups: f64) -> f64 {
        if groups <= followed {
            return self.apart.values().map(|(weight, _)| weight).sum();
        }
        let (mut hot, mut each, mut all) = (0.0, 0.0, 0.0);
        for (weight, times) in self.apart.values() {
            if *times >= 0.75 * followed {
                hot += weight;
            } else {
                each += weight * times / followed;
                all += weight;
            }
        }
        (hot + union(each, all, followed, groups)).min(self.span())
    }

    /// How many there are from the first to the last. The groups that were followed lie in six sevenths of all.
    fn span(&self) -> f64 {
        match (self.apart.keys().next(), self.apart.keys().next_back()) {
            (Some(first), Some(last)) => (last - first + 1) as f64 * 7.0 / 6.0,
            _ => 0.0,
        }
    }
}

/// How much `groups` sets of a size cover together, where `seen` of them cover `all`: as sets drawn from a whole, whose size
/// is found from what those seen share.
pub(super) fn union(each: f64, all: f64, seen: f64, groups: f64) -> f64 {
    if seen <= 1.0 || each <= 0.0 {
        return each * groups;
    }
    if all <= each * 1.000_001 {
        return all;
    }
    if all >= each * seen * 0.999_999 {
        return each * groups;
    }
    let covered = |whole: f64, n: f64| whole * (1.0 - power(1.0 - (each / whole).min(1.0), n));
    let (mut low, mut high) = (all, each * seen * 1e6);
    for _ in 0..80 {
        let middle = (low * high).sqrt();
        if covered(middle, seen) < all { low = middle } else { high = middle }
    }
    covered(high, groups)
}

/// A number to a whole power, by multiplications alone: the same everywhere.
fn power(base: f64, exponent: f64) -> f64 {
    let (mut result, mut square, mut left) = (1.0, base, exponent as u64);
    while left > 0 {
        if left % 2 == 1 {
            result *= square;
        }
        square *= square;
        left /= 2;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_that_share_nothing_add_up_and_equal_ones_are_one() {
        assert_eq!(union(10.0, 80.0, 8.0, 100.0), 1000.0);
        assert_eq!(union(10.0, 10.0, 8.0, 100.0), 10.0);
    }

    #[test]
    fn the_whole_is_found_from_what_is_shared() {
        // 8 sets of 100 out of 400 cover 400 (1 - 0.75^8).
        let all = 400.0 * (1.0 - 0.75_f64.powi(8));
        let found = union(100.0, all, 8.0, 1000.0);
        assert!((found - 400.0).abs() < 1.0, "{found}");
    }
}
