//! Arithmetic of every scalar type, at its edges.

use half::f16;
use lift_interp::{ScalarValue, Value};
use lift_ir::{BinaryOp, Math, Prim, Scalar, Span, UnaryOp};

use crate::{apply, error, value};

fn binary(op: BinaryOp, a: impl Into<Value>, b: impl Into<Value>) -> Value {
    let args = [a.into(), b.into()];
    value(&args, |cx, _, x| cx.call(Prim::Binary(op), vec![], vec![], x.to_vec()))
}

fn math(function: Math, args: &[Value]) -> Value {
    value(args, |cx, _, x| cx.call(Prim::Math(function), vec![], vec![], x.to_vec()))
}

fn negated(a: impl Into<Value>) -> Value {
    value(&[a.into()], |_, b, x| b.neg(&x[0]))
}

fn cast(a: impl Into<Value>, to: Scalar) -> Value {
    value(&[a.into()], |_, b, x| b.cast(&x[0], to))
}

fn h(x: f32) -> f16 {
    f16::from_f32(x)
}

/// The same bits, so that zeros of either sign differ.
fn same_bits(a: &Value, b: &Value) -> bool {
    a.to_f64().map(f64::to_bits) == b.to_f64().map(f64::to_bits)
}

use BinaryOp::{Add, Div, Eq, Ge, Gt, Le, Lt, Mul, Ne, Rem, Sub};

macro_rules! counts_bits {
    ($ty:ident) => {
        for x in [0, 1, 2, 12, <$ty>::MIN, <$ty>::MAX, !0] {
            for (function, count) in [
                (Math::Popcount, x.count_ones()),
                (Math::Clz, x.leading_zeros()),
                (Math::Ctz, x.trailing_zeros()),
            ] {
                assert_eq!(math(function, &[x.into()]), (count as $ty).into(), "{function:?} {x}");
            }
        }
    };
}

macro_rules! signed {
    ($($ty:ident),*) => {$(
        #[test]
        fn $ty() {
            let (low, high) = (<$ty>::MIN, <$ty>::MAX);
            assert_eq!(binary(Add, high, 1 as $ty), low.into());
            assert_eq!(binary(Sub, low, 1 as $ty), high.into());
            assert_eq!(binary(Mul, high, 2 as $ty), (-2 as $ty).into());
            assert_eq!(binary(Div, low, -1 as $ty), low.into());
            assert_eq!(binary(Rem, low, -1 as $ty), (0 as $ty).into());
            // C truncates towards zero, and the remainder has the sign of the dividend.
            assert_eq!(binary(Div, -7 as $ty, 2 as $ty), (-3 as $ty).into());
            assert_eq!(binary(Rem, -7 as $ty, 2 as $ty), (-1 as $ty).into());
            assert_eq!(binary(Div, 7 as $ty, -2 as $ty), (-3 as $ty).into());
            assert_eq!(binary(Rem, 7 as $ty, -2 as $ty), (1 as $ty).into());
            assert_eq!(negated(low), low.into());
            assert_eq!(math(Math::Abs, &[low.into()]), low.into());
            assert_eq!(math(Math::Abs, &[(-3 as $ty).into()]), (3 as $ty).into());
            assert_eq!(math(Math::Min, &[(-3 as $ty).into(), (2 as $ty).into()]), (-3 as $ty).into());
            assert_eq!(binary(Lt, -1 as $ty, 0 as $ty), true.into());
            counts_bits!($ty);
        }
    )*};
}

macro_rules! unsigned {
    ($($ty:ident),*) => {$(
        #[test]
        fn $ty() {
            let high = <$ty>::MAX;
            assert_eq!(binary(Add, high, 1 as $ty), (0 as $ty).into());
            assert_eq!(binary(Sub, 0 as $ty, 1 as $ty), high.into());
            assert_eq!(binary(Mul, high, high), (1 as $ty).into());
            assert_eq!(binary(Div, high, 2 as $ty), (high / 2).into());
            assert_eq!(binary(Rem, high, 4 as $ty), (3 as $ty).into());
            assert_eq!(negated(1 as $ty), high.into());
            assert_eq!(math(Math::Abs, &[high.into()]), high.into());
            assert_eq!(math(Math::Max, &[high.into(), (2 as $ty).into()]), high.into());
            assert_eq!(binary(Gt, high, 0 as $ty), true.into());
            counts_bits!($ty);
        }
    )*};
}

signed!(i8, i16, i32, i64);
unsigned!(u8, u16, u32, u64);

#[test]
fn integers_divided_by_zero_are_an_error_at_their_place() {
    let span = Span::new(0, 3, 8);
    for (op, message) in [(Div, "division by zero"), (Rem, "remainder of a division by zero")] {
        let error = apply(&[Value::i32(1), Value::i32(0)], |cx, b, x| {
            let quotient = cx.call(Prim::Binary(op), vec![], vec![], x.to_vec())?;
            b.add(quotient.with_span(span), b.i32(1))
        })
        .unwrap_err();
        assert_eq!((error.message.as_str(), error.span), (message, Some(span)));
    }
    assert_eq!(
        error(&[Value::u8(1), Value::u8(0)], |_, b, x| b.div(&x[0], &x[1])),
        "division by zero"
    );
}

#[test]
fn bool() {
    assert_eq!(binary(Eq, true, true), true.into());
    assert_eq!(binary(Ne, true, true), false.into());
    for (a, b) in [(false, false), (false, true), (true, false), (true, true)] {
        assert_eq!(binary(BinaryOp::And, a, b), (a && b).into());
        assert_eq!(binary(BinaryOp::Or, a, b), (a || b).into());
    }
    let not = value(&[true.into()], |cx, _, x| {
        cx.call(Prim::Unary(UnaryOp::Not), vec![], vec![], x.to_vec())
    });
    assert_eq!(not, false.into());
}

#[test]
fn comparisons() {
    for (a, b) in [(1, 2), (2, 1), (1, 1)] {
        let truths = [a == b, a != b, a < b, a <= b, a > b, a >= b];
        for (op, truth) in [Eq, Ne, Lt, Le, Gt, Ge].into_iter().zip(truths) {
            assert_eq!(binary(op, a, b), truth.into(), "{a} {op:?} {b}");
            assert_eq!(binary(op, f64::from(a), f64::from(b)), truth.into(), "{a} {op:?} {b}");
        }
    }
}

#[test]
fn comparisons_as_operands() {
    for (a, b, c) in [(true, true, true), (true, false, true), (false, false, true)] {
        let args = [a.into(), b.into(), c.into()];
        let nested = value(&args, |_, build, x| {
            build.if_then(build.eq(build.eq(&x[0], &x[1]), &x[2]), build.i32(1), build.i32(2))
        });
        assert_eq!(nested, (if (a == b) == c { 1 } else { 2 }).into());
    }
}

#[test]
fn f32() {
    assert_eq!(binary(Add, 16_777_216f32, 1f32), 16_777_216f32.into());
    assert_eq!(binary(Div, 1f32, 0f32), f32::INFINITY.into());
    assert_eq!(binary(Div, 0f32, 0f32), f32::NAN.into());
    // fmod, also of negative numbers
    assert_eq!(binary(Rem, -5.5f32, 2f32), (-1.5f32).into());
    assert_eq!(binary(Rem, 5.5f32, f32::INFINITY), 5.5f32.into());
    assert!(same_bits(&negated(0f32), &(-0f32).into()));
    assert_eq!(binary(Eq, f32::NAN, f32::NAN), false.into());
    assert_eq!(binary(Ne, f32::NAN, f32::NAN), true.into());
    assert_eq!(binary(Le, f32::NAN, 1f32), false.into());
    assert_eq!(binary(Ge, 1f32, 1f32), true.into());
}

#[test]
fn f64() {
    assert_eq!(binary(Add, 0.1f64, 0.2f64), 0.30000000000000004f64.into());
    assert_eq!(binary(Rem, 1e300f64, 7f64), (1e300f64 % 7.0).into());
}

#[test]
fn f16_rounds_after_every_operation() {
    // Above 2048 only even numbers are f16: ties go to the even significand.
    assert_eq!(binary(Add, h(2048.0), h(1.0)), h(2048.0).into());
    assert_eq!(binary(Add, h(2050.0), h(1.0)), h(2052.0).into());
    assert_eq!(binary(Mul, h(300.0), h(300.0)), f16::INFINITY.into());
    assert_eq!(binary(Div, h(1.0), h(3.0)), h(0.333_251_95).into());
    assert_eq!(binary(Sub, h(6.0e-8), h(6.0e-8)), h(0.0).into());
    assert_eq!(binary(Rem, h(-5.5), h(2.0)), h(-1.5).into());
    // (2048 + 1) + 1 is 2048 twice rounded, not 2050.
    let got =
        value(&[h(2048.0).into(), h(1.0).into()], |_, b, x| b.add(b.add(&x[0], &x[1]), &x[1]));
    assert_eq!(got, h(2048.0).into());
}

#[test]
fn conversion_to_f16_rounds_once() {
    // Just above halfway between 2048 and 2050; through f32 it would be halfway.
    let above = 2049.0 + 1e-9;
    assert_eq!(cast(above, Scalar::F16), h(2050.0).into());
    assert_eq!(cast(-above, Scalar::F16), h(-2050.0).into());
    assert_eq!(cast(2049.0 - 1e-9, Scalar::F16), h(2048.0).into());
    assert_eq!(cast(2049.0f64, Scalar::F16), h(2048.0).into());
    assert_eq!(cast(65519.99f64, Scalar::F16), h(65504.0).into());
    assert_eq!(cast(65520.0f64, Scalar::F16), f16::INFINITY.into());
    assert_eq!(cast(1e-300f64, Scalar::F16), h(0.0).into());
    assert_eq!(cast(f64::NAN, Scalar::F16), f16::NAN.into());
    assert_eq!(cast(2049i32, Scalar::F16), h(2048.0).into());
}

#[test]
fn fma_rounds_once() {
    let x = 1.0 + f32::EPSILON;
    let c = -(x * x);
    assert_eq!(math(Math::Fma, &[x.into(), x.into(), c.into()]), x.mul_add(x, c).into());
    assert_ne!(x.mul_add(x, c), x * x + c);
    let x = h(1.0 + 1.0 / 1024.0);
    // x * x is 1 + 2^-9 + 2^-20 before rounding.
    let c = binary(Mul, x, x);
    let c = value(&[c], |_, b, x| b.neg(&x[0]));
    let got = math(Math::Fma, &[x.into(), x.into(), c]);
    assert_eq!(got, h(1.0 / 1_048_576.0).into());
    let y = 1.0 + f64::EPSILON;
    let c = -(y * y);
    assert_eq!(math(Math::Fma, &[y.into(), y.into(), c.into()]), y.mul_add(y, c).into());
}

#[test]
fn a_nan_stays_in_extremes() {
    let is_nan = |value: lift_interp::Value| format!("{value:?}").contains("NaN");
    for (function, expected) in [(Math::Min, 1f32), (Math::Max, 2f32)] {
        assert_eq!(math(function, &[1f32.into(), 2f32.into()]), expected.into());
        assert_eq!(math(function, &[2f32.into(), 1f32.into()]), expected.into());
        assert!(is_nan(math(function, &[f32::NAN.into(), 1f32.into()])));
        assert!(is_nan(math(function, &[1f32.into(), f32::NAN.into()])));
    }
    assert!(is_nan(math(Math::Min, &[f16::NAN.into(), h(1.0).into()])));
}

#[test]
fn clamp_is_the_least_of_the_greatest() {
    let clamp = |x: i32, lo: i32, hi: i32| math(Math::Clamp, &[x.into(), lo.into(), hi.into()]);
    assert_eq!(clamp(5, 1, 3), 3.into());
    assert_eq!(clamp(0, 1, 3), 1.into());
    assert_eq!(clamp(2, 1, 3), 2.into());
    // Bounds the wrong way round: min(max(2, 3), 1)
    assert_eq!(clamp(2, 3, 1), 1.into());
}

#[test]
fn round_is_half_to_even() {
    let rounded = [(0.5, 0.0), (1.5, 2.0), (2.5, 2.0), (-0.5, -0.0), (-1.5, -2.0), (0.6, 1.0)];
    for (x, expected) in rounded {
        let got = math(Math::Round, &[Value::f32(x)]);
        assert!(same_bits(&got, &Value::f32(expected)), "{x}");
        assert_eq!(math(Math::Round, &[h(x).into()]), h(expected).into());
        assert_eq!(math(Math::Round, &[f64::from(x).into()]), f64::from(expected).into());
    }
    assert_eq!(math(Math::Floor, &[(-1.5f32).into()]), (-2f32).into());
    assert_eq!(math(Math::Ceil, &[(-1.5f32).into()]), (-1f32).into());
}

#[test]
fn roots_and_transcendental_functions() {
    assert_eq!(math(Math::Sqrt, &[2f32.into()]), 2f32.sqrt().into());
    assert_eq!(math(Math::Sqrt, &[(-1f32).into()]), f32::NAN.into());
    assert_eq!(math(Math::Rsqrt, &[4f32.into()]), 0.5f32.into());
    assert_eq!(math(Math::Rsqrt, &[3f32.into()]), (1.0 / 3f32.sqrt()).into());
    assert_eq!(math(Math::Exp, &[1f32.into()]), std::f32::consts::E.into());
    assert_eq!(math(Math::Log, &[std::f64::consts::E.into()]), 1f64.into());
    assert_eq!(math(Math::Sin, &[0.5f32.into()]), (0.5f64.sin() as f32).into());
    assert_eq!(math(Math::Cos, &[0.5f64.into()]), 0.5f64.cos().into());
    assert_eq!(math(Math::Tan, &[0.5f32.into()]), (0.5f64.tan() as f32).into());
    assert_eq!(math(Math::Tanh, &[h(0.5).into()]), h(0.462_158_2).into());
    assert_eq!(math(Math::Pow, &[2f32.into(), 10f32.into()]), 1024f32.into());
    assert_eq!(math(Math::Pow, &[h(2.0).into(), h(-1.0).into()]), h(0.5).into());
}

/// Against those of the standard library where it loses no digits: it does in `atanh` near -1, and in `acosh` near 1,
/// where acosh(1 + y) = 2 asinh(sqrt(y / 2)).
#[test]
fn inverse_hyperbolic_functions() {
    let of = |function, x: f64| math(function, &[x.into()]).to_f64().unwrap();
    let near = |found: f64, expected: f64| (found - expected).abs() <= 1e-13 * expected.abs();
    let mut x = 1e-20_f64;
    while x < 1e300 {
        for x in [x, -x] {
            let below_one = x / (1.0 + x.abs());
            assert!(near(of(Math::Asinh, x), x.asinh()), "asinh {x}");
            let (found, expected) =
                (of(Math::Atanh, below_one), below_one.abs().atanh().copysign(x));
            assert!(found == expected || near(found, expected), "atanh {below_one}");
        }
        let above = (1.0 + x) - 1.0;
        let expected = 2.0 * (above / 2.0).sqrt().asinh();
        assert!(near(of(Math::Acosh, 1.0 + x), expected), "acosh 1 + {x}");
        x *= 7.0;
    }
    assert!(of(Math::Acosh, 0.999).is_nan() && of(Math::Atanh, 1.001).is_nan());
}

#[test]
fn bits_of_floats_and_back() {
    let pairs: [(Value, Value); 3] = [
        (h(-1.5).into(), 0xbe00u16.into()),
        ((-1.5f32).into(), 0xbfc0_0000u32.into()),
        ((-1.5f64).into(), 0xbff8_0000_0000_0000u64.into()),
    ];
    for (float, bits) in pairs {
        assert_eq!(math(Math::ToBits, std::slice::from_ref(&float)), bits);
        assert_eq!(math(Math::FromBits, &[bits]), float);
    }
}

#[test]
fn floats_to_integers_truncate_and_saturate() {
    assert_eq!(cast(-1.9f32, Scalar::I32), (-1).into());
    assert_eq!(cast(300f32, Scalar::U8), 255u8.into());
    assert_eq!(cast(-1f32, Scalar::U8), 0u8.into());
    assert_eq!(cast(-1e30f32, Scalar::I16), i16::MIN.into());
    assert_eq!(cast(f64::INFINITY, Scalar::U64), u64::MAX.into());
    assert_eq!(cast(f32::NAN, Scalar::I64), 0i64.into());
    assert_eq!(cast(h(1.5), Scalar::I8), 1i8.into());
}

#[test]
fn integers_to_integers_wrap() {
    assert_eq!(cast(300i32, Scalar::U8), 44u8.into());
    assert_eq!(cast(-1i8, Scalar::U64), u64::MAX.into());
    assert_eq!(cast(u64::MAX, Scalar::I32), (-1).into());
}

#[test]
fn bools_and_numbers() {
    assert_eq!(cast(true, Scalar::F32), 1f32.into());
    assert_eq!(cast(false, Scalar::I8), 0i8.into());
    assert_eq!(cast(-0.0f32, Scalar::Bool), false.into());
    assert_eq!(cast(f32::NAN, Scalar::Bool), true.into());
    assert_eq!(cast(256i32, Scalar::Bool), true.into());
}

#[test]
fn integers_to_floats_round_once() {
    assert_eq!(cast(16_777_217i32, Scalar::F32), 16_777_216f32.into());
    assert_eq!(cast(u64::MAX, Scalar::F32), 18_446_744_073_709_551_616f32.into());
    assert_eq!(cast(i64::MIN, Scalar::F64), (-9_223_372_036_854_775_808f64).into());
    assert_eq!(cast(70_000i32, Scalar::F16), f16::INFINITY.into());
}

#[test]
fn scalars_and_literals_are_the_same_values() {
    for scalar in Scalar::ALL {
        let one = ScalarValue::from_integer(scalar, 1);
        assert_eq!(ScalarValue::from(one.literal()), one);
        assert_eq!(one.scalar(), scalar);
        assert_eq!(one.to_f64(), 1.0);
    }
}
