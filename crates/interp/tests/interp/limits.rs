//! Sizes and depths beyond all measure are errors, not crashes.

use lift_interp::inputs::{Fill, generate};
use lift_interp::{Value, eval_closed, run};
use lift_ir::{Boundary, Build, Built, Context, Expr, Facts, Math, Nat, Permutation, Scalar, Type};

use crate::{def_of, error, ints, value};

const HUGE: i64 = 1_000_000_000_000;

#[test]
fn arrays_too_large_for_memory() {
    let message = "an array of 1000000000000 `f32` takes 4000000000000 bytes, more than the \
                   2147483648 that one array may take here";
    assert_eq!(error(&[], |_, b, _| b.repeat(HUGE, b.f32(1.0))), message);
    let got = error(&[], |_, b, _| b.generate(1i64 << 31, |i| b.cast(i, Scalar::F32)));
    assert!(got.starts_with("an array of 2147483648 `f32` takes 8589934592 bytes"), "{got}");
    // Nested: each length is fine by itself.
    let got = error(&[], |_, b, _| b.repeat(100_000, b.repeat(100_000, b.f32(1.0))));
    assert!(got.starts_with("an array of 10000000000 `f32` takes 40000000000 bytes"), "{got}");
    let got =
        error(&[], |_, b, _| b.generate(100_000, |_| b.generate(100_000, |i| b.tuple([&i, &i]))));
    assert!(got.starts_with("an array of 10000000000 `i32`"), "{got}");
    let xs = [ints(&[1])];
    let got = error(&xs, |_, b, x| b.pad(HUGE, 0, Boundary::Clamp, &x[0]));
    assert!(got.contains("takes 4000000000004 bytes"), "{got}");
    let got = error(&xs, |_, b, x| b.pad_value(0, HUGE, b.i32(0), &x[0]));
    assert!(got.contains("takes 4000000000004 bytes"), "{got}");
    let got = error(&[], |_, b, _| {
        let shift = Permutation::Shift(Nat::int(1));
        b.gather(shift, b.repeat(1 << 30, b.cast(b.i32(0), Scalar::I8)))
    });
    assert_eq!(got, "`gather` of 1073741824 elements takes too much memory");
    // Sizes whose product leaves every range.
    let huge = |b: Build, x: &Expr| b.repeat(i64::MAX, x);
    assert!(!error(&xs, |_, b, x| huge(b, &x[0])).is_empty());
}

#[test]
fn a_view_may_be_larger_than_what_is_stored() {
    // A million windows of a thousand elements, of which one is read.
    let got = value(&[], |_, b, _| {
        let windows = b.slide(1000, 1, b.repeat(1_000_999, b.i32(1)));
        b.reduce(b.i32(0), |a, x| b.add(a, x), b.at(b.i32(999_999), windows))
    });
    assert_eq!(got, Value::i32(1000));
    let message = error(&[], |_, b, _| b.join(b.slide(1000, 1, b.generate(1_000_999, Ok))));
    assert!(message.starts_with("an array of 1000000000 `i32`"), "{message}");
}

#[test]
fn inputs_too_large_for_memory() {
    let error = generate(Fill::Zeros, &Type::array(Type::F32, HUGE)).unwrap_err();
    assert!(error.message.starts_with("an array of 1000000000000 `f32`"));
}

#[test]
fn a_size_that_is_no_value_of_its_type() {
    let message = error(&[ints(&[1])], |cx, b, x| {
        let n = lift_ir::Var::with_id("n", 4);
        let f = b.lambda([("xs", Type::array(Type::I32, &n))], |[xs]| {
            let size =
                cx.size(&(lift_ir::Nat::var(&n) * lift_ir::Nat::int(1 << 40)), Scalar::I32)?;
            b.map(|x| b.add(x, &size), xs)
        })?;
        let f = lift_ir::Lambda { size: Some(n), ..f };
        cx.call(lift_ir::Prim::Iterate, vec![1.into()], vec![f], vec![x[0].clone()])
    });
    assert_eq!(message, "the size 1099511627776 is not a value of `i32`");
}

/// Runs on a thread with little stack.
fn on_small_stack(work: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(work);
    thread.expect("a thread").join().expect("no overflow");
}

#[test]
fn deep_expressions_do_not_overflow_the_stack() {
    on_small_stack(|| {
        let cx = Context::new(Facts::new());
        let b = Build::new(&cx);
        let x = b.param("x", Type::I32);
        // Operators, conditions and lets.
        let mut expr = x.clone();
        for _ in 0..1000 {
            let condition = b.lt(&x, b.i32(0)).unwrap();
            expr = b.if_then(condition, b.i32(0), b.add(&expr, b.i32(1))).unwrap();
            expr = b.let_in("y", expr, |y| b.add(y, b.i32(0))).unwrap();
        }
        let def = def_of(&cx, &[x], expr);
        let got = run(&def, &[Value::i32(1)], &Default::default());
        assert_eq!(got, Ok(Value::i32(1001)));
    });
    on_small_stack(|| {
        let cx = Context::new(Facts::new());
        let b = Build::new(&cx);
        // Arrays in arrays, folded again.
        let mut expr: Expr = b.i32(1);
        for _ in 0..300 {
            let xs = b.generate(1, |_| Ok(expr)).unwrap();
            expr = b.reduce(b.i32(0), |a, x| b.add(a, x), xs).unwrap();
        }
        assert_eq!(eval_closed(&expr), Ok(Value::i32(1)));
        lift_interp::laws::check_reduce(&expr);
    });
}

/// As [`deep_expressions_do_not_overflow_the_stack`], each way to be deep by itself.
#[test]
fn every_kind_of_depth_is_counted() {
    let deeper: [fn(Build, &Expr, Expr) -> Built; 7] = [
        // A name for a name takes no code.
        |b, x, inner| b.let_in("y", x, |_| Ok(inner)),
        |b, x, inner| b.let_in("y", b.neg(x), |_| Ok(inner)),
        |b, _, inner| b.let_in("y", inner, |y| b.add(y, b.i32(0))),
        |b, _, inner| b.add(inner, b.i32(0)),
        |b, _, inner| b.add(b.i32(0), inner),
        |b, x, inner| b.iterate(1, |_| Ok(inner), x),
        |b, x, inner| b.math(Math::Max, [x, &inner]),
    ];
    for deeper in deeper {
        on_small_stack(move || {
            let cx = Context::new(Facts::new());
            let b = Build::new(&cx);
            let x = b.param("x", Type::I32);
            let deep = (0..4000).try_fold(x.clone(), |inner, _| deeper(b, &x, inner)).unwrap();
            let def = def_of(&cx, &[x], b.neg(deep).unwrap());
            assert_eq!(run(&def, &[Value::i32(1)], &Default::default()), Ok(Value::i32(-1)));
        });
    }
}
