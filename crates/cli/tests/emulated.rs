//! What CUDA text computes, without a GPU.
//!
//! `emulated/driver.cpp` stands for CUDA's driver and compiler: it compiles kernels for the processor with `emulated/device.h`, in which
//! threads of a block are coroutines that wait at barriers and shuffles. Where some threads never come, the launch fails.
#![allow(clippy::unwrap_used)]

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use common::{in_folder, root, with_env};

fn here() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/emulated")
}

/// A folder with the driver and the compiler in it, which are one library.
fn driver() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("emulated");
        std::fs::remove_dir_all(&folder).ok();
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::copy(here().join("device.h"), folder.join("device.h")).unwrap();
        let done = Command::new("c++")
            .args(["-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o"])
            .args([folder.join("libcuda.so"), here().join("driver.cpp")])
            .arg("-ldl")
            .status();
        assert!(done.unwrap().success());
        std::fs::copy(folder.join("libcuda.so"), folder.join("libnvrtc.so")).unwrap();
        folder
    })
}

/// An environment in which `cuda:0` is the emulated device.
fn emulated() -> [(&'static str, &'static str); 2] {
    let library = driver().to_str().unwrap();
    [("LD_LIBRARY_PATH", library), ("LIFT_EMULATED", library)]
}

/// The result of a definition on a device, as a file.
fn result(entry: &str, size: &str, device: &str, flags: &[&str], folder: &Path) -> Vec<u8> {
    let program = here().join("folds.lift");
    let kind = if TUPLES.contains(&entry) { "npz" } else { "npy" };
    let made = folder.join(format!("{device}.{kind}"));
    let mut command = vec!["run", program.to_str().unwrap(), "x=random:7", "--untuned"];
    command.extend(["--entry", entry, "--size", size, "--device", device]);
    command.extend(["-o", made.to_str().unwrap()]);
    command.extend(flags);
    let ran = with_env(folder, &command, &emulated());
    assert_eq!(ran.code, 0, "{entry} {size} {flags:?}: {}", ran.stderr);
    std::fs::read(made).unwrap()
}

/// The same on the emulated device as by the interpreter.
fn agrees(entry: &str, size: &str, flags: &[&str]) {
    let name = format!("{entry} {size} {}", flags.join(" ")).replace(['=', ',', ' '], "_");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).unwrap();
    let wanted = result(entry, size, "interp", &[], &folder);
    let found = result(entry, size, "cuda:0", flags, &folder);
    assert!(found == wanted, "{entry} {size} {flags:?}");
}

fn text(entry: &str, size: &str, flags: &[&str]) -> String {
    let program = here().join("folds.lift");
    let mut command = vec!["compile", program.to_str().unwrap(), "--target", "cuda"];
    command.extend(["--entry", entry, "--size", size]);
    command.extend(flags);
    let ran = in_folder(&here(), &command);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    ran.stdout
}

const ALL: [&str; 10] =
    ["sums", "doubles", "longs", "bits", "tops", "places", "moments", "centred", "whole", "place"];

/// Their results are several arrays or numbers.
const TUPLES: [&str; 3] = ["moments", "place", "spread_all"];

/// A warp a row, or two, four or eight of them; one that the length does not fill.
#[test]
fn groups_fold_by_shuffles() {
    let sizes = ["M=3,N=600", "M=3,N=1500", "M=2,N=3001", "M=2,N=9000"];
    for (k, entry) in ALL.into_iter().enumerate() {
        for size in [sizes[k % 4], sizes[(k + 1) % 4]] {
            assert!(text(entry, size, &[]).contains("__shfl_xor_sync(0xffffffffu, "), "{entry}");
            agrees(entry, size, &["--unplanned"]);
        }
    }
}

/// Other numbers of work-items than there are values to fold: a warp stays whole, or local memory is used.
#[test]
fn groups_of_any_size_fold() {
    let size = "M=2,N=9000";
    for (local, shuffles) in [("64", true), ("512", true), ("48", false), ("100", false)] {
        for entry in ["places", "centred"] {
            let flags = ["--local", local];
            assert_eq!(text(entry, size, &flags).contains("__shfl_xor_sync"), shuffles, "{local}");
            agrees(entry, size, &["--unplanned", "--local", local]);
        }
    }
}

#[test]
fn what_the_program_has_a_group_make_is_folded_by_warps() {
    let size = "M=3,N=480";
    assert!(text("grouped", size, &[]).contains("__shfl_xor_sync"));
    agrees("grouped", size, &[]);
}

/// Warps fold in a loop that a group goes around until no row is left.
#[test]
fn rows_whose_lengths_are_data_are_folded_by_warps() {
    let file = root().join("filetests/language/domain_ranges.lift");
    let file = file.to_str().unwrap();
    let compile = ["compile", file, "--target", "cuda", "--entry", "long_rows"];
    assert!(in_folder(&here(), &compile).stdout.contains("__shfl_xor_sync"));
    let ran = with_env(&here(), &["test", file, "--device", "cuda:0"], &emulated());
    assert_eq!(ran.code, 0, "{}\n{}", ran.stdout, ran.stderr);
}

/// Results that all work-items change, each number in one step.
#[test]
fn places_are_changed_by_all_work_items() {
    for (entry, steps) in [
        ("spread", &["atomicAdd(&"][..]),
        (
            "spread_all",
            &["lift_atomic_max_f32(&", "atomicAdd((unsigned long long*)&", "atomicMin(&"],
        ),
        ("spread_low", &["atomicAdd(&"]),
    ] {
        for size in ["M=3,N=600", "M=1,N=33"] {
            let kernels = text(entry, size, &[]);
            assert!(steps.iter().all(|step| kernels.contains(step)), "{kernels}");
            agrees(entry, size, &["--unplanned"]);
        }
    }
}

/// Loops over work-items as they are, and barriers everywhere.
#[test]
fn shuffles_stand_in_loops_over_work_items() {
    for left_out in ["control", "barriers"] {
        agrees("places", "M=3,N=1500", &["--unplanned", "--no-simplify", left_out]);
        agrees("whole", "M=2,N=9000", &["--unplanned", "--no-simplify", left_out]);
    }
}

/// Only CUDA has shuffles here.
#[test]
fn other_targets_fold_through_local_memory() {
    let program = here().join("folds.lift");
    let folds = ["compile", program.to_str().unwrap(), "--entry", "sums", "--target", "opencl"];
    let ran = in_folder(&here(), &folds);
    assert!(ran.stdout.contains("local float"), "{}", ran.stdout);
    assert!(!ran.stdout.contains("shuffle"), "{}", ran.stdout);
}

/// A kernel with shuffles is for CUDA alone.
#[test]
fn kernels_with_shuffles_are_refused_where_there_are_none() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("shuffle");
    std::fs::create_dir_all(&folder).unwrap();
    let text = "kernel k(read global x: f32[N] align 16, write global r: f32[N] align 16, N: size)
  launch local(32) global(N) loops
{
  for wg0 < N / 32 group(0) {
    for l0 < 32 local(0) {
      var a: f32 = x[32*wg0 + l0]
      var b: f32 = shuffle(1: a)
      r[32*wg0 + l0] = (a + b)
    }
  }
}
";
    std::fs::write(folder.join("k.kernel"), text).unwrap();
    let compiled = |target: &str| in_folder(&folder, &["compile", "k.kernel", "--target", target]);
    let cuda = compiled("cuda");
    assert!(
        cuda.stdout.contains("float b = __shfl_xor_sync(0xffffffffu, a, 1);"),
        "{}",
        cuda.stderr
    );
    for target in ["opencl", "c"] {
        let ran = compiled(target);
        assert_eq!(ran.code, 1, "{}", ran.stdout);
        assert!(
            ran.stderr.contains("`k` give each other numbers, which only CUDA has"),
            "{}",
            ran.stderr
        );
    }
}
