//! Lengths of parallel maps on `opencl:pocl`.

#![allow(clippy::unwrap_used)]

#[path = "common/lengths.rs"]
mod lengths;

#[test]
fn every_length_agrees() {
    lengths::every_length_agrees_on(&mut *lift::open("opencl:pocl").unwrap(), true);
}
