//! Devices: they compile kernel text, hold buffers, launch and time.
//!
//! Three kinds behind one trait, [`Device`]: `cpu` compiles C with the system's compiler, `opencl:K`
//! and `cuda:K` use the vendor's libraries, which are loaded when first asked for. What is missing is
//! an error that says what to install; a program that never asks for it never notices.
//!
//! A device works on text and bytes. What the text means, and how an array becomes bytes, is the
//! caller's business.
//!
//! ```
//! use lift_runtime::{Arg, ArgType, CompileOptions, Launch, open};
//!
//! # fn main() -> Result<(), lift_runtime::RuntimeError> {
//! let mut device = open("cpu")?;
//! let text = "void set(int *out, int value) { out[0] = value; }";
//! let params = [ArgType::Pointer, ArgType::I32];
//! let kernel = device.compile(text, "set", &params, &CompileOptions::default())?;
//! let out = device.allocate(4)?;
//! let args = [Arg::Buffer(out), Arg::from(7i32)];
//! device.launch(kernel, &Launch::SINGLE, &args)?;
//! let mut bytes = [0; 4];
//! device.read(out, &mut bytes)?;
//! assert_eq!(i32::from_ne_bytes(bytes), 7);
//! # Ok(())
//! # }
//! ```

mod arg;
mod check;
mod compile_log;
mod cpu;
mod cuda;
mod device;
mod error;
mod find;
mod opencl;
mod pages;
mod slots;
mod time;

pub use arg::{Arg, ArgType};
pub use check::{buffers as check_buffers, local_memory as check_local_memory};
pub use cpu::{CArg, CFunction, Cleared, clear_cache, wait_briefly};
pub use device::{
    BufferHandle, CompileOptions, Device, DeviceInfo, KernelHandle, Language, Launch, LaunchTime,
    Stream,
};
pub use error::{CompileFailure, RuntimeError};
pub use find::{devices, open};
pub use pages::prepare;
pub use time::median;
