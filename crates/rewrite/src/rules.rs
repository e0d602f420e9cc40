//! The rules, one file a family.

mod fission;
mod identities;
mod interchange;
mod iteration;
mod lets;
mod lowering;
mod maps;
mod movement;
mod partial;
mod reductions;
mod reordering;
mod vectors;
mod zips;

use crate::rule::Rule;

pub(crate) static FAMILIES: &[&[&Rule]] = &[
    maps::RULES,
    fission::RULES,
    interchange::RULES,
    zips::RULES,
    reductions::RULES,
    partial::RULES,
    iteration::RULES,
    reordering::RULES,
    movement::RULES,
    identities::RULES,
    lets::RULES,
    vectors::RULES,
    lowering::RULES,
];
