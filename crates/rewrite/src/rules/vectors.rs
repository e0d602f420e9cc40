//! Scalars become vectors. The width is 2, 3, 4, 8 or 16.

use crate::rule::Rule;
use crate::rules::Family;

pub(super) static FAMILY: Family = Family {
    name: "vectors",
    about: "Scalars become vectors, of width 2, 3, 4, 8 or 16.",
    rules: &[
        &VECTORIZE_MAP,
        &VECTORIZE_ZIP_MAP,
        &VECTORIZE_REDUCE,
        &VECTORIZE_PRODUCT,
        &DOT_BUILTIN,
        &DOT_BUILTIN_MAP,
    ],
};

static VECTORIZE_MAP: Rule = Rule::law(
    "vectorize_map",
    "A map over scalars is a map over vectors of m.",
    "f: s -> t, xs: [s; n]",
    "map(f, xs)",
    "as_scalar(map(vectorize(m, f), as_vector(m, xs)))",
)
.needs("n % m == 0");

static VECTORIZE_ZIP_MAP: Rule = Rule::law(
    "vectorize_zip_map",
    "A map over pairs of scalars is a map over pairs of vectors of m.",
    "f: (s, t) -> u, xs: [s; n], ys: [t; n]",
    "map(\\p -> f(p.0, p.1), zip(xs, ys))",
    "as_scalar(map(\\p -> vectorize(m, f, p.0, p.1), zip(as_vector(m, xs), as_vector(m, ys))))",
)
.needs("n % m == 0");

static VECTORIZE_REDUCE: Rule = Rule::law(
    "vectorize_reduce",
    "A fold of scalars folds vectors lane by lane, then the lanes.",
    "z: s, f: (s, s) -> s, xs: [s; n]",
    "reduce(z, f, xs)",
    "reduce(z, f, as_scalar([reduce(splat(m, z), vectorize(m, f), as_vector(m, xs))]))",
)
.needs("n % m == 0");

static VECTORIZE_PRODUCT: Rule = Rule::law(
    "vectorize_product",
    "The product of vectors is the product of their lanes.",
    "x: s_m, y: s_m",
    "vectorize(m, \\a b -> a * b, x, y)",
    "x * y",
);

static DOT_BUILTIN: Rule = Rule::law(
    "dot_builtin",
    "Products of lanes, made by a loop and added up, are dot products.",
    "z: s, xs: [s_m; n], ys: [s_m; n]",
    "reduceSeq(z, (+), as_scalar(mapSeq(\\(a, b) -> a * b, zip(xs, ys))))",
    "reduceSeq(z, (+), mapSeq(\\(a, b) -> dot(a, b), zip(xs, ys)))",
)
.needs("m <= 4");

static DOT_BUILTIN_MAP: Rule = Rule::law(
    "dot_builtin_map",
    "Products of lanes, made by a map and added up, are dot products.",
    "z: s, xs: [s_m; n], ys: [s_m; n]",
    "reduceSeq(z, (+), as_scalar(map(\\(a, b) -> a * b, zip(xs, ys))))",
    "reduceSeq(z, (+), map(\\(a, b) -> dot(a, b), zip(xs, ys)))",
)
.needs("m <= 4");
