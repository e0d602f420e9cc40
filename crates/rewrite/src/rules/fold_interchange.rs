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

static MAP_REDUCE_INTERCHANGE: Rule = Rule::law(
    "map_reduce_interchange",
    "Folding every row is folding the columns, a whole row of results at a time.",
    "z: a, f: (a, a) -> a, xss: [[a; m]; n]",
    "map(reduce(z, f), xss)",
    "reduce(repeat(n, z), \\u v -> map(\\(x, y) -> f(x, y), zip(u, v)), transpose(xss))",
);

static MAP_REDUCE_SEQ_INTERCHANGE: Rule = Rule::law(
    "map_reduce_seq_interchange",
    "Folding every row from the left, with any function, is folding the columns, a whole row of results at a time.",
    "z: b, f: (b, a) -> b, xss: [[a; m]; n]",
    "map(reduceSeq(z, f), xss)",
    "reduceSeq(repeat(n, z), \\u v -> map(\\(x, y) -> f(x, y), zip(u, v)), transpose(xss))",
);

static MAP_REDUCE_SEQ_FROM: Rule = Rule::law(
    "map_reduce_seq_from",
    "Folding every row from a start value of its own is folding the columns from all start values.",
    "f: (b, a) -> b, zs: [b; n], xss: [[a; m]; n]",
    "map(\\p -> reduceSeq(p.0, f, p.1), zip(zs, xss))",
    "reduceSeq(zs, \\us v -> map(\\r -> f(r.0, r.1), zip(us, v)), transpose(xss))",
);

static REDUCE_MAP_INTERCHANGE: Rule = Rule::law(
    "reduce_map_interchange",
    "A fold of whole rows of results is a fold for every column.",
    "f: (b, a) -> b, zs: [b; n], xss: [[a; n]; m]",
    "reduceSeq(zs, \\us v -> map(\\r -> f(r.0, r.1), zip(us, v)), xss)",
    "map(\\p -> reduceSeq(p.0, f, p.1), zip(zs, transpose(xss)))",
);

static MAP_REDUCE_SEPARATE: Rule = Rule::law(
    "map_reduce_separate",
    "Every element goes through the same array: all of them take one element of it at a time.",
    "z: c, f: (c, a, b) -> c, xs: [a; n], ys: [b; k]",
    "map(\\x -> reduceSeq(z, \\acc y -> f(acc, x, y), ys), xs)",
    "reduceSeq(repeat(n, z), \\us y -> map(\\r -> f(r.0, r.1, y), zip(us, xs)), ys)",
);

static MAP_REDUCE_ZIP_RIGHT: Rule = Rule::law(
    "map_reduce_zip_right",
    "Every row, second in the pair, is folded together with one array: all rows take one element of it at a time.",
    "z: c, f: (c, (a, b)) -> c, xs: [a; k], yss: [[b; k]; n]",
    "map(\\ys -> reduceSeq(z, f, zip(xs, ys)), yss)",
    "reduceSeq(repeat(n, z), \\us q -> map(\\r -> f(r.0, (q.0, r.1)), zip(us, q.1)), \
     zip(xs, transpose(yss)))",
);

static MAP_REDUCE_ZIP_LEFT: Rule = Rule::law(
    "map_reduce_zip_left",
    "Every row, first in the pair, is folded together with one array: all rows take one element of it at a time.",
    "z: c, f: (c, (a, b)) -> c, xss: [[a; k]; n], ys: [b; k]",
    "map(\\xs -> reduceSeq(z, f, zip(xs, ys)), xss)",
    "reduceSeq(repeat(n, z), \\us q -> map(\\r -> f(r.0, (r.1, q.1)), zip(us, q.0)), \
     zip(transpose(xss), ys))",
);

static MAP_REDUCE_ZIP_RIGHT_FROM: Rule = Rule::law(
    "map_reduce_zip_right_from",
    "Every row, second in the pair, is folded from a start value of its own together with one array: all rows take one element of it at a time.",
    "f: (c, (a, b)) -> c, xs: [a; k], zs: [c; n], yss: [[b; k]; n]",
    "map(\\p -> reduceSeq(p.0, f, zip(xs, p.1)), zip(zs, yss))",
    "reduceSeq(zs, \\us q -> map(\\r -> f(r.0, (q.0, r.1)), zip(us, q.1)), \
     zip(xs, transpose(yss)))",
);

static MAP_REDUCE_ZIP_LEFT_FROM: Rule = Rule::law(
    "map_reduce_zip_left_from",
    "Every row, first in the pair, is folded from a start value of its own together with one array: all rows take one element of it at a time.",
    "f: (c, (a, b)) -> c, xss: [[a; k]; n], zs: [c; n], ys: [b; k]",
    "map(\\p -> reduceSeq(p.0, f, zip(p.1, ys)), zip(zs, xss))",
    "reduceSeq(zs, \\us q -> map(\\r -> f(r.0, (r.1, q.1)), zip(us, q.0)), \
     zip(transpose(xss), ys))",
);

static REDUCE_MAP_ZIP_RIGHT: Rule = Rule::law(
    "reduce_map_zip_right",
    "A fold of whole rows of results, each row paired second with one value for all of it, is a fold for every column.",
    "f: (c, a, b) -> c, xs: [a; k], zs: [c; n], yss: [[b; n]; k]",
    "reduceSeq(zs, \\us q -> map(\\r -> f(r.0, q.0, r.1), zip(us, q.1)), zip(xs, yss))",
    "map(\\p -> reduceSeq(p.0, \\acc q -> f(acc, q.0, q.1), zip(xs, p.1)), \
     zip(zs, transpose(yss)))",
);

static REDUCE_MAP_ZIP_LEFT: Rule = Rule::law(
    "reduce_map_zip_left",
    "A fold of whole rows of results, each row paired first with one value for all of it, is a fold for every column.",
    "f: (c, a, b) -> c, xss: [[a; n]; k], zs: [c; n], ys: [b; k]",
    "reduceSeq(zs, \\us q -> map(\\r -> f(r.0, r.1, q.1), zip(us, q.0)), zip(xss, ys))",
    "map(\\p -> reduceSeq(p.0, \\acc q -> f(acc, q.0, q.1), zip(p.1, ys)), \
     zip(zs, transpose(xss)))",
);

static MAP_REDUCE_ZIP_OUTSIDE: Rule = Rule::law(
    "map_reduce_zip_outside",
    "Folding each pair of rows as pairs is folding the pairs of columns, a whole row of results at a time.",
    "z: (a, b), f: ((a, b), (a, b)) -> (a, b), xss: [[a; k]; n], yss: [[b; k]; n]",
    "map(\\p -> reduce(z, f, zip(p.0, p.1)), zip(xss, yss))",
    "reduce(repeat(n, z), \\us v -> map(\\r -> f(r.0, r.1), zip(us, v)), \
     map(\\q -> zip(q.0, q.1), zip(transpose(xss), transpose(yss))))",
);

static MAP_REDUCE_SEQ_ZIP_OUTSIDE: Rule = Rule::law(
    "map_reduce_seq_zip_outside",
    "Folding every row by a function that also takes a value of the row is folding the columns together with all these values.",
    "z: c, f: (c, a, b) -> c, xss: [[a; k]; n], ys: [b; n]",
    "map(\\p -> reduceSeq(z, \\acc x -> f(acc, x, p.1), p.0), zip(xss, ys))",
    "reduceSeq(repeat(n, z), \\us v -> map(\\r -> f(r.0, r.1, r.2), zip(us, v, ys)), \
     transpose(xss))",
);

static MAP_REDUCE_SEQ_ZIP_BOTH: Rule = Rule::law(
    "map_reduce_seq_zip_both",
    "Folding each pair of rows from the left is folding the pairs of columns, a whole row of results at a time.",
    "z: c, f: (c, (a, b)) -> c, xss: [[a; k]; n], yss: [[b; k]; n]",
    "map(\\p -> reduceSeq(z, f, zip(p.0, p.1)), zip(xss, yss))",
    "reduceSeq(repeat(n, z), \\us q -> map(\\r -> f(r.0, (r.1, r.2)), zip(us, q.0, q.1)), \
     zip(transpose(xss), transpose(yss)))",
);
