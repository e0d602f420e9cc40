//! Questions to facts, and text for C.

use lift_nat::{Facts, Nat, Pred, Range, Var, default_facts, parse, parse_assumptions};

fn nat(text: &str) -> Nat {
    parse(text).expect("an expression")
}

fn pred(text: &str) -> Pred {
    match parse_assumptions(text).expect("a condition").as_slice() {
        [one] => one.clone(),
        all => Pred::And(all.to_vec()),
    }
}

fn given(text: &str) -> Facts {
    default_facts(&[], &parse_assumptions(text).expect("assumptions"))
}

#[test]
fn a_value_of_several_is_proved_about_at_each() {
    let v = Var::named("len");
    let mut facts = given("N % 8 == 0, N >= 8");
    facts.one_of(&v, vec![nat("N"), nat("N/2"), nat("N/4")]);
    assert!(facts.divides(&Nat::int(2), &Nat::var(&v)));
    assert!(!facts.divides(&Nat::int(4), &Nat::var(&v)));
    assert!(facts.at_most(&Nat::var(&v), &nat("N")));
    assert!(facts.at_most(&Nat::int(2), &Nat::var(&v)));
    assert!(!facts.less(&Nat::var(&v), &nat("N")));
    assert_eq!(facts.lower(&Nat::var(&v)), Some(2));

    let mut facts = Facts::new();
    facts.one_of(&v, vec![Nat::int(16), Nat::int(4), Nat::int(8)]);
    assert_eq!(facts.lower(&Nat::var(&v)), Some(4));
    assert_eq!(facts.upper(&Nat::var(&v)), Some(16));
    assert!(facts.divides(&Nat::int(4), &Nat::var(&v)));
    assert!(facts.refutes(&Pred::Eq(Nat::var(&v), Nat::int(3))));
}

/// What is not equal and not larger is less, in whichever order that is said.
#[test]
fn what_differs_is_on_one_side() {
    for text in ["i != j, j <= i", "j <= i, i != j", "j != i, j <= i", "2*i != 2*j, 2*j <= 2*i"] {
        assert!(given(text).proves(&pred("j < i")), "{text}");
        assert!(!given(text).proves(&pred("j + 1 < i")), "{text}");
    }
    assert!(!given("i != j, j <= i + 1").proves(&pred("j <= i")));
}

/// Rows and columns of a number below that of all elements, whatever the sizes are.
#[test]
fn quotients_by_sizes_are_below_what_they_divide() {
    let facts = given("k < N*M, M >= 1, N >= 1");
    assert!(facts.proves(&pred("k / M < N")));
    assert!(facts.proves(&pred("0 <= k / M")));
    assert!(!facts.proves(&pred("k / M < N - 1")));
    assert!(given("k < N*M*K, M*K >= 1").proves(&pred("k / (M*K) < N")));
    assert!(!given("k < N*M + 1, M >= 1").proves(&pred("k / M < N")));
    assert!(given("k < N*N, l < N").proves(&pred("N*(k / N) + l < N*N")));
    assert!(!given("k < N*N, l <= N").proves(&pred("N*(k / N) + l < N*N")));
}

/// A loop over N - 1 iterations says that N is at least 2 in its body only.
#[test]
fn what_holds_inside_is_not_known_outside() {
    let [i, j] = ["i", "j"].map(Var::named);
    let mut facts = given("N >= 1");
    facts.declare_inside(&i, Range::below(nat("N - 1")));
    facts.declare_inside(&j, Range::below(nat("i")));
    facts.assume_inside(&j, pred("4 <= N"));
    for unknown in ["2 <= N", "1 <= N - 1"] {
        assert!(!facts.proves(&pred(unknown)), "{unknown}");
    }
    for known in ["0 <= i", "i + 1 < N", "N - 1 - i > 0", "j < i", "0 <= N - 3 - j"] {
        assert!(facts.proves(&pred(known)), "{known}");
    }
    assert!(!facts.proves(&pred("4 <= N + i")), "of j, which is not there");
    assert!(facts.proves(&pred("4 <= N + j")));
    assert_eq!(facts.lower(&nat("N")), Some(1));
    assert_eq!(facts.lower(&nat("N - i")), Some(2));
    assert_eq!(facts.simplify(&nat("max(N - 1, 1)")), nat("max(N - 1, 1)"));
    assert_eq!(facts.simplify(&nat("(i + 2*(N - 1)) / (N - 1)")), nat("2"));
    assert!(facts.refutes(&pred("i >= N")));
    assert_eq!(facts.vars().len(), 3);
}

#[test]
fn constant_bounds() {
    let facts = given("i < 8, 2 <= j <= 5, N >= 3, k < N");
    assert_eq!(facts.upper(&nat("4*i + j")), Some(33));
    assert_eq!(facts.lower(&nat("4*i + j")), Some(2));
    assert_eq!(facts.lower(&nat("j - i")), Some(-5));
    assert_eq!(facts.lower(&nat("N*j")), Some(6));
    assert_eq!(facts.lower(&nat("N - k")), Some(1));
    assert_eq!(facts.upper(&nat("k - N")), Some(-1));
    assert_eq!(facts.upper(&nat("k")), None);
    assert_eq!(facts.upper(&nat("i / 3")), Some(2));
    assert_eq!(facts.upper(&nat("min(k, 4)")), Some(4));
}

#[test]
fn undeclared_variables_are_any_integer() {
    let facts = Facts::new();
    assert!(!facts.proves(&pred("0 <= x")));
    assert!(!facts.proves(&pred("x % 4 < 4, x / 4 * 4 <= x")));
    assert!(facts.proves(&pred("x % 4 < 4")));
    assert!(facts.proves(&pred("-4 < x % 4")));
    assert!(facts.proves(&pred("0 <= x*x")));
    assert_eq!(facts.simplify(&nat("(4*x + 3) / 4")).to_string(), "(4*x + 3) / 4");
}

#[test]
fn conditions_simplify() {
    let facts = given("i < N, N % 4 == 0");
    assert_eq!(facts.simplify_pred(&pred("i < N + 1")), Pred::And(vec![]));
    assert_eq!(facts.simplify_pred(&pred("N < i")), pred("0 == 1"));
    assert_eq!(facts.simplify_pred(&pred("N / 4 * 4 < 2*i")), pred("N < 2*i"));
    assert!(facts.refutes(&pred("N % 4 == 1")));
    assert!(facts.refutes(&pred("(N + 2) % 4 == 0")));
    assert!(facts.proves(&pred("i != N, N != 0, N >= 4, (N + 8) % 4 == 0")));
    assert!(!facts.proves(&pred("i != 0")));
    assert!(given("x != 0").proves(&pred("x >= 1")));
    assert!(given("x % 4 == 2").proves(&pred("(x + 2) % 4 == 0")));
    assert!(given("x % 4 == 2").refutes(&pred("x % 4 == 0")));
}

#[test]
fn later_facts_apply_to_earlier_ones() {
    let mut facts = Facts::new();
    let (n, t, i) = (Var::named("N"), Var::named("T"), Var::named("i"));
    facts.declare(&i, Range::below(nat("N / T")));
    facts.assume(&pred("N % T == 0"));
    facts.assume(&pred("T % 4 == 0"));
    facts.size(&t);
    facts.size(&n);
    assert!(facts.proves(&pred("i*T + 3 < N")));
    assert!(facts.proves(&pred("N % 4 == 0, N >= 4, N / T >= 1")));
    assert_eq!(facts.simplify(&nat("(i*T + 3) / T")).to_string(), "i");
    assert_eq!(facts.simplify(&nat("(i*T + 4) / 4")).to_string(), "i*(T / 4) + 1");
}

#[test]
fn c_expressions() {
    let c = |text: &str| nat(text).to_c(&|v| format!("{v}_"));
    assert_eq!(c("l*M + wg"), "l_*M_ + wg_");
    assert_eq!(c("(N + 2) / 4"), "(N_ + 2) / 4");
    assert_eq!(c("a - b - 1"), "a_ - b_ - 1");
    assert_eq!(c("x*(a % d)"), "x_*(a_ % d_)");
    assert_eq!(c("min(a, b) + 1"), "(a_ < b_ ? a_ : b_) + 1");
    assert_eq!(c("2^k * x"), "x_*(1 << k_)");
    assert_eq!(c("x^3"), "x_*x_*x_");
    assert_eq!(c("if i < N then i else 0"), "i_ < N_ ? i_ : 0");
    assert_eq!(c("-x / N"), "-x_ / N_");
    assert_eq!(pred("N % 4 == 0").to_c(&|v| v.to_string()), "N % 4 == 0");
}

/// Also of those that were solved for, and of those that only others are compared with.
#[test]
fn all_variables_are_known() {
    let mut facts = given("i < N, N % 128 == 0, a == b + c, d != 0, e >= 3");
    let [f, g] = ["f", "g"].map(Var::named);
    facts.one_of(&f, vec![Nat::ZERO, Nat::var(&g)]);
    let vars = facts.vars();
    for name in ["i", "N", "a", "b", "c", "d", "e", "f", "g"] {
        assert!(vars.contains(&Var::named(name)), "{name}: {vars:?}");
    }
    assert!(Facts::new().vars().is_empty());
}

/// Several bounds by one proof: it says nothing where it fails, and nothing wrong where it succeeds.
#[test]
fn values_are_bounded_together() {
    let facts = given("N >= 1, M >= 1, N % 4 == 0");
    let all = |values: &[&str], bound: &str| {
        let values: Vec<Nat> = values.iter().map(|text| nat(text)).collect();
        let together = facts.all_at_most(&values, &nat(bound));
        assert!(!together || values.iter().all(|value| facts.at_most(value, &nat(bound))));
        together
    };
    assert!(all(&["N", "M*N", "N - 1", "M*N - N"], "2*M*N"));
    assert!(all(&["N/4", "N - M"], "2*N"));
    assert!(all(&[], "0"));
    assert!(!all(&["N", "N*N"], "N"));
    // Each is, but nothing is known of the sign of `x`.
    let unknown = Nat::var(&Var::named("x"));
    assert!(!facts.all_at_most([&unknown], &(&unknown + Nat::ONE)));
    assert!(facts.at_most(&unknown, &(&unknown + Nat::ONE)));
}

/// Nothing is made of a polynomial whose variables are multiples of numbers; others go by what is known of them.
#[test]
fn a_polynomial_of_multiples_stays() {
    let facts = given("N % 128 == 0, M % 8 == 0, K == 2*M");
    for text in ["N*M + 64*N + 3", "N*N*N - M"] {
        assert_eq!(facts.simplify(&nat(text)), nat(text), "{text}");
    }
    assert!(facts.equal(&facts.simplify(&nat("N^5")), &nat("N^5")));
    assert!(facts.equal(&facts.simplify(&nat("K*N")), &nat("2*M*N")));
    assert_eq!(facts.simplify(&nat("K/2 + N")), nat("M + N"));
}

/// An example shows that a condition may hold, and is none where something known does not.
#[test]
fn what_has_an_example_is_not_refuted() {
    let facts = given("N >= 1, T >= 1, N % (4*T) == 0");
    for text in ["N % 4 == 0", "T % 4 == 0", "N <= 4*T", "N == 64", "T < N"] {
        assert!(!facts.refutes(&pred(text)), "{text}");
    }
    for text in ["N % 4 == 1", "N < T", "N < 4", "N == T"] {
        assert!(facts.refutes(&pred(text)), "{text}");
    }
    let far = given("a >= 0, b >= 2000, a*3 >= b");
    assert!(far.refutes(&pred("a < 500")) && !far.refutes(&pred("a < 700")));
}
