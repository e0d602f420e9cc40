//! The host: launches, memory, transfers.

use super::probes::{LAUNCH, STREAM1, probe};
use super::{Bench, Curve, Mean, Probe, Runs, Timed, measure};

/// Launches vary from one set of runs to the next more than in one of them.
const LAUNCHES: usize = 9;

/// Of a kind of work of the host, how long it takes.
type Of = fn(&Timed) -> Mean;

/// What the host does with arrays.
const KINDS: [(&str, Of); 4] = [
    ("allocation", |t| t.allocate),
    ("allocation.host", |t| t.allocate_host),
    ("transfer.to", |t| t.to),
    ("transfer.from", |t| t.from),
];

impl Bench<'_> {
    pub(super) fn launch(&mut self) -> Result<(), String> {
        let probe_of = |n: i128| probe("launch.lift", LAUNCH, &[("N", n)]);
        let (small, samples) = self.short(&probe_of(32), 32)?;
        self.keep("launch", small.kernel.ms, "ms", "launch.lift", &samples);
        self.keep_of("launch.host", small.host.ms, "ms", "launch.lift", &samples, |t| t.host);
        if self.is_gpu() {
            let n = 1i128 << 20;
            let large = self.timed(&probe_of(n))?;
            let groups = n as f64 / 32.0;
            let each = (large.kernel.ms - small.kernel.ms) * 1e6 / groups;
            let units = f64::from(self.info.compute_units);
            self.keep("group.start", each * units, "ns", "launch.lift", &[(n as f64, large)]);
        } else {
            // Few numbers, but enough for threads to share them.
            let n = 1i128 << 14;
            let (shared, samples) = self.short(&probe("stream1.lift", STREAM1, &[("N", n)]), n)?;
            let fork = shared.kernel.ms - small.kernel.ms;
            self.keep("fork", fork, "ms", "stream1.lift", &samples);
        }
        Ok(())
    }

    /// The middle of several sets of runs of a short kernel, and all of them.
    fn short(&mut self, probe: &Probe, n: i128) -> Result<(Timed, Vec<(f64, Timed)>), String> {
        let mut all = Vec::new();
        for _ in 0..LAUNCHES {
            all.push((n as f64, self.timed(probe)?));
        }
        all.sort_by(|(_, a), (_, b)| a.kernel.ms.total_cmp(&b.kernel.ms));
        let middle = all.get(LAUNCHES / 2).map(|(_, timed)| *timed).unwrap_or_default();
        Ok((middle, all))
    }

    /// Memory and transfers: what an array costs however small it is, and each byte of small and of large ones.
    pub(super) fn transfers(&mut self) -> Result<(), String> {
        let mut at = |n: i128| {
            let stream = probe("stream1.lift", STREAM1, &[("N", n)]);
            self.timed(&Probe { runs: Runs::Cold, ..stream })
        };
        let small = at(256)?;
        let mut samples = vec![(1024.0, small)];
        let each_byte = |of: Of, bytes: f64, t: &Timed| {
            ((of(t).ms - of(&small).ms) / (bytes - 1024.0)).max(1e-10)
        };
        measure(1e6, 256e6, 0.15, 9, &mut |bytes| {
            let n = (bytes / 4.0) as i128 / 64 * 64;
            let (bytes, t) = (4.0 * n as f64, at(n)?);
            samples.push((bytes, t));
            Ok(KINDS.iter().map(|(_, of)| each_byte(*of, bytes, &t)).sum())
        })?;
        samples.sort_by(|a, b| a.0.total_cmp(&b.0));
        self.keep_of("compile", small.compile.ms, "ms", "stream1.lift", &samples[..1], |t| {
            t.compile
        });
        for (kind, of) in KINDS {
            let points = samples.iter().skip(1).map(|(at, t)| (*at, each_byte(of, *at, t)));
            let curve = Curve { points: points.collect() };
            let (near, far) = curve.levels().unwrap_or((1.0, 1.0));
            let (begin, end) = curve.knees().unwrap_or((1e6, 1e6));
            let quantities = [
                ("latency", of(&small).ms, "ms"),
                ("rate", 1e-6 / near, "GB/s"),
                ("capacity", begin, "bytes"),
                ("full", end, "bytes"),
                ("far", 1e-6 / far, "GB/s"),
            ];
            for (name, value, unit) in quantities {
                self.keep_of(&format!("{kind}.{name}"), value, unit, "stream1.lift", &samples, of);
            }
        }
        Ok(())
    }
}
