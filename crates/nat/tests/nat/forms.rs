//! The forms that values must come out in: quotients, choices, powers, and variables that facts solve.

use crate::complete::{Wrong, integers, nat, naturals};
use lift_nat::Facts;

fn simplifies(facts: fn(&str) -> Facts, cases: &[(&str, &str, &str)]) {
    let mut wrong = Wrong::default();
    for (given, value, expected) in cases {
        let simple = facts(given).simplify(&nat(value)).to_string();
        wrong.unless(simple == *expected, || {
            format!("{value} where {given}: {simple}, not {expected}")
        });
    }
    wrong.none();
}

/// Signs decide how a quotient is rounded, and whether it comes out.
#[test]
fn quotients_of_either_sign() {
    simplifies(
        integers,
        &[
            ("-4 < x < 4", "x / 4", "0"),
            ("-4 < x < 4", "x % 4", "x"),
            ("-4 <= x < 4", "x / 4", "x / 4"),
            ("-4 < x <= 4", "x / 4", "x / 4"),
            ("-4 < x <= 0", "x / 4", "0"),
            ("-8 < x <= -4", "x / 4", "-1"),
            ("x <= 0, x > 0 - N, N >= 1", "x / N", "0"),
            ("i < N, 0 <= r < N - i, 0 <= x", "(x*(N - i) + r) / (i - N)", "-x"),
            ("i < N, 0 <= r < N - i, 0 <= x", "(x*(N - i) + r) / (N - i)", "x"),
            ("N < i, 0 <= r < i - N, 0 <= x", "(x*(i - N) + r) / (i - N)", "x"),
            ("N < i, 0 <= r < i - N, 0 <= x", "(x*(i - N) + r) / (N - i)", "-x"),
            ("i < N, 0 <= r < N - i, 0 <= x", "(0 - x*(N - i) - r) / (N - i)", "-x"),
            ("0 <= x, 1 <= N, 0 <= r < N", "(0 - x*N - r) / N", "-x"),
            ("1 <= N, 1 <= x, 0 < r < N", "(x*N - r) / N", "x - 1"),
            ("1 <= N, 0 <= x, N <= r < 2*N", "(x*N + r) / N", "x + 1"),
            ("x*y % 4 == 0", "x*y / 4", "x*y / 4"),
            ("x*y % 4 == 0", "(x*y / 4) * 4", "x*y"),
            ("x % 4 == 0", "x / 4 * 4", "x"),
            ("0 <= x", "(4000000007*x + 1) % 4", "(3*x + 1) % 4"),
            ("0 <= x", "(4000000007*((4000000007*x + 1) % 4) + 1) % 4", "x % 4"),
            ("0 <= x", "7*x % 4", "7*x % 4"),
            ("x % N == 0", "x / N * N", "x"),
            ("0 <= j", "(j + 9) / 4", "(j + 1) / 4 + 2"),
            ("0 <= j", "(j + 8) / 4", "j / 4 + 2"),
            ("-8 <= j", "(j + 9) / 4", "(j + 9) / 4"),
            ("-1 <= j", "(j + 9) / 4", "(j + 1) / 4 + 2"),
            ("0 <= i, 0 <= j", "(4*i + j) / 4", "i + j / 4"),
            ("0 <= i + 1, 0 <= j", "(4*i + j) / 4", "(4*i + j) / 4"),
            ("0 <= i, 0 <= j, 1 <= N", "(N*i + j) / N", "i + j / N"),
            ("0 <= i, 0 <= j < M, 1 <= M, 1 <= K", "(i*M + j) / (M*K)", "i / K"),
            ("0 <= i, 0 <= j < 6", "(6*i + j) / 12", "i / 2"),
            ("0 <= i <= n, 0 <= x, 1 <= y", "2^n*x / (2^i*y)", "x*2^(n - i) / y"),
            ("0 <= i <= n", "3*2^n / 2^i", "3*2^(n - i)"),
            ("0 <= i, 0 <= n", "2^n / 2^i", "2^n / (2^i)"),
            ("0 <= x", "x / 3 / 4", "x / 12"),
            ("1 <= d", "a / d * d + a % d", "a"),
            ("0 <= a < 2*d, d <= a", "a / d", "1"),
            ("0 <= a, 1 <= b, 1 <= c", "a % (b*c) % b", "a % b"),
            ("", "(6*x + 4) / 2", "3*x + 2"),
            ("", "(6*x + 3) / 2", "(6*x + 3) / 2"),
            ("", "6*x / 4", "3*x / 2"),
            ("", "x / -4", "-x / 4"),
            ("", "-x / -4", "x / 4"),
            ("", "x / 0", "x / 0"),
        ],
    );
}

#[test]
fn extrema_choices_and_powers() {
    simplifies(
        integers,
        &[
            ("x <= y", "min(x, y)", "x"),
            ("x <= y", "max(x, y)", "y"),
            ("y <= x", "min(x, y, z)", "min(y, z)"),
            ("y <= x, x <= z", "max(x, min(y, z))", "x"),
            ("", "min(x, x + 1)", "x"),
            ("", "max(x, x + 1, x - 3)", "x + 1"),
            ("", "min(min(x, y), min(y, z))", "min(x, min(y, z))"),
            ("x < y", "if x < y then 1 else 2", "1"),
            ("y <= x", "if x < y then 1 else 2", "2"),
            ("x < y", "if x <= y then 1 else 2", "1"),
            ("y < x", "if x <= y then 1 else 2", "2"),
            ("x == y", "if x == y then 1 else 2", "1"),
            ("x < y", "if x == y then 1 else 2", "2"),
            ("x != y", "if x == y then 1 else 2", "2"),
            ("x != y", "if x != y then 1 else 2", "1"),
            ("x == y", "if x != y then 1 else 2", "2"),
            ("x % 4 == 0", "if x % 4 == 0 then 1 else 2", "1"),
            ("x % 4 == 0", "if x % 8 == 0 then 1 else 2", "if x % 8 == 0 then 1 else 2"),
            ("x < y, z < w", "if x < y && z < w then 1 else 2", "1"),
            ("x < y, w <= z", "if x < y && z < w then 1 else 2", "2"),
            ("y <= x", "if x < y && z < w then 1 else 2", "2"),
            ("x < y", "if x < y && z < w then 1 else 2", "if x < y && z < w then 1 else 2"),
            ("", "if x < y then z else z", "z"),
            // A branch knows why it was taken.
            ("0 <= i", "if i < 4 then i / 4 else 1", "if i < 4 then 0 else 1"),
            ("0 <= i < 8", "if i < 4 then 0 else i / 4", "if i < 4 then 0 else 1"),
            ("0 <= i", "if i == 4 then i / 4 else 0", "if i == 4 then 1 else 0"),
            ("0 <= i", "if i % 4 == 0 then i / 4 * 4 else i", "i"),
            ("0 <= i", "if i < 4 && 0 < i then i / 4 else 1", "if i < 4 && 0 < i then 0 else 1"),
            // What a part of a condition says is not known outside.
            (
                "",
                "(if 0 <= i then i % 4 else 0) + i / 4 * 4",
                "4*(i / 4) + (if 0 <= i then i % 4 else 0)",
            ),
            ("0 <= n", "2^(n + 3)", "8*2^n"),
            ("", "2^(n + 3)", "2^(n + 3)"),
            ("0 <= n", "2^(n - 3)", "2^(n - 3)"),
            ("", "2^n * 2^m", "2^(m + n)"),
            ("", "2^n * 2^n", "2^(2*n)"),
            ("", "3*x*2^n*2^m + 3^n*3^m", "3*x*2^(m + n) + 3^(m + n)"),
            ("", "2^n * 3^m", "2^n*3^m"),
            ("", "(x^n)^m", "x^(m*n)"),
            ("", "log2(2^n)", "n"),
            ("", "log2(8*2^n*x)", "n + log2(x) + 3"),
            ("", "log2(4*x + 8)", "log2(x + 2) + 2"),
            ("", "log2(3*x)", "log2(3*x)"),
            ("", "log2(2^n*2^m)", "m + n"),
            ("", "1^n", "1"),
            ("", "x^0", "1"),
            ("", "5*((x*y) // 5) + z", "x*y + z"),
            ("", "10*w*((x*y) // 5)", "2*w*x*y"),
            ("", "3*((x*y) // 5)", "3*(x*y / 5)"),
            ("", "((x*y) // 2) // 3", "x*y / 6"),
            ("", "((x*y) // 2) / 3", "x*y / 6"),
            ("", "(6*x) // 4", "3*x / 2"),
            ("", "(0 - 6*x) // 4", "-3*x / 2"),
        ],
    );
}

/// `N % T == 0` makes `N` into `T * k`; answers are in terms of `N` again.
#[test]
fn solved_variables_come_back() {
    simplifies(
        naturals,
        &[
            ("N % 8 == 0", "N / 8", "N / 8"),
            ("N % 8 == 0", "N / 8 * 8 + N / 4", "N + N / 4"),
            ("N % 8 == 0", "(N + N/8) / 2 * 2", "2*((N + N / 8) / 2)"),
            ("N % 8 == 0", "3*(N / 8)", "3*(N / 8)"),
            ("N % 8 == 0", "2*(N / 8)", "N / 4"),
            ("N % 8 == 0", "12*(N / 8)", "N + N / 2"),
            ("N % 8 == 0", "N*N / 64", "(N / 8)*(N / 8)"),
            ("N % 8 == 0", "N*N / 8", "N*(N / 8)"),
            ("N % 8 == 0, i < N", "(i*N/8) / (N/8)", "i"),
            ("(N - 2) % 8 == 0", "(N - 2) / 8 * 8", "N - 2"),
            ("(N - 2) % 8 == 0", "(N + 6) / 8", "(N - 2) / 8 + 1"),
            ("N % T == 0", "N / T * T", "N"),
            ("N % T == 0", "3*(N / T)*T*M", "3*M*N"),
            ("N % T == 0, T % 4 == 0", "N / 4 * 4 + T / 4 * 4", "N + T"),
            ("N % (T + 1) == 0", "N / (T + 1) * (T + 1) + 1", "N + 1"),
            ("N % 8 == 0", "8*(if 0 <= N then N/8 else 0) - N", "0"),
            ("N == 4*M", "N / 4 + N", "5*M"),
            ("N == M + 3", "N - M", "3"),
        ],
    );
}
