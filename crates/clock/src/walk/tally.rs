//! How often operations were done, by number while a kernel is followed and by name afterwards.
//!
//! What was found of a kernel's expressions and indices is the same for all its warps, and is kept from one to the next.

use std::collections::BTreeMap;

use lift_ir::{Nat, Pred, QuickMap, Var};
use lift_kernel::{Expr, Loop};

use super::requests::Requests;
use crate::operations::{self, Operations};

/// An operation, by its number.
pub(super) type Number = usize;

/// What is known of a loop from its text.
#[derive(Clone, Copy)]
pub(super) struct LoopText {
    /// About as many as compilers have of its body.
    pub instructions: usize,
    /// The same with its loops written out, if they are short.
    pub straight: Option<usize>,
    pub holds_loop: bool,
    /// Where a processor's compiler has written out short ones, none is inside.
    pub is_innermost: bool,
    /// A processor's compiler puts it inside of the loop that it holds.
    pub is_put_inside: bool,
    /// An operation in its body may branch.
    pub may_branch: bool,
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
    /// The operations that it takes to compute each index, with how many; multiplications last.
    costs: Vec<Vec<(Number, f64)>>,
    /// The same numbers for conditions on indices.
    tests: QuickMap<*const Pred, usize>,
    different_tests: BTreeMap<Pred, usize>,
    loops: QuickMap<*const Loop, LoopText>,
    /// Whether a value that is assigned reads what it is assigned to, by address.
    reading: QuickMap<*const Expr, bool>,
    pub(super) requests: Requests,
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

    /// The number of an index of the kernel, which is computed in integers of a class.
    pub(super) fn index(&mut self, index: &Nat, class: &str) -> usize {
        let address = std::ptr::from_ref(index);
        if let Some(known) = self.indices.get(&address) {
            return *known;
        }
        let next = self.costs.len();
        let number = *self.different.entry(index.clone()).or_insert(next);
        if number == next {
            let cost = index_cost(index);
            let numbered =
                cost.into_iter().map(|(kind, n)| (self.number(&format!("{class}.{kind}")), n));
            let numbered = numbered.collect();
            self.costs.push(numbered);
        }
        self.indices.insert(address, number);
        number
    }

    /// The number of a condition of the kernel.
    pub(super) fn test(&mut self, pred: &Pred) -> usize {
        let address = std::ptr::from_ref(pred);
        if let Some(known) = self.tests.get(&address) {
            return *known;
        }
        let next = self.different_tests.len();
        let number = *self.different_tests.entry(pred.clone()).or_insert(next);
        self.tests.insert(address, number);
        number
    }

    /// Whether a value reads the variable that the kernel assigns it to.
    pub(super) fn reads(&mut self, value: &Expr, var: &Var) -> bool {
        *self.reading.entry(std::ptr::from_ref(value)).or_insert_with(|| {
            let mut reads = false;
            value.each(&mut |e| reads |= matches!(e, Expr::Var(v) if &v.id == var));
            reads
        })
    }

    pub(super) fn loop_text(&mut self, l: &Loop) -> LoopText {
        *self.loops.entry(std::ptr::from_ref(l)).or_insert_with(|| LoopText::of(l))
    }

    /// Adds what an index takes: divisions so often, and multiplications.
    pub(super) fn add_index(
        &mut self,
        index: usize,
        is_scalar: bool,
        divided: f64,
        multiplied: f64,
    ) {
        let Some((products, divisions)) = self.costs.get(index).and_then(|c| c.split_last()) else {
            return;
        };
        let divisions = divisions.iter().map(|cost| (cost, divided));
        for ((number, n), times) in divisions.chain([(products, multiplied)]) {
            if let Some(counts) = self.counts.get_mut(*number) {
                counts[usize::from(is_scalar)] += n * times;
            }
        }
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

/// Divisions one by one, then multiplications.
fn index_cost(index: &Nat) -> Vec<(&'static str, f64)> {
    let mut variables = 0.0;
    index.each_var(&mut |_| variables += 1.0);
    let mut cost = Vec::new();
    index.each_divisor(&mut |divisor| {
        let kind = match divisor.as_int() {
            Some(n) if n > 0 && n & (n - 1) == 0 => "add",
            Some(_) => "divc",
            None => "rem",
        };
        cost.push((kind, 1.0));
    });
    cost.push(("mul", (variables / 2.0_f64).max(1.0)));
    cost
}
