//! Flags that change kernels and not results.

#![allow(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

mod common;

use std::fs;

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
    let strided = "wg0 += (long)get_num_groups(0)";
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
fn tiles_are_fetched_early_unless_told_otherwise() {
    let next = "float4 next;";
    assert!(text("thesis/mm_local", &[]).contains(next));
    assert!(!text("thesis/mm_local", &["--no-pipeline"]).contains(next));
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

const WARPS: &str = "def flip[N](xs: [f32; N]) -> [f32; N]
  where N % 64 == 0
  launch local(64) global(N) =
  xs
  |> split(64)
  |> mapWrg(0)(\\chunk ->
    chunk
    |> split(8)
    |> mapWarp(0)(\\eight ->
      eight |> mapLane(0)(toLocal(id)) |> gather(reverse) |> mapLane(0)(toGlobal(id)))
    |> join)
  |> join;
test flips: flip(generate(64, \\i -> i as f32)) |> take(9) == [7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0, 0.0, 15.0];
";

#[test]
fn warps_are_as_wide_as_one_says() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.lift"), WARPS).unwrap();
    let run = |command: &[&str], width: &str| {
        in_folder(folder.path(), &[command, &["--warp", width]].concat())
    };
    // A warp of eight lanes leaves the rest of a device's warp idle.
    for (width, idle) in [("8", false), ("16", true), ("32", true)] {
        let text = run(&["compile", "a.lift", "--target", "cuda"], width).stdout;
        assert_eq!(text.contains(&format!("% {width} < 8")), idle, "{text}");
        for device in ["cpu", "opencl:pocl"] {
            let ran = run(&["test", "a.lift", "--device", device], width);
            assert_eq!(ran.stdout, "ok flips\n1 passed, 0 failed\n", "{device} {width}");
        }
    }
    let usual = in_folder(folder.path(), &["compile", "a.lift", "--target", "cuda"]).stdout;
    assert_eq!(usual, run(&["compile", "a.lift", "--target", "cuda"], "32").stdout);
}

#[test]
fn a_run_says_what_was_chosen() {
    let flags = ["--no-simplify", "control,accesses", "--pad-local", "2", "--warp", "16"];
    let program = "programs/thesis/partial_dot.lift";
    let run = |more: &[&str]| {
        let command = ["run", program, "x=ones", "y=ones", "--size", "N=256"];
        in_folder(&root(), &[&command[..], more].concat())
    };
    let said = |more: &[&str]| {
        let found: Value = serde_json::from_str(&run(more).stdout).unwrap();
        ["no_simplify", "pad_local", "warp", "result"].map(|key| found[key].clone())
    };
    let result = json!("[128.0, 128.0]");
    let with_flags = said(&[&flags[..], &["--json"]].concat());
    assert_eq!(with_flags, [json!(["accesses", "control"]), json!(2), json!(16), result.clone()]);
    let usual = [json!([]), json!(0), json!(32), result];
    assert_eq!(said(&["--json"]), usual);
    // The interpreter has no kernels.
    let interpreted = said(&[&flags[..], &["--json", "--device", "interp"]].concat());
    assert_eq!(interpreted, usual);
    let told = run(&flags).stderr;
    let lines = "\nnot simplified: accesses, control\nrows in local memory are padded by 2\n\
                 warps have 16 work-items\n";
    assert!(told.ends_with(lines), "{told}");
}

#[test]
fn unknown_simplifications_are_bad_usage() {
    let program = "programs/thesis/partial_dot.lift";
    for flag in [["--no-simplify", "loops"], ["--pad-local", "-1"], ["--warp", "0"]] {
        let command = [&["compile", program, "--target", "c"], &flag[..]].concat();
        let ran = in_folder(&root(), &command);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{flag:?} {}", ran.stderr);
    }
}
