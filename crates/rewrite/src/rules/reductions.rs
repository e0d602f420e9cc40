//! Folds: fused with what feeds them, regrouped, cut into chunks.

use crate::rule::Rule;
use crate::rules::Family;

pub(super) static FAMILY: Family = Family {
    name: "folds",
    about: "Folds are fused with what feeds them, regrouped, cut into chunks.",
    rules: &[
        &REDUCE_MAP_FUSION,
        &REDUCE_ANY_MAP_FUSION,
        &REDUCE_MAP_UNROLL_FUSION,
        &REDUCE_UNROLL_MAP_FUSION,
        &REDUCE_UNROLL_MAP_SEQ_FUSION,
        &REDUCE_UNROLL_MAP_UNROLL_FUSION,
        &REDUCE_JOIN,
        &REDUCE_PROMOTION,
        &REDUCE_PROMOTION_PADDED,
        &TREE_REDUCTION,
        &SPLIT_REDUCE,
        &SPLIT_REDUCE_SEQ,
    ],
};

/// A loop that feeds a fold becomes part of it.
static REDUCE_MAP_FUSION: Rule = Rule::law(
    "reduce_map_fusion",
    "z: c, f: (c, b) -> c, g: a -> b, xs: [a; n]",
    "reduceSeq(z, f, mapSeq(g, xs))",
    "reduceSeq(z, \\acc x -> f(acc, g(x)), xs)",
);

/// The same for a map whose kind is not decided yet.
static REDUCE_ANY_MAP_FUSION: Rule = Rule::law(
    "reduce_any_map_fusion",
    "z: c, f: (c, b) -> c, g: a -> b, xs: [a; n]",
    "reduceSeq(z, f, map(g, xs))",
    "reduceSeq(z, \\acc x -> f(acc, g(x)), xs)",
);

/// The same for a loop that is written out.
static REDUCE_MAP_UNROLL_FUSION: Rule = Rule::law(
    "reduce_map_unroll_fusion",
    "z: c, f: (c, b) -> c, g: a -> b, xs: [a; n]",
    "reduceSeq(z, f, mapSeqUnroll(g, xs))",
    "reduceSeq(z, \\acc x -> f(acc, g(x)), xs)",
);

/// The same for a fold that is written out.
static REDUCE_UNROLL_MAP_FUSION: Rule = Rule::law(
    "reduce_unroll_map_fusion",
    "z: c, f: (c, b) -> c, g: a -> b, xs: [a; n]",
    "reduceSeqUnroll(z, f, map(g, xs))",
    "reduceSeqUnroll(z, \\acc x -> f(acc, g(x)), xs)",
);

/// A fold that is written out takes in a loop.
static REDUCE_UNROLL_MAP_SEQ_FUSION: Rule = Rule::law(
    "reduce_unroll_map_seq_fusion",
    "z: c, f: (c, b) -> c, g: a -> b, xs: [a; n]",
    "reduceSeqUnroll(z, f, mapSeq(g, xs))",
    "reduceSeqUnroll(z, \\acc x -> f(acc, g(x)), xs)",
);

/// Both are written out.
static REDUCE_UNROLL_MAP_UNROLL_FUSION: Rule = Rule::law(
    "reduce_unroll_map_unroll_fusion",
    "z: c, f: (c, b) -> c, g: a -> b, xs: [a; n]",
    "reduceSeqUnroll(z, f, mapSeqUnroll(g, xs))",
    "reduceSeqUnroll(z, \\acc x -> f(acc, g(x)), xs)",
);

/// Joined rows are folded row by row, then the results.
static REDUCE_JOIN: Rule = Rule::law(
    "reduce_join",
    "z: a, f: (a, a) -> a, xss: [[a; m]; n]",
    "reduce(z, f, join(xss))",
    "reduce(z, f, map(reduce(z, f), xss))",
);

/// Chunks are folded each on its own, then the results.
static REDUCE_PROMOTION: Rule = Rule::law(
    "reduce_promotion",
    "z: a, f: (a, a) -> a, xs: [a; n]",
    "reduce(z, f, xs)",
    "reduce(z, f, map(reduce(z, f), split(m, xs)))",
)
.needs("n % m == 0");

/// The same for any chunk: the last one is filled up with the identity.
static REDUCE_PROMOTION_PADDED: Rule = Rule::law(
    "reduce_promotion_padded",
    "z: a, f: (a, a) -> a, xs: [a; n]",
    "reduce(z, f, xs)",
    "reduce(z, f, map(reduce(z, f), split(m, pad_value(0, ceil_div(n, m) * m - n, z, xs))))",
)
.needs("m > 0");

/// Folding chunks of m is folding chunks of m / k, then k of the results at a time.
static TREE_REDUCTION: Rule = Rule::law(
    "tree_reduction",
    "z: a, f: (a, a) -> a, xs: [a; n]",
    "map(reduce(z, f), split(m, xs))",
    "map(reduce(z, f), split(k, map(reduce(z, f), split(m / k, xs))))",
)
.needs("n % m == 0, m % k == 0");

/// A fold goes through chunks one after the other.
static SPLIT_REDUCE: Rule = Rule::law(
    "split_reduce",
    "z: a, f: (a, a) -> a, xs: [a; n]",
    "reduce(z, f, xs)",
    "reduceSeq(z, \\acc c -> reduceSeq(acc, f, c), split(m, xs))",
)
.needs("n % m == 0");

/// The same from the left, with any function.
static SPLIT_REDUCE_SEQ: Rule = Rule::law(
    "split_reduce_seq",
    "z: b, f: (b, a) -> b, xs: [a; n]",
    "reduceSeq(z, f, xs)",
    "reduceSeq(z, \\acc c -> reduceSeq(acc, f, c), split(m, xs))",
)
.needs("n % m == 0");
