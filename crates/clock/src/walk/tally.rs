//! How often operations were done, by number while a kernel is followed and by name afterwards.
//!
//! What was found of a kernel's expressions and indices is the same for all its warps, and is kept from one to the next.

use std::collections::BTreeMap;

use lift_ir::{Nat, QuickMap};
use lift_kernel::Expr;

use crate::operations::{self, Operations};

/// An operation, by its number.
pub(super) type Number = usize;

/// What it takes to compute an index: so many multiplications, and these operations besides.
#[derive(Clone, Default)]
pub(super) struct IndexCost {
    pub multiplications: f64,
    pub divisions: Vec<&'static str>,
}

#[derive(Default)]
pub struct Tally {
    names: Vec<String>,
    /// As vector code or by threads, and one by one; see [`super::Seen`].
    counts: Vec<[f64; 2]>,
    /// The operation of each expression of the kernel that was met, by address, with its lanes.
    known: QuickMap<*const Expr, Option<(Number, f64)>>,
    /// The number of each index of the kernel that was met, by address; equal ones have the same.
    indices: QuickMap<*const Nat, usize>,
    different: BTreeMap<Nat, usize>,
    costs: Vec<IndexCost>,
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

    /// The number of an index of the kernel.
    pub(super) fn index(&mut self, index: &Nat) -> usize {
        let address = std::ptr::from_ref(index);
        if let Some(known) = self.indices.get(&address) {
            return *known;
        }
        let next = self.costs.len();
        let number = *self.different.entry(index.clone()).or_insert(next);
        if number == next {
            self.costs.push(index_cost(index));
        }
        self.indices.insert(address, number);
        number
    }

    pub(super) fn cost(&self, index: usize) -> IndexCost {
        self.costs.get(index).cloned().unwrap_or_default()
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

    /// By name, together and one by one; what was never done has none. The next warp begins anew.
    pub(super) fn take_by_name(&mut self) -> [Operations; 2] {
        let found = [0, 1].map(|mode| {
            let all = self.names.iter().zip(&self.counts);
            let done = all.filter(|(_, counts)| counts[mode] != 0.0);
            done.map(|(name, counts)| (name.clone(), counts[mode])).collect()
        });
        self.counts.fill([0.0; 2]);
        found
    }

    pub(super) fn name(&self, number: Number) -> &str {
        self.names.get(number).map_or("", String::as_str)
    }
}

fn index_cost(index: &Nat) -> IndexCost {
    let mut variables = 0.0;
    index.each_var(&mut |_| variables += 1.0);
    let mut divisions = Vec::new();
    index.each_divisor(&mut |divisor| {
        divisions.push(match divisor.as_int() {
            Some(n) if n > 0 && n & (n - 1) == 0 => "add",
            Some(_) => "divc",
            None => "rem",
        });
    });
    IndexCost { multiplications: (variables / 2.0_f64).max(1.0), divisions }
}
