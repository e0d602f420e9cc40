//! Counts beside hardware counters, with a profiler that is made up.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use common::root;

fn profiler(folder: &Path, body: &str) -> PathBuf {
    let path = folder.join("ncu");
    let text = format!(
        "#!/usr/bin/env python3
import sys
given = sys.argv[1:]
log = open(given[given.index('--log-file') + 1], 'w')
metrics = given[given.index('--metrics') + 1].split(',')
{body}"
    );
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

fn counters(arguments: &[&str]) -> Output {
    let mut command = Command::new("python3");
    command.arg(root().join("scripts/bench-counters"));
    command.args(["--lift", env!("CARGO_BIN_EXE_lift")]).args(arguments).output().unwrap()
}

/// `axpy` of 16777216 numbers: two arrays of 64 MiB are read and one written, in warps of 32.
#[test]
fn counts_stand_beside_counters() {
    let folder = tempfile::tempdir().unwrap();
    let ncu = profiler(
        folder.path(),
        "if 'smsp__inst_executed.sum' in metrics:
    print('==ERROR== Failed to find metric smsp__inst_executed.sum', file=log)
    sys.exit(1)
values = {
    'dram__bytes_read.sum': '134,217,728',
    'l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum': '4194304',
    'l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum': '2097152',
    'smsp__sass_thread_inst_executed_op_ffma_pred_on.sum': '33554432',
}
titles = ['ID', 'Kernel Name', 'Grid Size', *metrics]
line = lambda cells: print(','.join(f'\"{c}\"' for c in cells), file=log)
print('==PROF== Connected to process 1', file=log)
line(titles)
line(['' for _ in titles])
line(['0', 'axpy', '(65536, 1, 1)', *(values.get(m, 'n/a') for m in metrics)])
",
    );
    let report = folder.path().join("counters.json");
    let report = report.to_str().unwrap();
    let output = counters(&["--ncu", ncu.to_str().unwrap(), "--json", report, "axpy"]);
    let (table, said) = (
        String::from_utf8_lossy(&output.stdout).into_owned(),
        String::from_utf8_lossy(&output.stderr).into_owned(),
    );
    assert!(output.status.success(), "{table}{said}");
    assert!(said.contains("not on this device: smsp__inst_executed.sum"), "{said}");
    let row = table.lines().find(|line| line.contains("`axpy`")).unwrap();
    let cells: Vec<&str> = row.split('|').map(str::trim).collect();
    assert_eq!(cells[3], "1.00 of 134 M", "read: {row}");
    assert_eq!(cells[4], "–", "what was not counted: {row}");
    assert_eq!(cells[6], "1.00 of 201 M", "asked for: {row}");
    assert_eq!(cells[8], "0.50 of 33.6 M", "one product and sum an element: {row}");
    let again = counters(&["--from", report]);
    assert_eq!(String::from_utf8_lossy(&again.stdout), table, "from what was kept");
}

#[test]
fn who_may_not_read_counters_is_told_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let ncu = profiler(
        folder.path(),
        "print('==ERROR== ERR_NVGPUCTRPERM - The user does not have permission', file=log)
sys.exit(1)
",
    );
    let output = counters(&["--ncu", ncu.to_str().unwrap()]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    assert!(said.contains("NVreg_RestrictProfilingToAdminUsers=0"), "{said}");
    assert_eq!(said.lines().count(), 1, "no other program is tried: {said}");
}
