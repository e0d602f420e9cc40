//! Partial folds: several results, folded together later.

use crate::rule::Rule;
use crate::rules::Family;

pub(super) static FAMILY: Family = Family {
    name: "partial_folds",
    about: "Folds make several results, which are folded together later.",
    rules: &[
        &REDUCE_PARTIAL,
        &PARTIAL_REDUCE_REDUCE,
        &PARTIAL_REDUCE_LOWER,
        &PARTIAL_REDUCE_ITERATE,
        &PARTIAL_REDUCE_REORDER,
        &PARTIAL_REDUCE_SPLIT,
    ],
};

static REDUCE_PARTIAL: Rule = Rule::law(
    "reduce_partial",
    "A fold first makes m partial results.",
    "z: a, f: (a, a) -> a, xs: [a; n]",
    "reduce(z, f, xs)",
    "reduce(z, f, partial_reduce(m, z, f, xs))",
)
.needs("n % m == 0");

static PARTIAL_REDUCE_REDUCE: Rule = Rule::law(
    "partial_reduce_reduce",
    "One partial result is the result.",
    "z: a, f: (a, a) -> a, xs: [a; n]",
    "partial_reduce(1, z, f, xs)",
    "[reduce(z, f, xs)]",
);

static PARTIAL_REDUCE_LOWER: Rule = Rule::law(
    "partial_reduce_lower",
    "Every result folds its own column of the array in rows of m.",
    "z: a, f: (a, a) -> a, xs: [a; n]",
    "partial_reduce(m, z, f, xs)",
    "map(reduce(z, f), transpose(split(m, xs)))",
)
.needs("n % m == 0");

static PARTIAL_REDUCE_ITERATE: Rule = Rule::law(
    "partial_reduce_iterate",
    "Partial results become fewer step by step, k times fewer in each.",
    "z: a, f: (a, a) -> a, xs: [a; n]",
    "partial_reduce(m, z, f, xs)",
    "iterate(i, \\ys -> partial_reduce(len(ys) / k, z, f, ys), xs)",
)
.needs("n % m == 0, 1 <= i, n / m == k^i");

static PARTIAL_REDUCE_REORDER: Rule = Rule::law(
    "partial_reduce_reorder",
    "In which order partial results take elements does not matter to the whole.",
    "z: a, f: (a, a) -> a, xs: [a; n], p: permutation",
    "reduce(z, f, partial_reduce(m, z, f, xs))",
    "reduce(z, f, partial_reduce(m, z, f, gather(p, xs)))",
)
.needs("n % m == 0");

static PARTIAL_REDUCE_SPLIT: Rule = Rule::law(
    "partial_reduce_split",
    "Chunks make partial results of their own.",
    "z: a, f: (a, a) -> a, xs: [a; n]",
    "reduce(z, f, partial_reduce(m, z, f, xs))",
    "reduce(z, f, join(map(partial_reduce(k, z, f), split(n / m * k, xs))))",
)
.needs("n % m == 0, m % k == 0");
