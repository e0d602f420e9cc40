//! A machine made up, and predictions for it.

#![allow(dead_code, reason = "no test uses everything")]
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

use std::collections::BTreeMap;

use lift_clock::{Description, FORMAT, KernelPrediction, Prediction, Quantity, plan, predict};
use lift_lower::Options;
use lift_runtime::Language;

/// A machine made up: what all have, and what GPUs or processors have alone.
pub fn machine(way: &str) -> Description {
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
        ("first.lines", 500.0),
        ("first.rounds", 230.0),
        ("dram.scattered", 2.5),
        ("last.parts", 70.0),
        ("last.changes", 25.0),
        ("last.loaded", 250.0),
        ("dram.loaded", 900.0),
        ("group.start", 80.0),
        ("barrier", 20.0),
        ("code", 4.0),
        ("unit.items", 2048.0),
        ("unit.groups", 32.0),
        ("unit.registers", 65536.0),
        ("unit.local_bytes", 100_000.0),
        ("local.rate", 250.0),
    ];
    let of_processors = [
        ("integer.rate", 30_000.0),
        ("division.rate", 30_000.0),
        ("fork", 0.005),
        ("first.rate", 20_000.0),
        ("first.capacity", 4e6),
        ("first.full", 1e7),
        ("first.crowded", 20.0),
        ("last.crowded", 5.0),
    ];
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

pub fn scaled(machine: &Description, name: &str, times: f64) -> Description {
    let mut other = machine.clone();
    for quantity in other.quantities.iter_mut().filter(|q| q.name == name) {
        quantity.value *= times;
    }
    assert_ne!(&other, machine, "there is no `{name}`");
    other
}

pub fn language(machine: &Description) -> Language {
    if machine.way == "cpu" { Language::C } else { Language::Cuda }
}

pub fn predicted(text: &str, sizes: &[(&str, i128)], machine: &Description) -> Prediction {
    let checked = lift_syntax::check_text("program", text);
    let def = checked.program.defs.last().unwrap_or_else(|| panic!("{}", checked.render(false)));
    let sizes: BTreeMap<String, i128> = sizes.iter().map(|(n, s)| (n.to_string(), *s)).collect();
    let options = Options { sizes: sizes.clone(), ..Options::default() };
    predict(&plan(def, &options, language(machine), machine).unwrap(), &sizes, machine).unwrap()
}

pub fn only(prediction: &Prediction) -> &KernelPrediction {
    assert_eq!(prediction.kernels.len(), 1);
    &prediction.kernels[0]
}

pub const SCALE: &str = "def scale[N](x: [f32; N]) -> [f32; N] = x |> map(\\v -> v * 2.0);";
pub const SUMS: &str =
    "def sums[M, N](x: [[f32; N]; M]) -> [f32; M] = x |> map(\\r -> r |> reduce(0.0, (+)));";

/// A grid that says itself which dimension is the innermost, so that nothing is read in another order.
pub fn of_points(element: &str) -> String {
    let inner = format!("generate(N, \\y -> y) |> mapGlb(0)(\\y -> {element})");
    format!(
        "def f[N](m: [[f32; N]; N]) -> [[f32; N]; N] = generate(N, \\x -> x) |> mapGlb(1)(\\x -> {inner});"
    )
}

/// Rows that are far apart, one for each work-item.
pub const ROWS: &str = "def f[M, K](m: [[f32; K]; M]) -> [f32; M] launch local(256) global(M) = m |> mapGlb(0)(reduceSeq(0.0, \\s v -> s + v));";
