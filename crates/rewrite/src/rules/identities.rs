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

/// A map that changes nothing.
static MAP_IDENTITY: Rule = Rule::law("map_identity", "xs: [a; n]", "map(\\x -> x, xs)", "xs");

/// Joining chunks undoes splitting.
static JOIN_SPLIT: Rule =
    Rule::law("join_split", "xs: [a; n]", "join(split(m, xs))", "xs").needs("n % m == 0");

/// Splitting joined rows into rows of the same length undoes joining.
static SPLIT_JOIN_ID: Rule =
    Rule::law("split_join_id", "xss: [[a; m]; n]", "split(m, join(xss))", "xss");

/// Transposing twice.
static TRANSPOSE_TRANSPOSE: Rule =
    Rule::law("transpose_transpose", "xss: [[a; m]; n]", "transpose(transpose(xss))", "xss");

/// Taking vectors apart undoes making them.
static AS_SCALAR_AS_VECTOR: Rule =
    Rule::law("as_scalar_as_vector", "xs: [s; n]", "as_scalar(as_vector(m, xs))", "xs")
        .needs("n % m == 0");

/// Making vectors of the same width undoes taking them apart.
static AS_VECTOR_AS_SCALAR: Rule =
    Rule::law("as_vector_as_scalar", "vs: [s_m; n]", "as_vector(m, as_scalar(vs))", "vs");

/// Taking everything.
static TAKE_ALL: Rule = Rule::law("take_all", "xs: [a; n]", "take(n, xs)", "xs");

/// Dropping nothing.
static DROP_NONE: Rule = Rule::law("drop_none", "xs: [a; n]", "drop(0, xs)", "xs");

/// Taking what was there before padding at the end.
static TAKE_PAD: Rule =
    Rule::law("take_pad", "b: boundary, xs: [a; n]", "take(n, pad(0, r, b, xs))", "xs");

/// The same for padding with a value.
static TAKE_PAD_VALUE: Rule =
    Rule::law("take_pad_value", "v: a, xs: [a; n]", "take(n, pad_value(0, r, v, xs))", "xs");

/// Taking a part of what was taken.
static TAKE_TAKE: Rule =
    Rule::law("take_take", "xs: [a; n]", "take(k, take(m, xs))", "take(k, xs)");

/// Dropping twice.
static DROP_DROP: Rule =
    Rule::law("drop_drop", "xs: [a; n]", "drop(k, drop(m, xs))", "drop(k + m, xs)");

/// The first part of two.
static TAKE_CONCAT: Rule =
    Rule::law("take_concat", "xs: [a; n], ys: [a; m]", "take(n, concat(xs, ys))", "xs");

/// The second part of two.
static DROP_CONCAT: Rule =
    Rule::law("drop_concat", "xs: [a; n], ys: [a; m]", "drop(n, concat(xs, ys))", "ys");
