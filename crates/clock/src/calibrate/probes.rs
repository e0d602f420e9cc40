//! The probes: small programs, and the operations that are put into one of them.

use std::collections::BTreeMap;

use super::{Probe, Runs, Way};

/// Chains of operations beside each other.
const STRANDS: usize = 8;

/// An operation to be timed: a line of a chain, and what of it is not the operation.
pub struct Step {
    pub name: &'static str,
    pub ty: &'static str,
    pub line: &'static str,
    /// How often the line does it.
    pub times: f64,
    /// Other operations of the line.
    pub others: &'static [&'static str],
}

impl Step {
    pub const FMA: Step = Step::plain("f32.fma", "f32", "@ * a + b");

    const fn plain(name: &'static str, ty: &'static str, line: &'static str) -> Step {
        Step { name, ty, line, times: 1.0, others: &[] }
    }

    /// Whether a machine does it in an instruction.
    pub fn is_quick(&self) -> bool {
        ["add", "mul", "fma"].iter().any(|kind| self.name.ends_with(kind))
    }

    const fn with(
        name: &'static str,
        ty: &'static str,
        line: &'static str,
        others: &'static [&'static str],
    ) -> Step {
        Step { name, ty, line, times: 1.0, others }
    }
}

/// Those that others are made of come first. Arguments are 1, and chains begin at 1 to 8: they go on without reaching infinity, nothing, or
/// any other value for which an operation goes a way of its own. Divisors change, as compilers take the reciprocal of one
/// that does not out of the chain.
pub const STEPS: [Step; 26] = [
    Step::FMA,
    Step::plain("f32.add", "f32", "@ + a"),
    Step::plain("f32.mul", "f32", "@ * a"),
    Step::plain("f32.div", "f32", "a / @"),
    Step::plain("f32.sqrt", "f32", "sqrt(@)"),
    Step::with("f32.rsqrt", "f32", "rsqrt(@ + a)", &["f32.add"]),
    Step::plain("f32.exp", "f32", "exp(-@)"),
    Step::with("f32.log", "f32", "log(@ + a)", &["f32.add"]),
    Step::plain("f32.sin", "f32", "sin(@)"),
    Step::plain("f32.cos", "f32", "cos(@)"),
    Step::plain("f32.tanh", "f32", "tanh(@)"),
    Step::with("f32.pow", "f32", "pow(@, a) + b", &["f32.add"]),
    Step { name: "i32.add", ty: "i32", line: "(@ ^ a) + b", times: 2.0, others: &[] },
    Step::with("i32.mul", "i32", "(@ * a) ^ b", &["i32.add"]),
    Step::with("i32.div", "i32", "@ / b + a", &["i32.add"]),
    Step::with("i32.rem", "i32", "@ % b + a", &["i32.add"]),
    Step::with("i32.divc", "i32", "@ / 7 + a", &["i32.add"]),
    // What the bits of a float are is known without an instruction.
    Step::with("convert.float", "i32", "(to_bits(@ as f32) as i32) ^ b", &["i32.add"]),
    Step::with("convert.integer", "f32", "((@ as i32) as f32) + a", &["convert.float", "f32.add"]),
    Step::plain("f64.fma", "f64", "@ * a + b"),
    Step::plain("f64.add", "f64", "@ + a"),
    Step::plain("f64.mul", "f64", "@ * a"),
    Step::plain("f64.div", "f64", "a / @"),
    Step { name: "i64.add", ty: "i64", line: "(@ ^ a) + b", times: 2.0, others: &[] },
    Step::with("i64.mul", "i64", "(@ * a) ^ b", &["i64.add"]),
    Step::with("i64.rem", "i64", "@ % b + a", &["i64.add"]),
];

/// Operations whose latency matters: sums and folds carry them from one turn to the next.
pub const CHAINED: [&str; 6] = ["f32.add", "f32.mul", "f32.fma", "i32.add", "f64.add", "f64.fma"];

pub const LAUNCH: &str = include_str!("../../probes/launch.lift");
pub const STREAM1: &str = include_str!("../../probes/stream1.lift");
pub const STREAM4: &str = include_str!("../../probes/stream4.lift");
pub const TABLE: &str = include_str!("../../probes/table.lift");
pub const LINES: &str = include_str!("../../probes/lines.lift");
pub const SCATTER: &str = include_str!("../../probes/scatter.lift");
pub const CHANGES: &str = include_str!("../../probes/changes.lift");
pub const PARTS: &str = include_str!("../../probes/parts.lift");
pub const CROWD: &str = include_str!("../../probes/crowd.lift");
pub const APART: &str = include_str!("../../probes/apart.lift");
const CHASE: &str = include_str!("../../probes/chase.lift");
pub const EXCHANGE: &str = include_str!("../../probes/exchange.lift");
pub const LOOP: &str = include_str!("../../probes/loop.lift");
const CHAIN: &str = include_str!("../../probes/chain.lift");
const OPERATION: &str = include_str!("../../probes/operation.lift");

pub fn probe(file: &'static str, text: &str, sizes: &[(&str, i128)]) -> Probe {
    let sizes: BTreeMap<String, i128> = sizes.iter().map(|(n, s)| (n.to_string(), *s)).collect();
    Probe { file, text: text.to_string(), sizes, way: None, runs: Runs::Warm }
}

/// So many loads, each of which waits for the one before, by one work-item or by many.
pub fn chase(length: i128, loads: i128, items: i128) -> Probe {
    let way = if items == 1 { Way::Far } else { Way::Rows(items) };
    let probe = probe("chase.lift", CHASE, &[("N", length), ("K", loads), ("T", items)]);
    Probe { way: Some(way), ..probe }
}

/// A loop around an operation.
pub fn chain(step: &Step) -> String {
    CHAIN.replace("TYPE", step.ty).replace("STEP", &step.line.replace('@', "v"))
}

/// So many lines for each of so many numbers: in one chain where the latency is wanted, otherwise in several, none of
/// which waits for another.
pub fn operation(step: &Step, before: &str, lines: usize, n: i128) -> Probe {
    lines_of(step, before, lines, n, STRANDS)
}

pub fn lines_of(step: &Step, before: &str, lines: usize, n: i128, strands: usize) -> Probe {
    let mut text = format!("{before} let v0 = v;");
    for k in 1..strands {
        text += &format!(" let v{k} = v{} * b + a;", k - 1);
    }
    for k in 0..lines {
        let v = format!("v{}", k % strands);
        text += &format!(" let {v} = {};", step.line.replace('@', &v));
    }
    let sum: Vec<String> = (0..strands).map(|k| format!("v{k}")).collect();
    let text = format!("{text} let v = {};", sum.join(" + "));
    let text = OPERATION.replace("TYPE", step.ty).replace("STEPS", &text);
    probe("operation.lift", &text, &[("N", n)])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compilers take the reciprocal of a divisor that stays the same out of a chain, and a product is left.
    #[test]
    fn divisors_change() {
        for step in STEPS.iter().filter(|s| s.name.starts_with('f') && s.name.ends_with(".div")) {
            let (_, divisor) = step.line.split_once('/').expect("a division");
            assert!(divisor.contains('@'), "{}", step.line);
        }
    }
}
