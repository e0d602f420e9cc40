//! Every verb on good input: what it prints, what it writes, how it exits.

#![allow(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

mod common;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use common::{in_folder, npy, with_input};
use serde_json::{Value, json};

const DOT: &str = "def dot[N](x: [f32; N], y: [f32; N]) -> f32 =
  zip(x, y) |> map(\\(a, b) -> a * b) |> reduce(0.0, (+));

test small: dot([1.0, 2.0], [3.0, 4.0]) == 11.0;
";

/// A folder with one file in it.
fn folder_with(name: &str, text: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(name), text).unwrap();
    folder
}

fn floats(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

/// Runs `lift`, expects success, returns what it printed.
fn printed(folder: &Path, arguments: &[&str]) -> String {
    let ran = in_folder(folder, arguments);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{arguments:?} {}", ran.stdout);
    ran.stdout
}

fn json_of(folder: &Path, arguments: &[&str]) -> Value {
    serde_json::from_str(&printed(folder, arguments)).unwrap()
}

#[test]
fn check_prints_signatures() {
    let text = "const K = 4;
def a[M, K2](x: [[f32; K2]; M]) -> [f32; M] where M % K == 0, K2 > 1 = map(head, x);
def b[N; T = 16, U](x: [f32; N]) = x |> slide(3, 1) |> map(head);
def c[n, T: type](f: T -> T, // applied twice
  xs: [T; n]) -> [T; n] = map(f, map(f, xs));
def d() -> i32 = 1;
";
    let folder = folder_with("a.lift", text);
    assert_eq!(
        printed(folder.path(), &["check", "a.lift"]),
        "def a[M, K2](x: [[f32; K2]; M]) -> [f32; M] where M % 4 == 0, 1 < K2
def b[N; T = 16, U](x: [f32; N]) -> [f32; N - 2]
  needs 3 <= N
def c[n, T: type](f: T -> T, xs: [T; n]) -> [T; n]
def d() -> i32
"
    );
}

#[test]
fn check_json_has_everything() {
    let text = "def main[N; T = 2](x: [f32; N]) -> [f32; N - 2] where N % T == 0 =
  x |> slide(3, 1) |> map(head);
def other(x: f32) -> f32 = x;
";
    let folder = folder_with("a.lift", text);
    let found = json_of(folder.path(), &["check", "a.lift", "--json"]);
    assert_eq!(
        found[0],
        json!({
            "file": "a.lift", "name": "main", "sizes": ["N"], "types": [], "generic": false, "entry": true,
            "parameters": [{ "name": "T", "default": "2" }],
            "params": [{ "name": "x", "type": "[f32; N]" }],
            "result": "[f32; N - 2]", "where": ["N % T == 0"], "implied": ["3 <= N"],
        })
    );
    assert_eq!((&found[1]["name"], &found[1]["entry"]), (&json!("other"), &json!(false)));
}

#[test]
fn check_warns_about_broken_laws() {
    let folder = folder_with("a.lift", "def f[N](x: [i32; N]) -> i32 = reduce(0, (-), x);\n");
    let ran = in_folder(folder.path(), &["check", "a.lift"]);
    assert_eq!(ran.code, 0);
    assert_eq!(ran.stdout, "def f[N](x: [i32; N]) -> i32\n");
    for law in ["not associative", "not commutative", "not an identity"] {
        assert!(ran.stderr.contains(law), "{law}: {}", ran.stderr);
    }
    assert!(ran.stderr.contains("warning") && ran.stderr.contains("a.lift:1:32"), "{}", ran.stderr);
}

#[test]
fn fmt_formats_in_place_and_only_where_needed() {
    let folder = folder_with("a.lift", "def f [ N ](x:[f32;N])->f32=x[ 0 ] ; // first\n");
    let path = folder.path().join("a.lift");
    let check = in_folder(folder.path(), &["fmt", "--check", "a.lift"]);
    assert_eq!((check.code, check.stdout.as_str()), (1, "a.lift\n"));
    assert_eq!(printed(folder.path(), &["fmt", "a.lift"]), "");
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!(text, "def f[N](x: [f32; N]) -> f32 = x[0]; // first\n");
    assert_eq!(printed(folder.path(), &["fmt", "--check", "a.lift"]), "");
    let before = fs::metadata(&path).unwrap().modified().unwrap();
    assert_eq!(printed(folder.path(), &["fmt", "a.lift"]), "");
    assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), before, "it was not touched");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left over");
}

#[cfg(unix)]
#[test]
fn fmt_keeps_permissions_and_links() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = folder_with("a.lift", "const  A = 1;\n");
    let (path, link) = (folder.path().join("a.lift"), folder.path().join("link.lift"));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    symlink("a.lift", &link).unwrap();
    assert_eq!(printed(folder.path(), &["fmt", "link.lift"]), "");
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(&path).unwrap(), "const A = 1;\n");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
}

#[test]
fn fmt_leaves_broken_files_alone_and_goes_on() {
    let folder = folder_with("bad.lift", "def f( = ;  \n");
    fs::write(folder.path().join("good.lift"), "const  A = 1;\n").unwrap();
    let ran = in_folder(folder.path(), &["fmt", "bad.lift", "good.lift"]);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("bad.lift:1:"), "{}", ran.stderr);
    assert_eq!(fs::read_to_string(folder.path().join("bad.lift")).unwrap(), "def f( = ;  \n");
    assert_eq!(fs::read_to_string(folder.path().join("good.lift")).unwrap(), "const A = 1;\n");
}

#[test]
fn fmt_reads_standard_input() {
    let folder = tempfile::tempdir().unwrap();
    let ran = with_input(folder.path(), &["fmt", "-"], "const  A = 1;");
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "const A = 1;\n"));
    let ran = with_input(folder.path(), &["fmt", "--check", "-"], "const  A = 1;");
    assert_eq!((ran.code, ran.stdout.as_str()), (1, "-\n"));
}

#[test]
fn eval_prints_results() {
    let folder = folder_with("dot.lift", DOT);
    let eval =
        |arguments: &[&str]| printed(folder.path(), &[&["eval", "dot.lift"], arguments].concat());
    assert_eq!(eval(&["x=[1,2,3]", "y=[4.0,5.0,6.0]"]), "32.0\n");
    assert_eq!(eval(&["x=[1,2,3]", "y=ones"]), "6.0\n");
    assert_eq!(eval(&["x=iota", "y=iota", "--size", "N=4"]), "14.0\n");
    assert_eq!(eval(&["x=zeros", "y=random", "--size", "N=4"]), "0.0\n");
    assert_eq!(eval(&["--entry", "dot", "x=[-1e3]", "y=[inf]"]), "-inf\n");
    let random = |seed: &str| eval(&[seed, "y=ones", "--size", "N=100"]);
    assert_eq!(random("x=random:7"), random("x=random:7"));
    assert_ne!(random("x=random:7"), random("x=random:8"));
    assert_eq!(random("x=random"), random("x=random:0"));
}

#[test]
fn eval_abbreviates_long_results() {
    let text = "def f[N](x: [i32; N]) -> [i32; N] = map(id, x);\n";
    let folder = folder_with("a.lift", text);
    let shown = printed(folder.path(), &["eval", "a.lift", "x=iota", "--size", "N=1000"]);
    assert!(shown.starts_with("[0, 1, 2, ") && shown.ends_with(", 998, 999]\n"), "{shown}");
    assert!(shown.contains('…') && shown.len() < 200, "{shown}");
}

#[test]
fn eval_takes_every_kind_of_literal() {
    let text =
        "def f(a: bool, b: i8, c: u64, d: f16, e: (i32, [f64; 2]), v: f32x4, m: [[i16; 2]; 2])
  -> (bool, i8, u64, f16, (i32, [f64; 2]), f32x4, [[i16; 2]; 2]) = (a, b, c, d, e, v, m);
";
    let folder = folder_with("a.lift", text);
    let arguments = [
        "eval",
        "a.lift",
        "a=true",
        "b=-128",
        "c=18446744073709551615",
        "d=0.1",
        "e=(3, [1, 2.5])",
        "v=f32x4(1,2,3,4)",
        "m=[[1,2],[i16::min,4]]",
    ];
    assert_eq!(
        printed(folder.path(), &arguments),
        "(true, -128i8, 18446744073709551615u64, 0.099975586f16, (3, [1.0f64, 2.5f64]), \
         f32x4(1.0, 2.0, 3.0, 4.0), [[1i16, 2i16], [-32768i16, 4i16]])\n"
    );
}

#[test]
fn eval_chooses_parameters_by_size() {
    let text =
        "def f[N; T = 2](x: [i32; N]) -> [[i32; T]; N / T] where N % T == 0 = split(T, x);\n";
    let folder = folder_with("a.lift", text);
    let eval =
        |sizes: &[&str]| printed(folder.path(), &[&["eval", "a.lift", "x=iota"], sizes].concat());
    assert_eq!(eval(&["--size", "N=4"]), "[[0, 1], [2, 3]]\n");
    assert_eq!(eval(&["--size", "N=4,T=4"]), "[[0, 1, 2, 3]]\n");
    assert_eq!(eval(&["--size", "N=4", "--size", "T=1"]), "[[0], [1], [2], [3]]\n");
}

#[test]
fn eval_reads_and_writes_npy() {
    let text = "def f[M, N](x: [[f32; N]; M]) -> [[f32; M]; N] = transpose(x);\n";
    let folder = folder_with("a.lift", text);
    let data = npy("<f4", "(2, 3)", floats(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
    fs::write(folder.path().join("x.npy"), data).unwrap();
    let shown = printed(folder.path(), &["eval", "a.lift", "x=x.npy", "-o", "y.npy"]);
    assert_eq!(shown, "");
    let written = fs::read(folder.path().join("y.npy")).unwrap();
    let header = String::from_utf8_lossy(&written[8..written.len() - 24]).replace(' ', "");
    assert!(header.contains("'shape':(3,2)") && header.contains("'<f4'"), "{header}");
    assert!(written.ends_with(&floats(&[1.0, 4.0, 2.0, 5.0, 3.0, 6.0])));
    let back = printed(folder.path(), &["eval", "a.lift", "x=y.npy"]);
    assert_eq!(back, "[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]\n");
}

#[test]
fn eval_reads_fortran_order() {
    let folder = folder_with("a.lift", "def f[M, N](x: [[f32; N]; M]) -> [[f32; N]; M] = x;\n");
    let mut data = npy("<f4", "(2, 3)", floats(&[1.0, 4.0, 2.0, 5.0, 3.0, 6.0]));
    let at = data.windows(5).position(|w| w == b"False").unwrap();
    data[at..at + 5].copy_from_slice(b"True ");
    fs::write(folder.path().join("x.npy"), data).unwrap();
    let shown = printed(folder.path(), &["eval", "a.lift", "x=x.npy"]);
    assert_eq!(shown, "[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]\n");
}

#[test]
fn eval_carries_tuples_through_npz() {
    let text = "def make[N](x: [f32; N]) -> ([f32; N], [(i32, f32x2); N]) =
  (x, map(\\e -> (e as i32, f32x2(e)), x));
def take_apart[N](p: ([f32; N], [(i32, f32x2); N])) -> [f32; N] =
  zip(p.0, p.1) |> map(\\(a, (b, v)) -> a + b as f32 + v[1]);
";
    let folder = folder_with("a.lift", text);
    let make = ["eval", "a.lift", "--entry", "make", "x=[1,2,3]", "-o", "p.npz"];
    assert_eq!(printed(folder.path(), &make), "");
    let shown = printed(folder.path(), &["eval", "a.lift", "p=p.npz"]);
    assert_eq!(shown, "[3.0, 6.0, 9.0]\n");
}

#[test]
fn test_counts_and_explains() {
    let text = format!(
        "{DOT}test wrong: dot([1.0], [2.0]) == 3.0;
test rows: [[1, 2], [3, 4]] == [[1, 2], [3, 5]];
test broken: [1, 2][1 / 0] == 1;
"
    );
    let folder = folder_with("a.lift", &text);
    let ran = in_folder(folder.path(), &["test", "a.lift"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (1, ""));
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert_eq!(lines[0], "ok small");
    assert_eq!(lines[1..4], ["FAILED wrong (a.lift:5:1)", "  expected 3.0", "  found    2.0"]);
    assert_eq!(lines[4], "FAILED rows (a.lift:6:1)");
    assert!(ran.stdout.contains("first difference at [1][1]"), "{}", ran.stdout);
    assert!(ran.stdout.contains("division by zero"), "{}", ran.stdout);
    assert_eq!(lines.last(), Some(&"1 passed, 3 failed"));
}

#[test]
fn test_goes_on_after_files_with_errors() {
    let folder = folder_with("good.lift", DOT);
    fs::write(folder.path().join("bad.lift"), "test t: nope == 1;\n").unwrap();
    fs::write(folder.path().join("none.lift"), "const A = 1;\n").unwrap();
    let files = ["test", "bad.lift", "missing.lift", "none.lift", "good.lift"];
    let ran = in_folder(folder.path(), &files);
    assert_eq!(ran.code, 1);
    assert_eq!(ran.stdout, "none.lift has no tests\nok small\n1 passed, 0 failed\n");
    assert!(ran.stderr.contains("nope") && ran.stderr.contains("missing.lift"), "{}", ran.stderr);
    let ran = in_folder(folder.path(), &["test", "none.lift", "--device", "interp"]);
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (0, "none.lift has no tests\n0 passed, 0 failed\n")
    );
}

#[test]
fn test_leaves_imported_tests_to_their_file() {
    let folder = folder_with("dot.lift", DOT);
    let text = "import \"dot.lift\";\ntest own: dot([2.0], [2.0]) == 4.0;\n";
    fs::write(folder.path().join("a.lift"), text).unwrap();
    assert_eq!(printed(folder.path(), &["test", "a.lift"]), "ok own\n1 passed, 0 failed\n");
    assert_eq!(printed(folder.path(), &["check", "a.lift"]), "", "it has no definitions itself");
}

#[test]
fn test_json_has_a_row_a_test() {
    let folder = folder_with("a.lift", &format!("{DOT}test wrong: 1 == 2;\n"));
    let ran = in_folder(folder.path(), &["test", "a.lift", "--json"]);
    assert_eq!(ran.code, 1);
    let rows: Value = serde_json::from_str(&ran.stdout).unwrap();
    let small =
        json!({ "file": "a.lift", "name": "small", "line": 4, "column": 1, "passed": true });
    assert_eq!(rows[0], small);
    assert_eq!((&rows[1]["passed"], &rows[1]["expected"]), (&json!(false), &json!("2")));
    assert_eq!(rows[1]["found"], "1");
}

#[test]
fn nat_prints_the_simplified_size_only() {
    let folder = tempfile::tempdir().unwrap();
    let nat = |arguments: &[&str]| printed(folder.path(), &[&["nat"], arguments].concat());
    assert_eq!(nat(&["(i * N + j) / N", "--assume", "j < N"]), "i\n");
    assert_eq!(nat(&["(i * N + j) % N", "--assume", "0 <= j, j < N"]), "j\n");
    assert_eq!(nat(&["N // 4 * 4", "--assume", "N % 4 == 0"]), "N\n");
    assert_eq!(nat(&["-1 + 2"]), "1\n");
    assert_eq!(nat(&["gcd(12, 18) + min(3, 4)"]), "9\n");
    assert_eq!(nat(&["gcd(a, b)"]), "gcd(a, b)\n");
    assert_eq!(nat(&["i / N", "--assume", "i < M", "--assume", "M <= N"]), "0\n");
    let found = json_of(folder.path(), &["nat", "N + N", "--json"]);
    assert_eq!(found["expression"], "N + N");
    assert_eq!(found["simplified"].as_str().unwrap().replace(' ', ""), "2*N");
}

#[test]
fn usage_errors_exit_with_two() {
    let folder = folder_with("dot.lift", DOT);
    let usages: [&[&str]; 9] = [
        &[],
        &["frobnicate"],
        &["tune"],
        &["check"],
        &["check", "dot.lift", "--nope"],
        &["eval", "dot.lift", "x"],
        &["eval", "dot.lift", "--size", "N"],
        &["eval", "dot.lift", "-o", "out.txt"],
        &["test"],
    ];
    for usage in usages {
        let ran = in_folder(folder.path(), usage);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{usage:?}");
        assert!(!ran.stderr.is_empty(), "{usage:?}");
    }
}

#[test]
fn every_verb_explains_itself_with_an_example() {
    let folder = tempfile::tempdir().unwrap();
    for verb in ["check", "fmt", "eval", "test", "nat", "devices", "compile", "export", "run"] {
        let help = printed(folder.path(), &[verb, "--help"]);
        assert!(help.contains("Example") && help.contains(&format!("lift {verb}")), "{help}");
    }
}

#[test]
fn colours_are_for_terminals() {
    let folder = folder_with("bad.lift", "test t: nope == 1;\n");
    let run = |force: bool| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lift"));
        command.args(["check", "bad.lift"]).current_dir(folder.path());
        command.env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE");
        if force {
            command.env("CLICOLOR_FORCE", "1");
        }
        command.output().unwrap().stderr.contains(&0x1b)
    };
    assert!(!run(false), "standard error is no terminal here");
    assert!(run(true));
}

#[test]
fn a_closed_pipe_is_no_mistake() {
    let folder = folder_with("a.lift", "def f[N](x: [i32; N]) -> [i32; N] = map(id, x);\n");
    for arguments in [vec!["eval", "a.lift", "x=iota", "--size", "N=10"], vec!["check", "a.lift"]] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_lift"))
            .args(&arguments)
            .current_dir(folder.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), &*complaint), (Some(0), ""), "{arguments:?}");
    }
}
