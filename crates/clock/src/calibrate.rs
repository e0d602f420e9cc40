//! Measures a machine by probes, and writes its description.

mod curve;
mod probes;
mod timer;

use std::time::{Duration, Instant};

use lift_runtime::{CompileOptions, Device, DeviceInfo, Language};

use crate::description::{Description, FORMAT, Quantity, Sample, fingerprint};
pub use curve::{Curve, measure};
use probes::{
    APART, CHAINED, LAUNCH, LOOP, STEPS, STREAM1, STREAM4, Step, TABLE, chain, chase, lines_of,
    operation, probe,
};
pub use timer::{OnDevice, Probe, Timed, Timer, Way};

/// A reference probe that is off by more than this part means that the machine is doing something else.
const DRIFT: f64 = 0.05;
/// How often measurements are repeated since the machine was last seen quiet, before giving up.
const PATIENCE: usize = 6;
/// A reference is the best of so many timings.
const REFERENCES: usize = 16;

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

/// Measures a few probes again: which quantities differ, by how much.
pub fn check(
    device: &mut dyn Device,
    options: CompileOptions,
    description: &Description,
) -> Result<Vec<(String, f64)>, String> {
    description.fits(device.info(), flags(&options))?;
    let info = device.info().clone();
    let until = Instant::now() + Duration::from_secs(60);
    let mut timer = OnDevice { device, options, until };
    let mut bench = Bench::new(&mut timer, &info);
    bench.launch()?;
    bench.streams()?;
    bench.operation(&Step::FMA, "")?;
    let mut differ = Vec::new();
    for found in bench.quantities {
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
    let stages: [(&str, Stage<'t>); 7] = [
        ("launches", Bench::launch),
        ("arithmetic", Bench::arithmetic),
        ("memory", Bench::streams),
        ("caches", Bench::caches),
        ("latencies", Bench::latencies),
        ("loops", Bench::loops),
        ("transfers", Bench::transfers),
    ];
    let count = stages.len() as f64;
    for (k, (name, stage)) in stages.into_iter().enumerate() {
        progress(name, k as f64 / count);
        bench.quiet(stage)?;
    }
    bench.limits();
    Ok(bench.quantities)
}

type Stage<'t> = fn(&mut Bench<'t>) -> Result<(), String>;

struct Bench<'t> {
    timer: &'t mut dyn Timer,
    info: &'t DeviceInfo,
    quantities: Vec<Quantity>,
    reference: Option<f64>,
    /// More of something took no longer than less of it, which nothing but another's work explains.
    disturbed: bool,
}

impl<'t> Bench<'t> {
    fn new(timer: &'t mut dyn Timer, info: &'t DeviceInfo) -> Bench<'t> {
        Bench { timer, info, quantities: Vec::new(), reference: None, disturbed: false }
    }

    fn is_gpu(&self) -> bool {
        self.info.language != Language::C
    }

    /// Does a stage; where a reference probe has drifted meanwhile, does it again.
    fn quiet(&mut self, stage: Stage<'t>) -> Result<(), String> {
        for _ in 0..PATIENCE {
            let then = match self.reference {
                Some(then) => then,
                None => self.reference_ms()?,
            };
            let before = self.quantities.len();
            stage(self)?;
            let now = self.reference_ms()?;
            self.reference = Some(now);
            if (now / then - 1.0).abs() <= DRIFT && !std::mem::take(&mut self.disturbed) {
                return Ok(());
            }
            self.quantities.truncate(before);
        }
        Err("the machine is busy: the same probe takes more than 5 % longer or shorter each time it is run, or more \
             work takes less time; end other work on it and calibrate again"
            .to_string())
    }

    /// The best of several: what lasts is a drift, not what disturbs a probe once.
    fn reference_ms(&mut self) -> Result<f64, String> {
        let probe = operation(&Step::FMA, "", 128, self.many());
        let mut best = f64::INFINITY;
        for _ in 0..REFERENCES {
            best = best.min(self.timed(&probe)?.kernel_ms);
        }
        Ok(best)
    }

    fn timed(&mut self, probe: &Probe) -> Result<Timed, String> {
        self.timer.time(probe)
    }

    fn keep(&mut self, name: &str, value: f64, unit: &str, probe: &str, samples: &[(f64, Timed)]) {
        let relative = samples
            .iter()
            .map(|(_, t)| if t.kernel_ms > 0.0 { t.standard_error / t.kernel_ms } else { 0.0 })
            .fold(0.0, f64::max);
        self.quantities.push(Quantity {
            name: name.to_string(),
            value: crate::four_digits(value.max(0.0)),
            unit: unit.to_string(),
            standard_error: crate::four_digits(value.abs() * relative),
            probe: probe.to_string(),
            samples: samples
                .iter()
                .map(|(at, t)| Sample { at: *at, ms: crate::four_digits(t.kernel_ms) })
                .collect(),
        });
    }

    fn value(&self, name: &str) -> f64 {
        self.quantities.iter().find(|q| q.name == name).map_or(0.0, |q| q.value)
    }

    /// Enough numbers to keep a device busy, few enough to stay in the caches of a processor.
    fn many(&self) -> i128 {
        if self.is_gpu() { 1 << 21 } else { 1 << 19 }
    }

    fn launch(&mut self) -> Result<(), String> {
        let small = self.timed(&probe("launch.lift", LAUNCH, &[("N", 32)]))?;
        self.keep("launch", small.kernel_ms, "ms", "launch.lift", &[(32.0, small)]);
        self.keep("launch.host", small.host_ms, "ms", "launch.lift", &[(32.0, small)]);
        self.keep("compile", small.compile_ms, "ms", "launch.lift", &[(32.0, small)]);
        self.keep("allocation", small.allocate_ms, "ms", "launch.lift", &[(32.0, small)]);
        if self.is_gpu() {
            let n = 1i128 << 20;
            let large = self.timed(&probe("launch.lift", LAUNCH, &[("N", n)]))?;
            let groups = n as f64 / 32.0;
            let each = (large.kernel_ms - small.kernel_ms) * 1e6 / groups;
            let units = f64::from(self.info.compute_units);
            self.keep("group.start", each * units, "ns", "launch.lift", &[(n as f64, large)]);
        }
        Ok(())
    }

    /// Nanoseconds of one line for one number, over the whole device.
    fn line(
        &mut self,
        step: &Step,
        before: &str,
        n: i128,
    ) -> Result<(f64, Vec<(f64, Timed)>), String> {
        // What takes long by itself needs no long chain.
        let (few, lots) = if step.is_quick() { (32, 160) } else { (8, 24) };
        let a = self.timed(&operation(step, before, few, n))?;
        let b = self.timed(&operation(step, before, lots, n))?;
        self.disturbed |= b.kernel_ms <= a.kernel_ms;
        let each = (b.kernel_ms - a.kernel_ms) * 1e6 / (n as f64 * (lots - few) as f64);
        Ok((each.max(1e-9), vec![(few as f64, a), (lots as f64, b)]))
    }

    /// The slots of an operation: how many multiply-adds would take as long.
    fn operation(&mut self, step: &Step, mode: &str) -> Result<(), String> {
        let before = match (mode, step.ty) {
            ("", _) => "",
            // What no vector code is made of.
            (_, "f32" | "f64") => "let v = exp(-v);",
            _ => "let v = v % (b + 6);",
        };
        let (ns, samples) = self.line(step, before, self.many())?;
        if step.name == Step::FMA.name && mode.is_empty() {
            self.keep("pipe.rate", 1.0 / ns, "G/s", "operation.lift", &samples);
        }
        if step.name == "i32.add" && mode.is_empty() && !self.is_gpu() {
            // Slots are those of the other pipe, so both have as many.
            self.keep("integer.rate", self.value("pipe.rate"), "G/s", "operation.lift", &samples);
        }
        let rate = self.value("pipe.rate");
        let others: f64 = step.others.iter().map(|o| self.value(&format!("{o}{mode}"))).sum();
        let slots = ((ns * rate - others) / step.times).max(0.01);
        self.keep(&format!("{}{mode}", step.name), slots, "slots", "operation.lift", &samples);
        Ok(())
    }

    fn arithmetic(&mut self) -> Result<(), String> {
        for step in STEPS.iter().filter(|s| self.info.fp64 || s.ty != "f64").collect::<Vec<_>>() {
            self.operation(step, "")?;
            if !self.is_gpu() {
                self.operation(step, ".scalar")?;
            }
        }
        Ok(())
    }

    fn latencies(&mut self) -> Result<(), String> {
        for step in STEPS.iter().filter(|s| CHAINED.contains(&s.name)) {
            if step.ty == "f64" && !self.info.fp64 {
                continue;
            }
            // Few enough numbers that each waits for itself.
            let n = if self.is_gpu() { 32 } else { 8 };
            let at = |k: i128| probe("chain.lift", &chain(step), &[("N", n), ("K", k)]);
            let a = self.timed(&at(4000))?;
            let b = self.timed(&at(20_000))?;
            let ns = (b.kernel_ms - a.kernel_ms).max(0.0) * 1e6 / 16_000.0 / step.times;
            let samples = [(4000.0, a), (20_000.0, b)];
            self.keep(&format!("{}.latency", step.name), ns, "ns", "chain.lift", &samples);
        }
        if self.is_gpu() {
            // Code that runs once is fetched as it runs.
            let a = self.timed(&lines_of(&Step::FMA, "", 64, 32, 1))?;
            let b = self.timed(&lines_of(&Step::FMA, "", 576, 32, 1))?;
            let ns = (b.kernel_ms - a.kernel_ms).max(0.0) * 1e6 / 512.0;
            self.keep("code", ns, "ns", "operation.lift", &[(64.0, a), (576.0, b)]);
        }
        let sizes: [(&str, i128); 3] = match self.is_gpu() {
            true => [("first", 1 << 11), ("last", 1 << 21), ("dram", 1 << 26)],
            false => [("first", 1 << 11), ("last", 1 << 18), ("dram", 1 << 25)],
        };
        for (level, n) in sizes {
            let cold = level == "dram";
            let alone = |loads: i128| Probe { cold, ..chase(n, loads, 1) };
            self.waits(&format!("{level}.latency"), [500, 2500], &alone)?;
            if self.is_gpu() && level != "first" {
                // As many work-items as the units hold, so that every load waits for those of others. What no cache keeps is
                // read row by row.
                let items = i128::from(self.info.compute_units) * UNIT_ITEMS;
                let most = if cold { (n / items - 1).max(2) } else { 400 };
                let crowd = |loads: i128| chase(n, loads, items);
                self.waits(&format!("{level}.loaded"), [most / 4, most], &crowd)?;
            }
        }
        Ok(())
    }

    /// Nanoseconds of a load that waits for the one before, from the times of fewer and more of them.
    fn waits(
        &mut self,
        name: &str,
        loads: [i128; 2],
        probe: &dyn Fn(i128) -> Probe,
    ) -> Result<(), String> {
        let [few, lots] = loads;
        let a = self.timed(&probe(few))?;
        let b = self.timed(&probe(lots))?;
        let ns = (b.kernel_ms - a.kernel_ms) * 1e6 / (lots - few).max(1) as f64;
        self.keep(name, ns, "ns", "chase.lift", &[(few as f64, a), (lots as f64, b)]);
        Ok(())
    }

    fn streams(&mut self) -> Result<(), String> {
        let n: i128 = if self.is_gpu() { 1 << 26 } else { 1 << 24 };
        let launch = self.value("launch");
        let one = self.timed(&probe("stream1.lift", STREAM1, &[("N", n)]))?;
        let four = self.timed(&probe("stream4.lift", STREAM4, &[("N", n)]))?;
        let bytes = 4.0 * n as f64;
        // (1 + w) N / r and (4 + w) N / r.
        let rate = 3.0 * bytes / ((four.kernel_ms - one.kernel_ms).max(1e-9) * 1e6);
        let weight = ((one.kernel_ms - launch) * rate * 1e6 / bytes - 1.0).clamp(0.5, 4.0);
        let samples = [(1.0, one), (4.0, four)];
        self.keep("dram.rate", rate, "GB/s", "stream4.lift", &samples);
        self.keep("dram.write_weight", weight, "", "stream1.lift", &samples);
        Ok(())
    }

    fn caches(&mut self) -> Result<(), String> {
        let launch = self.value("launch");
        // One number read and one written, over all sizes: where the last cache no longer helps.
        let (from, to) = match self.is_gpu() {
            true => (16e6, 600e6),
            false => (1e6, 300e6),
        };
        let mut samples = Vec::new();
        let curve = measure(from, to, 0.1, 16, &mut |bytes| {
            let n = (bytes / 8.0) as i128 / 64 * 64;
            let t = self.timed(&probe("stream1.lift", STREAM1, &[("N", n)]))?;
            samples.push((8.0 * n as f64, t));
            Ok((t.kernel_ms - launch).max(1e-6) * 1e6 / (8.0 * n as f64))
        })?;
        let (near, _) = curve.levels().unwrap_or((1.0, 1.0));
        let (begin, end) = curve.knees().unwrap_or((from, to));
        self.keep("last.rate", 1.0 / near, "GB/s", "stream1.lift", &samples);
        self.keep("last.capacity", begin, "bytes", "stream1.lift", &samples);
        self.keep("last.full", end, "bytes", "stream1.lift", &samples);
        if self.is_gpu() {
            let rows = 1i128 << 13;
            let small = self.timed(&probe("table.lift", TABLE, &[("M", 256), ("N", rows)]))?;
            let asked = 4.0 * 256.0 * 17.0 * rows as f64;
            let rate = asked / ((small.kernel_ms - launch).max(1e-6) * 1e6);
            self.keep("first.rate", rate, "GB/s", "table.lift", &[(256.0, small)]);
            let rows = 1i128 << 15;
            let apart = self.timed(&probe("apart.lift", APART, &[("M", 64), ("N", rows)]))?;
            let lines = 64.0 * 8.0 * rows as f64;
            let rate = lines / ((apart.kernel_ms - launch).max(1e-6) * 1e6);
            self.keep("first.lines", rate, "G/s", "apart.lift", &[(64.0, apart)]);
        }
        Ok(())
    }

    fn loops(&mut self) -> Result<(), String> {
        let n = self.many();
        let at = |k: i128| probe("loop.lift", LOOP, &[("N", n), ("K", k)]);
        let a = self.timed(&at(200))?;
        let b = self.timed(&at(600))?;
        let ns = (b.kernel_ms - a.kernel_ms) * 1e6 / (n as f64 * 400.0);
        let slots = (ns * self.value("pipe.rate") - 1.0).max(0.0);
        self.keep("iteration", slots, "slots", "loop.lift", &[(200.0, a), (600.0, b)]);
        Ok(())
    }

    fn transfers(&mut self) -> Result<(), String> {
        let small = self.timed(&probe("stream1.lift", STREAM1, &[("N", 256)]))?;
        let n = 1i128 << 24;
        let large = self.timed(&probe("stream1.lift", STREAM1, &[("N", n)]))?;
        let bytes = 4.0 * (n - 256) as f64;
        let samples = [(256.0, small), (n as f64, large)];
        for (way, few, lots) in
            [("to", small.to_ms, large.to_ms), ("from", small.from_ms, large.from_ms)]
        {
            let rate = bytes / ((lots - few).max(1e-6) * 1e6);
            self.keep(&format!("transfer.{way}.latency"), few, "ms", "stream1.lift", &samples);
            self.keep(&format!("transfer.{way}.rate"), rate, "GB/s", "stream1.lift", &samples);
        }
        Ok(())
    }

    /// What the device says of itself, and what devices of its kind have.
    fn limits(&mut self) {
        self.keep("units", f64::from(self.info.compute_units), "", "asked", &[]);
        if self.is_gpu() {
            self.keep("unit.items", UNIT_ITEMS as f64, "", "of its kind", &[]);
            self.keep("unit.groups", 32.0, "", "of its kind", &[]);
            self.keep("unit.registers", 65536.0, "", "of its kind", &[]);
            let local = (self.info.local_memory_bytes as f64).max(98304.0);
            self.keep("unit.local_bytes", local, "bytes", "asked", &[]);
            // One round of the banks where four warps do an operation each.
            let rounds = self.value("pipe.rate") / 128.0;
            self.keep("local.rate", rounds, "G/s", "of its kind", &[]);
        }
    }
}
