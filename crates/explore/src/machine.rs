//! What the runtime knows of a device: as the performance model wants it, and what stays the same between sessions.

use lift_model::features::Machine;
use lift_runtime::{DeviceInfo, Language};

/// What no driver says is as in the vendor's tables for devices of the kind.
pub fn machine(info: &DeviceInfo) -> Machine {
    match info.language {
        // A core with vector registers of 512 bits; caches as they are usual on servers.
        Language::C => Machine {
            warp: 16,
            unit_registers: 32 * 16,
            item_registers: 32 * 16,
            l1_bytes: 48 << 10,
            l2_bytes: 2 << 20,
            local_memory_bytes: info.local_memory_bytes,
            ..Machine::processor(info.compute_units)
        },
        Language::OpenCl | Language::Cuda => Machine {
            warp: info.warp,
            compute_units: info.compute_units,
            max_group_items: info.max_group_size,
            local_memory_bytes: info.local_memory_bytes,
            unit_local_memory_bytes: info.local_memory_bytes.max(96 << 10),
            ..Machine::default()
        },
    }
}

/// What devices have in common for which results are the same: the way to them, the model, the driver.
pub fn fingerprint(info: &DeviceInfo) -> String {
    format!("{} {} {}", info.way(), info.name, info.driver)
}
