//! Expressions as text that reads back: parentheses, pipes, sections, names.

use std::sync::Arc;

use lift_ir::{
    Arg, Boundary, Build, Context, Expr, Extern, FoldKind, Lambda, Literal, MapKind, Math, Nat,
    Param, Permutation, Prim, Scalar, Space, Type, UnaryOp,
};

use super::{context, m, matrix, n, param, row};

#[track_caller]
fn prints(e: impl lift_ir::Arg, text: &str) {
    assert_eq!(e.built().unwrap().to_string(), text);
}

#[test]
fn operators_take_parentheses_where_needed() {
    let cx = context();
    let b = Build::new(&cx);
    let [x, y, z] = ["x", "y", "z"].map(|name| param(&cx, name, Type::F32));
    prints(b.add(b.add(&x, &y), &z), "x + y + z");
    prints(b.add(&x, b.add(&y, &z)), "x + (y + z)");
    prints(b.sub(b.sub(&x, &y), &z), "x - y - z");
    prints(b.sub(&x, b.sub(&y, &z)), "x - (y - z)");
    prints(b.mul(b.add(&x, &y), &z), "(x + y) * z");
    prints(b.add(&x, b.mul(&y, &z)), "x + y * z");
    prints(b.div(b.mul(&x, &y), &z), "x * y / z");
    prints(b.mul(&x, b.div(&y, &z)), "x * (y / z)");
    prints(b.lt(b.add(&x, &y), &z), "x + y < z");
    let less = || b.lt(&x, &y);
    prints(b.and(b.or(less(), less()), less()), "(x < y || x < y) && x < y");
    prints(b.or(b.and(less(), less()), less()), "x < y && x < y || x < y");
    prints(b.neg(b.neg(&x)), "--x");
    prints(b.neg(b.add(&x, &y)), "-(x + y)");
    prints(b.add(b.neg(&x), &y), "-x + y");
    prints(b.neg(b.f32(1.0)), "-(1.0)");
    prints(b.mul(b.f32(-1.0), &x), "-1.0 * x");
    let not = |e: Expr| cx.call(Prim::Unary(UnaryOp::Not), vec![], vec![], vec![e]);
    prints(not(less().unwrap()), "!(x < y)");
    prints(not(cx.literal(Literal::Bool(true))), "!true");
    prints(b.cast(b.add(&x, &y), Scalar::I32), "(x + y) as i32");
    prints(b.neg(b.cast(&x, Scalar::I32)), "-x as i32");
    prints(b.cast(b.neg(&x), Scalar::I32), "(-x) as i32");
    prints(b.cast(b.f32(1.0), Scalar::I32), "(1.0) as i32");
    prints(b.if_then(less(), &x, &y), "if x < y then x else y");
    prints(b.add(b.if_then(less(), &x, &y), &z), "(if x < y then x else y) + z");
    prints(b.add(&z, b.let_in("t", &x, |t| b.mul(&t, &t))), "z + (let t = x; t * t)");
    prints(
        b.if_then(b.eq(&x, &y), b.rem(&x, &y), b.le(&x, &y).and(Ok(x.clone()))),
        "if x == y then x % y else x",
    );
}

#[test]
fn parts_of_tuples_vectors_and_arrays() {
    let cx = context();
    let b = Build::new(&cx);
    let x = param(&cx, "x", Type::F32);
    let p = param(&cx, "p", Type::tuple([Type::F32, Type::tuple([Type::F32, Type::I32])]));
    let v = param(&cx, "v", Type::vector(Scalar::F32, 4));
    let xs = param(&cx, "xs", row());
    prints(b.tuple([&x, &p]), "(x, p)");
    prints(b.field(b.field(&p, 1), 0), "p.1.0");
    prints(b.array([&x, &x]), "[x, x]");
    prints(b.splat(4, &x), "f32x4(x)");
    prints(cx.call(Prim::Vector, vec![], vec![], vec![x.clone(), x.clone()]), "f32x2(x, x)");
    prints(b.lane(2, &v), "v[2]");
    prints(b.lane(2, b.add(&v, &v)), "(v + v)[2]");
    prints(b.at(b.add(b.param("i", Type::I32), b.i32(1)), &xs), "xs[i + 1]");
    prints(b.at(b.i32(0), b.map(|e| b.neg(e), &xs)), "map(\\x -> -x, xs)[0]");
    prints(b.at(b.i32(0), b.take(4, b.drop(4, &xs))), "(drop(4, xs) |> take(4))[0]");
    prints(b.field(b.if_then(b.lt(&x, &x), &p, &p), 0), "(if x < x then p else p).0");
    prints(
        b.math(Math::Select, [b.lt(&x, &x).unwrap(), x.clone(), x.clone()]),
        "select(x < x, x, x)",
    );
    let function = Extern {
        name: "g".to_string(),
        targets: vec!["c".to_string()],
        params: vec![("a".to_string(), Type::F32), ("b".to_string(), Type::F32)],
        ret: Type::F32,
        code: String::new(),
    };
    let call =
        cx.call(Prim::Extern(Arc::new(function)), vec![], vec![], vec![x.clone(), x.clone()]);
    prints(call, "g(x, x)");
}

#[test]
fn sizes_and_literals_say_their_type_where_it_matters() {
    let cx = context();
    let b = Build::new(&cx);
    let wide = |size: Nat| cx.size(&size, Scalar::I64);
    prints(b.size(n()), "N");
    prints(b.size(n() + Nat::ONE), "N + 1");
    prints(wide(n()), "N as i64");
    prints(wide(n() + Nat::ONE), "(N + 1) as i64");
    prints(b.cast(b.size(n()), Scalar::F32), "(N as i32) as f32");
    prints(b.cast(wide(n()), Scalar::F32), "N as f32");
    prints(b.cast(wide(n() * Nat::int(2)), Scalar::F32), "(2*N) as f32");
    let i = param(&cx, "i", Type::I32);
    prints(b.add(&i, b.size(n() + Nat::ONE)), "i + (N + 1)");
    prints(b.mul(b.size(n()), &i), "N * i");
    // What wraps is no size: without its type it would be read as one.
    let large = b.i32(i32::MAX);
    prints(b.add(&large, &large), "2147483647i32 + 2147483647i32");
    prints(b.mul(b.mul(b.size(n()), &large), b.i32(3)), "(2147483647*N) as i32 * 3i32");
    prints(
        b.math(Math::Max, [b.mul(&large, &large), b.i32(3).built()]),
        "max(2147483647i32 * 2147483647i32, 3)",
    );
    prints(b.div(b.i32(1), b.i32(0)), "1i32 / 0i32");
    prints(b.lt(b.i32(1), b.i32(2)), "1 < 2");
    let xs = param(&cx, "xs", row());
    let count = |start: Expr| b.reduce_seq(start, |a, _| b.add(a, b.i32(1)), &xs);
    prints(count(b.i32(0)), "reduceSeq(0i32, \\acc x -> acc + 1, xs)");
    prints(count(i.clone()), "reduceSeq(i, \\acc x -> acc + 1, xs)");
    prints(b.reduce(b.f32(0.0), |a, x| b.add(a, x), &xs), "reduce(0.0, (+), xs)");
    prints(
        b.reduce_as(FoldKind::SeqUnroll, b.f32(0.0), |a, x| b.add(a, x), b.take(4, &xs)),
        "take(4, xs) |> reduceSeqUnroll(0.0f32, (+))",
    );
}

#[test]
fn patterns_are_piped_and_left_open() {
    let cx = context();
    let b = Build::new(&cx);
    let (xs, rows) = (param(&cx, "xs", row()), param(&cx, "m", matrix()));
    prints(b.join(b.transpose(&rows)), "transpose(m) |> join");
    prints(b.map(|r| b.map(|x| b.mul(&x, &x), r), &rows), "map(map(\\x -> x * x), m)");
    prints(
        b.map(|r| b.reduce(b.f32(0.0), |a, x| b.add(a, x), r), &rows),
        "map(reduce(0.0, (+)), m)",
    );
    prints(b.map(|r| b.join(b.split(1, r)), &rows), "map(\\x -> split(1, x) |> join, m)");
    prints(b.map(|r| b.take(1, r), &rows), "map(take(1), m)");
    prints(b.map(|r| b.concat(&r, &r), &rows), "map(\\x -> concat(x, x), m)");
    let y = param(&cx, "y", Type::array(Type::F32, m()));
    prints(b.map(|r| b.concat(&y, r), &rows), "map(concat(y), m)");
    prints(b.map(|r| b.concat(r, &y), &rows), "map(\\x -> concat(x, y), m)");
    prints(b.map(|r| b.zip([&y, &r]), &rows), "map(\\x -> zip(y, x), m)");
    prints(b.map(|x| b.math(Math::Sqrt, [x]), &xs), "map(sqrt, xs)");
    prints(b.map(|x| b.math(Math::Max, [b.f32(0.0), x]), &xs), "map(max(0.0), xs)");
    prints(b.map(|x| b.math(Math::Max, [x, b.f32(0.0)]), &xs), "map(\\x -> max(x, 0.0), xs)");
    prints(
        b.zip([b.take(4, &xs), b.drop(n() - Nat::int(4), &xs)]),
        "zip(take(4, xs), drop(N - 4, xs))",
    );
    prints(b.zip([&xs, &xs]), "zip(xs, xs)");
    prints(b.repeat(3, b.map(|x| b.neg(x), &xs)), "repeat(3, map(\\x -> -x, xs))");
    prints(b.generate(m(), |i| b.cast(i, Scalar::F32)), "generate(M, \\i -> i as f32)");
    prints(b.iterate(3, |ys| b.map(|x| b.neg(x), ys), &xs), "iterate(3, map(\\x -> -x), xs)");
    prints(b.pad_value(1, 2, b.f32(0.0), b.id(&xs)), "id(xs) |> pad_value(1, 2, 0.0)");
    prints(b.slide(3, 1, b.pad(1, 1, Boundary::Clamp, &xs)), "pad(1, 1, clamp, xs) |> slide(3, 1)");
    prints(b.pad(1, 1, Boundary::Mirror, &xs), "pad(1, 1, mirror, xs)");
    prints(b.pad(1, 1, Boundary::Wrap, &xs), "pad(1, 1, wrap, xs)");
    prints(b.to(Space::Local, |x| b.id(x), &xs), "toLocal(id)(xs)");
    prints(
        b.to(Space::Private, |x| b.map(|e| b.neg(e), x), b.take(4, &xs)),
        "take(4, xs) |> toPrivate(map(\\x -> -x))",
    );
    prints(b.map_as(MapKind::Glb(1), |x| b.neg(x), &xs), "mapGlb(1)(\\x -> -x, xs)");
    prints(b.map_as(MapKind::Seq, |x| b.neg(x), b.id(&xs)), "id(xs) |> mapSeq(\\x -> -x)");
    prints(b.reduce(b.f32(0.0), |a, x| b.sub(x, a), &xs), "reduce(0.0, \\acc x -> x - acc, xs)");
    prints(b.reduce(b.f32(0.0), |a, x| b.math(Math::Max, [a, x]), &xs), "reduce(0.0, max, xs)");
    let square = b.lambda([("s", Type::F32)], |[s]| b.mul(&s, &s)).unwrap();
    let v = param(&cx, "v", Type::vector(Scalar::F32, 4));
    prints(b.vectorize(4, square.clone(), [&v]), "vectorize(4, \\s -> s * s)(v)");
    let vectors = b.as_vector(4, &xs).unwrap();
    prints(
        b.map(|e| b.vectorize(4, square, [e]), vectors),
        "as_vector(4, xs) |> map(vectorize(4, \\s -> s * s))",
    );
}

#[test]
fn index_functions() {
    let cx = context();
    let b = Build::new(&cx);
    let xs = param(&cx, "xs", row());
    let i = cx.fresh_index("i", lift_ir::Range::any());
    let back = n() - Nat::ONE - Nat::var(&i);
    prints(b.gather(Permutation::Reverse, &xs), "gather(reverse, xs)");
    prints(b.scatter(Permutation::Stride(Nat::int(4)), &xs), "scatter(stride(4), xs)");
    prints(b.gather(Permutation::Shift(n() - Nat::ONE), &xs), "gather(shift(N - 1), xs)");
    prints(
        b.gather(Permutation::Index(i.clone(), back.clone()), &xs),
        "gather(\\i -> N - i - 1, xs)",
    );
    prints(b.pad(1, 1, Boundary::Index(i.clone(), back), &xs), "pad(1, 1, \\i _ -> N - i - 1, xs)");
    let named = cx.fresh_index("N", lift_ir::Range::any());
    let body = Nat::var(&named);
    prints(b.gather(Permutation::Index(named, body), &xs), "gather(\\N1 -> N1, xs)");
}

/// `\x` of a type, applied by `map`.
fn mapped(cx: &Context, name: &str, body: impl FnOnce(&Expr) -> Expr, xs: &Expr) -> Expr {
    let x: Param = cx.fresh(name, Type::F32);
    let body = body(&cx.var(&x));
    let f = Lambda { size: None, params: vec![x], body };
    cx.call(Prim::Map(MapKind::Map), vec![], vec![f], vec![xs.clone()]).unwrap()
}

#[test]
fn names_are_made_distinct() {
    let cx = context();
    let b = Build::new(&cx);
    let xs = param(&cx, "xs", row());
    let x = param(&cx, "x", Type::F32);
    let add = |l: &Expr, r: &Expr| b.add(l, r).unwrap();
    prints(mapped(&cx, "N", |e| add(e, e), &xs), "map(\\N1 -> N1 + N1, xs)");
    prints(mapped(&cx, "let", |e| add(e, e), &xs), "map(\\let1 -> let1 + let1, xs)");
    prints(mapped(&cx, "map", |e| add(e, e), &xs), "map(\\map1 -> map1 + map1, xs)");
    prints(mapped(&cx, "_", |e| add(e, e), &xs), "map(\\unused1 -> unused1 + unused1, xs)");
    let outer = |y: &Expr| b.map(|z| b.map(|x| b.mul(b.add(x, z.clone()), y), &xs), &xs).unwrap();
    let nested = mapped(&cx, "x", outer, &xs);
    prints(nested, "map(\\x -> map(\\x1 -> map(\\x2 -> (x2 + x1) * x, xs), xs), xs)");
    let twice = b.let_in("t", b.f32(1.0), |t| b.let_in("t", b.add(&t, &x), |u| b.mul(&t, &u)));
    prints(twice, "let t = 1.0; let t1 = t + x; t * t1");
    // A name is free again behind its scope.
    let apart = b.add(b.let_in("t", &x, |t| b.mul(&t, &t)), b.let_in("t", &x, |t| b.mul(&t, &t)));
    prints(apart, "(let t = x; t * t) + (let t = x; t * t)");
}

/// The length of a changing iteration is the length of the function's parameter.
#[test]
fn lengths_are_written_as_lengths() {
    let cx = context();
    let b = Build::new(&cx);
    let size = cx.fresh_size_among("n", vec![Nat::int(8), Nat::int(4)]);
    let given = Type::array(Type::F32, Nat::var(&size));
    let half = Nat::var(&size).exact_div(&Nat::int(2));
    let mut halve = b.lambda([("ys", given)], |[ys]| b.take(half, ys)).unwrap();
    halve.size = Some(size);
    let eight = param(&cx, "xs", Type::array(Type::F32, 8));
    let twice = cx.call(Prim::Iterate, vec![Nat::int(2)], vec![halve], vec![eight]);
    prints(twice, "iterate(2, \\ys -> take(len(ys) / 2, ys), xs)");
}
