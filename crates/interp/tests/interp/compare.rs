//! `==` and `~=` of tests.

use half::f16;
use lift_interp::{Mismatch, Value, compare};

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
