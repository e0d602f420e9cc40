//! `lift devices`: what programs can run on.

use lift::{DeviceInfo, Language};
use serde_json::{Value, json};

use crate::report::{Failure, remark, say, say_json};

/// List the devices of this machine
///
/// What is not installed is said on standard error.
#[derive(clap::Args)]
#[command(after_help = "\
Example:\n\
\x20 lift devices --json")]
pub struct Options {
    /// Print an array of {"id", "name", "kind", "compute_units", "memory_bytes", …}
    #[arg(long)]
    json: bool,
}

pub fn run(options: &Options) -> Result<(), Failure> {
    let mut found = Vec::new();
    for device in lift::devices() {
        match device {
            Ok(info) => found.push(info),
            Err(reason) => remark(&reason),
        }
    }
    if options.json {
        return say_json(&found.iter().map(json).collect());
    }
    say(&table(&found))
}

pub fn language(language: Language) -> &'static str {
    match language {
        Language::C => "c",
        Language::OpenCl => "opencl",
        Language::Cuda => "cuda",
    }
}

fn json(info: &DeviceInfo) -> Value {
    json!({
        "id": info.id,
        "name": info.name,
        "kind": info.kind,
        "language": language(info.language),
        "compute_units": info.compute_units,
        "memory_bytes": info.memory_bytes,
        "max_buffer_bytes": info.max_buffer_bytes,
        "max_group_size": info.max_group_size,
        "max_group_sizes": info.max_group_sizes,
        "max_groups": info.max_groups,
        "local_memory_bytes": info.local_memory_bytes,
        "driver": info.driver,
        "fp16": info.fp16,
        "fp64": info.fp64,
        "warp": info.warp,
    })
}

const HEADINGS: [&str; 8] =
    ["id", "kind", "units", "memory", "local memory", "group", "name", "driver"];

fn table(devices: &[DeviceInfo]) -> String {
    crate::table::of(HEADINGS, devices.iter().map(row))
}

fn row(info: &DeviceInfo) -> [String; 8] {
    [
        info.id.clone(),
        info.kind.to_string(),
        info.compute_units.to_string(),
        bytes(info.memory_bytes),
        bytes(info.local_memory_bytes),
        info.max_group_size.to_string(),
        info.name.clone(),
        info.driver.clone(),
    ]
}

/// `512 B`, `48 KiB`, `1.5 GiB`
pub fn bytes(count: u64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let (mut value, mut unit) = (count as f64, 0);
    while value >= 1024.0 && unit + 1 < units.len() {
        value /= 1024.0;
        unit += 1;
    }
    let decimals = usize::from(value.fract() >= 0.05 && value < 100.0);
    format!("{value:.decimals$} {}", units[unit])
}
