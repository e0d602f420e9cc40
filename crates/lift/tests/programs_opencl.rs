//! The programs of the collection on `opencl:pocl`. Each device has a process of its own, as a user's run has.

#![allow(clippy::unwrap_used)]

mod common;

#[test]
fn every_test_passes_through_opencl() {
    common::every_test_passes_on(&mut *lift::open("opencl:pocl").unwrap());
}
