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

#[test]
fn further_cases() {
    check(&[
        ("(3*j + j*M + k + i) % (3 + M)", "i < M, k < 4", "i + k"),
        ("(6 + j + 3*N)/(2+N)", "j<N", "3"),
        ("(7 + 3*n) % (2+n)", "", "1"),
        ("(8 + 3*N) % (2+N)", "", "2"),
        ("(a*b + a*c) / (b + c)", "", "a"),
        ("(a*c + b*c + d) / (a+b)", "d < a+b", "c"),
        ("(a*c + b*c + d) % (a+b)", "d < a+b", "d"),
        ("(i + 32*j)/8", "i < 8", "4*j"),
        ("6*N/(4*M)", "", "3*N / (2*M)"),
        ("(a^2 - b^2) // (a - b)", "", "a + b"),
        ("(a^3 + 3*a^2*b + 3*a*b^2 + b^3) // (a+b)^2", "", "a + b"),
        ("gcd(6*a^2*b, 4*a*b^2)", "", "2*a*b"),
        ("gcd(a*b + a*c, b^2 + b*c)", "", "b + c"),
        ("gcd(12, 18)", "", "6"),
        ("gcd(7, 9)", "", "1"),
        ("gcd(a, 1)", "", "1"),
        ("gcd(a, b)", "", "gcd(a, b)"),
        ("gcd(b, a) - gcd(a, b)", "", "0"),
        ("gcd(a, 4) + 1", "", "gcd(4, a) + 1"),
        ("gcd(a^2 - b^2, a^2 + 2*a*b + b^2)", "", "a + b"),
        ("max(n+5, n+10)", "", "n + 10"),
        ("min(2*n, 3*n)", "", "2*n"),
        ("min(N, 2*N) + max(0,n)", "", "N + n"),
        ("min(a, b, c)", "", "min(a, min(b, c))"),
        ("ceil_div(N,128)*128", "N % 128 == 0", "N"),
        ("ceil_div(n,4)", "", "(n + 3) / 4"),
        ("N*M/(N*K)", "", "M / K"),
        ("K / (K/T)", "K % T == 0", "T"),
        ("K % (K/T)", "K % T == 0", "0"),
        ("(W-16)/16", "W % 16 == 0", "W / 16 - 1"),
        ("2^n*2^m/2^n", "", "2^m"),
        ("2^(n+1)/2^n", "", "2"),
        ("2^(n+1) - 2*2^n", "", "0"),
        ("log2(2^n*4)", "", "n + 2"),
        ("2^(n-i)*2^i", "i <= n", "2^n"),
        ("2^n / 2^i", "i <= n", "2^(n - i)"),
        ("(-i)/N", "i<N", "0"),
        ("-i % N", "i<N", "-i"),
        ("N % N + N/N + (N+1)%N", "", "1 % N + 1"),
        ("(N+1)%N", "N >= 2", "1"),
        ("(N-1)/N + (2*N-1)/N", "", "1"),
        ("i/N", "N <= i, i < 2*N", "1"),
        ("i % 8", "8 <= i < 16", "i - 8"),
        ("(i+j)/N", "i + j < N", "0"),
        ("(l + 128*k) % 128 / 32", "l < 128", "l / 32"),
        ("(x + 4*y + 32*z) / 8 % 4", "x < 4, y < 8", "y / 2"),
        ("((x + 4*y + 32*z) / 4) % 8", "x < 4, y < 8", "y"),
        ("(i*N*M + j*N + k) / N % M", "j < M, k < N", "j"),
        ("(4*N + 4*i + j) % (4*N) / 4", "i < N, j < 4", "i"),
        ("(i % 4 + 4*(i / 4 % 8)) + 32*(i/32)", "", "i"),
        ("i % 32 / 4 * 4 + i % 4", "", "i % 32"),
        ("(i / 8 * 8 + j) / 8", "j < 8", "i / 8"),
        ("(M*(i/M) + j) / M", "j < M", "i / M"),
        ("(M*N - 1 - i) / M", "i < M", "N - 1"),
        ("(N*i + N*j + k) / N", "k < N", "i + j"),
        ("(2*i + 1) % 2", "", "1"),
        ("(2*i + 1) / 2", "", "i"),
        ("(6*i + 3) / 9", "", "(2*i + 1) / 3"),
        ("(6*i + 4) / 9", "", "(2*i + 1) / 3"),
        ("(N + 2*(N+1)*j + N*i + i) / (N + 1)", "", "2*j + i"),
        ("(3 + x + w) % (2 + w)", "x < w", "x + 1"),
        ("(4 + j + 2*N) % (2 + N)", "j < N", "j"),
        ("(N*N + N) / (N + 1)", "", "N"),
        ("(N*N + 3*N + 2) / (N + 1)", "", "N + 2"),
        ("(N*N + 3*N + 3) % (N + 1)", "", "1"),
        ("x * (a / d) * d + x * (a % d) - x*a", "d>=1", "0"),
        ("(a / d) * d * 3 + 3 * (a % d)", "", "3*a"),
        ("(n / 8) * 8 + n % 8", "", "n"),
        ("(N/2)*2", "N % 4 == 0", "N"),
        ("(K/128 * i + j) / (K/128)", "K % 128 == 0, j < K/128", "i"),
        ("(K/128 * i + j) % (K/128)", "K % 128 == 0, j < K/128", "j"),
        ("(N - 2) / 4 * 4 + 2", "N % 4 == 2", "N"),
        ("(M/N)*N", "M % N == 0", "M"),
        ("(M*N + i) % M", "i<M", "i"),
        ("(a*b*c + b*c*d) / (b*c)", "", "a + d"),
        ("i/4", "i < 4*N, N == 1", "0"),
        ("(256*i + l) / 64 % 4", "l < 256", "l / 64"),
        ("(i+N)%N - i%N", "", "0"),
        ("(5*n + 11)/(n+2)", "", "5"),
        ("(N*8 + 4) / 8", "", "N"),
        ("(i*8 + 4 + j) / 8", "j < 4", "i"),
        ("(4*a + 2*b + c)/2", "c<2", "2*a + b"),
        ("(N*M*i + M*j + k) % (N*M) / M", "j<N, k<M", "j"),
    ]);
}
