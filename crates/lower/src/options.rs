//! What is chosen for one compilation.

use std::collections::BTreeMap;

use lift_ir::Scalar;

use crate::Choices;

/// What work-items are on the device that is compiled for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Target {
    /// Threads, as on a GPU.
    #[default]
    Threads,
    /// Iterations of loops, as on a CPU through C.
    Loops,
}

/// Work-items that a group has on every device.
const MODERATE: u32 = 256;

/// Groups that fill most devices, and those that a unit of one holds at once.
const USUAL_GROUPS: i128 = 512;
const PER_UNIT: i128 = 4;

/// Local memory that every device has.
const EVERYWHERE: u64 = 48 << 10;

/// What is chosen for one compilation: by the user, and by the device that is compiled for.
#[derive(Clone, Debug)]
pub struct Options {
    pub target: Target,
    /// Values of parameters and sizes by name. Sizes without one stay kernel arguments.
    pub sizes: BTreeMap<String, i128>,
    /// Thread counts in place of the program's.
    pub local: Option<Vec<u64>>,
    pub global: Option<Vec<u64>>,
    /// Indices that are not proved in range are used as they are.
    pub unchecked: bool,
    /// Elements added to the rows of arrays in local memory that have more than one dimension, so that a column
    /// lies in different banks.
    pub local_padding: u32,
    /// Loops that fill local memory are pipelined; see the clause `stages`.
    pub pipeline: bool,
    /// Work-items with neighbouring numbers that can wait for each other alone.
    pub warp: u32,
    /// The work-items of a warp can give each other numbers without memory.
    pub shuffles: bool,
    /// Elements of 64 bits can be changed as one step, as all devices change those of 32.
    pub wide_atomics: bool,
    /// Work-items of a group, at most.
    pub group_items: u32,
    /// Compute units of the device, where it is known.
    pub units: Option<u32>,
    /// Local memory of a group of the device, in bytes.
    pub local_bytes: u64,
    /// Memory for all arrays and for each of them, in bytes, where that is known: what does not fit is made in batches.
    pub memory_bytes: Option<u64>,
    pub buffer_bytes: Option<u64>,
    pub simplify: Simplify,
    /// Which ways are taken where passes know several.
    pub choices: Choices,
}

impl Options {
    /// Groups that share work of any length: the usual number, or as few as fill the device.
    pub(crate) fn groups_for_any(&self) -> i128 {
        self.units.map_or(USUAL_GROUPS, |units| (PER_UNIT * i128::from(units)).min(USUAL_GROUPS))
    }

    /// Whether elements of a type are changed as one step.
    pub(crate) fn changes_at_once(&self, scalar: Scalar) -> bool {
        self.wide_atomics || scalar.bytes() <= 4
    }
}

impl Default for Options {
    fn default() -> Options {
        Options {
            target: Target::default(),
            sizes: BTreeMap::new(),
            local: None,
            global: None,
            unchecked: false,
            local_padding: 0,
            pipeline: true,
            warp: 32,
            shuffles: false,
            wide_atomics: false,
            group_items: MODERATE,
            units: None,
            local_bytes: EVERYWHERE,
            memory_bytes: None,
            buffer_bytes: None,
            simplify: Simplify::default(),
            choices: Choices::default(),
        }
    }
}

/// Simplifications that can be left out, to see what each is worth.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Simplify {
    /// Indices are simplified with the ranges of their variables.
    pub accesses: bool,
    /// Barriers stand only where memory is shared.
    pub barriers: bool,
    /// Loops with threads enough are branches or straight code; on a processor, grids are split where boundaries
    /// do not matter and gone through in blocks.
    pub control: bool,
}

impl Default for Simplify {
    fn default() -> Simplify {
        Simplify { accesses: true, barriers: true, control: true }
    }
}
