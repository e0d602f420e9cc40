//! What the groups that were followed say of a whole launch.

use std::collections::BTreeMap;

use lift_kernel::BufferId;

use super::distinct::{Part, Pieces};
use super::followed::at_once;
use super::{Counts, Traffic};
use crate::operations::Operations;
use crate::walk::{LINE, Seen, Touched};

/// What the nearest cache of a unit keeps, in bytes, as GPUs have it beside local memory; and what the caches of a processor's core
/// do.
const KEPT: f64 = 131_072.0;
const KEPT_BY_CORE: f64 = 1_048_576.0;
/// Places of a core's nearest cache and of its own one, and the lines that each holds, as processors have them.
const NEAREST: (i64, f64) = (64, 8.0);
const OWN: (i64, f64) = (1024, 16.0);
/// An array of which a launch touches a smaller part is touched here and there.
const SPARSE: f64 = 0.6;

/// What the followed groups of a launch ask for, added up.
pub(super) struct Sum {
    piece: f64,
    /// Of the launch, in each dimension.
    grid: [i64; 3],
    /// Every group is followed.
    all: bool,
    groups: f64,
    seen: Seen,
    read: BTreeMap<BufferId, Pieces>,
    written: BTreeMap<BufferId, Pieces>,
    /// What some warps read that run at the same time, each of another group.
    wave: BTreeMap<BufferId, Pieces>,
}

impl Sum {
    /// Of a kernel with these arrays: a group that touches nothing of one counts as well.
    pub(super) fn new(arrays: &[BufferId], piece: i64, grid: [i64; 3], samples: i64) -> Sum {
        let arrays = arrays.iter().map(|array| (*array, Pieces::default()));
        let read = arrays.clone().collect();
        let (written, wave) = (arrays.collect(), BTreeMap::new());
        let all = grid.iter().product::<i64>() <= 2 * samples;
        let piece = piece as f64;
        Sum { piece, grid, all, groups: 0.0, seen: Seen::default(), read, written, wave }
    }

    /// A group beside one in every dimension, on sides that take turns, or on both sides where there is but one dimension; and one far
    /// away in the same row, in a dimension that changes with the number. None where all are followed anyway.
    pub(super) fn neighbours(&self, number: usize, group: [i64; 3]) -> Vec<([i64; 3], Part)> {
        let dimensions: Vec<usize> = (0..3).filter(|d| self.grid[*d] > 1).collect();
        let Some(far) = dimensions.get(number % dimensions.len().max(1)).filter(|_| !self.all)
        else {
            return Vec::new();
        };
        let moved = |d: usize, to: i64| {
            let mut next = group;
            next[d] = to;
            next
        };
        let sides = if (number / dimensions.len()).is_multiple_of(2) { [-1, 1] } else { [1, -1] };
        let most = if dimensions.len() == 1 { 2 } else { 1 };
        let mut all = Vec::new();
        for d in &dimensions {
            let beside = sides.map(|side| group[*d] + side);
            let inside = beside.into_iter().filter(|n| (0..self.grid[*d]).contains(n));
            all.extend(inside.take(most).map(|n| (moved(*d, n), Part::Near(*d))));
        }
        // An odd number away, as indices are often taken modulo powers of two.
        let away = (self.grid[*far] * 382 / 1000) | 1;
        all.push((moved(*far, (group[*far] + away) % self.grid[*far]), Part::Far(*far)));
        all
    }

    /// So many of the groups that run at the same time about the middle of the launch; none where all are followed anyway.
    pub(super) fn at_the_same_time(&self, most: i64) -> Vec<[i64; 3]> {
        let wave = at_once(self.grid);
        let count = wave.iter().product::<i64>();
        if self.all || most == 0 || count <= 2 * most {
            return Vec::new();
        }
        let group = |number: i64| {
            let [x, y, _] = wave;
            let inside = [number % x, number / x % y, number / (x * y)];
            std::array::from_fn(|d| (self.grid[d] - wave[d]) / 2 + inside[d])
        };
        // By chance, but the same every time: what is evenly spread may never meet.
        let mut random = fastrand::Rng::with_seed(1);
        (0..most).map(|_| group(random.i64(0..count))).collect()
    }

    /// Adds a warp of those that run at the same time.
    pub(super) fn of_wave(&mut self, warp: Seen) {
        self.seen.work += warp.work;
        for (buffer, pieces) in warp.touched.by_buffer() {
            self.wave.entry(buffer).or_default().add(pieces, 1.0, Part::First);
        }
    }

    /// Adds a group of which some warps were followed; each stands for so many.
    pub(super) fn group(&mut self, warps: Vec<Seen>, times: f64, part: Part) {
        let (mut touched, mut written) = (Touched::default(), Touched::default());
        for warp in warps {
            let to = &mut self.seen;
            add(&mut to.operations, &warp.operations, times);
            add(&mut to.scalar_operations, &warp.scalar_operations, times);
            to.scalar_accesses += warp.scalar_accesses * times;
            to.vector_accesses += warp.vector_accesses * times;
            add(&mut to.chain, &warp.chain, times);
            to.chained += warp.chained * times;
            to.requests += warp.requests * times;
            to.lines += warp.lines * times;
            to.rounds += warp.rounds * times;
            to.pieces += warp.pieces * times;
            to.stored += warp.stored * times;
            to.stored_parts += warp.stored_parts * times;
            to.changed += warp.changed * times;
            to.local += warp.local * times;
            to.barriers += warp.barriers * times;
            to.forks += warp.forks * times;
            to.iterations += warp.iterations * times;
            to.turns += warp.turns * times;
            to.turns_apart += warp.turns_apart * times;
            to.turns_in_all += warp.turns_in_all * times;
            to.turns_of_new += warp.turns_of_new * times;
            to.turns_apart_of_new += warp.turns_apart_of_new * times;
            to.work += warp.work;
            to.assumed.extend(warp.assumed);
            touched.append(warp.touched);
            written.append(warp.written);
        }
        for (into, pieces) in [(&mut self.read, touched), (&mut self.written, written)] {
            let mut pieces: BTreeMap<BufferId, Vec<(i64, f64)>> = pieces.by_buffer().collect();
            for (buffer, all) in into.iter_mut() {
                all.add(pieces.remove(buffer).unwrap_or_default(), times, part);
            }
        }
        self.groups += 1.0;
    }

    /// `warps` of a group do something.
    pub(super) fn counts(
        self,
        group_items: f64,
        warps: f64,
        length: &BTreeMap<BufferId, f64>,
    ) -> Counts {
        let groups = self.grid.iter().product::<i64>() as f64;
        let times = groups / self.groups.max(1.0);
        let scaled = |of: &Operations, times: f64| {
            of.iter().map(|(name, n)| (name.clone(), n * times)).collect::<Operations>()
        };
        let followed = self.groups;
        let traffic = |asked: f64,
                       of: BTreeMap<BufferId, Pieces>,
                       wave_of: &BTreeMap<_, Pieces>| {
            let mut traffic = Traffic { asked: asked * times * self.piece, ..Traffic::default() };
            for (buffer, pieces) in of.into_iter().filter(|(_, pieces)| pieces.are_some()) {
                let pieces = pieces.known();
                let most = length.get(&buffer).copied().unwrap_or(f64::INFINITY);
                let each = pieces.each() * self.piece;
                let distinct = (pieces.distinct(self.grid) * self.piece).min(most);
                // What all groups look up and a unit keeps comes to it once.
                let (own, common) = pieces.own_and_common();
                let is_core = self.piece == LINE as f64;
                let [near, out] = [NEAREST, OWN].map(|(places, ways)| match is_core {
                    true => pieces.crowded(places, ways) * groups,
                    false => 0.0,
                });
                traffic.crowded += near - out;
                traffic.crowded_out += out;
                let most_kept = if is_core { KEPT_BY_CORE } else { KEPT };
                let is_kept = !self.all && out == 0.0 && common * self.piece <= most_kept;
                let (own, common) = match is_kept {
                    true => (own * self.piece, common * self.piece),
                    false => (each, 0.0),
                };
                traffic.by_unit += own * groups;
                traffic.lonely += pieces.lonely() * own * groups;
                traffic.kept += common;
                let wave = at_once(self.grid);
                let waves = groups / wave.iter().product::<i64>() as f64;
                // Neighbours say what is shared with them; warps here and there say what is shared at all.
                let beside = pieces.distinct(wave);
                let running = wave.iter().product::<i64>() * warps as i64;
                let among = wave_of
                    .get(&buffer)
                    .map_or(beside, |some| some.known().distinct([running, 1, 1]));
                let by_wave = (beside.min(among) * self.piece).min(distinct) * waves;
                let by_wave = by_wave.clamp(distinct, (each * groups).max(distinct));
                // What is fetched once and leaves nothing out comes with its neighbours, whoever asks for them.
                let sparse = if distinct < SPARSE * most { distinct } else { 0.0 };
                traffic.scattered += pieces.lonely() * (by_wave - distinct + sparse);
                traffic.by_group += each * groups;
                traffic.by_wave += by_wave;
                traffic.distinct += distinct;
            }
            traffic
        };
        let asked = self.seen.pieces - self.seen.stored;
        let per_warp = 1.0 / (followed * warps).max(1.0);
        Counts {
            group_items,
            groups,
            operations: scaled(&self.seen.operations, times),
            scalar_operations: scaled(&self.seen.scalar_operations, times),
            scalar_accesses: self.seen.scalar_accesses * times,
            vector_accesses: self.seen.vector_accesses * times,
            read: traffic(asked, self.read, &self.wave),
            written: traffic(self.seen.stored, self.written, &BTreeMap::new()),
            requests: self.seen.requests * times,
            lines: self.seen.lines * times,
            rounds: self.seen.rounds * times,
            stored_parts: self.seen.stored_parts * times,
            changed: self.seen.changed * times,
            local_rounds: self.seen.local * times,
            barriers: self.seen.barriers * times,
            iterations: self.seen.iterations * times,
            chains: self.seen.chained / self.seen.chain.values().sum::<f64>().max(1e-9),
            chain: scaled(&self.seen.chain, per_warp),
            warp_requests: self.seen.requests * per_warp,
            warp_barriers: self.seen.barriers * per_warp,
            forks: self.seen.forks * per_warp,
            warp_turns: self.seen.turns * per_warp,
            warp_turns_apart: self.seen.turns_apart * per_warp,
            warp_turns_in_all: self.seen.turns_in_all * per_warp,
            warp_turns_of_new: self.seen.turns_of_new * per_warp,
            warp_turns_apart_of_new: self.seen.turns_apart_of_new * per_warp,
            warps,
            assumed: self.seen.assumed,
            followed: self.seen.work,
            ..Counts::default()
        }
    }
}

fn add(to: &mut Operations, from: &Operations, times: f64) {
    for (name, n) in from {
        *to.entry(name.clone()).or_default() += n * times;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counts::followed::samples;
    use crate::walk::SECTOR;

    /// Of the tiles of a triangle half touch nothing.
    #[test]
    fn groups_that_touch_nothing_count() {
        let mut sum = Sum::new(&[BufferId(0)], SECTOR, [64, 1, 1], 6);
        for number in 0..8 {
            let mut touched = Touched::default();
            if number % 2 == 1 {
                touched.add(BufferId(0), (0..4).map(|piece| (100 * number + piece, 1.0)));
            }
            sum.group(vec![Seen { touched, ..Seen::default() }], 1.0, Part::First);
        }
        let counts = sum.counts(32.0, 1.0, &BTreeMap::new());
        assert_eq!(counts.read.by_group, 64.0 / 2.0 * 4.0 * SECTOR as f64);
    }

    /// Every group reads columns of its own rows, and another one the rest of each piece: not a neighbour, but one that runs at
    /// the same time.
    #[test]
    fn what_is_shared_at_the_same_time_is_found() {
        let mut sum = Sum::new(&[BufferId(0)], SECTOR, [32, 8192, 1], 6);
        let chosen = sum.at_the_same_time(64);
        assert_eq!(chosen.len(), 64);
        let row = (8192 - 32) / 2;
        assert!(
            chosen.iter().all(|[x, y, _]| *x < 32 && (row..row + 32).contains(y)),
            "{chosen:?}"
        );
        assert!(Sum::new(&[BufferId(0)], SECTOR, [4, 2, 1], 6).at_the_same_time(64).is_empty());
        let read = |[x, y, _]: [i64; 3], warp: i64| {
            let row = |lane: i64| (248 * y + 256 * x + 32 * warp + lane) % 8192;
            let mut touched = Touched::default();
            touched.add(BufferId(0), (0..32).map(|lane| (1024 * row(lane) + y / 8, 1.0)));
            Seen { touched, ..Seen::default() }
        };
        let all = |group: [i64; 3]| (0..8).map(|warp| read(group, warp)).collect::<Vec<Seen>>();
        for (k, number) in samples(32 * 8192, 6).into_iter().enumerate() {
            let group = [number % 32, number / 32, 0];
            sum.group(all(group), 1.0, Part::First);
            for (next, part) in sum.neighbours(k, group) {
                sum.group(all(next), 1.0, part);
            }
        }
        for (k, group) in chosen.into_iter().enumerate() {
            sum.of_wave(read(group, k as i64 % 8));
        }
        let counts = sum.counts(256.0, 8.0, &BTreeMap::new());
        // Four bytes of each work-item, where each asked for a whole piece.
        let items = 32.0 * 8192.0 * 256.0;
        let each = counts.read.by_wave / items;
        assert!((2.0..8.0).contains(&each), "{each}");
        assert_eq!(counts.read.by_group, 32.0 * items);
    }

    #[test]
    fn groups_are_followed_beside_others_in_every_dimension() {
        let sum = Sum::new(&[BufferId(0)], SECTOR, [4, 50, 1], 6);
        let (near, far) = (Part::Near, Part::Far);
        let of = |number: usize, group: [i64; 3]| sum.neighbours(number, group);
        let [left, right] = [([0, 7, 0], near(0)), ([2, 7, 0], near(0))];
        let [above, below] = [([1, 6, 0], near(1)), ([1, 8, 0], near(1))];
        assert_eq!(of(0, [1, 7, 0]), [left, above, ([2, 7, 0], far(0))]);
        assert_eq!(of(1, [1, 7, 0]), [left, above, ([1, 26, 0], far(1))]);
        assert_eq!(of(2, [1, 7, 0]), [right, below, ([2, 7, 0], far(0))]);
        assert_eq!(of(2, [3, 7, 0])[0], right);
        let row = Sum::new(&[BufferId(0)], SECTOR, [50, 1, 1], 6).neighbours(0, [7, 0, 0]);
        assert_eq!(row, [([6, 0, 0], near(0)), ([8, 0, 0], near(0)), ([26, 0, 0], far(0))]);
        assert_eq!(Sum::new(&[BufferId(0)], SECTOR, [4, 2, 1], 6).neighbours(0, [0, 0, 0]), []);
    }
}
