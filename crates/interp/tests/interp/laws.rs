//! Folds whose functions break the laws.

use lift_interp::laws::check_reduce;
use lift_ir::{Build, Built, Context, Expr, Facts, Math, Nat, Scalar, Type, Var};

/// The warnings on an expression over `xs: [f32; N]`, `ys: [i32; N]`.
fn warnings(body: impl FnOnce(Build, &Expr, &Expr) -> Built) -> Vec<String> {
    let n = Var::named("N");
    let mut facts = Facts::new();
    facts.size(&n);
    let cx = Context::new(facts);
    let b = Build::new(&cx);
    let xs = b.param("xs", Type::array(Type::F32, &n));
    let ys = b.param("ys", Type::array(Type::I32, &n));
    let expr = body(b, &xs, &ys).expect("the program of the test is well typed");
    check_reduce(&expr).into_iter().map(|w| w.message).collect()
}

fn laws_broken(body: impl FnOnce(Build, &Expr, &Expr) -> Built) -> Vec<&'static str> {
    let laws = ["not associative", "not commutative", "not an identity"];
    let messages = warnings(body);
    laws.into_iter().filter(|law| messages.iter().any(|m| m.contains(law))).collect()
}

#[test]
fn sums_products_and_extremes_are_fine() {
    assert!(warnings(|b, xs, _| b.reduce(b.f32(0.0), |a, x| b.add(a, x), xs)).is_empty());
    assert!(warnings(|b, xs, _| b.reduce(b.f32(1.0), |a, x| b.mul(a, x), xs)).is_empty());
    assert!(warnings(|b, _, ys| b.scan(b.i32(0), |a, x| b.add(a, x), ys)).is_empty());
    assert!(
        warnings(|b, xs, _| {
            b.reduce(b.f32(f32::NEG_INFINITY), |a, x| b.math(Math::Max, [a, x]), xs)
        })
        .is_empty()
    );
}

#[test]
fn subtraction_breaks_every_law() {
    let broken = laws_broken(|b, xs, _| b.reduce(b.f32(0.0), |a, x| b.sub(a, x), xs));
    assert_eq!(broken, ["not associative", "not commutative", "not an identity"]);
    let first = warnings(|b, xs, _| b.reduce(b.f32(0.0), |a, x| b.sub(a, x), xs)).remove(0);
    assert!(first.starts_with("the function of `reduce` is not associative: f(f(a, b), c) = "));
}

#[test]
fn a_start_that_is_no_identity() {
    assert_eq!(warnings(|b, _, ys| b.reduce(b.i32(1), |a, x| b.add(a, x), ys)).len(), 1);
    let broken = laws_broken(|b, xs, _| b.scan(b.f32(1.0), |a, x| b.add(a, x), xs));
    assert_eq!(broken, ["not an identity"]);
}

#[test]
fn scan_need_not_commute() {
    // "The last one": associative, not commutative, and no start is an identity on both sides.
    let broken = laws_broken(|b, xs, _| b.scan(b.f32(0.0), |_, x| Ok(x), xs));
    assert_eq!(broken, ["not an identity"]);
    let broken =
        laws_broken(|b, _, ys| b.partial_reduce(1, b.i32(0), |_, x| Ok(x), b.array([b.head(ys)])));
    assert_eq!(broken, ["not commutative", "not an identity"]);
}

#[test]
fn folds_inside_functions_are_found_and_low_level_ones_are_not_judged() {
    let inside = warnings(|b, xs, _| {
        b.map(|w| b.reduce(b.f32(1.0), |a, x| b.add(a, x), w), b.slide(1, 1, xs))
    });
    assert_eq!(inside.len(), 1);
    assert!(warnings(|b, xs, _| b.reduce_seq(b.f32(1.0), |a, x| b.sub(a, x), xs)).is_empty());
}

#[test]
fn nothing_is_said_where_it_depends_on_more_or_fails() {
    // The start value is an element.
    assert!(warnings(|b, xs, _| b.reduce(b.head(xs), |a, x| b.sub(a, x), xs)).is_empty());
    // The function depends on a size.
    let n = Nat::var(&Var::named("N"));
    assert!(
        warnings(|b, _, ys| b.reduce(b.i32(0), |a, x| b.sub(a, b.mul(x, b.size(n.clone()))), ys))
            .is_empty()
    );
    // The function divides by zero.
    assert!(warnings(|b, _, ys| b.reduce(b.i32(1), |a, x| b.div(a, x), ys)).is_empty());
    // The function takes far too long.
    let slow = warnings(|b, _, ys| {
        let forever = |x: Expr| b.iterate(i64::MAX, |x| b.add(&x, b.i32(1)), x);
        b.reduce(b.i32(1), |a, x| b.sub(a, forever(x)), ys)
    });
    assert!(slow.is_empty());
    let large = warnings(|b, _, ys| {
        let large = |x: Expr| b.head(b.generate(1i64 << 31, |i| b.add(i, &x)));
        b.reduce(b.i32(1), |a, x| b.sub(a, large(x)), ys)
    });
    assert!(large.is_empty());
    // The values are too large to sample.
    let long = |b: Build| b.repeat(1 << 15, b.f32(0.0));
    assert!(warnings(|b, _, _| b.reduce(long(b), |_, x| Ok(x), b.array([long(b)]))).is_empty());
}

#[test]
fn what_overflows_on_one_side_shows_nothing() {
    // f(f(0, b), c) = 0 but f(0, f(b, c)) = 0 * inf = nan
    let scaled = |b: Build, x: Expr, y: Expr| b.mul(b.mul(x, y), b.f32(1e38));
    let broken = laws_broken(|b, xs, _| b.reduce(b.f32(1e-38), |x, y| scaled(b, x, y), xs));
    assert_eq!(broken, [""; 0]);
}

#[test]
fn tuples_are_sampled_component_by_component() {
    let zero = |b: Build| b.tuple([b.f32(0.0), b.f32(0.0)]);
    let add = |b: Build, p: Expr, q: Expr| {
        b.tuple([b.add(b.field(&p, 0), b.field(&q, 0)), b.sub(b.field(&p, 1), b.field(&q, 1))])
    };
    let broken = laws_broken(|b, xs, _| b.reduce(zero(b), |p, q| add(b, p, q), b.zip([xs, xs])));
    assert_eq!(broken, ["not associative", "not commutative", "not an identity"]);
    let unsigned = warnings(|b, _, ys| {
        let bytes = b.map(|y| b.cast(y, Scalar::U8), ys);
        b.reduce(b.cast(b.i32(0), Scalar::U8), |a, x| b.add(a, x), bytes)
    });
    assert!(unsigned.is_empty());
}

#[test]
fn unsigned_samples_are_more_than_zeros_and_ones() {
    let broken = laws_broken(|b, _, ys| {
        let bytes = b.map(|y| b.cast(y, Scalar::U8), ys);
        let f = |a: Expr, x: Expr| b.mul(b.mul(&a, &a), x);
        b.reduce(b.cast(b.i32(1), Scalar::U8), f, bytes)
    });
    assert_eq!(broken, ["not associative", "not commutative", "not an identity"]);
}
