//! Flags that change kernels and not results.

#![allow(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

mod common;

use common::{in_folder, root};
use serde_json::{Value, json};

/// The text of a program's kernels in OpenCL C.
fn text(program: &str, flags: &[&str]) -> String {
    let path = format!("programs/{program}.lift");
    let command = ["compile", &path, "--target", "opencl"];
    let ran = in_folder(&root(), &[&command[..], flags].concat());
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{program} {flags:?}");
    ran.stdout
}

#[test]
fn loops_over_groups_stay_loops_where_control_is_not_simplified() {
    let strided = "wg0 += get_num_groups(0)";
    assert!(!text("thesis/partial_dot", &[]).contains(strided));
    assert!(text("thesis/partial_dot", &["--no-simplify", "control"]).contains(strided));
}

#[test]
fn barriers_stay_where_they_are_not_simplified() {
    let barriers = |flags: &[&str]| text("thesis/partial_dot", flags).matches("barrier(").count();
    let (few, many) = (barriers(&[]), barriers(&["--no-simplify", "barriers"]));
    assert!(few > 0 && many > few, "{few} and {many}");
}

#[test]
fn indices_are_longer_where_they_are_not_simplified() {
    // The index of a gather is divided by what it was multiplied with.
    let program = "thesis/transpose_gather";
    let simple = text(program, &[]);
    let long = text(program, &["--no-simplify", "accesses"]);
    for operator in [" / N", " % N"] {
        assert!(!simple.contains(operator), "{simple}");
        assert!(long.contains(operator), "{long}");
    }
}

#[test]
fn simplifications_are_left_out_together() {
    let both = text("thesis/partial_dot", &["--no-simplify", "barriers,control"]);
    let barriers = text("thesis/partial_dot", &["--no-simplify", "barriers"]);
    assert!(both.contains("get_num_groups(0)"), "{both}");
    assert_eq!(both.matches("barrier(").count(), barriers.matches("barrier(").count());
}

#[test]
fn rows_in_local_memory_are_padded() {
    let plain = text("stencil/jacobi2d_5_tiled", &[]);
    let padded = text("stencil/jacobi2d_5_tiled", &["--pad-local", "1"]);
    for (text, row) in [(plain, 18), (padded, 19)] {
        assert!(text.contains(&format!("tmp[{}]", 18 * row)), "{text}");
        assert!(text.contains(&format!("tmp[{row}*l1 + l0]")), "{text}");
    }
    assert_eq!(
        text("thesis/partial_dot", &[]),
        text("thesis/partial_dot", &["--pad-local", "1"]),
        "an array of one dimension has no rows"
    );
}

#[test]
fn results_stay_right() {
    let programs = ["thesis/partial_dot", "thesis/transpose_gather", "stencil/jacobi2d_5_tiled"]
        .map(|name| format!("programs/{name}.lift"));
    let flags: [&[&str]; 5] = [
        &["--no-simplify", "accesses"],
        &["--no-simplify", "barriers"],
        &["--no-simplify", "control"],
        &["--no-simplify", "accesses,barriers,control"],
        &["--pad-local", "1"],
    ];
    for device in ["cpu", "opencl:pocl"] {
        for flags in flags {
            let [a, b, c] = programs.each_ref().map(String::as_str);
            let command = ["test", a, b, c, "--device", device];
            let ran = in_folder(&root(), &[&command[..], flags].concat());
            assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{device} {flags:?}");
            assert!(ran.stdout.ends_with("\n3 passed, 0 failed\n"), "{flags:?}: {}", ran.stdout);
        }
    }
}

#[test]
fn a_run_says_what_was_chosen() {
    let flags = ["--no-simplify", "control,accesses", "--pad-local", "2"];
    let program = "programs/thesis/partial_dot.lift";
    let run = |more: &[&str]| {
        let command = ["run", program, "x=ones", "y=ones", "--size", "N=256"];
        in_folder(&root(), &[&command[..], more].concat())
    };
    let said = |more: &[&str]| {
        let found: Value = serde_json::from_str(&run(more).stdout).unwrap();
        (found["no_simplify"].clone(), found["pad_local"].clone(), found["result"].clone())
    };
    let result = json!("[128.0, 128.0]");
    let with_flags = said(&[&flags[..], &["--json"]].concat());
    assert_eq!(with_flags, (json!(["accesses", "control"]), json!(2), result.clone()));
    assert_eq!(said(&["--json"]), (json!([]), json!(0), result.clone()));
    // The interpreter has no kernels.
    let interpreted = said(&[&flags[..], &["--json", "--device", "interp"]].concat());
    assert_eq!(interpreted, (json!([]), json!(0), result));
    let told = run(&flags).stderr;
    let lines = "\nnot simplified: accesses, control\nrows in local memory are padded by 2\n";
    assert!(told.ends_with(lines), "{told}");
}

#[test]
fn unknown_simplifications_are_bad_usage() {
    let program = "programs/thesis/partial_dot.lift";
    for flag in [["--no-simplify", "loops"], ["--pad-local", "-1"]] {
        let command = [&["compile", program, "--target", "c"], &flag[..]].concat();
        let ran = in_folder(&root(), &command);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{flag:?} {}", ran.stderr);
    }
}
