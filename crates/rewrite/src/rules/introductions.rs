//! What may be put in without a change, for other rules to use.

use crate::rule::Rule;
use crate::rules::Family;

pub(super) static FAMILY: Family = Family {
    name: "introduction",
    about: "What changes nothing is put in, for other rules to use.",
    rules: &[
        &COPY,
        &SPLIT_JOIN_INTRO,
        &JOIN_SPLIT_INTRO,
        &TRANSPOSE_INTRO,
        &AS_VECTOR_INTRO,
        &MAP_COLLAPSE,
    ],
};

static COPY: Rule = Rule::law(
    "copy",
    "An array is the array of its elements: a map that copies once it is given a memory.",
    "xs: [a; n]",
    "xs",
    "map(\\x -> x, xs)",
);

static SPLIT_JOIN_INTRO: Rule = Rule::law(
    "split_join_intro",
    "Rows are the joined rows, split again.",
    "xss: [[a; m]; n]",
    "xss",
    "split(m, join(xss))",
);

static JOIN_SPLIT_INTRO: Rule = Rule::law(
    "join_split_intro",
    "An array is its chunks, joined.",
    "xs: [a; n]",
    "xs",
    "join(split(m, xs))",
)
.needs("n % m == 0");

static TRANSPOSE_INTRO: Rule = Rule::law(
    "transpose_intro",
    "A matrix is its transposition, transposed.",
    "xss: [[a; m]; n]",
    "xss",
    "transpose(transpose(xss))",
);

static AS_VECTOR_INTRO: Rule = Rule::law(
    "as_vector_intro",
    "Scalars are read as vectors of m and taken apart again.",
    "xs: [s; n]",
    "xs",
    "as_scalar(as_vector(m, xs))",
)
.needs("n % m == 0");

static MAP_COLLAPSE: Rule = Rule::law(
    "map_collapse",
    "Maps over each row are one map over the joined rows.",
    "f: a -> b, xss: [[a; m]; n]",
    "map(map(f), xss)",
    "split(m, map(f, join(xss)))",
);
