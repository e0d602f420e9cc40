//! Measures a machine by probes, and writes its description.

mod arithmetic;
mod curve;
mod host;
mod memory;
mod probes;
mod timer;

use std::time::{Duration, Instant};

use lift_runtime::{CompileOptions, Device, DeviceInfo, Language};

use crate::description::{Description, FORMAT, LOCAL_BYTES, Quantity, Sample, fingerprint};
pub use curve::{Curve, measure, measure_in_parts};
use probes::{Step, operation};
pub(crate) use timer::error;
pub use timer::{Mean, OnDevice, Probe, Runs, Timed, Timer, Way};

/// A reference probe that is off by more than this part means that the machine is doing something else.
const DRIFT: f64 = 0.05;
/// How often measurements are repeated since the machine was last seen quiet, before giving up.
const PATIENCE: usize = 6;
/// A reference is the best of so many timings.
const REFERENCES: usize = 16;

/// A probe on a processor is timed so often, and the best counts: what others do on the machine only makes it slower, and lasts
/// longer than the runs of one timing. Not one that takes longer than this itself.
const ROUNDS: usize = 3;
const LONG_MS: f64 = 5.0;

/// Work-items that a unit of a GPU holds.
const UNIT_ITEMS: i128 = 2048;

/// What a calibration tells as it goes.
pub type Progress<'a> = &'a mut dyn FnMut(&str, f64);

/// The flags that a description holds for.
pub fn flags(options: &CompileOptions) -> &'static str {
    if options.fast_math { "fast-math" } else { "" }
}

/// Measures a device. Fails where the time is over or the machine is busy.
pub fn calibrate(
    device: &mut dyn Device,
    options: CompileOptions,
    time: Duration,
    date: String,
    progress: Progress<'_>,
) -> Result<Description, String> {
    let info = device.info().clone();
    let mut timer = OnDevice { device, options, until: Instant::now() + time };
    let quantities = quantities(&mut timer, &info, progress)?;
    Ok(Description {
        format: FORMAT,
        device: fingerprint(&info),
        way: info.way().to_string(),
        flags: flags(&options).to_string(),
        date,
        quantities,
    })
}

/// Measures a few probes again: which quantities differ, by how much. Fails as a calibration does.
pub fn check(
    device: &mut dyn Device,
    options: CompileOptions,
    time: Duration,
    description: &Description,
) -> Result<Vec<(String, f64)>, String> {
    description.fits(device.info(), flags(&options))?;
    let info = device.info().clone();
    let mut timer = OnDevice { device, options, until: Instant::now() + time };
    differences(&mut timer, &info, description)
}

/// The same by whoever times probes. On a busy machine it fails: what another's work does says nothing about the description.
pub fn differences<'t>(
    timer: &'t mut dyn Timer,
    info: &'t DeviceInfo,
    description: &Description,
) -> Result<Vec<(String, f64)>, String> {
    let mut bench = Bench::new(timer, info);
    // How long arrays must be that no cache keeps.
    bench.quantities.extend(description.quantities.iter().find(|q| q.name == "last.full").cloned());
    let known = bench.quantities.len();
    for stage in [Bench::launch, Bench::streams, |b: &mut Bench<'t>| b.operation(&Step::FMA, "")] {
        bench.quiet(stage)?;
    }
    let mut differ = Vec::new();
    for found in bench.quantities.into_iter().skip(known) {
        let before = description.get(&found.name)?;
        if before > 0.0 {
            differ.push((found.name, found.value / before));
        }
    }
    Ok(differ)
}

/// All quantities of a device, in the order they are measured, by whoever times probes.
pub fn quantities<'t>(
    timer: &'t mut dyn Timer,
    info: &'t DeviceInfo,
    progress: Progress<'_>,
) -> Result<Vec<Quantity>, String> {
    let mut bench = Bench::new(timer, info);
    let memory: [(&str, Stage<'t>); 2] = match bench.is_gpu() {
        true => [("memory", Bench::streams), ("caches", Bench::caches)],
        false => [("caches", Bench::levels), ("memory", Bench::streams)],
    };
    let [nearer, further] = memory;
    let stages: [(&str, Stage<'t>); 9] = [
        ("launches", Bench::launch),
        ("arithmetic", Bench::arithmetic),
        nearer,
        further,
        ("latencies of operations", Bench::chains),
        ("latencies of loads", Bench::loads),
        ("loops", Bench::loops),
        ("barriers", Bench::barriers),
        ("transfers", Bench::transfers),
    ];
    let count = stages.len() as f64;
    for (k, (name, stage)) in stages.into_iter().enumerate() {
        progress(name, k as f64 / count);
        bench.quiet(stage)?;
        bench.launch_again()?;
    }
    bench.settle_launches();
    bench.limits();
    Ok(bench.quantities)
}

type Stage<'t> = fn(&mut Bench<'t>) -> Result<(), String>;

struct Bench<'t> {
    timer: &'t mut dyn Timer,
    info: &'t DeviceInfo,
    quantities: Vec<Quantity>,
    reference: Option<f64>,
    /// Launches that were timed between the stages, and on a processor loops that threads share.
    launched: Vec<(f64, Timed)>,
    shared: Vec<(f64, Timed)>,
    /// The probe of which more took no longer than less, which nothing but another's work explains.
    disturbed: Option<String>,
}

impl<'t> Bench<'t> {
    fn new(timer: &'t mut dyn Timer, info: &'t DeviceInfo) -> Bench<'t> {
        let (launched, shared) = (Vec::new(), Vec::new());
        let (reference, disturbed) = (None, None);
        Bench { timer, info, quantities: Vec::new(), reference, launched, shared, disturbed }
    }

    fn is_gpu(&self) -> bool {
        self.info.language != Language::C
    }

    /// Does a stage; where a reference probe has drifted meanwhile, does it again.
    fn quiet(&mut self, stage: Stage<'t>) -> Result<(), String> {
        let mut why = String::new();
        for _ in 0..PATIENCE {
            let then = match self.reference {
                Some(then) => then,
                None => self.reference_ms()?,
            };
            let before = self.quantities.len();
            stage(self)?;
            let now = self.reference_ms()?;
            self.reference = Some(now);
            why = match self.disturbed.take() {
                _ if (now / then - 1.0).abs() > DRIFT => {
                    format!("the same probe took {then:.4} ms, then {now:.4}")
                }
                Some(probe) => format!("more of `{probe}` took less time"),
                None => return Ok(()),
            };
            self.quantities.truncate(before);
        }
        Err(format!("the machine is busy: {why}; end other work on it and calibrate again"))
    }

    /// The best of several: what lasts is a drift, not what disturbs a probe once.
    fn reference_ms(&mut self) -> Result<f64, String> {
        // Long enough on a processor that it matters little when each thread starts.
        let n = if self.is_gpu() { self.many() } else { 16 * self.many() };
        let probe = operation(&Step::FMA, "", 128, n);
        let mut best = f64::INFINITY;
        for _ in 0..REFERENCES {
            best = best.min(self.timer.time(&probe)?.kernel.ms);
        }
        Ok(best)
    }

    fn timed(&mut self, probe: &Probe) -> Result<Timed, String> {
        let mut best = self.timer.time(probe)?;
        if !self.is_gpu() && probe.runs == Runs::Warm && best.kernel.ms < LONG_MS {
            for _ in 1..ROUNDS {
                let again = self.timer.time(probe)?;
                if again.kernel.ms < best.kernel.ms {
                    best = Timed { compile: best.compile, ..again };
                }
            }
        }
        Ok(best)
    }

    /// Keeps what comes of the times of kernels.
    fn keep(&mut self, name: &str, value: f64, unit: &str, probe: &str, samples: &[(f64, Timed)]) {
        self.keep_of(name, value, unit, probe, samples, |t| t.kernel);
    }

    fn keep_of(
        &mut self,
        name: &str,
        value: f64,
        unit: &str,
        probe: &str,
        samples: &[(f64, Timed)],
        of: fn(&Timed) -> Mean,
    ) {
        let relative = |m: Mean| if m.ms > 0.0 { m.error / m.ms } else { 0.0 };
        let worst = samples.iter().map(|(_, t)| relative(of(t))).fold(0.0, f64::max);
        self.quantities.push(Quantity {
            name: name.to_string(),
            value: crate::four_digits(value.max(0.0)),
            unit: unit.to_string(),
            standard_error: crate::four_digits(value.abs() * worst),
            probe: probe.to_string(),
            samples: samples
                .iter()
                .map(|(at, t)| Sample { at: *at, ms: crate::four_digits(of(t).ms) })
                .collect(),
        });
    }

    /// Keeps a number that is not measured.
    fn keep_known(&mut self, name: &str, value: f64, unit: &str, from: &str) {
        self.quantities.push(Quantity {
            name: name.to_string(),
            value,
            unit: unit.to_string(),
            standard_error: 0.0,
            probe: from.to_string(),
            samples: Vec::new(),
        });
    }

    fn value(&self, name: &str) -> f64 {
        self.quantities.iter().find(|q| q.name == name).map_or(0.0, |q| q.value)
    }

    /// Enough numbers to keep a device busy, few enough to stay in the caches of a processor.
    fn many(&self) -> i128 {
        if self.is_gpu() { 1 << 21 } else { 1 << 19 }
    }

    /// What the device says of itself, and what devices of its kind have.
    fn limits(&mut self) {
        self.keep_known("units", f64::from(self.info.compute_units), "", "asked");
        self.keep_known(LOCAL_BYTES, self.info.local_memory_bytes as f64, "bytes", "asked");
        if self.is_gpu() {
            self.keep_known("unit.items", UNIT_ITEMS as f64, "", "of its kind");
            self.keep_known("unit.groups", 32.0, "", "of its kind");
            self.keep_known("unit.registers", 65536.0, "", "of its kind");
            let local = (self.info.local_memory_bytes as f64).max(98304.0);
            self.keep_known("unit.local_bytes", local, "bytes", "asked");
            // One round of the banks where four warps do an operation each.
            let rounds = crate::four_digits(self.value("pipe.rate") / 128.0);
            self.keep_known("local.rate", rounds, "G/s", "of its kind");
        }
    }
}
