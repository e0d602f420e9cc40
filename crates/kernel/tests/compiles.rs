//! C text of every statement, expression and scalar type, through the compiler of the system.
#![allow(clippy::unwrap_used)]

mod common;

use common::*;

#[test]
fn every_operation_of_every_type_compiles() {
    let folder = folder("operations");
    std::thread::scope(|scope| {
        for kernel in all_operations() {
            let folder = &folder;
            scope.spawn(move || compile_library(folder, &kernel.name, &in_c(&kernel)));
        }
    });
}

#[test]
fn every_statement_compiles() {
    let folder = folder("statements");
    for kernel in [saxpy(), partial_sum(), held_rows(), statements()] {
        compile_library(&folder, &kernel.name, &in_c(&kernel));
    }
}
