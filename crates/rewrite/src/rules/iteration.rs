//! Iteration: cut in two, written out.

use crate::rule::Rule;
use crate::rules::Family;

pub(super) static FAMILY: Family = Family {
    name: "iteration",
    about: "Iteration is cut in two, joined, written out.",
    rules: &[&ITERATE_SPLIT, &ITERATE_MERGE, &ITERATE_ONCE],
};

/// Iterating k times is iterating i times, then the rest.
static ITERATE_SPLIT: Rule = Rule::law(
    "iterate_split",
    "f: a -> a, x: a",
    "iterate(k, f, x)",
    "iterate(k - i, f, iterate(i, f, x))",
)
.needs("i <= k");

/// One iteration after another is one.
static ITERATE_MERGE: Rule = Rule::law(
    "iterate_merge",
    "f: a -> a, x: a",
    "iterate(i, f, iterate(j, f, x))",
    "iterate(i + j, f, x)",
);

/// Iterating once is applying the function.
static ITERATE_ONCE: Rule =
    Rule::law("iterate_once", "f: a -> a, x: a", "iterate(1, f, x)", "f(x)");
