//! Triangles and tetrahedra of all sizes, on the interpreter and on devices of this machine.

#![allow(clippy::unwrap_used)]

#[path = "common/halves.rs"]
mod halves;

#[test]
fn every_size_agrees_on_the_processor() {
    let mut device = lift::open("cpu").unwrap();
    halves::every_size_agrees_on(&mut *device, [halves::MOST; 3]);
    halves::large_sizes_agree_on(&mut *device, &halves::LARGE_NAMES, &halves::LARGE);
}

#[test]
fn every_size_agrees_on_opencl() {
    let mut device = lift::open("opencl:pocl").unwrap();
    halves::every_size_agrees_on(&mut *device, [halves::MOST; 3]);
    halves::large_sizes_agree_on(&mut *device, &halves::LARGE_NAMES, &halves::LARGE);
}

#[test]
fn every_size_agrees_in_the_interpreter() {
    for def in &halves::program().defs {
        for n in 1..=halves::MOST {
            let found = lift_interp::run(def, &halves::args(&def.name, n), &lift::Sizes::new());
            let found = halves::numbers(&found.unwrap());
            assert!(found == halves::expected(&def.name, n), "{} at {n}", def.name);
        }
    }
}
