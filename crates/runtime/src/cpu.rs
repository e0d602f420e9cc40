//! The device `cpu`: generated C through the system's compiler.
//!
//! A kernel is a C function that runs all its work-groups itself, on as many threads as it likes.
//! Its library is cached by content, so that the same text is compiled once on a machine.

mod cache;
mod compiler;
mod entry;
mod function;
mod guard;
mod library;
mod machine;
mod memory;
mod sealed;
mod trust;
mod waiting;

use std::time::Instant;

use cache::Cache;
pub use cache::{Cleared, clear_cache};
use compiler::Compiler;
pub use function::{CArg, CFunction};
use library::Library;
use memory::Memory;
pub use waiting::wait_briefly;

use crate::check::{self, KernelLimits};
use crate::slots::Slots;
use crate::{
    Arg, ArgType, BufferHandle, CompileOptions, Device, DeviceInfo, KernelHandle, Language, Launch,
    LaunchTime, RuntimeError,
};

pub fn info() -> Result<DeviceInfo, RuntimeError> {
    Ok(describe(&Compiler::from_environment()?))
}

pub fn open() -> Result<Box<dyn Device>, RuntimeError> {
    Ok(Box::new(Cpu::new(Compiler::from_environment()?, Cache::from_environment()?)))
}

/// Work-groups are loops here, so their limits are choices: what other CPU devices allow, and local
/// memory that stays in the caches of a core.
fn describe(compiler: &Compiler) -> DeviceInfo {
    let memory = machine::memory_bytes();
    DeviceInfo {
        id: "cpu".to_string(),
        name: machine::name(),
        kind: "cpu",
        language: Language::C,
        compute_units: machine::threads(),
        memory_bytes: memory,
        max_buffer_bytes: memory,
        max_group_size: 4096,
        max_group_sizes: [4096; 3],
        max_groups: [u64::MAX; 3],
        local_memory_bytes: 1 << 20,
        driver: compiler.version().lines().next().unwrap_or_default().to_string(),
        fp16: cfg!(any(target_arch = "x86_64", target_arch = "aarch64")),
        fp64: true,
        warp: 32,
    }
}

struct Cpu {
    info: DeviceInfo,
    compiler: Compiler,
    cache: Cache,
    kernels: Slots<Kernel>,
    buffers: Slots<Memory>,
}

struct Kernel {
    library: Library,
    params: Vec<ArgType>,
}

impl Cpu {
    fn new(compiler: Compiler, cache: Cache) -> Cpu {
        let info = describe(&compiler);
        Cpu { info, compiler, cache, kernels: Slots::new(), buffers: Slots::new() }
    }

    fn buffer(&mut self, handle: BufferHandle) -> Result<&mut Memory, RuntimeError> {
        self.buffers.get_mut(handle.0).ok_or_else(|| unknown("buffer"))
    }
}

fn unknown(what: &str) -> RuntimeError {
    RuntimeError::unknown("cpu", what)
}

/// Bytes from which on the system is asked whether it has them.
const WORTH_ASKING: u64 = 1 << 20;

impl Device for Cpu {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn compile(
        &mut self,
        source: &str,
        name: &str,
        params: &[ArgType],
        options: &CompileOptions,
    ) -> Result<KernelHandle, RuntimeError> {
        check::text(&self.info, source, name)?;
        let text = entry::with_entry(source, name, params);
        let library = self.cache.library(&self.compiler, &text, name, options)?;
        Ok(KernelHandle(self.kernels.add(Kernel { library, params: params.to_vec() })))
    }

    fn unload(&mut self, kernel: KernelHandle) -> Result<(), RuntimeError> {
        self.kernels.remove(kernel.0).map(drop).ok_or_else(|| unknown("kernel"))
    }

    fn allocate(&mut self, bytes: u64) -> Result<BufferHandle, RuntimeError> {
        check::buffer_size(&self.info, bytes)?;
        // The system hands out memory it does not have and ends the process when it is used. To ask takes longer than a few
        // pages do.
        let available = (bytes >= WORTH_ASKING).then(machine::available_bytes).flatten();
        let memory = if available.is_some_and(|available| bytes > available) {
            None
        } else {
            Memory::new(bytes)
        };
        let memory = memory.ok_or_else(|| {
            let device = self.info.id.clone();
            RuntimeError::OutOfMemory { device, bytes, available }
        })?;
        Ok(BufferHandle(self.buffers.add(memory)))
    }

    fn write(&mut self, buffer: BufferHandle, bytes: &[u8]) -> Result<(), RuntimeError> {
        let size = self.buffer(buffer)?.bytes().len() as u64;
        check::transfer(&self.info, size, bytes.len())?;
        self.buffer(buffer)?.bytes_mut()[..bytes.len()].copy_from_slice(bytes);
        Ok(())
    }

    fn read(&mut self, buffer: BufferHandle, bytes: &mut [u8]) -> Result<(), RuntimeError> {
        let size = self.buffer(buffer)?.bytes().len() as u64;
        check::transfer(&self.info, size, bytes.len())?;
        bytes.copy_from_slice(&self.buffer(buffer)?.bytes()[..bytes.len()]);
        Ok(())
    }

    fn fill(&mut self, buffer: BufferHandle, byte: u8) -> Result<(), RuntimeError> {
        self.buffer(buffer)?.bytes_mut().fill(byte);
        Ok(())
    }

    fn free(&mut self, buffer: BufferHandle) -> Result<(), RuntimeError> {
        self.buffers.remove(buffer.0).map(drop).ok_or_else(|| unknown("buffer"))
    }

    fn launch(
        &mut self,
        kernel: KernelHandle,
        launch: &Launch,
        args: &[Arg],
    ) -> Result<LaunchTime, RuntimeError> {
        let kernel = self.kernels.get(kernel.0).ok_or_else(|| unknown("kernel"))?;
        check::args(&self.info, &kernel.params, args)?;
        check::launch(&self.info, &KernelLimits::default(), launch)?;
        let mut values = Vec::with_capacity(args.len());
        for arg in args {
            values.push(match arg {
                Arg::Buffer(handle) => {
                    let memory = self.buffers.get_mut(handle.0).ok_or_else(|| unknown("buffer"))?;
                    entry::Value::pointer(memory.start())
                }
                Arg::Bytes(bytes) => entry::Value::scalar(bytes),
            });
        }
        let start = Instant::now();
        kernel.library.call(&values);
        Ok(LaunchTime { ms: start.elapsed().as_secs_f64() * 1e3 })
    }

    #[allow(unsafe_code)]
    unsafe fn adopt(&mut self, address: u64, bytes: u64) -> Result<BufferHandle, RuntimeError> {
        // SAFETY: The caller promises what is asked for.
        let memory = unsafe { Memory::foreign(address, bytes) };
        let memory = memory.ok_or_else(|| RuntimeError::invalid("cpu", "no memory is at 0"))?;
        Ok(BufferHandle(self.buffers.add(memory)))
    }

    fn address(&self, buffer: BufferHandle) -> Result<u64, RuntimeError> {
        let memory = self.buffers.get(buffer.0).ok_or_else(|| unknown("buffer"))?;
        Ok(memory.bytes().as_ptr() as u64)
    }
}

#[cfg(test)]
mod tests;
