//! From ids to devices.

use crate::{Device, DeviceInfo, RuntimeError, cpu, cuda, opencl};

/// Every device of this machine, in the order `cpu`, OpenCL, CUDA; in the place of what is missing,
/// the reason.
pub fn devices() -> Vec<Result<DeviceInfo, String>> {
    let mut found = vec![cpu::info().map_err(|reason| format!("cpu: {reason}"))];
    let rest = [("opencl", opencl::infos()), ("cuda", cuda::infos())];
    for (kind, infos) in rest {
        match infos {
            Ok(infos) => {
                found.extend(infos.into_iter().map(|info| info.map_err(|e| e.to_string())));
            }
            Err(reason) => found.push(Err(format!("{kind}: {reason}"))),
        }
    }
    found
}

/// Opens the device `cpu`, `opencl:K`, `opencl:PART-OF-THE-NAME` or `cuda:K`; `opencl` and `cuda`
/// alone are the first of their kind.
pub fn open(id: &str) -> Result<Box<dyn Device>, RuntimeError> {
    let (kind, which) = id.split_once(':').unwrap_or((id, "0"));
    let device = match kind {
        "cpu" if !id.contains(':') => Some(cpu::open()?),
        "opencl" => opencl::open(which)?,
        "cuda" => match which.parse() {
            Ok(number) => cuda::open(number)?,
            Err(_) => None,
        },
        _ => None,
    };
    device.ok_or_else(|| RuntimeError::UnknownDevice { id: id.to_string(), available: available() })
}

fn available() -> Vec<String> {
    let line = |device| match device {
        Ok(DeviceInfo { id, name, .. }) => format!("{id} ({name})"),
        Err(reason) => reason,
    };
    devices().into_iter().map(line).collect()
}
