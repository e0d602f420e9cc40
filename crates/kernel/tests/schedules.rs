//! How the threads of a processor share a loop.
#![allow(clippy::unwrap_used)]

mod common;

use common::in_c;
use lift_kernel::read;

/// The line above the parallel loop over `N` iterations of this body.
#[track_caller]
fn shared(body: &str) -> String {
    let text = format!(
        "kernel k(read global x: f32[N] align 16, read global n: i32[N] align 16, write global r: f32[N] align 16, N: size)
           launch local() global(N) loops
         {{
           for g0 < N global(0) {{
             {body}
           }}
         }}"
    );
    let text = in_c(&read(&text).unwrap()[0]);
    let line = text.lines().find(|line| line.contains("#pragma omp parallel"));
    line.unwrap_or_else(|| panic!("{text}")).trim().to_owned()
}

/// A sum over a loop of such an extent.
fn sum(before: &str, extent: &str) -> String {
    format!(
        "{before}
         var s: f32 = 0.0
         for i < {extent} seq {{
           s = (s + x[i])
         }}
         r[g0] = s"
    )
}

#[test]
fn iterations_that_are_equally_long_are_shared_evenly() {
    let even = "#pragma omp parallel for";
    assert_eq!(shared("r[g0] = x[g0]"), even);
    assert_eq!(shared(&sum("", "N")), even);
    // The last of several tiles.
    assert_eq!(shared(&sum("", "min(16, N - 16*g0)")), even);
}

#[test]
fn iterations_that_are_not_are_taken_one_after_the_other() {
    let uneven = "#pragma omp parallel for schedule(dynamic, N / 1024 + 1)";
    assert_eq!(shared(&sum("", "N - g0")), uneven);
    assert_eq!(shared(&sum("index m = (n[g0] as i64)", "m")), uneven);
}
