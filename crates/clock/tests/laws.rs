//! What holds of every prediction, whatever the program and the machine.

#![allow(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

use std::collections::BTreeMap;

use lift_clock::bodies::{SIZES, Set, programs};
use lift_clock::calibrate::{Probe, Timed, Timer, quantities};
use lift_clock::{Description, FORMAT, KernelPrediction, Prediction, Quantity, plan, predict};
use lift_lower::Options;
use lift_runtime::{DeviceInfo, Language};

/// A machine made up: what all have, and what GPUs or processors have alone.
fn machine(way: &str) -> Description {
    let quantity = |name: &str, value: f64| Quantity {
        name: name.to_string(),
        value,
        unit: String::new(),
        standard_error: 0.0,
        probe: "made up".to_string(),
        samples: Vec::new(),
    };
    let everywhere = [
        ("launch", 0.003),
        ("launch.host", 0.01),
        ("compile", 30.0),
        ("allocation", 0.01),
        ("pipe.rate", 30_000.0),
        ("f32.fma", 1.0),
        ("f32.add", 1.0),
        ("f32.mul", 1.0),
        ("f32.div", 10.0),
        ("f32.exp", 12.0),
        ("i32.add", 1.0),
        ("i32.mul", 2.0),
        ("i32.div", 40.0),
        ("i32.rem", 40.0),
        ("i32.divc", 6.0),
        ("convert.float", 4.0),
        ("convert.integer", 6.0),
        ("dram.rate", 3000.0),
        ("dram.write_weight", 1.1),
        ("last.rate", 6000.0),
        ("last.capacity", 3e7),
        ("last.full", 5e7),
        ("f32.add.latency", 2.5),
        ("first.latency", 30.0),
        ("last.latency", 150.0),
        ("dram.latency", 600.0),
        ("iteration", 1.0),
        ("transfer.to.latency", 0.02),
        ("transfer.to.rate", 10.0),
        ("transfer.from.latency", 0.02),
        ("transfer.from.rate", 5.0),
        ("units", 100.0),
    ];
    let of_gpus = [
        ("first.rate", 20_000.0),
        ("first.lines", 230.0),
        ("last.loaded", 250.0),
        ("dram.loaded", 900.0),
        ("group.start", 80.0),
        ("code", 4.0),
        ("unit.items", 2048.0),
        ("unit.groups", 32.0),
        ("unit.registers", 65536.0),
        ("unit.local_bytes", 100_000.0),
        ("local.rate", 250.0),
    ];
    let of_processors = [("integer.rate", 30_000.0)];
    let more: &[(&str, f64)] = if way == "cpu" { &of_processors } else { &of_gpus };
    Description {
        format: FORMAT,
        device: format!("{way} made up"),
        way: way.to_string(),
        flags: String::new(),
        date: "2026-11-17".to_string(),
        quantities: everywhere.iter().chain(more).map(|(n, v)| quantity(n, *v)).collect(),
    }
}

fn scaled(machine: &Description, name: &str, times: f64) -> Description {
    let mut other = machine.clone();
    for quantity in other.quantities.iter_mut().filter(|q| q.name == name) {
        quantity.value *= times;
    }
    assert_ne!(&other, machine, "there is no `{name}`");
    other
}

fn language(machine: &Description) -> Language {
    if machine.way == "cpu" { Language::C } else { Language::Cuda }
}

fn predicted(text: &str, sizes: &[(&str, i128)], machine: &Description) -> Prediction {
    let checked = lift_syntax::check_text("program", text);
    let def = checked.program.defs.last().unwrap_or_else(|| panic!("{}", checked.render(false)));
    let sizes: BTreeMap<String, i128> = sizes.iter().map(|(n, s)| (n.to_string(), *s)).collect();
    let options = Options { sizes: sizes.clone(), ..Options::default() };
    predict(&plan(def, &options, language(machine)).unwrap(), &sizes, machine).unwrap()
}

fn only(prediction: &Prediction) -> &KernelPrediction {
    assert_eq!(prediction.kernels.len(), 1);
    &prediction.kernels[0]
}

const SCALE: &str = "def scale[N](x: [f32; N]) -> [f32; N] = x |> map(\\v -> v * 2.0);";
const SUMS: &str =
    "def sums[M, N](x: [[f32; N]; M]) -> [f32; M] = x |> map(\\r -> r |> reduce(0.0, (+)));";

#[test]
fn a_launch_is_bound_by_its_longest_component() {
    for machine in [machine("cuda"), machine("cpu")] {
        for text in programs(Set::A, 20, 5) {
            for (height, width) in [SIZES[0], SIZES[8], SIZES[16]] {
                let whole = predicted(&text, &[("H", height), ("W", width)], &machine);
                let time = &only(&whole).time;
                let mut sorted: Vec<f64> = time.components.values().copied().collect();
                sorted.sort_by(|a, b| b.total_cmp(a));
                let (most, next) = (sorted[0], sorted[1]);
                assert!(most <= time.bound_ms && time.bound_ms <= 1.25 * most, "{text} {time:?}");
                if next < most / 2.0 {
                    assert_eq!(time.bound_ms, most, "{text}");
                }
                assert_eq!(time.ms(), time.launch_ms + time.bound_ms + time.tail_ms);
                assert!(time.tail_ms >= 0.0 && time.ms().is_finite());
            }
        }
    }
}

#[test]
fn half_a_rate_doubles_its_component_and_no_other() {
    let rates = [
        ("dram.rate", "dram"),
        ("last.rate", "last"),
        ("first.rate", "first"),
        ("first.lines", "lines"),
        ("pipe.rate", "arithmetic"),
        ("integer.rate", "integer"),
    ];
    for machine in [machine("cuda"), machine("cpu")] {
        for text in programs(Set::A, 10, 6).iter().map(String::as_str).chain([SCALE, SUMS]) {
            let sizes = [("H", 4096), ("W", 8192), ("M", 3000), ("N", 100_000)];
            let used: Vec<(&str, i128)> = sizes
                .into_iter()
                .filter(|(name, _)| text.contains(&format!("; {name}]")))
                .collect();
            let before = predicted(text, &used, &machine);
            for (rate, component) in rates {
                if machine.find(rate).is_none() {
                    continue;
                }
                let after = predicted(text, &used, &scaled(&machine, rate, 0.5));
                for (a, b) in before.kernels.iter().zip(&after.kernels) {
                    for (name, ms) in &a.time.components {
                        let times = if *name == component { 2.0 } else { 1.0 };
                        assert_eq!(
                            b.time.components[name],
                            ms * times,
                            "{name} with half of {rate}: {text}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn half_the_memory_rate_doubles_what_memory_binds() {
    let machine = machine("cuda");
    let before = predicted(SCALE, &[("N", 1 << 28)], &machine);
    assert_eq!(only(&before).time.bound_by, "dram");
    let after = predicted(SCALE, &[("N", 1 << 28)], &scaled(&machine, "dram.rate", 0.5));
    let ratio = only(&after).time.bound_ms / only(&before).time.bound_ms;
    assert!((ratio - 2.0).abs() < 0.1, "{ratio}");
}

#[test]
fn what_is_read_and_written_is_counted_once() {
    let n = 1 << 24;
    for machine in [machine("cuda"), machine("cpu")] {
        let whole = predicted(SCALE, &[("N", n)], &machine);
        let counts = &only(&whole).counts;
        let bytes = 4.0 * n as f64;
        for found in [counts.read.distinct, counts.written.distinct, counts.read.asked] {
            assert!((found / bytes - 1.0).abs() < 0.01, "{found} for {bytes} on {}", machine.way);
        }
        assert_eq!(counts.operations.get("f32.mul"), Some(&(n as f64)), "{:?}", counts.operations);
    }
}

/// Of a group that is larger than its grid most warps have nothing to do. They are neither taken for the others where few
/// are followed, nor does their idleness make a chain of steps shorter.
#[test]
fn idle_warps_count_for_nothing() {
    let text = "def f[M, N](x: [[f32; N]; M]) -> [f32; M] launch local(256) global(256) =
      x |> mapGlb(0)(\\r -> r |> reduceSeq(0.0, (+)));";
    for n in [64, 1 << 14] {
        let latency = |m: i128| {
            let whole = predicted(text, &[("M", m), ("N", n)], &machine("cuda"));
            only(&whole).time.components["latency"]
        };
        let (few, all) = (latency(4), latency(256));
        assert!((few / all - 1.0).abs() < 0.25, "{few} {all} for {n}");
    }
}

/// A warp that only computes, and leaves the store of a group's sum to another, is not idle.
#[test]
fn warps_that_touch_no_memory_count() {
    let text = "def f[; N = 4](s: f32) -> f32 = generate(N, \\i -> exp(s + (i as f32))) |> reduce(0.0, (+));";
    let n = 1 << 20;
    let whole = predicted(text, &[("N", n)], &machine("cuda"));
    let counted = |k: &KernelPrediction| k.counts.operations.get("f32.exp").copied().unwrap_or(0.0);
    let all: f64 = whole.kernels.iter().map(counted).sum();
    assert!((all / n as f64 - 1.0).abs() < 0.05, "{all} of {n}");
}

#[test]
fn equal_accesses_are_one() {
    // The two indices are the same, and so is the third, which is one element.
    let text = "def f[H, W](m: [[f32; W]; H]) -> [[f32; W]; H] =
      generate(H, \\x -> generate(W, \\y -> m[x][y] + m[x % H][y % W] * m[7 % H][9 % W]));";
    let whole = predicted(text, &[("H", 2048), ("W", 2048)], &machine("cuda"));
    let read = only(&whole).counts.read;
    let bytes = 4.0 * 2048.0 * 2048.0;
    assert!((read.distinct / bytes - 1.0).abs() < 0.02, "{read:?}");
    assert!(read.asked > 1.9 * bytes, "both are asked for: {read:?}");
}

#[test]
fn columns_ask_for_a_sector_each() {
    let text = "def f[N](m: [[f32; N]; N]) -> [[f32; N]; N] = generate(N, \\x -> generate(N, \\y -> m[y][x]));";
    let whole = predicted(text, &[("N", 2048)], &machine("cuda"));
    let read = only(&whole).counts.read;
    let bytes = 4.0 * 2048.0 * 2048.0;
    assert!((read.asked / (8.0 * bytes) - 1.0).abs() < 0.02, "32 bytes for each of four: {read:?}");
    assert!((read.distinct / bytes - 1.0).abs() < 0.02, "{read:?}");
}

#[test]
fn lanes_that_are_apart_take_a_line_each() {
    let rows = "def f[N](m: [[f32; N]; N]) -> [[f32; N]; N] = generate(N, \\x -> generate(N, \\y -> m[x][y] + 1.0));";
    let columns = rows.replace("m[x][y]", "m[y][x]");
    let lines = |text: &str| {
        let whole = predicted(text, &[("N", 2048)], &machine("cuda"));
        let kernel = only(&whole);
        (kernel.counts.lines * 32.0 / (2048.0 * 2048.0), kernel.time.components["lines"])
    };
    let ((near, soon), (apart, late)) = (lines(rows), lines(&columns));
    assert!((near - 2.0).abs() < 0.05, "a line is loaded and one stored: {near}");
    assert!((apart - 33.0).abs() < 0.5, "one for each lane, and one stored: {apart}");
    assert!(late > 15.0 * soon, "{late} and {soon}");
}

/// A load waits longer where all units load than where one does alone.
#[test]
fn a_crowd_waits_longer() {
    let copy = "def f[H, W](m: [[f32; W]; H]) -> [[f32; W]; H] = generate(H, \\x -> generate(W, \\y -> m[x][y] + 1.0));";
    let machine = machine("cuda");
    let latency = |height: i128, width: i128, machine: &Description| {
        let whole = predicted(copy, &[("H", height), ("W", width)], machine);
        only(&whole).time.components["latency"]
    };
    let crowded = scaled(&machine, "dram.loaded", 2.0);
    let (before, after) = (latency(8192, 8192, &machine), latency(8192, 8192, &crowded));
    assert!(after > 1.5 * before, "{after} and {before}");
    assert_eq!(latency(32, 32, &machine), latency(32, 32, &crowded), "what is in the cache");
    // One group alone has the latency of one load, whatever others would wait.
    let far = scaled(&scaled(&machine, "last.capacity", 1e-9), "last.full", 1e-9);
    let alone = latency(1, 32, &far);
    let in_a_crowd = latency(1, 32, &scaled(&far, "dram.loaded", 2.0));
    assert!(in_a_crowd < 1.01 * alone, "{in_a_crowd} and {alone}");
}

#[test]
fn conversions_have_two_ways() {
    let counted = |text: &str| {
        let whole = predicted(text, &[("N", 1 << 20)], &machine("cuda"));
        let operations = &only(&whole).counts.operations;
        ["convert.float", "convert.integer"]
            .map(|name| operations.get(name).copied().unwrap_or(0.0))
    };
    let n = f64::from(1 << 20);
    let to_float = "def f[N](x: [i32; N]) -> [f32; N] = x |> map(\\v -> v as f32);";
    let to_integer = "def f[N](x: [f32; N]) -> [i32; N] = x |> map(\\v -> v as i32);";
    assert_eq!(counted(to_float), [n, 0.0]);
    assert_eq!(counted(to_integer), [0.0, n]);
    // A description of before has one quantity for both.
    let mut machine = machine("cuda");
    machine.quantities.retain(|q| q.name != "convert.integer");
    for quantity in machine.quantities.iter_mut().filter(|q| q.name == "convert.float") {
        quantity.name = "convert".to_string();
    }
    let whole = predicted(to_integer, &[("N", 1 << 20)], &machine);
    assert!(!only(&whole).time.assumed.iter().any(|t| t.contains("convert")));
}

#[test]
fn repeated_launches_count() {
    let text =
        "def f[N](x: [f32; N]) -> [f32; N] = iterate(50, \\y -> y |> map(\\v -> v + 1.0), x);";
    let once = predicted(SCALE, &[("N", 1 << 20)], &machine("cuda"));
    let whole = predicted(text, &[("N", 1 << 20)], &machine("cuda"));
    let runs: f64 = whole.kernels.iter().map(|k| k.runs).sum();
    assert!(runs >= 1.0 && whole.kernel_ms() > 5.0 * once.kernel_ms(), "{runs} runs");
}

#[test]
fn what_is_not_known_is_told() {
    let text = "def f[N](x: [f32; N], at: [i32; N]) -> [f32; N] = at |> map(\\i -> x[i]);";
    let whole = predicted(text, &[("N", 1 << 20)], &machine("cuda"));
    let told: Vec<&String> = only(&whole).time.assumed.iter().collect();
    assert!(told.iter().any(|t| t.contains("anywhere, by data")), "{told:?}");
}

#[test]
fn a_missing_quantity_is_named() {
    let mut machine = machine("cuda");
    machine.quantities.retain(|q| q.name != "dram.latency");
    let checked = lift_syntax::check_text("program", SCALE);
    let def = checked.program.defs.last().unwrap();
    let sizes = BTreeMap::from([("N".to_string(), 1024)]);
    let options = Options { sizes: sizes.clone(), ..Options::default() };
    let said =
        predict(&plan(def, &options, Language::Cuda).unwrap(), &sizes, &machine).unwrap_err();
    assert!(said.contains("`dram.latency`") && said.contains("lift calibrate"), "{said}");
}

/// A device that takes exactly as long as predicted; every so many probes it is busy with something else.
struct AsPredicted {
    machine: Description,
    probes: usize,
    busy_after: Option<usize>,
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
        let kernel_ms = predicted(&probe.text, &sizes, &self.machine).kernel_ms() * slower;
        Ok(Timed { kernel_ms, ..Timed::default() })
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
    let mut timer = AsPredicted { machine: machine.clone(), probes: 0, busy_after: None };
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
        "last.capacity",
        "first.lines",
        "convert.float",
        "convert.integer",
    ] {
        let ratio = of(name) / machine.get(name).unwrap();
        assert!((0.85..1.15).contains(&ratio), "{name}: {} is {ratio} of what it is", of(name));
    }
    for quantity in &found {
        assert!(quantity.value.is_finite() && quantity.value >= 0.0, "{quantity:?}");
    }
}

/// A device on which nothing takes any time beside something else that goes on.
struct Drowned;

impl Timer for Drowned {
    fn time(&mut self, _: &Probe) -> Result<Timed, String> {
        Ok(Timed { kernel_ms: 8.0, ..Timed::default() })
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
        Ok(Timed { kernel_ms: 0.01 + size("K") as f64 * ns * 1e-6, ..Timed::default() })
    }
}

#[test]
fn latencies_are_measured_alone_and_in_a_crowd() {
    let others = AsPredicted { machine: machine("cuda"), probes: 0, busy_after: None };
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
    let mut timer = AsPredicted { machine: machine("cuda"), probes: 0, busy_after: Some(60) };
    let info = info();
    let said = quantities(&mut timer, &info, &mut |_, _| {}).unwrap_err();
    assert!(said.contains("busy") && said.contains("calibrate again"), "{said}");
}
