//! Parts of arrays: taken, dropped, put together, padded.

use crate::rule::Rule;
use crate::rules::Family;

pub(super) static FAMILY: Family = Family {
    name: "parts",
    about: "Taking, dropping, padding and putting together move past maps, joins and transpositions.",
    rules: &[
        &MAP_TAKE,
        &TAKE_MAP,
        &MAP_DROP,
        &DROP_MAP,
        &MAP_CONCAT,
        &CONCAT_MAP,
        &CONCAT_TAKE_DROP,
        &REDUCE_CONCAT,
        &MAP_PAD,
        &PAD_MAP,
        &MAP_PAD_VALUE,
        &DROP_PAD,
        &PAD_NONE,
        &PAD_PAD,
        &JOIN_TAKE,
        &TAKE_JOIN,
        &SPLIT_TAKE,
        &MAP_TAKE_COLUMNS,
        &TRANSPOSE_TAKE,
        &TRANSPOSE_MAP_TAKE,
    ],
};

/// A map of the first elements is the first elements of the map.
static MAP_TAKE: Rule =
    Rule::law("map_take", "f: a -> b, xs: [a; n]", "map(f, take(k, xs))", "take(k, map(f, xs))");

/// Only the elements that are taken are mapped.
static TAKE_MAP: Rule =
    Rule::law("take_map", "f: a -> b, xs: [a; n]", "take(k, map(f, xs))", "map(f, take(k, xs))");

/// A map of the rest is the rest of the map.
static MAP_DROP: Rule =
    Rule::law("map_drop", "f: a -> b, xs: [a; n]", "map(f, drop(k, xs))", "drop(k, map(f, xs))");

/// Only the elements that are left are mapped.
static DROP_MAP: Rule =
    Rule::law("drop_map", "f: a -> b, xs: [a; n]", "drop(k, map(f, xs))", "map(f, drop(k, xs))");

/// Each part is mapped on its own.
static MAP_CONCAT: Rule = Rule::law(
    "map_concat",
    "f: a -> b, xs: [a; n], ys: [a; m]",
    "map(f, concat(xs, ys))",
    "concat(map(f, xs), map(f, ys))",
);

/// Both parts are mapped together.
static CONCAT_MAP: Rule = Rule::law(
    "concat_map",
    "f: a -> b, xs: [a; n], ys: [a; m]",
    "concat(map(f, xs), map(f, ys))",
    "map(f, concat(xs, ys))",
);

/// The first elements and the rest are everything.
static CONCAT_TAKE_DROP: Rule =
    Rule::law("concat_take_drop", "xs: [a; n]", "concat(take(k, xs), drop(k, xs))", "xs");

/// Each part is folded on its own.
static REDUCE_CONCAT: Rule = Rule::law(
    "reduce_concat",
    "z: a, f: (a, a) -> a, xs: [a; n], ys: [a; m]",
    "reduce(z, f, concat(xs, ys))",
    "f(reduce(z, f, xs), reduce(z, f, ys))",
);

/// Padding repeats elements, so it repeats mapped elements.
static MAP_PAD: Rule = Rule::law(
    "map_pad",
    "b: boundary, f: a -> c, xs: [a; n]",
    "map(f, pad(l, r, b, xs))",
    "pad(l, r, b, map(f, xs))",
);

/// The elements that padding repeats are mapped again.
static PAD_MAP: Rule = Rule::law(
    "pad_map",
    "b: boundary, f: a -> c, xs: [a; n]",
    "pad(l, r, b, map(f, xs))",
    "map(f, pad(l, r, b, xs))",
);

/// The value that is padded with is mapped too.
static MAP_PAD_VALUE: Rule = Rule::law(
    "map_pad_value",
    "f: a -> b, v: a, xs: [a; n]",
    "map(f, pad_value(l, r, v, xs))",
    "pad_value(l, r, f(v), map(f, xs))",
);

/// Dropping what was padded in front.
static DROP_PAD: Rule =
    Rule::law("drop_pad", "b: boundary, xs: [a; n]", "drop(l, pad(l, 0, b, xs))", "xs");

/// Padding with nothing.
static PAD_NONE: Rule = Rule::law("pad_none", "b: boundary, xs: [a; n]", "pad(0, 0, b, xs)", "xs");

/// Repeating the edge twice.
static PAD_PAD: Rule = Rule::law(
    "pad_pad",
    "xs: [a; n]",
    "pad(l, r, clamp, pad(k, m, clamp, xs))",
    "pad(l + k, r + m, clamp, xs)",
);

/// The first rows, joined, are the first elements of all rows, joined.
static JOIN_TAKE: Rule =
    Rule::law("join_take", "xss: [[a; m]; n]", "join(take(k, xss))", "take(k * m, join(xss))");

/// Whole rows are taken.
static TAKE_JOIN: Rule =
    Rule::law("take_join", "xss: [[a; m]; n]", "take(k, join(xss))", "join(take(k / m, xss))")
        .needs("k % m == 0");

/// Chunks of the first elements are the first chunks.
static SPLIT_TAKE: Rule =
    Rule::law("split_take", "xs: [a; n]", "split(m, take(k, xs))", "take(k / m, split(m, xs))")
        .needs("n % m == 0, k % m == 0");

/// The first elements of every row are the first columns.
static MAP_TAKE_COLUMNS: Rule = Rule::law(
    "map_take_columns",
    "xss: [[a; m]; n]",
    "map(take(k), xss)",
    "transpose(take(k, transpose(xss)))",
);

/// The first rows, transposed.
static TRANSPOSE_TAKE: Rule = Rule::law(
    "transpose_take",
    "xss: [[a; m]; n]",
    "transpose(take(k, xss))",
    "map(take(k), transpose(xss))",
);

/// The first columns, transposed.
static TRANSPOSE_MAP_TAKE: Rule = Rule::law(
    "transpose_map_take",
    "xss: [[a; m]; n]",
    "transpose(map(take(k), xss))",
    "take(k, transpose(xss))",
);
