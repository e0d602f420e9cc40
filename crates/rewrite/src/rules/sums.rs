//! Folds that share a pass over an array, and arithmetic that moves through sums.
//!
//! A program that says what it computes goes over its rows once for a maximum, again for a sum that needs it, again for
//! another. These laws make one fold of several: of pairs where they do not depend on each other, and of a state that is
//! corrected on the way where the second needs the first's result. Rounding differs, as it does wherever a sum is regrouped.

use crate::rule::Rule;
use crate::rules::Family;

pub(super) static FAMILY: Family = Family {
    name: "sums",
    about: "Folds over one array become one, and factors leave sums.",
    rules: &[
        &FOLD_PAIR,
        &FOLD_PAIR_SEQ,
        &QUOTIENT_FACTOR,
        &SUM_FACTOR,
        &SUM_DIVISOR,
        &ONLINE_MAXIMUM,
        &ONLINE_ROWS,
        &ONLINE_MEAN,
    ],
};

static FOLD_PAIR: Rule = Rule::law(
    "fold_pair",
    "Two folds over one array are a fold of pairs.",
    "z: b, f: (b, b) -> b, g: a -> b, w: c, h: (c, c) -> c, k: a -> c, xs: [a; n]",
    "(reduce(z, f, map(g, xs)), reduce(w, h, map(k, xs)))",
    "reduce((z, w), \\p q -> (f(p.0, q.0), h(p.1, q.1)), map(\\x -> (g(x), k(x)), xs))",
);

static FOLD_PAIR_SEQ: Rule = Rule::law(
    "fold_pair_seq",
    "Two folds from the left over one array are a fold with a pair as its state.",
    "z: b, f: (b, a) -> b, w: c, h: (c, a) -> c, xs: [a; n]",
    "(reduceSeq(z, f, xs), reduceSeq(w, h, xs))",
    "reduceSeq((z, w), \\p x -> (f(p.0, x), h(p.1, x)), xs)",
);

static QUOTIENT_FACTOR: Rule = Rule::law(
    "quotient_factor",
    "A quotient times a factor is the product, divided.",
    "x: f32, y: f32, c: f32",
    "x / c * y",
    "x * y / c",
);

static SUM_FACTOR: Rule = Rule::law(
    "sum_factor",
    "A factor that all terms have is multiplied once.",
    "c: f32, f: a -> f32, xs: [a; n]",
    "reduce(0.0, (+), map(\\x -> c * f(x), xs))",
    "c * reduce(0.0, (+), map(f, xs))",
);

static SUM_DIVISOR: Rule = Rule::law(
    "sum_divisor",
    "What divides all terms divides once.",
    "c: f32, f: a -> f32, xs: [a; n]",
    "reduce(0.0, (+), map(\\x -> f(x) / c, xs))",
    "reduce(0.0, (+), map(f, xs)) / c",
);

/// The step of a soft maximum. A part without elements has the maximum -inf, and adds nothing: `exp(-inf - -inf)` is not asked.
static ONLINE_MAXIMUM: Rule = Rule::law(
    "online_maximum",
    "A maximum and a sum of powers relative to it are one fold, in which the sum is corrected when a larger one comes.",
    "s: a -> f32, g: a -> f32, xs: [a; n]",
    "let m = reduce(-inf, max, map(s, xs)); (m, reduce(0.0, (+), map(\\x -> exp(s(x) - m) * g(x), xs)))",
    "reduce((-inf, 0.0), \\p q -> \
       let m = max(p.0, q.0); \
       (m, (if p.0 == -inf then 0.0 else p.1 * exp(p.0 - m)) + (if q.0 == -inf then 0.0 else q.1 * exp(q.0 - m))), \
       map(\\x -> (s(x), g(x)), xs))",
);

/// The same with rows in place of numbers, which is attention in one pass: `xs` are keys, `yss` values.
static ONLINE_ROWS: Rule = Rule::law(
    "online_rows",
    "A maximum, the sum of powers relative to it and the sum of rows weighted by these are one fold, in which both sums \
     are corrected when a larger one comes.",
    "s: a -> f32, xs: [a; n], yss: [[f32; k]; n]",
    "let m = reduce(-inf, max, map(s, xs)); \
     (reduce(0.0, (+), map(\\x -> exp(s(x) - m), xs)), \
      reduce(repeat(k, 0.0), \\u v -> map(\\(x, y) -> x + y, zip(u, v)), \
        map(\\p -> map(\\y -> exp(s(p.0) - m) * y, p.1), zip(xs, yss))))",
    "let all = reduce((-inf, 0.0, repeat(k, 0.0)), \\p q -> \
       let m = max(p.0, q.0); \
       let old = if p.0 == -inf then 0.0 else exp(p.0 - m); \
       let new = if q.0 == -inf then 0.0 else exp(q.0 - m); \
       (m, old * p.1 + new * q.1, map(\\(x, y) -> old * x + new * y, zip(p.2, q.2))), \
       map(\\p -> (s(p.0), 1.0, p.1), zip(xs, yss))); \
     (all.1, all.2)",
);

/// Welford's and Chan's: numbers of elements, means, and squares around these are put together.
static ONLINE_MEAN: Rule = Rule::law(
    "online_mean",
    "A mean and the sum of squares around it are one fold of counts, means and squares.",
    "g: a -> f32, xs: [a; n]",
    "let m = reduce(0.0, (+), map(g, xs)) / (n as f32); \
     (m, reduce(0.0, (+), map(\\x -> (g(x) - m) * (g(x) - m), xs)))",
    "let all = reduce((0.0, 0.0, 0.0), \\p q -> \
       let count = p.0 + q.0; \
       let d = q.1 - p.1; \
       if count == 0.0 then p else \
         (count, p.1 + d * (q.0 / count), p.2 + q.2 + d * d * (p.0 * q.0 / count)), \
       map(\\x -> (1.0, g(x), 0.0), xs)); \
     (all.1, all.2)",
);
