//! How often operations were done, by number while a kernel is followed and by name afterwards.

use lift_ir::QuickMap;
use lift_kernel::Expr;

use crate::operations::{self, Operations};

/// An operation, by its number.
pub(super) type Number = usize;

#[derive(Default)]
pub(super) struct Tally {
    names: Vec<String>,
    /// As vector code or by threads, and one by one; see [`super::Seen`].
    counts: Vec<[f64; 2]>,
    /// The operation of each expression of the kernel that was met, by address, with its lanes.
    known: QuickMap<*const Expr, Option<(Number, f64)>>,
}

impl Tally {
    /// The operation of an expression without those inside it.
    pub(super) fn of(&mut self, expr: &Expr) -> Option<(Number, f64)> {
        let address = std::ptr::from_ref(expr);
        if let Some(known) = self.known.get(&address) {
            return *known;
        }
        let found = operations::of(expr).map(|(name, lanes)| (self.number(&name), lanes));
        self.known.insert(address, found);
        found
    }

    pub(super) fn number(&mut self, name: &str) -> Number {
        if let Some(number) = self.names.iter().position(|known| known == name) {
            return number;
        }
        self.names.push(name.to_string());
        self.counts.push([0.0; 2]);
        self.names.len() - 1
    }

    pub(super) fn add(&mut self, number: Number, is_scalar: bool, count: f64) {
        if let Some(counts) = self.counts.get_mut(number) {
            counts[usize::from(is_scalar)] += count;
        }
    }

    /// By name, together and one by one; what was never done has none.
    pub(super) fn by_name(self) -> [Operations; 2] {
        [0, 1].map(|mode| {
            let all = self.names.iter().zip(&self.counts);
            let done = all.filter(|(_, counts)| counts[mode] != 0.0);
            done.map(|(name, counts)| (name.clone(), counts[mode])).collect()
        })
    }
}
