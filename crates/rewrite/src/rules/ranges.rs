//! Folds over ranges whose bounds are data: shared by several, cut in two.
//!
//! With `map_to_lcl` and `map_to_lane` the lanes of a group or warp share a row of any length; a row that is cut has a beginning of
//! bounded length, for one work-item, and a rest. Numbers are added in 64 bits, where they do not wrap.

use crate::rule::Rule;
use crate::rules::Family;

pub(super) static FAMILY: Family = Family {
    name: "ranges",
    about: "Folds over ranges from data are shared by lanes, cut in two, or run from the left.",
    rules: &[&RANGE_TO_SEQ, &RANGE_LANES, &RANGE_LANES_WIDE, &RANGE_CUT, &RANGE_CUT_WIDE],
};

static RANGE_TO_SEQ: Rule = Rule::law(
    "range_to_seq",
    "A fold over a range goes from the left.",
    "z: c, f: (c, c) -> c, g: i32 -> c, a: i32, b: i32",
    "reduce(z, f, [ g(k) | k in a .. b ])",
    "reduceSeq(z, f, [ g(k) | k in a .. b ])",
);

static RANGE_LANES: Rule = Rule::law(
    "range_lanes",
    "Each of m lanes folds every m-th element of a range, then the results are folded.",
    "z: c, f: (c, c) -> c, g: i32 -> c, a: i32, b: i32",
    "reduce(z, f, [ g(k) | k in a .. b ])",
    "reduce(z, f, map(\\l -> reduceSeq(z, f, \
     [ g(((a as i64) + j * (m as i64) + (l as i64)) as i32) | j in 0i64 .. \
     (if a <= b then ((b as i64) - (a as i64) + (m as i64) - 1i64 - (l as i64)) / (m as i64) \
     else (b as i64) - (a as i64)) ]), generate(m, \\l -> l)))",
)
.needs("m > 0");

static RANGE_LANES_WIDE: Rule = Rule::law(
    "range_lanes_wide",
    "Each of m lanes folds every m-th element of a range whose bounds have 64 bits, then the results are folded.",
    "z: c, f: (c, c) -> c, g: i64 -> c, a: i64, b: i64",
    "reduce(z, f, [ g(k) | k in a .. b ])",
    "reduce(z, f, map(\\l -> reduceSeq(z, f, \
     [ g(a + j * (m as i64) + (l as i64)) | j in 0i64 .. \
     (if a <= b then (b - a + (m as i64) - 1i64 - (l as i64)) / (m as i64) else b - a) ]), \
     generate(m, \\l -> l)))",
)
.needs("m > 0");

static RANGE_CUT: Rule = Rule::law(
    "range_cut",
    "The first n elements of a range are folded, and what is left, if anything is.",
    "z: c, f: (c, c) -> c, g: i32 -> c, a: i32, b: i32",
    "reduce(z, f, [ g(k) | k in a .. b ])",
    "let m = if (a as i64) + (n as i64) < (b as i64) then a + (n as i32) else b; \
     f(reduce(z, f, [ g(k) | k in a .. m ]), \
     if m < b then reduce(z, f, [ g(k) | k in m .. b ]) else z)",
)
.needs("n < 2147483648");

static RANGE_CUT_WIDE: Rule = Rule::law(
    "range_cut_wide",
    "The first n elements of a range whose bounds have 64 bits are folded, and what is left, if anything is.",
    "z: c, f: (c, c) -> c, g: i64 -> c, a: i64, b: i64",
    "reduce(z, f, [ g(k) | k in a .. b ])",
    "let m = if a < b && (n as i64) < b - a then a + (n as i64) else b; \
     f(reduce(z, f, [ g(k) | k in a .. m ]), \
     if m < b then reduce(z, f, [ g(k) | k in m .. b ]) else z)",
)
.needs("n < 2147483648");
