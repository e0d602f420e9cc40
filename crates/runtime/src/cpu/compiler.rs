//! The system's C compiler.

use std::ffi::OsStr;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use super::guard::Guard;
use crate::{CompileOptions, RuntimeError};

/// Integers wrap, multiply-add contracts, and neither `errno` nor floating-point traps are observed;
/// no flag but `-ffast-math` changes a result. Two careless-looking calls that C once allowed are
/// errors, since no generated text means them.
const FLAGS: [&str; 13] = [
    "-std=gnu11",
    "-O3",
    "-march=native",
    "-fopenmp",
    "-fwrapv",
    "-ffp-contract=fast",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-Werror=implicit-function-declaration",
    "-Werror=int-conversion",
    "-fPIC",
    "-shared",
    // A kernel is the one in its own library, whatever else has its name.
    "-Wl,-Bsymbolic",
];

/// Compilers use half of the vectors that x86 processors have, for the sake of old ones, which slow down with wider
/// ones. Where there are none of these the flag does nothing.
const WIDEST_VECTORS: Option<&str> = match cfg!(target_arch = "x86_64") {
    true => Some("-mprefer-vector-width=512"),
    false => None,
};

/// Choices by conditions that follow from each other stay choices: joined into branches they are no vector code. Only GCC joins them, and
/// others refuse the flag.
const NO_BRANCHES: &str = "-fno-thread-jumps";

/// What GCC's version says, under whatever name it is called.
const GCC: &str = "Free Software Foundation";

/// What a compiler says that has stumbled over a mistake of its own, or was stopped because it does not come to an end.
/// With fewer optimisations most come through.
const OWN_MISTAKES: [&str; 4] = [
    "internal compiler error",
    "PLEASE submit a bug report",
    "CPU time limit exceeded",
    "(SIGXCPU)",
];
const FEWER_OPTIMISATIONS: &str = "-O1";

/// Processor time that a compiler may take with all optimisations, in seconds. Kernels of all programs here take a few at
/// most; GCC 12 never ends on some loops of multiplications.
const PATIENCE: u32 = 30;

pub struct Compiler {
    /// The program and arguments that always go with it.
    command: Vec<String>,
    version: String,
    /// Flags that come last, and so have the last word.
    last: Vec<String>,
    /// Seconds of processor time for the first attempt.
    patience: u32,
}

impl Compiler {
    /// `$CC`, else `cc`, with the flags of `$LIFT_CFLAGS`.
    pub fn from_environment() -> Result<Compiler, RuntimeError> {
        let named = std::env::var("CC").ok().filter(|cc| !cc.trim().is_empty());
        let compiler = Compiler::named(named.as_deref().unwrap_or("cc"))?;
        Ok(compiler.with_flags(&std::env::var("LIFT_CFLAGS").unwrap_or_default()))
    }

    pub fn with_flags(mut self, flags: &str) -> Compiler {
        self.last = flags.split_whitespace().map(str::to_string).collect();
        self
    }

    #[cfg(test)]
    pub fn with_patience(self, seconds: u32) -> Compiler {
        Compiler { patience: seconds, ..self }
    }

    pub fn named(command: &str) -> Result<Compiler, RuntimeError> {
        let command: Vec<String> = command.split_whitespace().map(str::to_string).collect();
        let output = called(&command, command_of(&command).arg("--version").output())?;
        let version = String::from_utf8_lossy(&output.stdout).trim().to_string();
        Ok(Compiler { command, version, last: Vec::new(), patience: PATIENCE })
    }

    pub fn name(&self) -> &str {
        &self.command[0]
    }

    pub fn version(&self) -> &str {
        &self.version
    }

    fn flags(&self, options: &CompileOptions) -> Vec<&'static str> {
        let of_gcc = self.version.contains(GCC).then_some(NO_BRANCHES);
        let fast = options.fast_math.then_some("-ffast-math");
        FLAGS.into_iter().chain(WIDEST_VECTORS).chain(of_gcc).chain(fast).collect()
    }

    /// Everything but the source that the compiled code depends on.
    pub fn fingerprint(&self, options: &CompileOptions) -> String {
        let flags = [self.flags(options).join(" "), self.last.join(" ")].join(" ");
        [self.command.join(" "), self.version.clone(), flags].join("\n")
    }

    /// Compiles a file to a shared library; `Err` inside is the compiler's log. Its own files are made beside the
    /// library. The guard watches over the compiler.
    pub fn compile(
        &self,
        source: &Path,
        library: &Path,
        options: &CompileOptions,
        guard: &mut Guard,
    ) -> Result<Result<(), String>, RuntimeError> {
        let mut flags = self.flags(options);
        flags.extend(self.last.iter().map(String::as_str));
        let compiled = self.compile_with(&flags, Some(self.patience), source, library, guard)?;
        match &compiled {
            Err(log) if OWN_MISTAKES.iter().any(|mistake| log.contains(mistake)) => {
                flags.push(FEWER_OPTIMISATIONS);
                self.compile_with(&flags, None, source, library, guard)
            }
            _ => Ok(compiled),
        }
    }

    fn compile_with(
        &self,
        flags: &[&str],
        patience: Option<u32>,
        source: &Path,
        library: &Path,
        guard: &mut Guard,
    ) -> Result<Result<(), String>, RuntimeError> {
        let mut args: Vec<&OsStr> = flags.iter().map(OsStr::new).collect();
        // The mathematical functions come after what uses them, as some linkers demand.
        args.extend([source.as_os_str(), OsStr::new("-o"), library.as_os_str(), OsStr::new("-lm")]);
        let mut command = match patience {
            None => command_of(&self.command),
            Some(seconds) => limited(&self.command, seconds),
        };
        command.args(args).process_group(0);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        if let Some(folder) = library.parent() {
            command.env("TMPDIR", folder);
        }
        let mut run = || {
            let compiler = command.spawn()?;
            guard.watch(compiler.id());
            compiler.wait_with_output()
        };
        let output = called(&self.command, run())?;
        if output.status.success() {
            return Ok(Ok(()));
        }
        let mut log = String::from_utf8_lossy(&output.stderr).into_owned();
        if log.trim().is_empty() {
            log = format!("{} without a message", output.status);
        }
        Ok(Err(log))
    }
}

/// The compiler, stopped after so many seconds of processor time.
fn limited(words: &[String], seconds: u32) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("ulimit -S -t {seconds}; exec \"$@\""), "sh"]).args(words);
    command.env("LC_ALL", "C");
    command
}

/// The program with the arguments that always go with it.
fn command_of(words: &[String]) -> Command {
    let (program, always) = words.split_first().map_or(("cc", &[][..]), |(p, a)| (p.as_str(), a));
    let mut command = Command::new(program);
    // Messages in English, so that the first error is found in them.
    command.args(always).env("LC_ALL", "C");
    command
}

/// What came of calling the compiler.
fn called(words: &[String], output: io::Result<Output>) -> Result<Output, RuntimeError> {
    let program = words.first().map_or("cc", String::as_str);
    output.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied => RuntimeError::Missing {
            what: format!("the C compiler `{program}` is not installed"),
            advice: "install gcc or clang, or set CC to a C compiler".to_string(),
        },
        _ => RuntimeError::failed("cpu", &format!("running `{program}`"), error),
    })
}
