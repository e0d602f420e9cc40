//! What programs mean: their tests hold, and what may be written in several ways is the same.

use lift_interp::{RunError, Sizes, Value, compare, eval_closed, run};
use lift_ir::{Def, Kind, Pred, Program, Subject, Test};
use lift_syntax::{check_file, check_text};
use lift_testing::programs;

fn program(text: &str) -> Program {
    let checked = check_text("test.lift", text);
    assert!(!checked.has_errors(), "{}", checked.render(false));
    checked.program
}

fn def(text: &str) -> Def {
    program(text).entry().unwrap().clone()
}

/// The body as it is printed.
fn body(text: &str) -> String {
    def(text).body.to_string()
}

fn found(test: &Test, program: &Program) -> Result<Value, RunError> {
    match &test.subject {
        Subject::Expr(expr) => eval_closed(expr),
        Subject::Call { def, args } => {
            let args = args.iter().map(eval_closed).collect::<Result<Vec<Value>, RunError>>()?;
            run(&program.defs[*def], &args, &Sizes::new())
        }
    }
}

fn assert_holds(test: &Test, program: &Program) {
    let (found, expected) = (found(test, program).unwrap(), eval_closed(&test.expected).unwrap());
    let agree = compare(&found, &expected, test.approximate);
    assert!(agree.is_ok(), "{}: {found} is not {expected}", test.name);
}

/// Every `test` in the text holds.
fn holds(text: &str) {
    let program = program(text);
    assert!(!program.tests.is_empty());
    program.tests.iter().for_each(|test| assert_holds(test, &program));
}

#[test]
fn the_tests_of_all_programs_hold() {
    let mut count = 0;
    for path in programs() {
        let program = check_file(&path).unwrap().program;
        for test in &program.tests {
            let calls_extern = match &test.subject {
                Subject::Call { def, .. } => program.defs[*def].uses_extern().is_some(),
                Subject::Expr(_) => false,
            };
            if !calls_extern {
                assert_holds(test, &program);
                count += 1;
            }
        }
    }
    assert!(count > 250, "only {count} tests");
}

#[test]
fn literals_take_the_type_of_what_they_meet() {
    for (open, explicit) in [
        (
            "def f(c: bool, x: f64) -> f64 = (if c then 1 else 2) * x;",
            "def f(c: bool, x: f64) -> f64 = (if c then 1f64 else 2f64) * x;",
        ),
        ("const K = 3; def f(x: f64) -> f64 = K * x;", "def f(x: f64) -> f64 = 3f64 * x;"),
        ("const K = 0.5; def f(x: f64) -> f64 = x * K;", "def f(x: f64) -> f64 = x * 0.5f64;"),
        (
            "def f(c: bool) -> f64 = select(c, 1, 2.5);",
            "def f(c: bool) -> f64 = select(c, 1f64, 2.5f64);",
        ),
        ("def f(x: u8) -> bool = -(3) + 4 < x;", "def f(x: u8) -> bool = -(3u8) + 4u8 < x;"),
        ("def f(x: i64) -> i64 = max(-7, x) & 3;", "def f(x: i64) -> i64 = max(-7i64, x) & 3i64;"),
        ("def f() -> (f64, f32) = (1, 2);", "def f() -> (f64, f32) = (1f64, 2f32);"),
        ("def f() -> [f64; 2] = [1, sqrt(2.0)];", "def f() -> [f64; 2] = [1f64, sqrt(2f64)];"),
        ("def f(x: f64) -> bool = inf == x;", "def f(x: f64) -> bool = (inf as f64) == x;"),
        (
            "def f(x: f64) -> f64 = let y = 0.5 * x; y;",
            "def f(x: f64) -> f64 = let y = 0.5f64 * x; y;",
        ),
        (
            "def f[N](xs: [f64; N]) -> [f64; N + 1] = pad_value(1, 0, 2, xs);",
            "def f[N](xs: [f64; N]) -> [f64; N + 1] = pad_value(1, 0, 2f64, xs);",
        ),
        ("def f() -> u64 = to_bits(1.5);", "def f() -> u64 = to_bits(1.5f64);"),
        ("def f() -> f64 = from_bits(5);", "def f() -> f64 = from_bits(5u64);"),
        (
            "fn max(a: f64, b: f64) -> f64 = b; def f() -> f64 = let y = max(1, 2) * 3.0; y;",
            "fn max(a: f64, b: f64) -> f64 = b; def f() -> f64 = let y = max(1, 2) * 3f64; y;",
        ),
    ] {
        let (open, explicit) = (def(open), def(explicit));
        assert!(open.alpha_eq(&explicit), "{open}\n{explicit}");
    }
}

/// The start of a fold without a type of its own takes one with which the function fits.
#[test]
fn starts_of_folds_take_a_type_that_fits() {
    let ty = |element: &str, fold: &str| {
        let text = format!("def f[N](xs: [{element}; N]) = let s = {fold}; s;");
        def(&text).body.ty().to_string()
    };
    assert_eq!(ty("i64", "reduceSeq(0, (+), xs)"), "i64");
    assert_eq!(ty("u8", "reduceSeq(-0 + 0, (+), xs)"), "u8");
    assert_eq!(ty("f64", "reduceSeq(0, \\count x -> count + 1, xs)"), "i32");
    // Elements of another float type are the likelier context for a float.
    assert_eq!(ty("f64", "reduceSeq(0.0, \\count x -> count + 1.0, xs)"), "f64");
    assert_eq!(ty("i64", "reduceSeq(0.0, \\count x -> count + 1.0, xs)"), "f32");
    assert_eq!(ty("f64", "reduceSeq(inf, min, xs)"), "f64");
    assert_eq!(ty("f16", "scan(0.0, \\a x -> a, xs)"), "[f16; N]");
    assert_eq!(ty("i64", "reduceSeq((0, 0.0), \\p x -> (p.0 + x, p.1), xs)"), "(i64, f32)");
}

#[test]
fn parts_of_functions_keep_their_names() {
    let text =
        "def f[N](xs: [f32; N]) -> [f32; N] = map((\\first second -> first - second)(1.0), xs);";
    assert_eq!(body(text), "map(\\second -> 1.0 - second, xs)");
    let text = "fn sub(first: f32, second: f32) -> f32 = first - second;
      def f[N](xs: [f32; N]) -> [f32; N] = map(sub(1.0), xs);";
    assert_eq!(body(text), "map(\\second -> 1.0 - second, xs)");
    let text = "def f[N](vs: [f32x4; N], ws: [f32x4; N]) -> [f32x4; N] =
      zip(vs, ws) |> map(vectorize(4, \\a b -> a - b));";
    assert!(body(text).contains("vectorize(4, (-))"), "{}", body(text));
    // A function of two that is given pairs.
    let text = "def f[N](xs: [f32; N], ys: [f32; N]) -> [f32; N] =
      zip(xs, ys) |> map(\\first second -> first - second * first);";
    assert_eq!(body(text), "zip(xs, ys) |> map(\\x -> x.0 - x.1 * x.0)");
}

#[test]
fn an_array_may_be_empty() {
    holds(
        "def f[N](xs: [f32; N], ys: [f32; 0]) -> f32 = xs[0]; test t: f([1.0], take(0, [1.0])) == 1.0;",
    );
}

/// What is computed from sizes alone is known when the program is compiled.
#[test]
fn sizes_as_values_are_sizes() {
    for (value, is_size) in [
        ("N", true),
        ("N + M", true),
        ("N * 2 - M / 3 % 5", true),
        ("min(N, M) + max(N, 2)", true),
        ("ceil_div(N, 4) + len(x)", true),
        ("-(N)", true),
        ("N / (M - 1)", false),
        ("clamp(N, 1, 2)", false),
        ("k + N", false),
    ] {
        let text = format!("def f[N, M](k: i32, x: [f32; N], y: [f32; M]) -> i32 = {value};");
        assert_eq!(matches!(def(&text).body.kind(), Kind::Size(..)), is_size, "{value}");
    }
}

#[test]
fn sizes_and_values_of_the_same_form() {
    holds(
        "def small[N](xs: [f32; N]) -> bool = N < 4;
         test shorter: small([1.0, 2.0]) == true;
         test longer: small([1.0, 2.0, 3.0, 4.0]) == false;
         def both[N](xs: [i32; N]) -> (i32, i32) = (min(N, 3), max(N, 3) + len(xs) * 2 - N / 2 % 2);
         test values: both([1, 1, 1, 1, 1]) == (3, 15);
         def pick(min: (i32, i32) -> i32) -> i32 = min(3, 4);
         def second(x: i32) -> i32 = pick(\\a b -> b) + x;
         test a_parameter_called_min: second(0) == 4;",
    );
}

#[test]
fn clauses_mean_what_they_say() {
    let clause = |text: &str| {
        let def =
            def(&format!("def f[N, M](x: [f32; N], y: [f32; M]) -> f32 where {text} = x[0];"));
        def.wheres[0].pred.clone()
    };
    let at = |pred: &Pred, n: i128, m: i128| {
        pred.eval(&|v| Some(if v.name() == "N" { n } else { m })).unwrap()
    };
    type Meaning = fn(i128, i128) -> bool;
    let clauses: [(&str, Meaning); 9] = [
        ("N == M", |n, m| n == m),
        ("N != M", |n, m| n != m),
        ("N < M", |n, m| n < m),
        ("N <= M", |n, m| n <= m),
        ("N > M", |n, m| n > m),
        ("N >= M", |n, m| n >= m),
        ("N % M == 0", |n, m| n % m == 0),
        ("0 == (N) % M", |n, m| n % m == 0),
        ("(N + 1) * 2 / M == 3 - M % 2", |n, m| (n + 1) * 2 / m == 3 - m % 2),
    ];
    for (text, meaning) in clauses {
        let pred = clause(text);
        for (n, m) in (1..7).flat_map(|n| (1..7).map(move |m| (n, m))) {
            assert_eq!(at(&pred, n, m), meaning(n, m), "{text} at {n}, {m}");
        }
    }
}

/// Mistakes that are told at the part that is wrong.
#[test]
fn mistakes_are_told_where_they_are() {
    for (body, message, place) in [
        ("f32x5(1.0)[0]", "lanes", "5"),
        ("split((1, 2), xs)[0][0]", "one size is expected here, found a tuple", "(1, 2)"),
        ("split([1], xs)[0][0]", "a size is expected here, found an array", "[1]"),
        ("split(1.5, xs)[0][0]", "a size is a natural number, found a fraction", "1.5"),
        ("split(join, xs)[0][0]", "a size is expected", "join"),
        ("doubled(i32x4(1))[0]", "", "i32x4(1)"),
        ("gather(rotate(3), xs)[0]", "a permutation is expected", "rotate(3)"),
        ("gather(\\i j -> i, xs)[0]", "an index function has 1 parameters here", "\\i j -> i"),
        ("gather(\\(i, j) -> i, xs)[0]", "an index is a number, not a tuple", "(i, j)"),
        (
            "pad(1, 0, \\i n k -> i, xs)[0]",
            "an index function has 2 parameters here",
            "\\i n k -> i",
        ),
        (
            "iterate(65, \\ys -> pad(1, 0, clamp, ys), xs)[0]",
            "a function that changes the length is applied at most 64 times",
            "65",
        ),
    ] {
        let text = format!(
            "def doubled[W](v: f32x{{W}}) -> f32x{{W}} = v * 2.0;
             def f[N](xs: [f32; N]) -> f32 = {body};"
        );
        let checked = check_text("test.lift", &text);
        let [mistake] = checked.diagnostics.as_slice() else {
            panic!("{text}\n{}", checked.render(false))
        };
        let span = mistake.span().unwrap();
        assert!(mistake.message.contains(message), "{text}\n{}", mistake.message);
        assert_eq!(&text[span.start as usize..span.end as usize], place, "{}", mistake.message);
    }
}

#[test]
fn boundaries_and_permutations_by_their_index() {
    holds(
        "def padded[N](xs: [i32; N]) -> [i32; N + 3] = pad(1, 2, \\i -> max(0, min(i, len - 1)), xs);
         test clamped: padded([1, 2, 3]) == [1, 1, 2, 3, 3, 3];
         def turned[N](xs: [i32; N]) -> [i32; N] = gather(\\i -> (i + 1) % len, xs);
         test turns: turned([1, 2, 3]) == [2, 3, 1];
         test shifts: [1, 2, 3] |> gather(shift(1)) == [2, 3, 1];
         test strides: [1, 2, 3, 4] |> gather(stride(2)) == [1, 3, 2, 4];",
    );
}
