//! How long a program would take.

use std::path::PathBuf;

use lift::Language;
use lift_clock::Description;
use lift_interp::Sizes;

use crate::definition::Definition;

/// Times in milliseconds, as JSON, on a device that was measured or one that a file describes.
pub fn predicted(
    of: &Definition,
    sizes: &Sizes,
    machine: Option<PathBuf>,
    device: &str,
) -> Result<String, String> {
    let machine = match machine {
        Some(path) => Description::read(&path)?,
        None => {
            let opened = lift::open(device).map_err(|e| e.to_string())?;
            lift_cli::measured(opened.info())?.ok_or_else(|| {
                format!("`{device}` has not been measured yet; do so by `lift calibrate --device {device}`")
            })?
        }
    };
    let language = match machine.way.as_str() {
        "opencl" => Language::OpenCl,
        "cuda" => Language::Cuda,
        _ => Language::C,
    };
    let by_name: std::collections::BTreeMap<String, i128> =
        sizes.iter().map(|(name, value)| (name.to_string(), value)).collect();
    let options = lift::Options { sizes: by_name.clone(), ..lift::Options::default() };
    let plan = lift_clock::plan(of.def(), &options, language, &machine);
    let plan = plan.map_err(|failed| of.diagnosed(failed))?;
    Ok(lift_clock::predict(&plan, &by_name, &machine)?.to_json().to_string())
}
