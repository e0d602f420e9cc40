//! First elements, and arrays of one element.

use crate::rule::Rule;
use crate::rules::Family;

pub(super) static FAMILY: Family = Family {
    name: "singles",
    about: "A value and an array of one element stand for each other.",
    rules: &[&REDUCE_ONE, &LET_HEAD, &MAP_HEAD],
};

static REDUCE_ONE: Rule = Rule::law(
    "reduce_one",
    "Folding one element gives it, since the fold starts with the identity.",
    "z: a, f: (a, a) -> a, xs: [a; n]",
    "reduce(z, f, xs)",
    "head(xs)",
)
.needs("n == 1");

static LET_HEAD: Rule = Rule::law(
    "let_head",
    "What is made of the first element is the first element of what is made of all.",
    "f: a -> b, xs: [a; n]",
    "let x = head(xs); f(x)",
    "head(map(f, xs))",
);

static MAP_HEAD: Rule = Rule::law(
    "map_head",
    "Arrays of one element, joined, are those elements.",
    "g: a -> [b; m], xs: [a; n]",
    "map(\\x -> head(g(x)), xs)",
    "join(map(g, xs))",
)
.needs("m == 1");
