//! Expressions that must come out, and expressions that must not be changed into wrong ones.

use lift_nat::{Facts, Nat, default_facts, parse, parse_assumptions};

fn facts(text: &str, given: &str) -> (Nat, Facts) {
    let n = parse(text).unwrap_or_else(|e| panic!("{text}: {e}"));
    let given = parse_assumptions(given).unwrap_or_else(|e| panic!("{given}: {e}"));
    let facts = default_facts(&[&n], &given);
    (n, facts)
}

fn check(cases: &[(&str, &str, &str)]) {
    let mut wrong = String::new();
    for (text, given, expected) in cases {
        let (n, facts) = facts(text, given);
        let simple = facts.simplify(&n);
        if simple.to_string() != *expected {
            wrong += &format!("{text}  [{given}]  is {simple}, not {expected}\n");
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn listed_cases() {
    check(&[
        ("v / N", "v < N", "0"),
        ("i % M", "i < M", "i"),
        ("(a / d) * d + a % d", "d >= 1", "a"),
        ("x * (a / d) * d + x * (a % d)", "d >= 1", "a*x"),
        ("(w*N + l) % N", "l < N", "l"),
        ("(w*N + l) / N", "l < N", "w"),
        ("(M*j + 2*j + i) % (2 + M)", "i < M + 2", "i"),
        ("(M*j + 2*j + i) / (2 + M)", "i < M + 2", "j"),
        ("(2*N + M*N) / (2 + M)", "", "N"),
        ("(2*j + j*M + k + i) % (2 + M)", "i < M, k < 3", "i + k"),
        ("(2 + N + j) / (2 + N)", "j < N", "1"),
        ("(4 + j + 2*N) / (2 + N)", "j < N", "2"),
        ("(i + 16*j) / 4", "i < 4", "4*j"),
        ("4*N / (2*M)", "", "2*N / M"),
        ("2*N / (4*M)", "", "N / (2*M)"),
        ("(id + 4*i) / 8", "id < 4, i < 2", "0"),
        ("(i + n) / n", "i < n, n >= 1", "1"),
        ("(5 + 2*n) % (2 + n)", "", "1"),
        ("(5 + 2*n) / (2 + n)", "", "2"),
        ("(4 + x + w) % (2 + w)", "x < w", "x + 2"),
        ("-11 % 5", "", "-1"),
        ("11 % -5", "", "1"),
        ("(42*b + a*b) // (42 + a)", "", "b"),
        ("gcd(4*a*b, 6*a*b*c)", "", "2*a*b"),
        ("min(n + 5, n + 10)", "", "n + 5"),
        ("(a^2 + b^2 + c^2 + 2*a*b + 2*a*c + 2*b*c) // (a + b + c)", "", "a + b + c"),
        (
            "((wg*N+l)/N + ((wg*N+l) % N)*M) / M * M + ((wg*N+l)/N + ((wg*N+l) % N)*M) % M",
            "l < N, wg < M",
            "l*M + wg",
        ),
        ("K / (K/128)", "K % 128 == 0", "128"),
        ("K % (K/128)", "K % 128 == 0", "0"),
        ("(W + 2 - 18) % 16", "W % 16 == 0", "0"),
    ]);
    let (n, facts) = facts("W", "W % 16 == 0");
    assert!(facts.at_most(&Nat::int(16), &n));
    assert!(!facts.at_most(&Nat::int(17), &n));
}

/// The `/` of an expression that must stay as it is, up to writing.
#[test]
fn listed_wrong_results() {
    check(&[
        ("(id + 4*i) / 8", "id < 5, i < 2", "(4*i + id) / 8"),
        ("(4 + n/2) % (2 + n/4)", "", "(n / 2 + 4) % (n / 4 + 2)"),
        ("(5 + n/2) / (2 + n/4)", "", "(n / 2 + 5) / (n / 4 + 2)"),
        ("1 % N", "", "1 % N"),
        ("(2 - i) / 2", "", "(2 - i) / 2"),
        ("(3 - i) % 3", "", "(3 - i) % 3"),
        ("(n/4) / (n/8)", "", "n / (4*(n / 8))"),
    ]);
    let (n, facts) = facts("(4 + i + 2*m + 2*j + m*j) % (2 + m)", "");
    let simple = facts.simplify(&n);
    assert_eq!(simple.to_string(), "i % (m + 2)");
}
