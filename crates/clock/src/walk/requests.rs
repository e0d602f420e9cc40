//! What one request of a warp asks of memory: the pieces that it touches, and the banks.
//!
//! Most requests of an access are like one before, somewhere else: the lanes are as far from each other and begin at the same
//! place of a line. They touch as much of every cache, and as many banks.

use lift_ir::QuickMap;
use lift_kernel::Access;
use lift_nat::Lanes as Each;

use super::{LANES, LINE_SECTORS, Lanes, Mask};

/// What an access is about: the bytes of a scalar and of what a lane asks for, and those of a piece of memory.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub scalar: i64,
    pub bytes: i64,
    pub piece: i64,
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
}

struct Known {
    mask: Mask,
    index: [i64; LANES],
    asked: Asked,
}

/// Beyond this an address is not believed.
const FAR: i64 = 1 << 48;

impl Requests {
    /// What the lanes of a mask ask for, and how far the pieces are moved from those that are told.
    pub fn of(&mut self, access: &Access, index: &Lanes, mask: &Mask, of: Place) -> (&Asked, i64) {
        let index = match index {
            // All lanes ask for the same.
            Each::Same(index) => {
                let from = index.saturating_mul(of.scalar);
                let pieces = from.div_euclid(of.piece)..=(from + of.bytes - 1).div_euclid(of.piece);
                self.one.pieces.clear();
                self.one.pieces.extend(pieces);
                self.one.lines = lines(&self.one.pieces);
                self.one.rounds = words_of(of.bytes);
                self.one.parts = self.one.pieces.len() as f64;
                return (&self.one, 0);
            }
            Each::Each(lanes) => lanes,
        };
        // Bytes after which lines begin anew, and banks with them.
        let row = LINE_SECTORS * of.piece;
        let first = index.first().copied().unwrap_or(0);
        let key = (std::ptr::from_ref(access), first.wrapping_mul(of.scalar).rem_euclid(row));
        let is_near = index.iter().all(|n| (0..FAR).contains(n));
        let known = self.known.entry(key).or_insert_with(|| Known {
            mask: *mask,
            index: *index,
            asked: Asked::of(index, mask, of),
        });
        let apart = first - known.index.first().copied().unwrap_or(0);
        let is_like = is_near
            && known.mask == *mask
            && known.index.iter().zip(index).all(|(old, new)| new - old == apart)
            && (apart * of.scalar) % row == 0
            && known.index.iter().all(|n| *n >= 0);
        if is_like {
            return (&known.asked, apart * of.scalar / of.piece);
        }
        *known = Known { mask: *mask, index: *index, asked: Asked::of(index, mask, of) };
        (&known.asked, 0)
    }
}

impl Asked {
    fn of(index: &[i64; LANES], mask: &Mask, of: Place) -> Asked {
        let active = || index.iter().zip(mask).filter(|(_, m)| **m).map(|(n, _)| *n);
        let mut words: Vec<i64> = active().map(|n| n.saturating_mul(of.scalar) / 4).collect();
        let mut pieces: Vec<i64> = Vec::with_capacity(LANES);
        for n in active() {
            let from = n.saturating_mul(of.scalar);
            for part in from.div_euclid(of.piece)..=(from + of.bytes - 1).div_euclid(of.piece) {
                if pieces.last() != Some(&part) {
                    pieces.push(part);
                }
            }
        }
        ascending(&mut pieces);
        let rounds = bank_rounds(&mut words, of.bytes).max(words_of(of.bytes));
        let whole = active().map(|n| n.saturating_mul(of.scalar)).collect();
        let parts = pieces.len() as f64 - whole_pieces(whole, &pieces, of);
        Asked { lines: lines(&pieces), pieces, rounds, parts }
    }
}

/// How many pieces, in order, are asked for to the last byte, from where each lane's bytes begin.
fn whole_pieces(mut from: Vec<i64>, pieces: &[i64], of: Place) -> f64 {
    ascending(&mut from);
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
    let mut lines: Vec<i64> = pieces.iter().map(|p| p.div_euclid(LINE_SECTORS)).collect();
    lines.dedup();
    lines.len() as f64
}

/// Words of so many bytes.
fn words_of(bytes: i64) -> f64 {
    (bytes / 4).max(1) as f64
}

/// How often the banks of a memory near a unit are asked until every lane has its words.
fn bank_rounds(words: &mut [i64], bytes: i64) -> f64 {
    const BANKS: usize = 32;
    let each = (bytes / 4).max(1);
    if !words.is_sorted() {
        words.sort_unstable();
    }
    let mut load = [0u32; BANKS];
    let mut next = i64::MIN;
    for word in words.iter() {
        // What the lane before asked for is there already.
        for own in (*word).max(next)..word + each {
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

    /// A request that is like one before asks for what it would ask for by itself.
    #[test]
    fn requests_that_are_alike_are_looked_at_once() {
        let mut random = fastrand::Rng::with_seed(7);
        let access = Access {
            buffer: BufferId(0),
            index: Nat::int(0),
            stage: Nat::int(0),
            items: Vec::new(),
            width: 1,
            aligned: true,
        };
        for of in [(4, 4, 32), (4, 16, 32), (8, 8, 64), (2, 2, 32), (1, 1, 64), (12, 12, 32)] {
            let (scalar, bytes, piece) = of;
            let of = Place { scalar, bytes, piece };
            let mut requests = Requests::default();
            for _ in 0..400 {
                let (base, step) = (random.i64(0..500), random.i64(0..9));
                let lanes = std::array::from_fn(|k| base + step * (k as i64 % 16) - 20);
                let active = random.usize(1..=LANES);
                let mask = std::array::from_fn(|k| k < active);
                let (asked, moved) = requests.of(&access, &Each::Each(lanes), &mask, of);
                let alone = Asked::of(&lanes, &mask, of);
                let pieces: Vec<i64> = asked.pieces.iter().map(|p| p + moved).collect();
                assert_eq!(pieces, alone.pieces, "{lanes:?} of {scalar} bytes");
                assert_eq!((asked.lines, asked.rounds), (alone.lines, alone.rounds));
                assert_eq!(asked.parts, alone.parts);
                assert_eq!(alone.parts, in_part(&lanes[..active], of), "{lanes:?} of {scalar}");
            }
            let same = std::array::from_fn(|_| 77);
            let (asked, _) = requests.of(&access, &Each::Same(77), &[true; LANES], of);
            let alone = Asked::of(&same, &[true; LANES], of);
            assert_eq!(asked.pieces, alone.pieces);
            assert_eq!((asked.lines, asked.rounds), (alone.lines, alone.rounds));
        }
    }

    #[test]
    fn banks_are_asked_once_for_each_word() {
        let spread = |a: i64, b: i64| (0..32).map(|k| (k * a) % b).collect::<Vec<i64>>();
        let cases =
            [spread(1, 99), spread(32, 9999), spread(7, 20), spread(-3, 50), spread(5, 1), vec![]];
        for case in cases {
            for each in [1, 2, 4] {
                let found = bank_rounds(&mut case.clone(), 4 * each);
                assert_eq!(found, counted(&case, each), "{case:?} of {each}");
            }
        }
    }
}
