//! Tuples, vectors, and conditions.

use std::slice::from_ref;

use lift_interp::{ScalarValue, Value};
use lift_ir::{BinaryOp, Extern, Literal, Math, Nat, Prim, Scalar, Type, Var};

use crate::{apply, error, floats, ints, tuple, value};

fn vector(lanes: &[f32]) -> Value {
    Value::vector(lanes.iter().map(|x| ScalarValue::F32(*x))).expect("a width there is")
}

#[test]
fn components_of_tuples() {
    let pair = tuple(&[Value::i32(1), tuple(&[Value::i32(2), Value::i32(3)])]);
    let got = value(from_ref(&pair), |_, b, x| b.field(b.field(&x[0], 1), 0));
    assert_eq!(got, Value::i32(2));
    // Through a parameter that is also used whole.
    let got = value(from_ref(&pair), |_, b, x| {
        b.let_in("p", b.id(&x[0]), |p| b.tuple([b.field(&p, 0), b.field(b.field(&p, 1), 1)]))
    });
    assert_eq!(got, tuple(&[Value::i32(1), Value::i32(3)]));
    let array = Value::array(vec![pair.clone(), pair.clone()]).unwrap();
    let got = value(from_ref(&array), |_, b, x| b.map(|p| b.tuple([&p, &p]), &x[0]));
    assert_eq!(got.get(1), Some(tuple(&[pair.clone(), pair])));
    let got = value(&[array], |_, b, x| b.map(|p| b.field(b.field(p, 1), 1), &x[0]));
    assert_eq!(got, ints(&[3, 3]));
}

#[test]
fn a_parameter_nobody_uses() {
    let got = value(&[ints(&[4, 5])], |_, b, x| b.map(|_| Ok(b.i32(1)), &x[0]));
    assert_eq!(got, ints(&[1, 1]));
    let got = value(&[ints(&[4, 5])], |_, b, x| b.map(|p| b.field(p, 0), b.zip([&x[0], &x[0]])));
    assert_eq!(got, ints(&[4, 5]));
}

#[test]
fn as_vector_and_back() {
    let xs = floats(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let got = value(from_ref(&xs), |_, b, x| b.as_vector(3, &x[0]));
    let expected = vec![vector(&[1.0, 2.0, 3.0]), vector(&[4.0, 5.0, 6.0])];
    assert_eq!(got, Value::array(expected).unwrap());
    assert_eq!(got.ty().to_string(), "[f32x3; 2]");
    let got = value(from_ref(&xs), |_, b, x| b.as_scalar(b.as_vector(3, &x[0])));
    assert_eq!(got, xs);
    // Vectors that do not lie together.
    let got =
        value(&[xs], |_, b, x| b.as_scalar(b.join(b.transpose(b.split(1, b.as_vector(2, &x[0]))))));
    assert_eq!(got.len(), 6);
}

#[test]
fn arithmetic_is_elementwise_and_scalars_are_broadcast() {
    let v = vector(&[1.0, 2.0, 4.0, 8.0]);
    let got = value(&[v.clone(), v.clone()], |_, b, x| b.mul(b.add(&x[0], &x[1]), b.f32(10.0)));
    assert_eq!(got, vector(&[20.0, 40.0, 80.0, 160.0]));
    let got = value(from_ref(&v), |_, b, x| b.sub(b.f32(1.0), &x[0]));
    assert_eq!(got, vector(&[0.0, -1.0, -3.0, -7.0]));
    let got = value(from_ref(&v), |_, b, x| b.lt(&x[0], b.f32(3.0)));
    assert_eq!(got.to_string(), "boolx4(true, true, false, false)");
    let got = value(from_ref(&v), |cx, b, x| {
        let big = b.lt(b.f32(3.0), &x[0])?;
        cx.call(Prim::Math(Math::Select), vec![], vec![], vec![big, x[0].clone(), b.f32(0.0)])
    });
    assert_eq!(got, vector(&[0.0, 0.0, 4.0, 8.0]));
    let got = value(from_ref(&v), |_, b, x| b.math(Math::Sqrt, [b.mul(&x[0], &x[0])]));
    assert_eq!(got, v);
    let got = value(from_ref(&v), |_, b, x| b.cast(b.neg(&x[0]), Scalar::I8));
    assert_eq!(got.to_string(), "i8x4(-1i8, -2i8, -4i8, -8i8)");
}

#[test]
fn logic_on_vectors_is_elementwise() {
    let got = value(&[vector(&[1.0, 2.0, 3.0])], |_, b, x| {
        b.and(b.lt(b.f32(1.0), &x[0]), b.lt(&x[0], b.f32(3.0)))
    });
    assert_eq!(got.to_string(), "boolx3(false, true, false)");
}

#[test]
fn dot_splat_and_lanes() {
    let v = [vector(&[1.0, 2.0]), vector(&[3.0, 5.0])];
    assert_eq!(value(&v, |_, b, x| b.math(Math::Dot, [&x[0], &x[1]])), Value::f32(13.0));
    assert_eq!(value(&[], |_, b, _| b.splat(3, b.f32(2.0))), vector(&[2.0, 2.0, 2.0]));
    assert_eq!(value(&v, |_, b, x| b.lane(1, &x[1])), Value::f32(5.0));
    let got =
        value(&[], |cx, b, _| cx.call(Prim::Vector, vec![], vec![], vec![b.f32(1.0), b.f32(2.0)]));
    assert_eq!(got, vector(&[1.0, 2.0]));
}

#[test]
fn vectorize_widens_functions_on_scalars() {
    let got = value(&[vector(&[1.0, 2.0]), Value::f32(10.0)], |_, b, x| {
        // The captured scalar is broadcast.
        let f = b.lambda([("a", Type::F32)], |[a]| b.add(b.mul(&a, &a), &x[1]))?;
        b.vectorize(2, f, [&x[0]])
    });
    assert_eq!(got, vector(&[11.0, 14.0]));
    // Tuples in, tuples out.
    let pair = tuple(&[vector(&[1.0, 2.0]), vector(&[3.0, 5.0])]);
    let got = value(&[pair], |_, b, x| {
        let f = b.lambda([("p", Type::tuple([Type::F32, Type::F32]))], |[p]| {
            b.tuple([b.field(&p, 1), b.add(b.field(&p, 0), b.field(&p, 1))])
        })?;
        b.vectorize(2, f, [&x[0]])
    });
    assert_eq!(got, tuple(&[vector(&[3.0, 5.0]), vector(&[4.0, 7.0])]));
}

#[test]
fn a_width_that_no_vector_has() {
    // The checker knows constant widths; one it cannot see is refused here.
    let message = error(&[ints(&[1, 2, 3, 4, 5])], |cx, b, x| {
        let n = Var::with_id("n", 5);
        let f = b.lambda([("xs", Type::array(Type::I32, &n))], |[xs]| {
            let wide = b.lane(0, b.splat(Nat::var(&n), b.head(&xs)))?;
            b.map(|_| Ok(wide), &xs)
        })?;
        let f = lift_ir::Lambda { size: Some(n), ..f };
        cx.call(Prim::Iterate, vec![Nat::int(1)], vec![f], vec![x[0].clone()])
    });
    assert_eq!(message, "a vector has 2, 3, 4, 8 or 16 lanes, not 5");
}

#[test]
fn the_branch_not_taken_is_not_evaluated() {
    for (condition, expected) in [(true, Ok(Value::i32(1))), (false, Err(()))] {
        let got = apply(&[Value::bool(condition), Value::i32(0)], |_, b, x| {
            b.if_then(&x[0], b.i32(1), b.div(b.i32(1), &x[1]))
        });
        assert_eq!(got.map_err(|_| ()), expected);
    }
    // `select` is a function: both are.
    let got = apply(&[Value::i32(0)], |cx, b, x| {
        let c = cx.literal(Literal::Bool(true));
        b.math(Math::Select, [Ok(c), Ok(b.i32(1)), b.div(b.i32(1), &x[0])])
    });
    assert!(got.is_err());
}

#[test]
fn and_and_or_stop_where_the_left_decides() {
    let got = |left: bool, op: BinaryOp| {
        apply(&[Value::bool(left), Value::i32(0)], |cx, b, x| {
            let right = b.eq(b.div(b.i32(1), &x[1]), b.i32(1))?;
            cx.call(Prim::Binary(op), vec![], vec![], vec![x[0].clone(), right])
        })
    };
    assert_eq!(got(false, BinaryOp::And), Ok(Value::bool(false)));
    assert_eq!(got(true, BinaryOp::Or), Ok(Value::bool(true)));
    assert!(got(true, BinaryOp::And).is_err());
    assert!(got(false, BinaryOp::Or).is_err());
}

#[test]
fn extern_functions_have_no_meaning() {
    let function = Extern {
        name: "fast_exp".to_string(),
        targets: vec!["c".to_string()],
        params: vec![("x".to_string(), Type::F32)],
        ret: Type::F32,
        code: "return expf(x);".to_string(),
    };
    let message = error(&[Value::f32(1.0)], |cx, _, x| {
        cx.call(Prim::Extern(function.into()), vec![], vec![], vec![x[0].clone()])
    });
    assert_eq!(message, "the extern function `fast_exp` has no meaning to the interpreter");
}
