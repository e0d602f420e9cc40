//! The features by name, in their order.

use super::machine::Machine;
use super::summary::{Summary, Whole, ratio};

pub(super) struct Row {
    name: &'static str,
    pub value: fn(&Whole, &Machine) -> f64,
}

const fn row(name: &'static str, value: fn(&Whole, &Machine) -> f64) -> Row {
    Row { name, value }
}

/// Rows are added at the end or the version changes.
pub(super) const TABLE: [Row; 66] = [
    // The thesis' table: parallelism. Work-items of the launch, then of a group, by dimension.
    row("global_size_0", |w, _| w.main(|k| size(&k.grid.global, 0))),
    row("global_size_1", |w, _| w.main(|k| size(&k.grid.global, 1))),
    row("global_size_2", |w, _| w.main(|k| size(&k.grid.global, 2))),
    row("local_size_0", |w, _| w.main(|k| size(&k.grid.local, 0))),
    row("local_size_1", |w, _| w.main(|k| size(&k.grid.local, 1))),
    row("local_size_2", |w, _| w.main(|k| size(&k.grid.local, 2))),
    // Memory. Bytes of a group, the most of any kernel; accesses per work-item. A vector is one, and a
    // lane that is taken of it by itself its part of one.
    row("local_memory_bytes", |w, _| w.greatest(|k| k.local_bytes)),
    row("global_loads", |w, _| w.per_item(|c| c.global.loads)),
    row("global_stores", |w, _| w.per_item(|c| c.global.stores)),
    row("local_loads", |w, _| w.per_item(|c| c.local.loads)),
    row("local_stores", |w, _| w.per_item(|c| c.local.stores)),
    // Cache lines of global memory that a warp touches with an access, on average over all accesses.
    row("lines_per_access", |w, _| {
        w.share(
            |c| c.global.load_lines + c.global.store_lines,
            |c| c.global.loads + c.global.stores,
        )
    }),
    row("lines_per_load", |w, _| w.share(|c| c.global.load_lines, |c| c.global.loads)),
    row("lines_per_store", |w, _| w.share(|c| c.global.store_lines, |c| c.global.stores)),
    // Control flow, per work-item. A branch counts where it is reached; loops that are written out do not count.
    row("barriers", |w, _| w.per_item(|c| c.barriers)),
    row("ifs", |w, _| w.per_item(|c| c.ifs)),
    row("loop_bodies", |w, _| w.per_item(|c| c.loop_bodies)),
    // Beyond the table: what there is in all.
    row("kernels", |w, _| w.kernels.len() as f64),
    row("launches", |w, _| w.launches),
    row("total_items", |w, _| w.items),
    row("total_groups", |w, _| w.sum(|k| k.grid.groups())),
    row("total_flops", |w, _| w.total(|k| k.counts.flops)),
    row("total_global_bytes", |w, _| w.total(|k| k.counts.global.bytes)),
    row("total_moved_bytes", |w, _| w.total(|k| k.counts.global.moved)),
    row("total_local_bytes", |w, _| w.total(|k| k.counts.local.bytes)),
    // What the work-items of each launch do one thing after the other, launch after launch.
    row("steps_in_a_row", |w, _| w.sum(Summary::steps)),
    // Operations per work-item, lane by lane.
    row("flops", |w, _| w.per_item(|c| c.flops)),
    row("special_flops", |w, _| w.per_item(|c| c.special)),
    row("integer_operations", |w, _| w.per_item(|c| c.integer)),
    row("selects", |w, _| w.per_item(|c| c.selects)),
    row("index_terms", |w, _| w.per_item(|c| c.index_terms)),
    row("private_accesses", |w, _| w.per_item(|c| c.private)),
    // Traffic. Bytes asked for per work-item; bytes fetched in whole sectors, for each byte that a warp asks for.
    row("global_bytes", |w, _| w.per_item(|c| c.global.bytes)),
    row("local_bytes", |w, _| w.per_item(|c| c.local.bytes)),
    row("moved_per_useful_byte", |w, _| w.share(|c| c.global.moved, |c| c.global.useful)),
    row("flops_per_byte", |w, _| w.share(|c| c.flops, |c| c.global.bytes)),
    row("flops_per_moved_byte", |w, _| w.share(|c| c.flops, |c| c.global.moved)),
    row("flops_per_local_byte", |w, _| w.share(|c| c.flops, |c| c.local.bytes)),
    row("vector_width", |w, _| w.share(|c| c.global.scalars, |c| c.global.loads + c.global.stores)),
    row("local_vector_width", |w, _| {
        w.share(|c| c.local.scalars, |c| c.local.loads + c.local.stores)
    }),
    row("bank_conflicts", |w, _| {
        w.share(|c| c.local.conflicts, |c| c.local.loads + c.local.stores)
    }),
    // Parts of the accesses of global memory in which a lane reaches for the same as the one before, for what is next,
    // for anything else.
    row("same_part", |w, _| w.share(|c| c.global.same, |c| c.global.loads + c.global.stores)),
    row("contiguous_part", |w, _| {
        w.share(|c| c.global.contiguous, |c| c.global.loads + c.global.stores)
    }),
    row("strided_part", |w, _| w.share(|c| c.global.strided, |c| c.global.loads + c.global.stores)),
    // Different bytes of global memory that a group touches, what they are of the caches, and how often each is used.
    row("working_set_bytes", |w, _| w.main(|k| k.working_set)),
    row("working_set_of_l1", |w, m| ratio(w.main(|k| k.working_set), m.l1_bytes as f64)),
    row("working_set_of_l2", |w, m| ratio(w.main(|k| k.working_set), m.l2_bytes as f64)),
    row("reuse", |w, _| w.main(|k| ratio(group_bytes(k), k.working_set))),
    // What a group keeps for itself: local arrays, and where one thread runs it, the private ones of all its
    // work-items.
    row("tile_bytes", |w, _| w.main(tile_bytes)),
    row("tile_of_l1", |w, m| ratio(w.main(tile_bytes), m.l1_bytes as f64)),
    row("private_bytes", |w, _| w.greatest(|k| k.private_bytes)),
    row("registers", |w, _| w.greatest(|k| k.registers)),
    // How full the device is.
    row("occupancy", |w, _| w.main(|k| k.occupancy)),
    row("parallel", |w, _| w.main(|k| k.parallel)),
    row("parallel_per_unit", |w, m| ratio(w.main(|k| k.parallel), f64::from(m.compute_units))),
    row("balance", |w, m| w.main(|k| balance(k, m))),
    row("warps_per_group", |w, m| {
        w.main(|k| (k.grid.group_items() / f64::from(m.warp.max(1))).ceil())
    }),
    // Vector code: bodies of an innermost loop each time it is entered, and the part of those bodies that have no
    // branch and reach for neighbours or the same.
    row("innermost_length", |w, _| w.share(|c| c.innermost_bodies, |c| c.innermost_loops)),
    row("vector_part", |w, _| w.share(|c| c.vector_bodies, |c| c.innermost_bodies)),
    row("innermost_loops", |w, _| w.per_item(|c| c.innermost_loops)),
    // How it is compiled.
    row("threads", |w, _| w.main(|k| f64::from(u8::from(k.is_threads)))),
    row("wide_indices", |w, _| w.main(|k| f64::from(u8::from(k.is_wide)))),
    // What sizes are compared with: the bytes of all inputs.
    row("input_bytes", |w, _| w.input_bytes),
    // Vector code where one thread runs a group, 0 elsewhere: the part of the innermost bodies whose accesses are all
    // of neighbours or the same wherever the loop is, and of the accesses that are not, as at a boundary.
    row("plain_part", |w, _| w.share(|c| c.plain_bodies, |c| c.innermost_bodies)),
    row("chosen_part", |w, _| {
        w.share(|c| c.chosen, |c| c.global.loads + c.global.stores + c.local.loads + c.local.stores)
    }),
    // The part of the innermost bodies that wait for the one before, as in a sum of numbers one after the other.
    row("serial_part", |w, _| w.share(|c| c.serial_bodies, |c| c.innermost_bodies)),
];

pub(super) const NAMES: [&str; TABLE.len()] = {
    let mut names = [""; TABLE.len()];
    let mut k = 0;
    while k < names.len() {
        names[k] = TABLE[k].name;
        k += 1;
    }
    names
};

fn size(counts: &[i128; 3], d: usize) -> f64 {
    counts.get(d).copied().unwrap_or(1) as f64
}

/// Bytes of global memory that a group asks for, or one of the iterations that run in parallel.
fn group_bytes(kernel: &Summary) -> f64 {
    ratio(kernel.counts.global.bytes * kernel.grid.items(), kernel.parallel)
}

fn tile_bytes(kernel: &Summary) -> f64 {
    match kernel.is_threads {
        true => kernel.local_bytes,
        false => kernel.local_bytes + kernel.held_bytes,
    }
}

/// The part of the compute units that work, on average until the last one is done.
fn balance(kernel: &Summary, machine: &Machine) -> f64 {
    let at_once = f64::from(machine.compute_units.max(1)) * kernel.unit_groups;
    let rounds = (kernel.parallel / at_once).ceil().max(1.0);
    ratio(kernel.parallel, rounds * at_once)
}
