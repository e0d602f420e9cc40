//! The host: launches, memory, transfers.

use lift_runtime::median;

use super::probes::{LAUNCH, STREAM1, STREAM4, probe};
use super::{Bench, Curve, Mean, Probe, Runs, Sample, Timed, measure};

/// Launches vary from one set of runs to the next more than in one of them.
const LAUNCHES: usize = 9;

/// Numbers that threads of a processor share, though they are few.
const SHARED: i128 = 1 << 14;

/// Of a kind of work of the host, how long it takes.
type Of = fn(&Timed) -> Mean;

/// What the host does with arrays.
const KINDS: [(&str, Of); 4] = [
    ("allocation", |t| t.allocate),
    ("allocation.host", |t| t.allocate_host),
    ("transfer.to", |t| t.to),
    ("transfer.from", |t| t.from),
];

/// Numbers of a short array, and arrays on the device of the two streams.
const FEW: i128 = 256;
const ARRAYS: [f64; 2] = [2.0, 5.0];

/// Numbers of a launch that has next to nothing to do.
const NOTHING: i128 = 32;

fn nothing() -> Probe {
    probe("launch.lift", LAUNCH, &[("N", NOTHING)])
}

fn shared_by_threads() -> Probe {
    probe("stream1.lift", STREAM1, &[("N", SHARED)])
}

/// The middle of a time and of those that were found since.
fn middle_with(first: f64, since: &[(f64, Timed)], of: Of) -> f64 {
    let all: Vec<f64> = std::iter::once(first).chain(since.iter().map(|(_, t)| of(t).ms)).collect();
    median(&all).unwrap_or(first)
}

/// Memory for the first array of a run takes longer than that for others: how much longer, and what each takes, by runs of two arrays and
/// of five.
fn first_and_each(two: &Timed, five: &Timed) -> (f64, f64) {
    let [of_two, of_five] = [ARRAYS[0] * two.allocate.ms, ARRAYS[1] * five.allocate.ms];
    let each = (of_five - of_two) / (ARRAYS[1] - ARRAYS[0]);
    let each = each.clamp(0.0, two.allocate.ms);
    (of_two - ARRAYS[0] * each, each)
}

impl Bench<'_> {
    pub(super) fn launch(&mut self) -> Result<(), String> {
        let probe_of = |n: i128| probe("launch.lift", LAUNCH, &[("N", n)]);
        let (small, samples) = self.short(&nothing(), NOTHING)?;
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
            let (shared, samples) = self.short(&shared_by_threads(), SHARED)?;
            let fork = shared.kernel.ms - small.kernel.ms;
            self.keep("fork", fork, "ms", "stream1.lift", &samples);
        }
        Ok(())
    }

    /// Times launches once more. A set of runs says how long they take in that second, as they depend on what else the host does.
    pub(super) fn launch_again(&mut self) -> Result<(), String> {
        let again = (NOTHING as f64, self.timed(&nothing())?);
        self.launched.push(again);
        if !self.is_gpu() {
            let again = (SHARED as f64, self.timed(&shared_by_threads())?);
            self.shared.push(again);
        }
        Ok(())
    }

    /// What launches took all the while: the middle of what was found at first and each time since.
    pub(super) fn settle_launches(&mut self) {
        let of_kernel: Of = |t| t.kernel;
        let before = [self.value("launch"), self.value("launch.host"), self.value("fork")];
        let launched = std::mem::take(&mut self.launched);
        let shared = std::mem::take(&mut self.shared);
        let launch = middle_with(before[0], &launched, of_kernel);
        self.settle("launch", launch, &launched, of_kernel);
        let host: Of = |t| t.host;
        self.settle("launch.host", middle_with(before[1], &launched, host), &launched, host);
        if !shared.is_empty() {
            let fork = middle_with(before[2] + before[0], &shared, of_kernel) - launch;
            self.settle("fork", fork, &shared, of_kernel);
        }
    }

    fn settle(&mut self, name: &str, value: f64, since: &[(f64, Timed)], of: Of) {
        for quantity in self.quantities.iter_mut().filter(|q| q.name == name) {
            quantity.value = crate::four_digits(value.max(0.0));
            let more = since.iter().map(|(at, t)| (*at, crate::four_digits(of(t).ms)));
            quantity.samples.extend(more.map(|(at, ms)| Sample { at, ms }));
        }
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
        let is_processor = !self.is_gpu();
        let stream4 = Probe { runs: Runs::Cold, ..probe("stream4.lift", STREAM4, &[("N", FEW)]) };
        let many = self.timed(&stream4)?;
        let mut at = |n: i128| {
            let stream = probe("stream1.lift", STREAM1, &[("N", n)]);
            let mut first = self.timed(&Probe { runs: Runs::Cold, ..stream.clone() })?;
            if is_processor {
                let others = self.timed(&stream)?.kernel;
                let ms = (first.kernel.ms - others.ms).max(0.0);
                first.first_run = Mean { ms, ..first.kernel };
            }
            Ok::<Timed, String>(first)
        };
        // Few numbers, but enough for threads to share them; the middle of some.
        let mut woken = Vec::new();
        for _ in 0..if is_processor { LAUNCHES } else { 0 } {
            woken.push((4.0 * SHARED as f64, at(SHARED)?));
        }
        woken.sort_by(|(_, a), (_, b)| a.first_run.ms.total_cmp(&b.first_run.ms));
        let small = at(FEW)?;
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
        let (first, each) = first_and_each(&small, &many);
        let few = [(ARRAYS[0], small), (ARRAYS[1], many)];
        self.keep_of("allocation.first", first, "ms", "stream4.lift", &few, |t| t.allocate);
        for (kind, of) in KINDS {
            let points = samples.iter().skip(1).map(|(at, t)| (*at, each_byte(of, *at, t)));
            let curve = Curve { points: points.collect() };
            let latency = if kind == "allocation" { each } else { of(&small).ms };
            self.keep_kind(kind, latency, &curve, &samples, of);
        }
        if let Some((begin, woken)) = woken.get(LAUNCHES / 2).copied() {
            let of: Of = |t| t.first_run;
            let more = samples.iter().filter(|(at, _)| *at > 2.0 * begin);
            let each = |(at, t): &(f64, Timed)| (of(t).ms - of(&woken).ms) / (at - begin);
            let each = median(&more.map(each).collect::<Vec<f64>>()).unwrap_or(0.0).max(1e-10);
            let quantities = [("latency", of(&woken).ms, "ms"), ("rate", 1e-6 / each, "GB/s")];
            for (name, value, unit) in quantities {
                let name = format!("first_run.{name}");
                self.keep_of(&name, value, unit, "stream1.lift", &samples, of);
            }
        }
        Ok(())
    }

    /// Keeps what an array costs however small it is, and each byte of small and of large ones.
    fn keep_kind(
        &mut self,
        kind: &str,
        latency: f64,
        curve: &Curve,
        samples: &[(f64, Timed)],
        of: Of,
    ) {
        let (near, far) = curve.levels().unwrap_or((1.0, 1.0));
        let (begin, end) = curve.knees().unwrap_or((1e6, 1e6));
        let quantities = [
            ("latency", latency, "ms"),
            ("rate", 1e-6 / near, "GB/s"),
            ("capacity", begin, "bytes"),
            ("full", end, "bytes"),
            ("far", 1e-6 / far, "GB/s"),
        ];
        for (name, value, unit) in quantities {
            self.keep_of(&format!("{kind}.{name}"), value, unit, "stream1.lift", samples, of);
        }
    }
}
