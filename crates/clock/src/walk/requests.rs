//! What one request of a warp asks of memory: the pieces that it touches, and the banks.
//!
//! Most requests of an access are like one before, somewhere else: the lanes are as far from each other and begin at the same
//! place of a line. They touch as much of every cache, and as many banks.

use std::collections::hash_map::Entry;

use super::{LANES, LINE_SECTORS, Lanes, Mask};
use lift_ir::QuickMap;
use lift_kernel::Access;

/// What an access is about: the bytes of a scalar and of what a lane asks for, and those of a piece of memory.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub scalar: i64,
    pub bytes: i64,
    pub piece: i64,
}

impl Place {
    /// The piece that a byte lies in. Pieces are powers of two, and a shift rounds down.
    fn piece_of(self, byte: i64) -> i64 {
        byte >> self.piece.trailing_zeros()
    }
}

/// What a request asks for, and whether the same walk asked for the same pieces by this access just before.
pub(super) struct Request<'r> {
    pub asked: &'r Asked,
    /// How far the pieces are moved from those that are told.
    pub moved: i64,
    pub again: bool,
}

/// What a request asks for.
#[derive(Default)]
pub(super) struct Asked {
    /// In order, each once.
    pub pieces: Vec<i64>,
    /// Lines of the nearest cache.
    pub lines: f64,
    /// Rounds of the banks until all lanes have their words: one brings a word to each of them, whoever else asked for it.
    pub rounds: f64,
    /// Pieces of which the lanes ask for a part alone.
    pub parts: f64,
}

/// Requests that were looked at, by access and by where in a line the first lane is.
#[derive(Default)]
pub(super) struct Requests {
    known: QuickMap<(*const Access, i64), Known>,
    one: Asked,
    /// The number of the walk.
    walk: u32,
}

struct Known {
    mask: Mask,
    index: Lanes,
    /// All of them are near.
    is_near: bool,
    asked: Asked,
    /// Where it was asked for last, in which walk.
    last: Option<(u32, i64)>,
}

/// Beyond this an address is not believed.
const FAR: i64 = 1 << 48;

impl Requests {
    /// What was asked for before counts no more.
    pub fn begin(&mut self) {
        self.walk += 1;
    }

    /// What the lanes of a mask ask for.
    pub fn of(&mut self, access: &Access, index: &Lanes, mask: &Mask, of: Place) -> Request<'_> {
        if let Lanes::Same(index) = index {
            // All lanes ask for the same.
            let from = index.saturating_mul(of.scalar);
            let pieces = of.piece_of(from)..=of.piece_of(from + of.bytes - 1);
            self.one.pieces.clear();
            self.one.pieces.extend(pieces);
            self.one.lines = lines(&self.one.pieces);
            self.one.rounds = words_of(of.bytes);
            self.one.parts = self.one.pieces.len() as f64;
            return Request { asked: &self.one, moved: 0, again: false };
        }
        // Bytes after which lines begin anew, and banks with them.
        let row = LINE_SECTORS * of.piece;
        let first = index.first();
        let key = (std::ptr::from_ref(access), first.wrapping_mul(of.scalar).rem_euclid(row));
        let (known, is_new) = match self.known.entry(key) {
            Entry::Occupied(known) => (known.into_mut(), false),
            Entry::Vacant(new) => (new.insert(Known::of(index, mask, of)), true),
        };
        let apart = first.saturating_sub(known.index.first());
        let is_like = is_new
            || known.is_near
                && known.mask == *mask
                && is_moved(&known.index, index, apart)
                && (apart * of.scalar) % row == 0;
        if !is_like {
            *known = Known::of(index, mask, of);
        }
        let moved = if is_like { apart * of.scalar / of.piece } else { 0 };
        let again = known.last.replace((self.walk, moved)) == Some((self.walk, moved));
        Request { asked: &known.asked, moved, again }
    }
}

fn is_near(n: i64) -> bool {
    (0..FAR).contains(&n)
}

/// Whether all lanes are so much further than others that are near, and near, too.
fn is_moved(old: &Lanes, new: &Lanes, apart: i64) -> bool {
    match (old, new) {
        (Lanes::Even { step: old, .. }, Lanes::Even { first, step }) => {
            old == step && is_near(*first) && is_near(first + step * (LANES as i64 - 1))
        }
        _ => old.all().iter().zip(new.all()).all(|(old, new)| is_near(new) && new - old == apart),
    }
}

impl Known {
    fn of(index: &Lanes, mask: &Mask, of: Place) -> Known {
        let lanes = index.all();
        Known {
            mask: *mask,
            index: index.clone(),
            is_near: lanes.iter().all(|n| is_near(*n)),
            asked: Asked::of(&lanes, mask, of),
            last: None,
        }
    }
}

impl Asked {
    fn of(index: &[i64; LANES], mask: &Mask, of: Place) -> Asked {
        let active = index.iter().zip(mask).filter(|(_, m)| **m).map(|(n, _)| *n);
        // Where each lane's bytes begin, in order, so that words and pieces are, too.
        let mut from: Vec<i64> = active.map(|n| n.saturating_mul(of.scalar)).collect();
        ascending(&mut from);
        let mut pieces: Vec<i64> = Vec::with_capacity(LANES);
        for from in &from {
            let first = of.piece_of(*from);
            let first = pieces.last().map_or(first, |last| first.max(last + 1));
            pieces.extend(first..=of.piece_of(from + of.bytes - 1));
        }
        let rounds = bank_rounds(from.iter().map(|from| from / 4), of.bytes);
        let parts = pieces.len() as f64 - whole_pieces(&from, &pieces, of);
        Asked { lines: lines(&pieces), pieces, rounds: rounds.max(words_of(of.bytes)), parts }
    }
}

/// How many pieces, in order, are asked for to the last byte, from where each lane's bytes begin, in order.
fn whole_pieces(from: &[i64], pieces: &[i64], of: Place) -> f64 {
    let mut begin = 0;
    let mut whole = 0.0;
    for piece in pieces {
        let (first, end) = (piece * of.piece, (piece + 1) * of.piece);
        while from.get(begin).is_some_and(|at| at + of.bytes <= first) {
            begin += 1;
        }
        let mut next = first;
        for at in from.iter().skip(begin).take_while(|at| **at < end) {
            if *at > next {
                break;
            }
            next = next.max(at + of.bytes);
        }
        whole += f64::from(u8::from(next >= end));
    }
    whole
}

/// How many lines there are of pieces in order.
fn lines(pieces: &[i64]) -> f64 {
    let line = |piece: &i64| piece.div_euclid(LINE_SECTORS);
    pieces.chunk_by(|a, b| line(a) == line(b)).count() as f64
}

/// Words of so many bytes.
fn words_of(bytes: i64) -> f64 {
    (bytes / 4).max(1) as f64
}

/// How often the banks of a memory near a unit are asked until every lane has its words, which begin at these, in order.
fn bank_rounds(words: impl Iterator<Item = i64>, bytes: i64) -> f64 {
    const BANKS: usize = 32;
    let each = (bytes / 4).max(1);
    let mut load = [0u32; BANKS];
    let mut next = i64::MIN;
    for word in words {
        // What the lane before asked for is there already.
        for own in word.max(next)..word + each {
            load[own.rem_euclid(BANKS as i64) as usize] += 1;
        }
        next = next.max(word + each);
    }
    f64::from(load.iter().copied().max().unwrap_or(0).max(1))
}

/// Each number once, the least first.
fn ascending(numbers: &mut Vec<i64>) {
    if !numbers.is_sorted() {
        numbers.sort_unstable();
    }
    numbers.dedup();
}

#[cfg(test)]
mod tests {
    use lift_ir::Nat;
    use lift_kernel::BufferId;

    use super::*;

    /// Word by word, as the banks see them.
    fn counted(words: &[i64], each: i64) -> f64 {
        let all: std::collections::BTreeSet<i64> =
            words.iter().flat_map(|word| *word..word + each).collect();
        let bank = |b: i64| all.iter().filter(|word| word.rem_euclid(32) == b).count();
        (0..32).map(bank).max().unwrap_or(0).max(1) as f64
    }

    /// Pieces that are asked for in part, byte by byte.
    fn in_part(lanes: &[i64], of: Place) -> f64 {
        let bytes: std::collections::BTreeSet<i64> =
            lanes.iter().flat_map(|n| n * of.scalar..n * of.scalar + of.bytes).collect();
        let pieces: std::collections::BTreeSet<i64> =
            bytes.iter().map(|byte| byte.div_euclid(of.piece)).collect();
        let is_part = |piece: &&i64| {
            !(**piece * of.piece..(**piece + 1) * of.piece).all(|byte| bytes.contains(&byte))
        };
        pieces.iter().filter(is_part).count() as f64
    }

    /// The first element of an array.
    fn first() -> Access {
        Access {
            buffer: BufferId(0),
            index: Nat::int(0),
            stage: Nat::int(0),
            items: Vec::new(),
            width: 1,
            aligned: true,
        }
    }

    /// A request that is like one before asks for what it would ask for by itself.
    #[test]
    fn requests_that_are_alike_are_looked_at_once() {
        let mut random = fastrand::Rng::with_seed(7);
        let access = first();
        for of in [(4, 4, 32), (4, 16, 32), (8, 8, 64), (2, 2, 32), (1, 1, 64), (12, 12, 32)] {
            let (scalar, bytes, piece) = of;
            let of = Place { scalar, bytes, piece };
            let mut requests = Requests::default();
            for _ in 0..400 {
                let (base, step) = (random.i64(0..500), random.i64(0..9));
                let active = random.usize(1..=LANES);
                let mask = std::array::from_fn(|k| k < active);
                let even = random.bool();
                let index = match even {
                    true => Lanes::even(base, step),
                    false => Lanes::each(|k| base + step * (k as i64 % 16) - 20),
                };
                let lanes = index.all();
                let Request { asked, moved, .. } = requests.of(&access, &index, &mask, of);
                let alone = Asked::of(&lanes, &mask, of);
                let pieces: Vec<i64> = asked.pieces.iter().map(|p| p + moved).collect();
                assert_eq!(pieces, alone.pieces, "{lanes:?} of {scalar} bytes");
                assert_eq!((asked.lines, asked.rounds), (alone.lines, alone.rounds));
                assert_eq!(asked.parts, alone.parts);
                assert_eq!(alone.parts, in_part(&lanes[..active], of), "{lanes:?} of {scalar}");
            }
            let same = std::array::from_fn(|_| 77);
            let asked = requests.of(&access, &Lanes::Same(77), &[true; LANES], of).asked;
            let alone = Asked::of(&same, &[true; LANES], of);
            assert_eq!(asked.pieces, alone.pieces);
            assert_eq!((asked.lines, asked.rounds), (alone.lines, alone.rounds));
        }
    }

    /// What an access asks for again in the same walk was put down already; elsewhere, or by another walk, it was not.
    #[test]
    fn pieces_that_are_asked_for_again_are_told() {
        let access = first();
        let of = Place { scalar: 4, bytes: 4, piece: 32 };
        let mut requests = Requests::default();
        let mut again = |first: i64, lanes: usize| {
            let mask = std::array::from_fn(|k| k < lanes);
            requests.of(&access, &Lanes::even(first, 1), &mask, of).again
        };
        let seen = [(0, 32), (0, 32), (32, 32), (32, 32), (0, 32), (0, 7), (0, 7)];
        let told = seen.map(|(first, lanes)| again(first, lanes));
        assert_eq!(told, [false, true, false, true, false, false, true]);
        requests.begin();
        assert!(!requests.of(&access, &Lanes::even(0, 1), &[true; LANES], of).again);
    }

    #[test]
    fn banks_are_asked_once_for_each_word() {
        let spread = |a: i64, b: i64| (0..32).map(|k| (k * a) % b).collect::<Vec<i64>>();
        let cases =
            [spread(1, 99), spread(32, 9999), spread(7, 20), spread(-3, 50), spread(5, 1), vec![]];
        for case in cases {
            for each in [1, 2, 4] {
                let mut ordered = case.clone();
                ordered.sort_unstable();
                let found = bank_rounds(ordered.into_iter(), 4 * each);
                assert_eq!(found, counted(&case, each), "{case:?} of {each}");
            }
        }
    }
}
