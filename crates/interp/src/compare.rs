//! `==` and `~=` of tests.

use std::fmt;

use lift_ir::{Scalar, Type};

use crate::buffer::Buffer;
use crate::number::{Element, ScalarValue, each_scalar};
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
    /// One of them cannot be laid out in memory.
    TooLarge(String),
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
            Mismatch::TooLarge(why) => write!(f, "cannot compare: {why}"),
        }
    }
}

impl std::error::Error for Mismatch {}

/// Exact: the same type and equal scalars, where `nan` equals `nan` and `0.0` equals `-0.0`.
/// Approximate: floats may differ by `ε * max(1, |expected|)`, ε 1e-5 for f32, 1e-2 for f16,
/// 1e-12 for f64.
pub fn compare(actual: &Value, expected: &Value, approximate: bool) -> Result<(), Mismatch> {
    let tolerance = if approximate { Tolerance::Each } else { Tolerance::None };
    compare_leaves(actual, expected, tolerance)
}

/// As approximate, and floats may also differ by 10 ε of the mean size of those beside them: sums in another
/// order err by what was added, however small the sum.
pub fn compare_sums(actual: &Value, expected: &Value) -> Result<(), Mismatch> {
    compare_leaves(actual, expected, Tolerance::Mean)
}

/// By how much floats may differ.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tolerance {
    None,
    Each,
    Mean,
}

fn compare_leaves(actual: &Value, expected: &Value, tolerance: Tolerance) -> Result<(), Mismatch> {
    let (found, wanted) = (actual.ty(), expected.ty());
    if found != wanted {
        return Err(Mismatch::Type { actual: found.to_string(), expected: wanted.to_string() });
    }
    let leaves = |value: &Value| value.buffers().map_err(|e| Mismatch::TooLarge(e.to_string()));
    let (actual, expected) = (leaves(actual)?, leaves(expected)?);
    let total = expected.iter().map(Buffer::len).sum();
    let (mut first, mut differing, mut largest) = (None, 0, 0.0f64);
    for (leaf, (actual, expected)) in actual.iter().zip(&expected).enumerate() {
        let allowed = Allowed::of(expected, tolerance);
        let Some(index) = first_difference(actual, expected, allowed) else { continue };
        first.get_or_insert_with(|| {
            (path(&wanted, leaf, index), actual.at(index), expected.at(index))
        });
        for i in index..expected.len() {
            let (a, b) = (actual.at(i).to_f64(), expected.at(i).to_f64());
            if !agree(actual.at(i), expected.at(i), allowed) {
                differing += 1;
                // A number and a nan are as far apart as can be.
                let difference = (a - b).abs();
                largest = largest.max(if difference.is_nan() { f64::INFINITY } else { difference });
            }
        }
    }
    match first {
        None => Ok(()),
        Some((path, actual, expected)) => {
            Err(Mismatch::Scalars { path, actual, expected, differing, total, largest })
        }
    }
}

/// How far floats may be from the expected ones: `absolute`, or `relative` to the expected one.
#[derive(Clone, Copy)]
struct Allowed {
    absolute: f64,
    relative: f64,
}

impl Allowed {
    fn of(expected: &Buffer, tolerance: Tolerance) -> Allowed {
        let epsilon = match (tolerance, expected.scalar()) {
            (Tolerance::None, _) => 0.0,
            (_, Scalar::F16) => 1e-2,
            (_, Scalar::F32) => 1e-5,
            (_, Scalar::F64) => 1e-12,
            _ => 0.0,
        };
        let mean = if tolerance == Tolerance::Mean { mean_size(expected) } else { 0.0 };
        Allowed { absolute: epsilon * f64::max(1.0, 10.0 * mean), relative: epsilon }
    }

    #[inline]
    fn includes(self, actual: f64, expected: f64) -> bool {
        let most = f64::max(self.absolute, self.relative * expected.abs());
        // Not where both are infinite, nor where one is nan.
        (actual - expected).abs() <= most && most < f64::INFINITY
    }
}

/// Of the finite ones.
fn mean_size(buffer: &Buffer) -> f64 {
    fn mean<T: Element>(xs: &[T]) -> f64 {
        let sizes = xs.iter().map(|x| x.scalar().to_f64().abs()).filter(|size| size.is_finite());
        let (sum, count) = sizes.fold((0.0, 0.0), |(sum, count), size| (sum + size, count + 1.0));
        sum / f64::max(count, 1.0)
    }
    each_scalar!(buffer, Buffer(xs) => mean(xs))
}

/// The place of the first element that is not as expected.
fn first_difference(actual: &Buffer, expected: &Buffer, allowed: Allowed) -> Option<usize> {
    fn first<T: Element>(actual: &Buffer, expected: &[T], allowed: Allowed) -> Option<usize> {
        let actual = actual.as_slice::<T>()?;
        // Most are as expected, which is soon seen of many at once.
        const MANY: usize = 1024;
        let near = |(a, b): (&T, &T)| allowed.includes(a.scalar().to_f64(), b.scalar().to_f64());
        let all_near = |(a, b): &(&[T], &[T])| {
            T::SCALAR.is_float() && a.iter().zip(*b).fold(true, |all, pair| all & near(pair))
        };
        let chunks = actual.chunks(MANY).zip(expected.chunks(MANY)).enumerate();
        for (chunk, (a, b)) in chunks.filter(|(_, chunk)| !all_near(chunk)) {
            let mut pairs = a.iter().zip(b);
            if let Some(i) = pairs.position(|(a, b)| !agree(a.scalar(), b.scalar(), allowed)) {
                return Some(chunk * MANY + i);
            }
        }
        None
    }
    each_scalar!(expected, Buffer(xs) => first(actual, xs, allowed))
}

#[inline]
fn agree(actual: ScalarValue, expected: ScalarValue, allowed: Allowed) -> bool {
    if !expected.scalar().is_float() {
        return actual == expected;
    }
    let (a, b) = (actual.to_f64(), expected.to_f64());
    a == b || (a.is_nan() && b.is_nan()) || allowed.includes(a, b)
}

/// Where an element of a leaf is, as one would write it after a name.
fn path(ty: &Type, leaf: usize, index: usize) -> String {
    match ty {
        Type::Scalar(_) => String::new(),
        Type::Vector(..) => format!("[{index}]"),
        Type::Array(element, _) => {
            let inner = leaf_length(element, leaf).max(1);
            format!("[{}]{}", index / inner, path(element, leaf, index % inner))
        }
        Type::Tuple(components) => match component(components, leaf) {
            Some((i, component, leaf)) => format!(".{i}{}", path(component, leaf, index)),
            None => String::new(),
        },
    }
}

/// How many scalars a leaf of the type has.
fn leaf_length(ty: &Type, leaf: usize) -> usize {
    let length =
        |size: &lift_nat::Nat| size.as_int().and_then(|n| usize::try_from(n).ok()).unwrap_or(0);
    match ty {
        Type::Scalar(_) => 1,
        Type::Vector(_, width) => length(width),
        Type::Array(element, size) => length(size).saturating_mul(leaf_length(element, leaf)),
        Type::Tuple(components) => component(components, leaf)
            .map_or(0, |(_, component, leaf)| leaf_length(component, leaf)),
    }
}

/// Which component a leaf of a tuple is in, and which leaf of it.
fn component(components: &[Type], mut leaf: usize) -> Option<(usize, &Type, usize)> {
    for (i, component) in components.iter().enumerate() {
        let leaves = leaf_count(component);
        if leaf < leaves {
            return Some((i, component, leaf));
        }
        leaf -= leaves;
    }
    None
}

fn leaf_count(ty: &Type) -> usize {
    match ty {
        Type::Scalar(_) | Type::Vector(..) => 1,
        Type::Array(element, _) => leaf_count(element),
        Type::Tuple(components) => components.iter().map(leaf_count).sum(),
    }
}
