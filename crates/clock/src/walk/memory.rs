//! Accesses of memory: the sectors that a warp asks for, and the banks.

use std::collections::BTreeSet;

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
        let length = self.nat(&buffer.total()).map_or(1 << 20, |l| l[0]).max(1);
        let index = index.unwrap_or_else(|| self.anywhere(length));
        let active = || (0..LANES).filter(|k| mask[*k]);
        if buffer.space == Space::Local {
            let words: Vec<i64> = active().map(|k| index[k] * scalar / 4).collect();
            self.seen.local += weight * bank_rounds(&words, bytes);
            return;
        }
        let piece = if self.kernel.runs == Runs::Threads { SECTOR } else { LINE };
        let mut pieces = BTreeSet::new();
        for k in active() {
            let from = index[k].saturating_mul(scalar);
            for part in from.div_euclid(piece)..=(from + bytes - 1).div_euclid(piece) {
                pieces.insert(part);
            }
        }
        self.seen.requests += weight;
        if !store && (still || self.depth == 0) {
            self.seen.loads += weight;
        }
        self.seen.pieces += weight * pieces.len() as f64;
        let lines: BTreeSet<i64> = pieces.iter().map(|p| p.div_euclid(LINE_SECTORS)).collect();
        let words: Vec<i64> = active().map(|k| index[k].saturating_mul(scalar) / 4).collect();
        self.seen.lines += weight * lines.len() as f64;
        self.seen.rounds += weight * bank_rounds(&words, bytes);
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
fn bank_rounds(words: &[i64], bytes: i64) -> f64 {
    const BANKS: usize = 32;
    let each = (bytes / 4).max(1);
    let mut distinct: Vec<i64> = words.iter().flat_map(|word| *word..word + each).collect();
    distinct.sort_unstable();
    distinct.dedup();
    let mut load = [0u32; BANKS];
    for word in distinct {
        load[word.rem_euclid(BANKS as i64) as usize] += 1;
    }
    f64::from(load.iter().copied().max().unwrap_or(0).max(1))
}
