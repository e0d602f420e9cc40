//! Maps and sets with a quick hash, for keys that no adversary chooses at a speed that matters: work is bounded anyway.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

pub type QuickMap<K, V> = HashMap<K, V, BuildHasherDefault<Quick>>;
pub type QuickSet<K> = HashSet<K, BuildHasherDefault<Quick>>;

/// Each word is mixed in by a multiplication whose halves are added up.
#[derive(Clone, Default)]
pub struct Quick(u64);

/// Odd, with its bits spread evenly.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

impl Quick {
    fn mix(&mut self, word: u64) {
        let product = u128::from(self.0 ^ word ^ FACTOR) * u128::from(FACTOR);
        self.0 = (product >> 64) as u64 ^ (product as u64);
    }
}

impl Hasher for Quick {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.mix(u64::from_le_bytes(word));
        }
    }

    fn write_u8(&mut self, n: u8) {
        self.mix(n.into());
    }

    fn write_u32(&mut self, n: u32) {
        self.mix(n.into());
    }

    fn write_u64(&mut self, n: u64) {
        self.mix(n);
    }

    fn write_u128(&mut self, n: u128) {
        self.mix((n >> 64) as u64);
        self.mix(n as u64);
    }

    fn write_usize(&mut self, n: usize) {
        self.mix(n as u64);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
