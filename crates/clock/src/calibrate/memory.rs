//! Memories: rates, sizes and latencies.

use crate::time::FETCHED;

use super::probes::{
    APART, CHANGES, CROWD, LINES, PARTS, SCATTER, STREAM1, STREAM4, TABLE, chase, probe,
};
use super::{Bench, Curve, Probe, Runs, Timed, UNIT_ITEMS, measure_in_parts};

/// How often fewer and more bytes are timed by turns.
const TURNS: usize = 5;

impl Bench<'_> {
    /// The rate of memory, by arrays of which no cache keeps anything.
    pub(super) fn streams(&mut self) -> Result<(), String> {
        let n: i128 = match self.is_gpu() {
            true => 1 << 26,
            false => ((self.value("last.full") / 4.0) as i128).clamp(1 << 24, 1 << 27) / 64 * 64,
        };
        let before = self.value("launch") + self.value("fork");
        let one = self.timed(&probe("stream1.lift", STREAM1, &[("N", n)]))?;
        let four = self.timed(&probe("stream4.lift", STREAM4, &[("N", n)]))?;
        let bytes = 4.0 * n as f64;
        // (1 + w) N / r and (4 + w) N / r.
        let rate = 3.0 * bytes / ((four.kernel.ms - one.kernel.ms).max(1e-9) * 1e6);
        let least = if self.is_gpu() { 0.5 } else { 1.0 };
        let weight = ((one.kernel.ms - before) * rate * 1e6 / bytes - 1.0).clamp(least, 4.0);
        let samples = [(1.0, one), (4.0, four)];
        self.keep("dram.rate", rate, "GB/s", "stream4.lift", &samples);
        self.keep("dram.write_weight", weight, "", "stream1.lift", &samples);
        Ok(())
    }

    /// Nanoseconds for each byte of two arrays, one read and one written, over all sizes of them together. A written one counts
    /// so many times; sizes are taken in so many parts, of so many points at most.
    fn by_size(
        &mut self,
        ends: [f64; 2],
        (parts, most): (i32, usize),
        written: f64,
    ) -> Result<(Curve, Vec<(f64, Timed)>), String> {
        let before = self.value("launch") + self.value("fork");
        let mut samples = Vec::new();
        let curve = measure_in_parts(ends, parts, 0.1, most, &mut |bytes| {
            let n = (bytes / 8.0) as i128 / 64 * 64;
            let t = self.timed(&probe("stream1.lift", STREAM1, &[("N", n)]))?;
            samples.push((8.0 * n as f64, t));
            Ok((t.kernel.ms - before).max(1e-6) * 1e6 / (4.0 * (1.0 + written) * n as f64))
        })?;
        Ok((curve, samples))
    }

    /// The caches of a processor's cores, taken together, and the one that they share: rates, and where they no longer help.
    pub(super) fn levels(&mut self) -> Result<(), String> {
        let most = (self.info.memory_bytes as f64 / 8.0).min(1e9);
        let (curve, samples) = self.by_size([1e6, most.max(1e8)], (4, 7), FETCHED)?;
        let steps = curve.two_steps().ok_or("too few sizes of arrays were timed")?;
        for (level, name) in ["first", "last"].into_iter().enumerate() {
            let (begin, end) = steps.knees[level];
            let kept = [
                ("rate", 1.0 / steps.levels[level], "GB/s"),
                ("capacity", begin, "bytes"),
                ("full", end, "bytes"),
            ];
            for (quantity, value, unit) in kept {
                let name = format!("{name}.{quantity}");
                self.keep(&name, value, unit, "stream1.lift", &samples);
            }
        }
        self.crowds()
    }

    /// Lines that crowd in the nearest cache of a core, and those that crowd in its own one too.
    pub(super) fn crowds(&mut self) -> Result<(), String> {
        let before = self.value("launch") + self.value("fork");
        for (name, rows, width) in [("first.crowded", 256, 512), ("last.crowded", 4096, 1024)] {
            let n = self.many() / rows;
            let sizes = [("M", rows), ("W", width), ("N", n)];
            let t = self.timed(&probe("crowd.lift", CROWD, &sizes))?;
            let rate = (rows * n) as f64 / ((t.kernel.ms - before).max(1e-6) * 1e6);
            self.keep(name, rate, "G/s", "crowd.lift", &[(rows as f64, t)]);
        }
        Ok(())
    }

    /// The caches of a GPU.
    pub(super) fn caches(&mut self) -> Result<(), String> {
        let launch = self.value("launch");
        // Where the last cache no longer helps.
        let (from, to) = (16e6, 600e6);
        let (curve, samples) = self.by_size([from, to], (1, 16), 1.0)?;
        let (begin, end) = curve.knees().unwrap_or((from, to));
        self.keep("last.capacity", begin, "bytes", "stream1.lift", &samples);
        self.keep("last.full", end, "bytes", "stream1.lift", &samples);
        self.rate_of_kept(begin)?;
        let rows = 1i128 << 16;
        let small = self.timed(&probe("table.lift", TABLE, &[("M", 256), ("N", rows)]))?;
        let asked = 4.0 * 256.0 * 17.0 * rows as f64;
        let rate = asked / ((small.kernel.ms - launch).max(1e-6) * 1e6);
        self.keep("first.rate", rate, "GB/s", "table.lift", &[(256.0, small)]);
        let rows = 1i128 << 15;
        for (name, file, text) in
            [("first.rounds", "apart.lift", APART), ("first.lines", "lines.lift", LINES)]
        {
            let apart = self.timed(&probe(file, text, &[("M", 64), ("N", rows)]))?;
            // Every lane of a warp asks for another.
            let each = 64.0 * 8.0 * rows as f64;
            let rate = each / ((apart.kernel.ms - launch).max(1e-6) * 1e6);
            self.keep(name, rate, "G/s", file, &[(64.0, apart)]);
        }
        // Words that are written a row apart, in no more than the last cache keeps.
        let (rows, columns) = (1056i128, 2048i128);
        let apart = self.timed(&probe("parts.lift", PARTS, &[("N", rows), ("M", columns)]))?;
        let rate = (rows * columns) as f64 / ((apart.kernel.ms - launch).max(1e-6) * 1e6);
        self.keep("last.parts", rate, "G/s", "parts.lift", &[(rows as f64, apart)]);
        self.changes()?;
        let n = 1i128 << 26;
        let far = self.timed(&probe("scatter.lift", SCATTER, &[("N", n)]))?;
        // A sector for each element, of which all but one of its eight are fetched again, and the result.
        let (dram, weight) = (self.value("dram.rate"), self.value("dram.write_weight"));
        let spent = (far.kernel.ms - launch) * dram * 1e6 / (4.0 * n as f64);
        let scattered = (spent - weight - 1.0) / 7.0;
        self.keep("dram.scattered", scattered.max(1.0), "", "scatter.lift", &[(n as f64, far)]);
        Ok(())
    }

    /// The rate of what the last cache keeps, from the times of fewer and more bytes by turns: launches vary from one moment to the
    /// next, by more than a few bytes take.
    fn rate_of_kept(&mut self, capacity: f64) -> Result<(), String> {
        let [few, lots] = [0.3, 0.9].map(|part| (part * capacity / 8.0) as i128 / 64 * 64);
        let (mut rates, mut samples) = (Vec::new(), Vec::new());
        for _ in 0..TURNS {
            let mut timed = |n| self.timed(&probe("stream1.lift", STREAM1, &[("N", n)]));
            let (a, b) = (timed(few)?, timed(lots)?);
            let ms = (b.kernel.ms - a.kernel.ms).max(1e-6);
            rates.push(8.0 * (lots - few) as f64 / (ms * 1e6));
            samples.extend([(8.0 * few as f64, a), (8.0 * lots as f64, b)]);
        }
        let rate = lift_runtime::median(&rates).unwrap_or(0.0);
        self.keep("last.rate", rate, "GB/s", "stream1.lift", &samples);
        Ok(())
    }

    /// Numbers that the last cache changes as one step, from the times of fewer and more changes: what the numbers are before takes as
    /// long for both.
    fn changes(&mut self) -> Result<(), String> {
        let [few, lots] = [1i128 << 22, 1 << 24];
        let mut timed = |n| self.timed(&probe("changes.lift", CHANGES, &[("N", n)]));
        let (a, b) = (timed(few)?, timed(lots)?);
        let rate = (lots - few) as f64 / ((b.kernel.ms - a.kernel.ms).max(1e-6) * 1e6);
        let samples = [(few as f64, a), (lots as f64, b)];
        self.keep("last.changes", rate, "G/s", "changes.lift", &samples);
        Ok(())
    }

    pub(super) fn loads(&mut self) -> Result<(), String> {
        let sizes: [(&str, i128); 3] = match self.is_gpu() {
            true => [("first", 1 << 11), ("last", 1 << 21), ("dram", 1 << 26)],
            false => [("first", 1 << 11), ("last", 1 << 18), ("dram", 1 << 25)],
        };
        for (level, n) in sizes {
            let cold = level == "dram";
            let runs = if cold { Runs::Cold } else { Runs::Warm };
            let alone = |loads: i128| Probe { runs, ..chase(n, loads, 1) };
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
        let ns = (b.kernel.ms - a.kernel.ms) * 1e6 / (lots - few).max(1) as f64;
        self.keep(name, ns, "ns", "chase.lift", &[(few as f64, a), (lots as f64, b)]);
        Ok(())
    }
}
