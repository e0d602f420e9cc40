//! How often operations were done, by number while a kernel is followed and by name afterwards.
//!
//! What was found of a kernel's expressions and indices is the same for all its warps, and is kept from one to the next.

use std::collections::BTreeMap;
use std::collections::hash_map::Entry;

use lift_ir::{Nat, Pred, QuickMap, Var};
use lift_kernel::{BufferId, Expr, Kernel, Loop, Stmt};

use super::changing::{Changes, Changing};
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
    /// A processor's compiler leaves nothing of it but its turns.
    pub is_written_out: bool,
    /// A processor's compiler makes vector code of it, if none is inside.
    pub is_vector_code: bool,
    /// An operation in its body may branch.
    pub may_branch: bool,
    /// Threads share it, and nobody asks a compiler to put its turns together.
    pub is_apart: bool,
}

/// What is known of an expression from its text: its operation without those inside, with its lanes, and in which turns it changes.
struct Node {
    operation: Option<(Number, f64)>,
    changes: Changes,
}

#[derive(Default)]
pub struct Tally {
    names: Vec<String>,
    /// As vector code or by threads, and one by one; see [`super::Seen`].
    counts: Vec<[f64; 2]>,
    /// What is known of each expression of the kernel that was met, by address.
    known: QuickMap<*const Expr, Node>,
    /// The number of each index of the kernel that was met, by address; equal ones have the same.
    indices: QuickMap<*const Nat, usize>,
    different: BTreeMap<Nat, usize>,
    /// The operations that it takes to compute each index, with how many; multiplications last.
    costs: Vec<Vec<(Number, f64)>>,
    /// Of each index and the variables of a loop around it: its divisions that come out the same in all turns.
    spared: QuickMap<(usize, u64), Vec<(Number, f64)>>,
    /// The same numbers for conditions on indices.
    tests: QuickMap<*const Pred, usize>,
    different_tests: BTreeMap<Pred, usize>,
    loops: QuickMap<*const Loop, LoopText>,
    /// The arrays that each loop stores to.
    stored: QuickMap<*const Loop, Vec<BufferId>>,
    /// Whether a value that is assigned reads what it is assigned to, by address.
    reading: QuickMap<*const Expr, bool>,
    pub(super) requests: Requests,
}

impl Tally {
    /// The operation of an expression without those inside it.
    pub(super) fn of(&mut self, expr: &Expr) -> Option<(Number, f64)> {
        self.node(expr).operation
    }

    /// The same, and whether the expression has another value in each turn.
    pub(super) fn changing(
        &mut self,
        expr: &Expr,
        changing: &Changing<'_>,
    ) -> (Option<(Number, f64)>, bool) {
        let node = self.node(expr);
        (node.operation, node.changes.has(expr, changing))
    }

    fn node(&mut self, expr: &Expr) -> &mut Node {
        match self.known.entry(std::ptr::from_ref(expr)) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => {
                let operation = operations::of(expr);
                let operation = operation.map(|(name, lanes)| {
                    (number_of(&mut self.names, &mut self.counts, &name), lanes)
                });
                new.insert(Node { operation, changes: Changes::default() })
            }
        }
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

    pub(super) fn loop_text(&mut self, l: &Loop, kernel: &Kernel) -> LoopText {
        *self.loops.entry(std::ptr::from_ref(l)).or_insert_with(|| LoopText::of(l, kernel))
    }

    /// The arrays that a loop stores to.
    pub(super) fn stored_in(&mut self, l: &Loop) -> &[BufferId] {
        self.stored.entry(std::ptr::from_ref(l)).or_insert_with(|| {
            let mut stored = Vec::new();
            for stmt in &l.body {
                stmt.each(&mut |part| {
                    if let Stmt::Store { access, .. } | Stmt::Atomic { access, .. } = part
                        && !stored.contains(&access.buffer)
                    {
                        stored.push(access.buffer);
                    }
                });
            }
            stored
        })
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

    /// Takes those divisions of an index off that a compiler moves out of a loop: the others are in what there is of the index
    /// besides its value where all variables of the loop are 0.
    pub(super) fn spare_divisions(
        &mut self,
        index: usize,
        nat: &Nat,
        changing: &Changing<'_>,
        times: f64,
    ) {
        let Some((_, divisions)) = self.costs.get(index).and_then(|c| c.split_last()) else {
            return;
        };
        if divisions.is_empty() {
            return;
        }
        let spared = self.spared.entry((index, changing.mark())).or_insert_with(|| {
            let mut spared: Vec<(Number, f64)> = Vec::new();
            for (number, n) in divisions {
                match spared.iter_mut().find(|(own, _)| own == number) {
                    Some((_, sum)) => *sum += n,
                    None => spared.push((*number, *n)),
                }
            }
            for (kind, n) in division_costs(&changing.part_of(nat)) {
                let is_own = |name: &str| name.split_once('.').is_some_and(|(_, own)| own == kind);
                let own = spared
                    .iter_mut()
                    .find(|(own, _)| self.names.get(*own).is_some_and(|name| is_own(name)));
                if let Some((_, left)) = own {
                    *left = (*left - n).max(0.0);
                }
            }
            spared
        });
        for (number, n) in spared.iter() {
            if let Some(counts) = self.counts.get_mut(*number) {
                counts[0] -= n * times;
            }
        }
    }

    pub(super) fn number(&mut self, name: &str) -> Number {
        number_of(&mut self.names, &mut self.counts, name)
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

fn number_of(names: &mut Vec<String>, counts: &mut Vec<[f64; 2]>, name: &str) -> Number {
    if let Some(number) = names.iter().position(|known| known == name) {
        return number;
    }
    names.push(name.to_string());
    counts.push([0.0; 2]);
    names.len() - 1
}

/// Divisions one by one, then multiplications.
fn index_cost(index: &Nat) -> Vec<(&'static str, f64)> {
    let mut variables = 0.0;
    index.each_var(&mut |_| variables += 1.0);
    let mut cost = division_costs(index);
    cost.push(("mul", (variables / 2.0_f64).max(1.0)));
    cost
}

fn division_costs(index: &Nat) -> Vec<(&'static str, f64)> {
    let mut cost = Vec::new();
    index.each_divisor(&mut |divisor| {
        let kind = match divisor.as_int() {
            Some(n) if n > 0 && n & (n - 1) == 0 => "add",
            Some(_) => "divc",
            None => "rem",
        };
        cost.push((kind, 1.0));
    });
    cost
}
