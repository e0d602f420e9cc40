//! Tuning on the way: `lift tune` in a process of its own, which fills the database; and what is in it.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use lift::DeviceInfo;
use lift_interp::Sizes;
use lift_ir::Def;

/// The fastest form of a program that is stored.
pub struct Form {
    pub id: String,
    pub def: Def,
}

/// Looks up the form for these sizes on this device; nothing where none is stored.
pub type Lookup<'l> = dyn Fn(&Def, &Sizes, &DeviceInfo) -> Result<Option<Form>, String> + 'l;

/// How long, and where results are kept.
pub struct Tuning {
    /// The command that tunes.
    pub lift: PathBuf,
    pub time: Option<Duration>,
    pub trials: Option<usize>,
    pub database: PathBuf,
    pub fast_math: bool,
    /// The program, where its file is standard input.
    pub input: Option<String>,
}

/// As many candidates as there is time for.
const MANY: usize = 1_000_000;

/// Goes on tuning a program for a device. What it says goes to standard error.
pub fn tune(
    tuning: &Tuning,
    file: &Path,
    entry: Option<&str>,
    sizes: &str,
    device: &str,
) -> Result<(), String> {
    let mut command = Command::new(&tuning.lift);
    command.arg("tune").arg(file).args(["--size", sizes, "--device", device, "--resume"]);
    command.arg("--db").arg(&tuning.database);
    command.args(entry.map(|name| ["--entry", name]).into_iter().flatten());
    command.args(["--trials", &tuning.trials.unwrap_or(MANY).to_string()]);
    if let Some(time) = tuning.time {
        command.args(["--time", &time.as_secs_f64().to_string()]);
    }
    if tuning.fast_math {
        command.arg("--fast-math");
    }
    // The best is looked up in the database.
    match status(command.stdout(Stdio::null()), tuning.input.as_deref()) {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("tuning for {device} failed: {status}")),
        Err(e) => Err(format!("cannot start `lift tune`: {e}")),
    }
}

/// How a command ends that is given this on standard input.
fn status(command: &mut Command, input: Option<&str>) -> io::Result<ExitStatus> {
    let Some(input) = input else { return command.stdin(Stdio::null()).status() };
    let mut child = command.stdin(Stdio::piped()).spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // One that reads no more says why by its status.
        stdin.write_all(input.as_bytes()).ok();
    }
    child.wait()
}
