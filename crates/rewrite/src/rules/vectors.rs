//! Scalars become vectors.

use crate::rule::Rule;

pub(super) static RULES: &[&Rule] = &[&VECTORIZE_MAP, &VECTORIZE_ZIP_MAP];

/// A map over scalars is a map over vectors of m.
static VECTORIZE_MAP: Rule = Rule::law(
    "vectorize_map",
    "f: a -> b, xs: [a; n]",
    "map(f, xs)",
    "as_scalar(map(vectorize(m, f), as_vector(m, xs)))",
)
.needs("n % m == 0");

/// The same for a function of pairs.
static VECTORIZE_ZIP_MAP: Rule = Rule::law(
    "vectorize_zip_map",
    "f: (a, b) -> c, xs: [a; n], ys: [b; n]",
    "map(\\p -> f(p.0, p.1), zip(xs, ys))",
    "as_scalar(map(\\p -> vectorize(m, f, p.0, p.1), zip(as_vector(m, xs), as_vector(m, ys))))",
)
.needs("n % m == 0");
