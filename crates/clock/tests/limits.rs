//! Sizes beyond all machines: a time or a sentence, never an overflow.

#![allow(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

mod common;

use std::collections::BTreeMap;

use common::{SCALE, SUMS, language, machine};
use lift_clock::{plan, predict};
use lift_lower::Options;

const PROGRAMS: [&str; 6] = [
    SCALE,
    SUMS,
    "def turned[M, N](x: [[f32; M]; N]) -> [[f32; N]; M] = transpose(x);",
    "def prefixes[N](x: [f32; N]) -> [f32; N] = scan(0.0, (+), x);",
    "def blurred[M, N](x: [[f32; M]; N]) -> [[f32; M]; N] =
       x |> pad2(1, 1, clamp) |> slide2(3, 1) |> map(map(\\w -> reduce(0.0, (+), join(w))));",
    "def points[; M = 8, N = 8]() -> f32 =
       reduce(0.0, (+), generate(M, \\i -> reduce(0.0, (+), generate(N, \\j -> (i as f32) * (j as f32)))));",
];

/// The message, or the time in milliseconds.
fn asked(text: &str, size: i128, way: &str) -> Result<f64, String> {
    let machine = machine(way);
    let checked = lift_syntax::check_text("program", text);
    let def = checked.program.defs.last().unwrap();
    let sizes: BTreeMap<String, i128> =
        ["M", "N"].into_iter().map(|name| (name.to_string(), size)).collect();
    let options = Options { sizes: sizes.clone(), ..Options::default() };
    let plan = plan(def, &options, language(&machine), &machine).map_err(|e| e.to_string())?;
    Ok(predict(&plan, &sizes, &machine)?.total_ms())
}

#[test]
fn sizes_beyond_all_machines_have_a_time_or_a_sentence() {
    for text in PROGRAMS {
        for way in ["cuda", "cpu"] {
            for power in [28, 31, 32, 47, 54, 61, 62, 63] {
                for size in [(1i128 << power) - 1, 1i128 << power] {
                    match asked(text, size.min(i64::MAX.into()), way) {
                        Ok(ms) => assert!(ms.is_finite() && ms > 0.0, "{text} {size}"),
                        Err(said) => assert!(!said.contains("ill-typed"), "{said}"),
                    }
                }
            }
        }
    }
}

#[test]
fn arrays_without_addresses_are_refused_by_name() {
    for way in ["cuda", "cpu"] {
        let said = asked(SCALE, 1 << 60, way).unwrap_err();
        assert!(said.starts_with("the array `x` takes 4611686018427387904 bytes"), "{said}");
    }
}
