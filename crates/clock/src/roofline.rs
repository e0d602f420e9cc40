//! Where a program stands under the roofs of a machine: what its arithmetic allows, and what memory and each cache do.
//!
//! A level of memory allows its rate times the operations that are done for each byte that comes from there. So each level has an
//! intensity of its own, and one that nothing comes from is no roof.

use std::fmt;

use serde_json::{Value, json};

use crate::description::Description;
use crate::predict::{KernelPrediction, Prediction, four_digits};

/// A level of memory that bytes come from.
#[derive(Clone, PartialEq, Debug)]
pub struct Ceiling {
    pub level: &'static str,
    /// What comes from there.
    pub bytes: f64,
    /// Its rate, in GB/s.
    pub gb: f64,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Roofline {
    /// Operations on floating-point numbers.
    pub flops: f64,
    /// What the machine can compute, and what the prediction says that the program does, in GFLOP/s.
    pub peak_gflops: f64,
    pub gflops: f64,
    pub seconds: f64,
    /// From the furthest level to the nearest; memory where no level gives anything.
    pub ceilings: Vec<Ceiling>,
}

/// The levels as components have them, each with a rate of its own, and what they are called.
const LEVELS: [(&str, &str); 3] =
    [("dram", "memory"), ("last", "the last cache"), ("first", "the first cache")];

impl Ceiling {
    /// Operations for each byte that comes from this level.
    fn intensity(&self, flops: f64) -> f64 {
        if self.bytes > 0.0 { flops / self.bytes } else { 0.0 }
    }

    /// The most that it allows, in GFLOP/s.
    fn roof(&self, flops: f64) -> f64 {
        self.intensity(flops) * self.gb
    }
}

impl Roofline {
    /// The level that allows least.
    pub fn lowest(&self) -> Option<&Ceiling> {
        let by_roof =
            |a: &&Ceiling, b: &&Ceiling| a.roof(self.flops).total_cmp(&b.roof(self.flops));
        self.ceilings.iter().min_by(by_roof)
    }

    /// The most that all roofs allow, in GFLOP/s, and which of them is the lowest.
    pub fn roof(&self) -> (f64, &'static str) {
        let memory = self.lowest().map(|level| (level.roof(self.flops), level.level));
        memory
            .filter(|(roof, _)| *roof < self.peak_gflops)
            .unwrap_or((self.peak_gflops, "arithmetic"))
    }

    pub fn to_json(&self) -> Value {
        let ceilings = self.ceilings.iter().map(|level| {
            json!({
                "level": level.level,
                "bytes": four_digits(level.bytes),
                "intensity": four_digits(level.intensity(self.flops)),
                "gb_per_s": four_digits(level.gb),
                "roof_gflop_per_s": four_digits(level.roof(self.flops)),
            })
        });
        let of_lowest = |of: &dyn Fn(&Ceiling) -> f64| four_digits(self.lowest().map_or(0.0, of));
        let (roof, under) = self.roof();
        json!({
            "flops": four_digits(self.flops),
            "ceilings": ceilings.collect::<Vec<Value>>(),
            "bytes": of_lowest(&|level| level.bytes),
            "intensity": of_lowest(&|level| level.intensity(self.flops)),
            "peak_gflop_per_s": four_digits(self.peak_gflops),
            "peak_gb_per_s": of_lowest(&|level| level.gb),
            "roof_gflop_per_s": four_digits(roof),
            "gflop_per_s": four_digits(self.gflops),
            "gb_per_s": of_lowest(&|level| level.bytes * 1e-9 / self.seconds),
            "under": under,
        })
    }
}

impl fmt::Display for Roofline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "arithmetic allows {} GFLOP/s", four_digits(self.peak_gflops))?;
        for level in &self.ceilings {
            writeln!(
                f,
                "{} allows {} GFLOP/s: {} operations a byte at {} GB/s",
                level.level,
                four_digits(level.roof(self.flops)),
                four_digits(level.intensity(self.flops)),
                four_digits(level.gb)
            )?;
        }
        let (roof, under) = self.roof();
        let part = if roof > 0.0 { 100.0 * self.gflops / roof } else { 0.0 };
        writeln!(
            f,
            "predicted {} GFLOP/s, {part:.0} % of what {under} allows",
            four_digits(self.gflops)
        )
    }
}

impl Prediction {
    pub fn roofline(&self, machine: &Description) -> Result<Roofline, String> {
        let (mut flops, mut touched) = (0.0, 0.0);
        for kernel in &self.kernels {
            let all = kernel.counts.operations.iter().chain(&kernel.counts.scalar_operations);
            for (name, n) in all.filter(|(name, _)| name.starts_with('f')) {
                flops += kernel.runs * n * if name.ends_with(".fma") { 2.0 } else { 1.0 };
            }
            touched += kernel.runs * kernel.counts.footprint();
        }
        let mut ceilings = Vec::new();
        for (component, level) in LEVELS {
            let ms = |k: &KernelPrediction| {
                k.time.components.get(component).map_or(0.0, |ms| k.runs * ms)
            };
            let gb = machine.get(&format!("{component}.rate"))?;
            let bytes = self.kernels.iter().map(ms).sum::<f64>() * gb * 1e6;
            if bytes > 0.0 {
                ceilings.push(Ceiling { level, bytes, gb });
            }
        }
        if ceilings.is_empty() {
            let [(_, level), ..] = LEVELS;
            ceilings.push(Ceiling { level, bytes: touched, gb: machine.get("dram.rate")? });
        }
        let seconds = (self.kernel_ms() * 1e-3).max(1e-12);
        Ok(Roofline {
            flops,
            peak_gflops: 2.0 * machine.get("pipe.rate")?,
            gflops: flops * 1e-9 / seconds,
            seconds,
            ceilings,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn roofline(peak_gflops: f64, ceilings: Vec<Ceiling>) -> Roofline {
        Roofline { flops: 1e9, peak_gflops, gflops: 50.0, seconds: 0.02, ceilings }
    }

    /// What caches give is not bound by memory, and what nothing comes from is no roof.
    #[test]
    fn the_lowest_roof_counts() {
        let memory = Ceiling { level: "memory", bytes: 1e7, gb: 100.0 };
        let cache = Ceiling { level: "the last cache", bytes: 4e9, gb: 400.0 };
        let both = vec![memory.clone(), cache.clone()];
        assert_eq!(roofline(1000.0, both.clone()).roof(), (100.0, "the last cache"));
        assert_eq!(roofline(60.0, both).roof(), (60.0, "arithmetic"));
        assert_eq!(roofline(1e6, vec![memory]).roof(), (1e4, "memory"));
        let told = roofline(1000.0, vec![cache]).to_string();
        assert!(
            told.contains("the last cache allows 100 GFLOP/s: 0.25 operations a byte"),
            "{told}"
        );
        assert!(told.contains("50 GFLOP/s, 50 % of what the last cache allows"), "{told}");
    }
}
