//! `==` and `~=` of tests.

use std::fmt;

use lift_ir::Scalar;

use crate::number::ScalarValue;
use crate::value::Value;

/// How two values differ.
#[derive(Clone, PartialEq, Debug)]
pub enum Mismatch {
    /// They are not of one type.
    Type { actual: String, expected: String },
    /// Some of their scalars differ.
    Scalars {
        /// Where the first is, as one would write it after a name: `[3].0[1]`.
        path: String,
        actual: ScalarValue,
        expected: ScalarValue,
        differing: usize,
        total: usize,
        /// The largest difference between numbers.
        largest: f64,
    },
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Mismatch::Type { actual, expected } => {
                write!(f, "expected `{expected}`, found `{actual}`")
            }
            Mismatch::Scalars { path, actual, expected, differing, total, largest } => {
                let place = if path.is_empty() { String::new() } else { format!(" at `{path}`") };
                write!(f, "expected {expected}, found {actual}{place}")?;
                if *total > 1 {
                    write!(f, "; {differing} of {total} differ, by up to {largest:?}")?;
                }
                Ok(())
            }
        }
    }
}

impl std::error::Error for Mismatch {}

/// Exact: the same type and equal scalars, where `nan` equals `nan` and `0.0` equals `-0.0`.
/// Approximate: floats may differ by `ε * max(1, |expected|)`, ε 1e-5 for f32, 1e-2 for f16,
/// 1e-12 for f64.
pub fn compare(actual: &Value, expected: &Value, approximate: bool) -> Result<(), Mismatch> {
    let (found, wanted) = (actual.ty(), expected.ty());
    if found != wanted {
        return Err(Mismatch::Type { actual: found.to_string(), expected: wanted.to_string() });
    }
    let mut comparison = Comparison { approximate, ..Comparison::default() };
    comparison.values(actual, expected);
    match comparison.first {
        None => Ok(()),
        Some((path, actual, expected)) => Err(Mismatch::Scalars {
            path,
            actual,
            expected,
            differing: comparison.differing,
            total: comparison.total,
            largest: comparison.largest,
        }),
    }
}

#[derive(Clone, Copy)]
enum Step {
    Index(usize),
    Component(usize),
}

#[derive(Default)]
struct Comparison {
    approximate: bool,
    path: Vec<Step>,
    first: Option<(String, ScalarValue, ScalarValue)>,
    differing: usize,
    total: usize,
    largest: f64,
}

impl Comparison {
    fn values(&mut self, actual: &Value, expected: &Value) {
        match (actual, expected) {
            (Value::Scalar(a), Value::Scalar(b)) => self.scalars(*a, *b),
            _ => {
                let tuple = matches!(actual, Value::Tuple(_));
                for i in 0..actual.len() {
                    self.path.push(if tuple { Step::Component(i) } else { Step::Index(i) });
                    if let (Some(a), Some(b)) = (actual.get(i), expected.get(i)) {
                        self.values(&a, &b);
                    }
                    self.path.pop();
                }
            }
        }
    }

    fn scalars(&mut self, actual: ScalarValue, expected: ScalarValue) {
        self.total += 1;
        if agree(actual, expected, self.approximate) {
            return;
        }
        self.differing += 1;
        let difference = (actual.to_f64() - expected.to_f64()).abs();
        // A number and a nan are as far apart as can be.
        let difference = if difference.is_nan() { f64::INFINITY } else { difference };
        self.largest = self.largest.max(difference);
        if self.first.is_none() {
            let path = self.path.iter().map(|step| match step {
                Step::Index(i) => format!("[{i}]"),
                Step::Component(i) => format!(".{i}"),
            });
            self.first = Some((path.collect(), actual, expected));
        }
    }
}

fn agree(actual: ScalarValue, expected: ScalarValue, approximate: bool) -> bool {
    let epsilon = match expected.scalar() {
        Scalar::F16 => 1e-2,
        Scalar::F32 => 1e-5,
        Scalar::F64 => 1e-12,
        _ => return actual == expected,
    };
    let (a, b) = (actual.to_f64(), expected.to_f64());
    if a == b || (a.is_nan() && b.is_nan()) {
        return true;
    }
    approximate && (a - b).abs() <= epsilon * b.abs().max(1.0) && b.is_finite()
}
