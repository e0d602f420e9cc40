//! Kernels as text of their own: what was written is read again.
#![allow(clippy::unwrap_used)]

mod common;

use common::*;
use lift_kernel::{Kernel, read, same_up_to_names, text, validate};

#[track_caller]
fn read_again(kernel: &Kernel) {
    let written = text(kernel);
    let again = read(&written).unwrap_or_else(|error| panic!("{error}\n{written}"));
    let [again] = again.as_slice() else { panic!("one kernel is {}:\n{written}", again.len()) };
    assert_eq!(text(again), written);
    assert!(same_up_to_names(again, kernel), "{written}");
    if let Err(errors) = validate(again) {
        panic!("{}\n{written}", errors.join("\n"));
    }
}

#[test]
fn what_was_written_is_read_again() {
    let kernels = [saxpy(), saxpy_1024(), partial_sum(), held_rows(), statements()];
    for kernel in kernels.iter().chain(&all_operations()) {
        read_again(kernel);
        read_again(&threaded(kernel));
    }
}

#[test]
fn changes_as_one_step_are_read_again() {
    read_again(&changes());
    read_again(&threaded(&changes()));
}

#[test]
fn several_kernels_are_read_from_one_text() {
    let both = format!("{}\n{}", text(&saxpy()), text(&partial_sum()));
    let names: Vec<String> = read(&both).unwrap().into_iter().map(|k| k.name).collect();
    assert_eq!(names, [saxpy().name, partial_sum().name]);
}

/// A kernel of these statements.
fn of(body: &str) -> String {
    format!(
        "kernel k(read global x: f32[N] align 16, write global r: f32[N] align 16, a: f32, N: size)
           launch local() global(N) loops
         {{
           for g0 < N global(0) {{
             {body}
           }}
         }}"
    )
}

#[test]
fn numbers_are_told_from_signs() {
    let body = "r[g0] = (((-1.5) + (-1.5 * a)) - (-x[g0]))";
    let written = text(&read(&of(body)).unwrap()[0]);
    assert!(written.contains(body), "{written}");
}

#[test]
fn errors_say_the_line_and_what_is_expected() {
    let refuses = |body: &str, line: usize, because: &str| {
        let error = read(&of(body)).unwrap_err();
        assert!(error.line == line && error.message.contains(because), "{error}");
    };
    refuses("r[g1] = a", 5, "there is no index `g1` here");
    refuses("r[g0] = b", 5, "there is no variable `b` here");
    refuses("y[g0] = a", 5, "there is no array `y`");
    refuses("r[g0] = (a ? a)", 5, "an operator is expected");
    refuses("r[g0] = frob(a)", 5, "there is no function `frob`");
    refuses("r[g0] = a a", 5, "the line ends before `a`");
    refuses("r[g0] = 1.2.3", 5, "`1.2.3` is no number");
    refuses("var b: f33", 5, "there is no type `f33`");
    refuses("r[a] = a", 5, "`a` is a variable");
    refuses("r[g0] = g0", 5, "`g0` is an index");
    refuses("for i < 4 twice {", 5, "`twice` runs no loop");
    refuses("atomic sub r[g0] = a", 5, "`sub` changes no element as one step");
    refuses("barrier all local", 5, "`group` or `warp` waits");
    refuses("if (a < 0.0) {", 7, "ends before its closing");
    assert_eq!(read("kernel").unwrap_err().line, 1);
    assert!(read(&"(".repeat(100_000)).is_err());
    assert!(read(&of(&format!("r[g0] = {}a", "(-".repeat(100_000)))).is_err());
}
