//! What is known of a device.

/// What a program's speed depends on of the device that runs it. Plain data: whoever has the device fills it in.
///
/// `warp`, `compute_units` and `local_memory_bytes` are what the runtime's device info has under these names, and
/// `max_group_items` is its `max_group_size`. The others no driver is asked for: they come from the vendor's tables, or
/// stay as in [`Machine::default`] or [`Machine::processor`]. On a processor `warp` is the lanes of a vector register,
/// a compute unit is a core, and the caches are those of one core.
#[derive(Clone, PartialEq, Debug)]
pub struct Machine {
    /// Work-items that run in step, or lanes of a vector register.
    pub warp: u32,
    pub cache_line_bytes: u32,
    /// The least that is fetched of a line.
    pub sector_bytes: u32,
    /// What local memory serves at once: so many banks of four bytes.
    pub local_banks: u32,
    pub compute_units: u32,
    /// Work-items of one group at most.
    pub max_group_items: u64,
    /// Work-items that one compute unit holds at a time.
    pub max_unit_items: u64,
    /// Groups that one compute unit holds at a time.
    pub max_unit_groups: u64,
    /// Of one group at most.
    pub local_memory_bytes: u64,
    /// Of all groups that a compute unit holds.
    pub unit_local_memory_bytes: u64,
    /// Registers of four bytes that the work-items of a compute unit share.
    pub unit_registers: u64,
    /// Registers of four bytes that one work-item has at most.
    pub item_registers: u64,
    pub l1_bytes: u64,
    pub l2_bytes: u64,
}

/// A device of which nothing is known: a GPU as most are.
impl Default for Machine {
    fn default() -> Machine {
        Machine {
            warp: 32,
            cache_line_bytes: 128,
            sector_bytes: 32,
            local_banks: 32,
            compute_units: 64,
            max_group_items: 1024,
            max_unit_items: 2048,
            max_unit_groups: 32,
            local_memory_bytes: 48 << 10,
            unit_local_memory_bytes: 96 << 10,
            unit_registers: 64 << 10,
            item_registers: 255,
            l1_bytes: 128 << 10,
            l2_bytes: 4 << 20,
        }
    }
}

impl Machine {
    /// A processor of which nothing is known but its number of cores.
    pub fn processor(cores: u32) -> Machine {
        Machine {
            warp: 8,
            cache_line_bytes: 64,
            sector_bytes: 64,
            local_banks: 1,
            compute_units: cores.max(1),
            max_unit_items: 1024,
            max_unit_groups: 1,
            local_memory_bytes: 256 << 10,
            unit_local_memory_bytes: 256 << 10,
            unit_registers: 16 * 8,
            item_registers: 16 * 8,
            l1_bytes: 32 << 10,
            l2_bytes: 512 << 10,
            ..Machine::default()
        }
    }
}
