//! What can be left out.

use crate::rule::Rule;
use crate::rules::Family;

pub(super) static FAMILY: Family = Family {
    name: "simplification",
    about: "What changes nothing is left out.",
    rules: &[
        &MAP_IDENTITY,
        &JOIN_SPLIT,
        &SPLIT_JOIN_ID,
        &TRANSPOSE_TRANSPOSE,
        &AS_SCALAR_AS_VECTOR,
        &AS_VECTOR_AS_SCALAR,
        &TAKE_ALL,
        &DROP_NONE,
        &TAKE_PAD,
        &TAKE_PAD_VALUE,
        &TAKE_TAKE,
        &DROP_DROP,
        &TAKE_CONCAT,
        &DROP_CONCAT,
    ],
};

static MAP_IDENTITY: Rule = Rule::law(
    "map_identity",
    "A map that changes nothing is the array.",
    "xs: [a; n]",
    "map(\\x -> x, xs)",
    "xs",
);

static JOIN_SPLIT: Rule = Rule::law(
    "join_split",
    "Joining chunks undoes splitting.",
    "xs: [a; n]",
    "join(split(m, xs))",
    "xs",
)
.needs("n % m == 0");

static SPLIT_JOIN_ID: Rule = Rule::law(
    "split_join_id",
    "Splitting joined rows into rows of the same length undoes joining.",
    "xss: [[a; m]; n]",
    "split(m, join(xss))",
    "xss",
);

static TRANSPOSE_TRANSPOSE: Rule = Rule::law(
    "transpose_transpose",
    "Transposing twice changes nothing.",
    "xss: [[a; m]; n]",
    "transpose(transpose(xss))",
    "xss",
);

static AS_SCALAR_AS_VECTOR: Rule = Rule::law(
    "as_scalar_as_vector",
    "Taking vectors apart undoes making them.",
    "xs: [s; n]",
    "as_scalar(as_vector(m, xs))",
    "xs",
)
.needs("n % m == 0");

static AS_VECTOR_AS_SCALAR: Rule = Rule::law(
    "as_vector_as_scalar",
    "Making vectors of the same width undoes taking them apart.",
    "vs: [s_m; n]",
    "as_vector(m, as_scalar(vs))",
    "vs",
);

static TAKE_ALL: Rule =
    Rule::law("take_all", "Taking everything changes nothing.", "xs: [a; n]", "take(n, xs)", "xs");

static DROP_NONE: Rule =
    Rule::law("drop_none", "Dropping nothing changes nothing.", "xs: [a; n]", "drop(0, xs)", "xs");

static TAKE_PAD: Rule = Rule::law(
    "take_pad",
    "Taking what was there undoes padding at the end.",
    "b: boundary, xs: [a; n]",
    "take(n, pad(0, r, b, xs))",
    "xs",
);

static TAKE_PAD_VALUE: Rule = Rule::law(
    "take_pad_value",
    "Taking what was there undoes padding at the end with a value.",
    "v: a, xs: [a; n]",
    "take(n, pad_value(0, r, v, xs))",
    "xs",
);

static TAKE_TAKE: Rule = Rule::law(
    "take_take",
    "The first elements of the first elements are the first elements.",
    "xs: [a; n]",
    "take(k, take(m, xs))",
    "take(k, xs)",
);

static DROP_DROP: Rule = Rule::law(
    "drop_drop",
    "Dropping twice is dropping the sum.",
    "xs: [a; n]",
    "drop(k, drop(m, xs))",
    "drop(k + m, xs)",
);

static TAKE_CONCAT: Rule = Rule::law(
    "take_concat",
    "The first part of two is what is in front.",
    "xs: [a; n], ys: [a; m]",
    "take(n, concat(xs, ys))",
    "xs",
);

static DROP_CONCAT: Rule = Rule::law(
    "drop_concat",
    "Two parts without the first are the second.",
    "xs: [a; n], ys: [a; m]",
    "drop(n, concat(xs, ys))",
    "ys",
);
