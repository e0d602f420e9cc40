//! What devices and programs refuse: the exact words, and that nothing is written.

#![allow(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

mod common;

use std::fs;
use std::path::Path;

use common::{Ran, in_folder, with_env};
use serde_json::Value;

const PROGRAMS: &str = r#"
def twice[N](x: [f32; N]) -> [f32; N] = map(\e -> e * 2.0, x);

def outer[N](x: [f32; N]) -> [[f32; N]; N] = map(\a -> map(\b -> a * b, x), x);

def halves[N](x: [f32; N]) -> [f32; N / 2] where N % 2 == 0 = x |> split(2) |> map(head);

def tile[N](x: [f32; N]) -> [f32; N] where N % 1000000 == 0 =
  x |> split(1000000)
    |> mapWrg(0)(\c -> c |> mapLcl(0)(toLocal(id)) |> mapLcl(0)(toGlobal(id)))
    |> join;

extern "opencl,cuda,c" fn bad(x: f32) -> f32 = "return x +;";
def broken[N](x: [f32; N]) -> [f32; N] = map(bad, x);

extern "opencl" fn foreign(x: f32) -> f32 = "return x;";
def only_opencl[N](x: [f32; N]) -> [f32; N] = map(foreign, x);
test foreign_one: only_opencl([1.0]) == [1.0];
"#;

const LESS_MEMORY: &str = "use smaller sizes or a device with more memory";

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.lift"), PROGRAMS).unwrap();
    folder
}

/// Every file of a folder with its contents, in order.
fn contents(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let bytes = if path.is_dir() { b"a folder".to_vec() } else { fs::read(&path).unwrap() };
        found.push((path.display().to_string(), bytes));
    }
    found.sort();
    found
}

/// Runs a definition with the result going to a file, once where there is none and once where there is:
/// it fails both times with the same words and leaves all files as they were.
fn refused_with(entry: &str, arguments: &[&str], env: &[(&str, &str)]) -> String {
    let folder = folder();
    let run = || -> Ran {
        let command = [&["run", "a.lift", "--entry", entry, "-o", "out.npy"], arguments].concat();
        let before = contents(folder.path());
        let ran = with_env(folder.path(), &command, env);
        assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{arguments:?}: {}", ran.stderr);
        assert_eq!(contents(folder.path()), before, "{arguments:?}");
        ran
    };
    let first = run();
    fs::write(folder.path().join("out.npy"), "what was there before").unwrap();
    assert_eq!(run().stderr, first.stderr);
    first.stderr
}

fn refused(entry: &str, arguments: &[&str]) -> String {
    refused_with(entry, arguments, &[])
}

/// A property of a device, as `lift devices` says it.
fn limit(device: &str, key: &str) -> u64 {
    let ran = in_folder(folder().path(), &["devices", "--json"]);
    let all: Vec<Value> = serde_json::from_str(&ran.stdout).unwrap();
    all.iter().find(|d| d["id"] == device).unwrap()[key].as_u64().unwrap()
}

#[test]
fn sizes_that_break_a_clause() {
    let expected = "\
error: `where N % 2 == 0` does not hold: N = 3
  ┌─ a.lift:6:50
  │
6 │ def halves[N](x: [f32; N]) -> [f32; N / 2] where N % 2 == 0 = x |> split(2) |> map(head);
  │                                                  ^^^^^^^^^^

";
    for device in ["cpu", "opencl:0", "interp"] {
        for input in [&["x=[1,2,3]"][..], &["x=random", "--size", "N=3"]] {
            let arguments = [&["--device", device], input].concat();
            assert_eq!(refused("halves", &arguments), expected, "{device}");
        }
    }
}

#[test]
fn groups_that_are_too_large() {
    for device in ["cpu", "opencl:0"] {
        let allowed = limit(device, "max_group_size");
        let local = (allowed + 1).to_string();
        let sizes = ["--size", "N=100000", "--local", &local];
        let found = refused("twice", &[&["--device", device, "x=ones"], &sizes[..]].concat());
        assert_eq!(
            found,
            format!(
                "error: {device}: the work-group size in dimension 0 is {local}, \
                 allowed is {allowed}; choose a smaller local size\n\n"
            )
        );
    }
}

#[test]
fn more_local_memory_than_there_is() {
    for device in ["cpu", "opencl:0"] {
        let allowed = limit(device, "local_memory_bytes");
        let found = refused("tile", &["--device", device, "x=ones", "--size", "N=1000000"]);
        assert_eq!(
            found,
            format!(
                "error: {device}: the local memory of the kernel `tile` in bytes is 4000000, \
                 allowed is {allowed}; choose smaller tiles\n\n"
            )
        );
    }
}

#[test]
fn inputs_that_are_too_large() {
    let allowed = limit("cpu", "max_buffer_bytes");
    assert_eq!(
        refused("twice", &["x=random", "--size", "N=1000000000000"]),
        format!(
            "error: cpu: the size of the buffer `x` in bytes is 4000000000000, \
             allowed is {allowed}; {LESS_MEMORY}\n\n"
        )
    );
    // What this driver allows changes from run to run.
    let found =
        refused_start("twice", &["--device", "opencl:0", "x=random", "--size", "N=1000000000000"]);
    assert_eq!(
        found,
        "error: opencl:0: the size of the buffer `x` in bytes is 4000000000000, allowed is "
    );
}

/// The message up to the last number in it.
fn refused_start(entry: &str, arguments: &[&str]) -> String {
    let folder = folder();
    let command = [&["run", "a.lift", "--entry", entry, "-o", "out.npy"], arguments].concat();
    let ran = in_folder(folder.path(), &command);
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{}", ran.stderr);
    assert!(!folder.path().join("out.npy").exists());
    let text = ran.stderr.strip_suffix(&format!("; {LESS_MEMORY}\n\n")).unwrap();
    text.trim_end_matches(|c: char| c.is_ascii_digit()).to_string()
}

#[test]
fn results_that_are_too_large() {
    let allowed = limit("cpu", "max_buffer_bytes");
    assert_eq!(
        refused("outer", &["x=random", "--size", "N=1000000"]),
        format!(
            "error: cpu: the size of the buffer `result` in bytes is 4000000000000, \
             allowed is {allowed}; {LESS_MEMORY}\n\n"
        )
    );
    assert_eq!(
        refused("outer", &["x=random", "--size", "N=30000"]),
        "error: the result takes 3600000000 bytes, more than the 2147483648 that one array may \
         take on the host\n\n"
    );
    assert_eq!(
        refused("twice", &["x=random", "--size", "N=100000000000000000000000000000000000000"]),
        "error: the size `N`: 100000000000000000000000000000000000000 does not fit in 64 bits, as sizes do\n\n"
    );
    // In bytes it is beyond 64 bits.
    let largest = refused("twice", &["x=random", "--size", "N=9223372036854775807"]);
    assert!(largest.starts_with("error: cpu: the size of the buffer `x` in bytes is"), "{largest}");
}

#[test]
fn a_missing_compiler() {
    let advice = "install gcc or clang, or set CC to a C compiler";
    for (env, name) in [(("PATH", ""), "cc"), (("CC", "/nonexistent/cc"), "/nonexistent/cc")] {
        assert_eq!(
            refused_with("twice", &["x=[1]"], &[env]),
            format!("error: the C compiler `{name}` is not installed; {advice}\n\n")
        );
    }
}

/// A folder with a file in the place of a library, which is found before the system's and is none.
fn instead_of(libraries: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for library in libraries {
        fs::write(folder.path().join(library), "not a library").unwrap();
    }
    folder
}

#[test]
fn a_missing_opencl() {
    let instead = instead_of(&["libOpenCL.so.1"]);
    let path = [("LD_LIBRARY_PATH", instead.path().to_str().unwrap())];
    assert_eq!(
        refused_with("twice", &["--device", "opencl:0", "x=[1]"], &path),
        "error: libOpenCL.so.1 is not installed; install an OpenCL loader (Debian: \
         ocl-icd-libopencl1) and a driver for the device, or use another device\n\n"
    );
    let no_driver = [("OCL_ICD_VENDORS", "/nonexistent")];
    assert_eq!(
        refused_with("twice", &["--device", "opencl:0", "x=[1]"], &no_driver),
        "error: no OpenCL driver offers a device; install the vendor's driver, or pocl-opencl-icd \
         to run on the CPU\n\n"
    );
}

#[test]
fn a_missing_cuda() {
    let instead = instead_of(&["libcuda.so", "libcuda.so.1"]);
    let path = [("LD_LIBRARY_PATH", instead.path().to_str().unwrap())];
    assert_eq!(
        refused_with("twice", &["--device", "cuda:0", "x=[1]"], &path),
        "error: libcuda.so.1 is not installed; install NVIDIA's driver, or use another device\n\n"
    );
}

#[test]
fn devices_that_do_not_exist() {
    let ran = in_folder(folder().path(), &["devices", "--json"]);
    let all: Vec<Value> = serde_json::from_str(&ran.stdout).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_string();
    let there = all.iter().map(|d| format!("\n  {} ({})", text(&d["id"]), text(&d["name"])));
    // What is missing is listed with the reason, which `lift devices` says on standard error.
    let missing = ran.stderr.lines().map(|line| format!("\n  {line}"));
    let available: String = there.chain(missing).collect();
    for id in ["opencl:9", "opencl:foo", "gpu", "cpu:1"] {
        assert_eq!(
            refused("twice", &["--device", id, "x=[1]"]),
            format!("error: there is no device `{id}`; available are:{available}\n\n")
        );
    }
}

#[test]
fn code_that_the_devices_compiler_refuses() {
    let found = refused("broken", &["--device", "cpu", "--allow-extern", "x=[1]"]);
    assert!(found.starts_with("error: cpu: cc does not compile the kernel `broken`:\n"), "{found}");
    assert!(found.contains("error: expected expression before"), "{found}");
    assert!(found.contains("> 4 |   return x +;\n"), "{found}");
    let folder = folder();
    let command = ["run", "a.lift", "--entry", "broken", "--device", "opencl:0", "--allow-extern"];
    let ran = in_folder(folder.path(), &[&command[..], &["x=[1]", "-o", "out.npy"]].concat());
    let (found, before) = (ran.stderr, "the OpenCL driver does not compile the kernel `broken`:\n");
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""));
    assert!(found.contains(before) && found.contains("expected expression"), "{found}");
    assert!(found.contains("> 2 |   return x +;\n"), "{found}");
    assert!(!folder.path().join("out.npy").exists());
}

#[test]
fn extern_code_for_other_targets() {
    let said = |target: &str| {
        format!("the extern function `foreign` has no code for `{target}`, only for `opencl`")
    };
    let found = refused("only_opencl", &["--device", "cpu", "--allow-extern", "x=[1]"]);
    assert_eq!(found, format!("error: {}\n\n", said("c")));
    let folder = folder();
    let compile = ["compile", "a.lift", "--entry", "only_opencl", "--allow-extern", "-o", "out"];
    for target in ["c", "cuda"] {
        let ran = in_folder(folder.path(), &[&compile[..], &["--target", target]].concat());
        assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{target}");
        assert_eq!(ran.stderr, format!("error: {}\n\n", said(target)));
        assert!(!folder.path().join("out").exists());
    }
    let test = ["test", "a.lift", "--allow-extern", "--device"];
    let ran = in_folder(folder.path(), &[&test[..], &["cpu"]].concat());
    let failed = "FAILED foreign_one (on cpu)\n  the test at a.lift:18:1\n";
    let expected = format!("{failed}error: {}\n\n0 passed, 1 failed\n", said("c"));
    assert_eq!((ran.code, ran.stdout), (1, expected));
    let ran = in_folder(folder.path(), &[&test[..], &["opencl:0"]].concat());
    let expected = "ok foreign_one (extern code: on the device only)\n1 passed, 0 failed\n";
    assert_eq!((ran.code, ran.stdout.as_str()), (0, expected), "{}", ran.stderr);
    let ran = in_folder(folder.path(), &[&compile[..], &["--target", "opencl"]].concat());
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert!(folder.path().join("out/plan.json").exists());
}
