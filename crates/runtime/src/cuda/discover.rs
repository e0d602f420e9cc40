//! Which CUDA devices there are.

#![allow(unsafe_code)]

use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys::{self, CUdevice_attribute as Attribute};

use super::{nvrtc, say};
use crate::{DeviceInfo, Language, RuntimeError};

/// The oldest driver with all calls that this crate makes, as the driver counts: CUDA 12.8.
const OLDEST_DRIVER: i32 = 12080;

/// How many devices there are. Ensures, when it succeeds, that both libraries can be called.
pub fn count() -> Result<u32, RuntimeError> {
    // SAFETY: Loading the libraries runs their initialisers, which expect it.
    if !unsafe { sys::is_culib_present() } {
        return Err(RuntimeError::Missing {
            what: "libcuda.so.1 is not installed".to_string(),
            advice: "install NVIDIA's driver, or use another device".to_string(),
        });
    }
    let failed = |error| RuntimeError::failed("cuda", "starting the driver", say(error));
    let version = driver_version().map_err(failed)?;
    if version < OLDEST_DRIVER {
        return Err(RuntimeError::Missing {
            what: format!("the NVIDIA driver knows CUDA {} only", dotted(version)),
            advice: format!("install a driver for CUDA {} or later", dotted(OLDEST_DRIVER)),
        });
    }
    nvrtc::find()?;
    result::init().map_err(failed)?;
    let count = result::device::get_count().map_err(failed)?;
    if count <= 0 {
        return Err(RuntimeError::Missing {
            what: "the NVIDIA driver finds no device".to_string(),
            advice: "use another device".to_string(),
        });
    }
    Ok(count as u32)
}

/// The compute capability without its point: 90 for 9.0.
pub fn architecture(number: u32) -> Result<u32, RuntimeError> {
    let read = || {
        let ask = asker(number)?;
        let major = ask(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?;
        let minor = ask(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?;
        Ok((major * 10 + minor) as u32)
    };
    read().map_err(|error| unanswered(number, error))
}

/// Requires: [`count`] has succeeded and is above the number.
pub fn info(number: u32) -> Result<DeviceInfo, RuntimeError> {
    let fp16 = architecture(number)? >= 53;
    describe(number, fp16).map_err(|error| unanswered(number, error))
}

fn unanswered(number: u32, error: DriverError) -> RuntimeError {
    let action = "asking for the device's properties";
    RuntimeError::failed(&format!("cuda:{number}"), action, say(error))
}

/// A function that reads the device's attributes.
fn asker(number: u32) -> Result<impl Fn(Attribute) -> Result<u64, DriverError>, DriverError> {
    let device = result::device::get(number as i32)?;
    // SAFETY: The driver gave this device.
    Ok(move |what| unsafe { result::device::get_attribute(device, what) }.map(|v| v.max(0) as u64))
}

fn describe(number: u32, fp16: bool) -> Result<DeviceInfo, DriverError> {
    let device = result::device::get(number as i32)?;
    let ask = asker(number)?;
    // SAFETY: The driver gave this device.
    let memory_bytes = unsafe { result::device::total_mem(device)? } as u64;
    Ok(DeviceInfo {
        id: format!("cuda:{number}"),
        name: result::device::get_name(device)?,
        kind: "gpu",
        language: Language::Cuda,
        compute_units: ask(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)? as u32,
        memory_bytes,
        max_buffer_bytes: memory_bytes,
        max_group_size: ask(Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
        max_group_sizes: [
            ask(Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X)?,
            ask(Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y)?,
            ask(Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z)?,
        ],
        max_groups: [
            ask(Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X)?,
            ask(Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y)?,
            ask(Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z)?,
        ],
        local_memory_bytes: ask(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?,
        driver: format!("CUDA {}", dotted(driver_version()?)),
        fp16,
        fp64: true,
        warp: ask(Attribute::CU_DEVICE_ATTRIBUTE_WARP_SIZE)? as u32,
    })
}

fn driver_version() -> Result<i32, DriverError> {
    let mut version = 0;
    // SAFETY: The call writes one number.
    unsafe { sys::cuDriverGetVersion(&mut version) }.result()?;
    Ok(version)
}

/// 12080 is 12.8.
fn dotted(version: i32) -> String {
    format!("{}.{}", version / 1000, version % 1000 / 10)
}
