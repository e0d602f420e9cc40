//! Constructors: what they fold, require and remember.

use std::sync::Arc;

use lift_ir::{
    BinaryOp, Build, Call, Clause, Context, Def, Expr, Extern, Facts, Kind, Launch, LaunchClause,
    Literal, Math, Nat, Parameter, Part, Place, Pred, Prim, Program, Range, Scalar, Span, Type,
    TypeError, Var,
};

use super::{context, m, matrix, n, row};

#[test]
fn arithmetic_on_sizes_and_constants_is_done_at_once() {
    let cx = context();
    let b = Build::new(&cx);
    let (size, two) = (b.size(n()).unwrap(), b.i32(2));
    let bits = |of: Result<Expr, TypeError>, mask: Expr| {
        cx.call(Prim::Binary(BinaryOp::BitAnd), vec![], vec![], vec![of?, mask])
    };
    for (built, text) in [
        (b.add(&size, &two), "N + 2"),
        (b.sub(&size, &two), "N - 2"),
        (b.mul(&size, &two), "2*N"),
        (b.div(&size, &two), "N / 2"),
        (b.rem(&size, &two), "0"),
        (b.rem(b.size(m()), &two), "M % 2"),
        (bits(b.size(m()), b.i32(127)), "M % 128"),
        (bits(b.size(m()), b.i32(0)), "0"),
        (b.math(Math::Min, [&size, &size]), "N"),
        (b.math(Math::Max, [b.size(n()), b.size(n() + Nat::ONE)]), "N + 1"),
        (b.add(b.i32(3), b.i32(4)), "7"),
        (b.sub(b.i32(3), b.i32(4)), "-1"),
        (b.mul(b.i32(3), b.i32(4)), "12"),
        (b.div(b.i32(-7), b.i32(2)), "-3"),
        (b.rem(b.i32(-7), b.i32(2)), "-1"),
        (b.math(Math::Min, [b.i32(3), b.i32(4)]), "3"),
        (b.math(Math::Max, [b.i32(3), b.i32(4)]), "4"),
    ] {
        let built = built.unwrap();
        assert!(!matches!(built.kind(), Kind::Call(_)), "{built}");
        assert_eq!(built.to_string(), text);
    }
    // What wraps or has no value stays arithmetic on values; comparisons are no sizes.
    let large = b.i32(i32::MAX);
    for built in [
        b.add(&large, &large),
        b.mul(&large, &large),
        b.div(&two, b.i32(0)),
        b.lt(&size, &two),
        b.mul(b.mul(&size, &large), &large),
        b.add(&two, b.param("i", Type::I32)),
        // Bits that are not the lowest ones, and bits of what may be negative.
        bits(b.size(n()), b.i32(6)),
        bits(b.size(n()), b.i32(-1)),
        bits(b.size(m() - Nat::int(9)), b.i32(7)),
    ] {
        assert!(built.as_ref().unwrap().as_call().is_some(), "{}", built.unwrap());
    }
    // A divisor that may be zero is left to values, which say so.
    let less = b.size(n() - Nat::int(4)).unwrap();
    assert!(b.div(b.i32(8), &less).unwrap().as_call().is_some());
    assert!(b.rem(b.i32(8), &less).unwrap().as_call().is_some());
    assert_eq!(b.div(b.i32(8), b.size(m())).unwrap().to_string(), "8 / M");
    let wide = cx.size(&n(), Scalar::I64).unwrap();
    assert!(b.add(&wide, &two).is_err(), "types are not mixed");
    let long = cx.literal(Literal::Int(Scalar::I64, 2));
    assert_eq!(b.mul(&wide, &long).unwrap().to_string(), "(2*N) as i64");
    // (a, b).1 is b.
    let (x, y) = (b.f32(1.0), b.param("y", Type::F32));
    assert!(b.field(b.tuple([&x, &y]), 1).unwrap().same_node(&y));
    assert!(
        b.field(b.param("p", Type::tuple([Type::F32, Type::F32])), 1).unwrap().as_call().is_some()
    );
}

#[test]
fn sizes_as_values() {
    let cx = context();
    assert_eq!(cx.size(&Nat::int(7), Scalar::I32).unwrap().to_string(), "7");
    let error = cx.size(&Nat::int(1 << 40), Scalar::I32).unwrap_err();
    assert_eq!(error.message, "1099511627776 is not a value of `i32`");
    assert!(cx.size(&Nat::int(1 << 40), Scalar::I64).is_ok());
    let help = |size: Nat| cx.size(&size, Scalar::F32).unwrap_err().help.unwrap();
    assert_eq!(help(n()), "write `N as f32`");
    assert_eq!(help(n() + Nat::ONE), "write `(N + 1) as f32`");
    assert_eq!(help(Nat::int(3)), "write `3 as f32`");
    let simplified = cx.size(&(n().div(&Nat::int(4)) * Nat::int(4)), Scalar::I32).unwrap();
    assert_eq!(simplified.to_string(), "N");
}

#[test]
fn types_are_equal_by_what_is_known() {
    let cx = context();
    let rounded = n().div(&Nat::int(4)) * Nat::int(4);
    let array = |size: &Nat| Type::array(Type::F32, size.clone());
    let (a, b) = (array(&n()), array(&rounded));
    assert_ne!(a, b);
    for (x, y, same) in [
        (a.clone(), b.clone(), true),
        (a.clone(), array(&m()), false),
        (a.clone(), Type::array(Type::I32, n()), false),
        (Type::tuple([a.clone(), Type::I32]), Type::tuple([b.clone(), Type::I32]), true),
        (Type::tuple([a.clone(), Type::I32]), Type::tuple([b.clone(), Type::F32]), false),
        (
            Type::tuple([a.clone(), b.clone()]),
            Type::tuple([a.clone(), b.clone(), b.clone()]),
            false,
        ),
        (Type::vector(Scalar::F32, n()), Type::vector(Scalar::F32, rounded.clone()), true),
        (Type::vector(Scalar::F32, n()), Type::vector(Scalar::F64, n()), false),
        (Type::vector(Scalar::F32, n()), Type::vector(Scalar::F32, m()), false),
        (Type::F32, Type::vector(Scalar::F32, n()), false),
        (Type::F32, Type::F32, true),
        (Type::F32, Type::I32, false),
        (a, Type::F32, false),
    ] {
        assert_eq!(cx.same_type(&x, &y), same, "{x} and {y}");
        assert_eq!(cx.same_type(&y, &x), same, "{y} and {x}");
    }
    assert_eq!(cx.simplify_type(&b).to_string(), "[f32; N]");
}

/// What cannot be proved is required once; what never holds is refused.
#[test]
fn requirements() {
    let cx = context();
    let at_least = |k: i128, size: Nat| Pred::Le(Nat::int(k), size);
    assert_eq!(cx.require(&at_least(4, n())), Ok(()));
    assert!(cx.required().is_empty());
    assert_eq!(cx.require(&at_least(3, m())), Ok(()));
    assert_eq!(cx.require(&at_least(2, m())), Ok(()));
    assert_eq!(cx.required(), [at_least(3, m())]);
    assert!(cx.proves(&at_least(3, m())) && !cx.proves(&at_least(4, m())));
    assert!(cx.refutes(&Pred::Lt(m(), Nat::int(3))));
    let never = Pred::Le(n(), Nat::int(3));
    assert_eq!(cx.require(&never), Err(never.clone()));
    assert_eq!(cx.required().len(), 1);
    // Of a variable with several values it is required at each.
    let v = cx.fresh_size_among("v", vec![n(), Nat::int(5)]);
    assert_eq!(cx.require(&at_least(5, Nat::var(&v))), Ok(()));
    assert_eq!(cx.required().len(), 2, "{:?}", cx.required());
    assert!(cx.proves(&at_least(8, n())), "5 <= N, a multiple of 4");
    assert!(cx.require(&at_least(6, Nat::var(&v))).is_err());
    cx.assume(&at_least(100, m()));
    assert!(cx.facts().at_most(&Nat::int(100), &m()));
    cx.declare_size(&Var::named("K"));
    assert!(cx.proves(&at_least(1, Nat::var(&Var::named("K")))));
}

#[test]
fn numbers_are_handed_out_once() {
    let cx = Context::starting_at(Facts::new(), 40);
    let (a, b) = (cx.fresh("x", Type::F32), cx.fresh("x", Type::F32));
    assert_eq!((a.id(), b.id(), cx.next_number()), (40, 41, 42));
    assert_eq!((a.name(), a.ty()), ("x", &Type::F32));
    assert!(a != b && a == a.clone());
    let (v, w) =
        (cx.fresh_index("i", Range::below(Nat::int(4))), cx.fresh_size_among("n", vec![Nat::ONE]));
    assert_eq!((v.id(), w.id()), (43, 44));
    assert!(
        cx.proves(&Pred::Lt(Nat::var(&v), Nat::int(4)))
            && cx.proves(&Pred::Eq(Nat::var(&w), Nat::ONE))
    );
}

#[test]
fn nodes_know_their_weight_and_free_variables() {
    let cx = context();
    let b = Build::new(&cx);
    let (x, y) = (b.param("x", Type::F32), b.param("y", Type::F32));
    let sum = b.add(&x, b.mul(&y, &x)).unwrap();
    assert_eq!((x.weight(), sum.weight()), (1, 5));
    let ids = [x.as_var().unwrap().id(), y.as_var().unwrap().id()];
    assert_eq!(sum.free_variables(), ids);
    let bound = b.let_in("z", &y, |z| b.add(&z, &x)).unwrap();
    assert_eq!((bound.weight(), bound.free_variables()), (4, &ids[..]));
    let map = b.map(|e| b.mul(&e, &y), b.repeat(4, &x)).unwrap();
    assert_eq!((map.weight(), map.free_variables()), (6, &ids[..]));
    assert!(map.mentions(x.as_var().unwrap()));
    let atom = |e: &Expr| e.is_atom();
    let p = b.param("p", Type::tuple([Type::F32, Type::F32]));
    assert!(atom(&x) && atom(&b.f32(1.0)) && atom(&b.size(n()).unwrap()));
    assert!(atom(&b.field(&p, 0).unwrap()) && atom(&b.tuple([&x, &y]).unwrap()));
    assert!(!atom(&sum) && !atom(&bound) && !atom(&b.tuple([&x, &sum]).unwrap()));
    let children: Vec<String> = map.children().iter().map(|c| c.to_string()).collect();
    assert_eq!(children, ["x * y", "repeat(4, x)"]);
    // A place in the text is no part of the value; it is set without touching other owners.
    let span = Span::new(0, 3, 4);
    let placed = sum.clone().with_span(span);
    assert_eq!((placed.span(), sum.span()), (Some(span), None));
    assert!(placed.alpha_eq(&sum) && placed.weight() == 5 && placed.free_variables() == ids);
    assert!(placed.clone().with_span(span).same_node(&placed));
    assert_eq!(b.f32(1.0).with_span(span).span(), Some(span));
}

#[test]
fn parts_are_replaced_anywhere() {
    let cx = context();
    let b = Build::new(&cx);
    let (x, y) = (b.param("x", Type::F32), b.param("y", Type::F32));
    let xs = b.param("xs", row());
    let program = b.let_in("t", b.add(&x, &y), |t| b.map(|e| b.mul(e, &t), &xs)).unwrap();
    let replaced = |place: &str, new: &Expr| {
        let place: Place = place.parse().unwrap();
        cx.replace_at(&program, &place, new).map(|r| r.map(|e| e.to_string()))
    };
    let text = |e: &str| Some(Ok(e.to_string()));
    assert_eq!(replaced("root", &x), text("x"));
    assert_eq!(replaced("0", &y), text("let t = y; map(\\x -> x * t, xs)"));
    assert_eq!(replaced("0.1", &x), text("let t = x + x; map(\\x -> x * t, xs)"));
    assert_eq!(replaced("1", &xs), text("let t = x + y; xs"));
    assert_eq!(replaced("1.0.0", &b.f32(2.0)), text("let t = x + y; map(\\x -> 2.0 * t, xs)"));
    let four = b.take(4, &xs).unwrap();
    assert_eq!(replaced("1.1", &four), text("let t = x + y; take(4, xs) |> map(\\x -> x * t)"));
    assert!(matches!(replaced("1.1", &x), Some(Err(_))), "no array");
    for nowhere in ["2", "0.2", "1.2", "0.0.0"] {
        assert_eq!(replaced(nowhere, &x), None, "{nowhere}");
    }
    // The type above follows, and places in the text stay.
    let span = Span::new(0, 1, 2);
    let placed = b.map(|e| b.neg(e), &xs).unwrap().with_span(span);
    let shorter = cx.replace_at(&placed, &"1".parse().unwrap(), &four).unwrap().unwrap();
    assert_eq!((shorter.ty().to_string().as_str(), shorter.span()), ("[f32; 4]", Some(span)));
    let same = cx.replace_at(&placed, &"1".parse().unwrap(), &b.id(&xs).unwrap()).unwrap().unwrap();
    assert_eq!((same.ty(), same.span()), (placed.ty(), Some(span)));
    // Folding goes on above what was replaced.
    let size = b.param("i", Type::I32);
    let sum = b.add(&size, b.i32(3)).unwrap();
    let folded = cx.replace_at(&sum, &"0".parse().unwrap(), &b.i32(4)).unwrap().unwrap();
    assert_eq!(folded.to_string(), "7");
    assert_eq!(Place::root().child(2).child(0).to_string(), "2.0");
    assert_eq!(Place::root().to_string(), "root");
    assert_eq!("root".parse::<Place>(), Ok(Place::root()));
    assert!("".parse::<Place>().unwrap_err().contains("is not a place"));
}

fn external(name: &str) -> Arc<Extern> {
    Arc::new(Extern {
        name: name.to_string(),
        targets: vec!["opencl".to_string(), "c".to_string()],
        params: vec![("x".to_string(), Type::F32)],
        ret: Type::F32,
        code: "// \"quoted\"\n\treturn x\\y;".to_string(),
    })
}

/// `def f[N; T](xs: [f32; N]) -> … where N % T == 0 = map(g, map(h, map(g, xs)))`
fn definition(name: &str) -> Def {
    let cx = context();
    let b = Build::new(&cx);
    let tile = Var::named("T");
    cx.declare_size(&tile);
    let xs = cx.fresh("xs", row());
    let apply = |f: &str, x: Expr| cx.call(Prim::Extern(external(f)), vec![], vec![], vec![x]);
    let inner = b.map(|x| apply("g", x), cx.var(&xs));
    let body = b.map(|x| apply("g", x), b.map(|x| apply("h", x), inner)).unwrap();
    Def {
        name: name.to_string(),
        span: None,
        sizes: vec![Var::named("N")],
        parameters: vec![Parameter { var: tile.clone(), default: None }],
        params: vec![xs],
        ret: row(),
        wheres: vec![Clause { pred: Pred::divides(Nat::var(&tile), n()), span: None }],
        implied: vec![Pred::Le(Nat::int(6), n())],
        launches: vec![
            Launch::default()
                .with(LaunchClause::Local, vec![Nat::var(&tile)])
                .with(LaunchClause::Global, vec![n(), Nat::ONE])
                .with(LaunchClause::Padding, vec![Nat::ONE]),
        ],
        body,
        next_number: cx.next_number(),
        said: lift_ir::Said::default(),
    }
}

#[test]
fn definitions_know_their_facts() {
    let def = definition("f");
    let (facts, tile) = (def.facts(), Nat::var(&Var::named("T")));
    assert!(facts.divides(&tile, &n()) && facts.at_most(&Nat::int(6), &n()));
    assert!(facts.at_most(&Nat::ONE, &tile) && !facts.at_most(&Nat::int(7), &n()));
    assert_eq!(def.context().next_number(), def.next_number);
    assert!(def.context().proves(&Pred::Le(Nat::int(6), n())));
    let externs: Vec<&str> = def.externs().iter().map(|e| e.name.as_str()).collect();
    assert_eq!(externs, ["g", "h"]);
    assert_eq!(def.uses_extern(), Some("g"));
    let launch = &def.launches[0];
    assert_eq!(launch.sizes().count(), 4);
    let doubled = launch.map_sizes(|size| size * Nat::int(2));
    let all: Vec<String> = doubled.sizes().map(Nat::to_string).collect();
    assert_eq!(all, ["2*T", "2*N", "2", "2"]);
    assert_eq!(
        def.to_string(),
        "extern \"opencl,c\" fn g(x: f32) -> f32 = \"// \\\"quoted\\\"\\n\\treturn x\\\\y;\";\n\
         extern \"opencl,c\" fn h(x: f32) -> f32 = \"// \\\"quoted\\\"\\n\\treturn x\\\\y;\";\n\
         def f[N; T](xs: [f32; N]) -> [f32; N] where N % T == 0 \
         launch local(T) global(N, 1) padding(1) = \
         map(\\x -> g(x), xs) |> map(\\x -> h(x)) |> map(\\x -> g(x));"
    );
}

#[test]
fn programs_have_an_entry() {
    let named = |names: &[&str]| Program {
        defs: names.iter().map(|name| definition(name)).collect(),
        tests: vec![],
    };
    let entry = |names: &[&str]| named(names).entry().map(|d| d.name.clone());
    assert_eq!(entry(&["a", "b"]).as_deref(), Some("b"));
    assert_eq!(entry(&["main", "b"]).as_deref(), Some("main"));
    assert_eq!(entry(&[]), None);
    assert!(named(&["a", "b"]).def("a").is_some() && named(&["a"]).def("b").is_none());
}

/// The length variable of an `iterate` takes the lengths it goes through, in another context too.
#[test]
fn lengths_of_an_iteration_are_known_again() {
    let cx = context();
    let b = Build::new(&cx);
    let size = cx.fresh_size_among("n", vec![Nat::int(8), Nat::int(4)]);
    let given = Type::array(Type::F32, Nat::var(&size));
    let mut halve =
        b.lambda([("ys", given)], |[ys]| b.map(|p| b.at(b.i32(1), p), b.split(2, ys))).unwrap();
    halve.size = Some(size.clone());
    let eight = b.param("xs", Type::array(Type::F32, 8));
    let twice = cx.call(Prim::Iterate, vec![Nat::int(2)], vec![halve], vec![eight]).unwrap();
    assert_eq!(twice.ty().to_string(), "[f32; 2]");
    let other = Context::new(Facts::new());
    let length = Nat::var(&size);
    assert!(!other.proves(&Pred::divides(Nat::int(4), length.clone())));
    other.adopt(&twice);
    assert!(other.proves(&Pred::divides(Nat::int(4), length.clone())));
    assert!(other.proves(&Pred::Le(Nat::int(4), length.clone())));
    assert!(other.proves(&Pred::Le(length.clone(), Nat::int(8))));
    assert!(!other.proves(&Pred::Le(length, Nat::int(7))));
    let places = twice.places();
    assert_eq!(places.first().map(|(place, _)| place.clone()), Some(Place::root()));
    assert!(places.is_sorted_by(|(a, _), (b, _)| a < b), "parents first, in order");
}

#[test]
fn values_replace_variables() {
    let cx = context();
    let b = Build::new(&cx);
    let (x, y) = (b.param("x", Type::F32), b.param("y", Type::F32));
    let xs = b.param("xs", row());
    let id = |e: &Expr| e.as_var().unwrap().clone();
    let program =
        b.let_in("t", b.add(&x, &y), |t| b.map(|e| b.mul(b.mul(e, &t), &x), &xs)).unwrap();
    let swapped = cx.substitute(&program, &[(id(&x), y.clone()), (id(&y), x.clone())]);
    let expected =
        b.let_in("t", b.add(&y, &x), |t| b.map(|e| b.mul(b.mul(e, &t), &y), &xs)).unwrap();
    assert!(swapped.alpha_eq(&expected), "all at once: {swapped}");
    assert!(
        cx.substitute(&program, &[(id(&b.param("z", Type::F32)), x.clone())]).same_node(&program)
    );
    // A binder that a value mentions is renamed, a `let` too.
    let Kind::Let { param, .. } = program.kind() else { panic!("a let") };
    let captured = cx.substitute(&program, &[(id(&y), cx.var(param))]);
    assert!(captured.mentions(param), "{captured}");
    // Sizes are replaced in types, parameters, patterns and values.
    let rows = b.param("m", matrix());
    let all = b
        .let_in("t", b.gather(lift_ir::Permutation::Shift(m()), &rows), |t| {
            b.map(|r| b.tuple([b.cast(b.size(m()), Scalar::F32), b.head(b.take(m(), r))]), t)
        })
        .unwrap();
    let fixed = cx.substitute_sizes(&all, &|v| (v.name() == "M").then(|| Nat::int(6)));
    assert_eq!(
        fixed.to_string(),
        "let t = gather(shift(6), m); map(\\x -> ((6) as f32, take(6, x) |> head), t)"
    );
    assert!(fixed.places().iter().all(|(_, e)| !e.ty().mentions(&Var::named("M"))));
    let param = cx.substitute_param(rows.as_var().unwrap(), &|v| (v.name() == "M").then(n));
    assert_eq!((param.ty().to_string().as_str(), param.id()), ("[[f32; N]; N]", id(&rows).id()));
    // A constant out of range stays a size, to be reported where it is evaluated.
    let huge = cx.substitute_sizes(&b.size(m()).unwrap(), &|_| Some(Nat::int(1 << 40)));
    assert!(matches!(huge.kind(), Kind::Size(..)), "{huge}");
}

#[test]
fn errors_tell_their_notes() {
    let error = TypeError::new(Part::Whole, "no").note("because").note("also");
    assert_eq!((error.to_string().as_str(), error.help), ("no; because; also", None));
}

#[test]
fn a_let_has_the_type_of_its_value() {
    let cx = context();
    let b = Build::new(&cx);
    let t = cx.fresh("t", Type::I32);
    let error = cx.let_in(t.clone(), b.f32(1.0), cx.var(&t)).unwrap_err();
    assert_eq!(
        (error.part, error.message.as_str()),
        (Part::Argument(0), "expected `i32`, found `f32`")
    );
    assert_eq!(cx.let_in(t.clone(), b.i32(1), cx.var(&t)).unwrap().ty(), &Type::I32);
    let call = b.add(b.param("x", Type::F32), b.f32(1.0)).unwrap();
    assert!(matches!(call.as_call(), Some(Call { prim: Prim::Binary(_), .. })));
    assert!(call.as_var().is_none() && b.f32(1.0).as_call().is_none());
}
