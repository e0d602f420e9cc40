//! Iteration: cut in two, written out.

use crate::rule::Rule;
use crate::rules::Family;

pub(super) static FAMILY: Family = Family {
    name: "iteration",
    about: "Iteration is cut in two, joined, written out.",
    rules: &[
        &ITERATE_SPLIT,
        &ITERATE_MERGE,
        &ITERATE_ONCE,
        &ITERATE_COUNTED,
        &ITERATE_UNCOUNTED,
        &INDEX_FOLDED,
    ],
};

static ITERATE_SPLIT: Rule = Rule::law(
    "iterate_split",
    "Iterating k times is iterating i times, then the rest.",
    "f: a -> a, x: a",
    "iterate(k, f, x)",
    "iterate(k - i, f, iterate(i, f, x))",
)
.needs("i <= k");

static ITERATE_MERGE: Rule = Rule::law(
    "iterate_merge",
    "One iteration after another of the same function is one.",
    "f: a -> a, x: a",
    "iterate(i, f, iterate(j, f, x))",
    "iterate(i + j, f, x)",
);

static ITERATE_ONCE: Rule = Rule::law(
    "iterate_once",
    "Iterating once is applying the function.",
    "f: a -> a, x: a",
    "iterate(1, f, x)",
    "f(x)",
);

static ITERATE_COUNTED: Rule = Rule::law(
    "iterate_counted",
    "Iterating is iterating with a number that nobody asks for.",
    "f: a -> a, x: a",
    "iterate(k, f, x)",
    "iterate_index(k, \\i s -> f(s), x)",
);

static ITERATE_UNCOUNTED: Rule = Rule::law(
    "iterate_uncounted",
    "A number that nobody asks for is left out.",
    "f: a -> a, x: a",
    "iterate_index(k, \\i s -> f(s), x)",
    "iterate(k, f, x)",
);

static INDEX_FOLDED: Rule = Rule::law(
    "index_folded",
    "Iterating with a number is folding the numbers.",
    "f: (i32, a) -> a, x: a",
    "iterate_index(k, f, x)",
    "reduceSeq(x, \\s i -> f(i, s), generate(k, \\j -> j))",
);
