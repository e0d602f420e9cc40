//! Lengths of parallel maps on `opencl:pocl`.

#![allow(clippy::unwrap_used)]

#[path = "common/lengths.rs"]
mod lengths;

#[test]
fn every_length_agrees() {
    let mut device = lift::open("opencl:pocl").unwrap();
    lengths::every_length_agrees_on(&mut *device, true);
    lengths::every_length_agrees_on(&mut *device, false);
}
