//! One kernel of a plan in numbers, and all of them together.

use std::collections::BTreeMap;

use lift_ir::{Nat, Var};
use lift_kernel::{Kernel, Runs};
use lift_lower::{Plan, PlanBuffer, Step};

use super::count::{Counts, count};
use super::grid::{Grid, parallelism};
use super::machine::Machine;
use super::occupancy::{groups_per_unit, occupancy};
use super::registers::{held_bytes, private_bytes, registers};
use super::scope::{Meaning, Role, Scope, UNKNOWN_SIZE};
use super::values::Values;

/// What is known of one kernel.
pub(super) struct Summary {
    pub grid: Grid,
    /// Per work-item.
    pub counts: Counts,
    /// How often it is launched.
    pub launches: f64,
    /// Of global memory, by one group.
    pub working_set: f64,
    /// Of a group.
    pub local_bytes: f64,
    /// Of a work-item.
    pub private_bytes: f64,
    /// Private arrays of all work-items that a thread runs.
    pub held_bytes: f64,
    pub registers: f64,
    pub occupancy: f64,
    /// Groups a compute unit holds at a time, at least one.
    pub unit_groups: f64,
    /// What can run at the same time.
    pub parallel: f64,
    pub is_threads: bool,
    pub is_wide: bool,
}

impl Summary {
    fn of(
        kernel: &Kernel,
        launches: f64,
        counters: &[(&Var, i128)],
        sizes: &BTreeMap<String, i128>,
        machine: &Machine,
    ) -> Summary {
        let mut scope = Scope::new(sizes);
        for (counter, count) in counters {
            scope.push(counter, Meaning::Takes(Values::one(count / 2), Role::Iteration));
        }
        let value = |nat: &Nat| scope.eval(nat, &[]).unwrap_or(UNKNOWN_SIZE);
        let number = |nat: &Nat| value(nat).max(0) as f64;
        let grid = Grid::of(&kernel.launch, &value);
        let local_bytes =
            kernel.locals.iter().map(|b| number(&b.total()) * b.scalar.bytes() as f64).sum();
        let private_bytes = private_bytes(kernel, &number);
        let held_bytes = held_bytes(kernel, &number);
        let registers = registers(kernel, &number);
        let parallel = parallelism(kernel, &grid, &value);
        let items = grid.group_items();
        let is_threads = kernel.runs == Runs::Threads;
        // One thread runs a group, and has a core for itself.
        let (occupancy, unit_groups) = match is_threads {
            true => (
                occupancy(machine, items, local_bytes, registers),
                groups_per_unit(machine, items, local_bytes, registers).max(1.0),
            ),
            false => (1.0, 1.0),
        };
        let (counts, working_set) = count(kernel, &grid, parallel, scope, machine);
        Summary {
            grid,
            counts,
            launches,
            working_set,
            local_bytes,
            private_bytes,
            held_bytes,
            registers,
            occupancy,
            unit_groups,
            parallel,
            is_threads,
            is_wide: kernel.wide_indices,
        }
    }

    /// Work-items of all launches.
    pub fn items(&self) -> f64 {
        self.launches * self.grid.items()
    }

    /// What one work-item does, one thing after the other.
    pub fn steps(&self) -> f64 {
        let c = &self.counts;
        let accesses = c.global.loads + c.global.stores + c.local.loads + c.local.stores;
        accesses + c.flops + c.integer + c.loop_bodies + c.barriers
    }
}

/// All kernels of a plan that are launched.
pub(super) struct Whole {
    pub kernels: Vec<Summary>,
    pub launches: f64,
    /// Work-items of all launches.
    pub items: f64,
    /// Of all inputs together.
    pub input_bytes: f64,
}

impl Whole {
    pub fn of(plan: &Plan, sizes: &BTreeMap<String, i128>, machine: &Machine) -> Whole {
        let mut launches = Launches { times: BTreeMap::new(), counters: Vec::new(), sizes };
        launches.steps(&plan.steps, 1.0);
        let Launches { times, counters, .. } = launches;
        let kernels: Vec<Summary> = plan
            .kernels
            .iter()
            .enumerate()
            .filter_map(|(k, kernel)| {
                let launches = *times.get(&k)?;
                Some(Summary::of(kernel, launches, &counters, sizes, machine))
            })
            .collect();
        let scope = Scope::new(sizes);
        let bytes = |b: &PlanBuffer| {
            let length = scope.eval(&b.buffer.total(), &[]).unwrap_or(UNKNOWN_SIZE).max(0);
            length as f64 * b.buffer.scalar.bytes() as f64
        };
        let is_input = |b: &&PlanBuffer| matches!(b.role, lift_lower::Role::Input { .. });
        Whole {
            input_bytes: plan.buffers.iter().filter(is_input).map(bytes).sum(),
            launches: kernels.iter().map(|k| k.launches).sum(),
            items: kernels.iter().map(Summary::items).sum(),
            kernels,
        }
    }

    /// Of all launches together.
    pub fn total(&self, of: impl Fn(&Summary) -> f64) -> f64 {
        self.kernels.iter().map(|k| k.items() * of(k)).sum()
    }

    /// Per work-item, over those of all launches.
    pub fn per_item(&self, of: impl Fn(&Counts) -> f64) -> f64 {
        ratio(self.total(|k| of(&k.counts)), self.items)
    }

    /// One number over another, each per work-item.
    pub fn share(&self, of: impl Fn(&Counts) -> f64, over: impl Fn(&Counts) -> f64) -> f64 {
        ratio(self.per_item(of), self.per_item(over))
    }

    /// A number of the kernel whose launches do most in all.
    pub fn main(&self, of: impl Fn(&Summary) -> f64) -> f64 {
        let work = |k: &&Summary| k.items() * k.steps();
        self.kernels.iter().max_by(|a, b| work(a).total_cmp(&work(b))).map_or(0.0, of)
    }

    pub fn greatest(&self, of: impl Fn(&Summary) -> f64) -> f64 {
        self.kernels.iter().map(of).fold(0.0, f64::max)
    }

    pub fn sum(&self, of: impl Fn(&Summary) -> f64) -> f64 {
        self.kernels.iter().map(|k| k.launches * of(k)).sum()
    }
}

/// 0 of nothing.
pub(super) fn ratio(a: f64, b: f64) -> f64 {
    if b > 0.0 { a / b } else { 0.0 }
}

/// How often each kernel is launched.
struct Launches<'p> {
    times: BTreeMap<usize, f64>,
    /// The counters of the host's loops, and how far they go.
    counters: Vec<(&'p Var, i128)>,
    sizes: &'p BTreeMap<String, i128>,
}

impl<'p> Launches<'p> {
    fn steps(&mut self, steps: &'p [Step], times: f64) {
        for step in steps {
            match step {
                Step::Launch(kernel) => *self.times.entry(*kernel).or_default() += times,
                Step::Stop(_) => {}
                Step::Loop { count, counter, body, taken, .. } => {
                    let mut scope = Scope::new(self.sizes);
                    for (outer, count) in &self.counters {
                        scope.push(outer, Meaning::Takes(Values::one(count / 2), Role::Iteration));
                    }
                    let count = scope.eval(count, &[]).unwrap_or(1).max(0);
                    self.counters.push((counter, count));
                    self.counters.extend(taken.as_ref().map(|taken| (taken, count)));
                    self.steps(body, times * count as f64);
                }
            }
        }
    }
}
