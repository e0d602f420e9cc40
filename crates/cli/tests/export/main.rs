//! `lift export`: libraries that build with a C compiler alone, and are called from C, C++ and Rust.

#![allow(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

#[path = "../common/mod.rs"]
mod common;
mod cuda;
mod opencl;

use std::fs;
use std::path::Path;
use std::process::Command;

use common::{in_folder, programs, root};

const STRICT: &[&str] = &[
    "-std=gnu11",
    "-g",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-fsanitize=address,undefined",
    "-fno-sanitize-recover=all",
    "-fwrapv",
];

const CHAIN: &str =
    "def chain[N](a: f32, xs: [f32; N], at: [i32; N]) -> [(f32, i32); N] where N % 4 == 0 =
  let sum = xs |> reduce(0.0, (+));
  zip(at, generate(N, \\i -> i)) |> map(\\(k, i) -> (a * xs[k] + sum, i));
";

/// Exports a program to a folder; it is the folder's only guest.
fn export(arguments: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().to_str().unwrap();
    let ran = in_folder(&root(), &[&["export"], arguments, &["-o", output]].concat());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    folder
}

fn export_text(text: &str, arguments: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.lift"), text).unwrap();
    let ran = in_folder(folder.path(), &[&["export", "a.lift"], arguments, &["-o", "."]].concat());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    folder
}

fn caller(name: &str) -> String {
    root().join("crates/cli/tests/export").join(name).to_str().unwrap().to_string()
}

/// Runs a command in a folder where neither cargo nor lift is on the path.
fn done(folder: &Path, command: &str, arguments: &[&str]) -> String {
    let output = Command::new(command)
        .args(arguments)
        .current_dir(folder)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .output()
        .unwrap();
    let [out, err] = [&output.stdout, &output.stderr].map(|s| String::from_utf8_lossy(s));
    assert!(output.status.success(), "{command} {arguments:?}\n{out}{err}");
    out.into_owned()
}

fn passes(folder: &Path) {
    assert_eq!(done(folder, "./program", &[]).trim(), "passed");
}

fn mm() -> tempfile::TempDir {
    let at = ["--at", "M=32,K=24,N=40", "--at", "M=16,K=16,N=16"];
    export(&[&["programs/mm.lift", "--target", "c"][..], &at].concat())
}

#[test]
fn a_library_is_called_from_eight_threads_at_sizes_listed_and_others() {
    let folder = mm();
    let sources = ["mm.c", &caller("mm.c"), "-I.", "-lm", "-lpthread", "-o", "program"];
    done(folder.path(), "cc", &[STRICT, &["-O1", "-fopenmp"], &sources].concat());
    passes(folder.path());
    // Without OpenMP too, and as programs are built that are delivered.
    done(folder.path(), "cc", &[STRICT, &sources].concat());
    passes(folder.path());
    let fast = ["-O3", "-march=native", "-fopenmp", "-fwrapv"];
    done(folder.path(), "cc", &[&fast[..], &sources].concat());
    passes(folder.path());
}

#[test]
fn sizes_that_are_listed_have_kernels_of_their_own() {
    let folder = mm();
    let source = fs::read_to_string(folder.path().join("mm.c")).unwrap();
    assert!(source.contains("if (M == 32 && K == 24 && N == 40) return mm_at0("), "{source}");
    assert!(source.contains("if (M == 16 && K == 16 && N == 16) return mm_at1("), "{source}");
    // The open kernel takes sizes, the others none.
    let kernel = |name: &str| {
        source.lines().find(|l| l.starts_with(&format!("static void {name}("))).unwrap()
    };
    assert!(kernel("mm_open_kernel0").contains("int64_t K"));
    assert!(!kernel("mm_at0_kernel0").contains("int64_t K"));
}

/// The form that tuning found stands in the library, and computes the same.
#[test]
fn a_form_that_was_tuned_is_exported() {
    let folder = tempfile::tempdir().unwrap();
    let (db, output) = (folder.path().join("tune.db"), folder.path().join("out"));
    let [db, output] = [&db, &output].map(|path| path.to_str().unwrap());
    let sizes = "M=32,K=24,N=40";
    let tune = ["tune", "programs/mm.lift", "--size", sizes, "--trials", "6", "--db", db];
    let tuned = in_folder(&root(), &tune);
    assert_eq!(tuned.code, 0, "{}", tuned.stderr);
    let export =
        ["export", "programs/mm.lift", "--target", "c", "--at", sizes, "--db", db, "-o", output];
    let ran = in_folder(&root(), &export);
    assert!(ran.stderr.contains("K = 24, M = 32, N = 40: the tuned program "), "{}", ran.stderr);
    let ran = in_folder(&root(), &[&export[..], &["--untuned"]].concat());
    assert!(!ran.stderr.contains("the tuned program"), "{}", ran.stderr);
    let ran = in_folder(&root(), &export);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let sources = ["mm.c", &caller("mm.c"), "-I.", "-fopenmp", "-lm", "-lpthread", "-o", "program"];
    done(Path::new(output), "cc", &[STRICT, &sources].concat());
    passes(Path::new(output));
}

#[test]
fn without_others_only_what_is_listed_is_done() {
    let folder =
        export(&["programs/mm.lift", "--target", "c", "--at", "M=2,K=3,N=2", "--no-others"]);
    let program = "#include \"mm.h\"\nint main(void) {\n  float x[6] = {0};\n  float y[4];\n
        return mm(2, 3, 2, x, x, y) != MM_OK || mm(1, 1, 1, x, x, y) != MM_ERROR_NOT_LISTED;\n}\n";
    fs::write(folder.path().join("main.c"), program).unwrap();
    done(folder.path(), "cc", &[STRICT, &["mm.c", "main.c", "-o", "program"]].concat());
    done(folder.path(), "./program", &[]);
}

#[test]
fn a_library_is_called_from_cpp() {
    let folder = mm();
    done(folder.path(), "cc", &[STRICT, &["-c", "mm.c"]].concat());
    let flags = ["-Wall", "-Wextra", "-Werror", "-fsanitize=address,undefined", "-I."];
    let files = [&caller("mm.cpp"), "mm.o", "-lm", "-o", "program"];
    done(folder.path(), "c++", &[&flags[..], &files].concat());
    passes(folder.path());
}

#[test]
fn a_library_is_called_from_rust() {
    let folder = mm();
    let library =
        ["-O2", "-fopenmp", "-fwrapv", "-fPIC", "-shared", "mm.c", "-lm", "-o", "libmm.so"];
    done(folder.path(), "cc", &library);
    let rustc = Command::new("rustc")
        .args([
            "--edition",
            "2024",
            &caller("mm.rs"),
            "-L.",
            "-lmm",
            "-C",
            "link-arg=-Wl,-rpath,$ORIGIN",
        ])
        .args(["-o", "program"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert!(rustc.status.success(), "{}", String::from_utf8_lossy(&rustc.stderr));
    passes(folder.path());
}

#[test]
fn several_kernels_share_memory_and_say_what_is_wrong() {
    let folder = export_text(CHAIN, &["--target", "c", "--at", "N=16", "--name", "chain"]);
    let sources = ["chain.c", &caller("chain.c"), "-I.", "-fopenmp", "-lm", "-o", "program"];
    done(folder.path(), "cc", &[STRICT, &sources].concat());
    passes(folder.path());
    let source = fs::read_to_string(folder.path().join("chain.c")).unwrap();
    assert!(source.contains("chain_at0_kernel1("), "two kernels\n{source}");
    assert!(source.contains("CHAIN_ERROR_MEMORY; goto lift_end"), "temporaries\n{source}");
}

#[test]
fn cmake_installs_what_pkg_config_finds() {
    let folder = mm();
    let prefix = folder.path().join("usr").to_str().unwrap().to_string();
    let configured = [&format!("-DCMAKE_INSTALL_PREFIX={prefix}"), "-DCMAKE_INSTALL_LIBDIR=lib"];
    done(folder.path(), "cmake", &[&["-S", ".", "-B", "build"][..], &configured].concat());
    done(folder.path(), "cmake", &["--build", "build"]);
    done(folder.path(), "cmake", &["--install", "build"]);
    let found = "cc -O1 -Wall $1 $(pkg-config --cflags --libs usr/lib/pkgconfig/mm.pc) -lpthread -o program";
    done(folder.path(), "sh", &["-c", found, "sh", &caller("mm.c")]);
    passes(folder.path());
}

/// Every definition of every program, without a warning.
#[test]
fn every_program_can_be_exported() {
    let mut faults = Vec::new();
    for program in programs() {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().to_str().unwrap();
        let common = ["export", &program, "--allow-extern", "--name", "lib", "-o", output];
        for target in ["c", "opencl", "cuda"] {
            let ran = in_folder(&root(), &[&common[..], &["--target", target]].concat());
            if ran.stderr.contains("has no definition that can be evaluated") {
                continue;
            }
            if ran.code != 0 {
                faults.push(format!("{program} {target}: {}", ran.stderr));
                continue;
            }
            // The headers of CUDA need not be there.
            if target != "cuda" {
                let flags =
                    ["-std=gnu11", "-Wall", "-Wextra", "-fopenmp", "-fsyntax-only", "lib.c"];
                let cc =
                    Command::new("cc").args(flags).current_dir(folder.path()).output().unwrap();
                if !cc.stderr.is_empty() {
                    faults.push(format!(
                        "{program} {target}: {}",
                        String::from_utf8_lossy(&cc.stderr)
                    ));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn what_cannot_be_exported_is_refused_with_a_reason() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.lift"), CHAIN).unwrap();
    let refused = |arguments: &[&str]| {
        let ran =
            in_folder(folder.path(), &[&["export", "a.lift", "-o", "out"], arguments].concat());
        assert_ne!(ran.code, 0, "{arguments:?}");
        assert!(!folder.path().join("out").exists(), "{arguments:?}");
        ran.stderr
    };
    assert!(
        refused(&["--target", "c", "--at", "N=6"]).contains("does not hold for the given sizes")
    );
    assert!(refused(&["--target", "c", "--at", "M=6"]).contains("`chain` has no size `M`"));
    assert!(refused(&["--target", "c", "--at", "N=0"]).contains("every size is at least 1"));
    assert!(refused(&["--target", "c", "--name", "3"]).contains("a name begins with"));
    assert!(refused(&["--target", "c", "--no-others"]).contains("--at"));
    let device = ["--target", "opencl", "--at", "N=4", "--device", "cpu"];
    assert!(refused(&device).contains("not in the target's language"));
}
