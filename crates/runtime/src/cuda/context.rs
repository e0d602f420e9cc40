//! The context of one device, and what lives in it.

#![allow(unsafe_code)]

use std::cell::Cell;
use std::ffi::{CString, c_void};
use std::ptr;

use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys::{self, CUevent_flags, CUfunction_attribute as Attribute};

use super::hold;
use crate::Launch;
use crate::check::KernelLimits;

/// The device's primary context, and two events for timing. Every call but [`Context::new`] requires
/// that it was entered, and that no other context was since.
pub struct Context {
    device: sys::CUdevice,
    context: sys::CUcontext,
    start: sys::CUevent,
    stop: sys::CUevent,
}

pub struct Module {
    module: sys::CUmodule,
    function: sys::CUfunction,
    pub limits: KernelLimits,
    /// The dynamic shared memory that launches may ask for by now, in bytes.
    dynamic: Cell<u64>,
    /// How long the last launch took.
    pub last_ms: Cell<Option<f64>>,
}

/// What a launch may ask for without the driver being told before.
const ALWAYS_ALLOWED: u64 = 48 * 1024;

pub struct Memory {
    address: sys::CUdeviceptr,
    pub bytes: u64,
    origin: Origin,
}

/// Whose memory it is.
enum Origin {
    Device,
    /// The stream's pool: there once the work before it is done, and until the work behind it is.
    Pool(sys::CUstream),
    /// Another library's.
    Foreign,
}

/// What others queue their work in. Nothing stands for the stream that everyone shares, waited for each time.
pub type Followed = Option<sys::CUstream>;

impl Context {
    /// Requires: the driver is initialised and has a device of this number.
    pub fn new(number: u32) -> Result<Context, DriverError> {
        let device = result::device::get(number as i32)?;
        // SAFETY: The driver gave this device.
        let context = unsafe { result::primary_ctx::retain(device)? };
        let opened = || {
            // SAFETY: The context is retained until `Context` is dropped.
            unsafe { result::ctx::set_current(context)? };
            let start = result::event::create(CUevent_flags::CU_EVENT_DEFAULT)?;
            let stop = result::event::create(CUevent_flags::CU_EVENT_DEFAULT)?;
            Ok(Context { device, context, start, stop })
        };
        opened().inspect_err(|_| {
            // SAFETY: The context was retained above and nothing lives in it.
            let _ = unsafe { result::primary_ctx::release(device) };
        })
    }

    /// Makes this context current on the calling thread.
    pub fn enter(&self) -> Result<(), DriverError> {
        // SAFETY: The context is retained until `self` is dropped.
        unsafe { result::ctx::set_current(self.context) }
    }

    /// Requires: machine code, or PTX with a zero byte at its end.
    pub fn load(&self, image: &[u8], name: &str) -> Result<Module, DriverError> {
        let invalid = |_| DriverError(sys::CUresult::CUDA_ERROR_INVALID_VALUE);
        let name = CString::new(name).map_err(invalid)?;
        // SAFETY: The image is what the compiler made, which says its own length; it is copied.
        let module = unsafe { result::module::load_data(image.as_ptr().cast::<c_void>())? };
        let mut loaded = Module {
            module,
            function: ptr::null_mut(),
            limits: KernelLimits::default(),
            dynamic: Cell::new(0),
            last_ms: Cell::new(None),
        };
        // SAFETY: The module is loaded.
        loaded.function = unsafe { result::module::get_function(module, name)? };
        let ask = |what| {
            // SAFETY: The module gave this function.
            let value = unsafe { result::function::get_function_attribute(loaded.function, what) };
            value.map(|value| value.max(0) as u64)
        };
        loaded.limits = KernelLimits {
            max_group_size: Some(ask(Attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?),
            local_memory_bytes: ask(Attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?,
            required_local: None,
        };
        loaded.dynamic.set(ALWAYS_ALLOWED.saturating_sub(loaded.limits.local_memory_bytes));
        Ok(loaded)
    }

    pub fn allocate(&self, bytes: u64, followed: Followed) -> Result<Memory, DriverError> {
        // SAFETY: A context is current, and the stream is one of it.
        let (address, origin) = unsafe {
            match followed {
                None => (result::malloc_sync(bytes as usize)?, Origin::Device),
                Some(stream) => {
                    (result::malloc_async(stream, bytes as usize)?, Origin::Pool(stream))
                }
            }
        };
        Ok(Memory { address, bytes, origin })
    }

    /// What the device has left, where it says.
    pub fn free_bytes(&self) -> Option<u64> {
        result::mem_get_info().ok().map(|(free, _)| free as u64)
    }

    /// Requires: no more bytes than the memory has.
    pub fn write(
        &self,
        memory: &Memory,
        bytes: &[u8],
        followed: Followed,
    ) -> Result<(), DriverError> {
        if bytes.is_empty() {
            return Ok(());
        }
        // SAFETY: The memory is allocated and large enough, and the bytes are there until the copy is done.
        unsafe {
            match followed {
                None => result::memcpy_htod_sync(memory.address, bytes),
                Some(stream) => {
                    result::memcpy_htod_async(memory.address, bytes, stream)?;
                    result::stream::synchronize(stream)
                }
            }
        }
    }

    /// Requires: no more bytes than the memory has.
    pub fn read(
        &self,
        memory: &Memory,
        bytes: &mut [u8],
        followed: Followed,
    ) -> Result<(), DriverError> {
        if bytes.is_empty() {
            return Ok(());
        }
        // SAFETY: As in `write`.
        unsafe {
            match followed {
                None => result::memcpy_dtoh_sync(bytes, memory.address),
                Some(stream) => {
                    result::memcpy_dtoh_async(bytes, memory.address, stream)?;
                    result::stream::synchronize(stream)
                }
            }
        }
    }

    pub fn fill(&self, memory: &Memory, byte: u8, followed: Followed) -> Result<(), DriverError> {
        // SAFETY: The whole memory is filled and no more.
        unsafe {
            match followed {
                None => {
                    result::memset_d8_sync(memory.address, byte, memory.bytes as usize)?;
                    result::ctx::synchronize()
                }
                Some(stream) => {
                    result::memset_d8_async(memory.address, byte, memory.bytes as usize, stream)
                }
            }
        }
    }

    pub fn finish(&self, stream: sys::CUstream) -> Result<(), DriverError> {
        // SAFETY: The stream is one of this context, and lives.
        unsafe { result::stream::synchronize(stream) }
    }

    /// Queues the kernel behind what is in a stream.
    ///
    /// Requires: as [`Context::run`].
    pub fn enqueue(
        &self,
        module: &Module,
        launch: &Launch,
        values: &[u64],
        stream: sys::CUstream,
    ) -> Result<(), DriverError> {
        module.allow_dynamic(launch.dynamic_local_bytes)?;
        self.queue(module, launch, values, stream)
    }

    /// The milliseconds the kernel ran. With a kernel to hold the stream, see [`hold`], they do not count what
    /// the host takes to queue it.
    ///
    /// Requires: the sizes are within the limits, and the values are what the kernel's parameters demand.
    pub fn run(
        &self,
        module: &Module,
        launch: &Launch,
        values: &[u64],
        hold: Option<&Module>,
    ) -> Result<f64, DriverError> {
        module.allow_dynamic(launch.dynamic_local_bytes)?;
        let stream = ptr::null_mut();
        if let Some(hold) = hold {
            self.queue(hold, &Launch::SINGLE, &[hold::CYCLES], stream)?;
        }
        // SAFETY: Events and stream belong to this context.
        unsafe { result::event::record(self.start, stream)? };
        self.queue(module, launch, values, stream)?;
        // SAFETY: As above, and the last call but one waits for all of them.
        let ms = unsafe {
            result::event::record(self.stop, stream)?;
            result::event::synchronize(self.stop)?;
            f64::from(result::event::elapsed(self.start, self.stop)?)
        };
        module.last_ms.set(Some(ms));
        Ok(ms)
    }

    /// Requires: as [`Context::run`], and that someone waits for the stream.
    fn queue(
        &self,
        module: &Module,
        launch: &Launch,
        values: &[u64],
        stream: sys::CUstream,
    ) -> Result<(), DriverError> {
        let groups = std::array::from_fn(|d| launch.global[d] / launch.local[d]);
        let dynamic = launch.dynamic_local_bytes as u32;
        let dimensions = |sizes: [u64; 3]| (sizes[0] as u32, sizes[1] as u32, sizes[2] as u32);
        let mut pointers: Vec<*mut c_void> =
            values.iter().map(|value| ptr::from_ref(value).cast_mut().cast()).collect();
        let (groups, local) = (dimensions(groups), dimensions(launch.local));
        // SAFETY: The function is loaded, and its arguments are copied by the launch. That the kernel
        // stays within its buffers is the promise of whoever wrote its text.
        unsafe {
            result::launch_kernel(module.function, groups, local, dynamic, stream, &mut pointers)
        }
    }
}

impl Module {
    /// Lets launches of the kernel ask for so much dynamic shared memory.
    ///
    /// Requires: the device has as much.
    fn allow_dynamic(&self, bytes: u64) -> Result<(), DriverError> {
        if bytes <= self.dynamic.get() {
            return Ok(());
        }
        let what = Attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        // SAFETY: The module gave this function.
        unsafe { result::function::set_function_attribute(self.function, what, bytes as i32)? };
        self.dynamic.set(bytes);
        Ok(())
    }
}

impl Memory {
    /// Another library's.
    pub fn foreign(address: u64, bytes: u64) -> Memory {
        Memory { address, bytes, origin: Origin::Foreign }
    }

    /// As an argument of a kernel.
    pub fn address(&self) -> [u8; 8] {
        self.address.to_ne_bytes()
    }
}

// What the driver answers to a release is ignored: after a fault of a kernel it refuses everything,
// and the process's end releases all.

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: Each was made in `new`, is released once, and nothing uses it later: the device
        // drops its modules and memory first.
        unsafe {
            let _ = result::event::destroy(self.start);
            let _ = result::event::destroy(self.stop);
            let _ = result::primary_ctx::release(self.device);
        }
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        // SAFETY: The module is loaded, and no launch of it is under way: each is waited for, here or by who follows a stream.
        let _ = unsafe { result::module::unload(self.module) };
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: The memory is allocated, and no launch that uses it is under way, or it is before this in the stream.
        let _ = unsafe {
            match self.origin {
                Origin::Device => result::free_sync(self.address),
                Origin::Pool(stream) => result::free_async(self.address, stream),
                Origin::Foreign => Ok(()),
            }
        };
    }
}
