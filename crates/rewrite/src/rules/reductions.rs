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

static REDUCE_MAP_FUSION: Rule = Rule::law(
    "reduce_map_fusion",
    "A loop that feeds a fold becomes part of it.",
    "z: c, f: (c, b) -> c, g: a -> b, xs: [a; n]",
    "reduceSeq(z, f, mapSeq(g, xs))",
    "reduceSeq(z, \\acc x -> f(acc, g(x)), xs)",
);

static REDUCE_ANY_MAP_FUSION: Rule = Rule::law(
    "reduce_any_map_fusion",
    "A map that feeds a fold becomes part of it.",
    "z: c, f: (c, b) -> c, g: a -> b, xs: [a; n]",
    "reduceSeq(z, f, map(g, xs))",
    "reduceSeq(z, \\acc x -> f(acc, g(x)), xs)",
);

static REDUCE_MAP_UNROLL_FUSION: Rule = Rule::law(
    "reduce_map_unroll_fusion",
    "An unrolled loop that feeds a fold becomes part of it.",
    "z: c, f: (c, b) -> c, g: a -> b, xs: [a; n]",
    "reduceSeq(z, f, mapSeqUnroll(g, xs))",
    "reduceSeq(z, \\acc x -> f(acc, g(x)), xs)",
);

static REDUCE_UNROLL_MAP_FUSION: Rule = Rule::law(
    "reduce_unroll_map_fusion",
    "A map that feeds an unrolled fold becomes part of it.",
    "z: c, f: (c, b) -> c, g: a -> b, xs: [a; n]",
    "reduceSeqUnroll(z, f, map(g, xs))",
    "reduceSeqUnroll(z, \\acc x -> f(acc, g(x)), xs)",
);

static REDUCE_UNROLL_MAP_SEQ_FUSION: Rule = Rule::law(
    "reduce_unroll_map_seq_fusion",
    "A loop that feeds an unrolled fold becomes part of it.",
    "z: c, f: (c, b) -> c, g: a -> b, xs: [a; n]",
    "reduceSeqUnroll(z, f, mapSeq(g, xs))",
    "reduceSeqUnroll(z, \\acc x -> f(acc, g(x)), xs)",
);

static REDUCE_UNROLL_MAP_UNROLL_FUSION: Rule = Rule::law(
    "reduce_unroll_map_unroll_fusion",
    "An unrolled loop that feeds an unrolled fold becomes part of it.",
    "z: c, f: (c, b) -> c, g: a -> b, xs: [a; n]",
    "reduceSeqUnroll(z, f, mapSeqUnroll(g, xs))",
    "reduceSeqUnroll(z, \\acc x -> f(acc, g(x)), xs)",
);

static REDUCE_JOIN: Rule = Rule::law(
    "reduce_join",
    "Joined rows are folded row by row, then the results.",
    "z: a, f: (a, a) -> a, xss: [[a; m]; n]",
    "reduce(z, f, join(xss))",
    "reduce(z, f, map(reduce(z, f), xss))",
);

static REDUCE_PROMOTION: Rule = Rule::law(
    "reduce_promotion",
    "Chunks are folded each on its own, then the results.",
    "z: a, f: (a, a) -> a, xs: [a; n]",
    "reduce(z, f, xs)",
    "reduce(z, f, map(reduce(z, f), split(m, xs)))",
)
.needs("n % m == 0");

static REDUCE_PROMOTION_PADDED: Rule = Rule::law(
    "reduce_promotion_padded",
    "Chunks of any size are folded each on its own, then the results: the last chunk is filled up with the identity.",
    "z: a, f: (a, a) -> a, xs: [a; n]",
    "reduce(z, f, xs)",
    "reduce(z, f, map(reduce(z, f), split(m, pad_value(0, ceil_div(n, m) * m - n, z, xs))))",
)
.needs("m > 0");

static TREE_REDUCTION: Rule = Rule::law(
    "tree_reduction",
    "Folding chunks of m is folding chunks of m / k, then k of the results at a time.",
    "z: a, f: (a, a) -> a, xs: [a; n]",
    "map(reduce(z, f), split(m, xs))",
    "map(reduce(z, f), split(k, map(reduce(z, f), split(m / k, xs))))",
)
.needs("n % m == 0, m % k == 0");

static SPLIT_REDUCE: Rule = Rule::law(
    "split_reduce",
    "A fold goes through chunks one after the other.",
    "z: a, f: (a, a) -> a, xs: [a; n]",
    "reduce(z, f, xs)",
    "reduceSeq(z, \\acc c -> reduceSeq(acc, f, c), split(m, xs))",
)
.needs("n % m == 0");

static SPLIT_REDUCE_SEQ: Rule = Rule::law(
    "split_reduce_seq",
    "A fold from the left, with any function, goes through chunks one after the other.",
    "z: b, f: (b, a) -> b, xs: [a; n]",
    "reduceSeq(z, f, xs)",
    "reduceSeq(z, \\acc c -> reduceSeq(acc, f, c), split(m, xs))",
)
.needs("n % m == 0");
