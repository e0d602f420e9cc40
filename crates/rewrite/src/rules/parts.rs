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

static MAP_TAKE: Rule = Rule::law(
    "map_take",
    "A map of the first elements is the first elements of the map.",
    "f: a -> b, xs: [a; n]",
    "map(f, take(k, xs))",
    "take(k, map(f, xs))",
);

static TAKE_MAP: Rule = Rule::law(
    "take_map",
    "Only the elements that are taken are mapped.",
    "f: a -> b, xs: [a; n]",
    "take(k, map(f, xs))",
    "map(f, take(k, xs))",
);

static MAP_DROP: Rule = Rule::law(
    "map_drop",
    "A map of the rest is the rest of the map.",
    "f: a -> b, xs: [a; n]",
    "map(f, drop(k, xs))",
    "drop(k, map(f, xs))",
);

static DROP_MAP: Rule = Rule::law(
    "drop_map",
    "Only the elements that are left are mapped.",
    "f: a -> b, xs: [a; n]",
    "drop(k, map(f, xs))",
    "map(f, drop(k, xs))",
);

static MAP_CONCAT: Rule = Rule::law(
    "map_concat",
    "A map of two parts is each part mapped on its own.",
    "f: a -> b, xs: [a; n], ys: [a; m]",
    "map(f, concat(xs, ys))",
    "concat(map(f, xs), map(f, ys))",
);

static CONCAT_MAP: Rule = Rule::law(
    "concat_map",
    "Two parts mapped by one function are mapped together.",
    "f: a -> b, xs: [a; n], ys: [a; m]",
    "concat(map(f, xs), map(f, ys))",
    "map(f, concat(xs, ys))",
);

static CONCAT_TAKE_DROP: Rule = Rule::law(
    "concat_take_drop",
    "The first elements and the rest are everything.",
    "xs: [a; n]",
    "concat(take(k, xs), drop(k, xs))",
    "xs",
);

static REDUCE_CONCAT: Rule = Rule::law(
    "reduce_concat",
    "A fold of two parts is each part folded on its own, then the results.",
    "z: a, f: (a, a) -> a, xs: [a; n], ys: [a; m]",
    "reduce(z, f, concat(xs, ys))",
    "f(reduce(z, f, xs), reduce(z, f, ys))",
);

static MAP_PAD: Rule = Rule::law(
    "map_pad",
    "Padding repeats elements, so it repeats mapped elements.",
    "b: boundary, f: a -> c, xs: [a; n]",
    "map(f, pad(l, r, b, xs))",
    "pad(l, r, b, map(f, xs))",
);

static PAD_MAP: Rule = Rule::law(
    "pad_map",
    "The elements that padding repeats are mapped again.",
    "b: boundary, f: a -> c, xs: [a; n]",
    "pad(l, r, b, map(f, xs))",
    "map(f, pad(l, r, b, xs))",
);

static MAP_PAD_VALUE: Rule = Rule::law(
    "map_pad_value",
    "A map of an array padded with a value is the mapped array padded with the mapped value.",
    "f: a -> b, v: a, xs: [a; n]",
    "map(f, pad_value(l, r, v, xs))",
    "pad_value(l, r, f(v), map(f, xs))",
);

static DROP_PAD: Rule = Rule::law(
    "drop_pad",
    "Dropping what was padded in front undoes the padding.",
    "b: boundary, xs: [a; n]",
    "drop(l, pad(l, 0, b, xs))",
    "xs",
);

static PAD_NONE: Rule = Rule::law(
    "pad_none",
    "Padding with nothing changes nothing.",
    "b: boundary, xs: [a; n]",
    "pad(0, 0, b, xs)",
    "xs",
);

static PAD_PAD: Rule = Rule::law(
    "pad_pad",
    "Repeating the edge twice is repeating it as often as both together.",
    "xs: [a; n]",
    "pad(l, r, clamp, pad(k, m, clamp, xs))",
    "pad(l + k, r + m, clamp, xs)",
);

static JOIN_TAKE: Rule = Rule::law(
    "join_take",
    "The first rows, joined, are the first elements of all rows, joined.",
    "xss: [[a; m]; n]",
    "join(take(k, xss))",
    "take(k * m, join(xss))",
);

static TAKE_JOIN: Rule = Rule::law(
    "take_join",
    "The first elements of joined rows are whole rows, joined.",
    "xss: [[a; m]; n]",
    "take(k, join(xss))",
    "join(take(k / m, xss))",
)
.needs("k % m == 0");

static SPLIT_TAKE: Rule = Rule::law(
    "split_take",
    "Chunks of the first elements are the first chunks.",
    "xs: [a; n]",
    "split(m, take(k, xs))",
    "take(k / m, split(m, xs))",
)
.needs("n % m == 0, k % m == 0");

static MAP_TAKE_COLUMNS: Rule = Rule::law(
    "map_take_columns",
    "The first elements of every row are the first columns.",
    "xss: [[a; m]; n]",
    "map(take(k), xss)",
    "transpose(take(k, transpose(xss)))",
);

static TRANSPOSE_TAKE: Rule = Rule::law(
    "transpose_take",
    "The first rows, transposed, are the first elements of every row of the transposition.",
    "xss: [[a; m]; n]",
    "transpose(take(k, xss))",
    "map(take(k), transpose(xss))",
);

static TRANSPOSE_MAP_TAKE: Rule = Rule::law(
    "transpose_map_take",
    "The first columns, transposed, are the first rows of the transposition.",
    "xss: [[a; m]; n]",
    "transpose(map(take(k), xss))",
    "take(k, transpose(xss))",
);
