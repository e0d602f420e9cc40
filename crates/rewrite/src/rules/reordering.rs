//! Permutations.

use crate::rule::Rule;
use crate::rules::Family;

pub(super) static FAMILY: Family = Family {
    name: "reordering",
    about: "Elements are taken in another order.",
    rules: &[
        &REORDER_BOTH_SIDES,
        &REDUCE_REORDER,
        &GATHER_SCATTER,
        &SCATTER_GATHER,
        &STRIDE_AS_TRANSPOSE,
        &MAP_GATHER,
        &GATHER_MAP,
    ],
};

static REORDER_BOTH_SIDES: Rule = Rule::law(
    "reorder_both_sides",
    "A map works on elements in any order, if the results go back to where they belong.",
    "f: a -> b, xs: [a; n], p: permutation",
    "map(f, xs)",
    "scatter(p, map(f, gather(p, xs)))",
);

static REDUCE_REORDER: Rule = Rule::law(
    "reduce_reorder",
    "A fold takes elements in any order.",
    "z: a, f: (a, a) -> a, xs: [a; n], p: permutation",
    "reduce(z, f, xs)",
    "reduce(z, f, gather(p, xs))",
);

static GATHER_SCATTER: Rule = Rule::law(
    "gather_scatter",
    "Reading through a permutation undoes writing through it.",
    "xs: [a; n], p: permutation",
    "gather(p, scatter(p, xs))",
    "xs",
);

static SCATTER_GATHER: Rule = Rule::law(
    "scatter_gather",
    "Writing through a permutation undoes reading through it.",
    "xs: [a; n], p: permutation",
    "scatter(p, gather(p, xs))",
    "xs",
);

static STRIDE_AS_TRANSPOSE: Rule = Rule::law(
    "stride_as_transpose",
    "Striding is reading a matrix by columns.",
    "xs: [a; n]",
    "gather(stride(s), xs)",
    "join(transpose(split(s, xs)))",
)
.needs("n % s == 0");

static MAP_GATHER: Rule = Rule::law(
    "map_gather",
    "Elements are reordered after a map or before it.",
    "f: a -> b, xs: [a; n], p: permutation",
    "map(f, gather(p, xs))",
    "gather(p, map(f, xs))",
);

static GATHER_MAP: Rule = Rule::law(
    "gather_map",
    "Elements are reordered before a map or after it.",
    "f: a -> b, xs: [a; n], p: permutation",
    "gather(p, map(f, xs))",
    "map(f, gather(p, xs))",
);
