//! Accesses of memory: the sectors that a warp asks for, and the banks.

use lift_ir::Space;
use lift_kernel::{Access, Runs};

use super::{LANES, LINE, LINE_SECTORS, Lanes, Mask, SECTOR, Walk};

impl<'k> Walk<'k> {
    pub(super) fn access(&mut self, access: &'k Access, mask: Mask, weight: f64, store: bool) {
        let still = self.changing.has_index(&access.index);
        let weight = if still { weight } else { weight * self.moved };
        // What is moved out of a loop touches memory once, and not in each of the turns that are followed.
        let touches = if still { weight } else { weight * self.followed };
        self.seen.work += 1;
        let Some(buffer) = self.buffers.get(&access.buffer).copied() else { return };
        if buffer.space == Space::Private {
            return;
        }
        self.index(&access.index, mask, weight);
        let scalar = buffer.scalar.bytes() as i64;
        let bytes = scalar * i64::from(access.width.max(1));
        let index = self.nat(&access.index);
        if index.is_none() {
            self.seen.assumed.insert(format!("`{}` is read anywhere, by data", buffer.name));
        }
        let index = index.unwrap_or_else(|| {
            let length = self.nat(&buffer.total()).map_or(1 << 20, |l| l[0]).max(1);
            self.anywhere(length)
        });
        let active = || (0..LANES).filter(|k| mask[*k]);
        let mut words = [0; LANES];
        let mut lanes = 0;
        for k in active() {
            words[lanes] = index[k].saturating_mul(scalar) / 4;
            lanes += 1;
        }
        let words = &mut words[..lanes];
        if buffer.space == Space::Local {
            self.seen.local += weight * bank_rounds(words, bytes);
            return;
        }
        let piece = if self.kernel.runs == Runs::Threads { SECTOR } else { LINE };
        let mut pieces: Vec<i64> = Vec::with_capacity(LANES);
        for k in active() {
            let from = index[k].saturating_mul(scalar);
            for part in from.div_euclid(piece)..=(from + bytes - 1).div_euclid(piece) {
                if pieces.last() != Some(&part) {
                    pieces.push(part);
                }
            }
        }
        ascending(&mut pieces);
        self.seen.requests += weight;
        if !store && (still || self.depth == 0) {
            self.seen.loads += weight;
        }
        self.seen.pieces += weight * pieces.len() as f64;
        let mut lines: Vec<i64> = pieces.iter().map(|p| p.div_euclid(LINE_SECTORS)).collect();
        lines.dedup();
        self.seen.lines += weight * lines.len() as f64;
        self.seen.rounds += weight * bank_rounds(words, bytes);
        if store {
            self.seen.stored += weight * pieces.len() as f64;
        }
        let into = if store { &mut self.seen.written } else { &mut self.seen.touched };
        for part in pieces {
            into.entry((access.buffer, part)).or_insert(touches);
        }
    }

    /// Indices spread over an array, the same each time.
    pub(super) fn anywhere(&self, length: i64) -> Lanes {
        let seed =
            self.sample.first.wrapping_mul(7919) + self.sample.group[0].wrapping_mul(104_729);
        std::array::from_fn(|k| {
            let n =
                (seed + i64::from(self.steps) * 31 + k as i64).wrapping_mul(0x09E3_779B_97F4_A7C1);
            n.rem_euclid(length)
        })
    }
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
    use super::*;

    /// Word by word, as the banks see them.
    fn counted(words: &[i64], each: i64) -> f64 {
        let all: std::collections::BTreeSet<i64> =
            words.iter().flat_map(|word| *word..word + each).collect();
        let bank = |b: i64| all.iter().filter(|word| word.rem_euclid(32) == b).count();
        (0..32).map(bank).max().unwrap_or(0).max(1) as f64
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
