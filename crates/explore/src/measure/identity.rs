//! Who a worker is: its version, its machine, and its device with all limits.

use std::fs;

use lift_runtime::{DeviceInfo, Language};
use serde::{Deserialize, Serialize};

use super::messages::PROTOCOL;
use crate::machine::fingerprint;

/// What a worker says of itself before it does anything.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Identity {
    pub protocol: u32,
    pub version: String,
    /// The machine's name.
    pub host: String,
    /// Workers with the same use the same device, and do so in turns.
    pub unit: String,
    /// Devices with the same are as fast as each other; see [`fingerprint`].
    pub fingerprint: String,
    pub device: Limits,
}

/// A device as it is described to others.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Limits {
    pub id: String,
    pub name: String,
    pub kind: String,
    /// `cpu`, `opencl` or `cuda`.
    pub way: String,
    pub compute_units: u32,
    pub memory_bytes: u64,
    pub max_buffer_bytes: u64,
    pub max_group_size: u64,
    pub max_group_sizes: [u64; 3],
    pub max_groups: [u64; 3],
    pub local_memory_bytes: u64,
    pub driver: String,
    pub fp16: bool,
    pub fp64: bool,
    pub warp: u32,
}

/// Variables by which jobs are given devices of a machine: the same name is another device in each.
const SHARES: &[&str] =
    &["SLURM_STEP_GPUS", "SLURM_JOB_GPUS", "CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"];

impl Identity {
    /// Of this process, with that device.
    pub fn of(device: &DeviceInfo) -> Identity {
        let host = host();
        Identity {
            protocol: PROTOCOL,
            version: env!("CARGO_PKG_VERSION").to_string(),
            unit: format!("{} {}", machine().unwrap_or_else(|| host.clone()), share(device)),
            host,
            fingerprint: fingerprint(device),
            device: Limits::of(device),
        }
    }

    /// Why nothing can be measured with this worker, whatever its device.
    pub fn foreign(&self) -> Option<String> {
        foreign(self.protocol, &self.version)
    }
}

/// Why versions do not go together, where they do not: kernels and times of one are not those of another.
pub fn foreign(protocol: u32, version: &str) -> Option<String> {
    let own = env!("CARGO_PKG_VERSION");
    if protocol == PROTOCOL && version == own {
        return None;
    }
    Some(format!(
        "it is lift {version} with protocol {protocol}, and this is lift {own} with protocol {PROTOCOL}: \
         install the same version on both sides"
    ))
}

/// The part of a machine that a device is. Whatever runs on its processor shares that.
fn share(device: &DeviceInfo) -> String {
    if device.kind == "cpu" {
        return "processor".to_string();
    }
    let given =
        SHARES.iter().filter_map(|name| Some(format!("{name}={}", std::env::var(name).ok()?)));
    let given: Vec<String> = given.collect();
    format!("{} {}", device.id, given.join(" ")).trim_end().to_string()
}

/// The machine's name.
pub fn host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// What no other machine has, and all containers on this one do.
fn machine() -> Option<String> {
    let id = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(id.trim().to_string()).filter(|id| !id.is_empty())
}

impl Limits {
    fn of(info: &DeviceInfo) -> Limits {
        Limits {
            id: info.id.clone(),
            name: info.name.clone(),
            kind: info.kind.to_string(),
            way: info.way().to_string(),
            compute_units: info.compute_units,
            memory_bytes: info.memory_bytes,
            max_buffer_bytes: info.max_buffer_bytes,
            max_group_size: info.max_group_size,
            max_group_sizes: info.max_group_sizes,
            max_groups: info.max_groups,
            local_memory_bytes: info.local_memory_bytes,
            driver: info.driver.clone(),
            fp16: info.fp16,
            fp64: info.fp64,
            warp: info.warp,
        }
    }

    /// The device as if it were here; nothing where there is no such kind of device.
    pub fn info(&self) -> Option<DeviceInfo> {
        let kinds = ["cpu", "gpu", "accelerator"];
        let language = match self.way.as_str() {
            "cpu" => Language::C,
            "opencl" => Language::OpenCl,
            "cuda" => Language::Cuda,
            _ => return None,
        };
        Some(DeviceInfo {
            id: self.id.clone(),
            name: self.name.clone(),
            kind: kinds.into_iter().find(|kind| *kind == self.kind)?,
            language,
            compute_units: self.compute_units,
            memory_bytes: self.memory_bytes,
            max_buffer_bytes: self.max_buffer_bytes,
            max_group_size: self.max_group_size,
            max_group_sizes: self.max_group_sizes,
            max_groups: self.max_groups,
            local_memory_bytes: self.local_memory_bytes,
            driver: self.driver.clone(),
            fp16: self.fp16,
            fp64: self.fp64,
            warp: self.warp,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_the_same_after_its_journey() {
        let info = lift_runtime::open("cpu").expect("there is one").info().clone();
        let identity = Identity::of(&info);
        let text = serde_json::to_string(&identity).expect("it has a text");
        let read: Identity = serde_json::from_str(&text).expect("it is read");
        assert_eq!(read, identity);
        let there = read.device.info().expect("it is known");
        assert_eq!((fingerprint(&there), Limits::of(&there)), (read.fingerprint, identity.device));
    }

    #[test]
    fn other_versions_are_foreign_and_the_sentence_names_both() {
        assert_eq!(foreign(PROTOCOL, env!("CARGO_PKG_VERSION")), None);
        for (protocol, version) in [(PROTOCOL + 1, env!("CARGO_PKG_VERSION")), (PROTOCOL, "0.0.9")]
        {
            let why = foreign(protocol, version).expect("it is foreign");
            assert!(why.contains(version) && why.contains(&protocol.to_string()), "{why}");
        }
    }
}
