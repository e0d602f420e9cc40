//! Every operation on every type of numbers has a time, so that no program is left unplanned for want of one.

#![allow(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

mod common;

use common::{machine, predicted};
use lift_clock::{Description, like};
use lift_ir::{Math, Operands, Scalar};
use lift_runtime::Language;

const NUMBERS: [Scalar; 11] = [
    Scalar::I8,
    Scalar::I16,
    Scalar::I32,
    Scalar::I64,
    Scalar::U8,
    Scalar::U16,
    Scalar::U32,
    Scalar::U64,
    Scalar::F16,
    Scalar::F32,
    Scalar::F64,
];

/// Those that come with Lift, and one of a processor.
fn machines() -> Vec<Description> {
    let gpus = [Language::Cuda, Language::OpenCl].map(|way| like(way, 100_000).unwrap());
    gpus.into_iter().chain([machine("cpu")]).collect()
}

fn has_a_time(expr: &str, from: Scalar, to: Scalar) {
    let text = format!("def f[N](x: [{from}; N]) -> [{to}; N] = x |> map(\\v -> {expr});");
    for machine in machines() {
        let ms = predicted(&text, &[("N", 1 << 20)], &machine).kernel_ms();
        assert!(ms > 0.0 && ms.is_finite(), "{text} on {}: {ms}", machine.device);
    }
}

#[test]
fn every_function_has_a_time() {
    for math in Math::ALL {
        let operands = match math.operands() {
            Operands::Choice => "v == v, v, v".to_string(),
            Operands::Vectors => continue,
            _ => vec!["v"; math.arity()].join(", "),
        };
        for scalar in NUMBERS.into_iter().filter(|scalar| math.operands().take(*scalar)) {
            has_a_time(&format!("{}({operands})", math.name()), scalar, math.result(scalar));
        }
    }
}

#[test]
fn every_operator_has_a_time() {
    for scalar in NUMBERS {
        for operator in ["+", "-", "*", "/", "%"] {
            has_a_time(&format!("v {operator} (v + v)"), scalar, scalar);
        }
        if scalar.is_integer() {
            for operator in ["&", "|", "^", "<<", ">>"] {
                has_a_time(&format!("v {operator} v"), scalar, scalar);
            }
        }
    }
}
