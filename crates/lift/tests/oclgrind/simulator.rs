//! A test of this binary run again, in a child process, under Oclgrind.
//!
//! The child's OpenCL library is Oclgrind's, which runs kernels in a simulator and writes to a log
//! what they do wrong: races, accesses outside of what was allocated, barriers not met by all. It also
//! looks for values that were never set, but that finds fault with what an earlier kernel has set.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::Command;

use lift::{Device, DeviceInfo, RuntimeError};
use lift_runtime::{Arg, ArgType, BufferHandle, CompileOptions, KernelHandle, Launch, LaunchTime};

/// In a child process, the file that Oclgrind writes to.
const LOG: &str = "LIFT_TEST_OCLGRIND_LOG";

/// What a child process saw.
pub struct Outcome {
    pub passed: bool,
    pub output: String,
    pub log: String,
}

/// Runs `body`, which is all of the test of this name, under Oclgrind. Nothing in the child.
pub fn run(test: &str, body: impl FnOnce(Simulator)) -> Option<Outcome> {
    match std::env::var_os(LOG) {
        Some(log) => {
            body(Simulator::open(PathBuf::from(log)));
            None
        }
        None => Some(child(test)),
    }
}

/// As [`run`]; fails where the child does and where Oclgrind reports anything.
pub fn run_clean(test: &str, body: impl FnOnce(Simulator)) {
    if let Some(outcome) = run(test, body) {
        assert!(outcome.passed, "under Oclgrind:\n{}", outcome.output);
        assert!(outcome.log.is_empty(), "Oclgrind reports:\n{}", outcome.log);
    }
}

fn child(test: &str) -> Outcome {
    let name = format!("oclgrind-{test}-{}.log", std::process::id());
    let log = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_file(&log);
    let mut command = Command::new("oclgrind");
    command
        // Races are found where work-items write the same value, too.
        .args(["--data-races", "--uniform-writes", "--check-api", "--num-threads", "1"])
        // One wrong kernel has many faults, and the next one's are to be seen, too.
        .args(["--max-errors", "1000000"])
        // What a kernel's text reads and writes is checked, not what an optimiser leaves of it.
        .args(["--build-options", "-cl-opt-disable"])
        .arg("--log")
        .arg(&log)
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env("OPENCL_DYLIB_PATH", "liboclgrind-rt.so")
        .env(LOG, &log);
    let output = match command.output() {
        Ok(output) => output,
        Err(error) => panic!("oclgrind: {error}; install the Debian package `oclgrind`"),
    };
    let text = [output.stdout, output.stderr].map(|b| String::from_utf8_lossy(&b).into_owned());
    let text = text.concat();
    let ran = text.contains("running 1 test\n");
    assert!(ran, "there is no test `{test}`:\n{text}");
    let outcome = Outcome {
        passed: output.status.success(),
        output: text,
        log: read(&log, 0).trim().to_string(),
    };
    let _ = std::fs::remove_file(&log);
    outcome
}

/// The log from some place on; there is no file before there is a message.
fn read(log: &Path, from: u64) -> String {
    let mut text = Vec::new();
    if let Ok(mut file) = File::open(log) {
        file.seek(SeekFrom::Start(from)).unwrap();
        file.read_to_end(&mut text).unwrap();
    }
    String::from_utf8_lossy(&text).into_owned()
}

/// Oclgrind's device. A launch that makes it report something is an error.
pub struct Simulator {
    device: Box<dyn Device>,
    log: PathBuf,
    /// How much of the log was there before.
    seen: u64,
    /// The names of the kernels.
    kernels: Vec<(KernelHandle, String)>,
    pub launches: Vec<Launched>,
}

/// A launch that took place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Launched {
    pub kernel: String,
    pub groups: u64,
    /// Work-items of a group.
    pub items: u64,
}

impl Simulator {
    fn open(log: PathBuf) -> Simulator {
        let device = lift::open("opencl:oclgrind").unwrap();
        Simulator { device, log, seen: 0, kernels: Vec::new(), launches: Vec::new() }
    }

    /// What Oclgrind reported since it was asked last.
    pub fn reported(&mut self) -> String {
        let new = read(&self.log, self.seen);
        self.seen += new.len() as u64;
        let new = new.trim();
        let messages: Vec<&str> = new.split("\n\n").collect();
        match messages.len() {
            0 | 1 => new.to_string(),
            count => format!("{}\n(and {} more)", messages[0], count - 1),
        }
    }

    fn record(&mut self, kernel: KernelHandle, launch: &Launch) {
        let name = self.kernels.iter().find(|(handle, _)| *handle == kernel);
        let items = launch.local.iter().product();
        let groups = launch.global.iter().product::<u64>() / items;
        let kernel = name.map_or(String::new(), |(_, name)| name.clone());
        self.launches.push(Launched { kernel, groups, items });
    }
}

impl Device for Simulator {
    fn info(&self) -> &DeviceInfo {
        self.device.info()
    }

    fn compile(
        &mut self,
        source: &str,
        name: &str,
        params: &[ArgType],
        options: &CompileOptions,
    ) -> Result<KernelHandle, RuntimeError> {
        let handle = self.device.compile(source, name, params, options)?;
        self.kernels.push((handle, name.to_string()));
        Ok(handle)
    }

    fn unload(&mut self, kernel: KernelHandle) -> Result<(), RuntimeError> {
        self.device.unload(kernel)
    }

    fn allocate(&mut self, bytes: u64) -> Result<BufferHandle, RuntimeError> {
        self.device.allocate(bytes)
    }

    fn write(&mut self, buffer: BufferHandle, bytes: &[u8]) -> Result<(), RuntimeError> {
        self.device.write(buffer, bytes)
    }

    fn read(&mut self, buffer: BufferHandle, bytes: &mut [u8]) -> Result<(), RuntimeError> {
        self.device.read(buffer, bytes)
    }

    fn fill(&mut self, buffer: BufferHandle, byte: u8) -> Result<(), RuntimeError> {
        self.device.fill(buffer, byte)
    }

    fn free(&mut self, buffer: BufferHandle) -> Result<(), RuntimeError> {
        self.device.free(buffer)
    }

    fn launch(
        &mut self,
        kernel: KernelHandle,
        launch: &Launch,
        args: &[Arg],
    ) -> Result<LaunchTime, RuntimeError> {
        let time = self.device.launch(kernel, launch, args)?;
        self.record(kernel, launch);
        match self.reported() {
            message if message.is_empty() => Ok(time),
            message => Err(RuntimeError::Failed {
                device: "Oclgrind".to_string(),
                action: "watching a kernel".to_string(),
                message,
            }),
        }
    }
}
