//! Lengths of parallel maps on `cpu`.

#![allow(clippy::unwrap_used)]

#[path = "common/lengths.rs"]
mod lengths;

#[test]
fn every_length_agrees() {
    lengths::every_length_agrees_on(&mut *lift::open("cpu").unwrap(), true);
}
