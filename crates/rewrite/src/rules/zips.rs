//! Pairs of arrays.

use crate::rule::Rule;

pub(super) static RULES: &[&Rule] =
    &[&ZIP_MAP_FUSION, &ZIP_FIRST, &ZIP_SECOND, &UNZIP_ZIP, &ZIP_UNZIP, &ZIP_SPLIT];

/// Two mapped arrays, zipped, are one map over the zipped arrays.
static ZIP_MAP_FUSION: Rule = Rule::law(
    "zip_map_fusion",
    "f: a -> c, g: b -> d, xs: [a; n], ys: [b; n]",
    "zip(map(f, xs), map(g, ys))",
    "map(\\p -> (f(p.0), g(p.1)), zip(xs, ys))",
);

/// What uses only the first of two zipped arrays does not need the second.
static ZIP_FIRST: Rule = Rule::law(
    "zip_first",
    "f: a -> c, xs: [a; n], ys: [b; n]",
    "map(\\p -> f(p.0), zip(xs, ys))",
    "map(f, xs)",
);

/// What uses only the second of two zipped arrays does not need the first.
static ZIP_SECOND: Rule = Rule::law(
    "zip_second",
    "f: b -> c, xs: [a; n], ys: [b; n]",
    "map(\\p -> f(p.1), zip(xs, ys))",
    "map(f, ys)",
);

/// Unzipping undoes zipping.
static UNZIP_ZIP: Rule =
    Rule::law("unzip_zip", "xs: [a; n], ys: [b; n]", "unzip(zip(xs, ys))", "(xs, ys)");

/// Zipping undoes unzipping.
static ZIP_UNZIP: Rule =
    Rule::law("zip_unzip", "ps: [(a, b); n]", "zip(unzip(ps).0, unzip(ps).1)", "ps");

/// Zipped arrays in chunks are zipped chunks.
static ZIP_SPLIT: Rule = Rule::law(
    "zip_split",
    "xs: [a; n], ys: [b; n]",
    "split(m, zip(xs, ys))",
    "map(\\(x, y) -> zip(x, y), zip(split(m, xs), split(m, ys)))",
)
.needs("n % m == 0");
