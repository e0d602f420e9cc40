//! Kernels with faults, and what Oclgrind says of them.

use lift::{Device, RuntimeError};
use lift_runtime::{Arg, ArgType, CompileOptions, Launch};

use crate::simulator::Simulator;

/// A kernel's text and a part of the report on it. `out` has an `int` for each of 64 work-items.
const FAULTS: &[(&str, &str)] = &[
    // Work-items of a group, then of two groups, write one element; the same value, too.
    (
        "kernel void k(global int *out) { if (get_group_id(0) == 0) out[0] = get_local_id(0); }",
        "Write-write data race at global memory",
    ),
    (
        "kernel void k(global int *out) { if (get_local_id(0) == 0) out[0] = get_group_id(0); }",
        "Write-write data race at global memory",
    ),
    ("kernel void k(global int *out) { out[0] = 7; }", "Write-write data race at global memory"),
    // A neighbour's element is read without a barrier, and across one for the other memory.
    (
        "kernel void k(global int *out) {
           local int tmp[32];
           const int l = get_local_id(0);
           tmp[l] = l;
           out[get_global_id(0)] = tmp[31 - l];
         }",
        "Read-write data race at local memory",
    ),
    (
        "kernel void k(global int *out) {
           local int tmp[32];
           const int l = get_local_id(0);
           tmp[l] = l;
           barrier(CLK_GLOBAL_MEM_FENCE);
           out[get_global_id(0)] = tmp[31 - l];
         }",
        "Read-write data race at local memory",
    ),
    // One element before and one after each memory.
    (
        "kernel void k(global int *out) { out[get_global_id(0) + 1] = 0; }",
        "Invalid write of size 4",
    ),
    (
        "kernel void k(global int *out) { const int g = get_global_id(0); out[g] = out[g - 1]; }",
        "Invalid read of size 4",
    ),
    (
        "kernel void k(global int *out) {
           local int tmp[32];
           tmp[get_local_id(0) + 1] = 0;
         }",
        "Invalid write of size 4 at local memory",
    ),
    (
        "kernel void k(global int *out) {
           int tmp[4];
           for (int i = 0; i <= 4; ++i) tmp[i] = i;
           out[get_global_id(0)] = tmp[get_local_id(0) % 4];
         }",
        "Invalid write of size 4 at private memory",
    ),
    // Half of the group waits at the barrier.
    (
        "kernel void k(global int *out) {
           if (get_local_id(0) < 16) barrier(CLK_LOCAL_MEM_FENCE);
         }",
        "divergence",
    ),
];

/// Each fault is an error of its launch; the same kernel without one is none.
pub fn every_fault_is_found(simulator: &mut Simulator) {
    let good = "kernel void k(global int *out) { out[get_global_id(0)] = 7; }";
    assert_eq!(launch(simulator, good), Ok(()));
    for (text, part) in FAULTS {
        match launch(simulator, text) {
            Err(RuntimeError::Failed { message, .. }) => {
                assert!(message.contains(part), "`{part}` is not in:\n{message}\n{text}");
            }
            other => panic!("{other:?} for\n{text}"),
        }
    }
    assert_eq!(launch(simulator, good), Ok(()));
}

/// Two groups of 32 work-items.
fn launch(simulator: &mut Simulator, text: &str) -> Result<(), RuntimeError> {
    let options = CompileOptions::default();
    let kernel = simulator.compile(text, "k", &[ArgType::Pointer], &options).unwrap();
    let out = simulator.allocate(64 * 4).unwrap();
    simulator.fill(out, 0).unwrap();
    let done = simulator.launch(kernel, &Launch::new([64, 1, 1], [32, 1, 1]), &[Arg::Buffer(out)]);
    simulator.free(out).unwrap();
    simulator.unload(kernel).unwrap();
    done.map(|_| ())
}
