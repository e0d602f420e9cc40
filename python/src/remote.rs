//! Programs on other devices than `cpu`: arrays are copied there and back.
//!
//! A device belongs to a thread of its own, which does one call after the other.

use std::collections::{BTreeMap, HashMap};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use lift::{Compiled, Device, Options};
use lift_interp::{Sizes, Value};
use pyo3::prelude::*;

use crate::definition::Definition;
use crate::error::error;
use crate::waiting::wait;

/// The device that is no device.
pub const INTERPRETER: &str = "interp";

/// Programs nest as deep as the compiler lets them.
const STACK: usize = 256 * 1024 * 1024;

type Job = Box<dyn FnOnce(&mut Owner) + Send>;

/// What the thread of a device has.
struct Owner {
    device: Box<dyn Device>,
    compiled: HashMap<(u64, BTreeMap<String, i128>), Compiled>,
}

/// Where the threads of devices take their work from, and the process that they are in.
static THREADS: Mutex<(u32, BTreeMap<String, Sender<Job>>)> = Mutex::new((0, BTreeMap::new()));

/// Runs a program on a device.
pub fn run(
    py: Python<'_>,
    device: &str,
    of: Arc<Definition>,
    args: Vec<Value>,
    sizes: Sizes,
) -> PyResult<Result<Value, lift::Error>> {
    let (answer, result) = channel();
    let job: Job = Box::new(move |owner| {
        // Nobody may be waiting any more.
        answer.send(owner.run(&of, &args, &sizes)).ok();
    });
    send(py, device, job)?;
    wait(py, &result)
}

/// Forgets what was compiled, since a better form may be stored by now.
pub fn forget(py: Python<'_>, device: &str, identity: u64) -> PyResult<()> {
    send(py, device, Box::new(move |owner| owner.compiled.retain(|(of, _), _| *of != identity)))
}

fn threads() -> MutexGuard<'static, (u32, BTreeMap<String, Sender<Job>>)> {
    THREADS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn send(py: Python<'_>, device: &str, job: Job) -> PyResult<()> {
    let process = std::process::id();
    let known = py.detach(|| {
        let mut threads = threads();
        if threads.0 == 0 {
            threads.0 = process;
        }
        (threads.0 == process).then(|| threads.1.get(device).cloned())
    });
    // Threads do not come along when a process divides, nor do drivers.
    let Some(known) = known else {
        return Err(error(format!(
            "`{device}` was used before this process was forked, and does not work in the copy: start it by `spawn`, or use \
             `cpu`"
        )));
    };
    let sender = match known {
        Some(sender) => sender,
        None => start(py, device)?,
    };
    sender.send(job).map_err(|_| error(format!("the device `{device}` is gone")))
}

/// Opens a device on a thread of its own.
fn start(py: Python<'_>, id: &str) -> PyResult<Sender<Job>> {
    let (sender, jobs) = channel::<Job>();
    let (answer, opened) = channel();
    let name = id.to_string();
    let serve = move || {
        let device = match lift::open(&name) {
            Ok(device) => device,
            Err(failed) => return drop(answer.send(Err(failed.to_string()))),
        };
        answer.send(Ok(())).ok();
        let mut owner = Owner { device, compiled: HashMap::new() };
        jobs.iter().for_each(|job| job(&mut owner));
    };
    thread::Builder::new()
        .stack_size(STACK)
        .spawn(serve)
        .map_err(|e| error(format!("cannot start a thread: {e}")))?;
    wait(py, &opened)?.map_err(error)?;
    threads().1.insert(id.to_string(), sender.clone());
    Ok(sender)
}

impl Owner {
    fn run(
        &mut self,
        of: &Definition,
        args: &[Value],
        sizes: &Sizes,
    ) -> Result<Value, lift::Error> {
        let by_name: BTreeMap<String, i128> =
            sizes.iter().map(|(name, value)| (name.to_string(), value)).collect();
        let key = (of.identity, by_name.clone());
        if !self.compiled.contains_key(&key) {
            let options = Options { sizes: by_name, ..Options::default() };
            let form = of.form(sizes, self.device.info());
            let compiled = Compiled::new(&form, &options, &mut *self.device)?;
            self.compiled.insert(key.clone(), compiled);
        }
        let compiled = self.compiled.get_mut(&key);
        let compiled = compiled.ok_or_else(|| lift::Error::arguments("nothing was compiled"))?;
        Ok(compiled.run(&mut *self.device, args, sizes)?.result)
    }
}

/// A device that programs can run on.
#[pyclass(frozen, get_all, name = "Device", module = "lift")]
pub struct DeviceInfo {
    /// What `device=` takes.
    id: String,
    /// What its driver calls it.
    name: String,
    /// `cpu`, `gpu` or `accelerator`.
    kind: String,
    /// `c`, `opencl` or `cuda`: what `compile` takes.
    target: String,
    /// How much memory it has.
    memory_bytes: u64,
}

#[pymethods]
impl DeviceInfo {
    fn __repr__(&self) -> String {
        format!("<lift device {}: {} ({})>", self.id, self.name, self.kind)
    }
}

/// The devices of this machine.
#[pyfunction]
pub fn devices(py: Python<'_>) -> PyResult<Vec<DeviceInfo>> {
    let found = crate::waiting::apart(py, lift::devices)?;
    Ok(found.into_iter().flatten().map(info).collect())
}

fn info(info: lift::DeviceInfo) -> DeviceInfo {
    let target = match info.language {
        lift::Language::C => "c",
        lift::Language::OpenCl => "opencl",
        lift::Language::Cuda => "cuda",
    };
    DeviceInfo {
        id: info.id,
        name: info.name,
        kind: info.kind.to_string(),
        target: target.to_string(),
        memory_bytes: info.memory_bytes,
    }
}
