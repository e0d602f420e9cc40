//! Devices `cuda:K`: NVIDIA's driver and its run-time compiler, NVRTC.

mod context;
mod discover;
mod hold;
mod nvrtc;

use context::{Context, Followed, Memory, Module};
use cudarc::driver::result::DriverError;
use cudarc::driver::sys::{CUresult, CUstream};
use hold::Hold;

use crate::check;
use crate::slots::Slots;
use crate::{
    Arg, ArgType, BufferHandle, CompileOptions, Device, DeviceInfo, KernelHandle, Launch,
    LaunchTime, RuntimeError, Stream,
};

pub fn infos() -> Result<Vec<Result<DeviceInfo, RuntimeError>>, RuntimeError> {
    let count = discover::count()?;
    Ok((0..count).map(discover::info).collect())
}

pub fn open(number: u32) -> Result<Option<Box<dyn Device>>, RuntimeError> {
    if number >= discover::count()? {
        return Ok(None);
    }
    let info = discover::info(number)?;
    let architecture = discover::architecture(number)?;
    let context = Context::new(number)
        .map_err(|error| RuntimeError::failed(&info.id, "opening the device", say(error)))?;
    let (kernels, buffers, hold) = (Slots::new(), Slots::new(), Hold::new());
    let followed = None;
    Ok(Some(Box::new(Cuda { kernels, buffers, hold, followed, context, architecture, info })))
}

struct Cuda {
    kernels: Slots<(Module, Vec<ArgType>)>,
    buffers: Slots<Memory>,
    hold: Hold,
    followed: Followed,
    context: Context,
    /// The compute capability: 90 for 9.0.
    architecture: u32,
    info: DeviceInfo,
}

/// The driver's words for an error, with what they leave out.
fn say(error: DriverError) -> String {
    let text = error.error_string().map(|text| text.to_string_lossy().into_owned());
    let text = text.unwrap_or_else(|_| format!("{:?}", error.0));
    let lost = matches!(
        error.0,
        CUresult::CUDA_ERROR_ILLEGAL_ADDRESS
            | CUresult::CUDA_ERROR_MISALIGNED_ADDRESS
            | CUresult::CUDA_ERROR_ILLEGAL_INSTRUCTION
            | CUresult::CUDA_ERROR_LAUNCH_FAILED
            | CUresult::CUDA_ERROR_LAUNCH_TIMEOUT
    );
    if lost { format!("{text}; this process can no longer use the device") } else { text }
}

impl Cuda {
    /// Makes the context the one that the driver's calls mean. Every method that calls it starts so.
    fn enter(&self) -> Result<(), RuntimeError> {
        self.context.enter().map_err(self.failed("using the device"))
    }

    fn failed(&self, action: &str) -> impl FnOnce(DriverError) -> RuntimeError {
        let id = self.info.id.clone();
        let action = action.to_string();
        move |error| RuntimeError::failed(&id, &action, say(error))
    }

    fn unknown(&self, what: &str) -> RuntimeError {
        RuntimeError::unknown(&self.info.id, what)
    }

    /// Requires: the device was entered.
    fn hold(&self) -> Option<&Module> {
        let made = self.hold.get_or_init(|| {
            let options = CompileOptions::default();
            let (text, name) = (hold::TEXT, hold::NAME);
            let image = nvrtc::compile(&self.info.id, text, name, self.architecture, &options);
            // Times are less exact without it, that is all.
            self.context.load(&image.ok()?, name).ok()
        });
        made.as_ref()
    }
}

impl Drop for Cuda {
    fn drop(&mut self) {
        // What lives in the context goes first, with the context current. After a fault the driver
        // refuses both, and the process's end releases all.
        let _ = self.context.enter();
        self.kernels.clear();
        self.buffers.clear();
        drop(self.hold.take());
    }
}

impl Device for Cuda {
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
        self.enter()?;
        let image = nvrtc::compile(&self.info.id, source, name, self.architecture, options)?;
        let module = self.context.load(&image, name).map_err(|error| match error.0 {
            CUresult::CUDA_ERROR_NOT_FOUND => {
                let message = format!("the text has no kernel `{name}` (is it extern \"C\"?)");
                RuntimeError::invalid(&self.info.id, message)
            }
            _ => self.failed(&format!("loading the kernel `{name}`"))(error),
        })?;
        Ok(KernelHandle(self.kernels.add((module, params.to_vec()))))
    }

    fn unload(&mut self, kernel: KernelHandle) -> Result<(), RuntimeError> {
        self.enter()?;
        self.kernels.remove(kernel.0).map(drop).ok_or_else(|| self.unknown("kernel"))
    }

    fn allocate(&mut self, bytes: u64) -> Result<BufferHandle, RuntimeError> {
        check::buffer_size(&self.info, bytes)?;
        self.enter()?;
        let memory =
            self.context.allocate(bytes, self.followed).map_err(|error| match error.0 {
                CUresult::CUDA_ERROR_OUT_OF_MEMORY => {
                    let (device, available) = (self.info.id.clone(), self.context.free_bytes());
                    RuntimeError::OutOfMemory { device, bytes, available }
                }
                _ => self.failed("allocating a buffer")(error),
            })?;
        Ok(BufferHandle(self.buffers.add(memory)))
    }

    fn write(&mut self, buffer: BufferHandle, bytes: &[u8]) -> Result<(), RuntimeError> {
        self.enter()?;
        let memory = self.buffers.get(buffer.0).ok_or_else(|| self.unknown("buffer"))?;
        check::transfer(&self.info, memory.bytes, bytes.len())?;
        self.context.write(memory, bytes, self.followed).map_err(self.failed("writing a buffer"))
    }

    fn read(&mut self, buffer: BufferHandle, bytes: &mut [u8]) -> Result<(), RuntimeError> {
        self.enter()?;
        let memory = self.buffers.get(buffer.0).ok_or_else(|| self.unknown("buffer"))?;
        check::transfer(&self.info, memory.bytes, bytes.len())?;
        self.context.read(memory, bytes, self.followed).map_err(self.failed("reading a buffer"))
    }

    fn fill(&mut self, buffer: BufferHandle, byte: u8) -> Result<(), RuntimeError> {
        self.enter()?;
        let memory = self.buffers.get(buffer.0).ok_or_else(|| self.unknown("buffer"))?;
        self.context.fill(memory, byte, self.followed).map_err(self.failed("filling a buffer"))
    }

    fn free(&mut self, buffer: BufferHandle) -> Result<(), RuntimeError> {
        self.enter()?;
        self.buffers.remove(buffer.0).map(drop).ok_or_else(|| self.unknown("buffer"))
    }

    fn launch(
        &mut self,
        kernel: KernelHandle,
        launch: &Launch,
        args: &[Arg],
    ) -> Result<LaunchTime, RuntimeError> {
        self.enter()?;
        let (module, params) = self.kernels.get(kernel.0).ok_or_else(|| self.unknown("kernel"))?;
        check::args(&self.info, params, args)?;
        check::launch(&self.info, &module.limits, launch)?;
        let mut values = Vec::with_capacity(args.len());
        for arg in args {
            let mut value = [0; 8];
            match arg {
                Arg::Buffer(handle) => {
                    let memory =
                        self.buffers.get(handle.0).ok_or_else(|| self.unknown("buffer"))?;
                    value = memory.address();
                }
                Arg::Bytes(bytes) => value[..bytes.len()].copy_from_slice(bytes),
            }
            values.push(u64::from_ne_bytes(value));
        }
        if let Some(stream) = self.followed {
            let queued = self.context.enqueue(module, launch, &values, stream);
            queued.map_err(self.failed("queueing the kernel"))?;
            return Ok(LaunchTime { ms: 0.0 });
        }
        let hold = if hold::matters(module.last_ms.get()) { self.hold() } else { None };
        let ms = self.context.run(module, launch, &values, hold);
        Ok(LaunchTime { ms: ms.map_err(self.failed("running the kernel"))? })
    }

    #[allow(unsafe_code)]
    unsafe fn adopt(&mut self, address: u64, bytes: u64) -> Result<BufferHandle, RuntimeError> {
        Ok(BufferHandle(self.buffers.add(Memory::foreign(address, bytes))))
    }

    fn address(&self, buffer: BufferHandle) -> Result<u64, RuntimeError> {
        let memory = self.buffers.get(buffer.0).ok_or_else(|| self.unknown("buffer"))?;
        Ok(u64::from_ne_bytes(memory.address()))
    }

    fn finish(&mut self) -> Result<(), RuntimeError> {
        self.enter()?;
        match self.followed {
            Some(stream) => self.context.finish(stream).map_err(self.failed("running the kernels")),
            None => Ok(()),
        }
    }

    #[allow(unsafe_code)]
    unsafe fn follow(&mut self, stream: Option<Stream>) -> Result<(), RuntimeError> {
        self.followed = stream.map(|stream| stream.0 as CUstream);
        Ok(())
    }
}
