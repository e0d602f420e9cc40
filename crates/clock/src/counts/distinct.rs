//! How much of memory a launch touches, from the groups that were followed.

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

/// Of the pieces of some groups, those that another touches too, and all.
#[derive(Clone, Copy, Default)]
struct Both {
    groups: f64,
    shared: f64,
    all: f64,
}

impl Both {
    /// The part that is shared, without what every group touches.
    fn part(&self, hot: f64) -> f64 {
        let (shared, all) = (self.shared - hot * self.groups, self.all - hot * self.groups);
        if all > 0.0 { (shared / all).clamp(0.0, 1.0) } else { 0.0 }
    }
}

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
    /// For how many turns of loops the pieces of those groups stand, summed, and how many pieces these are.
    turns: f64,
    seen: f64,
    /// In each dimension: what groups share that are side by side, and far away in a row.
    near: [Both; 3],
    far: [Both; 3],
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
        let alone = pieces.iter().enumerate().filter(|(k, (piece, _))| is_alone(*k, *piece));
        self.alone += alone.map(|(_, (_, weight))| weight).sum::<f64>();
        let with_last = |both: &mut Both| {
            both.groups += 1.0;
            both.shared += in_both(&pieces, &self.last);
            both.all += all;
        };
        match part {
            Part::Near(d) => self.near.get_mut(d).into_iter().for_each(with_last),
            Part::Far(d) => self.far.get_mut(d).into_iter().for_each(with_last),
            Part::First => {
                self.firsts += 1.0;
                self.apart.extend(&pieces);
                self.last = pieces;
            }
        }
    }

    /// What the groups have in common.
    pub fn known(&self) -> Known<'_> {
        let mut apart = self.apart.clone();
        // The sort keeps the order of equal ones: the weight of a piece is that of the first group.
        apart.sort_by_key(|(piece, _)| *piece);
        let mut met: Vec<Met> = Vec::with_capacity(apart.len());
        for (piece, weight) in apart {
            match met.last_mut() {
                Some(last) if last.piece == piece => last.times += 1.0,
                _ => met.push(Met { piece, weight, times: 1.0 }),
            }
        }
        Known {
            pieces: self,
            shared: self.shared(&met),
            all: met.iter().map(|met| met.weight).sum(),
            span: self.span(&met),
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
    fn shared(&self, met: &[Met]) -> Shared {
        let followed = self.firsts;
        let (mut hot, mut alone, mut several, mut times_several) = (0.0, 0.0, 0.0, 0.0);
        for Met { weight, times, .. } in met {
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
        let alone_of_whole = (several * one / others.max(1e-300)).min(alone);
        let own = (alone - alone_of_whole) / followed;
        let each = (alone_of_whole + times_several) / followed;
        Shared { hot, each, all: alone_of_whole + several, own }
    }

    /// How many there are from the first to the last. The groups that were followed lie in six sevenths of all, and the
    /// turns of their loops in a part of all turns.
    fn span(&self, met: &[Met]) -> f64 {
        match (met.first(), met.last()) {
            (Some(first), Some(last)) => {
                (last.piece - first.piece + 1) as f64 * 7.0 / 6.0 * self.turns / self.seen.max(1.0)
            }
            _ => 0.0,
        }
    }
}

/// A piece that groups far apart touch: the weight it has in the first of them, and how many do.
struct Met {
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
        let grown = grid.iter().zip(of.near).zip(of.far).map(|((n, near), far)| {
            let n = (*n).max(1) as f64;
            // Each group adds what the one beside it does not touch. Pieces here and there may be parts of a whole, which as
            // many groups cover.
            let tiles = 1.0 + (n - 1.0) * (1.0 - near.part(hot));
            let whole = union(1.0, 2.0 - far.part(hot), 2.0, n);
            tiles + self.lonely() * (whole - tiles).min(0.0)
        });
        let side_by_side = hot + (self.each() - hot).max(0.0) * grown.product::<f64>();
        apart.min(side_by_side).min(self.span)
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
}

/// The weights of some pieces that are among others, both in order.
fn in_both(pieces: &[(i64, f64)], others: &[(i64, f64)]) -> f64 {
    let mut others = others.iter().map(|(piece, _)| *piece).peekable();
    let mut sum = 0.0;
    for (piece, weight) in pieces {
        while others.next_if(|other| other < piece).is_some() {}
        if others.peek() == Some(piece) {
            sum += weight;
        }
    }
    sum
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
    use std::collections::BTreeMap;

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
            let (d, near, far) = if x % 2 == 0 { (0, y, y) } else { (1, y + 1, y + 40) };
            pieces.add(of(near), 1.0, Part::Near(d));
            pieces.add(of(far), 1.0, Part::Far(d));
        }
        assert_eq!(pieces.known().distinct([64, 100, 1]), 6400.0);
        assert_eq!(pieces.known().distinct([64, 8, 1]), 512.0);
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

    #[test]
    fn the_whole_is_found_from_what_is_shared() {
        // 8 sets of 100 out of 400 cover 400 (1 - 0.75^8).
        let all = 400.0 * (1.0 - 0.75_f64.powi(8));
        let found = union(100.0, all, 8.0, 1000.0);
        assert!((found - 400.0).abs() < 1.0, "{found}");
    }
}
