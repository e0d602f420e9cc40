//! Nested maps that change places.

use crate::rule::Rule;
use crate::rules::Family;

pub(super) static FAMILY: Family = Family {
    name: "interchange",
    about: "Nested maps change places.",
    rules: &[
        &MAP_INTERCHANGE,
        &MAP_INTERCHANGE_SEPARATE,
        &MAP_INTERCHANGE_ZIP_INSIDE,
        &MAP_INTERCHANGE_ZIP_INSIDE_SECOND,
        &MAP_INTERCHANGE_ZIP_OUTSIDE,
        &MAP_INTERCHANGE_ZIP_OUTSIDE_SECOND,
    ],
};

static MAP_INTERCHANGE: Rule = Rule::law(
    "map_interchange",
    "A map over every element of a matrix runs by rows or by columns.",
    "f: a -> b, xss: [[a; m]; n]",
    "map(map(f), xss)",
    "transpose(map(map(f), transpose(xss)))",
);

static MAP_INTERCHANGE_SEPARATE: Rule = Rule::law(
    "map_interchange_separate",
    "Two nested maps over arrays that do not depend on each other change places.",
    "f: (a, b) -> c, xs: [a; n], ys: [b; m]",
    "map(\\x -> map(\\y -> f(x, y), ys), xs)",
    "transpose(map(\\y -> map(\\x -> f(x, y), xs), ys))",
);

static MAP_INTERCHANGE_ZIP_INSIDE: Rule = Rule::law(
    "map_interchange_zip_inside",
    "Mapping every row, first in the pair, together with one array is mapping every column with one value.",
    "f: (a, b) -> c, xss: [[a; m]; n], ys: [b; m]",
    "map(\\xs -> map(\\p -> f(p.0, p.1), zip(xs, ys)), xss)",
    "transpose(map(\\q -> map(\\x -> f(x, q.1), q.0), zip(transpose(xss), ys)))",
);

static MAP_INTERCHANGE_ZIP_INSIDE_SECOND: Rule = Rule::law(
    "map_interchange_zip_inside_second",
    "Mapping every row, second in the pair, together with one array is mapping every column with one value.",
    "f: (a, b) -> c, xs: [a; m], yss: [[b; m]; n]",
    "map(\\ys -> map(\\p -> f(p.0, p.1), zip(xs, ys)), yss)",
    "transpose(map(\\q -> map(\\y -> f(q.0, y), q.1), zip(xs, transpose(yss))))",
);

static MAP_INTERCHANGE_ZIP_OUTSIDE: Rule = Rule::law(
    "map_interchange_zip_outside",
    "Mapping every row, first in the pair, with one value is mapping every column together with all values.",
    "f: (a, b) -> c, xss: [[a; m]; n], ys: [b; n]",
    "map(\\p -> map(\\x -> f(x, p.1), p.0), zip(xss, ys))",
    "transpose(map(\\xs -> map(\\q -> f(q.0, q.1), zip(xs, ys)), transpose(xss)))",
);

static MAP_INTERCHANGE_ZIP_OUTSIDE_SECOND: Rule = Rule::law(
    "map_interchange_zip_outside_second",
    "Mapping every row, second in the pair, with one value is mapping every column together with all values.",
    "f: (a, b) -> c, xs: [a; n], yss: [[b; m]; n]",
    "map(\\p -> map(\\y -> f(p.0, y), p.1), zip(xs, yss))",
    "transpose(map(\\ys -> map(\\q -> f(q.0, q.1), zip(xs, ys)), transpose(yss)))",
);
