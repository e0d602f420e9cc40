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

/// A map works on elements in any order, if the results go back to where they belong.
static REORDER_BOTH_SIDES: Rule = Rule::law(
    "reorder_both_sides",
    "f: a -> b, xs: [a; n], p: permutation",
    "map(f, xs)",
    "scatter(p, map(f, gather(p, xs)))",
);

/// A fold takes elements in any order.
static REDUCE_REORDER: Rule = Rule::law(
    "reduce_reorder",
    "z: a, f: (a, a) -> a, xs: [a; n], p: permutation",
    "reduce(z, f, xs)",
    "reduce(z, f, gather(p, xs))",
);

/// Reading through a permutation undoes writing through it.
static GATHER_SCATTER: Rule =
    Rule::law("gather_scatter", "xs: [a; n], p: permutation", "gather(p, scatter(p, xs))", "xs");

/// Writing through a permutation undoes reading through it.
static SCATTER_GATHER: Rule =
    Rule::law("scatter_gather", "xs: [a; n], p: permutation", "scatter(p, gather(p, xs))", "xs");

/// Striding is reading a matrix by columns.
static STRIDE_AS_TRANSPOSE: Rule = Rule::law(
    "stride_as_transpose",
    "xs: [a; n]",
    "gather(stride(s), xs)",
    "join(transpose(split(s, xs)))",
)
.needs("n % s == 0");

/// Elements are reordered after a map or before it.
static MAP_GATHER: Rule = Rule::law(
    "map_gather",
    "f: a -> b, xs: [a; n], p: permutation",
    "map(f, gather(p, xs))",
    "gather(p, map(f, xs))",
);

/// Elements are reordered before a map or after it.
static GATHER_MAP: Rule = Rule::law(
    "gather_map",
    "f: a -> b, xs: [a; n], p: permutation",
    "gather(p, map(f, xs))",
    "map(f, gather(p, xs))",
);
