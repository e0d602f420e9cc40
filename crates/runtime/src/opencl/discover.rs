//! Which OpenCL devices there are.

use std::sync::{Mutex, PoisonError};

use opencl3::device::{CL_DEVICE_TYPE_ACCELERATOR, CL_DEVICE_TYPE_ALL, CL_DEVICE_TYPE_CPU, Device};
use opencl3::error_codes::{
    CL_PLATFORM_NOT_FOUND_KHR, ClError, DLOPEN_FUNCTION_NOT_AVAILABLE, DLOPEN_RUNTIME_LOAD_FAILED,
};
use opencl3::platform::get_platforms;

use crate::{DeviceInfo, Language, RuntimeError};

pub struct Found {
    pub device: Device,
    platform: String,
    /// Often holds the name that people use: `OpenCL 3.0 PoCL 3.1`.
    version: String,
}

/// Every device of every platform, in the order the library lists them: the number in an id.
pub fn all() -> Result<Vec<Found>, RuntimeError> {
    /// The first call starts the drivers, and not every driver bears being started by two threads.
    static STARTING: Mutex<()> = Mutex::new(());
    let _one_at_a_time = STARTING.lock().unwrap_or_else(PoisonError::into_inner);
    let platforms = match get_platforms() {
        Ok(platforms) if !platforms.is_empty() => platforms,
        Ok(_) => return Err(no_driver()),
        Err(error) => {
            return Err(match error.0 {
                CL_PLATFORM_NOT_FOUND_KHR => no_driver(),
                DLOPEN_RUNTIME_LOAD_FAILED | DLOPEN_FUNCTION_NOT_AVAILABLE => no_library(),
                _ => RuntimeError::failed("opencl", "listing the platforms", error),
            });
        }
    };
    let mut found = Vec::new();
    for platform in platforms {
        // A platform without devices answers with an error.
        let ids = platform.get_devices(CL_DEVICE_TYPE_ALL).unwrap_or_default();
        let name = platform.name().unwrap_or_default();
        let version = platform.version().unwrap_or_default();
        found.extend(ids.into_iter().map(|id| Found {
            device: Device::new(id),
            platform: name.clone(),
            version: version.clone(),
        }));
    }
    if found.is_empty() { Err(no_driver()) } else { Ok(found) }
}

fn no_library() -> RuntimeError {
    RuntimeError::Missing {
        what: "libOpenCL.so.1 is not installed".to_string(),
        advice:
            "install an OpenCL loader (Debian: ocl-icd-libopencl1) and a driver for the device, \
                 or use another device"
                .to_string(),
    }
}

fn no_driver() -> RuntimeError {
    RuntimeError::Missing {
        what: "no OpenCL driver offers a device".to_string(),
        advice: "install the vendor's driver, or pocl-opencl-icd to run on the CPU".to_string(),
    }
}

impl Found {
    /// Whether the device or its platform has this text in its name, in whatever case.
    pub fn is_called(&self, text: &str) -> bool {
        let text = text.to_lowercase();
        let name = self.device.name().unwrap_or_default();
        [&name, &self.platform, &self.version]
            .iter()
            .any(|name| name.to_lowercase().contains(&text))
    }

    pub fn info(&self, number: usize) -> Result<DeviceInfo, RuntimeError> {
        let id = format!("opencl:{number}");
        self.describe(&id)
            .map_err(|error| RuntimeError::failed(&id, "asking for the device's properties", error))
    }

    fn describe(&self, id: &str) -> Result<DeviceInfo, ClError> {
        let device = &self.device;
        let extensions = device.extensions()?;
        let has = |name: &str| extensions.split_whitespace().any(|extension| extension == name);
        let mut max_group_sizes = [1; 3];
        for (to, from) in max_group_sizes.iter_mut().zip(device.max_work_item_sizes()?) {
            *to = from as u64;
        }
        let kind = match device.dev_type()? {
            kind if kind & CL_DEVICE_TYPE_CPU != 0 => "cpu",
            kind if kind & CL_DEVICE_TYPE_ACCELERATOR != 0 => "accelerator",
            _ => "gpu",
        };
        let warp = if has("cl_nv_device_attribute_query") {
            device.wrap_size_nv().ok()
        } else if has("cl_amd_device_attribute_query") {
            device.wavefront_width_amd().ok()
        } else {
            None
        };
        Ok(DeviceInfo {
            id: id.to_string(),
            name: device.name()?.trim().to_string(),
            kind,
            language: Language::OpenCl,
            compute_units: device.max_compute_units()?,
            memory_bytes: device.global_mem_size()?,
            max_buffer_bytes: device.max_mem_alloc_size()?,
            max_group_size: device.max_work_group_size()? as u64,
            max_group_sizes,
            max_groups: [u64::MAX; 3],
            local_memory_bytes: device.local_mem_size()?,
            driver: format!("{}, {}", self.platform, device.driver_version()?),
            fp16: has("cl_khr_fp16"),
            fp64: has("cl_khr_fp64"),
            warp: warp.filter(|warp| *warp > 0).unwrap_or(32),
        })
    }
}
