//! How much of memory a launch touches, from the groups that were followed.

use std::collections::BTreeMap;

/// Which of the groups that are followed one is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Part {
    /// One of those that are far apart.
    First,
    /// The one beside the last of those, in this dimension.
    Near(usize),
    /// One in the same row as the last of those, far away in this dimension.
    Far(usize),
}

/// In one dimension: how many groups beside one, or far away in its row, were followed, and how many of them touch a piece of it.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Met {
    groups: u8,
    touch: u8,
}

impl Met {
    /// The part that touches it; none where nobody was asked.
    fn part(self) -> f64 {
        f64::from(self.touch) / f64::from(self.groups.max(1))
    }
}

/// What is known of a piece of one group: whether the group does not touch the piece that is fetched with it, and who else touches it.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Kind {
    alone: bool,
    near: [Met; 3],
    far: [Met; 3],
}

/// How many pieces that one group alone was seen to touch are taken to be of the same whole as one that several do, for each group that
/// was followed.
const ALONE_FOR_SHARED: f64 = 3.0;

/// Pieces of one buffer that the groups touch, followed ones alone.
#[derive(Default)]
pub(super) struct Pieces {
    /// Groups, and their pieces summed.
    groups: f64,
    by_group: f64,
    /// Of those, the ones whose neighbour the group does not touch.
    alone: f64,
    /// How many groups are far apart, the pieces of one after the other, and those of the last.
    firsts: f64,
    apart: Vec<(i64, f64)>,
    last: Vec<(i64, f64)>,
    /// Of each of the last, what is known of it by now, and how many there were of each kind before.
    kinds: Vec<Kind>,
    counted: BTreeMap<Kind, f64>,
    /// For how many turns of loops the pieces of those groups stand, summed, and how many pieces these are.
    turns: f64,
    seen: f64,
}

impl Pieces {
    /// Adds a group's pieces, in order, with the turns of loops that each stands for; `warps` like those followed touch as
    /// many.
    pub fn add(&mut self, mut pieces: Vec<(i64, f64)>, warps: f64, part: Part) {
        self.groups += 1.0;
        if part == Part::First {
            self.turns += pieces.iter().map(|(_, turns)| turns).sum::<f64>();
            self.seen += pieces.len() as f64;
        }
        pieces.iter_mut().for_each(|(_, turns)| *turns *= warps);
        let all: f64 = pieces.iter().map(|(_, w)| w).sum();
        self.by_group += all;
        let at = |k: usize| pieces.get(k).map(|(piece, _)| *piece);
        let is_alone = |k: usize, piece: i64| {
            // In order, the one with which it is fetched is beside it.
            let with = if piece & 1 == 0 { at(k + 1) } else { k.checked_sub(1).and_then(at) };
            with != Some(piece ^ 1)
        };
        let alone: Vec<bool> =
            pieces.iter().enumerate().map(|(k, (piece, _))| is_alone(k, *piece)).collect();
        let weights = pieces.iter().zip(&alone).filter(|(_, alone)| **alone);
        self.alone += weights.map(|((_, weight), _)| weight).sum::<f64>();
        match part {
            Part::Near(d) => self.meets(&pieces, |kind| kind.near.get_mut(d)),
            Part::Far(d) => self.meets(&pieces, |kind| kind.far.get_mut(d)),
            Part::First => {
                self.firsts += 1.0;
                self.apart.extend(&pieces);
                self.counted = self.of_each_kind();
                self.last = pieces;
                let kind = |alone: &bool| Kind { alone: *alone, ..Kind::default() };
                self.kinds = alone.iter().map(kind).collect();
            }
        }
    }

    /// Whether a group touches one.
    pub fn are_some(&self) -> bool {
        self.by_group > 0.0
    }

    /// Another group was followed, with these pieces: which of the last's they are is kept with each.
    fn meets(&mut self, pieces: &[(i64, f64)], of: impl Fn(&mut Kind) -> Option<&mut Met>) {
        let mut others = pieces.iter().map(|(piece, _)| *piece).peekable();
        for ((piece, _), kind) in self.last.iter().zip(&mut self.kinds) {
            while others.next_if(|other| other < piece).is_some() {}
            if let Some(met) = of(kind) {
                met.groups += 1;
                met.touch += u8::from(others.peek() == Some(piece));
            }
        }
    }

    /// How many pieces there are of each kind, those of the last group among them.
    fn of_each_kind(&self) -> BTreeMap<Kind, f64> {
        let mut counted = self.counted.clone();
        for ((_, weight), kind) in self.last.iter().zip(&self.kinds) {
            *counted.entry(*kind).or_default() += weight;
        }
        counted
    }

    /// What the groups have in common.
    pub fn known(&self) -> Known<'_> {
        let mut apart = self.apart.clone();
        // The sort keeps the order of equal ones: the weight of a piece is that of the first group.
        apart.sort_by_key(|(piece, _)| *piece);
        let mut met: Vec<Common> = Vec::with_capacity(apart.len());
        for (piece, weight) in apart {
            match met.last_mut() {
                Some(last) if last.piece == piece => last.times += 1.0,
                _ => met.push(Common { piece, weight, times: 1.0 }),
            }
        }
        Known {
            pieces: self,
            shared: self.shared(&met),
            all: met.iter().map(|met| met.weight).sum(),
            span: self.span(&met),
            kinds: self.of_each_kind(),
        }
    }

    /// Of a group.
    fn each(&self) -> f64 {
        self.by_group / self.groups.max(1.0)
    }

    /// The part of what a group touches whose neighbour, with which it would be fetched, it does not touch.
    fn lonely(&self) -> f64 {
        if self.by_group > 0.0 { self.alone / self.by_group } else { 0.0 }
    }

    /// What the groups that were followed share. A piece that only one of them touches may be its own, as in a stream, or one of
    /// a whole of which each touches a part, like a table that is looked up by data. Of a whole, some pieces are touched by
    /// several groups: how often says how large the part is, and so how many of it one group alone touches. The others are
    /// each group's own.
    fn shared(&self, met: &[Common]) -> Shared {
        let followed = self.firsts;
        let (mut hot, mut alone, mut several, mut times_several) = (0.0, 0.0, 0.0, 0.0);
        for Common { weight, times, .. } in met {
            if *times >= followed {
                hot += weight;
            } else if *times <= 1.0 {
                alone += weight;
            } else {
                several += weight;
                times_several += weight * times;
            }
        }
        let n = followed as u32;
        if several <= 0.0 || n < 3 {
            return Shared { hot, each: alone / followed, all: alone, own: 0.0 };
        }
        // The part of a whole that each group touches, where a piece that several do is touched so often.
        let often = times_several / several;
        let (mut low, mut high) = (1e-9, 1.0 - 1e-9);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            let (_, several, times) = touched_by(middle, n);
            if times < often * several { low = middle } else { high = middle }
        }
        let (one, others, _) = touched_by(high, n);
        // Where few groups were followed, a few pieces that were met twice say nothing of very many that were not.
        let alone_for_each = (one / others.max(1e-300)).min(ALONE_FOR_SHARED * followed);
        let alone_of_whole = (several * alone_for_each).min(alone);
        let own = (alone - alone_of_whole) / followed;
        let each = (alone_of_whole + times_several) / followed;
        Shared { hot, each, all: alone_of_whole + several, own }
    }

    /// How many there are from the first to the last. The groups that were followed lie in six sevenths of all, and the
    /// turns of their loops in a part of all turns.
    fn span(&self, met: &[Common]) -> f64 {
        match (met.first(), met.last()) {
            (Some(first), Some(last)) => {
                (last.piece - first.piece + 1) as f64 * 7.0 / 6.0 * self.turns / self.seen.max(1.0)
            }
            _ => 0.0,
        }
    }
}

/// A piece that groups far apart touch: the weight it has in the first of them, and how many do.
struct Common {
    piece: i64,
    weight: f64,
    times: f64,
}

/// Pieces of one buffer, with what the groups that touch them have in common.
pub(super) struct Known<'p> {
    pieces: &'p Pieces,
    shared: Shared,
    /// Of all groups that are far apart.
    all: f64,
    span: f64,
    kinds: BTreeMap<Kind, f64>,
}

impl Known<'_> {
    /// Of a group.
    pub fn each(&self) -> f64 {
        self.pieces.each()
    }

    /// How many different pieces the groups of a grid touch, of which some were followed: what all of those touch, every group
    /// does; the rest is found from how much they share, far apart or side by side, whichever is less.
    pub fn distinct(&self, grid: [i64; 3]) -> f64 {
        let groups = grid.iter().product::<i64>() as f64;
        let of = self.pieces;
        if groups <= of.firsts && of.firsts == of.groups {
            return self.all;
        }
        let Shared { hot, each, all, own } = self.shared;
        let apart = hot + union(each, all, of.firsts, groups) + own * groups;
        // Each group adds what the one beside it does not touch, in each dimension: pieces of a stream in all of them, those of a
        // row or column in one. Pieces here and there may be parts of a whole, which as many groups cover.
        let far = self.far_parts();
        let grown = |kind: &Kind| {
            let each = grid.iter().zip(kind.near).zip(far).map(|((n, near), far)| {
                let n = (*n).max(1) as f64;
                let tiles = 1.0 + (n - 1.0) * (1.0 - near.part());
                if kind.alone { tiles.min(union(1.0, 2.0 - far, 2.0, n)) } else { tiles }
            });
            each.product::<f64>()
        };
        let all: f64 = self.kinds.iter().map(|(kind, weight)| weight * grown(kind)).sum();
        let side_by_side = all / of.firsts.max(1.0);
        apart.min(side_by_side).min(self.span)
    }

    /// Of pieces that are alone, the part that a group far away in the row touches, in each dimension.
    fn far_parts(&self) -> [f64; 3] {
        std::array::from_fn(|d| {
            let (mut touched, mut all) = (0.0, 0.0);
            for (kind, weight) in &self.kinds {
                let far = kind.far.get(d).copied().unwrap_or_default();
                if kind.alone && far.groups > 0 {
                    touched += weight * far.part();
                    all += weight;
                }
            }
            if all > 0.0 { touched / all } else { 0.0 }
        })
    }

    /// How many of a group's pieces are its own, and how many there are of those that it shares with all others.
    pub fn own_and_common(&self) -> (f64, f64) {
        let Shared { hot, each, all, own } = self.shared;
        // Of as many groups as there may ever be.
        (own, hot + union(each, all, self.pieces.firsts, 1e12))
    }

    /// The part of what a group touches whose neighbour, with which it would be fetched, it does not touch.
    pub fn lonely(&self) -> f64 {
        self.pieces.lonely()
    }

    /// How many of a group's pieces crowd in a cache that has so many places of so many ways: those here and there, a power of two
    /// apart or a multiple of it, which share few places, and are more than these hold.
    pub fn crowded(&self, places: i64, ways: f64) -> f64 {
        let of = self.pieces;
        let mut step = 0;
        let mut before = None;
        let mut count = 0.0;
        for ((piece, weight), kind) in of.last.iter().zip(&of.kinds) {
            if !kind.alone {
                continue;
            }
            if let Some(before) = before.replace(*piece) {
                step = common_factor(step, piece - before);
            }
            count += weight;
        }
        let used = places / common_factor(step, places).max(1);
        if used < places && count > ways * used as f64 { count } else { 0.0 }
    }
}

fn common_factor(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { common_factor(b, a % b) }
}

/// What groups touch: of pieces that all do; of a whole of which each has a part, the part and what all that were followed
/// have of it; and of those that each has for itself.
#[derive(Clone, Copy)]
struct Shared {
    hot: f64,
    each: f64,
    all: f64,
    own: f64,
}

/// Where each of n groups touches a piece with a probability: how likely one alone does, several but not all, and by how many it is
/// touched in that case, times how likely that is.
fn touched_by(part: f64, n: u32) -> (f64, f64, f64) {
    let (mut one, mut several, mut times) = (0.0, 0.0, 0.0);
    let mut ways = 1.0;
    for k in 1..n {
        ways *= f64::from(n - k + 1) / f64::from(k);
        let likely = ways * power(part, k.into()) * power(1.0 - part, (n - k).into());
        if k == 1 {
            one = likely;
        } else {
            several += likely;
            times += f64::from(k) * likely;
        }
    }
    (one, several, times)
}

/// How much `groups` sets of a size cover together, where `seen` of them cover `all`: as sets drawn from a whole, whose size
/// is found from what those seen share.
fn union(each: f64, all: f64, seen: f64, groups: f64) -> f64 {
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

    /// Each piece once.
    fn in_order(pieces: impl Iterator<Item = (i64, f64)>) -> Vec<(i64, f64)> {
        pieces.collect::<BTreeMap<i64, f64>>().into_iter().collect()
    }

    #[test]
    fn sets_that_share_nothing_add_up_and_equal_ones_are_one() {
        assert_eq!(union(10.0, 80.0, 8.0, 100.0), 1000.0);
        assert_eq!(union(10.0, 10.0, 8.0, 100.0), 10.0);
    }

    /// A group that streams and looks up a table: neither hides the other.
    #[test]
    fn a_stream_beside_a_table_counts_for_every_group() {
        let mut pieces = Pieces::default();
        let mut random = fastrand::Rng::with_seed(3);
        for group in 0..6_i64 {
            let table = (0..1000).map(|_| random.i64(0..1000));
            let stream = (0..100).map(|k| 1_000_000 + 1_000_000 * group + k);
            let touched = in_order(table.chain(stream).map(|p| (p, 1.0)));
            pieces.add(touched, 1.0, Part::First);
        }
        let (own, common) = pieces.known().own_and_common();
        assert!((own / 100.0 - 1.0).abs() < 0.05, "{own}");
        assert!((common / 1000.0 - 1.0).abs() < 0.05, "{common}");
        let all = pieces.known().distinct([1000, 1, 1]);
        assert!((all / 101_000.0 - 1.0).abs() < 0.05, "{all}");
    }

    /// What changes with one coordinate alone is the same for all groups in a row.
    #[test]
    fn groups_in_a_row_share() {
        let mut pieces = Pieces::default();
        let of = |y: i64| in_order((0..64).map(|k| (64 * y + k, 1.0)));
        for (x, y) in [(3, 2), (40, 97), (21, 50), (60, 33)] {
            pieces.add(of(y), 1.0, Part::First);
            pieces.add(of(y), 1.0, Part::Near(0));
            pieces.add(of(y + 1), 1.0, Part::Near(1));
            let (d, far) = if x % 2 == 0 { (0, y) } else { (1, y + 40) };
            pieces.add(of(far), 1.0, Part::Far(d));
        }
        assert_eq!(pieces.known().distinct([64, 100, 1]), 6400.0);
        assert_eq!(pieces.known().distinct([64, 8, 1]), 512.0);
    }

    /// A group reads its own tile, and much more of what all groups in its row and column touch: the tiles are all different.
    #[test]
    fn a_stream_beside_what_neighbours_share_counts_for_every_group() {
        let mut pieces = Pieces::default();
        let of = |x: i64, y: i64| {
            let own = (0..4).map(|k| 1_000_000 + 4 * (64 * y + x) + k);
            let near = (0..60).map(|k| 1000 * (x / 16) + 8000 * (y / 16) + 2 * k);
            in_order(own.chain(near).map(|p| (p, 1.0)))
        };
        for (x, y) in [(3, 2), (40, 57), (21, 50), (60, 33)] {
            pieces.add(of(x, y), 1.0, Part::First);
            pieces.add(of(x - 1, y), 1.0, Part::Near(0));
            pieces.add(of(x, y - 1), 1.0, Part::Near(1));
        }
        let all = pieces.known().distinct([64, 64, 1]);
        assert!(all >= 4.0 * 64.0 * 64.0, "{all}");
    }

    /// Two groups in a row have a sector, and the next two another.
    #[test]
    fn what_two_groups_share_is_not_everybodys() {
        let mut pieces = Pieces::default();
        let of = |x: i64| in_order((0..64).map(|k| (1000 * k + x / 2, 1.0)));
        for x in [10, 20, 31, 40] {
            pieces.add(of(x), 1.0, Part::First);
            pieces.add(of(x - 1), 1.0, Part::Near(0));
            pieces.add(of(x + 1), 1.0, Part::Near(0));
            pieces.add(of((x + 39) % 100), 1.0, Part::Far(0));
        }
        let all = pieces.known().distinct([100, 1, 1]);
        assert!((all / 3200.0 - 1.0).abs() < 0.02, "{all}");
    }

    #[test]
    fn neighbours_are_fetched_together() {
        let lonely = |step: i64| {
            let mut pieces = Pieces::default();
            pieces.add((0..100).map(|k| (step * k, 1.0)).collect(), 1.0, Part::First);
            pieces.lonely()
        };
        assert_eq!((lonely(1), lonely(2), lonely(8)), (0.0, 1.0, 1.0));
    }

    /// Most of what groups touch is their own, in all of memory, and a little of it comes from a small table.
    #[test]
    fn a_small_whole_is_not_all() {
        let mut pieces = Pieces::default();
        let mut random = fastrand::Rng::with_seed(3);
        for group in 0..6 {
            let table = (0..30).map(|_| random.i64(0..100));
            let own = (0..1000).map(|k| 1000 + 3_000_000 * group + 2 * k);
            pieces.add(in_order(table.chain(own).map(|p| (p, 1.0))), 1.0, Part::First);
        }
        let all = pieces.known().distinct([10_000, 1, 1]);
        assert!(all >= 9.0e6, "{all}");
    }

    /// Small parts of a whole, most of which one group alone touches.
    #[test]
    fn a_sparse_part_is_no_stream() {
        let mut pieces = Pieces::default();
        let mut random = fastrand::Rng::with_seed(5);
        for _ in 0..6 {
            let part = (0..2000).map(|_| (random.i64(0..20_000), 1.0));
            pieces.add(in_order(part), 1.0, Part::First);
        }
        let all = pieces.known().distinct([1000, 1, 1]);
        assert!((0.8..1.2).contains(&(all / 20_000.0)), "{all}");
    }

    /// A long loop strides over memory, and some of its turns are followed: they stand for a stream as long as all.
    #[test]
    fn turns_that_are_not_followed_go_on() {
        let mut pieces = Pieces::default();
        for group in [10, 400, 900, 620, 230, 777] {
            let turns = (24..40).map(|turn| (1024 * turn + group, 4.0));
            pieces.add(turns.collect(), 1.0, Part::First);
        }
        assert_eq!(pieces.known().distinct([1024, 1, 1]), 64.0 * 1024.0);
    }

    /// A column of a matrix whose rows are 64 lines long comes to one place in 64; one of 65 lines to all of them.
    #[test]
    fn lines_a_power_of_two_apart_crowd() {
        let column = |step: i64, rows: i64| {
            let mut pieces = Pieces::default();
            pieces.add((0..rows).map(|k| (step * k, 2.0)).collect(), 1.0, Part::First);
            pieces.known().crowded(1024, 16.0)
        };
        assert_eq!(column(64, 128), 0.0);
        assert_eq!(column(64, 129), 258.0);
        assert_eq!(column(65, 129), 0.0);
        assert_eq!(column(1, 20_000), 0.0);
    }

    #[test]
    fn the_whole_is_found_from_what_is_shared() {
        // 8 sets of 100 out of 400 cover 400 (1 - 0.75^8).
        let all = 400.0 * (1.0 - 0.75_f64.powi(8));
        let found = union(100.0, all, 8.0, 1000.0);
        assert!((found - 400.0).abs() < 1.0, "{found}");
    }
}
