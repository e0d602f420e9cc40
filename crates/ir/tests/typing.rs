//! The type of every pattern, and what each refuses.

#![allow(clippy::unwrap_used)]

use lift_ir::{
    Boundary, Build, Built, Context, Expr, Facts, FoldKind, MapKind, Math, Nat, Permutation, Pred,
    Prim, Scalar, Space, Type, Var,
};

/// Sizes N (a multiple of 4) and M, and arrays over them.
struct Fixture {
    cx: Context,
}

impl Fixture {
    fn new() -> Fixture {
        let mut facts = Facts::new();
        facts.size(&Var::named("N"));
        facts.size(&Var::named("M"));
        facts.assume(&Pred::Divides { divisor: Nat::int(4), of: n() });
        Fixture { cx: Context::new(facts) }
    }

    fn build(&self) -> Build<'_> {
        Build::new(&self.cx)
    }

    fn xs(&self) -> Expr {
        self.build().param("xs", Type::array(Type::F32, n()))
    }

    fn matrix(&self) -> Expr {
        self.build().param("m", Type::array(Type::array(Type::F32, m()), n()))
    }
}

fn n() -> Nat {
    Nat::var(&Var::named("N"))
}

fn m() -> Nat {
    Nat::var(&Var::named("M"))
}

#[track_caller]
fn has_type(built: Built, expected: &str) {
    assert_eq!(built.unwrap().ty().to_string(), expected);
}

#[track_caller]
fn is_refused(built: Built, expected: &str) {
    let error = built.unwrap_err();
    assert!(error.message.contains(expected), "`{}` lacks `{expected}`", error.message);
}

#[test]
fn layout_patterns() {
    let f = Fixture::new();
    let b = f.build();
    has_type(b.split(4, f.xs()), "[[f32; 4]; N / 4]");
    has_type(b.join(b.split(4, f.xs())), "[f32; N]");
    has_type(b.transpose(f.matrix()), "[[f32; N]; M]");
    has_type(b.slide(3, 1, f.xs()), "[[f32; 3]; N - 2]");
    has_type(b.pad(1, 2, Boundary::Clamp, f.xs()), "[f32; N + 3]");
    has_type(b.pad_value(1, 0, b.f32(0.0), f.xs()), "[f32; N + 1]");
    has_type(b.take(2, f.xs()), "[f32; 2]");
    has_type(b.drop(2, f.xs()), "[f32; N - 2]");
    has_type(b.concat(f.xs(), f.xs()), "[f32; 2*N]");
    has_type(b.head(f.matrix()), "[f32; M]");
    has_type(b.gather(Permutation::Stride(Nat::int(2)), f.xs()), "[f32; N]");
    has_type(b.as_vector(4, f.xs()), "[f32x4; N / 4]");
    has_type(b.as_scalar(b.as_vector(4, f.xs())), "[f32; N]");
    has_type(b.zip([f.xs(), f.xs()]), "[(f32, f32); N]");
    has_type(b.unzip(b.zip([f.xs(), f.xs()])), "([f32; N], [f32; N])");
    has_type(b.repeat(m(), b.f32(1.0)), "[f32; M]");
    has_type(b.generate(m(), |i| b.cast(i, Scalar::F64)), "[f64; M]");
    has_type(b.at(b.i32(0), f.matrix()), "[f32; M]");
}

#[test]
fn layout_patterns_refuse() {
    let f = Fixture::new();
    let b = f.build();
    is_refused(b.split(3, f.xs()), "needs `N % 3 == 0`, which cannot be proved");
    is_refused(b.split(5, b.take(7, f.xs())), "needs `7 % 5 == 0`, which does not hold");
    is_refused(b.join(f.xs()), "takes an array of arrays, found `[f32; N]`");
    is_refused(b.split(4, b.f32(1.0)), "takes an array, found `f32`");
    is_refused(b.zip([f.xs(), b.take(2, f.xs()).unwrap()]), "found `N` and `2`");
    is_refused(b.slide(3, 2, f.xs()), "which holds for no size");
    is_refused(b.slide(3, 3, f.xs()), "which cannot be proved");
    is_refused(b.take(9, b.take(5, f.xs())), "needs `9 <= 5`, which never holds");
    is_refused(b.as_vector(5, f.xs()), "2, 3, 4, 8 or 16 lanes, not 5");
    is_refused(b.as_vector(4, f.matrix()), "an array of scalars");
    is_refused(b.concat(f.xs(), f.matrix()), "expected `f32`, found `[f32; M]`");
    is_refused(b.at(b.f32(0.0), f.xs()), "an index is an integer, found `f32`");
}

#[test]
fn index_functions_are_permutations() {
    let f = Fixture::new();
    let b = f.build();
    let i = Var::with_id("i", 900);
    let function = |body: Nat| Permutation::Index(i.clone(), body);
    let six = b.take(6, f.xs());
    let index = Nat::var(&i);
    has_type(b.gather(function((&index + Nat::int(2)).rem(&Nat::int(6))), &six), "[f32; 6]");
    let halved = function(index.div(&Nat::int(2)));
    is_refused(b.gather(halved, &six), "0 and 1 both go to 0");
    let shifted = function(&index + Nat::int(1));
    is_refused(b.scatter(shifted, &six), "5 goes to 6, outside 0 .. 6");
}

#[test]
fn folds() {
    let f = Fixture::new();
    let b = f.build();
    has_type(b.map(|x| b.lt(x, b.f32(0.0)), f.xs()), "[bool; N]");
    has_type(b.reduce(b.f32(0.0), |a, x| b.add(a, x), f.xs()), "f32");
    has_type(b.scan(b.f32(0.0), |a, x| b.add(a, x), f.xs()), "[f32; N]");
    has_type(b.partial_reduce(2, b.f32(0.0), |a, x| b.add(a, x), f.xs()), "[f32; 2]");
    let count = b.reduce_seq(b.i32(0), |a, _| b.add(a, b.i32(1)), f.xs());
    has_type(count, "i32");
    has_type(b.iterate(3, |xs| b.map(|x| b.neg(x), xs), f.xs()), "[f32; N]");
    has_type(b.to(Space::Local, |x| b.id(x), f.matrix()), "[[f32; M]; N]");
    is_refused(
        b.reduce(b.i32(0), |a, _| Ok(a), f.xs()),
        "starts from a value of the element type `f32`, found `i32`",
    );
    is_refused(
        b.reduce_as(FoldKind::Seq, b.i32(0), |_, x| Ok(x), f.xs()),
        "must return `i32`, found `f32`",
    );
    is_refused(b.map_as(MapKind::Wrg(3), Ok, f.xs()), "0, 1 or 2");
    is_refused(b.map_as(MapKind::Warp(1), Ok, f.xs()), "is 0");
}

#[test]
fn an_iteration_that_changes_the_length() {
    let f = Fixture::new();
    let b = f.build();
    let lengths = vec![Nat::int(8), Nat::int(4), Nat::int(2)];
    let size = f.cx.fresh_size_among("n", lengths);
    let halve = |size: &Var| {
        let given = Type::array(Type::F32, Nat::var(size));
        let mut lambda =
            b.lambda([("ys", given)], |[ys]| b.map(|p| b.at(b.i32(1), p), b.split(2, ys))).unwrap();
        lambda.size = Some(size.clone());
        lambda
    };
    let eight = b.take(8, f.xs()).unwrap();
    let times = |k: i128| {
        f.cx.call(Prim::Iterate, vec![Nat::int(k)], vec![halve(&size)], vec![eight.clone()])
    };
    has_type(times(3), "[f32; 1]");
    has_type(times(0), "[f32; 8]");
}

#[test]
fn scalars_and_vectors() {
    let f = Fixture::new();
    let b = f.build();
    let x = b.param("x", Type::F32);
    let v = b.param("v", Type::vector(Scalar::F32, 4));
    let i = b.param("i", Type::I32);
    has_type(b.mul(&v, &x), "f32x4");
    has_type(b.lt(&v, &x), "boolx4");
    has_type(b.math(Math::Dot, [&v, &v]), "f32");
    has_type(b.math(Math::Select, [b.lt(&v, &x).unwrap(), v.clone(), x.clone()]), "f32x4");
    has_type(b.lane(3, &v), "f32");
    has_type(b.cast(&v, Scalar::I8), "i8x4");
    has_type(b.tuple([&x, &v, &i]), "(f32, f32x4, i32)");
    has_type(b.field(b.tuple([&x, &v]), 1), "f32x4");
    let square = b.lambda([("s", Type::F32)], |[s]| b.mul(&s, &s)).unwrap();
    has_type(b.vectorize(4, square.clone(), [&v]), "f32x4");
    is_refused(b.vectorize(4, square, [&x]), "expected `f32x4`, found `f32`");
    is_refused(b.add(&x, &i), "`+` takes equal types, found `f32` and `i32`");
    is_refused(b.lane(4, &v), "lane 4 is beyond the last of 4 lanes");
    is_refused(b.field(&x, 0), "found `f32`");
    is_refused(b.field(b.param("p", Type::tuple([Type::F32, Type::I32])), 2), "which is `.1`");
    is_refused(b.math(Math::Sqrt, [&i]), "`sqrt` takes floats, found `i32`");
    is_refused(b.and(&x, &x), "`&&` takes `bool`s");
    is_refused(b.if_then(&x, &x, &x), "expected `bool`, found `f32`");
    is_refused(b.add(f.xs(), f.xs()), "takes scalars or vectors");
}

/// Sizes that are equal as arithmetic make equal types; facts decide.
#[test]
fn sizes_are_compared_as_arithmetic() {
    let f = Fixture::new();
    let twice_half = n().div(&Nat::int(2)) * Nat::int(2);
    let (a, b) = (Type::array(Type::F32, twice_half.clone()), Type::array(Type::F32, n()));
    assert!(f.cx.same_type(&a, &b));
    let (a, b) =
        (Type::array(Type::F32, m().div(&Nat::int(2)) * Nat::int(2)), Type::array(Type::F32, m()));
    assert!(!f.cx.same_type(&a, &b));
}

/// Lower bounds that do not follow are required of whoever fixes the sizes, once.
#[test]
fn lower_bounds_become_requirements() {
    let f = Fixture::new();
    let b = f.build();
    b.take(3, f.xs()).unwrap();
    assert!(f.cx.required().is_empty(), "N is a multiple of 4, so at least 4");
    b.take(5, f.xs()).unwrap();
    b.slide(5, 1, f.xs()).unwrap();
    let required: Vec<String> = f.cx.required().iter().map(|p| p.to_string()).collect();
    assert_eq!(required, ["5 <= N"]);
}

#[test]
fn arithmetic_on_sizes_is_a_size() {
    let f = Fixture::new();
    let b = f.build();
    let sum = b.add(b.mul(b.size(n()), b.i32(2)), b.size(n())).unwrap();
    assert_eq!(sum.to_string(), "3*N");
    assert_eq!(b.sub(b.size(n()), b.size(n())).unwrap().to_string(), "0");
    is_refused(f.cx.size(&n(), Scalar::F32), "a size is an `i32` or `i64`");
}
