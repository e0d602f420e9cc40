//! A low-level program for a device, as a model sees it.

use std::path::Path;

use lift::{DeviceInfo, compile_text};
use lift_explore::machine::machine;
use lift_model::features::{Features, features};
use lift_model::learn::device_label;

use crate::arguments::{self, SizeArgument, by_name};
use crate::entry;
use crate::report::{Failure, load};

/// The features of the definition of a file at these sizes.
pub fn of_file(
    file: &Path,
    name: Option<&str>,
    sizes: &[SizeArgument],
    device: &DeviceInfo,
) -> Result<Features, Failure> {
    let checked = load(file)?;
    let def = entry::find(&checked, file, name)?;
    let sizes = arguments::sizes(def, sizes)?;
    if let Some(open) = def.sizes.iter().find(|v| sizes.get(v.name()).is_none()) {
        let name = open.name();
        return Err(Failure::message(format!("`{name}` has no value: give `--size {name}=…`")));
    }
    let sizes = by_name(&sizes);
    let options = lift::Options { sizes: sizes.clone(), ..lift::Options::default() };
    let (plan, _) = compile_text(def, &options, device.language)
        .map_err(|error| Failure::compile(error, &checked.sources))?;
    Ok(features(&plan, &sizes, &machine(device)))
}

/// The name by which models know a device.
pub fn label(device: &DeviceInfo) -> String {
    device_label(device.kind, &device.name)
}

/// What the device says of itself.
pub fn device(id: &str) -> Result<DeviceInfo, Failure> {
    let device =
        lift::open(id).map_err(|e| Failure::message(lift::Error::Device(e).to_string()))?;
    Ok(device.info().clone())
}
