//! `==` and `~=` of tests.

use half::f16;
use lift_interp::{Buffer, Mismatch, Value, compare, compare_sums};
use lift_ir::{Scalar, Type};

use crate::{floats, ints, rows, tuple};

fn message(actual: &Value, expected: &Value, approximate: bool) -> String {
    compare(actual, expected, approximate).expect_err("they differ").to_string()
}

#[test]
fn exact() {
    assert_eq!(compare(&ints(&[1, 2]), &ints(&[1, 2]), false), Ok(()));
    assert_eq!(compare(&Value::f32(f32::NAN), &Value::f32(f32::NAN), false), Ok(()));
    assert_eq!(compare(&Value::f32(0.0), &Value::f32(-0.0), false), Ok(()));
    assert!(compare(&Value::f32(1.0), &Value::f32(1.0 + f32::EPSILON), false).is_err());
}

#[test]
fn approximate() {
    let close = |a: Value, b: Value| compare(&a, &b, true).is_ok();
    assert!(close(Value::f32(1.000_009), Value::f32(1.0)));
    assert!(!close(Value::f32(1.000_02), Value::f32(1.0)));
    // Relative above one, absolute below.
    assert!(close(Value::f32(1_000_009.0), Value::f32(1e6)));
    assert!(close(Value::f32(0.000_009), Value::f32(0.0)));
    assert!(close(Value::f64(1.0 + 1e-13), Value::f64(1.0)));
    assert!(!close(Value::f64(1.0 + 1e-11), Value::f64(1.0)));
    assert!(close(Value::f16(f16::from_f32(1.005)), Value::f16(f16::ONE)));
    assert!(!close(Value::f16(f16::from_f32(1.05)), Value::f16(f16::ONE)));
    assert!(close(Value::f32(f32::INFINITY), Value::f32(f32::INFINITY)));
    assert!(!close(Value::f32(1.0), Value::f32(f32::INFINITY)));
    assert!(!close(Value::f32(f32::NEG_INFINITY), Value::f32(f32::INFINITY)));
    assert!(!close(Value::f32(f32::NAN), Value::f32(1.0)));
    assert!(!close(Value::i32(1_000_001), Value::i32(1_000_000)));
}

#[test]
fn a_mismatch_says_where_and_how_much() {
    let actual = tuple(&[rows(&[&[1, 2], &[3, 4]]), Value::bool(true)]);
    let expected = tuple(&[rows(&[&[1, 2], &[5, 9]]), Value::bool(true)]);
    assert_eq!(
        message(&actual, &expected, false),
        "expected 5, found 3 at `.0[1][0]`; 2 of 5 differ, by up to 5.0"
    );
    assert_eq!(message(&Value::i32(1), &Value::i32(2), false), "expected 2, found 1");
}

#[test]
fn types_must_agree() {
    assert_eq!(
        compare(&ints(&[1]), &floats(&[1.0]), true),
        Err(Mismatch::Type { actual: "[i32; 1]".into(), expected: "[f32; 1]".into() })
    );
    assert_eq!(
        message(&ints(&[1]), &ints(&[1, 2]), false),
        "expected `[i32; 2]`, found `[i32; 1]`"
    );
}

#[test]
fn a_place_is_found_in_any_type() {
    let pairs = |second: &[f32]| {
        let ty = Type::array(
            Type::tuple([Type::Scalar(Scalar::I32), Type::array(Type::vector(Scalar::F32, 2), 2)]),
            2,
        );
        let parts = vec![Buffer::I32(vec![1, 2].into()), Buffer::F32(second.to_vec().into())];
        Value::from_buffers(&ty, parts).unwrap()
    };
    let expected = pairs(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
    let actual = pairs(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 9.0]);
    assert_eq!(
        message(&actual, &expected, true),
        "expected 7.0, found 9.0 at `[1].1[1][1]`; 1 of 10 differ, by up to 2.0"
    );
    assert_eq!(compare(&expected, &expected, false), Ok(()));
}

#[test]
fn sums_may_differ_by_what_was_added() {
    let expected = floats(&[1000.0, -3000.0, 0.0]);
    let near = floats(&[1000.0, -3000.0, 0.1]);
    assert!(compare(&near, &expected, true).is_err());
    assert_eq!(compare_sums(&near, &expected), Ok(()));
    assert!(compare_sums(&floats(&[1000.0, -3000.0, 0.2]), &expected).is_err());
    assert!(compare_sums(&floats(&[1000.0, -3000.0, f32::NAN]), &expected).is_err());
    // Integers are exact, and other components have means of their own.
    assert!(compare_sums(&ints(&[100_001]), &ints(&[100_000])).is_err());
    let beside = |x: f32| tuple(&[floats(&[1e6]), floats(&[x])]);
    assert!(compare_sums(&beside(1.001), &beside(1.0)).is_err());
}
