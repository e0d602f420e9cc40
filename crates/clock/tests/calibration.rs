//! Machines made up, measured: what is found is what they were made of, and what is busy is told.

#![allow(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

mod common;

use std::collections::{BTreeMap, BTreeSet};

use common::{SCALE, machine, predicted, scaled};
use lift_clock::calibrate::{Mean, Probe, Runs, Timed, Timer, differences, quantities};
use lift_clock::{Description, KernelPrediction, Quantity};
use lift_runtime::{DeviceInfo, Language};

/// A device that takes exactly as long as predicted; every so many probes it is busy with something else.
struct AsPredicted {
    machine: Description,
    probes: usize,
    busy_after: Option<usize>,
    /// Probes are timed more than once.
    known: BTreeMap<(String, BTreeMap<String, i128>), f64>,
}

impl AsPredicted {
    fn new(machine: &Description, busy_after: Option<usize>) -> AsPredicted {
        AsPredicted { machine: machine.clone(), probes: 0, busy_after, known: BTreeMap::new() }
    }
}

impl Timer for AsPredicted {
    fn time(&mut self, probe: &Probe) -> Result<Timed, String> {
        self.probes += 1;
        let sizes: Vec<(&str, i128)> = probe.sizes.iter().map(|(n, s)| (n.as_str(), *s)).collect();
        let slower = match self.busy_after {
            // Slower with every probe.
            Some(after) if self.probes > after => 1.0 + 0.01 * (self.probes - after) as f64,
            _ => 1.0,
        };
        let key = (probe.text.clone(), probe.sizes.clone());
        let predicted = || predicted(&probe.text, &sizes, &self.machine).kernel_ms();
        let kernel_ms = *self.known.entry(key).or_insert_with(predicted);
        Ok(Timed::kernel(kernel_ms * slower))
    }
}

fn info() -> DeviceInfo {
    DeviceInfo {
        id: "cuda:0".to_string(),
        name: "made up".to_string(),
        kind: "gpu",
        language: Language::Cuda,
        compute_units: 100,
        memory_bytes: 1 << 36,
        max_buffer_bytes: 1 << 36,
        max_group_size: 1024,
        max_group_sizes: [1024; 3],
        max_groups: [65535; 3],
        local_memory_bytes: 48 << 10,
        driver: "1".to_string(),
        fp16: true,
        fp64: true,
        warp: 32,
    }
}

#[test]
fn a_machine_that_is_as_predicted_is_found_again() {
    let machine = machine("cuda");
    let mut timer = AsPredicted::new(&machine, None);
    let info = info();
    let found = quantities(&mut timer, &info, &mut |_, _| {}).unwrap();
    let of = |name: &str| found.iter().find(|q| q.name == name).unwrap().value;
    for name in [
        "launch",
        "pipe.rate",
        "dram.rate",
        "f32.div",
        "f32.exp",
        "i32.rem",
        "last.rate",
        "last.capacity",
        "last.parts",
        "last.changes",
        "first.lines",
        "first.rounds",
        "dram.scattered",
        "convert.float",
        "convert.integer",
    ] {
        let ratio = of(name) / machine.get(name).unwrap();
        assert!((0.85..1.15).contains(&ratio), "{name}: {} is {ratio} of what it is", of(name));
    }
    // With what comes between two barriers.
    assert!((1.0..2.0).contains(&(of("barrier") / 20.0)), "{}", of("barrier"));
    for quantity in &found {
        assert!(quantity.value.is_finite() && quantity.value >= 0.0, "{quantity:?}");
    }
}

/// Probes measure the machine, not a way that the compiler takes through local memory: only what work-items exchange is there.
/// Integers that are divided are checked one by one, so that no vector is loaded, and may go through it.
#[test]
fn probes_go_no_way_round() {
    struct Watched(AsPredicted, BTreeSet<&'static str>);
    impl Timer for Watched {
        fn time(&mut self, probe: &Probe) -> Result<Timed, String> {
            let sizes: Vec<(&str, i128)> =
                probe.sizes.iter().map(|(n, s)| (n.as_str(), *s)).collect();
            let whole = predicted(&probe.text, &sizes, &self.0.machine);
            let is_local = |k: &KernelPrediction| k.counts.local_rounds + k.counts.barriers > 0.0;
            let divides = [" / b", " % b"].iter().any(|by| probe.text.contains(by));
            if !divides && whole.kernels.iter().any(is_local) {
                self.1.insert(probe.file);
            }
            self.0.time(probe)
        }
    }
    let mut timer = Watched(AsPredicted::new(&machine("cuda"), None), BTreeSet::new());
    quantities(&mut timer, &info(), &mut |_, _| {}).unwrap();
    assert_eq!(timer.1, BTreeSet::from(["exchange.lift"]));
}

/// An operation waits as long as it does for one number: of several a thread would do one after the other. What the first run of a
/// program takes beyond others is found, too.
#[test]
fn what_a_processor_waits_for_is_found() {
    let mut machine = machine("cpu");
    for quantity in machine.quantities.iter_mut().filter(|q| q.name == "units") {
        quantity.value = 2.0;
    }
    let waits = machine.get("f32.add.latency").unwrap();
    let mut timer = Waking(AsPredicted::new(&machine, None));
    let info = DeviceInfo { language: Language::C, compute_units: 2, ..info() };
    let found = quantities(&mut timer, &info, &mut |_, _| {}).unwrap();
    let of = |name: &str| found.iter().find(|q| q.name == name).unwrap().value;
    assert!((of("f32.add.latency") / waits - 1.0).abs() < 0.05, "{}", of("f32.add.latency"));
    // The first run of a program whose threads share its kernel, and no other.
    let more = |ms: f64, n: i128| ms / Waking::more_ms(4.0 * n as f64);
    let own = found.iter().filter(|q| q.name.starts_with("first_run.")).cloned();
    let mut woken = machine.clone();
    woken.quantities.extend(own);
    for n in [1 << 15, 1 << 18, 1 << 22] {
        let [whole, before] = [&woken, &machine].map(|m| predicted(SCALE, &[("N", n)], m));
        let ratio = more(whole.total_ms() - before.total_ms(), n);
        assert!((ratio - 1.0).abs() < 0.1, "{ratio} of what it is at {n}");
        assert_eq!(whole.kernel_ms(), before.kernel_ms());
    }
    let small = [&woken, &machine].map(|m| predicted(SCALE, &[("N", 64)], m).total_ms());
    assert_eq!(small[0], small[1]);
}

/// A processor that does something else two times of three, for as long as a probe takes.
struct Disturbed(AsPredicted);

impl Timer for Disturbed {
    fn time(&mut self, probe: &Probe) -> Result<Timed, String> {
        let mut timed = self.0.time(probe)?;
        timed.kernel.ms *= if self.0.probes.is_multiple_of(3) { 1.0 } else { 2.5 };
        Ok(timed)
    }
}

#[test]
fn what_others_do_on_a_processor_is_not_its_speed() {
    let machine = machine("cpu");
    let info = DeviceInfo { language: Language::C, ..info() };
    let quiet = quantities(&mut AsPredicted::new(&machine, None), &info, &mut |_, _| {}).unwrap();
    let mut timer = Disturbed(AsPredicted::new(&machine, None));
    let found = quantities(&mut timer, &info, &mut |_, _| {}).unwrap();
    let rates = |all: &[Quantity]| -> Vec<(String, f64)> {
        let kept = ["pipe.rate", "f32.div", "dram.rate", "last.rate", "f32.add.latency"];
        let of = |q: &Quantity| kept.contains(&&*q.name).then(|| (q.name.clone(), q.value));
        all.iter().filter_map(of).collect()
    };
    assert_eq!(rates(&found), rates(&quiet));
}

/// A device on which launches take longer some time after the first of them.
struct Later(AsPredicted);

impl Timer for Later {
    fn time(&mut self, probe: &Probe) -> Result<Timed, String> {
        let mut timed = self.0.time(probe)?;
        timed.kernel.ms += if self.0.probes > 60 { 0.001 } else { 0.0 };
        Ok(timed)
    }
}

#[test]
fn launches_are_timed_all_the_while() {
    let machine = machine("cpu");
    let launch = machine.get("launch").unwrap();
    let mut timer = Later(AsPredicted::new(&machine, None));
    let info = DeviceInfo { language: Language::C, ..info() };
    let found = quantities(&mut timer, &info, &mut |_, _| {}).unwrap();
    let found = found.iter().find(|q| q.name == "launch").unwrap();
    assert!((found.value / (launch + 0.001) - 1.0).abs() < 0.05, "{}", found.value);
    assert!(found.samples.len() > 9, "{:?}", found.samples);
}

/// A processor whose threads sleep between programs, and whose system gives memory when it is touched.
struct Waking(AsPredicted);

impl Waking {
    fn more_ms(bytes: f64) -> f64 {
        0.05 + bytes * 4e-8
    }
}

impl Timer for Waking {
    fn time(&mut self, probe: &Probe) -> Result<Timed, String> {
        let mut timed = self.0.time(probe)?;
        if let (Runs::Cold, Some(n)) = (probe.runs, probe.sizes.get("N")) {
            timed.kernel.ms += Waking::more_ms(4.0 * *n as f64);
        }
        Ok(timed)
    }
}

/// A device whose host has arrays of more than 32 MB in memory that it must ask the system for.
struct Slow {
    others: AsPredicted,
}

impl Slow {
    /// Of each of so many arrays: the first takes longer.
    fn allocate_ms(arrays: f64) -> f64 {
        0.01 + 0.03 / arrays
    }

    fn from_ms(bytes: f64) -> f64 {
        let ns = 0.2 + 0.8 * ((bytes - 32e6) / 8e6).clamp(0.0, 1.0);
        0.02 + bytes * ns * 1e-6
    }
}

impl Timer for Slow {
    fn time(&mut self, probe: &Probe) -> Result<Timed, String> {
        let mean = |ms: f64| Mean { ms, error: 0.0 };
        let timed = self.others.time(probe)?;
        if probe.file == "stream4.lift" {
            return Ok(Timed { allocate: mean(Slow::allocate_ms(5.0)), ..timed });
        }
        if probe.file != "stream1.lift" {
            return Ok(timed);
        }
        let bytes = 4.0 * probe.sizes["N"] as f64;
        Ok(Timed {
            allocate: mean(Slow::allocate_ms(2.0)),
            allocate_host: mean(0.001 + bytes * 5e-8),
            to: mean(0.01 + bytes * 1e-7),
            from: mean(Slow::from_ms(bytes)),
            ..timed
        })
    }
}

#[test]
fn transfers_are_predicted_at_all_sizes() {
    let machine = machine("cuda");
    let others = AsPredicted::new(&machine, None);
    let quantities = quantities(&mut Slow { others }, &info(), &mut |_, _| {}).unwrap();
    let found = Description { quantities, ..machine };
    let near = |name: &str, wanted: f64| {
        let value = found.get(name).unwrap();
        assert!((value / wanted - 1.0).abs() < 0.05, "{name}: {value}, not {wanted}");
    };
    near("transfer.to.rate", 10.0);
    near("transfer.from.rate", 5.0);
    near("transfer.from.far", 1.0);
    near("allocation.host.rate", 20.0);
    near("allocation.first", 0.03);
    near("allocation.latency", 0.01);
    for k in 10..28 {
        let n: i128 = 1 << k;
        let bytes = 4.0 * n as f64;
        let whole = predicted(SCALE, &[("N", n)], &found);
        let transfers = 0.01 + bytes * 1e-7 + Slow::from_ms(bytes);
        let ratio = whole.transfer_ms / transfers;
        // Where it bends, a line stands for whatever there is.
        let off = if (30e6..42e6).contains(&bytes) { 0.15 } else { 0.05 };
        assert!((ratio - 1.0).abs() < off, "2^{k}: {ratio} of {transfers}");
        let allocation = 0.03 + 2.0 * 0.01 + 0.001 + bytes * 5e-8;
        let ratio = whole.allocation_ms / allocation;
        assert!((0.95..1.05).contains(&ratio), "2^{k}: {ratio} of {allocation}");
    }
    // What was measured is there to be looked at.
    let samples =
        &found.quantities.iter().find(|q| q.name == "transfer.from.rate").unwrap().samples;
    assert!(samples.len() >= 4, "{samples:?}");
    for sample in samples {
        assert!((sample.ms / Slow::from_ms(sample.at) - 1.0).abs() < 1e-3, "{sample:?}");
    }
}

/// A device on which nothing takes any time beside something else that goes on.
struct Drowned;

impl Timer for Drowned {
    fn time(&mut self, _: &Probe) -> Result<Timed, String> {
        Ok(Timed::kernel(8.0))
    }
}

#[test]
fn a_machine_on_which_more_takes_no_longer_is_busy() {
    let said = quantities(&mut Drowned, &info(), &mut |_, _| {}).unwrap_err();
    assert!(said.contains("busy") && said.contains("calibrate again"), "{said}");
}

/// A device on which a load waits for others.
struct Crowded {
    others: AsPredicted,
}

impl Timer for Crowded {
    fn time(&mut self, probe: &Probe) -> Result<Timed, String> {
        if probe.file != "chase.lift" {
            return self.others.time(probe);
        }
        let size = |name: &str| probe.sizes[name];
        let is_far = size("N") > 1 << 24;
        let ns = match (size("T") > 1, is_far) {
            (false, false) => 150.0,
            (false, true) => 300.0,
            (true, false) => 260.0,
            (true, true) => 700.0,
        };
        Ok(Timed::kernel(0.01 + size("K") as f64 * ns * 1e-6))
    }
}

#[test]
fn latencies_are_measured_alone_and_in_a_crowd() {
    let others = AsPredicted::new(&machine("cuda"), None);
    let found = quantities(&mut Crowded { others }, &info(), &mut |_, _| {}).unwrap();
    let of = |name: &str| found.iter().find(|q| q.name == name).unwrap().value;
    let expected = [
        ("last.latency", 150.0),
        ("dram.latency", 300.0),
        ("last.loaded", 260.0),
        ("dram.loaded", 700.0),
    ];
    for (name, ns) in expected {
        assert!((of(name) / ns - 1.0).abs() < 1e-3, "{name}: {}", of(name));
    }
}

#[test]
fn a_busy_machine_is_told() {
    let mut timer = AsPredicted::new(&machine("cuda"), Some(60));
    let info = info();
    let said = quantities(&mut timer, &info, &mut |_, _| {}).unwrap_err();
    assert!(said.contains("busy") && said.contains("calibrate again"), "{said}");
}

/// A description holds on the machine that it is of, and what became slower is named. A busy machine says nothing about it.
#[test]
fn a_description_is_checked_where_nothing_else_goes_on() {
    let machine = machine("cuda");
    let info = info();
    let quantities =
        quantities(&mut AsPredicted::new(&machine, None), &info, &mut |_, _| {}).unwrap();
    let found = Description { quantities, ..machine.clone() };
    let same = differences(&mut AsPredicted::new(&machine, None), &info, &found).unwrap();
    assert!(same.iter().any(|(name, _)| name == "dram.rate"), "{same:?}");
    assert!(same.iter().all(|(_, ratio)| (0.9..1.1).contains(ratio)), "{same:?}");
    let slower = scaled(&machine, "dram.rate", 0.5);
    let other = differences(&mut AsPredicted::new(&slower, None), &info, &found).unwrap();
    let of = |name: &str| other.iter().find(|(own, _)| own == name).unwrap().1;
    assert!((of("dram.rate") - 0.5).abs() < 0.05 && (of("launch") - 1.0).abs() < 0.05, "{other:?}");
    let said = differences(&mut AsPredicted::new(&machine, Some(3)), &info, &found).unwrap_err();
    assert!(said.contains("busy") && said.contains("end other work"), "{said}");
}
