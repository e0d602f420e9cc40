//! Pairs of arrays.

use crate::rule::Rule;
use crate::rules::Family;

pub(super) static FAMILY: Family = Family {
    name: "zips",
    about: "Arrays of pairs are fused, moved, taken apart, flattened.",
    rules: &[
        &ZIP_MAP_FUSION,
        &ZIP_MAP_FIRST,
        &ZIP_MAP_SECOND,
        &ZIP_FIRST,
        &ZIP_SECOND,
        &ZIP_REPEAT_FIRST,
        &ZIP_REPEAT_SECOND,
        &UNZIP_ZIP,
        &ZIP_UNZIP,
        &ZIP_SPLIT,
        &ZIP_TRANSPOSE,
        &ZIP_JOIN,
        &ZIP_SLIDE,
        &ZIP_TAKE,
        &ZIP_DROP,
    ],
};

static ZIP_MAP_FUSION: Rule = Rule::law(
    "zip_map_fusion",
    "Two mapped arrays, zipped, are one map over the zipped arrays.",
    "f: a -> c, g: b -> d, xs: [a; n], ys: [b; n]",
    "zip(map(f, xs), map(g, ys))",
    "map(\\p -> (f(p.0), g(p.1)), zip(xs, ys))",
);

static ZIP_MAP_FIRST: Rule = Rule::law(
    "zip_map_first",
    "A mapped array, zipped with another behind it, is one map over the zipped arrays.",
    "f: a -> c, xs: [a; n], ys: [b; n]",
    "zip(map(f, xs), ys)",
    "map(\\p -> (f(p.0), p.1), zip(xs, ys))",
);

static ZIP_MAP_SECOND: Rule = Rule::law(
    "zip_map_second",
    "A mapped array, zipped with another before it, is one map over the zipped arrays.",
    "g: b -> c, xs: [a; n], ys: [b; n]",
    "zip(xs, map(g, ys))",
    "map(\\p -> (p.0, g(p.1)), zip(xs, ys))",
);

static ZIP_FIRST: Rule = Rule::law(
    "zip_first",
    "What uses only the first of two zipped arrays does not need the second.",
    "f: a -> c, xs: [a; n], ys: [b; n]",
    "map(\\p -> f(p.0), zip(xs, ys))",
    "map(f, xs)",
);

static ZIP_SECOND: Rule = Rule::law(
    "zip_second",
    "What uses only the second of two zipped arrays does not need the first.",
    "f: b -> c, xs: [a; n], ys: [b; n]",
    "map(\\p -> f(p.1), zip(xs, ys))",
    "map(f, ys)",
);

static ZIP_REPEAT_FIRST: Rule = Rule::law(
    "zip_repeat_first",
    "One value before all elements need not be zipped with them.",
    "f: (a, b) -> c, z: a, ys: [b; n]",
    "map(\\p -> f(p.0, p.1), zip(repeat(n, z), ys))",
    "map(\\y -> f(z, y), ys)",
);

static ZIP_REPEAT_SECOND: Rule = Rule::law(
    "zip_repeat_second",
    "One value behind all elements need not be zipped with them.",
    "f: (a, b) -> c, z: b, xs: [a; n]",
    "map(\\p -> f(p.0, p.1), zip(xs, repeat(n, z)))",
    "map(\\x -> f(x, z), xs)",
);

static UNZIP_ZIP: Rule = Rule::law(
    "unzip_zip",
    "Unzipping undoes zipping.",
    "xs: [a; n], ys: [b; n]",
    "unzip(zip(xs, ys))",
    "(xs, ys)",
);

static ZIP_UNZIP: Rule = Rule::law(
    "zip_unzip",
    "Zipping undoes unzipping.",
    "ps: [(a, b); n]",
    "zip(unzip(ps).0, unzip(ps).1)",
    "ps",
);

static ZIP_SPLIT: Rule = Rule::law(
    "zip_split",
    "Zipped arrays in chunks are zipped chunks.",
    "xs: [a; n], ys: [b; n]",
    "split(m, zip(xs, ys))",
    "map(\\(x, y) -> zip(x, y), zip(split(m, xs), split(m, ys)))",
)
.needs("n % m == 0");

static ZIP_TRANSPOSE: Rule = Rule::law(
    "zip_transpose",
    "Zipped matrices, transposed, are zipped transpositions.",
    "xss: [[a; m]; n], yss: [[b; m]; n]",
    "transpose(map(\\(xs, ys) -> zip(xs, ys), zip(xss, yss)))",
    "map(\\(xs, ys) -> zip(xs, ys), zip(transpose(xss), transpose(yss)))",
);

static ZIP_JOIN: Rule = Rule::law(
    "zip_join",
    "Zipped rows, joined, are zipped joined rows.",
    "xss: [[a; m]; n], yss: [[b; m]; n]",
    "join(map(\\(xs, ys) -> zip(xs, ys), zip(xss, yss)))",
    "zip(join(xss), join(yss))",
);

static ZIP_SLIDE: Rule = Rule::law(
    "zip_slide",
    "Windows of zipped arrays are zipped windows.",
    "xs: [a; n], ys: [b; n]",
    "slide(w, s, zip(xs, ys))",
    "map(\\(x, y) -> zip(x, y), zip(slide(w, s, xs), slide(w, s, ys)))",
)
.needs("w <= n, (n - w) % s == 0");

static ZIP_TAKE: Rule = Rule::law(
    "zip_take",
    "The first parts of two arrays, zipped, are the first part of the zipped arrays.",
    "xs: [a; n], ys: [b; n]",
    "zip(take(k, xs), take(k, ys))",
    "take(k, zip(xs, ys))",
);

static ZIP_DROP: Rule = Rule::law(
    "zip_drop",
    "The rests of two arrays, zipped, are the rest of the zipped arrays.",
    "xs: [a; n], ys: [b; n]",
    "zip(drop(k, xs), drop(k, ys))",
    "drop(k, zip(xs, ys))",
);
