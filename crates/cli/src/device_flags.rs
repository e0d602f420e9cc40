//! How programs are compiled for a device, where the verbs that run them are told.

use lift::CompileOptions;

use crate::lowering_flags::LoweringFlags;

#[derive(clap::Args)]
pub struct DeviceFlags {
    /// Let the device's compiler reorder floating-point arithmetic and ignore infinities and NaNs
    #[arg(long)]
    pub fast_math: bool,
    #[command(flatten)]
    lowering: LoweringFlags,
}

impl DeviceFlags {
    /// For the device's compiler.
    pub fn compiler(&self) -> CompileOptions {
        CompileOptions { fast_math: self.fast_math }
    }

    /// For Lift's own.
    pub fn lowering(&self) -> lift::Options {
        self.lowering.options()
    }
}
