//! Where a program stands under the two roofs of a machine: what its arithmetic and its memory allow.

use std::fmt;

use serde_json::{Value, json};

use crate::description::Description;
use crate::predict::{Prediction, four_digits};

#[derive(Clone, PartialEq, Debug)]
pub struct Roofline {
    /// Operations on floating-point numbers, and bytes of memory that are touched at least once.
    pub flops: f64,
    pub bytes: f64,
    /// What the machine can do, in GFLOP/s and GB/s.
    pub peak_gflops: f64,
    pub peak_gb: f64,
    /// What the prediction says that the program does.
    pub gflops: f64,
    pub gb: f64,
}

impl Roofline {
    /// Operations a byte.
    pub fn intensity(&self) -> f64 {
        if self.bytes > 0.0 { self.flops / self.bytes } else { 0.0 }
    }

    /// The most that the two roofs allow at this intensity, in GFLOP/s.
    pub fn roof(&self) -> f64 {
        self.peak_gflops.min(self.intensity() * self.peak_gb)
    }

    /// Which roof that is.
    pub fn under(&self) -> &'static str {
        if self.intensity() * self.peak_gb < self.peak_gflops { "memory" } else { "arithmetic" }
    }

    pub fn to_json(&self) -> Value {
        json!({
            "flops": four_digits(self.flops),
            "bytes": four_digits(self.bytes),
            "intensity": four_digits(self.intensity()),
            "peak_gflop_per_s": four_digits(self.peak_gflops),
            "peak_gb_per_s": four_digits(self.peak_gb),
            "roof_gflop_per_s": four_digits(self.roof()),
            "gflop_per_s": four_digits(self.gflops),
            "gb_per_s": four_digits(self.gb),
            "under": self.under(),
        })
    }
}

impl fmt::Display for Roofline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:.3} operations a byte; the machine has {:.0} GFLOP/s and {:.0} GB/s: under the roof of {}",
            self.intensity(),
            self.peak_gflops,
            self.peak_gb,
            self.under()
        )?;
        let part = if self.roof() > 0.0 { 100.0 * self.gflops / self.roof() } else { 0.0 };
        writeln!(
            f,
            "predicted {:.1} GFLOP/s and {:.1} GB/s, {part:.0} % of the {:.1} GFLOP/s there",
            self.gflops,
            self.gb,
            self.roof()
        )
    }
}

impl Prediction {
    pub fn roofline(&self, machine: &Description) -> Result<Roofline, String> {
        let (mut flops, mut bytes) = (0.0, 0.0);
        for kernel in &self.kernels {
            let all = kernel.counts.operations.iter().chain(&kernel.counts.scalar_operations);
            for (name, n) in all.filter(|(name, _)| name.starts_with('f')) {
                flops += kernel.runs * n * if name.ends_with(".fma") { 2.0 } else { 1.0 };
            }
            bytes += kernel.runs * kernel.counts.footprint();
        }
        let seconds = (self.kernel_ms() * 1e-3).max(1e-12);
        Ok(Roofline {
            flops,
            bytes,
            peak_gflops: 2.0 * machine.get("pipe.rate")?,
            peak_gb: machine.get("dram.rate")?,
            gflops: flops * 1e-9 / seconds,
            gb: bytes * 1e-9 / seconds,
        })
    }
}
