//! Maps of folds and folds of maps change places.
//!
//! A map of folds goes through one row after the other. A fold of maps goes through all rows
//! together and keeps one result a row, so what the rows share is read once.

use crate::rule::Rule;
use crate::rules::Family;

pub(super) static FAMILY: Family = Family {
    name: "fold_interchange",
    about: "Maps of folds and folds of maps change places.",
    rules: &[
        &MAP_REDUCE_INTERCHANGE,
        &MAP_REDUCE_SEQ_INTERCHANGE,
        &MAP_REDUCE_SEQ_FROM,
        &REDUCE_MAP_INTERCHANGE,
        &MAP_REDUCE_SEPARATE,
        &MAP_REDUCE_ZIP_RIGHT,
        &MAP_REDUCE_ZIP_LEFT,
        &MAP_REDUCE_ZIP_RIGHT_FROM,
        &MAP_REDUCE_ZIP_LEFT_FROM,
        &REDUCE_MAP_ZIP_RIGHT,
        &REDUCE_MAP_ZIP_LEFT,
        &MAP_REDUCE_ZIP_OUTSIDE,
        &MAP_REDUCE_SEQ_ZIP_OUTSIDE,
        &MAP_REDUCE_SEQ_ZIP_BOTH,
    ],
};

/// Folding every row is folding the columns, a whole row of results at a time.
static MAP_REDUCE_INTERCHANGE: Rule = Rule::law(
    "map_reduce_interchange",
    "z: a, f: (a, a) -> a, xss: [[a; m]; n]",
    "map(reduce(z, f), xss)",
    "reduce(repeat(n, z), \\u v -> map(\\(x, y) -> f(x, y), zip(u, v)), transpose(xss))",
);

/// The same from the left, with any function.
static MAP_REDUCE_SEQ_INTERCHANGE: Rule = Rule::law(
    "map_reduce_seq_interchange",
    "z: b, f: (b, a) -> b, xss: [[a; m]; n]",
    "map(reduceSeq(z, f), xss)",
    "reduceSeq(repeat(n, z), \\u v -> map(\\(x, y) -> f(x, y), zip(u, v)), transpose(xss))",
);

/// The same with a start value for every row.
static MAP_REDUCE_SEQ_FROM: Rule = Rule::law(
    "map_reduce_seq_from",
    "f: (b, a) -> b, zs: [b; n], xss: [[a; m]; n]",
    "map(\\p -> reduceSeq(p.0, f, p.1), zip(zs, xss))",
    "reduceSeq(zs, \\us v -> map(\\r -> f(r.0, r.1), zip(us, v)), transpose(xss))",
);

/// A fold of whole rows of results is a fold for every column.
static REDUCE_MAP_INTERCHANGE: Rule = Rule::law(
    "reduce_map_interchange",
    "f: (b, a) -> b, zs: [b; n], xss: [[a; n]; m]",
    "reduceSeq(zs, \\us v -> map(\\r -> f(r.0, r.1), zip(us, v)), xss)",
    "map(\\p -> reduceSeq(p.0, f, p.1), zip(zs, transpose(xss)))",
);

/// Every element goes through the same array: all of them take one element of it at a time.
static MAP_REDUCE_SEPARATE: Rule = Rule::law(
    "map_reduce_separate",
    "z: c, f: (c, a, b) -> c, xs: [a; n], ys: [b; k]",
    "map(\\x -> reduceSeq(z, \\acc y -> f(acc, x, y), ys), xs)",
    "reduceSeq(repeat(n, z), \\us y -> map(\\r -> f(r.0, r.1, y), zip(us, xs)), ys)",
);

/// Every row is folded together with one array: all rows take one element of it at a time.
static MAP_REDUCE_ZIP_RIGHT: Rule = Rule::law(
    "map_reduce_zip_right",
    "z: c, f: (c, (a, b)) -> c, xs: [a; k], yss: [[b; k]; n]",
    "map(\\ys -> reduceSeq(z, f, zip(xs, ys)), yss)",
    "reduceSeq(repeat(n, z), \\us q -> map(\\r -> f(r.0, (q.0, r.1)), zip(us, q.1)), \
     zip(xs, transpose(yss)))",
);

/// The same with the row first.
static MAP_REDUCE_ZIP_LEFT: Rule = Rule::law(
    "map_reduce_zip_left",
    "z: c, f: (c, (a, b)) -> c, xss: [[a; k]; n], ys: [b; k]",
    "map(\\xs -> reduceSeq(z, f, zip(xs, ys)), xss)",
    "reduceSeq(repeat(n, z), \\us q -> map(\\r -> f(r.0, (r.1, q.1)), zip(us, q.0)), \
     zip(transpose(xss), ys))",
);

/// Every row has a start value, and is folded together with one array.
static MAP_REDUCE_ZIP_RIGHT_FROM: Rule = Rule::law(
    "map_reduce_zip_right_from",
    "f: (c, (a, b)) -> c, xs: [a; k], zs: [c; n], yss: [[b; k]; n]",
    "map(\\p -> reduceSeq(p.0, f, zip(xs, p.1)), zip(zs, yss))",
    "reduceSeq(zs, \\us q -> map(\\r -> f(r.0, (q.0, r.1)), zip(us, q.1)), \
     zip(xs, transpose(yss)))",
);

/// The same with the row first.
static MAP_REDUCE_ZIP_LEFT_FROM: Rule = Rule::law(
    "map_reduce_zip_left_from",
    "f: (c, (a, b)) -> c, xss: [[a; k]; n], zs: [c; n], ys: [b; k]",
    "map(\\p -> reduceSeq(p.0, f, zip(p.1, ys)), zip(zs, xss))",
    "reduceSeq(zs, \\us q -> map(\\r -> f(r.0, (r.1, q.1)), zip(us, q.0)), \
     zip(transpose(xss), ys))",
);

/// A fold of whole rows of results, with one value for all of them, is a fold for every column.
static REDUCE_MAP_ZIP_RIGHT: Rule = Rule::law(
    "reduce_map_zip_right",
    "f: (c, a, b) -> c, xs: [a; k], zs: [c; n], yss: [[b; n]; k]",
    "reduceSeq(zs, \\us q -> map(\\r -> f(r.0, q.0, r.1), zip(us, q.1)), zip(xs, yss))",
    "map(\\p -> reduceSeq(p.0, \\acc q -> f(acc, q.0, q.1), zip(xs, p.1)), \
     zip(zs, transpose(yss)))",
);

/// The same with the row first.
static REDUCE_MAP_ZIP_LEFT: Rule = Rule::law(
    "reduce_map_zip_left",
    "f: (c, a, b) -> c, xss: [[a; n]; k], zs: [c; n], ys: [b; k]",
    "reduceSeq(zs, \\us q -> map(\\r -> f(r.0, r.1, q.1), zip(us, q.0)), zip(xss, ys))",
    "map(\\p -> reduceSeq(p.0, \\acc q -> f(acc, q.0, q.1), zip(p.1, ys)), \
     zip(zs, transpose(xss)))",
);

/// Two rows are folded as pairs, for every pair of rows.
static MAP_REDUCE_ZIP_OUTSIDE: Rule = Rule::law(
    "map_reduce_zip_outside",
    "z: (a, b), f: ((a, b), (a, b)) -> (a, b), xss: [[a; k]; n], yss: [[b; k]; n]",
    "map(\\p -> reduce(z, f, zip(p.0, p.1)), zip(xss, yss))",
    "reduce(repeat(n, z), \\us v -> map(\\r -> f(r.0, r.1), zip(us, v)), \
     map(\\q -> zip(q.0, q.1), zip(transpose(xss), transpose(yss))))",
);

/// Every row is folded by a function that also takes a value of the row.
static MAP_REDUCE_SEQ_ZIP_OUTSIDE: Rule = Rule::law(
    "map_reduce_seq_zip_outside",
    "z: c, f: (c, a, b) -> c, xss: [[a; k]; n], ys: [b; n]",
    "map(\\p -> reduceSeq(z, \\acc x -> f(acc, x, p.1), p.0), zip(xss, ys))",
    "reduceSeq(repeat(n, z), \\us v -> map(\\r -> f(r.0, r.1, r.2), zip(us, v, ys)), \
     transpose(xss))",
);

/// Two rows are folded together from the left, for every pair of rows.
static MAP_REDUCE_SEQ_ZIP_BOTH: Rule = Rule::law(
    "map_reduce_seq_zip_both",
    "z: c, f: (c, (a, b)) -> c, xss: [[a; k]; n], yss: [[b; k]; n]",
    "map(\\p -> reduceSeq(z, f, zip(p.0, p.1)), zip(xss, yss))",
    "reduceSeq(repeat(n, z), \\us q -> map(\\r -> f(r.0, (r.1, r.2)), zip(us, q.0, q.1)), \
     zip(transpose(xss), transpose(yss)))",
);
