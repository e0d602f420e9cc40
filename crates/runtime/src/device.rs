//! What a device is to its users.

use crate::{Arg, ArgType, RuntimeError};

/// Compiles kernels, holds buffers, runs and times. Every call returns after its work is done, unless the
/// device [follows](Device::follow) a stream.
pub trait Device {
    fn info(&self) -> &DeviceInfo;

    /// Compiles `source`, text in the device's [`Language`] that defines the kernel `name`.
    ///
    /// `params` are the kernel's parameters in order; launches are checked against them.
    fn compile(
        &mut self,
        source: &str,
        name: &str,
        params: &[ArgType],
        options: &CompileOptions,
    ) -> Result<KernelHandle, RuntimeError>;

    /// Releases a kernel; its handle is then unknown.
    fn unload(&mut self, kernel: KernelHandle) -> Result<(), RuntimeError>;

    /// A new buffer, aligned to at least 64 bytes. Its contents are unspecified.
    fn allocate(&mut self, bytes: u64) -> Result<BufferHandle, RuntimeError>;

    /// Copies `bytes` to the start of the buffer.
    fn write(&mut self, buffer: BufferHandle, bytes: &[u8]) -> Result<(), RuntimeError>;

    /// Copies the start of the buffer to `bytes`.
    fn read(&mut self, buffer: BufferHandle, bytes: &mut [u8]) -> Result<(), RuntimeError>;

    /// Sets every byte of the buffer.
    fn fill(&mut self, buffer: BufferHandle, byte: u8) -> Result<(), RuntimeError>;

    /// Releases a buffer; its handle is then unknown.
    fn free(&mut self, buffer: BufferHandle) -> Result<(), RuntimeError>;

    /// Runs the kernel once and waits for it, after checking the launch against the device's limits.
    ///
    /// On `cpu` the text itself runs the groups: the sizes are only checked.
    fn launch(
        &mut self,
        kernel: KernelHandle,
        launch: &Launch,
        args: &[Arg],
    ) -> Result<LaunchTime, RuntimeError>;

    /// Memory that another library of this process owns, as a buffer: the host's on `cpu`, the device's on
    /// CUDA. To free the buffer is to forget the memory.
    ///
    /// # Safety
    ///
    /// So many bytes are at the address until the buffer is freed and, where a stream is followed, until the
    /// work that uses them is done.
    #[allow(unsafe_code)]
    unsafe fn adopt(&mut self, address: u64, bytes: u64) -> Result<BufferHandle, RuntimeError> {
        let _ = (address, bytes);
        let message = "this kind of device works on memory of its own alone";
        Err(RuntimeError::invalid(&self.info().id, message))
    }

    /// Where a buffer is, for other libraries of this process: as [`Device::adopt`] takes it.
    fn address(&self, buffer: BufferHandle) -> Result<u64, RuntimeError> {
        let _ = buffer;
        let message = "this kind of device keeps to itself where its memory is";
        Err(RuntimeError::invalid(&self.info().id, message))
    }

    /// Waits for what is in the stream that is followed.
    fn finish(&mut self) -> Result<(), RuntimeError> {
        Ok(())
    }

    /// From here on work is queued behind what another library has in its stream, and waited for where
    /// something is read or [finished](Device::finish) alone: launches return no time. Without a stream every call waits again.
    ///
    /// # Safety
    ///
    /// The stream is one of the device's primary context, and lives until another is followed and all
    /// buffers made meanwhile are freed. Kernels launched meanwhile are done when they are unloaded.
    #[allow(unsafe_code)]
    unsafe fn follow(&mut self, stream: Option<Stream>) -> Result<(), RuntimeError> {
        match stream {
            None => Ok(()),
            Some(_) => {
                Err(RuntimeError::invalid(&self.info().id, "this kind of device has no streams"))
            }
        }
    }
}

/// A stream of CUDA, as its driver names it: 1 is the one that all threads share, 2 the thread's own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stream(pub u64);

/// How many work-items run a kernel, and what they share.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Launch {
    /// Work-items, not groups: a multiple of `local` in every dimension.
    pub global: [u64; 3],
    /// Work-items of a group.
    pub local: [u64; 3],
    /// Bytes of local memory a group gets besides what the text declares: CUDA's `extern __shared__`.
    /// The other languages have none.
    pub dynamic_local_bytes: u64,
}

impl Launch {
    /// A launch whose kernel declares all of its local memory.
    pub fn new(global: [u64; 3], local: [u64; 3]) -> Launch {
        Launch { global, local, dynamic_local_bytes: 0 }
    }

    /// One work-item.
    pub const SINGLE: Launch = Launch { global: [1; 3], local: [1; 3], dynamic_local_bytes: 0 };
}

/// What a device says of itself.
#[derive(Clone, PartialEq, Debug)]
pub struct DeviceInfo {
    /// What [`crate::open`] takes: `cpu`, `opencl:0`, `cuda:0`.
    pub id: String,
    pub name: String,
    /// `cpu`, `gpu` or `accelerator`.
    pub kind: &'static str,
    pub language: Language,
    pub compute_units: u32,
    /// Some drivers answer differently from run to run: no part of a device's identity.
    pub memory_bytes: u64,
    pub max_buffer_bytes: u64,
    /// Work-items a group, over all dimensions.
    pub max_group_size: u64,
    pub max_group_sizes: [u64; 3],
    /// Groups a launch, in each dimension.
    pub max_groups: [u64; 3],
    /// Of a group, as much as a launch can ask for.
    pub local_memory_bytes: u64,
    pub driver: String,
    pub fp16: bool,
    pub fp64: bool,
    /// Work-items that run in step; 32 where the device does not say.
    pub warp: u32,
}

impl DeviceInfo {
    /// By which way it is reached: `cpu`, `opencl` or `cuda`. One device may be reached by two.
    pub fn way(&self) -> &'static str {
        match self.language {
            Language::C => "cpu",
            Language::OpenCl => "opencl",
            Language::Cuda => "cuda",
        }
    }
}

/// The language a device's kernels are written in.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Language {
    /// C11 with GCC's extensions and OpenMP.
    C,
    /// OpenCL C 1.2.
    OpenCl,
    /// CUDA C++; kernels are `extern "C"`.
    Cuda,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CompileOptions {
    /// Lets the compiler reorder floating-point arithmetic and drop special values.
    pub fast_math: bool,
}

/// Names a kernel of the device that compiled it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct KernelHandle(pub(crate) u64);

/// Names a buffer of the device that allocated it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct BufferHandle(pub(crate) u64);

/// How long a kernel ran: by the device's own clock on OpenCL and CUDA, by the host's on `cpu`; 0 where it was only
/// queued.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug)]
pub struct LaunchTime {
    pub ms: f64,
}
