//! What holds of all plans.

use std::collections::BTreeSet;

use lift_lower::Target;
use lift_model::features::{Features, Machine, features, names};

use crate::plans::{Sizes, plan, program, sizes, text};

const PROGRAMS: [&str; 12] = [
    "mm",
    "extra/softmax",
    "reduce/argmin",
    "reduce/llp2",
    "stencil/acoustic3d",
    "stencil/hotspot2d",
    "stencil/srad1",
    "thesis/kmeans_private",
    "thesis/md_private",
    "thesis/mm_mali",
    "thesis/mriq_private",
    "thesis/nbody_vector",
];

/// A device that says nothing of itself.
fn nothing() -> Machine {
    Machine {
        warp: 0,
        cache_line_bytes: 0,
        sector_bytes: 0,
        local_banks: 0,
        compute_units: 0,
        max_group_items: 0,
        max_unit_items: 0,
        max_unit_groups: 0,
        local_memory_bytes: 0,
        unit_local_memory_bytes: 0,
        unit_registers: 0,
        item_registers: 0,
        l1_bytes: 0,
        l2_bytes: 0,
    }
}

#[test]
fn names_differ() {
    let different: BTreeSet<&str> = names().iter().copied().collect();
    assert_eq!(different.len(), names().len());
}

/// Sizes that nobody gave or that cannot be, and devices that nobody knows, give numbers all the same.
#[test]
fn every_plan_has_numbers() {
    for name in PROGRAMS {
        let def = program(name);
        for target in [Target::Threads, Target::Loops] {
            let plan = plan(&def, target, &Sizes::new());
            let all = |size| def.sizes.iter().map(|v| (v.to_string(), size)).collect();
            for sizes in [Sizes::new(), all(0), all(-3), all(1 << 70), all(i128::MAX)] {
                for machine in [Machine::default(), Machine::processor(2), nothing()] {
                    let Features { values } = features(&plan, &sizes, &machine);
                    assert_eq!(values.len(), names().len());
                    let numbers = values.iter().all(|v| v.is_finite() && *v >= 0.0);
                    assert!(numbers, "{name} of {sizes:?}: {values:?}");
                }
            }
        }
    }
}

/// The same work in all, however it is divided.
#[test]
fn flops_of_a_product_are_the_same_in_every_form() {
    let sizes = sizes(&[("M", 128), ("K", 256), ("N", 512)]);
    for name in ["mm", "thesis/mm_local", "thesis/mm_register"] {
        for target in [Target::Threads, Target::Loops] {
            let plan = plan(&program(name), target, &sizes);
            let found = features(&plan, &sizes, &Machine::default());
            assert_eq!(found.get("total_flops"), Some(2.0 * 128.0 * 256.0 * 512.0), "{name}");
        }
    }
}

#[test]
fn loops_of_the_host_launch_again() {
    let def = text(
        "def f[N](xs: [f32; N]) -> [f32; N] = xs |> iterate(50, \\ys -> ys |> map(\\y -> y * 2.0));",
    );
    let sizes = sizes(&[("N", 4096)]);
    let found = features(&plan(&def, Target::Threads, &sizes), &sizes, &Machine::default());
    // The array is copied before and after.
    assert_eq!(found.get("launches"), Some(52.0));
    assert_eq!(found.get("kernels"), Some(3.0));
    assert_eq!(found.get("total_flops"), Some(50.0 * 4096.0));
}

/// A group of 256 work-items that asks for half of the local memory leaves room for one more.
#[test]
fn local_memory_limits_occupancy() {
    let def = text(
        "def f[N](xs: [f32; N]) -> [f32; N] where N % 256 == 0 launch local(256) global(N) =
           xs |> split(256) |> mapWrg(0)(\\part ->
             part |> mapLcl(0)(toLocal(\\x -> x + 1.0)) |> mapLcl(0)(toGlobal(\\x -> x * 2.0))) |> join;",
    );
    let sizes = sizes(&[("N", 65536)]);
    let plan = plan(&def, Target::Threads, &sizes);
    let machine = Machine {
        max_unit_items: 2048,
        unit_local_memory_bytes: 2048,
        local_memory_bytes: 2048,
        compute_units: 64,
        ..Machine::default()
    };
    let found = features(&plan, &sizes, &machine);
    assert_eq!(found.get("local_memory_bytes"), Some(1024.0));
    assert_eq!(found.get("occupancy"), Some(2.0 * 256.0 / 2048.0));
    // 256 groups, of which 128 run at once.
    assert_eq!(found.get("parallel"), Some(256.0));
    assert_eq!(found.get("balance"), Some(1.0));
}
