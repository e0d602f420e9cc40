//! What is not well typed, where the fault lies, and what would mend it.

use lift_ir::{
    BinaryOp, Boundary, Build, Built, Extern, FoldKind, MapKind, Math, Nat, Part, Permutation,
    Prim, Scalar, Space, Type, UnaryOp,
};

use super::{context, m, matrix, n, param, row};

#[track_caller]
fn refused(built: Built, part: Part, message: &str) {
    let error = built.unwrap_err();
    assert_eq!((error.message.as_str(), error.part), (message, part));
}

#[track_caller]
fn typed(built: Built, ty: &str) {
    assert_eq!(built.unwrap().ty().to_string(), ty);
}

#[track_caller]
fn help(built: Built, expected: Option<&str>) {
    assert_eq!(built.unwrap_err().help.as_deref(), expected);
}

#[test]
fn arrays() {
    let cx = context();
    let b = Build::new(&cx);
    let (xs, rows) = (param(&cx, "xs", row()), param(&cx, "m", matrix()));
    let x = b.f32(1.0);
    refused(b.zip([&xs]), Part::Whole, "`zip` needs at least two arrays");
    refused(b.zip([&xs, &x]), Part::Argument(1), "`zip` takes an array, found `f32`");
    let short = b.take(2, &xs).unwrap();
    refused(
        b.zip([&xs, &xs, &short]),
        Part::Argument(2),
        "`zip` needs equal lengths, found `N` and `2`",
    );
    typed(b.zip([&xs, &xs, &xs]), "[(f32, f32, f32); N]");
    refused(b.unzip(&xs), Part::Argument(0), "`unzip` takes an array of tuples, found `[f32; N]`");
    refused(
        b.transpose(&xs),
        Part::Argument(0),
        "`transpose` takes an array of arrays, found `[f32; N]`",
    );
    refused(b.split(0, &xs), Part::Size(0), "`split` takes a size of at least 1, found 0");
    typed(b.split(1, &xs), "[[f32; 1]; N]");
    refused(b.take(-1, &xs), Part::Size(0), "`take` takes no negative size, found -1");
    typed(b.take(0, &xs), "[f32; 0]");
    typed(b.drop(0, &xs), "[f32; N]");
    refused(b.drop(5, &short), Part::Size(0), "`drop` needs `5 <= 2`, which never holds");
    refused(b.slide(0, 1, &xs), Part::Size(0), "`slide` takes a size of at least 1, found 0");
    refused(b.slide(1, 0, &xs), Part::Size(1), "`slide` takes a size of at least 1, found 0");
    refused(b.slide(3, 1, &short), Part::Size(0), "`slide` needs `3 <= 2`, which never holds");
    typed(b.slide(4, 2, &xs), "[[f32; 4]; N / 2 - 1]");
    typed(b.slide(4, 4, &xs), "[[f32; 4]; N / 4]");
    refused(
        b.pad(-1, 0, Boundary::Clamp, &xs),
        Part::Size(0),
        "`pad` takes no negative size, found -1",
    );
    refused(
        b.pad(0, -1, Boundary::Clamp, &xs),
        Part::Size(1),
        "`pad` takes no negative size, found -1",
    );
    refused(
        b.pad(3, 0, Boundary::Mirror, &short),
        Part::Size(0),
        "`pad` needs `3 <= 2`, which never holds",
    );
    refused(
        b.pad(0, 3, Boundary::Mirror, &short),
        Part::Size(1),
        "`pad` needs `3 <= 2`, which never holds",
    );
    typed(b.pad(2, 2, Boundary::Mirror, &short), "[f32; 6]");
    typed(b.pad(3, 3, Boundary::Wrap, &short), "[f32; 8]");
    let none = b.take(0, &xs).unwrap();
    refused(
        b.pad(1, 0, Boundary::Clamp, &none),
        Part::Argument(0),
        "`pad` needs `1 <= 0`, which never holds",
    );
    refused(b.head(&none), Part::Argument(0), "`head` needs `1 <= 0`, which never holds");
    typed(b.pad_value(1, 0, &x, &none), "[f32; 1]");
    typed(b.pad_value(1, 2, &x, &xs), "[f32; N + 3]");
    refused(
        b.pad(1, 1, Boundary::Clamp, &none),
        Part::Argument(0),
        "`pad` needs `1 <= 0`, which never holds",
    );
    typed(b.pad(0, 0, Boundary::Clamp, &none), "[f32; 0]");
    refused(b.pad_value(1, 0, b.i32(0), &xs), Part::Argument(0), "expected `f32`, found `i32`");
    refused(b.concat(&xs, &rows), Part::Argument(1), "expected `f32`, found `[f32; M]`");
    refused(b.array([&x, &b.i32(0)]), Part::Argument(1), "expected `f32`, found `i32`");
    typed(b.array([&x, &x, &x]), "[f32; 3]");
    typed(b.generate(0, |_| Ok(x.clone())), "[f32; 0]");
    refused(
        b.as_scalar(&xs),
        Part::Argument(0),
        "`as_scalar` takes an array of vectors, found `[f32; N]`",
    );
    let odd = b.take(6, param(&cx, "ys", Type::array(Type::F32, 9))).unwrap();
    refused(
        b.as_vector(4, &odd),
        Part::Size(0),
        "`as_vector` needs `6 % 4 == 0`, which does not hold",
    );
    let stride = |s: i128| b.gather(Permutation::Stride(Nat::int(s)), &xs);
    refused(stride(3), Part::Whole, "`gather` needs `N % 3 == 0`, which cannot be proved");
    help(stride(3), Some("state it: `where N % 3 == 0`"));
    refused(stride(0), Part::Whole, "`gather` needs `1 <= 0`, which never holds");
    refused(b.at(b.f32(0.0), &xs), Part::Argument(0), "an index is an integer, found `f32`");
}

#[test]
fn functions() {
    let cx = context();
    let b = Build::new(&cx);
    let (xs, rows) = (param(&cx, "xs", row()), param(&cx, "m", matrix()));
    let call = |prim: Prim, sizes: Vec<Nat>, functions, args| cx.call(prim, sizes, functions, args);
    let of_i32 = || b.lambda([("k", Type::I32)], |[k]| Ok(k)).unwrap();
    let of_two = || b.lambda([("k", Type::F32), ("l", Type::F32)], |[k, _]| Ok(k)).unwrap();
    let map = |f| call(Prim::Map(MapKind::Map), vec![], vec![f], vec![xs.clone()]);
    refused(
        map(of_i32()),
        Part::Function(0),
        "the function of `map` is given `f32`, but its parameter `k` is `i32`",
    );
    refused(map(of_two()), Part::Function(0), "the function of `map` takes 1 parameters, found 2");
    refused(
        call(Prim::Map(MapKind::Map), vec![], vec![], vec![xs.clone()]),
        Part::Whole,
        "`map` lacks a function",
    );
    refused(
        call(Prim::Map(MapKind::Map), vec![], vec![of_two()], vec![]),
        Part::Whole,
        "`map` lacks an argument",
    );
    refused(
        call(Prim::Split, vec![], vec![], vec![xs.clone()]),
        Part::Whole,
        "`split` lacks a size",
    );
    for (kind, allowed) in [
        (MapKind::Glb(6), "the dimension of `mapGlb` is 0 to 5"),
        (MapKind::Lcl(3), "the dimension of `mapLcl` is 0, 1 or 2"),
        (MapKind::Lane(1), "the dimension of `mapLane` is 0"),
    ] {
        refused(b.map_as(kind, Ok, &xs), Part::Whole, allowed);
    }
    typed(b.map_as(MapKind::Glb(2), Ok, &xs), "[f32; N]");
    typed(b.map_as(MapKind::Warp(0), Ok, &xs), "[f32; N]");
    refused(
        b.scan(b.i32(0), |a, _| Ok(a), &xs),
        Part::Argument(0),
        "`scan` starts from a value of the element type `f32`, found `i32`",
    );
    refused(
        b.reduce(b.f32(0.0), |_, _| Ok(b.i32(1)), &xs),
        Part::Function(0),
        "the function of `reduce` must return `f32`, found `i32`",
    );
    typed(b.reduce_as(FoldKind::SeqUnroll, b.i32(0), |a, _| Ok(a), &xs), "i32");
    refused(
        b.partial_reduce(3, b.f32(0.0), |a, x| b.add(a, x), &xs),
        Part::Size(0),
        "`partial_reduce` needs `N % 3 == 0`, which cannot be proved",
    );
    refused(b.iterate(-1, Ok, &xs), Part::Size(0), "`iterate` takes no negative size, found -1");
    refused(
        b.iterate(2, |ys| b.take(2, ys), &xs),
        Part::Function(0),
        "expected `[f32; N]`, found `[f32; 2]`",
    );
    typed(b.iterate(0, |x| b.neg(x), b.f32(1.0)), "f32");
    let slide = |window: i128| {
        let f = b.lambda([("w", Type::array(Type::F32, 3))], |[w]| b.head(w)).unwrap();
        call(Prim::MapSeqSlide, vec![Nat::int(window), Nat::ONE], vec![f], vec![xs.clone()])
    };
    typed(slide(3), "[f32; N - 2]");
    assert!(slide(2).is_err());
    typed(b.to(Space::Global, |r| b.head(r), &rows), "[f32; M]");
}

/// An iteration that changes the length.
#[test]
fn changing_iterations() {
    let cx = context();
    let b = Build::new(&cx);
    let size = cx.fresh_size_among("n", vec![Nat::int(8), Nat::int(4)]);
    let given = || Type::array(Type::F32, Nat::var(&size));
    let eight = param(&cx, "xs", Type::array(Type::F32, 8));
    let iterate = |times: Nat, body: &dyn Fn(lift_ir::Expr) -> Built| {
        let mut f = b.lambda([("ys", given())], |[ys]| body(ys)).unwrap();
        f.size = Some(size.clone());
        cx.call(Prim::Iterate, vec![times], vec![f], vec![eight.clone()])
    };
    let halve = |ys: lift_ir::Expr| b.take(Nat::var(&size).exact_div(&Nat::int(2)), ys);
    typed(iterate(Nat::int(2), &halve), "[f32; 2]");
    typed(iterate(Nat::int(1), &halve), "[f32; 4]");
    refused(
        iterate(m(), &halve),
        Part::Size(0),
        "the function changes the length, so `M` must be a constant",
    );
    refused(
        iterate(Nat::int(2), &|ys| b.head(ys)),
        Part::Function(0),
        "expected an array of `f32`, found `f32`",
    );
    refused(
        iterate(Nat::int(2), &|ys| b.map(|x| b.cast(x, Scalar::I32), ys)),
        Part::Function(0),
        "expected `f32`, found `i32`",
    );
}

#[test]
fn scalars() {
    let cx = context();
    let b = Build::new(&cx);
    let (x, i, flag) =
        (param(&cx, "x", Type::F32), param(&cx, "i", Type::I32), param(&cx, "c", Type::BOOL));
    let vector = |width: i128| param(&cx, "v", Type::vector(Scalar::F32, Nat::int(width)));
    let xs = param(&cx, "xs", row());
    let unary = |op, e: &lift_ir::Expr| cx.call(Prim::Unary(op), vec![], vec![], vec![e.clone()]);
    refused(unary(UnaryOp::Neg, &flag), Part::Argument(0), "`-` takes a number, found `bool`");
    refused(unary(UnaryOp::Not, &x), Part::Argument(0), "`!` takes a `bool`, found `f32`");
    refused(unary(UnaryOp::Neg, &xs), Part::Argument(0), "`-` takes a number, found `[f32; N]`");
    typed(unary(UnaryOp::Not, &flag), "bool");
    typed(unary(UnaryOp::Neg, &vector(4)), "f32x4");
    let binary = |op, l: &lift_ir::Expr, r: &lift_ir::Expr| {
        cx.call(Prim::Binary(op), vec![], vec![], vec![l.clone(), r.clone()])
    };
    refused(
        binary(BinaryOp::Add, &flag, &flag),
        Part::Whole,
        "`+` takes numbers, found `bool` and `bool`",
    );
    refused(
        binary(BinaryOp::And, &flag, &x),
        Part::Whole,
        "`&&` takes `bool`s, found `bool` and `f32`",
    );
    refused(
        binary(BinaryOp::Lt, &flag, &x),
        Part::Whole,
        "`<` takes numbers, found `bool` and `f32`",
    );
    help(
        binary(BinaryOp::Lt, &flag, &x),
        Some("two comparisons are joined by `&&`: `a < b && b < c`"),
    );
    help(binary(BinaryOp::Add, &flag, &x), None);
    help(binary(BinaryOp::Lt, &x, &flag), None);
    typed(binary(BinaryOp::Eq, &flag, &flag), "bool");
    typed(binary(BinaryOp::Ne, &x, &x), "bool");
    typed(binary(BinaryOp::Or, &flag, &flag), "bool");
    help(binary(BinaryOp::Add, &x, &i), Some("convert one of them, as in `x as f32`"));
    let (four, eight) = (vector(4), vector(8));
    refused(
        binary(BinaryOp::Add, &four, &eight),
        Part::Whole,
        "`+` takes equal types, found `f32x4` and `f32x8`",
    );
    help(binary(BinaryOp::Add, &four, &eight), None);
    typed(binary(BinaryOp::Add, &x, &four), "f32x4");
    typed(binary(BinaryOp::Le, &four, &x), "boolx4");
    refused(b.add(&xs, &x), Part::Argument(0), "`+` takes scalars or vectors, found `[f32; N]`");
    help(b.add(&x, &xs), Some("`map` applies a function to every element"));
    let pair = b.tuple([&x, &x]).unwrap();
    help(b.add(&x, &pair), None);
    refused(
        b.cast(&xs, Scalar::F32),
        Part::Argument(0),
        "`as` converts scalars and vectors, found `[f32; N]`",
    );
    typed(b.cast(&flag, Scalar::F16), "f16");
    refused(
        b.if_then(&flag, &x, &i),
        Part::Argument(2),
        "both branches of an `if` have one type, found `f32` and `i32`",
    );
    refused(
        b.if_then(&flag, &xs, &xs),
        Part::Argument(1),
        "an `if` chooses between scalars, vectors or tuples, found `[f32; N]`",
    );
    typed(b.if_then(&flag, &pair, &pair), "(f32, f32)");
}

#[test]
fn functions_of_scalars() {
    let cx = context();
    let b = Build::new(&cx);
    let (x, i, flag) =
        (param(&cx, "x", Type::F32), param(&cx, "i", Type::I32), param(&cx, "c", Type::BOOL));
    let v = param(&cx, "v", Type::vector(Scalar::F32, 4));
    let flags = |width: i128| param(&cx, "c", Type::vector(Scalar::Bool, Nat::int(width)));
    for math in [Math::Floor, Math::Sqrt, Math::Exp, Math::Sin, Math::Tanh] {
        typed(b.math(math, [&x]), "f32");
        typed(b.math(math, [&v]), "f32x4");
        help(b.math(math, [&i]), Some("convert it: `x as f32`"));
    }
    typed(b.math(Math::Abs, [&i]), "i32");
    typed(b.math(Math::Fma, [&x, &v, &x]), "f32x4");
    typed(b.math(Math::Clamp, [&i, &i, &i]), "i32");
    refused(
        b.math(Math::Max, [&flag, &flag]),
        Part::Argument(0),
        "`max` takes numbers, found `bool`",
    );
    help(b.math(Math::Max, [&flag, &flag]), None);
    refused(
        b.math(Math::Dot, [&x, &v]),
        Part::Whole,
        "`dot` takes two vectors, found `f32` and `f32x4`",
    );
    refused(
        b.math(Math::Pow, [&x, &i]),
        Part::Whole,
        "`pow` takes equal types, found `f32` and `i32`",
    );
    typed(b.math(Math::Select, [&flag, &v, &v]), "f32x4");
    typed(b.math(Math::Select, [&flags(4), &x, &x]), "f32x4");
    typed(b.math(Math::Select, [&flags(4), &v, &x]), "f32x4");
    let wrong = "`select` chooses by a `bool` (or as many as there are lanes), found `boolx8`";
    refused(b.math(Math::Select, [&flags(8), &v, &v]), Part::Argument(0), wrong);
    assert!(b.math(Math::Select, [&x, &x, &x]).is_err());
    let function = Extern {
        name: "g".to_string(),
        targets: vec![],
        params: vec![("a".to_string(), Type::F32)],
        ret: Type::I32,
        code: String::new(),
    };
    let prim = Prim::Extern(std::sync::Arc::new(function));
    let external = |args: Vec<lift_ir::Expr>| cx.call(prim.clone(), vec![], vec![], args);
    typed(external(vec![x.clone()]), "i32");
    refused(external(vec![]), Part::Whole, "`g` takes 1 arguments, found 0");
    refused(external(vec![i.clone()]), Part::Argument(0), "expected `f32`, found `i32`");
}

#[test]
fn vectors_and_tuples() {
    let cx = context();
    let b = Build::new(&cx);
    let (x, i) = (param(&cx, "x", Type::F32), param(&cx, "i", Type::I32));
    let v = param(&cx, "v", Type::vector(Scalar::F32, 4));
    let vector = |args: Vec<lift_ir::Expr>| cx.call(Prim::Vector, vec![], vec![], args);
    typed(vector(vec![x.clone(), x.clone(), x.clone()]), "f32x3");
    refused(vector(vec![x.clone(); 5]), Part::Whole, "a vector has 2, 3, 4, 8 or 16 lanes, not 5");
    refused(vector(vec![x.clone(), i.clone()]), Part::Argument(1), "expected `f32`, found `i32`");
    refused(
        vector(vec![v.clone(), v.clone()]),
        Part::Argument(0),
        "a vector is made of scalars, found `f32x4`",
    );
    refused(b.splat(5, &x), Part::Size(0), "a vector has 2, 3, 4, 8 or 16 lanes, not 5");
    typed(b.splat(n(), &x), "f32x{N}");
    refused(
        b.lane(0, &x),
        Part::Argument(0),
        "only vectors have lanes and arrays elements, found `f32`",
    );
    typed(b.lane(3, &v), "f32");
    refused(b.tuple([&x]), Part::Whole, "a tuple has at least two components");
    let unary = b.lambda([("s", Type::F32)], |[s]| Ok(s)).unwrap();
    refused(
        b.vectorize(4, unary.clone(), [&v, &v]),
        Part::Function(0),
        "the function takes 1 parameters, but 2 are given",
    );
    let vectors = b.lambda([("s", Type::vector(Scalar::F32, 4))], |[s]| Ok(s)).unwrap();
    refused(
        b.vectorize(4, vectors, [&v]),
        Part::Function(0),
        "`vectorize` takes a function on scalars, found `f32x4`",
    );
    let arrays = b.lambda([("s", Type::F32)], |[s]| b.repeat(2, s)).unwrap();
    refused(
        b.vectorize(4, arrays, [&v]),
        Part::Function(0),
        "`vectorize` takes a function to scalars, found `[f32; 2]`",
    );
    refused(
        b.vectorize(7, unary, [&v]),
        Part::Size(0),
        "a vector has 2, 3, 4, 8 or 16 lanes, not 7",
    );
}

/// Index functions are tried on every index, where the length is known and not too large.
#[test]
fn index_functions_are_tried() {
    let cx = context();
    let b = Build::new(&cx);
    let i = cx.fresh_index("i", lift_ir::Range::any());
    let of = |length: i128| param(&cx, "xs", Type::array(Type::F32, Nat::int(length)));
    let halved = || Permutation::Index(i.clone(), Nat::var(&i).div(&Nat::int(2)));
    refused(
        b.gather(halved(), of(6)),
        Part::Whole,
        "`gather` needs a permutation, but 0 and 1 both go to 0",
    );
    assert!(b.scatter(halved(), of(1 << 16)).is_err());
    assert!(b.scatter(halved(), of((1 << 16) + 1)).is_ok(), "tried before it runs");
    assert!(b.gather(halved(), param(&cx, "ys", row())).is_ok(), "the length is not known");
    let by_size = Permutation::Index(i.clone(), (Nat::var(&i) * m()).rem(&Nat::int(6)));
    assert!(b.gather(by_size, of(6)).is_ok(), "the size is not known");
}
