//! Accesses of memory, and what they add to what was seen.

use lift_ir::Space;
use lift_kernel::{Access, Runs};

use lift_nat::Lanes::Each;

use super::requests::Place;
use super::{LINE, Lanes, Mask, SECTOR, Walk};

impl<'k> Walk<'k> {
    pub(super) fn access(&mut self, access: &'k Access, mask: Mask, weight: f64, store: bool) {
        let still = self.changing.has_index(&access.index);
        let weight = if still { weight } else { weight * self.moved };
        // What is moved out of a loop touches memory once, and not in each of the turns that are followed.
        let touches = if still { weight } else { weight * self.followed };
        self.seen.work += 1;
        let Some(buffer) = self.buffers.get(&access.buffer).copied() else { return };
        let in_registers = buffer.space == Space::Private && self.is_constant(&access.index);
        if self.kernel.runs == Runs::Loops && !self.vector && !in_registers {
            self.seen.scalar_accesses += weight * mask.iter().filter(|m| **m).count() as f64;
        }
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
            let length = self.nat(&buffer.total()).map_or(1 << 20, |l| l.first()).max(1);
            self.anywhere(length)
        });
        let piece = if self.kernel.runs == Runs::Threads { SECTOR } else { LINE };
        let of = Place { scalar, bytes, piece };
        if buffer.space == Space::Local {
            let (asked, _) = self.tally.requests.of(access, &index, &mask, of);
            self.seen.local += weight * asked.rounds;
            return;
        }
        let (asked, moved) = self.tally.requests.of(access, &index, &mask, of);
        self.seen.requests += weight;
        if !store && (still || self.depth == 0) {
            self.seen.loads += weight;
        }
        self.seen.pieces += weight * asked.pieces.len() as f64;
        self.seen.lines += weight * asked.lines;
        self.seen.rounds += weight * asked.rounds;
        if store {
            self.seen.stored += weight * asked.pieces.len() as f64;
            self.seen.stored_parts += weight * asked.parts;
        }
        let into = if store { &mut self.seen.written } else { &mut self.seen.touched };
        into.add(access.buffer, asked.pieces.iter().map(|part| (part + moved, touches)));
    }

    /// Indices spread over an array, the same each time.
    pub(super) fn anywhere(&self, length: i64) -> Lanes {
        let seed =
            self.sample.first.wrapping_mul(7919) + self.sample.group[0].wrapping_mul(104_729);
        Each(std::array::from_fn(|k| {
            let n =
                (seed + i64::from(self.steps) * 31 + k as i64).wrapping_mul(0x09E3_779B_97F4_A7C1);
            n.rem_euclid(length)
        }))
    }
}
