//! How programs are compiled for a device, where the verbs that run them are told.

use lift::CompileOptions;

#[derive(clap::Args)]
pub struct DeviceFlags {
    /// Let the device's compiler reorder floating-point arithmetic and ignore infinities and NaNs
    #[arg(long)]
    pub fast_math: bool,
    /// Do not check indices at run time: one that is out of range reads any memory
    #[arg(long)]
    pub unchecked: bool,
}

impl DeviceFlags {
    /// For the device's compiler.
    pub fn compiler(&self) -> CompileOptions {
        CompileOptions { fast_math: self.fast_math }
    }

    /// For Lift's own.
    pub fn lowering(&self) -> lift::Options {
        lift::Options { unchecked: self.unchecked, ..lift::Options::default() }
    }
}
