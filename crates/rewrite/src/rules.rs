//! The rules, one file a family.

mod by_index;
mod domains;
mod fission;
mod flattening;
mod fold_interchange;
mod identities;
mod interchange;
mod introductions;
mod iteration;
mod lets;
mod lowering;
mod maps;
mod memory;
mod movement;
mod padding;
mod partial;
mod parts;
mod ranges;
mod reductions;
mod reordering;
mod singles;
mod sums;
mod trees;
mod vectors;
mod views;
mod windows;
mod zips;

use crate::rule::Rule;

pub(crate) use views::is_view;

/// Rules of one theme.
#[derive(Debug)]
pub struct Family {
    pub name: &'static str,
    /// What its rules do, in one sentence.
    pub about: &'static str,
    pub rules: &'static [&'static Rule],
}

pub(crate) static FAMILIES: &[&Family] = &[
    &maps::FAMILY,
    &fission::FAMILY,
    &interchange::FAMILY,
    &fold_interchange::FAMILY,
    &zips::FAMILY,
    &flattening::FAMILY,
    &reductions::FAMILY,
    &sums::FAMILY,
    &trees::FAMILY,
    &partial::FAMILY,
    &by_index::FAMILY,
    &ranges::FAMILY,
    &domains::FAMILY,
    &iteration::FAMILY,
    &singles::FAMILY,
    &reordering::FAMILY,
    &movement::FAMILY,
    &windows::FAMILY,
    &parts::FAMILY,
    &padding::FAMILY,
    &identities::FAMILY,
    &introductions::FAMILY,
    &views::FAMILY,
    &lets::FAMILY,
    &memory::FAMILY,
    &vectors::FAMILY,
    &lowering::FAMILY,
];
