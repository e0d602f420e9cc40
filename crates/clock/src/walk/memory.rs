//! Accesses of memory, and what they add to what was seen.

use lift_ir::Space;
use lift_kernel::{Access, Runs};

use super::expressions::REGISTER;
use super::requests::{Place, Request};
use super::{LINE, Lanes, Mask, SECTOR, Walk};
use crate::operations;

impl<'k> Walk<'k> {
    pub(super) fn access(&mut self, access: &'k Access, mask: Mask, weight: f64, store: bool) {
        let changes = self.changing.has_access(access);
        let weight = if changes { weight } else { weight * self.moved };
        // What is moved out of a loop touches memory once, and not in each of the turns that are followed.
        let touches = if changes { weight } else { weight * self.followed };
        self.seen.work += 1;
        let Some(buffer) = self.buffers.get(&access.buffer).copied() else { return };
        let in_registers = buffer.space == Space::Private && self.is_constant(&access.index);
        if self.kernel.runs == Runs::Loops && !in_registers {
            let words = operations::words(buffer.scalar) * f64::from(access.width.max(1));
            match self.done_by(&mask) {
                (true, lanes) => self.seen.scalar_accesses += weight * lanes,
                // One number for all lanes fills a register.
                (false, lanes) if matches!(self.nat(&access.index), Some(Lanes::Same(_))) => {
                    self.seen.vector_accesses += weight * lanes.min(f64::from(REGISTER));
                }
                (false, lanes) => self.seen.vector_accesses += weight * lanes * words,
            }
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
            let asked = self.tally.requests.of(access, &index, &mask, of).asked;
            self.seen.local += weight * asked.rounds;
            return;
        }
        let Request { asked, moved, again } = self.tally.requests.of(access, &index, &mask, of);
        self.seen.requests += weight;
        if !store && (changes || self.depth == 0) {
            self.seen.loads += weight;
        }
        self.seen.pieces += weight * asked.pieces.len() as f64;
        self.seen.lines += weight * asked.lines;
        self.seen.rounds += weight * asked.rounds;
        if store {
            self.seen.stored += weight * asked.pieces.len() as f64;
            self.seen.stored_parts += weight * asked.parts;
        }
        // Where a piece was touched before, its first weight counts.
        if again {
            return;
        }
        let into = if store { &mut self.seen.written } else { &mut self.seen.touched };
        let pieces = asked.pieces.iter().map(|part| (part + moved, touches));
        if into.add(access.buffer, pieces) && !store {
            self.seen.fetches += 1;
        }
    }

    /// An element that every lane changes as one step: a cache that all units share does it, for one after the other.
    pub(super) fn changed(&mut self, access: &'k Access, mask: Mask, weight: f64) {
        let parts = self.seen.stored_parts;
        self.access(access, mask, weight, true);
        self.seen.stored_parts = parts;
        let space = self.buffers.get(&access.buffer).map(|buffer| buffer.space);
        if space == Some(Space::Global) {
            let lanes = mask.iter().filter(|m| **m).count() as f64;
            self.seen.changed += weight * lanes;
        }
    }

    /// Indices spread over an array, the same each time.
    pub(super) fn anywhere(&self, length: i64) -> Lanes {
        let seed =
            self.sample.first.wrapping_mul(7919) + self.sample.group[0].wrapping_mul(104_729);
        Lanes::each(|k| {
            let n =
                (seed + i64::from(self.steps) * 31 + k as i64).wrapping_mul(0x09E3_779B_97F4_A7C1);
            n.rem_euclid(length)
        })
    }
}
