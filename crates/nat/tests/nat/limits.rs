//! No input makes the library panic, hang or run out of stack.

use crate::common::config;
use lift_nat::{EvalError, Facts, Nat, Pred, Range, Var, default_facts, parse, parse_assumptions};
use proptest::prelude::*;

/// Reads, simplifies, prints and asks; whatever comes out, it comes out.
fn exercise(text: &str) {
    if let Ok(n) = parse(text) {
        let facts = default_facts(&[&n], &[]);
        let simple = facts.simplify(&n);
        let _ = (simple.to_string(), simple.to_c(&|v| v.to_string()), facts.lower(&n));
        let _ = (n.gcd(&simple), n.eval(&|_| Some(3)));
        let _ = facts.proves(&Pred::Lt(n.clone(), simple));
    }
    if let Ok(given) = parse_assumptions(text) {
        let facts = default_facts(&[], &given);
        given.iter().take(20).for_each(|p| {
            let _ = (facts.proves(p), p.to_string());
        });
    }
}

#[test]
fn deep_nesting_is_an_error() {
    for depth in [10, 48, 63, 64, 65, 99, 100, 101, 100_000] {
        exercise(&("(".repeat(depth) + "x" + &")".repeat(depth)));
        exercise(&("-".repeat(depth) + "x"));
        exercise(&("x^".repeat(depth) + "2"));
        exercise(&("min(x, ".repeat(depth) + "y" + &")".repeat(depth)));
        exercise(&("log2(".repeat(depth) + "y" + &")".repeat(depth)));
        exercise(&("if x < ".repeat(depth) + "y" + &" then 1 else 2".repeat(depth)));
        exercise(&("(1 + x / ".repeat(depth) + "y" + &")".repeat(depth)));
        exercise(&("(z + ".repeat(depth) + "y" + &")/2".repeat(depth)));
        exercise(&("((3*z + ".repeat(depth / 2) + "y" + &")%N + 1)/2".repeat(depth / 2)));
    }
    let error = parse(&"(".repeat(1000)).unwrap_err();
    assert!(error.message.contains("nested"), "{error}");
}

#[test]
fn nesting_by_hand_ends_in_overflow() {
    let x = Nat::var(&Var::named("x"));
    let mut n = x.clone();
    for _ in 0..10_000 {
        n = (n + Nat::int(1)).div(&x);
    }
    assert_eq!(n.eval(&|_| Some(1)), Err(EvalError::Overflow));
    assert!(!Facts::new().equal(&n, &n));
}

#[test]
fn large_powers_and_products_stay_closed() {
    exercise("(a + b + c + d)^40");
    exercise("(a + b)^60000");
    exercise("(a + b)^6000000000000");
    exercise("((a + b)^60000)^60000");
    exercise("2^100000");
    exercise("2^(2^(2^n))");
    exercise("9^9^9^9");
    exercise("(a+b+c+d+e+f+g+h)^4 * (a+b+c+d+e+f+g+h)^4 / (a+b+c+d+e+f+g+h)^3");
    exercise("(a+b+c+d+e+f+g+h)^4 // (a+b+c+d+e+f+g+h)^3");
    exercise("(x^1000 - 1) // (x - 1)");
    exercise("(x^1000 - 1) / (x - 1)");
    exercise("(x^65536 + 1) / (x + 1)");
    exercise("gcd((a+b)^9*(c+d)^9, (a+b)^9*(a-d)^9)");
    let sum = (0..2000).map(|i| format!("x{i}")).collect::<Vec<_>>().join(" + ");
    exercise(&sum);
    exercise(&format!("({sum}) / N"));
    exercise(&format!("min({})", sum.replace(" + ", ", ")));
    let product = (0..2000).map(|i| format!("x{i}")).collect::<Vec<_>>().join(" * ");
    exercise(&product);
    exercise(&format!("({product}) % N"));
    let quotients = (0..300).map(|i| format!("(x{i} + 1) / N")).collect::<Vec<_>>().join(" + ");
    exercise(&quotients);
    exercise(&format!("({quotients}) % 8"));
    let facts = (0..2000).map(|i| format!("x{i} < x{}", i + 1)).collect::<Vec<_>>().join(", ");
    exercise(&facts);
    let facts = (0..100).map(|i| format!("x{i} % x{} == 0", i + 1)).collect::<Vec<_>>().join(", ");
    exercise(&facts);
    let facts =
        (0..40).map(|i| format!("x{i} / 2 < x{} % 3", i + 1)).collect::<Vec<_>>().join(", ");
    exercise(&facts);
}

#[test]
fn constants_at_the_end_of_their_range() {
    let max = i128::MAX.to_string();
    for text in [
        max.clone(),
        format!("{max} + 1"),
        format!("-{max} - 1"),
        format!("(-{max} - 1) / -1"),
        format!("(-{max} - 1) % -1"),
        format!("(-{max} - 1) // -1"),
        format!("-(-{max} - 1)"),
        format!("gcd(-{max} - 1, 0)"),
        format!("gcd(x*(-{max} - 1), -{max} - 1)"),
        format!("x * {max} / 2 + {max} * y"),
        format!("({max}*x + {max}) / ({max}*y)"),
        format!("min({max} + x, -{max} + x)"),
        format!("(-{max} - 1)*x / (-{max} - 1)"),
        format!("(x - {max}) / (y - {max})"),
        format!("x % {max} < x, {max} * x <= -{max} + y, x % {max} == 0"),
        format!("x + {max} <= y, x - {max} - 1 >= z, y == {max}*z"),
        "99999999999999999999999999999999999999999999999".to_string(),
        "0 / 0 + 0 % 0 + 0 // 0 + x % 0".to_string(),
        "log2(0) + log2(-1) + log2(x - x)".to_string(),
        "0^0 + 0^-1 + (-1)^-1 + 0^n".to_string(),
    ] {
        exercise(&text);
    }
    let over = Nat::int(i128::MAX) + Nat::ONE;
    assert_eq!(over.eval(&|_| None), Err(EvalError::Overflow));
    assert!(!Facts::new().equal(&over, &over));
    assert!(!Facts::new().at_most(&over, &over));
    assert!(!Facts::new().at_most(&Nat::ZERO, &over));
}

#[test]
fn odd_facts_do_no_harm() {
    let v = Var::named("x");
    let mut facts = Facts::new();
    facts.declare(&v, Range::any());
    facts.declare(&v, Range::between(Nat::var(&v), Nat::var(&v)));
    facts.declare(&v, Range::below(Nat::var(&v) - Nat::ONE));
    facts.one_of(&v, vec![]);
    facts.assume(&Pred::And(vec![]));
    facts.assume(&Pred::Divides { divisor: Nat::ZERO, of: Nat::var(&v) });
    facts.assume(&Pred::Divides { divisor: Nat::var(&v), of: Nat::var(&v) });
    facts.assume(&Pred::Eq(Nat::var(&v), Nat::var(&v) + Nat::ONE));
    facts.assume(&Pred::Lt(Nat::ONE, Nat::ZERO));
    facts.simplify(&Nat::var(&v).rem(&Nat::int(3)));
    exercise("x == y, y == x, x == 2*y, x % y == 0, y % x == 0");
    exercise("x == x*y, x*y == y*x + 1, x^2 == 4, x/y == y/x");
    exercise("2*x == 3*y, 5*y == 7*z, 11*z == 13*x");
    exercise("6*x % 4 == 0, 4*x % 6 == 0, (2*x + 1) % 2 == 0, x % -4 == 0");
}

proptest! {
    #![proptest_config(config(200))]

    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,40}") {
        exercise(&text);
    }

    #[test]
    fn any_tokens_are_read_or_refused(
        tokens in prop::collection::vec(prop::sample::select(vec![
            "x", "N", "i", "0", "1", "2", "7", "+", "-", "*", "/", "//", "%", "^", "²", "(", ")",
            "min(", "max(", "log2(", "pow(", "gcd(", "ceil_div(", ",", "if ", " then ", " else ",
            "<", "<=", "==", "!=", ">", ">=", "&&",
        ]), 0..24),
    ) {
        exercise(&tokens.join(" "));
    }
}
