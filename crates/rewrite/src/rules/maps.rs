//! Maps: fused, moved, cut into chunks.

use crate::rule::Rule;
use crate::rules::Family;

pub(super) static FAMILY: Family = Family {
    name: "maps",
    about: "Maps are fused, moved past `join`, cut into chunks.",
    rules: &[
        &MAP_FUSION,
        &MAP_SEQ_FUSION,
        &MAP_SEQ_UNROLL_FUSION,
        &MAP_PROMOTION,
        &MAP_DEMOTION,
        &SPLIT_JOIN,
        &SPLIT_JOIN_PADDED,
    ],
};

/// The intermediate array is never stored; each function still runs once per element.
static MAP_FUSION: Rule = Rule::law(
    "map_fusion",
    "Two maps in a row are one map of the composed function.",
    "f: b -> c, g: a -> b, xs: [a; n]",
    "map(f, map(g, xs))",
    "map(\\x -> f(g(x)), xs)",
);

static MAP_SEQ_FUSION: Rule = Rule::law(
    "map_seq_fusion",
    "Two loops in a row are one loop of the composed function.",
    "f: b -> c, g: a -> b, xs: [a; n]",
    "mapSeq(f, mapSeq(g, xs))",
    "mapSeq(\\x -> f(g(x)), xs)",
);

static MAP_SEQ_UNROLL_FUSION: Rule = Rule::law(
    "map_seq_unroll_fusion",
    "Two unrolled loops in a row are one unrolled loop of the composed function.",
    "f: b -> c, g: a -> b, xs: [a; n]",
    "mapSeqUnroll(f, mapSeqUnroll(g, xs))",
    "mapSeqUnroll(\\x -> f(g(x)), xs)",
);

static MAP_PROMOTION: Rule = Rule::law(
    "map_promotion",
    "A map over joined rows is a map over each row.",
    "f: a -> b, xss: [[a; m]; n]",
    "map(f, join(xss))",
    "join(map(map(f), xss))",
);

static MAP_DEMOTION: Rule = Rule::law(
    "map_demotion",
    "Maps over each row, joined, are one map over the joined rows.",
    "f: a -> b, xss: [[a; m]; n]",
    "join(map(map(f), xss))",
    "map(f, join(xss))",
);

static SPLIT_JOIN: Rule = Rule::law(
    "split_join",
    "A map runs chunk by chunk.",
    "f: a -> b, xs: [a; n]",
    "map(f, xs)",
    "join(map(map(f), split(m, xs)))",
)
.needs("n % m == 0");

static SPLIT_JOIN_PADDED: Rule = Rule::law(
    "split_join_padded",
    "A map runs chunk by chunk, whatever the length: the array is padded to whole chunks and the surplus results are dropped.",
    "f: a -> b, xs: [a; n]",
    "map(f, xs)",
    "take(n, join(map(map(f), split(m, pad(0, ceil_div(n, m) * m - n, clamp, xs)))))",
)
.needs("m > 0");
