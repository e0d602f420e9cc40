//! Equality up to names, substitution, places.

#![allow(clippy::unwrap_used)]

use lift_ir::{Build, Context, Expr, Facts, Kind, Literal, Nat, Place, Type, Var};

fn context() -> Context {
    let mut facts = Facts::new();
    facts.size(&Var::named("N"));
    Context::new(facts)
}

fn array() -> Type {
    Type::array(Type::F32, Nat::var(&Var::named("N")))
}

#[test]
fn names_of_bound_variables_do_not_matter() {
    let cx = context();
    let b = Build::new(&cx);
    let xs = b.param("xs", array());
    let squares = || b.map(|x| b.mul(&x, &x), &xs).unwrap();
    let (first, second) = (squares(), squares());
    assert!(!first.same_node(&second));
    assert!(first.alpha_eq(&second));
    assert_eq!(first.alpha_hash(), second.alpha_hash());
    let cubes = b.map(|x| b.mul(b.mul(&x, &x), &x), &xs).unwrap();
    assert!(!first.alpha_eq(&cubes));
}

#[test]
fn which_bound_variable_matters() {
    let cx = context();
    let b = Build::new(&cx);
    let xs = b.param("xs", array());
    let nested = |outer: bool| {
        b.map(|x| b.map(|y| b.sub(if outer { &x } else { &y }, &y), &xs), &xs).unwrap()
    };
    assert!(nested(true).alpha_eq(&nested(true)));
    assert!(!nested(true).alpha_eq(&nested(false)));
}

#[test]
fn free_variables_differ() {
    let cx = context();
    let b = Build::new(&cx);
    let (x, y) = (b.param("v", Type::F32), b.param("v", Type::F32));
    assert!(!x.alpha_eq(&y));
    let lambda = b.map(|z| b.add(z, &x), b.param("xs", array())).unwrap();
    assert_eq!(lambda.free_variables().len(), 2);
    assert!(lambda.mentions(x.as_var().unwrap()));
    assert!(!lambda.mentions(y.as_var().unwrap()));
}

/// `(\y -> x + y)[x := y]` must not become `\y -> y + y`.
#[test]
fn substitution_avoids_capture() {
    let cx = context();
    let b = Build::new(&cx);
    let xs = b.param("xs", array());
    let x = b.param("x", Type::F32);
    let mapped = b.map(|y| b.add(&x, y), &xs).unwrap();
    let Kind::Call(call) = mapped.kind() else { panic!("a map is a call") };
    let inner = cx.var(&call.functions[0].params[0]);
    let replaced = cx.substitute(&mapped, &[(x.as_var().unwrap().clone(), inner.clone())]);
    assert!(replaced.mentions(inner.as_var().unwrap()), "the variable stays free: {replaced}");
    let expected = b.map(|y| b.add(&inner, y), &xs).unwrap();
    assert!(replaced.alpha_eq(&expected));
}

#[test]
fn substitution_leaves_shadowed_variables() {
    let cx = context();
    let b = Build::new(&cx);
    let value = b.f32(2.0);
    let expr = b.let_in("x", b.f32(1.0), |x| b.add(&x, &x)).unwrap();
    let Kind::Let { param, .. } = expr.kind() else { panic!("a let is a let") };
    let replaced = cx.substitute(&expr, &[(param.clone(), value)]);
    assert!(replaced.alpha_eq(&expr));
}

#[test]
fn sizes_are_replaced_in_types_too() {
    let cx = context();
    let b = Build::new(&cx);
    let n = Var::named("N");
    let xs = b.param("xs", array());
    let sum = b.map(|x| b.mul(x, b.f32(2.0)), b.concat(&xs, &xs)).unwrap();
    let eight = cx.substitute_sizes(&sum, &|v| (*v == n).then(|| Nat::int(8)));
    assert_eq!(eight.ty().to_string(), "[f32; 16]");
    assert!(eight.places().iter().all(|(_, e)| !e.ty().mentions(&n)));
}

#[test]
fn places_name_every_part() {
    let cx = context();
    let b = Build::new(&cx);
    let xs = b.param("xs", array());
    let program = b.reduce(b.f32(0.0), |a, x| b.add(a, x), b.map(|x| b.mul(&x, &x), &xs)).unwrap();
    for (place, expr) in program.places() {
        assert!(program.at(&place).unwrap().same_node(expr));
        let text = place.to_string();
        assert_eq!(text.parse::<Place>().unwrap(), place);
    }
    // A call's children are the bodies of its functions, then its arguments.
    assert_eq!(program.at(&"0".parse().unwrap()).unwrap().to_string(), "acc + x");
    assert_eq!(program.at(&"2.0".parse().unwrap()).unwrap().to_string(), "x * x");
    assert!(program.at(&"2.7".parse().unwrap()).is_none());
    assert!("2.x".parse::<Place>().is_err());
}

#[test]
fn a_part_is_replaced_and_checked_again() {
    let cx = context();
    let b = Build::new(&cx);
    let xs = b.param("xs", array());
    let program = b.reduce(b.f32(0.0), |a, x| b.add(a, x), &xs).unwrap();
    let place: Place = "2".parse().unwrap();
    let doubled = b.map(|x| b.add(&x, &x), &xs).unwrap();
    let replaced = cx.replace_at(&program, &place, &doubled).unwrap().unwrap();
    assert_eq!(replaced.to_string(), "map(\\x -> x + x, xs) |> reduce(0.0, (+))");
    let wrong: Expr = cx.literal(Literal::Bool(true));
    assert!(cx.replace_at(&program, &place, &wrong).unwrap().is_err());
    assert!(cx.replace_at(&program, &"5".parse().unwrap(), &doubled).is_none());
}
