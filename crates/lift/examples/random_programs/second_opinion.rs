//! Whose fault a wrong result is: Lift's, or that of the compiler its text is given to.
//!
//! A text means one thing only where it is free of undefined behaviour and everything it promises of its accesses holds.
//! So a wrong result on `cpu` is the compiler's where the same text
//!
//! - is right without optimisation, with variables that start as a pattern,
//! - is right where sanitizers watch it, with memory that starts as a pattern, and they report nothing, and
//! - is still wrong, optimised, on one thread, with what it promises of its loops (`ivdep`, OpenMP) and fused
//!   multiply-adds taken away: a false promise, a race or a rounding is not to be blamed on the compiler. What it promises
//!   of its arguments, `restrict`, is checked at every launch.
//!
//! A wrong result through OpenCL is the compiler's where Oclgrind, which runs the text without optimising it, gives the
//! right one and reports neither races nor accesses outside of arrays. Everything else is taken for Lift's.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::Outcome;
use super::device::Verdict;

/// How the kernels of a program are compiled and run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Way {
    /// As they are for users.
    Usual,
    /// Without optimisation; what was never set is a pattern.
    Plain,
    /// What they read, write and compute is watched.
    Watched,
    /// Optimised, without relying on what the text promises of its loops.
    Unpromised,
    /// In Oclgrind, which watches OpenCL kernels.
    Simulated,
}

/// Whose a wrong result is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Fault {
    Compiler,
    /// With what speaks against the compiler's.
    Lift(String),
}

/// What is tried on a device, and whether a compiler at fault would be right there.
fn opinions(device: &str) -> &'static [(Way, bool)] {
    match device.split(':').next() {
        Some("cpu") => &[(Way::Plain, true), (Way::Watched, true), (Way::Unpromised, false)],
        Some("opencl") => &[(Way::Simulated, true)],
        _ => &[],
    }
}

/// What compilers may be guilty of: a result, or none.
pub fn may_be_the_compilers(message: &str) -> bool {
    ["differs", "crashes", "hangs"].iter().any(|start| message.starts_with(start))
}

/// Whose fault the wrong result of a program on a device is, by what comes of it in other ways.
pub fn whose(device: &str, ask: &mut dyn FnMut(Way) -> Outcome<Verdict>) -> Fault {
    let opinions = opinions(device);
    if opinions.is_empty() {
        return Fault::Lift("there is no second opinion".to_string());
    }
    for (way, right) in opinions {
        let against = match (ask(*way), right) {
            (Ok(Verdict::Agrees), true) => continue,
            (Ok(Verdict::Fails(message)), false) if may_be_the_compilers(&message) => continue,
            (Ok(Verdict::Agrees), false) => "agrees".to_string(),
            (Ok(Verdict::Fails(message) | Verdict::Refused(message)), _) => message,
            (Err(error), _) => format!("cannot be tried: {error}"),
        };
        return Fault::Lift(format!("{}: {against}", way.name()));
    }
    Fault::Compiler
}

impl Way {
    pub fn name(self) -> &'static str {
        match self {
            Way::Usual => "as usual",
            Way::Plain => "without optimisation",
            Way::Watched => "under the sanitizers",
            Way::Unpromised => "without promises",
            Way::Simulated => "in Oclgrind",
        }
    }

    /// A process that runs programs in this way; `folder` is for files that go with it.
    pub fn command(self, program: &Path, folder: &Path) -> Outcome<Command> {
        let mut command = match self {
            Way::Simulated => oclgrind(program, folder),
            _ => Command::new(program),
        };
        match self {
            Way::Usual => {}
            Way::Plain => {
                command.env("LIFT_CFLAGS", UNOPTIMISED);
            }
            Way::Watched => {
                command.envs(sanitizers()?);
            }
            Way::Unpromised => {
                let script = folder.join("unpromised.sh");
                std::fs::write(&script, include_str!("unpromised.sh"))?;
                command
                    .env("CC", format!("sh {} {}", script.display(), compiler()))
                    .env("LIFT_CFLAGS", "-ffp-contract=off");
            }
            Way::Simulated => {
                command.env("OPENCL_DYLIB_PATH", "liboclgrind-rt.so");
            }
        }
        Ok(command)
    }

    /// The file of complaints of a process of this way.
    pub fn complaints(self, folder: &Path) -> Option<PathBuf> {
        (self == Way::Simulated).then(|| folder.join("oclgrind.log"))
    }
}

/// GCC heeds the pattern only where it does not optimise.
const UNOPTIMISED: &str = "-O0 -ffp-contract=off -ftrivial-auto-var-init=pattern";

fn compiler() -> String {
    std::env::var("CC").unwrap_or_else(|_| "cc".to_string())
}

/// The environment in which kernels are compiled with GCC's sanitizers. AddressSanitizer's library has to be loaded before
/// all others, and memory is not given back when the process ends. Memory starts as a pattern.
fn sanitizers() -> Outcome<[(&'static str, String); 3]> {
    let compiler = compiler();
    let mut words = compiler.split_whitespace();
    let mut named = Command::new(words.next().unwrap_or("cc"));
    let named = named.args(words).arg("-print-file-name=libasan.so").output()?;
    let library = String::from_utf8(named.stdout)?.trim().to_string();
    if !Path::new(&library).is_absolute() {
        return Err(format!("`{compiler}` has no AddressSanitizer to load: install libasan").into());
    }
    let flags = "-O1 -ffp-contract=off -fsanitize=address,undefined,float-cast-overflow \
                 -fno-sanitize-recover=all -fno-omit-frame-pointer";
    let fill = 1u64 << 30;
    Ok([
        ("LD_PRELOAD", library),
        ("LIFT_CFLAGS", flags.to_string()),
        ("ASAN_OPTIONS", format!("detect_leaks=0:abort_on_error=1:max_malloc_fill_size={fill}")),
    ])
}

/// The program under Oclgrind. Races count where work-items write the same value, too, and nothing is optimised away
/// before it is looked at.
fn oclgrind(program: &Path, folder: &Path) -> Command {
    let mut command = Command::new("oclgrind");
    command
        .args(["--data-races", "--uniform-writes", "--num-threads", "1"])
        .args(["--build-options", "-cl-opt-disable", "--log"])
        .args(Way::Simulated.complaints(folder))
        .arg(program);
    command
}
