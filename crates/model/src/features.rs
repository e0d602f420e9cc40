//! What a low-level program does, in numbers.
//!
//! They are read off the kernels that lowering makes, before any of them is text. There every access has its memory
//! and its index, loops say who runs their iterations, and barriers stand where they are needed; loops that are
//! written out and arrays that became variables no longer count as loops and accesses. The first numbers are those of
//! the thesis' table: how many work-items there are, what each of them does, how many cache lines a warp touches with
//! an access. The others say what else speed depends on, also on a processor, where one thread runs a whole group.
//!
//! A number "per work-item" is what all work-items of all launches do, over how many these are. So the kernels of a
//! plan count by the work-items they have. Sizes of the launch, and what depends on them alone, are those of the kernel
//! that does most in all. Work-items at the boundary of the grid count as those inside do.
//!
//! What is not known: a size that is not given counts as 1024, a loop whose length data decides as one iteration, a
//! condition on data as holding half the time, an index from data as a cache line of its own for each lane.

mod access;
mod chance;
mod control;
mod count;
mod footprint;
mod grid;
mod lanes;
mod machine;
mod occupancy;
mod operations;
mod registers;
mod scope;
mod summary;
mod table;
mod values;

use std::collections::BTreeMap;

use lift_lower::Plan;

pub use machine::Machine;

/// Changes whenever the numbers mean something else. What was learned from others is of no use.
pub const VERSION: u32 = 2;

/// One number for each of [`names`], in their order.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Features {
    pub values: Vec<f64>,
}

impl Features {
    /// The number of a name.
    pub fn get(&self, name: &str) -> Option<f64> {
        let place = names().iter().position(|n| *n == name)?;
        self.values.get(place).copied()
    }
}

/// What a plan needs of a device, and gives it to do.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Needs {
    /// Local memory of a group, of the kernel that takes most.
    pub local_bytes: f64,
    /// Registers of a work-item, likewise.
    pub registers: f64,
    /// Work-items of all launches.
    pub items: f64,
}

/// What the numbers are, always the same in the same order.
pub fn names() -> &'static [&'static str] {
    &table::NAMES
}

/// The numbers of a plan, where sizes that the plan leaves open are those given. All of them are finite.
pub fn features(plan: &Plan, sizes: &BTreeMap<String, i128>, machine: &Machine) -> Features {
    features_and_needs(plan, sizes, machine).0
}

/// The same, with what the plan needs.
pub fn features_and_needs(
    plan: &Plan,
    sizes: &BTreeMap<String, i128>,
    machine: &Machine,
) -> (Features, Needs) {
    let whole = summary::Whole::of(plan, sizes, machine);
    // Sums of nothing are -0.
    let finite = |value: f64| if value.is_finite() { value + 0.0 } else { 0.0 };
    let values = table::TABLE.iter().map(|row| finite((row.value)(&whole, machine))).collect();
    let needs = Needs {
        local_bytes: whole.greatest(|k| k.local_bytes),
        registers: whole.greatest(|k| k.registers),
        items: whole.items,
    };
    (Features { values }, needs)
}
