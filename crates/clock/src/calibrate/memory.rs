//! Memories: rates, sizes and latencies.

use super::probes::{APART, LINES, SCATTER, STREAM1, STREAM4, TABLE, chase, probe};
use super::{Bench, Probe, Runs, UNIT_ITEMS, measure};

impl Bench<'_> {
    pub(super) fn streams(&mut self) -> Result<(), String> {
        let n: i128 = if self.is_gpu() { 1 << 26 } else { 1 << 24 };
        let launch = self.value("launch");
        let one = self.timed(&probe("stream1.lift", STREAM1, &[("N", n)]))?;
        let four = self.timed(&probe("stream4.lift", STREAM4, &[("N", n)]))?;
        let bytes = 4.0 * n as f64;
        // (1 + w) N / r and (4 + w) N / r.
        let rate = 3.0 * bytes / ((four.kernel.ms - one.kernel.ms).max(1e-9) * 1e6);
        let weight = ((one.kernel.ms - launch) * rate * 1e6 / bytes - 1.0).clamp(0.5, 4.0);
        let samples = [(1.0, one), (4.0, four)];
        self.keep("dram.rate", rate, "GB/s", "stream4.lift", &samples);
        self.keep("dram.write_weight", weight, "", "stream1.lift", &samples);
        Ok(())
    }

    pub(super) fn caches(&mut self) -> Result<(), String> {
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
            Ok((t.kernel.ms - launch).max(1e-6) * 1e6 / (8.0 * n as f64))
        })?;
        let (near, _) = curve.levels().unwrap_or((1.0, 1.0));
        let (begin, end) = curve.knees().unwrap_or((from, to));
        self.keep("last.rate", 1.0 / near, "GB/s", "stream1.lift", &samples);
        self.keep("last.capacity", begin, "bytes", "stream1.lift", &samples);
        self.keep("last.full", end, "bytes", "stream1.lift", &samples);
        if self.is_gpu() {
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
            let n = 1i128 << 26;
            let far = self.timed(&probe("scatter.lift", SCATTER, &[("N", n)]))?;
            // A sector for each element, of which all but one of its eight are fetched again, and the result.
            let (dram, weight) = (self.value("dram.rate"), self.value("dram.write_weight"));
            let spent = (far.kernel.ms - launch) * dram * 1e6 / (4.0 * n as f64);
            let scattered = (spent - weight - 1.0) / 7.0;
            self.keep("dram.scattered", scattered.max(1.0), "", "scatter.lift", &[(n as f64, far)]);
        }
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
