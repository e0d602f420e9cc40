//! Random expressions that check, or nearly.

use proptest::prelude::*;

/// What the expressions stand under.
pub const SIGNATURE: &str =
    "def f[N](x: [f32; N], y: [i32; 4], a: f32, k: i32, p: (i32, f32), v: f32x4)";

/// Expressions that check, or nearly: of one type each, over the variables of [`SIGNATURE`].
pub fn typed() -> [BoxedStrategy<String>; 4] {
    let number = prop_oneof![
        Just("a"),
        Just("0.5"),
        Just("-2.0"),
        Just("1"),
        Just("3.5f32"),
        Just("p.1"),
        Just("inf"),
        Just("x[0]"),
        Just("x[k]"),
        Just("v[1]"),
        Just("N as f32"),
        Just("head(x)"),
        Just("f32::max"),
    ]
    .prop_map(str::to_string);
    let integer = prop_oneof![
        Just("k"),
        Just("3"),
        Just("-1"),
        Just("N"),
        Just("p.0"),
        Just("y[2]"),
        Just("len(x) + 1"),
        Just("i32::min"),
        Just("(N / 2) * 2"),
        Just("-N"),
        Just("2u8 as i32"),
    ]
    .prop_map(str::to_string);
    let array = prop_oneof![
        Just("x"),
        Just("[1.0, a, 2]"),
        Just("repeat(N, a)"),
        Just("generate(4, \\i -> i as f32)"),
    ]
    .prop_map(str::to_string);
    let [n0, i0, a0] = [number.boxed(), integer.boxed(), array.boxed()];
    let mut all = [n0.clone(), i0.clone(), Just("true".to_string()).boxed(), a0.clone()];
    for _ in 0..4 {
        let [n, i, b, a] = all.clone();
        let op = || prop::sample::select(vec!["+", "-", "*", "/", "%"]);
        let compare = || prop::sample::select(vec!["<", "<=", ">", ">=", "==", "!="]);
        let fold = prop::sample::select(vec!["reduce", "reduceSeq", "reduceSeqUnroll"]);
        let number = prop_oneof![
            n0.clone(),
            (n.clone(), op(), n.clone()).prop_map(|(a, op, b)| format!("({a}) {op} {b}")),
            (n.clone(), op(), n.clone()).prop_map(|(a, op, b)| format!("{a} {op} ({b})")),
            n.clone().prop_map(|a| format!("-({a})")),
            (n.clone(), n.clone()).prop_map(|(a, b)| format!("max({a}, {b})")),
            (b.clone(), n.clone(), n.clone())
                .prop_map(|(c, a, b)| format!("(if {c} then {a} else {b})")),
            (n.clone(), n.clone()).prop_map(|(a, b)| format!("(let t = {a}; t * t - {b})")),
            (n.clone(), i.clone())
                .prop_map(|(a, b)| format!("(\\(q, r) -> q + r as f32)(({a}, {b}))")),
            i.clone().prop_map(|i| format!("({i}) as f32")),
            (fold, n.clone(), a.clone()).prop_map(|(f, z, a)| format!("{f}({z}, (+), {a})")),
            (n.clone(), a.clone(), n.clone())
                .prop_map(|(z, a, n)| format!("({a} |> reduceSeq({z}, \\s e -> s * e + {n}))")),
            (n.clone(), i.clone(), n.clone())
                .prop_map(|(a, b, c)| format!("({a}, ({b}, {c})).1.1")),
            (n.clone(), n.clone()).prop_map(|(a, b)| format!("dot(v, f32x4({a}) * {b})")),
        ]
        .boxed();
        let integer = prop_oneof![
            i0.clone(),
            (i.clone(), op(), i.clone()).prop_map(|(a, op, b)| format!("({a}) {op} {b}")),
            (i.clone(), op(), i.clone()).prop_map(|(a, op, b)| format!("{a} {op} ({b})")),
            n.clone().prop_map(|n| format!("({n}) as i32")),
            (i.clone(), i.clone()).prop_map(|(a, b)| format!("min({a}, {b})")),
            i.clone().prop_map(|i| format!("({i}) as i64 as i8 as i32")),
            i.clone().prop_map(|i| format!("y[abs({i}) % 4]")),
            i.clone().prop_map(|i| format!("reduceSeq(0, \\c e -> c + e * ({i}), y)")),
            (b.clone(), i.clone()).prop_map(|(b, i)| format!("select({b}, {i}, 7)")),
        ]
        .boxed();
        let truth = prop_oneof![
            (n.clone(), compare(), n.clone()).prop_map(|(a, op, b)| format!("{a} {op} {b}")),
            (i.clone(), compare(), i.clone()).prop_map(|(a, op, b)| format!("{a} {op} {b}")),
            (b.clone(), b.clone()).prop_map(|(a, b)| format!("({a}) && !({b}) || {a}")),
        ]
        .boxed();
        let array = prop_oneof![
            a0.clone(),
            (n.clone(), a.clone()).prop_map(|(n, a)| format!("map(\\e -> e * {n}, {a})")),
            (a.clone(), n.clone()).prop_map(|(a, n)| format!("({a} |> map(\\x -> {n} - x))")),
            a.clone().prop_map(|a| format!("({a} |> split(1) |> join)")),
            a.clone().prop_map(|a| format!("(zip({a}, {a}) |> map(\\(l, r) -> l + r))")),
            a.clone().prop_map(|a| format!("(unzip(zip({a}, {a}))).1")),
            a.clone()
                .prop_map(|a| format!("({a} |> pad(1, 2, clamp) |> slide(4, 1) |> map(head))")),
            (a.clone(), n.clone()).prop_map(|(a, n)| format!("pad_value(1, 0, {n}, {a})")),
            a.clone().prop_map(|a| format!("({a} |> gather(\\i -> len - 1 - i))")),
            a.clone().prop_map(|a| format!("({a} |> scatter(shift(1)) |> gather(reverse))")),
            a.clone().prop_map(|a| format!("(let s = {a}; concat(s, drop(1, s)))")),
            (a.clone(), n.clone()).prop_map(|(a, n)| format!("scan({n}, (+), {a})")),
            a.clone().prop_map(|a| format!("iterate(2, \\s -> s |> pad(1, 1, wrap), {a})")),
            a.clone().prop_map(|a| format!("iterate(3, map((*)(2.0)), {a})")),
            a.clone().prop_map(|a| format!("({a} |> map(toPrivate(id)) |> mapSeq(id))")),
            (i.clone(), n.clone())
                .prop_map(|(i, n)| format!("generate(3, \\k -> (k + {i}) as f32 * {n})")),
            n.clone().prop_map(|n| format!(
                "([v, f32x4({n})] |> map(vectorize(4, \\s -> s + a)) |> as_scalar)"
            )),
        ]
        .boxed();
        all = [number, integer, truth, array];
    }
    all
}
