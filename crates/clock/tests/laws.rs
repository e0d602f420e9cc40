//! What holds of every prediction, whatever the program and the machine.

#![allow(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

mod common;

use std::collections::BTreeMap;

use common::{SCALE, SUMS, language, machine, only, predicted, scaled};
use lift_clock::bodies::{SIZES, Set, programs};
use lift_clock::{plan, predict};
use lift_lower::Options;

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
        ("last.parts", "parts"),
        ("first.rate", "first"),
        ("first.lines", "lines"),
        ("first.rounds", "banks"),
        ("pipe.rate", "arithmetic"),
        ("integer.rate", "integer"),
        ("division.rate", "division"),
        ("first.crowded", "crowded"),
        ("last.crowded", "crowded out"),
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
    let everywhere = "launch launch.host allocation transfer.to.latency transfer.to.rate transfer.from.latency \
                      transfer.from.rate dram.rate dram.write_weight last.rate last.capacity last.full pipe.rate units";
    let of_gpus = "first.rate first.lines first.latency last.latency dram.latency f32.add.latency code iteration \
                   group.start unit.items unit.groups unit.registers unit.local_bytes";
    for (way, more) in
        [("cuda", of_gpus), ("cpu", "integer.rate fork first.rate first.capacity first.full")]
    {
        for name in everywhere.split(' ').chain(more.split(' ')) {
            let mut machine = machine(way);
            machine.quantities.retain(|q| q.name != name);
            let checked = lift_syntax::check_text("program", SCALE);
            let def = checked.program.defs.last().unwrap();
            let sizes = BTreeMap::from([("N".to_string(), 1024)]);
            let options = Options { sizes: sizes.clone(), ..Options::default() };
            let plan = plan(def, &options, language(&machine), &machine).unwrap();
            let said = predict(&plan, &sizes, &machine).expect_err(name);
            let named = said.contains(&format!("`{name}`"));
            assert!(named && said.contains("lift calibrate"), "{way}, {name}: {said}");
        }
    }
}

/// Quantities that no machine has are refused, not printed as times.
#[test]
fn times_are_finite() {
    let mut machine = machine("cuda");
    machine.quantities.iter_mut().for_each(|q| q.value = 1e308);
    let checked = lift_syntax::check_text("program", SCALE);
    let def = checked.program.defs.last().unwrap();
    let sizes = BTreeMap::from([("N".to_string(), 1024)]);
    let options = Options { sizes: sizes.clone(), ..Options::default() };
    let plan = plan(def, &options, language(&machine), &machine).unwrap();
    let said = predict(&plan, &sizes, &machine).expect_err("no machine is so");
    assert!(said.contains("no finite time") && said.contains("lift calibrate"), "{said}");
}

#[test]
fn a_program_adds_up() {
    let machine = machine("cuda");
    for (text, sizes) in [(SCALE, vec![("N", 1 << 20)]), (SUMS, vec![("M", 3000), ("N", 5000)])] {
        let whole = predicted(text, &sizes, &machine);
        let launches: f64 = whole.kernels.iter().map(|k| k.runs).sum();
        assert_eq!(whole.launch_ms, 0.01 * launches);
        let parts = whole.allocation_ms + whole.transfer_ms + whole.launch_ms + whole.kernel_ms();
        assert!((whole.total_ms() / parts - 1.0).abs() < 1e-12);
        assert_eq!(whole.resident_ms(), whole.launch_ms + whole.kernel_ms());
    }
}
