//! Programs on GPUs, on arrays that lie there already: queued behind what their library has in its stream.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lift::{Compiled, Device, DeviceInfo, Options, Placed, Prepared, Stream};
use lift_interp::{Sizes, concrete_type};
use lift_ir::{Def, Type};
use lift_runtime::BufferHandle;
use pyo3::prelude::*;

use crate::error::error;
use crate::shapes::shapes;
use crate::waiting::apart;

/// The device and the stream of a library that a call belongs to.
#[derive(Clone, Copy)]
pub struct On {
    pub number: i32,
    pub stream: u64,
    /// The library shows which stream it uses. Otherwise it takes over results that are done.
    pub is_shown: bool,
}

/// A program for certain sizes, compiled for a device.
pub struct Ready {
    compiled: Compiled,
    prepared: Arc<Prepared>,
    /// Of the arrays of the result.
    pub shapes: Vec<Vec<usize>>,
}

/// A device that one thread uses at a time.
pub struct Shared(Mutex<Movable>);

struct Movable(Box<dyn Device>);

// SAFETY: A device of CUDA belongs to no thread: each of its calls makes its context current, and all that it holds are
// names that the driver takes on any thread.
unsafe impl Send for Movable {}

/// The devices in use.
static DEVICES: Mutex<BTreeMap<i32, Arc<Shared>>> = Mutex::new(BTreeMap::new());

/// The process that they were opened in; 0 before the first.
static PROCESS: AtomicU32 = AtomicU32::new(0);

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The device of a number, opened once.
pub fn device(py: Python<'_>, number: i32) -> PyResult<Arc<Shared>> {
    // Drivers do not come along when a process divides, nor do threads, one of which may have held the lock.
    let process = std::process::id();
    let owner = PROCESS.compare_exchange(0, process, Ordering::Relaxed, Ordering::Relaxed);
    if owner.is_err_and(|owner| owner != process) {
        return Err(error(format!(
            "`cuda:{number}` was used before this process was forked, and does not work in the copy: start it by `spawn`"
        )));
    }
    // Where another thread opens a device, it is waited for below, without holding Python.
    if let Some(known) = DEVICES.try_lock().ok().and_then(|devices| devices.get(&number).cloned()) {
        return Ok(known);
    }
    apart(py, move || {
        let mut devices = locked(&DEVICES);
        // Another thread may just have opened it.
        if let Some(known) = devices.get(&number) {
            return Ok(Arc::clone(known));
        }
        let opened = lift::open(&format!("cuda:{number}")).map_err(|failed| failed.to_string())?;
        let shared = Arc::new(Shared(Mutex::new(Movable(opened))));
        devices.insert(number, Arc::clone(&shared));
        Ok(shared)
    })?
    .map_err(|text: String| error(text))
}

/// Memory of a device that is freed with it.
pub struct Memory {
    device: Arc<Shared>,
    buffer: BufferHandle,
    pub address: u64,
}

impl Memory {
    pub fn new(device: &Arc<Shared>, bytes: u64) -> Result<Memory, lift::Error> {
        let mut opened = locked(&device.0);
        let buffer = opened.0.allocate(bytes.max(1))?;
        let address = opened.0.address(buffer)?;
        Ok(Memory { device: Arc::clone(device), buffer, address })
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // A device that refuses even this is of no use any more.
        let _ = locked(&self.device.0).0.free(self.buffer);
    }
}

impl Shared {
    /// Compiles the form of the program that is best on the device.
    pub fn ready(
        &self,
        def: &Def,
        types: &[Type],
        sizes: &Sizes,
        form: impl FnOnce(&DeviceInfo) -> Def,
    ) -> Result<Ready, lift::Error> {
        let mut device = locked(&self.0);
        let device = &mut *device.0;
        let by_name = sizes.iter().map(|(name, value)| (name.to_string(), value)).collect();
        let options = Options { sizes: by_name, ..Options::default() };
        let compiled = Compiled::new(&form(device.info()), &options, device)?;
        let prepared = Arc::new(compiled.prepare(device.info(), types, sizes)?);
        let shapes = shapes(&concrete_type(&def.ret, sizes)?);
        Ok(Ready { compiled, prepared, shapes })
    }

    /// Queues the program in the stream, and waits for it where that is asked for.
    ///
    /// # Safety
    ///
    /// As [`Compiled::run_placed`].
    pub unsafe fn run(
        &self,
        ready: &Ready,
        args: &[Placed],
        results: &[u64],
        stream: u64,
        waits: bool,
    ) -> Result<(), lift::Error> {
        let mut device = locked(&self.0);
        let (device, stream) = (&mut *device.0, Some(Stream(stream)));
        // SAFETY: The caller promises it.
        unsafe { ready.compiled.run_placed(device, &ready.prepared, args, results, stream, waits) }
    }
}
