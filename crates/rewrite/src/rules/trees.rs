//! Folds as trees: chunks are folded until few results are left.

use crate::rule::Rule;
use crate::rules::Family;

pub(super) static FAMILY: Family = Family {
    name: "trees",
    about: "Folds become trees: chunks are folded until few results are left.",
    rules: &[&REDUCE_ITERATE, &REDUCE_UNJOIN],
};

static REDUCE_ITERATE: Rule = Rule::law(
    "reduce_iterate",
    "Neighbours are folded k at a time, i times over, then what is left.",
    "z: a, f: (a, a) -> a, xs: [a; n]",
    "reduce(z, f, xs)",
    "reduce(z, f, iterate(i, \\ys -> map(reduce(z, f), split(k, ys)), xs))",
)
.needs("1 <= i, n % k^i == 0");

static REDUCE_UNJOIN: Rule = Rule::law(
    "reduce_unjoin",
    "Rows folded each on its own, then the results, are all elements folded together.",
    "z: a, f: (a, a) -> a, xss: [[a; m]; n]",
    "reduce(z, f, map(reduce(z, f), xss))",
    "reduce(z, f, join(xss))",
);
