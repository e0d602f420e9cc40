//! Equality up to names, and the hash that goes with it.

use std::sync::Arc;

use lift_ir::{
    BinaryOp, Boundary, Build, Clause, Context, Def, Expr, Extern, Launch, LaunchClause, Nat,
    Parameter, Permutation, Pred, Prim, Scalar, Space, Type, Var,
};

use super::{context, m, matrix, n, param, row};

/// A list of programs no two of which are equal, made twice: each equals its own copy alone.
fn different(cx: &Context, xs: &Expr, t: &Expr) -> Vec<Expr> {
    let b = Build::new(cx);
    let index = |name: &str, offset: i128| {
        let i = cx.fresh_index(name, lift_ir::Range::any());
        (i.clone(), (Nat::var(&i) + Nat::int(offset)).rem(&n()))
    };
    let gather = |offset: i128| {
        let (i, body) = index("i", offset);
        b.gather(Permutation::Index(i, body), xs)
    };
    let pad = |offset: i128| {
        let (i, body) = index("k", offset);
        b.pad(1, 1, Boundary::Index(i, body), xs)
    };
    let external = |name: &str| {
        let function = Extern {
            name: name.to_string(),
            targets: vec!["c".to_string()],
            params: vec![("x".to_string(), Type::F32)],
            ret: Type::F32,
            code: "return x;".to_string(),
        };
        let prim = Prim::Extern(Arc::new(function));
        b.map(|x| cx.call(prim, vec![], vec![], vec![x]), xs)
    };
    let built = [
        Ok(xs.clone()),
        Ok(t.clone()),
        b.map(|x| b.add(&x, &x), xs),
        b.map(|x| b.mul(&x, &x), xs),
        b.map_seq(|x| b.mul(&x, &x), xs),
        b.map(|x| b.mul(&x, b.f32(2.0)), xs),
        b.map(|x| b.mul(&x, b.f32(-0.0)), xs),
        b.map(|x| b.mul(&x, b.f32(0.0)), xs),
        b.map(|x| b.let_in("y", b.add(&x, &x), |y| b.mul(&y, &y)), xs),
        b.map(|x| b.let_in("y", b.add(&x, &x), |y| b.mul(&y, &x)), xs),
        b.map(|x| b.let_in("y", b.add(&x, &x), |y| b.mul(&x, &y)), xs),
        b.map(|x| b.cast(x, Scalar::F64), xs),
        b.map(|x| b.cast(x, Scalar::I32), xs),
        b.map(|_| b.size(n()), xs),
        b.map(|_| b.size(n() + Nat::ONE), xs),
        b.map(|_| cx.size(&n(), Scalar::I64), xs),
        b.take(2, xs),
        b.take(3, xs),
        b.drop(2, xs),
        b.split(2, xs),
        b.split(4, xs),
        b.gather(Permutation::Reverse, xs),
        b.scatter(Permutation::Reverse, xs),
        b.gather(Permutation::Stride(Nat::int(2)), xs),
        b.gather(Permutation::Stride(Nat::int(4)), xs),
        b.gather(Permutation::Shift(n()), xs),
        b.gather(Permutation::Shift(m()), xs),
        gather(1),
        gather(2),
        pad(1),
        pad(2),
        b.pad(1, 1, Boundary::Clamp, xs),
        b.pad(1, 1, Boundary::Wrap, xs),
        b.to(Space::Local, |x| b.id(x), xs),
        b.to(Space::Global, |x| b.id(x), xs),
        b.tuple([xs, t]),
        b.tuple([t, xs]),
        b.reduce(b.f32(0.0), |a, x| b.sub(a, x), xs),
        b.reduce(b.f32(0.0), |a, x| b.sub(x, a), xs),
        external("f"),
        external("g"),
    ];
    built.into_iter().map(Result::unwrap).collect()
}

#[test]
fn programs_equal_only_their_copies() {
    let cx = context();
    let (xs, t) = (param(&cx, "xs", row()), param(&cx, "t", matrix()));
    let (first, second) = (different(&cx, &xs, &t), different(&cx, &xs, &t));
    for (i, a) in first.iter().enumerate() {
        for (j, b) in second.iter().enumerate() {
            assert_eq!(a.alpha_eq(b), i == j, "{a} and {b}");
            assert_eq!(a.alpha_hash() == b.alpha_hash(), i == j, "{a} and {b}");
        }
    }
}

/// `def f[N, M; T = 4](xs: [f32; N]) -> [f32; N] where N % T == 0 launch local(T) = …`, and what
/// each change makes of it.
fn def(change: &str, size: &str, xs: &str) -> Def {
    let (size, tile) = (Var::named(size), Var::named(if change == "names" { "B" } else { "T" }));
    let mut facts = lift_ir::Facts::new();
    facts.size(&size);
    facts.size(&tile);
    let divides = Pred::divides(Nat::var(&tile), Nat::var(&size));
    facts.assume(&divides);
    let cx = Context::new(facts);
    let b = Build::new(&cx);
    let ty = Type::array(Type::F32, &size);
    let xs = cx.fresh(xs, ty.clone());
    let op = if change == "body" { BinaryOp::Sub } else { BinaryOp::Add };
    let add = |x: Expr| cx.call(Prim::Binary(op), vec![], vec![], vec![x.clone(), x]);
    let chunks = b.split(Nat::var(&tile), cx.var(&xs));
    let body = b.join(b.map(|c| b.map(add, c), chunks)).unwrap();
    let fixed = |changed: &str, k: i128| Nat::int(if change == changed { k + 1 } else { k });
    let clauses = if change == "where" { vec![] } else { vec![divides] };
    let local = Nat::var(&tile) * fixed("launch", 1);
    let clause = if change == "clause" { LaunchClause::Global } else { LaunchClause::Local };
    Def {
        name: if change == "names" { "g" } else { "f" }.to_string(),
        span: None,
        sizes: vec![size],
        parameters: vec![Parameter { var: tile, default: Some(fixed("default", 4)) }],
        params: vec![xs],
        ret: if change == "ret" { Type::array(Type::F32, fixed("", 8)) } else { ty },
        wheres: clauses.into_iter().map(|pred| Clause { pred, span: None }).collect(),
        implied: vec![],
        launches: vec![Launch::default().with(clause, vec![local])],
        body,
        next_number: cx.next_number(),
        said: lift_ir::Said::default(),
    }
}

#[test]
fn definitions_are_equal_up_to_every_name() {
    let plain = def("", "N", "xs");
    for same in [def("", "N", "xs"), def("", "K", "xs"), def("", "N", "y"), def("names", "N", "xs")]
    {
        assert!(plain.alpha_eq(&same), "{same}");
        assert_eq!(plain.alpha_hash(), same.alpha_hash(), "{same}");
    }
    for change in ["body", "default", "where", "launch", "clause", "ret"] {
        let other = def(change, "N", "xs");
        assert!(!plain.alpha_eq(&other), "{change}");
        assert_ne!(plain.alpha_hash(), other.alpha_hash(), "{change}");
    }
}

/// Which of its sizes a definition speaks of is not a matter of names.
#[test]
fn sizes_of_a_definition_are_told_apart() {
    let speaks_of = |which: usize| {
        let mut def = def("", "N", "xs");
        def.sizes.push(Var::named("M"));
        let size = [n(), m()][which].clone();
        def.launches[0] = def.launches[0].clone().with(LaunchClause::Global, vec![size]);
        def
    };
    assert!(speaks_of(0).alpha_eq(&speaks_of(0)) && !speaks_of(0).alpha_eq(&speaks_of(1)));
}

#[test]
fn definitions_are_written_in_full() {
    assert_eq!(
        def("", "N", "xs").to_string(),
        "def f[N; T = 4](xs: [f32; N]) -> [f32; N] where N % T == 0 launch local(T) = \
         split(T, xs) |> map(map(\\x -> x + x)) |> join;"
    );
    let mut def = def("", "N", "xs");
    (def.wheres, def.launches, def.parameters) = (vec![], vec![], vec![]);
    let head = |def: &Def| def.to_string().split(" = ").next().unwrap().to_string();
    assert_eq!(head(&def), "def f[N](xs: [f32; N]) -> [f32; N]");
    def.sizes = vec![];
    assert_eq!(head(&def), "def f(xs: [f32; N]) -> [f32; N]");
    def.parameters = vec![Parameter { var: Var::named("T"), default: None }];
    assert_eq!(head(&def), "def f[; T](xs: [f32; N]) -> [f32; N]");
}
