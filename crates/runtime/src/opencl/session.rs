//! A context and a queue on one device, and what lives in them.

#![allow(unsafe_code)]

use std::ptr;

use opencl3::command_queue::{CL_QUEUE_PROFILING_ENABLE, CommandQueue};
use opencl3::context::Context;
use opencl3::device::Device;
use opencl3::error_codes::{CL_BUILD_PROGRAM_FAILURE, CL_INVALID_ARG_SIZE, ClError};
use opencl3::kernel::Kernel as Function;
use opencl3::memory::{Buffer, CL_MEM_READ_WRITE, ClMem};
use opencl3::program::Program;
use opencl3::types::CL_BLOCKING;

use super::limits;
use crate::CompileOptions;
use crate::check::KernelLimits;

pub struct Session {
    device: Device,
    queue: CommandQueue,
    context: Context,
}

pub struct Kernel {
    function: Function,
    pub limits: KernelLimits,
    /// How many parameters the kernel has, where the driver says.
    pub params: Option<u32>,
}

pub struct Memory {
    buffer: Buffer<u8>,
    pub bytes: u64,
}

pub enum BuildError {
    /// The text is wrong, and this is why.
    Log(String),
    Code(ClError),
}

impl From<ClError> for BuildError {
    fn from(error: ClError) -> BuildError {
        BuildError::Code(error)
    }
}

impl Session {
    pub fn new(device: Device) -> Result<Session, ClError> {
        let context = Context::from_device(&device)?;
        // OpenCL 1.2's call: a later driver has it too.
        // SAFETY: The context was made of this device.
        let queue =
            unsafe { CommandQueue::create(&context, device.id(), CL_QUEUE_PROFILING_ENABLE)? };
        Ok(Session { device, queue, context })
    }

    pub fn build(
        &self,
        source: &str,
        name: &str,
        options: &CompileOptions,
    ) -> Result<Kernel, BuildError> {
        let fast = if options.fast_math { " -cl-fast-relaxed-math" } else { "" };
        // Some drivers print how many warnings there are, which say nothing to who wrote no OpenCL.
        let flags = format!("-cl-std=CL1.2 -cl-mad-enable -w{fast}");
        let device = self.device.id();
        let mut program = Program::create_from_source(&self.context, source)?;
        if let Err(error) = program.build(&[device], &flags) {
            let log = program.get_build_log(device).unwrap_or_default();
            // Some drivers have other codes for errors in the text; the log tells.
            let in_text = error.0 == CL_BUILD_PROGRAM_FAILURE || log.contains("error");
            return Err(if in_text { BuildError::Log(log) } else { BuildError::Code(error) });
        }
        let function = Function::create(&program, name)?;
        let demanded = function.get_compile_work_group_size(device).ok();
        let limits = limits::of_kernel(
            demanded.and_then(|sizes| sizes.try_into().ok()),
            function.get_work_group_size(device).ok(),
            function.get_local_mem_size(device).unwrap_or(0),
        );
        let params = function.num_args().ok();
        Ok(Kernel { function, limits, params })
    }

    pub fn allocate(&self, bytes: u64) -> Result<Memory, ClError> {
        // SAFETY: No host memory is lent: the pointer is null, as the flags say.
        let buffer = unsafe {
            Buffer::create(&self.context, CL_MEM_READ_WRITE, bytes as usize, ptr::null_mut())?
        };
        Ok(Memory { buffer, bytes })
    }

    /// Requires: no more bytes than the memory has.
    pub fn write(&self, memory: &mut Memory, bytes: &[u8]) -> Result<(), ClError> {
        if bytes.is_empty() {
            return Ok(());
        }
        // SAFETY: The call returns when the bytes are copied.
        unsafe { self.queue.enqueue_write_buffer(&mut memory.buffer, CL_BLOCKING, 0, bytes, &[])? };
        Ok(())
    }

    /// Requires: no more bytes than the memory has.
    pub fn read(&self, memory: &Memory, bytes: &mut [u8]) -> Result<(), ClError> {
        if bytes.is_empty() {
            return Ok(());
        }
        // SAFETY: The call returns when the bytes are copied.
        unsafe { self.queue.enqueue_read_buffer(&memory.buffer, CL_BLOCKING, 0, bytes, &[])? };
        Ok(())
    }

    pub fn fill(&self, memory: &mut Memory, byte: u8) -> Result<(), ClError> {
        let size = memory.bytes as usize;
        // SAFETY: The whole memory is filled and no more; the pattern is copied by the call.
        unsafe { self.queue.enqueue_fill_buffer(&mut memory.buffer, &[byte], 0, size, &[])? };
        self.queue.finish()
    }

    /// The milliseconds the kernel ran. Requires: every argument is set.
    pub fn run(&self, kernel: &Kernel, global: [u64; 3], local: [u64; 3]) -> Result<f64, ClError> {
        let global = global.map(|size| size as usize);
        let local = local.map(|size| size as usize);
        // SAFETY: The sizes are three each, as the call is told. That the kernel stays within its
        // buffers is the promise of whoever wrote its text.
        let event = unsafe {
            let (global, local) = (global.as_ptr(), local.as_ptr());
            self.queue.enqueue_nd_range_kernel(
                kernel.function.get(),
                3,
                ptr::null(),
                global,
                local,
                &[],
            )?
        };
        event.wait()?;
        let nanoseconds =
            event.profiling_command_end()?.saturating_sub(event.profiling_command_start()?);
        Ok(nanoseconds as f64 / 1e6)
    }
}

impl Kernel {
    pub fn set_buffer(&self, at: u32, memory: &Memory) -> Result<(), ClError> {
        // SAFETY: A buffer argument is its handle, which the driver checks; the device keeps the
        // memory alive until it is freed.
        unsafe { self.function.set_arg(at, &memory.buffer.get()) }
    }

    pub fn set_scalar(&self, at: u32, bytes: &[u8]) -> Result<(), ClError> {
        /// The bytes as an array, whose size is that of the argument.
        fn set<const N: usize>(function: &Function, at: u32, bytes: &[u8]) -> Result<(), ClError> {
            let value: [u8; N] = bytes.try_into().map_err(|_| ClError(CL_INVALID_ARG_SIZE))?;
            // SAFETY: The driver copies the value during the call and checks its size.
            unsafe { function.set_arg(at, &value) }
        }
        match bytes.len() {
            1 => set::<1>(&self.function, at, bytes),
            2 => set::<2>(&self.function, at, bytes),
            4 => set::<4>(&self.function, at, bytes),
            _ => set::<8>(&self.function, at, bytes),
        }
    }
}
