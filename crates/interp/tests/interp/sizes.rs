//! Sizes read off arguments, and the clauses they must meet.

use lift_interp::{RunError, Sizes, Value, run, solve_sizes};
use lift_ir::{
    Build, Clause, Context, Def, Facts, Literal, Nat, Parameter, Pred, Scalar, Span, Type, Var,
};

fn nat(text: &str) -> Nat {
    lift_nat::parse(text).expect("a size")
}

fn floats(length: &str) -> Type {
    Type::array(Type::F32, nat(length))
}

/// `def f[sizes; parameters](x0: …, x1: …)`; a parameter is `T` or `T = default`.
fn def(sizes: &[&str], parameters: &[&str], params: &[Type]) -> Def {
    let cx = Context::new(Facts::new());
    let name = |i: usize| format!("x{i}");
    let parameter = |text: &&str| match text.split_once('=') {
        Some((name, default)) => {
            Parameter { var: Var::named(name.trim()), default: Some(nat(default.trim())) }
        }
        None => Parameter { var: Var::named(text), default: None },
    };
    let body = cx.literal(Literal::Int(Scalar::I32, 0));
    Def {
        name: "f".to_string(),
        span: Some(Span::new(0, 1, 2)),
        sizes: sizes.iter().map(|s| Var::named(s)).collect(),
        parameters: parameters.iter().map(parameter).collect(),
        params: params.iter().enumerate().map(|(i, t)| cx.fresh(&name(i), t.clone())).collect(),
        ret: Type::I32,
        wheres: Vec::new(),
        implied: Vec::new(),
        launches: Vec::new(),
        body,
        next_number: cx.next_number(),
        said: lift_ir::Said::default(),
    }
}

fn solved(def: &Def, args: &[Type]) -> Result<String, RunError> {
    solve_sizes(def, args, &Sizes::new()).map(|s| s.to_string())
}

fn message(def: &Def, args: &[Type]) -> String {
    solved(def, args).expect_err("sizes that do not fit").to_string()
}

#[test]
fn bare_variables_are_lengths() {
    let matrix = |n: Nat, m: Nat| Type::array(Type::array(Type::F32, m), n);
    let f = def(&["M", "N"], &[], &[matrix(nat("M"), nat("N")), floats("N")]);
    let args = [matrix(Nat::int(2), Nat::int(3)), floats("3")];
    assert_eq!(solved(&f, &args).unwrap(), "M = 2, N = 3");
}

#[test]
fn compound_sizes_are_solved_where_linear() {
    let f = def(&["N"], &[], &[floats("2 * N + 2")]);
    assert_eq!(solved(&f, &[floats("8")]).unwrap(), "N = 3");
    // Through another equation, in whichever order.
    let f = def(&["M", "N"], &[], &[floats("M * N"), floats("N")]);
    assert_eq!(solved(&f, &[floats("12"), floats("4")]).unwrap(), "M = 3, N = 4");
    let f = def(&["N"], &[], &[floats("N / 4"), floats("N")]);
    assert_eq!(solved(&f, &[floats("2"), floats("8")]).unwrap(), "N = 8");
}

#[test]
fn sizes_that_no_number_fits() {
    let f = def(&["N"], &[], &[floats("2 * N")]);
    assert_eq!(
        message(&f, &[floats("7")]),
        format!(
            "argument `x0` is `[f32; {0}]`, found `[f32; 7]`; no `N` makes `{0}` 7: 3 makes it 6, 4 makes it 8",
            nat("2 * N")
        )
    );
    let f = def(&["N"], &[], &[floats("N * (N + 1)")]);
    let told = message(&f, &[floats("1")]);
    assert!(told.ends_with("1: 1 makes it 2"), "{told}");
    // What it would be, where the size is known from elsewhere.
    let f = def(&["N"], &[], &[floats("N * (N + 1) / 2"), floats("N")]);
    let told = message(&f, &[floats("5"), floats("3")]);
    assert!(told.ends_with("`N` is 3, from `x1`; `(N*N + N) / 2` is 6 then"), "{told}");
}

#[test]
fn sizes_that_cannot_be_read_off() {
    let f = def(&["N"], &[], &[floats("N / 4")]);
    let error = solved(&f, &[floats("2")]).unwrap_err();
    assert_eq!(error.message, "the size `N` of `f` cannot be read off its arguments");
    assert_eq!(error.notes, ["give it with `--size N=…`"]);
    let given = Sizes::from_iter([("N", 9)]);
    assert_eq!(solve_sizes(&f, &[floats("2")], &given).unwrap(), given);
}

#[test]
fn arguments_must_agree() {
    let f = def(&["N"], &[], &[floats("N"), floats("N")]);
    assert_eq!(
        message(&f, &[floats("3"), floats("4")]),
        "argument `x1` is `[f32; N]`, found `[f32; 4]`; `N` is 3, from `x0`"
    );
    let given = Sizes::from_iter([("N", 5)]);
    assert_eq!(
        solve_sizes(&f, &[floats("3"), floats("3")], &given).unwrap_err().to_string(),
        "argument `x0` is `[f32; N]`, found `[f32; 3]`; `N` is 5, as given"
    );
}

#[test]
fn element_types_and_ranks_must_match() {
    let f = def(&["N"], &[], &[floats("N")]);
    for (found, text) in [
        (Type::F32, "f32"),
        (Type::array(Type::array(Type::F32, 2), 3), "[[f32; 2]; 3]"),
        (Type::array(Type::vector(Scalar::F32, 2), 3), "[f32x2; 3]"),
    ] {
        assert_eq!(message(&f, &[found]), format!("argument `x0` is `[f32; N]`, found `{text}`"));
    }
    // Where nothing but the type of the elements differs, they can be converted.
    assert_eq!(
        message(&f, &[Type::array(Type::I32, 3)]),
        "argument `x0` is `[f32; N]`, found `[i32; 3]`; help: convert it, in numpy by `x0.astype(\"float32\")`"
    );
    assert_eq!(message(&f, &[]), "`f` takes 1 argument, found 0");
    let vector = |scalar, width: Nat| Type::vector(scalar, width);
    let f = def(&["W"], &[], &[vector(Scalar::F32, nat("W"))]);
    assert_eq!(solved(&f, &[vector(Scalar::F32, nat("4"))]).unwrap(), "W = 4");
    assert_eq!(
        message(&f, &[vector(Scalar::I32, nat("4"))]),
        "argument `x0` is `f32x{W}`, found `i32x4`"
    );
}

#[test]
fn parameters_are_given_or_have_defaults() {
    let f = def(&["N"], &["T = 16", "U = N / T"], &[floats("N")]);
    assert_eq!(solved(&f, &[floats("64")]).unwrap(), "N = 64, T = 16, U = 4");
    let given = Sizes::from_iter([("T", 8)]);
    let got = solve_sizes(&f, &[floats("64")], &given).unwrap();
    assert_eq!(got.to_string(), "N = 64, T = 8, U = 8");
    let f = def(&["N"], &["T"], &[floats("N")]);
    assert_eq!(
        message(&f, &[floats("64")]),
        "the parameter `T` of `f` has no value; choose it with `--size T=…`"
    );
}

#[test]
fn unknown_sizes_are_refused() {
    let f = def(&["N"], &["T = 1"], &[floats("N")]);
    let given = Sizes::from_iter([("K", 8)]);
    assert_eq!(
        solve_sizes(&f, &[floats("64")], &given).unwrap_err().to_string(),
        "`f` has no size `K`; its sizes are `N`, `T`"
    );
}

#[test]
fn every_size_is_at_least_one() {
    let f = def(&["N"], &[], &[floats("N")]);
    assert_eq!(solved(&f, &[floats("1")]).unwrap(), "N = 1");
    assert_eq!(message(&f, &[floats("0")]), "the size `N` is 0, but every size is at least 1");
    let f = def(&["N"], &[], &[floats("N + 2")]);
    assert_eq!(message(&f, &[floats("1")]), "the size `N` is -1, but every size is at least 1");
}

#[test]
fn clauses_are_checked_and_named() {
    let mut f = def(&["N"], &["T = 4"], &[floats("N")]);
    let span = Span::new(0, 30, 40);
    let pred = Pred::divides(nat("T"), nat("N"));
    f.wheres.push(Clause { pred, span: Some(span) });
    assert!(solved(&f, &[floats("8")]).is_ok());
    let error = solved(&f, &[floats("6")]).unwrap_err();
    assert_eq!(error.message, "`where N % T == 0` does not hold: N = 6, T = 4");
    assert_eq!(error.span, Some(span));
    f.implied.push(Pred::Le(nat("12"), nat("N")));
    assert_eq!(
        message(&f, &[floats("8")]),
        "`where 12 <= N`, which the body needs, does not hold: N = 8"
    );
    assert!(solved(&f, &[floats("12")]).is_ok());
}

#[test]
fn sizes_without_a_value_do_not_panic() {
    let f = def(&["N"], &["T = N / (N - 3)"], &[floats("N")]);
    assert_eq!(
        message(&f, &[floats("3")]),
        "the default of the parameter `T` has no value: division by zero; \
         choose it with `--size T=…`"
    );
    let f = def(&["N"], &[], &[floats("N * 100000000000000000000")]);
    assert!(solved(&f, &[floats("7")]).is_err());
}

/// Each size of a definition has its own value in the body.
#[test]
fn bodies_know_their_sizes() {
    let mut def = def(&["N", "M"], &["T = 7"], &[floats("N"), floats("M")]);
    let mut facts = Facts::new();
    ["N", "M", "T"].iter().for_each(|name| facts.size(&Var::named(name)));
    let cx = Context::starting_at(facts, def.next_number);
    let size = |name: &str| cx.size(&nat(name), Scalar::I32);
    def.body = Build::new(&cx).tuple([size("N"), size("M"), size("T")]).expect("a tuple");
    def.ret = def.body.ty().clone();
    let args = [vec![1.0_f32; 3], vec![1.0; 5]].map(Value::from);
    let value = run(&def, &args, &Sizes::new()).expect("a value");
    assert_eq!(value.to_string(), "(3, 5, 7)");
}
