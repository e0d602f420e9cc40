//! What the C text computes, bit by bit: wrapping, saturating, rounding.
#![allow(clippy::unwrap_used)]

mod common;

use common::*;
use half::f16;
use lift_ir::{BinaryOp, Math, Scalar, UnaryOp};
use lift_kernel::{Expr, ValueType};

/// Scalars, vectors that fill a register, and those that do not.
const WIDTHS: [u32; 3] = [1, 3, 4];

/// One operation of a kernel under test, and its results on the inputs, as bytes.
struct Case {
    name: String,
    build: Box<dyn Fn(Expr, Expr, u32) -> Expr>,
    expected: Vec<u8>,
}

impl Case {
    fn new(
        name: &str,
        expected: Vec<u8>,
        build: impl Fn(Expr, Expr, u32) -> Expr + 'static,
    ) -> Case {
        Case { name: name.to_owned(), build: Box::new(build), expected }
    }
}

/// Runs operations at all widths on pairs of inputs. The inputs are repeated, so that as many
/// vectors as scalars fit.
fn check(name: &str, scalar: Scalar, x: &[u8], y: &[u8], cases: &[Case]) {
    let kernel = elementwise(name, scalar, &WIDTHS, &|x, y, width| {
        cases.iter().map(|case| (case.build)(x.clone(), y.clone(), width)).collect()
    });
    let count = x.len() / scalar.bytes();
    let mut text = in_c(&kernel) + "\n#include <stdio.h>\n\n";
    for (input, data) in [("x_data", x), ("y_data", y)] {
        let bytes: Vec<String> = data.repeat(4).iter().map(u8::to_string).collect();
        let bytes = bytes.join(", ");
        text += &format!("static uint8_t {input}[] __attribute__((aligned(64))) = {{{bytes}}};\n");
    }
    let mut outs = Vec::new();
    let mut shows = String::new();
    let mut wanted = Vec::new();
    for width in WIDTHS {
        for case in cases {
            let out = format!("out{}", outs.len());
            let length = case.expected.len() * width as usize;
            text += &format!("static uint8_t {out}[{length}] __attribute__((aligned(64)));\n");
            shows += &format!("  for (int i = 0; i < {length}; ++i) printf(\"%d \", {out}[i]);\n");
            shows += "  puts(\"\");\n";
            outs.push(format!("(void*){out}"));
            wanted.push((format!("{} x{width}", case.name), case.expected.repeat(width as usize)));
        }
    }
    text += &format!(
        "\nint main(void) {{\n  {name}((void*)x_data, (void*)y_data, {}, {count});\n{shows}  return 0;\n}}\n",
        outs.join(", ")
    );
    let output = run(&folder(name), name, &text);
    assert_eq!(output.lines().count(), wanted.len());
    for (line, (case, expected)) in output.lines().zip(wanted) {
        let found: Vec<u8> = line.split_whitespace().map(|b| b.parse().unwrap()).collect();
        if let Some(at) = (0..found.len()).find(|i| found[*i] != expected[*i]) {
            let k = at * count * case.rsplit('x').next().unwrap().parse::<usize>().unwrap()
                / found.len();
            panic!("{name}: {case} of pair {} is wrong at byte {at}", k % count);
        }
    }
}

fn op(op: BinaryOp) -> impl Fn(Expr, Expr, u32) -> Expr {
    move |x, y, _| binary(op, x, y)
}

fn call(function: Math) -> impl Fn(Expr, Expr, u32) -> Expr {
    move |x, y, _| math(function, &[x, y][..function.arity()])
}

fn to(scalar: Scalar) -> impl Fn(Expr, Expr, u32) -> Expr {
    move |x, _, width| cast(ValueType::vector(scalar, width), x)
}

/// Every pair of these values.
fn pairs<T: Copy>(values: &[T]) -> Vec<(T, T)> {
    values.iter().flat_map(|a| values.iter().map(move |b| (*a, *b))).collect()
}

macro_rules! bytes {
    ($pairs:expr, |$a:ident, $b:ident| $value:expr) => {
        $pairs
            .iter()
            .flat_map(|($a, $b)| {
                let ($a, $b) = (*$a, *$b);
                let _ = ($a, $b);
                $value.to_le_bytes()
            })
            .collect::<Vec<u8>>()
    };
}

macro_rules! integers {
    ($($test:ident $ty:ident $scalar:ident $abs:expr, $sign:expr;)*) => {$(
        #[test]
        fn $test() {
            let values = [0, 1, 2, 7, 100, $ty::MIN, $ty::MAX, $ty::MAX / 2 + 1, 0 as $ty - ($ty::MIN != 0) as $ty];
            let all = pairs(&values);
            // Nothing is said about division by zero.
            let all: Vec<($ty, $ty)> = all.into_iter().filter(|(_, b)| *b != 0).collect();
            let (x, y) = (bytes!(all, |a, b| a), bytes!(all, |a, b| b));
            let compare = |f: fn($ty, $ty) -> bool| {
                all.iter().map(|(a, b)| u8::from(f(*a, *b))).collect::<Vec<u8>>()
            };
            check(stringify!($test), Scalar::$scalar, &x, &y, &[
                Case::new("add", bytes!(all, |a, b| a.wrapping_add(b)), op(BinaryOp::Add)),
                Case::new("sub", bytes!(all, |a, b| a.wrapping_sub(b)), op(BinaryOp::Sub)),
                Case::new("mul", bytes!(all, |a, b| a.wrapping_mul(b)), op(BinaryOp::Mul)),
                Case::new("div", bytes!(all, |a, b| a.wrapping_div(b)), op(BinaryOp::Div)),
                Case::new("rem", bytes!(all, |a, b| a.wrapping_rem(b)), op(BinaryOp::Rem)),
                Case::new("neg", bytes!(all, |a, b| a.wrapping_neg()), |x, _, _| unary(UnaryOp::Neg, x)),
                Case::new("abs", bytes!(all, |a, b| $abs(a)), call(Math::Abs)),
                Case::new("min", bytes!(all, |a, b| a.min(b)), call(Math::Min)),
                Case::new("max", bytes!(all, |a, b| a.max(b)), call(Math::Max)),
                Case::new("sign", bytes!(all, |a, b| $sign(a)), call(Math::Sign)),
                Case::new("and", bytes!(all, |a, b| (a & b)), op(BinaryOp::BitAnd)),
                Case::new("or", bytes!(all, |a, b| (a | b)), op(BinaryOp::BitOr)),
                Case::new("xor", bytes!(all, |a, b| (a ^ b)), op(BinaryOp::BitXor)),
                Case::new("not", bytes!(all, |a, b| (!a)), |x, _, _| unary(UnaryOp::BitNot, x)),
                // Of the amount the low bits count, so -1 is the width less one.
                Case::new("shl", bytes!(all, |a, b| a.wrapping_shl(b as u32)), op(BinaryOp::Shl)),
                Case::new("shr", bytes!(all, |a, b| a.wrapping_shr(b as u32)), op(BinaryOp::Shr)),
                Case::new("shr 3", bytes!(all, |a, b| (a >> 3)), |x, _, _| {
                    let three = literal(x.ty().scalar, 3);
                    binary(BinaryOp::Shr, x, three)
                }),
                Case::new("popcount", bytes!(all, |a, b| (a.count_ones() as $ty)), call(Math::Popcount)),
                Case::new("clz", bytes!(all, |a, b| (a.leading_zeros() as $ty)), call(Math::Clz)),
                Case::new("ctz", bytes!(all, |a, b| (a.trailing_zeros() as $ty)), call(Math::Ctz)),
                Case::new(
                    "bits of a sum",
                    bytes!(all, |a, b| ((a.wrapping_add(b) & b).count_ones() as $ty)),
                    |x, y, _| {
                        let both = binary(BinaryOp::BitAnd, add(x, y.clone()), y);
                        math(Math::Popcount, &[both])
                    },
                ),
                // The product of a sum wraps at every step.
                Case::new(
                    "mean",
                    bytes!(all, |a, b| a.wrapping_add(b).wrapping_mul(b).wrapping_div(2)),
                    |x, y, _| {
                        let product = mul(add(x, y.clone()), y);
                        let two = literal(product.ty().scalar, 2);
                        binary(BinaryOp::Div, product, two)
                    },
                ),
                Case::new("lt", compare(|a, b| a < b), op(BinaryOp::Lt)),
                Case::new("ge", compare(|a, b| a >= b), op(BinaryOp::Ge)),
                Case::new("eq", compare(|a, b| a == b), op(BinaryOp::Eq)),
                Case::new("bool", compare(|a, _| a != 0), to(Scalar::Bool)),
                Case::new("i8", bytes!(all, |a, b| (a as i8)), to(Scalar::I8)),
                Case::new("u8", bytes!(all, |a, b| (a as u8)), to(Scalar::U8)),
                Case::new("i16", bytes!(all, |a, b| (a as i16)), to(Scalar::I16)),
                Case::new("u32", bytes!(all, |a, b| (a as u32)), to(Scalar::U32)),
                Case::new("i64", bytes!(all, |a, b| (a as i64)), to(Scalar::I64)),
                Case::new("f32", bytes!(all, |a, b| (a as f32)), to(Scalar::F32)),
                Case::new("f64", bytes!(all, |a, b| (a as f64)), to(Scalar::F64)),
            ]);
        }
    )*};
}

integers! {
    wraps_i8 i8 I8 i8::wrapping_abs, i8::signum;
    wraps_i16 i16 I16 i16::wrapping_abs, i16::signum;
    wraps_i32 i32 I32 i32::wrapping_abs, i32::signum;
    wraps_i64 i64 I64 i64::wrapping_abs, i64::signum;
    wraps_u8 u8 U8 std::convert::identity::<u8>, |a: u8| a.min(1);
    wraps_u16 u16 U16 std::convert::identity::<u16>, |a: u16| a.min(1);
    wraps_u32 u32 U32 std::convert::identity::<u32>, |a: u32| a.min(1);
    wraps_u64 u64 U64 std::convert::identity::<u64>, |a: u64| a.min(1);
}

/// The interpreter's: a nan if one is.
fn least(a: f64, b: f64) -> f64 {
    if b < a || b.is_nan() { b } else { a }
}

fn largest(a: f64, b: f64) -> f64 {
    if b > a || b.is_nan() { b } else { a }
}

fn sign(a: f64) -> f64 {
    if a == 0.0 || a.is_nan() { a } else { a.signum() }
}

fn narrow(v: f64) -> f32 {
    v as f32
}

macro_rules! floats {
    ($($test:ident $ty:ident $scalar:ident $from:expr, $wide:expr;)*) => {$(
        #[test]
        fn $test() {
            let values = [
                0.0, -0.0, 0.5, 1.5, 2.5, -0.5, -1.5, 1.0 / 3.0, 127.5, -129.0, 255.9, 32768.0, -40000.0, 65503.0,
                2147483520.0, 2147483648.0, -2147483648.0, 4294967296.0, 9.3e18, -9.3e18, 1.9e19, 1e-7,
                f64::INFINITY, f64::NEG_INFINITY, f64::NAN,
            ];
            let values = values.map($from);
            let all = pairs(&values);
            let (x, y) = (bytes!(all, |a, b| a), bytes!(all, |a, b| b));
            let single = |f: fn(f64) -> f64| bytes!(all, |a, b| $from(f($wide(a))));
            let compare = |f: fn($ty, $ty) -> bool| {
                all.iter().map(|(a, b)| u8::from(f(*a, *b))).collect::<Vec<u8>>()
            };
            check(stringify!($test), Scalar::$scalar, &x, &y, &[
                Case::new("round", single(f64::round_ties_even), call(Math::Round)),
                Case::new("floor", single(f64::floor), call(Math::Floor)),
                Case::new("ceil", single(f64::ceil), call(Math::Ceil)),
                Case::new("abs", single(f64::abs), call(Math::Abs)),
                Case::new("min", bytes!(all, |a, b| $from(least($wide(a), $wide(b)))), call(Math::Min)),
                Case::new("max", bytes!(all, |a, b| $from(largest($wide(a), $wide(b)))), call(Math::Max)),
                Case::new("sign", single(sign), call(Math::Sign)),
                Case::new("trunc", single(f64::trunc), call(Math::Trunc)),
                Case::new("copysign", bytes!(all, |a, b| $from($wide(a).copysign($wide(b)))), call(Math::Copysign)),
                Case::new("is_nan", compare(|a, _| a.is_nan()), call(Math::IsNan)),
                Case::new("is_inf", compare(|a, _| a.is_infinite()), call(Math::IsInf)),
                Case::new("to_bits", bytes!(all, |a, b| a), call(Math::ToBits)),
                Case::new("from_bits", bytes!(all, |a, b| a), |x, _, _| {
                    math(Math::FromBits, &[math(Math::ToBits, &[x])])
                }),
                Case::new("lt", compare(|a, b| a < b), op(BinaryOp::Lt)),
                Case::new("ne", compare(|a, b| a != b), op(BinaryOp::Ne)),
                Case::new("bool", compare(|a, _| a != $from(0.0)), to(Scalar::Bool)),
                Case::new("i8", bytes!(all, |a, b| ($wide(a) as i8)), to(Scalar::I8)),
                Case::new("i16", bytes!(all, |a, b| ($wide(a) as i16)), to(Scalar::I16)),
                Case::new("i32", bytes!(all, |a, b| ($wide(a) as i32)), to(Scalar::I32)),
                Case::new("i64", bytes!(all, |a, b| ($wide(a) as i64)), to(Scalar::I64)),
                Case::new("u8", bytes!(all, |a, b| ($wide(a) as u8)), to(Scalar::U8)),
                Case::new("u16", bytes!(all, |a, b| ($wide(a) as u16)), to(Scalar::U16)),
                Case::new("u32", bytes!(all, |a, b| ($wide(a) as u32)), to(Scalar::U32)),
                Case::new("u64", bytes!(all, |a, b| ($wide(a) as u64)), to(Scalar::U64)),
            ]);
        }
    )*};
}

floats! {
    rounds_f16 f16 F16 f16::from_f64, f16::to_f64;
    rounds_f32 f32 F32 narrow, f64::from;
    rounds_f64 f64 F64 f64::from, f64::from;
}

/// Vectors of `bool` hold 0 and 1.
#[test]
fn bools_are_zero_or_one() {
    let all = pairs(&[0u8, 1]);
    let all: Vec<(u8, u8)> = all.repeat(3);
    let (x, y) = (bytes!(all, |a, b| a), bytes!(all, |a, b| b));
    check(
        "bools",
        Scalar::Bool,
        &x,
        &y,
        &[
            Case::new("not", bytes!(all, |a, b| (1 - a)), |x, _, _| unary(UnaryOp::Not, x)),
            Case::new("and", bytes!(all, |a, b| (a & b)), op(BinaryOp::And)),
            Case::new("or", bytes!(all, |a, b| (a | b)), op(BinaryOp::Or)),
            Case::new("ne", bytes!(all, |a, b| (a ^ b)), op(BinaryOp::Ne)),
            Case::new("select", bytes!(all, |a, b| (if a == 1 { 1 - b } else { b })), |x, y, _| {
                math(Math::Select, &[x, unary(UnaryOp::Not, y.clone()), y])
            }),
            Case::new("i8", bytes!(all, |a, b| a), to(Scalar::I8)),
            Case::new("f32", bytes!(all, |a, b| f32::from(a)), to(Scalar::F32)),
            Case::new("f16", bytes!(all, |a, b| f16::from_f32(f32::from(a))), to(Scalar::F16)),
        ],
    );
}

/// Every operation is rounded to f16, also inside an expression.
#[test]
fn half_arithmetic_is_rounded_at_every_step() {
    let values = [0.1, 1.0, 1.0009765625, 3.0, 2049.0, 60000.0, 6e-8, -0.37].map(f16::from_f64);
    let all = pairs(&values);
    let (x, y) = (bytes!(all, |a, b| a), bytes!(all, |a, b| b));
    let wide =
        |f: fn(f32, f32) -> f32| move |a: f16, b: f16| f16::from_f32(f(a.to_f32(), b.to_f32()));
    let (plus, times, over) = (wide(|a, b| a + b), wide(|a, b| a * b), wide(|a, b| a / b));
    let fused = |a: f16, b: f16| f16::from_f64(a.to_f64().mul_add(b.to_f64(), b.to_f64()));
    check(
        "steps_f16",
        Scalar::F16,
        &x,
        &y,
        &[
            Case::new("add", bytes!(all, |a, b| plus(a, b)), op(BinaryOp::Add)),
            Case::new("mul", bytes!(all, |a, b| times(a, b)), op(BinaryOp::Mul)),
            Case::new("div", bytes!(all, |a, b| over(a, b)), op(BinaryOp::Div)),
            Case::new("steps", bytes!(all, |a, b| plus(times(a, b), over(a, b))), |x, y, _| {
                add(mul(x.clone(), y.clone()), binary(BinaryOp::Div, x, y))
            }),
            Case::new("fma", bytes!(all, |a, b| fused(a, b)), |x, y, _| {
                math(Math::Fma, &[x, y.clone(), y])
            }),
            Case::new("f32", bytes!(all, |a, b| a.to_f32()), to(Scalar::F32)),
        ],
    );
}

/// A tree in local memory, a private buffer held across a barrier: what whole kernels compute.
#[test]
fn kernels_compute_what_they_say() {
    let sum = in_c(&partial_sum());
    let main = r#"
#include <stdio.h>

int main(void) {
  static float x[1024], sums[8];
  for (int i = 0; i < 1024; ++i) x[i] = i % 7;
  partial_sum(x, sums, 1024);
  for (int w = 0; w < 8; ++w) {
    float first = 0;
    for (int l = 0; l < 1; ++l) {
      first += x[128 * w] + x[128 * w + 1] + x[128 * w + 64] + x[128 * w + 65];
    }
    if (sums[w] != first) return printf("sum %d: %f, not %f\n", w, sums[w], first);
  }
  return 0;
}
"#;
    run(&folder("sum"), "sum", &(sum + main));
    let rows = in_c(&held_rows());
    let main = r#"
#include <stdio.h>

int main(void) {
  static float x[64], y[64];
  for (int i = 0; i < 64; ++i) {
    x[i] = i;
    y[i] = 100 * i;
  }
  held_rows(x, y, 64);
  for (int i = 0; i < 64; ++i) {
    if (y[i] != 100 * i + 0.5f * i) return printf("%d: %f\n", i, y[i]);
  }
  return 0;
}
"#;
    run(&folder("rows"), "rows", &(rows + main));
}

/// One thread changes elements in order; of the six of each type, each is changed by another operation by 3.
#[test]
fn changes_are_what_they_say() {
    let all = in_c(&changes());
    let names: Vec<String> = CHANGED.iter().map(|scalar| format!("{scalar}s_")).collect();
    let types = ["int32_t", "uint32_t", "int64_t", "uint64_t", "float", "double"];
    let declared: String = names
        .iter()
        .zip(types)
        .map(|(name, ty)| format!("  static {ty} {name}[6] = {{5, 5, 2, 6, 4, 5}};\n"))
        .collect();
    let shown: String = names
        .iter()
        .map(|name| format!("  for (int i = 0; i < 6; ++i) printf(\"%d \", (int){name}[i]);\n"))
        .collect();
    let main = format!(
        "\n#include <stdio.h>\n\nint main(void) {{\n{declared}  changes({}, 6);\n{shown}  return 0;\n}}\n",
        names.join(", ")
    );
    let found = run(&folder("changes"), "changes", &(all + &main));
    let found: Vec<i32> = found.split_whitespace().map(|n| n.parse().unwrap()).collect();
    // Floats have no bits to change.
    let wanted: Vec<i32> = [[8, 3, 3, 2, 7, 6]; 4].concat();
    let floats = [[8, 3, 3, 6, 4, 5]; 2].concat();
    assert_eq!(found, [wanted, floats].concat());
}
