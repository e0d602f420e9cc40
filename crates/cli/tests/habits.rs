//! The command line as its users expect it of any.

#![allow(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

mod common;

use std::fs;

use common::{in_folder, root, with_input};
use serde_json::{Value, json};

const DOT: &str = "def dot[N](x: [f32; N], y: [f32; N]) -> f32 =
  zip(x, y) |> map(\\(a, b) -> a * b) |> reduce(0.0, (+));
test small: dot([1.0, 2.0], [3.0, 4.0]) == 11.0;
";

/// Every verb that reads a program, on one that comes from elsewhere.
#[test]
fn a_dash_is_standard_input() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    fs::write(path.join("model.json"), "").unwrap();
    let commands: [(&[&str], &str); 9] = [
        (&["check", "-"], "def dot[N]("),
        (&["fmt", "-"], "def dot[N]("),
        (&["eval", "-", "x=[1,2]", "y=[3,4]"], "11.0\n"),
        (&["test", "-"], "ok small\n"),
        (&["compile", "-", "--target", "c"], "void dot"),
        (&["run", "-", "x=[1,2]", "y=[3,4]"], "11.0\n"),
        (&["rewrite", "-", "--apply", "reduce_to_seq"], "reduceSeq("),
        (&["tune", "-", "--size", "N=64", "--trials", "1", "--db", "t.db"], "// 1 tried"),
        (&["model", "features", "-", "--size", "N=64"], "total_flops"),
    ];
    for (command, expected) in commands {
        let ran = with_input(path, command, DOT);
        assert_eq!(ran.code, 0, "{command:?}: {}", ran.stderr);
        assert!(ran.stdout.contains(expected), "{command:?}: {}", ran.stdout);
    }
    let cross = ["bench", "cross", "--devices", "cpu", "--program", "-", "--size", "N=64"];
    let ran = with_input(path, &[&cross[..], &["--trials", "1", "--db", "c.db"]].concat(), DOT);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
}

#[test]
fn a_mistake_on_standard_input_has_its_place_and_imports_are_found() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("dot.lift"), DOT).unwrap();
    let ran = with_input(folder.path(), &["check", "-"], "def f(x: f32) -> f32 = y;\n");
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("standard input:1:24"), "{}", ran.stderr);
    let text = "import \"dot.lift\";\ndef twice[N](x: [f32; N]) -> f32 = 2.0 * dot(x, x);\n";
    let ran = with_input(folder.path(), &["eval", "-", "x=[1,2]"], text);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "10.0\n"), "{}", ran.stderr);
    let ran = with_input(folder.path(), &["check", "-"], "\u{feff}\u{0}");
    assert_eq!(ran.code, 1);
}

#[test]
fn check_takes_several_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    fs::write(path.join("dot.lift"), DOT).unwrap();
    fs::write(path.join("one.lift"), "def one() -> f32 = 1.0;\n").unwrap();
    fs::write(path.join("bad.lift"), "def bad() -> f32 = q;\n").unwrap();
    let ran = in_folder(path, &["check", "dot.lift", "one.lift"]);
    let expected = "// dot.lift\ndef dot[N](x: [f32; N], y: [f32; N]) -> f32\n\
                    // one.lift\ndef one() -> f32\n";
    assert_eq!((ran.code, ran.stdout.as_str()), (0, expected), "{}", ran.stderr);
    let ran = in_folder(path, &["check", "dot.lift", "one.lift", "--json"]);
    let rows: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((&rows[0]["file"], &rows[1]["file"]), (&json!("dot.lift"), &json!("one.lift")));
    assert_eq!(rows[1]["name"], "one");
    // One that is wrong does not hide the others, and nothing half is printed as JSON.
    let ran = in_folder(path, &["check", "bad.lift", "one.lift", "none.lift"]);
    assert_eq!(ran.code, 1);
    assert!(ran.stdout.ends_with("def one() -> f32\n"), "{}", ran.stdout);
    assert!(ran.stderr.contains("nothing is called `q`") && ran.stderr.contains("none.lift"));
    let ran = in_folder(path, &["check", "bad.lift", "one.lift", "--json"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""));
    assert_eq!(in_folder(path, &["check"]).code, 2);
}

#[test]
fn eval_prints_types_and_values_as_json() {
    let text = "def f[N](x: [[f32; N]; 2], b: bool, k: u64, h: f64) ->
  ([[f32; N]; 2], (bool, u64), f32x2, f64, [i8; 0]) =
  (x, (b, k), f32x2(1.0, 0.1), h, repeat(0, 1i8));\n";
    let command = ["eval", "-", "x=[[0.1,nan],[inf,-inf]]", "b=true", "k=18446744073709551615"];
    let folder = tempfile::tempdir().unwrap();
    let ran = with_input(folder.path(), &[&command[..], &["h=0.1", "--json"]].concat(), text);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let found: Value = serde_json::from_str(&ran.stdout).unwrap();
    let value = json!([
        [[0.1, "nan"], ["inf", "-inf"]],
        [true, 18_446_744_073_709_551_615_u64],
        [1.0, 0.1],
        0.1,
        []
    ]);
    let ty = "([[f32; 2]; 2], (bool, u64), f32x2, f64, [i8; 0])";
    assert_eq!(found, json!({ "type": ty, "value": value }));
    // All of it, however long.
    let text = "def g[N](x: [i32; N]) -> [i32; N] = x;\n";
    let ran =
        with_input(folder.path(), &["eval", "-", "x=iota", "--size", "N=1000", "--json"], text);
    let found: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(found["value"].as_array().unwrap().len(), 1000);
    assert_eq!(in_folder(folder.path(), &["eval", "-", "--json", "-o", "x.npy"]).code, 2);
}

#[test]
fn integer_programs_report_integer_operations() {
    let folder = tempfile::tempdir().unwrap();
    let run = |text: &str, more: &[&str]| {
        let command = ["run", "-", "x=ones", "--size", "N=100000"];
        with_input(folder.path(), &[&command[..], more].concat(), text)
    };
    let integers = "def f[N](x: [i32; N]) -> [i32; N] = x |> map(\\a -> a * 3 + 1);\n";
    let told = run(integers, &[]).stderr;
    assert!(told.contains(" Gop/s\n") && !told.contains("FLOP"), "{told}");
    let json: Value = serde_json::from_str(&run(integers, &["--json"]).stdout).unwrap();
    assert!(json["gop_per_s"].as_f64().unwrap() > 0.0 && json["gflop_per_s"].is_null());
    let floats = "def f[N](x: [f32; N]) -> [f32; N] = x |> map(\\a -> a * 3.0);\n";
    let told = run(floats, &[]).stderr;
    assert!(told.contains(" GFLOP/s\n") && !told.contains("Gop/s"), "{told}");
    // Nothing is computed: there is no rate of it.
    let copy = run("def f[N](x: [f32; N]) -> [f32; N] = x |> map(id);\n", &[]).stderr;
    assert!(copy.contains(" GB/s\n") && !copy.contains("op/s") && !copy.contains("FLOP"), "{copy}");
}

/// A blur of squares computes each square three times where it stores none; it asks for one.
#[test]
fn rates_count_what_the_program_asks_for() {
    let text = "def f[N](x: [f32; N]) -> [f32; N] =
  x |> map(\\a -> a * a) |> pad(1, 1, clamp) |> slide(3, 1) |> map(reduce(0.0, (+)));\n";
    let folder = tempfile::tempdir().unwrap();
    let command = ["run", "-", "x=ones", "--size", "N=65536", "--json"];
    let ran = with_input(folder.path(), &command, text);
    let found: Value = serde_json::from_str(&ran.stdout).unwrap();
    let [flops, bytes, ms] =
        ["gflop_per_s", "gb_per_s", "kernel_ms"].map(|k| found[k].as_f64().unwrap());
    let near = |found: f64, expected: f64| (found / expected - 1.0).abs() < 1e-9;
    assert!(near(flops * ms * 1e6, 4.0 * 65536.0), "{flops} {ms}");
    assert!(near(bytes * ms * 1e6, 8.0 * 65536.0), "{bytes} {ms}");
}

#[test]
fn large_results_print_three_rows() {
    let command = ["eval", "programs/mm.lift", "A=ones", "B=ones", "--size", "M=50,K=2,N=40"];
    let ran = in_folder(&root(), &command);
    let row = "[2.0, 2.0, 2.0, 2.0, …, 2.0, 2.0, 2.0]";
    assert_eq!(ran.stdout, format!("[{row},\n {row},\n …,\n {row}]\n"));
}

#[test]
fn shells_complete_commands() {
    for (shell, word) in
        [("bash", "complete -F"), ("zsh", "#compdef lift"), ("fish", "complete -c lift")]
    {
        let ran = in_folder(&root(), &["completions", shell]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert!(ran.stdout.contains(word) && ran.stdout.contains("print-config"), "{shell}");
    }
    assert_eq!(in_folder(&root(), &["completions", "dos"]).code, 2);
}

#[test]
fn there_is_a_manual() {
    let page = |verb: &[&str]| in_folder(&root(), &[&["man"], verb].concat());
    let ran = page(&[]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(
        ran.stdout.contains(".TH lift 1") && ran.stdout.contains("lift\\-tune(1)"),
        "{}",
        ran.stdout
    );
    let ran = page(&["model", "train"]);
    assert!(ran.stdout.contains(".TH lift-model-train 1"), "{}", ran.stdout);
    assert!(ran.stdout.contains("\\-\\-kind"), "{}", ran.stdout);
    assert_eq!((page(&["nothing"]).code, page(&["nothing"]).stdout.as_str()), (1, ""));
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(in_folder(folder.path(), &["man", "-o", "man1"]).code, 0);
    for name in ["lift.1", "lift-check.1", "lift-bench-cross.1", "lift-model-eval.1"] {
        assert!(folder.path().join("man1").join(name).is_file(), "{name}");
    }
    assert!(!folder.path().join("man1/lift-timed.1").exists());
}

#[test]
fn times_may_be_fractions() {
    let folder = tempfile::tempdir().unwrap();
    let tune = |time: &str| {
        let command =
            ["tune", "-", "--size", "N=64", "--trials", "1", "--db", "t.db", "--time", time];
        with_input(folder.path(), &command, DOT).code
    };
    assert_eq!(tune("3.0"), 0);
    assert_eq!(tune("2.5"), 0);
    for wrong in ["0", "-1", "nan", "soon", "1e999"] {
        assert_eq!(tune(wrong), 2, "{wrong}");
    }
}

#[test]
fn a_program_that_is_written_is_not_printed_too() {
    let folder = tempfile::tempdir().unwrap();
    let command =
        ["tune", "-", "--size", "N=64", "--trials", "2", "--db", "t.db", "-o", "best.lift"];
    let ran = with_input(folder.path(), &command, DOT);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stdout.starts_with("// wrote best.lift\n"), "{}", ran.stdout);
    assert!(ran.stdout.lines().all(|line| line.starts_with("//")), "{}", ran.stdout);
    assert!(fs::read_to_string(folder.path().join("best.lift")).unwrap().contains("def dot"));
}

#[test]
fn suggestions_make_sense() {
    let said = |body: &str| {
        let text = format!("def f[N](x: [f32; N]) -> [f32; N] = x |> {body};\n");
        let ran = with_input(&root(), &["check", "-"], &text);
        assert_eq!(ran.code, 1);
        ran.stderr
    };
    for other in ["filter(\\a -> a > 0.0)", "sort", "map(quux)"] {
        assert!(!said(other).contains("did you mean"), "{}", said(other));
    }
    assert!(said("mpa(\\a -> a)").contains("did you mean `map`?"));
    assert!(said("transpsoe").contains("did you mean `transpose`?"));
}
