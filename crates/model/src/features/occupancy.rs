//! How many groups a compute unit holds at a time.

use super::machine::Machine;

/// Work-items that a compute unit holds, of those that it could; 0 where one group is too much for it.
pub(super) fn occupancy(machine: &Machine, items: f64, local_bytes: f64, registers: f64) -> f64 {
    let held = groups_per_unit(machine, items, local_bytes, registers) * items;
    (held / machine.max_unit_items.max(1) as f64).min(1.0)
}

/// Groups that a compute unit holds at a time: what is scarcest decides. `registers` are those of a work-item; more
/// than it can have are kept elsewhere.
pub(super) fn groups_per_unit(
    machine: &Machine,
    items: f64,
    local_bytes: f64,
    registers: f64,
) -> f64 {
    if items > machine.max_group_items as f64 || local_bytes > machine.local_memory_bytes as f64 {
        return 0.0;
    }
    let registers = registers.min(machine.item_registers as f64);
    let within = |limit: u64, each: f64| match each > 0.0 {
        true => (limit as f64 / each).floor(),
        false => f64::INFINITY,
    };
    (machine.max_unit_groups as f64)
        .min(within(machine.max_unit_items, items))
        .min(within(machine.unit_local_memory_bytes, local_bytes))
        .min(within(machine.unit_registers, registers * items))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_scarcest_decides() {
        let machine = Machine {
            max_unit_items: 2048,
            max_unit_groups: 32,
            unit_local_memory_bytes: 64 << 10,
            unit_registers: 64 << 10,
            ..Machine::default()
        };
        // 2048 / 256 groups fit; 16 KiB each leave room for 4; 64 registers of 256 work-items for 4, 128 for 2.
        assert_eq!(groups_per_unit(&machine, 256.0, 0.0, 0.0), 8.0);
        assert_eq!(groups_per_unit(&machine, 256.0, 16384.0, 0.0), 4.0);
        assert_eq!(groups_per_unit(&machine, 256.0, 0.0, 128.0), 2.0);
        assert_eq!(occupancy(&machine, 256.0, 0.0, 128.0), 0.25);
        // Groups of one work-item: as many as there can be groups.
        assert_eq!(groups_per_unit(&machine, 1.0, 0.0, 0.0), 32.0);
    }

    #[test]
    fn a_group_that_does_not_fit_has_none() {
        let machine = Machine::default();
        assert_eq!(occupancy(&machine, 2048.0, 0.0, 0.0), 0.0);
        assert_eq!(occupancy(&machine, 64.0, 1e9, 0.0), 0.0);
    }
}
