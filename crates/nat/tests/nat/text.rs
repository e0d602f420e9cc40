//! What is written, in C and in the language, and what is read.

use crate::common::c::read;
use crate::common::*;
use lift_nat::{EvalError, Nat, ParseError, Pred, Var, parse, parse_assumptions};
use proptest::prelude::*;

fn nat(text: &str) -> Nat {
    parse(text).unwrap_or_else(|e| panic!("{text}: {e}"))
}

fn pred(text: &str) -> Pred {
    match parse_assumptions(text).expect("a condition").as_slice() {
        [one] => one.clone(),
        all => Pred::And(all.to_vec()),
    }
}

fn named(at: &Values) -> impl Fn(&str) -> Option<i128> {
    let at = *at;
    move |name| NAMES.iter().position(|n| *n == name).map(|k| at[k])
}

proptest! {
    #![proptest_config(config(100))]

    #[test]
    fn c_text_has_the_value(raw in prop_oneof![position(), index(), anything()]) {
        let n = raw.build();
        prop_assume!(!n.is_overflow());
        let text = n.to_c(&|v| v.to_string());
        prop_assume!(!text.contains("?overflow"));
        let c = read(&text);
        for world in [World::Naturals, World::Integers] {
            for at in assignments(world, &[]) {
                if let Some(value) = raw.value(&at) {
                    prop_assert_eq!(c.value(&named(&at)), Some(value), "{} at {:?}", text, at);
                }
            }
        }
    }

    #[test]
    fn c_conditions_have_the_truth_value(raw in compare(prop_oneof![position(), anything()].boxed())) {
        let text = raw.build().to_c(&|v| v.to_string());
        prop_assume!(!text.contains("?overflow"));
        let c = read(&text);
        for at in assignments(World::Integers, &[]) {
            if let Some(truth) = raw.value(&at) {
                prop_assert_eq!(c.value(&named(&at)), Some(truth.into()), "{} at {:?}", text, at);
            }
        }
    }

    #[test]
    fn conditions_read_back(raw in compare(prop_oneof![position(), anything()].boxed())) {
        let p = raw.build();
        let text = p.to_string();
        prop_assume!(!text.contains("?overflow"));
        let back = pred(&text);
        for at in assignments(World::Integers, &[]) {
            if let Some(truth) = raw.value(&at) {
                prop_assert_eq!(p.eval(&lookup(&at)), Ok(truth), "{} at {:?}", text, at);
                prop_assert_eq!(back.eval(&lookup(&at)), Ok(truth), "{} at {:?}", text, at);
            }
        }
    }
}

#[test]
fn sums_are_written_as_people_write_them() {
    let mut wrong = String::new();
    for (text, expected) in [
        ("1 + x", "x + 1"),
        ("x - 1", "x - 1"),
        ("1 - x", "1 - x"),
        ("-x - 1", "-x - 1"),
        ("-x", "-x"),
        ("0 - 3", "-3"),
        ("0", "0"),
        ("N*i*3 + i + 7 + N*N", "3*i*N + N*N + i + 7"),
        ("3*i + 2*j + k", "3*i + 2*j + k"),
        ("k + 2*j + 3*i", "3*i + 2*j + k"),
        ("j % N + i*N", "i*N + j % N"),
        ("j % N + i + 2", "j % N + i + 2"),
        ("M*(j % N)", "M*(j % N)"),
        ("2*M*(j % N)", "2*M*(j % N)"),
        ("(M + 1)*(j % N)", "(M + 1)*(j % N)"),
        ("-(j % N)", "-j % N"),
        ("1 - j % N", "1 - j % N"),
        ("-((i - 3) % 2)", "(3 - i) % 2"),
        ("-((i - 3) / 2)", "(3 - i) / 2"),
        ("-((i + 3) / 2)", "-(i + 3) / 2"),
        ("-5*((i - 3) / 2)", "5*((3 - i) / 2)"),
        ("N - 2*((i - 3) / 2)", "2*((3 - i) / 2) + N"),
        ("x*(y/z)*(y/z)", "x*(y / z)*(y / z)"),
        ("a % b % c", "a % b % c"),
        ("(a % b) / c", "a % b / c"),
        ("a % (b % c)", "a % (b % c)"),
        ("a / (b / c)", "a / (b / c)"),
        ("a / b % c", "a / b % c"),
        ("a / b % c * 3 + a % b", "a % b + 3*(a / b % c)"),
        ("2^n", "2^n"),
        ("2^(n + 1)", "2^(n + 1)"),
        ("(2^n)*x + 3", "x*2^n + 3"),
        ("x^3", "x*x*x"),
        ("x^17", "x^17"),
        ("(a + b)^7", "(a + b)*(a + b)*(a + b)*(a + b)*(a + b)*(a + b)*(a + b)"),
        ("log2(x + 1)", "log2(x + 1)"),
        ("max(a, b) + min(c, d)", "min(c, d) + max(a, b)"),
        ("min(a, b, c)", "min(a, min(b, c))"),
        ("if a < b && c == d then 1 else x + 2", "if a < b && c == d then 1 else x + 2"),
        ("(if a < b then 1 else x) + 2", "(if a < b then 1 else x) + 2"),
        ("if a % 4 == 0 then 1 else 0", "if a % 4 == 0 then 1 else 0"),
        ("if a >= b then 1 else 0", "if b <= a then 1 else 0"),
        ("if a != b then 1 else 0", "if a != b then 1 else 0"),
    ] {
        let written = nat(text).to_string();
        if written != expected {
            wrong += &format!("{text} is {written}, not {expected}\n");
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
    // A long sum is not searched for remainders.
    let long = |n: usize| (0..n).map(|i| format!("x{i}")).collect::<Vec<_>>().join(" + ");
    assert!(nat(&format!("{} + a % b", long(62))).to_string().contains("a % b"));
    assert!(!nat(&format!("{} + a % b", long(63))).to_string().contains('%'));
    assert_eq!(pred("a < b, c <= d, e % 2 == 0").to_string(), "a < b && c <= d && e % 2 == 0");
    assert_eq!(Pred::And(vec![]).to_string(), "0 == 0");
    assert_eq!(pred("(a + b) % (c*d) == 0").to_string(), "(a + b) % (c*d) == 0");
    let over = Nat::int(i128::MAX) + Nat::ONE;
    assert_eq!(over.to_string(), "?overflow");
    assert_eq!(Var::with_id("N", 7).to_string(), "N_7");
    assert_eq!(Var::with_id("N", 0).to_string(), "N");
}

#[test]
fn c_has_its_own_operators() {
    let c = |text: &str| nat(text).to_c(&|v| v.to_string());
    for (text, expected) in [
        ("2^k", "1 << k"),
        ("2^(k + 1)", "1 << k + 1"),
        ("2^k + 1", "(1 << k) + 1"),
        ("x*2^k", "x*(1 << k)"),
        ("x / 2^k", "x / (1 << k)"),
        ("min(a, b, c)", "a < b && a < c ? a : (b < c ? b : c)"),
        ("max(a, b)", "a > b ? a : b"),
        ("3*max(a, b)", "3*(a > b ? a : b)"),
        ("min(2^k, b)", "b < 1 << k ? b : 1 << k"),
        ("log2(a) + 1", "lift_log2(a) + 1"),
        ("x^n", "lift_pow(x, n)"),
        ("3*x^n", "3*lift_pow(x, n)"),
        ("x^16 / y", "x*x*x*x*x*x*x*x*x*x*x*x*x*x*x*x / y"),
        ("y / x^2", "y / (x*x)"),
        ("x^17", "lift_pow(x, 17)"),
        ("if a < b then (if c < d then 1 else 2) else 3", "a < b ? (c < d ? 1 : 2) : 3"),
        ("2*(if a < b then 1 else 3)", "2*(a < b ? 1 : 3)"),
        ("if a < b && c <= d then 1 else 3", "a < b && c <= d ? 1 : 3"),
    ] {
        assert_eq!(c(text), expected, "{text}");
    }
    assert_eq!(Pred::And(vec![]).to_c(&|v| v.to_string()), "0 == 0");
}

#[test]
fn every_notation_is_read() {
    for (text, same) in [
        ("a·b", "a*b"),
        ("a²", "a*a"),
        ("a³", "a*a*a"),
        ("2a", ""),
        ("a^2^3", "a^8"),
        ("-a^2", "-(a*a)"),
        ("--a", "a"),
        ("a - b - c", "a - (b + c)"),
        ("a - -b", "a + b"),
        ("a / b / c", "(a / b) / c"),
        ("a * b / c", "(a*b) / c"),
        ("a % b * c", "(a % b) * c"),
        ("a // 3 / 2", "(a // 3) / 2"),
        ("a + b * c", "a + (b*c)"),
        ("pow(a, 3)", "a*a*a"),
        ("ceil_div(a, b)", "(a + b - 1) / b"),
        ("  a+b ", "a + b"),
        ("_x1 + é", "é + _x1"),
        ("min(a)", "a"),
        ("if a<b then c else d", "if a < b then c else d"),
        ("iffy + then_", "then_ + iffy"),
        ("12345678901234567890", "12345678901234567890"),
    ] {
        match same {
            "" => assert!(parse(text).is_err(), "{text}"),
            _ => assert_eq!(nat(text), nat(same), "{text}"),
        }
    }
    let var = |name: &str| Nat::var(&Var::named(name));
    for (text, expected) in [
        ("", vec![]),
        ("  ", vec![]),
        ("a < b", vec![Pred::Lt(var("a"), var("b"))]),
        ("a > b", vec![Pred::Lt(var("b"), var("a"))]),
        ("a <= b", vec![Pred::Le(var("a"), var("b"))]),
        ("a ≤ b", vec![Pred::Le(var("a"), var("b"))]),
        ("a >= b", vec![Pred::Le(var("b"), var("a"))]),
        ("a ≥ b", vec![Pred::Le(var("b"), var("a"))]),
        ("a == b", vec![Pred::Eq(var("a"), var("b"))]),
        ("a != b", vec![Pred::Ne(var("a"), var("b"))]),
        ("a % b == 0", vec![Pred::divides(var("b"), var("a"))]),
        ("a % b == 1", vec![Pred::Eq(nat("a % b"), Nat::ONE)]),
        ("a % b != 0", vec![Pred::Ne(nat("a % b"), Nat::ZERO)]),
        ("(a % b) == 0", vec![Pred::Eq(nat("a % b"), Nat::ZERO)]),
        ("a < b && c < d", vec![Pred::Lt(var("a"), var("b")), Pred::Lt(var("c"), var("d"))]),
        ("0 <= a < b", vec![Pred::Le(Nat::ZERO, var("a")), Pred::Lt(var("a"), var("b"))]),
    ] {
        assert_eq!(parse_assumptions(text), Ok(expected), "{text}");
    }
}

#[test]
fn refusals_name_the_place() {
    for (text, message, offset) in [
        ("", "expected a number, a name or `(`", 0),
        ("a +", "expected a number, a name or `(`", 3),
        ("(a", "expected `)`", 2),
        ("a b", "unexpected `b`", 2),
        ("a)", "unexpected `)`", 1),
        ("then", "expected a number, a name or `(`", 0),
        ("sin(a)", "unknown function `sin`", 4),
        ("gcd(a)", "`gcd` does not take 1 values", 4),
        ("log2(a, b)", "`log2` does not take 2 values", 5),
        ("pow(a, b, c)", "`pow` does not take 3 values", 4),
        ("ceil_div(a)", "`ceil_div` does not take 1 values", 9),
        ("min(a, b", "expected `)`", 8),
        ("if a < b c", "expected `then`", 9),
        ("if a < b then c", "expected `else`", 15),
        ("if a then b else c", "expected a comparison", 5),
        ("1 + 999999999999999999999999999999999999999999", "the number is too large", 4),
    ] {
        let error = ParseError { message: message.into(), offset };
        assert_eq!(parse(text), Err(error.clone()), "{text}");
        assert_eq!(error.to_string(), format!("{message} at offset {offset}"));
    }
    let refused = |text: &str| parse_assumptions(text).expect_err(text);
    assert_eq!(refused("a + b").message, "expected a comparison");
    assert_eq!(refused("a < b,").offset, 6);
    assert_eq!(refused("a < b c").message, "unexpected `c`");
    let nested = |depth: usize| "(".repeat(depth) + "x" + &")".repeat(depth);
    assert!(parse(&nested(100)).is_ok());
    assert_eq!(
        parse(&nested(101)).expect_err("101").message,
        "the expression is nested too deeply"
    );
    // Nesting counts what is open, not what was.
    assert!(parse(&format!("{} + {}", nested(100), nested(100))).is_ok());
}

#[test]
fn values_that_are_not_defined() {
    let eval = |text: &str, x: i128| nat(text).eval(&|v| (v.name() == "x").then_some(x));
    let unbound = EvalError::Unbound(Var::named("y"));
    for (text, x, expected) in [
        ("x + 1", 2, Ok(3)),
        ("x + y", 2, Err(unbound.clone())),
        ("7 / x", 0, Err(EvalError::DivisionByZero)),
        ("7 % x", 0, Err(EvalError::DivisionByZero)),
        ("7 // x", 0, Err(EvalError::DivisionByZero)),
        ("7 / 0", 1, Err(EvalError::DivisionByZero)),
        ("x % 0", 1, Err(EvalError::DivisionByZero)),
        ("7 // x", 7, Ok(1)),
        ("7 // x", 3, Err(EvalError::Inexact)),
        ("2^x", -1, Err(EvalError::NegativePower)),
        ("2^x", 127, Err(EvalError::Overflow)),
        ("2^x", 126, Ok(1 << 126)),
        ("2^x", 1 << 40, Err(EvalError::Overflow)),
        ("0^x", 1 << 40, Ok(0)),
        ("0^x", 0, Ok(1)),
        ("(x - x + 1)^x", 1 << 40, Ok(1)),
        ("(-1)^x", 1 << 40, Ok(1)),
        ("(-1)^x", (1 << 40) + 1, Ok(-1)),
        ("(-1)^x", 0, Ok(1)),
        ("log2(x)", 0, Err(EvalError::NotPositive)),
        ("log2(x)", 1, Ok(0)),
        ("log2(x)", 9, Ok(3)),
        ("x*x", i128::MAX, Err(EvalError::Overflow)),
        ("2*x", i128::MAX, Err(EvalError::Overflow)),
        ("x + 1", i128::MAX, Err(EvalError::Overflow)),
        ("(x + 1 - 1 + 2*x - 2*x) / -1 - 1 + 1", i128::MIN, Err(EvalError::Overflow)),
        ("min(x, 3, 5)", 4, Ok(3)),
        ("max(x, 3, 5)", 4, Ok(5)),
        ("if x < 3 then 1 else y", 2, Ok(1)),
        ("if x < 3 then 1 else y", 3, Err(unbound)),
        ("if x % 2 == 0 then 1 else 2", 3, Ok(2)),
        ("if 4 % x == 0 then 1 else 2", 0, Err(EvalError::DivisionByZero)),
        ("if x % x == 0 && x < 3 then 1 else 2", 4, Ok(2)),
        ("if x < 3 && 4 % x == 0 then 1 else 2", 4, Ok(2)),
    ] {
        assert_eq!(eval(text, x), expected, "{text} at {x}");
    }
    // The remainder by -1 is zero, also where the quotient is out of range.
    let divides = Pred::divides(Nat::var(&Var::named("x")), Nat::var(&Var::named("y")));
    let least = |v: &Var| Some(if v.name() == "x" { -1 } else { i128::MIN });
    assert_eq!(divides.eval(&least), Ok(true));
    for (error, text) in [
        (EvalError::Unbound(Var::named("y")), "`y` has no value"),
        (EvalError::DivisionByZero, "division by zero"),
        (EvalError::Inexact, "a division known to be exact leaves a remainder"),
        (EvalError::Overflow, "the value is out of range"),
        (EvalError::NegativePower, "a negative power"),
        (EvalError::NotPositive, "the logarithm of a value below one"),
    ] {
        assert_eq!(error.to_string(), text);
    }
}

#[test]
fn sums_that_no_formula_says_are_added_up() {
    let row = |t: i128, a: i128| t / 3 * (t % 2) + a;
    let value = |n: i128, a: i128| (0..n).map(|t| row(t, a)).sum::<i128>();
    let sum = nat("sum(t < n, t / 3 * (t % 2) + a)");
    let twice = nat("sum(i < n, sum(j < i + a, j % 2 * i) + i)");
    let of = |n: i128, a: i128| {
        move |v: &Var| match v.name() {
            "n" => Some(n),
            "a" => Some(a),
            _ => None,
        }
    };
    for n in [7, -2, 0, 1, 12, 3] {
        for a in -1..3 {
            assert_eq!(sum.eval(&of(n, a)), Ok(value(n, a)), "n = {n}, a = {a}");
            let known = sum.substitute(&|v| of(n, a)(v).map(Nat::int));
            assert_eq!(known, Nat::int(value(n, a)), "n = {n}, a = {a}");
            let inner = |i: i128| (0..i + a).map(|j| j % 2 * i).sum::<i128>();
            let all = (0..n).map(|i| inner(i) + i).sum();
            assert_eq!(twice.eval(&of(n, a)), Ok(all), "n = {n}, a = {a}");
        }
    }
    // An index is in nobody's way.
    let other = sum.substitute(&|v| (v.name() == "a").then(|| nat("t + n")));
    let of_others = twice.substitute(&|v| (v.name() == "a").then(|| nat("2 * z - i")));
    for n in [&sum, &twice, &other, &of_others] {
        assert_eq!(nat(&n.to_string()), *n, "{n}");
    }
    assert_eq!(other.vars(), [Var::named("n"), Var::named("t")].into());
    for n in 0..5 {
        let at = |v: &Var| Some(if v.name() == "n" { n } else { 20 });
        assert_eq!(other.eval(&at), Ok(value(n, 20 + n)), "n = {n}");
        assert_eq!(nat(&other.to_string()).eval(&at), Ok(value(n, 20 + n)), "{other} for n = {n}");
    }
    let name = |n: &Nat| n.to_c(&|v| v.to_string()).split('(').next().map(str::to_owned);
    // What is added is the same function whatever its variables are called.
    let renamed = sum.substitute(&|v| (v.name() == "a").then(|| nat("z")));
    assert_eq!(name(&sum), name(&renamed));
    assert_ne!(name(&sum), name(&twice));
    let mut functions = Vec::new();
    twice.each_sum(&mut |sum| functions.push(sum.to_c("static ", "const ", "long", "1")));
    let [inner, outer] = functions.as_slice() else { panic!("{functions:?}") };
    let called = inner.split(['(', ' ']).nth(2).expect("a name");
    assert!(outer.contains(called), "{inner}\n{outer}");
    assert!(inner.contains("for (long t = 0; t < end; ++t) sum += "), "{inner}");
    // With numbers it has a table of where rows start, of each or of each few.
    let known = |most: i128| {
        let text = format!("sum(t < n <= {most}, t / 3 * (t % 2) + 2)");
        let mut functions = Vec::new();
        nat(&text).each_sum(&mut |sum| functions.push(sum.to_c("static ", "const ", "long", "1")));
        (nat(&text).to_c(&|v| v.to_string()), functions.concat())
    };
    let (call, function) = known(9);
    let starts: Vec<String> = (0..=9).map(|n| value(n, 2).to_string()).collect();
    assert!(function.contains(&format!("_starts[] = {{{}}};", starts.join(", "))), "{function}");
    assert!(
        call.ends_with("(n)") && function.contains(&call.replace("(n)", "(long end)")),
        "{call}"
    );
    let (_, function) = known(1000);
    let starts: Vec<String> = (0..=500).map(|n| value(2 * n, 2).to_string()).collect();
    assert!(function.contains(&format!("_starts[] = {{{}}};", starts.join(", "))), "{function}");
    assert!(function.contains("for (; t < end; ++t) sum += "), "{function}");
    let lanes = |v: &Var| Some(lift_nat::Lanes::<4>::even(if v.name() == "n" { 2 } else { 1 }, 3));
    let all = sum.eval_lanes(&lanes).expect("all are known").all();
    for (k, found) in all.iter().enumerate() {
        assert_eq!(i128::from(*found), value(2 + 3 * k as i128, 1 + 3 * k as i128));
    }
}
