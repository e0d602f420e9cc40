//! `lift run`, `lift devices` and `lift test --device`: programs on devices.

#![allow(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

mod common;

use std::fs;

use common::{Ran, in_folder, npy, root};
use serde_json::{Value, json};

const DEVICES: [&str; 3] = ["cpu", "opencl:pocl", "interp"];

fn folder_with(text: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.lift"), text).unwrap();
    folder
}

fn mm(device: &str, more: &[&str]) -> Ran {
    let matrices = ["A=[[1,2,3],[4,5,6]]", "B=[[1,0],[0,1],[2,-1]]"];
    let command = [&["run", "programs/mm.lift", "--device", device], &matrices[..], more].concat();
    in_folder(&root(), &command)
}

#[test]
fn results_are_the_same_everywhere() {
    for device in DEVICES {
        let ran = mm(device, &[]);
        assert_eq!(ran.stdout, "[[7.0, -1.0], [16.0, -1.0]]\n", "{device}: {}", ran.stderr);
        assert_eq!(ran.code, 0, "{device}");
        let timed = ran.stderr.starts_with("kernel time: ") && ran.stderr.contains(" GFLOP/s");
        assert_eq!(timed, device != "interp", "{device}: {}", ran.stderr);
    }
}

/// What a driver has to say of a kernel is not shown to who wrote none.
#[test]
fn warnings_of_drivers_are_not_shown() {
    // Kernels that were compiled before are not compiled again, so this one is another each time.
    let most = std::process::id();
    let folder = folder_with(&format!(
        "def f[N](a: [i32; N]) -> [i32; N] =
           generate(N, \\i -> if i > 0 && a[i - 1] > {most} || i + 1 < N && a[i + 1] > 2 then a[i] else -1);
         test one: f([17]) == [-1];\n"
    ));
    let ran = in_folder(folder.path(), &["test", "a.lift", "--device", "opencl:pocl"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{}", ran.stdout);
}

#[test]
fn the_cpu_is_the_default() {
    let folder = folder_with("def f[N](x: [i32; N]) -> i32 = reduce(0, (+), x);\n");
    let ran = in_folder(folder.path(), &["run", "a.lift", "x=iota", "--size", "N=1000", "--json"]);
    let found: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((&found["device"], &found["result"]), (&json!("cpu"), &json!("499500")));
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    // The sum of integers has no floating-point operations, but others.
    assert!(found["gflop_per_s"].is_null() && found["gop_per_s"].is_f64(), "{found}");
}

#[test]
fn json_has_times_and_rates() {
    for device in ["cpu", "opencl:pocl"] {
        let ran = mm(device, &["--repeat", "3", "--json"]);
        let found: Value = serde_json::from_str(&ran.stdout).unwrap();
        let ms = found["kernel_ms"].as_f64().unwrap();
        assert!(ms > 0.0, "{found:#}");
        let kernel = json!([{ "name": "mm", "ms": ms }]);
        assert_eq!((&found["kernels"], &found["variant"]), (&kernel, &json!("default")));
        // Two matrices of six floats go in, one of four comes out; 4 sums of 3 products.
        let close = |key: &str, count: f64| {
            let wanted = count / (ms * 1e6);
            let found = found[key].as_f64().unwrap();
            assert!((found / wanted - 1.0).abs() < 1e-6, "{key}: {found}, not {wanted}");
        };
        let of = |key: &str| found[key].as_f64().unwrap();
        let (allocation, transfer) = (of("allocation_ms"), of("transfer_ms"));
        assert!(of("compile_ms") > 0.0 && allocation > 0.0 && transfer > 0.0, "{found:#}");
        assert!(of("total_ms") > allocation + transfer, "{found:#}");
        close("gb_per_s", 64.0);
        close("gflop_per_s", 24.0);
    }
    let found: Value = serde_json::from_str(&mm("interp", &["--json"]).stdout).unwrap();
    let none = [
        "kernel_ms",
        "compile_ms",
        "allocation_ms",
        "transfer_ms",
        "total_ms",
        "gb_per_s",
        "gflop_per_s",
    ];
    for key in none {
        assert_eq!(found.get(key), Some(&Value::Null), "the interpreter runs no kernels");
    }
    assert_eq!(found["kernels"], json!([]));
}

#[test]
fn results_go_to_files() {
    let folder = folder_with("def f[N](x: [f32; N]) -> [f32; N] = map(\\e -> e * 2.0, x);\n");
    let floats = |all: &[f32]| all.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
    fs::write(folder.path().join("x.npy"), npy("<f4", "(3,)", floats(&[1.0, 2.0, 3.0]))).unwrap();
    let ran =
        in_folder(folder.path(), &["run", "a.lift", "x=x.npy", "-o", "y.npy", "--local", "2"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "{}", ran.stderr);
    let written = fs::read(folder.path().join("y.npy")).unwrap();
    assert!(written.ends_with(&floats(&[2.0, 4.0, 6.0])));
}

#[test]
fn launches_are_the_users_choice() {
    for device in ["cpu", "opencl:pocl"] {
        let ran = mm(device, &["--local", "4,2", "--global", "8,8"]);
        assert_eq!(ran.stdout, "[[7.0, -1.0], [16.0, -1.0]]\n", "{device}: {}", ran.stderr);
    }
}

#[test]
fn several_kernels_are_timed_one_by_one() {
    let command = ["run", "programs/reduce/sum.lift", "xs=ones", "--size", "N=100000"];
    let ran = in_folder(&root(), &command);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "100000.0\n"), "{}", ran.stderr);
    let kernels = ran.stderr.lines().filter(|l| l.starts_with("  sum")).count();
    assert!(kernels > 1, "{}", ran.stderr);
}

#[test]
fn extern_code_runs_where_it_is_allowed() {
    let text = "extern \"opencl,cuda,c\" fn twice(x: f32) -> f32 = \"return 2.0f * x;\";
def f[N](x: [f32; N]) -> [f32; N] = map(twice, x);
";
    let folder = folder_with(text);
    for device in ["cpu", "opencl:pocl"] {
        let command = ["run", "a.lift", "--device", device, "x=[1,2]", "--allow-extern"];
        let ran = in_folder(folder.path(), &command);
        assert_eq!(ran.stdout, "[2.0, 4.0]\n", "{device}: {}", ran.stderr);
        assert!(!ran.stderr.contains("GFLOP/s"), "what foreign code does is not known");
        let ran = in_folder(folder.path(), &command[..5]);
        assert_eq!((ran.code, ran.stdout.as_str()), (1, ""));
        assert!(ran.stderr.contains("--allow-extern"), "{}", ran.stderr);
    }
}

#[test]
fn fast_math_is_the_users_choice() {
    let text =
        "def numbers[N](x: [f32; N]) -> [f32; N] = map(\\e -> if e == e then 1.0 else 0.0, x);
test number: numbers([2.0]) == [1.0];
";
    let folder = folder_with(text);
    for device in ["cpu", "opencl:pocl"] {
        // Only a compiler that may ignore what is no number says that everything equals itself.
        let command = ["run", "a.lift", "--device", device, "x=[nan,2]"];
        let plain = in_folder(folder.path(), &command);
        assert_eq!(plain.stdout, "[0.0, 1.0]\n", "{device}");
        assert!(!plain.stderr.contains("fast math"), "{}", plain.stderr);
        let fast = in_folder(folder.path(), &[&command[..], &["--fast-math"]].concat());
        assert_eq!(fast.stdout, "[1.0, 1.0]\n", "{device}");
        assert!(fast.stderr.ends_with("\ncompiled with fast math\n"), "{}", fast.stderr);
        for (flags, expected) in [(&["--json"][..], false), (&["--json", "--fast-math"], true)] {
            let ran = in_folder(folder.path(), &[&command[..], flags].concat());
            let found: Value = serde_json::from_str(&ran.stdout).unwrap();
            assert_eq!(found["fast_math"], expected, "{device}");
        }
        let test = ["test", "a.lift", "--device", device, "--fast-math"];
        assert_eq!(in_folder(folder.path(), &test).stdout, "ok number\n1 passed, 0 failed\n");
    }
}

#[test]
fn unchecked_indices_are_the_users_choice() {
    let text = "def pick[N, M](xs: [f32; N], at: [i32; M]) -> [f32; M] = map(\\i -> xs[i], at);
test last: pick([1.0, 2.0], [1]) == [2.0];
";
    let folder = folder_with(text);
    for device in ["cpu", "opencl:pocl"] {
        let command = ["run", "a.lift", "--device", device, "xs=[1,2]"];
        let run = |more: &[&str]| in_folder(folder.path(), &[&command[..], more].concat());
        let outside = run(&["at=[0,2]"]);
        assert_eq!((outside.code, outside.stdout.as_str()), (1, ""), "{device}");
        assert!(outside.stderr.contains("outside an array of length 2"), "{}", outside.stderr);
        let unchecked = run(&["at=[1,0]", "--unchecked"]);
        assert_eq!(unchecked.stdout, "[2.0, 1.0]\n", "{device}");
        assert!(unchecked.stderr.ends_with("\nindices were not checked\n"), "{}", unchecked.stderr);
        let found: Value =
            serde_json::from_str(&run(&["at=[1,0]", "--unchecked", "--json"]).stdout).unwrap();
        assert_eq!(found["unchecked"], true);
        let test = ["test", "a.lift", "--device", device, "--unchecked"];
        assert_eq!(in_folder(folder.path(), &test).stdout, "ok last\n1 passed, 0 failed\n");
    }
    let compile = |more: &[&str]| {
        let command = ["compile", "a.lift", "--target", "opencl"];
        in_folder(folder.path(), &[&command[..], more].concat()).stdout
    };
    assert!(compile(&[]).contains("status"));
    assert!(!compile(&["--unchecked"]).contains("status"));
}

#[test]
fn devices_are_listed() {
    let ran = in_folder(&root(), &["devices", "--json"]);
    assert_eq!(ran.code, 0);
    let found: Vec<Value> = serde_json::from_str(&ran.stdout).unwrap();
    let cpu = &found[0];
    assert_eq!(
        (&cpu["id"], &cpu["kind"], &cpu["language"]),
        (&json!("cpu"), &json!("cpu"), &json!("c"))
    );
    for device in &found {
        for key in ["compute_units", "memory_bytes", "max_group_size", "local_memory_bytes"] {
            assert!(device[key].as_u64().unwrap() > 0, "{key} of {device}");
        }
        assert!(!device["name"].as_str().unwrap().is_empty() && device["driver"].is_string());
    }
    assert!(found.iter().any(|d| d["id"] == "opencl:0" && d["language"] == "opencl"));
    let has = |kind: &str| found.iter().any(|d| d["language"] == kind);
    assert_eq!(ran.stderr.contains("cuda: "), !has("cuda"), "{}", ran.stderr);
    let table = in_folder(&root(), &["devices"]).stdout;
    assert_eq!(table.lines().count(), found.len() + 1, "{table}");
    assert!(table.starts_with("id ") && table.contains("\ncpu "), "{table}");
}

#[test]
fn unknown_devices_are_refused() {
    let commands: [&[&str]; 3] = [
        &["run", "programs/mm.lift", "--device", "gpu", "A=[[1]]", "B=[[1]]"],
        &["run", "programs/mm.lift", "--device", "opencl:nonesuch", "A=[[1]]", "B=[[1]]"],
        &["test", "programs/mm.lift", "--device", "cpu:1"],
    ];
    for command in commands {
        let ran = in_folder(&root(), command);
        assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{command:?}");
        let start = format!("error: there is no device `{}`; available are:\n  cpu (", command[3]);
        assert!(ran.stderr.starts_with(&start), "{}", ran.stderr);
    }
}

#[test]
fn bad_usage_exits_with_two() {
    for usage in [["--repeat", "0"], ["--local", "16,"], ["--global", "-1"], ["-o", "out.txt"]] {
        let ran = mm("cpu", &usage);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{usage:?} {}", ran.stderr);
    }
}

const TESTS: &str = "def f[N](x: [f32; N]) -> f32 = reduce(0.0, (+), x);
def wide[N](x: [i32; N]) -> [i32; N] = map(\\e -> e + 1, x);
test sum: f([1.0, 2.0]) == 3.0;
test closed: [1, 2][1] == 2;
test wrong: wide([1]) == [1];
";

#[test]
fn tests_run_on_devices() {
    let folder = folder_with(TESTS);
    for device in DEVICES {
        let ran = in_folder(folder.path(), &["test", "a.lift", "--device", device]);
        let lines: Vec<&str> = ran.stdout.lines().collect();
        assert_eq!((ran.code, ran.stderr.as_str()), (1, ""));
        // What the interpreter already finds wrong is said as without a device.
        assert_eq!(lines[..3], ["ok sum", "ok closed", "FAILED wrong (a.lift:5:1)"]);
        assert_eq!(lines.last(), Some(&"2 passed, 1 failed"));
    }
}

#[test]
fn tests_that_only_a_device_fails_name_it() {
    // No device has groups so large.
    let text = "def f[N](x: [i32; N]) -> [i32; N]
  launch local(1000000) global(1000000) = mapGlb(0, \\e -> e + 1, x);
test big: f([1, 2]) == [2, 3];
";
    let folder = folder_with(text);
    let ran = in_folder(folder.path(), &["test", "a.lift", "--device", "opencl:pocl"]);
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    assert_eq!(lines[0], "FAILED big (on opencl:pocl)");
    assert_eq!(lines[1], "  the test at a.lift:3:1");
    assert_eq!(lines.last(), Some(&"0 passed, 1 failed"));
    let json = ["test", "a.lift", "--device", "opencl:pocl", "--json"];
    let rows: Value = serde_json::from_str(&in_folder(folder.path(), &json).stdout).unwrap();
    assert_eq!((&rows[0]["passed"], &rows[0]["device"]), (&json!(false), &json!("opencl:pocl")));
}

#[test]
fn explain_says_what_kernels_do() {
    let file = "programs/users/softmax.lift";
    let arguments = ["run", file, "x=[[1.0, 2.0], [3.0, 4.0]]", "--untuned", "--explain"];
    let ran = in_folder(&root(), &arguments);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stdout.starts_with("softmax: "), "{}", ran.stdout);
    assert!(ran.stdout.contains("\n  reads x\n"), "{}", ran.stdout);
    let ran = in_folder(&root(), &[arguments.as_slice(), &["--json"]].concat());
    let said: Value = serde_json::from_str(&ran.stdout).unwrap();
    let kernels = said["plan"].as_array().unwrap();
    assert_eq!(kernels.len(), said["kernels"].as_array().unwrap().len());
    assert!(kernels.iter().all(|kernel| !kernel["why"].as_array().unwrap().is_empty()), "{said}");
}

/// An array may be of no elements where no size has to be 0 for it.
#[test]
fn empty_lists_are_arguments() {
    let folder = folder_with(
        "domain upper[n] = { (a, b) | a < b, b < n };
         def total[N](t: [f32 in upper[N]]) -> f32 = reduce(1.5, (+), t);
         def count[N](t: [[f32; 3]; N - 1]) -> (i32, f32) = (N, reduce(2.5, (+), join(t)));\n",
    );
    for device in DEVICES {
        let run = |entry: &str| {
            in_folder(
                folder.path(),
                &["run", "a.lift", "--entry", entry, "--device", device, "t=[]"],
            )
        };
        assert_eq!(run("total").stdout, "1.5\n", "{device}");
        assert_eq!(run("count").stdout, "(1, 2.5)\n", "{device}");
    }
}
