//! Devices `opencl:K`: every device of every platform, through the system's OpenCL library.

mod discover;
mod limits;
mod session;

use discover::Found;
use opencl3::error_codes::{
    CL_MEM_OBJECT_ALLOCATION_FAILURE, CL_OUT_OF_HOST_MEMORY, CL_OUT_OF_RESOURCES, ClError,
};
use session::{BuildError, Kernel, Memory, Session};

use crate::check;
use crate::slots::Slots;
use crate::{
    Arg, ArgType, BufferHandle, CompileOptions, Device, DeviceInfo, KernelHandle, Launch,
    LaunchTime, RuntimeError,
};

pub fn infos() -> Result<Vec<Result<DeviceInfo, RuntimeError>>, RuntimeError> {
    let found = discover::all()?;
    Ok(found.iter().enumerate().map(|(number, found)| found.info(number)).collect())
}

/// The device of this number, or the first whose or whose platform's name contains the text.
pub fn open(which: &str) -> Result<Option<Box<dyn Device>>, RuntimeError> {
    let mut found = discover::all()?;
    let number = match which.parse() {
        Ok(number) => Some(number),
        // Every name contains the empty one.
        Err(_) if which.trim().is_empty() => None,
        Err(_) => found.iter().position(|found| found.is_called(which)),
    };
    let Some(number) = number.filter(|number| *number < found.len()) else {
        return Ok(None);
    };
    Ok(Some(Box::new(OpenCl::new(found.swap_remove(number), number)?)))
}

/// Fields are dropped in this order: kernels and buffers before the queue and context they live in.
struct OpenCl {
    kernels: Slots<(Kernel, Vec<ArgType>)>,
    buffers: Slots<Memory>,
    session: Session,
    info: DeviceInfo,
}

impl OpenCl {
    fn new(found: Found, number: usize) -> Result<OpenCl, RuntimeError> {
        let info = found.info(number)?;
        let session = Session::new(found.device)
            .map_err(|error| RuntimeError::failed(&info.id, "opening the device", error))?;
        Ok(OpenCl { kernels: Slots::new(), buffers: Slots::new(), session, info })
    }

    fn failed(&self, action: &str) -> impl FnOnce(ClError) -> RuntimeError {
        let id = self.info.id.clone();
        let action = action.to_string();
        move |error| RuntimeError::failed(&id, &action, error)
    }

    fn unknown(&self, what: &str) -> RuntimeError {
        RuntimeError::unknown(&self.info.id, what)
    }

    fn buffer(&mut self, handle: BufferHandle) -> Result<(&mut Memory, &Session), RuntimeError> {
        match self.buffers.get_mut(handle.0) {
            Some(memory) => Ok((memory, &self.session)),
            None => Err(RuntimeError::unknown(&self.info.id, "buffer")),
        }
    }
}

impl Device for OpenCl {
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
        let kernel = self.session.build(source, name, options).map_err(|error| match error {
            BuildError::Log(log) => {
                RuntimeError::compile(&self.info.id, "the OpenCL driver", name, &log, source)
            }
            BuildError::Code(error) => {
                self.failed(&format!("compiling the kernel `{name}`"))(error)
            }
        })?;
        if let Some(takes) = kernel.params.filter(|takes| *takes as usize != params.len()) {
            let message =
                format!("the kernel `{name}` takes {takes} arguments, not {}", params.len());
            return Err(RuntimeError::invalid(&self.info.id, message));
        }
        Ok(KernelHandle(self.kernels.add((kernel, params.to_vec()))))
    }

    fn unload(&mut self, kernel: KernelHandle) -> Result<(), RuntimeError> {
        self.kernels.remove(kernel.0).map(drop).ok_or_else(|| self.unknown("kernel"))
    }

    fn allocate(&mut self, bytes: u64) -> Result<BufferHandle, RuntimeError> {
        check::buffer_size(&self.info, bytes)?;
        let memory = self.session.allocate(bytes).map_err(|error| match error.0 {
            CL_MEM_OBJECT_ALLOCATION_FAILURE | CL_OUT_OF_RESOURCES | CL_OUT_OF_HOST_MEMORY => {
                let device = self.info.id.clone();
                RuntimeError::OutOfMemory { device, bytes, available: None }
            }
            _ => self.failed("allocating a buffer")(error),
        })?;
        Ok(BufferHandle(self.buffers.add(memory)))
    }

    fn write(&mut self, buffer: BufferHandle, bytes: &[u8]) -> Result<(), RuntimeError> {
        let info = self.info.clone();
        let (memory, session) = self.buffer(buffer)?;
        check::transfer(&info, memory.bytes, bytes.len())?;
        session.write(memory, bytes).map_err(self.failed("writing a buffer"))
    }

    fn read(&mut self, buffer: BufferHandle, bytes: &mut [u8]) -> Result<(), RuntimeError> {
        let info = self.info.clone();
        let (memory, session) = self.buffer(buffer)?;
        check::transfer(&info, memory.bytes, bytes.len())?;
        session.read(memory, bytes).map_err(self.failed("reading a buffer"))
    }

    fn fill(&mut self, buffer: BufferHandle, byte: u8) -> Result<(), RuntimeError> {
        let (memory, session) = self.buffer(buffer)?;
        session.fill(memory, byte).map_err(self.failed("filling a buffer"))
    }

    fn free(&mut self, buffer: BufferHandle) -> Result<(), RuntimeError> {
        self.buffers.remove(buffer.0).map(drop).ok_or_else(|| self.unknown("buffer"))
    }

    fn launch(
        &mut self,
        kernel: KernelHandle,
        launch: &Launch,
        args: &[Arg],
    ) -> Result<LaunchTime, RuntimeError> {
        let (kernel, params) = self.kernels.get(kernel.0).ok_or_else(|| self.unknown("kernel"))?;
        check::args(&self.info, params, args)?;
        check::launch(&self.info, &kernel.limits, launch)?;
        for (at, arg) in args.iter().enumerate() {
            let set = match arg {
                Arg::Buffer(handle) => {
                    let memory =
                        self.buffers.get(handle.0).ok_or_else(|| self.unknown("buffer"))?;
                    kernel.set_buffer(at as u32, memory)
                }
                Arg::Bytes(bytes) => kernel.set_scalar(at as u32, bytes),
            };
            set.map_err(self.failed(&format!("passing argument {at}")))?;
        }
        let ms = self.session.run(kernel, launch.global, launch.local);
        Ok(LaunchTime { ms: ms.map_err(self.failed("running the kernel"))? })
    }
}
