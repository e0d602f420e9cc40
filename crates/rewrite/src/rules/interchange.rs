//! Nested maps and folds that change places.

use crate::rule::Rule;

pub(super) static RULES: &[&Rule] = &[
    &MAP_INTERCHANGE,
    &MAP_INTERCHANGE_SEPARATE,
    &MAP_INTERCHANGE_ZIP_OUTSIDE,
    &MAP_REDUCE_INTERCHANGE,
    &MAP_REDUCE_SEQ_INTERCHANGE,
];

/// A map over every element of a matrix runs by rows or by columns.
static MAP_INTERCHANGE: Rule = Rule::law(
    "map_interchange",
    "f: a -> b, xss: [[a; m]; n]",
    "map(map(f), xss)",
    "transpose(map(map(f), transpose(xss)))",
);

/// Two nested maps over arrays that do not depend on each other change places.
static MAP_INTERCHANGE_SEPARATE: Rule = Rule::law(
    "map_interchange_separate",
    "f: (a, b) -> c, xs: [a; n], ys: [b; m]",
    "map(\\x -> map(\\y -> f(x, y), ys), xs)",
    "transpose(map(\\y -> map(\\x -> f(x, y), xs), ys))",
);

/// Rows that are mapped together with one value each: the columns are mapped with all values.
static MAP_INTERCHANGE_ZIP_OUTSIDE: Rule = Rule::law(
    "map_interchange_zip_outside",
    "f: (a, b) -> c, xss: [[a; m]; n], ys: [b; n]",
    "map(\\p -> map(\\x -> f(x, p.1), p.0), zip(xss, ys))",
    "transpose(map(\\xs -> map(\\q -> f(q.0, q.1), zip(xs, ys)), transpose(xss)))",
);

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
