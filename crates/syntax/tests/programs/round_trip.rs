//! What the printer prints means what was printed.

use lift_ir::Def;
use lift_syntax::{check_file, check_text};
use lift_testing::programs;

fn checked_again(def: &Def) -> Def {
    let text = def.to_string();
    let checked = check_text("printed.lift", &text);
    assert!(!checked.has_errors(), "{text}\n{}", checked.render(false));
    checked.program.defs.into_iter().next().unwrap()
}

#[test]
fn every_program_checks_and_prints_back_to_itself() {
    for path in programs() {
        let checked = check_file(&path).unwrap();
        assert!(!checked.has_errors(), "{}\n{}", path.display(), checked.render(false));
        for def in &checked.program.defs {
            let again = checked_again(def);
            assert!(again.alpha_eq(def), "{}\nprinted: {def}\nagain:   {again}", path.display());
            assert_eq!(again.alpha_hash(), def.alpha_hash());
        }
    }
}

/// Things that print in a way of their own.
#[test]
fn corners_print_back_to_themselves() {
    for text in [
        "def f[N](xs: [f64; N]) -> f64 = xs |> reduceSeq(0.0, \\acc x -> acc + x * 2);",
        "def f[N](xs: [f32; N]) -> f64 = reduceSeq(0.0f64, \\a x -> a + (x as f64), xs);",
        "extern \"opencl,c\" fn g(a: f32, v: f32x4) -> f32 = \"/* \\\"q\\\" \\\\ */\\n\\treturn a;\";
         def f(x: f32, v: f32x4) -> f32 = g(g(x, v), v) + x;",
        "def f[N](xs: [f64; N]) -> ([f32; 3], [f32; 2]) =
           xs |> reduceSeq((repeat(3, -1.5f32), generate(2, \\i -> -inf as f32)), \\p x -> p);",
        "def f[N](xs: [f64; N], c: f64, d: i32) -> f32 = reduceSeq((c, (d, 1.99f32)), \\p x -> p, xs).1.1;",
        "def f[N](xs: [f64; N], c: bool) -> f32 = reduceSeq(if c then 1.5f32 else 2.5f32, \\p x -> p, xs);",
        "def f(x: i8) -> i8 = x + -128;",
        "def f(x: f32) -> f32 = -(x) - -x + -1.0 - -inf;",
        "def f(x: f64) -> f64 = max(x, -inf) * nan + 1e-300 - 0.1;",
        "def f(x: f16) -> f16 = x * 0.1 + (inf as f16);",
        "def f[N](xs: [i64; N]) -> i64 = xs[0] + N * 2 - (N / 3) as i64;",
        "def f[N](xs: [f32; N]) -> f32 = (N - 1) as f32 + xs[N - 1];",
        "def f[N](map: [f32; N], len: f32) -> [f32; N] = map |> \\xs -> generate(N, \\i -> xs[i] * len);",
        "def f[N](x: [f32; N]) -> [[f32; N]; N] = map(\\y -> map(\\x -> x + y, x), x);",
        "def f(x: bool, y: bool) -> bool = !x && (y || x) == !(x != y);",
        "def f(x: i32) -> i32 = x - (1 - x) - (x % 3 * 2) / (x * 2) + (if x < 0 then 1 else x);",
        "def f(p: (f32, (i32, f32x4))) -> f32 = p.1.1[2] + (p.1.0 as f32) + p.0;",
        "def f(v: f32x4) -> i32x4 = (v * 2.0) as i32x4;",
        "def f[N](xs: [f32; N]) -> [f32; N] = gather(\\i -> (i + 1) % len, xs);",
        "def f[N](xs: [f32; N]) -> [f32; N + 3] = pad(1, 2, \\i n -> max(0, min(i, n - 1)), xs);",
        "def f[N](xs: [f32; N]) -> [f32; N] = scatter(shift(3), gather(reverse, xs));",
        "def f[N](xs: [f32; 8 * N]) -> [f32; N] = iterate(3, \\ys -> ys |> split(2) |> map(\\p -> p[0] + p[1]), xs);",
        "def f[N](xs: [f32; N]) -> [f32; N] where N % 4 == 0 = xs |> as_vector(4) |> map(vectorize(4, \\x -> x * x)) |> as_scalar;",
        "def f[N; W = 4](xs: [f32; N], k: f32) -> [f32; N] where N % W == 0 = xs |> as_vector(W) |> map(\\v -> v * f32x{W}(k)) |> as_scalar;",
        "def f[N](xs: [f32; N], ys: [f32; N]) -> [f32; N] = map(max, zip(xs, ys));",
        "def f[N](xs: [f32; N]) -> f32 where N >= 2, N < 100 launch local(32) global(N) launch local(1) = let s = mapGlb(0)(\\x -> x * x, xs); reduce(0.0, (+), s);",
        "def f[N](xs: [f32; N]) -> [f32; N] = xs |> map(\\x -> let y = x; let x = y * y; x + y);",
        "def f(c: bool, x: f32) -> (f32, i32) = if c then (x, 1) else (0.0, -1);",
        "def f(x: u64) -> u64 = x + 18446744073709551615;",
        "def f[N](xs: [f32; N]) -> ([f32; N], [f32; N]) = unzip(zip(xs, xs |> map(\\x -> -x)));",
        "def f[N](xs: [f32; N]) -> [f32; N] = mapSeqSlide(3, 1)(\\w -> w[0] + w[2], pad(1, 1, mirror, xs));",
        "def f[N](xs: [f32; N]) -> [f32; 4] where N % 4 == 0 = partial_reduce(4, 0.0, (+), xs);",
        "def f(x: f32) -> f32 = fma(x, 2.0, 1.0) + select(x > 0.0, x, 0.0) + clamp(x, -1.0, 1.0);",
    ] {
        let checked = check_text("corner.lift", text);
        assert!(!checked.has_errors(), "{text}\n{}", checked.render(false));
        let def = checked.program.defs.first().unwrap();
        let again = checked_again(def);
        assert!(again.alpha_eq(def), "{text}\nprinted: {def}\nagain:   {again}");
    }
}
