//! Who computes the points of domains that are no boxes, as a lowered program says.

use lift_ir::{Def, Prim};

use crate::passes::translate::{has_only_points, is_made_in_box, seen_through};

/// How the points of a domain are mapped to work-items.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Mapping {
    /// A work-item a point, which finds it by its number.
    Rank,
    /// The same; loops go through the points row by row.
    Walk,
    /// The grid of the box around the domain, of which the points of the domain are kept.
    Box,
    /// The same, with rows that begin where their first point may be.
    Rows,
    /// The same, two rows a row of the grid, of which one is short where the other is long.
    Folded,
}

/// The domains of a program that is lowered to patterns of work-items, and how each is mapped, in the order of the text.
pub fn mappings(def: &Def) -> Vec<(String, Mapping)> {
    let mut found = Vec::new();
    for (_, part) in def.body.places() {
        let Some(call) = part.as_call() else { continue };
        let own = match (&call.prim, call.functions.first()) {
            (Prim::Point(domain), _) => {
                let whole = domain.levels().is_some_and(|levels| has_only_points(domain, &levels));
                (domain.to_string(), if whole { Mapping::Walk } else { Mapping::Rank })
            }
            (Prim::Generate, Some(_)) if is_made_in_box(call) => {
                let Some(seen) = seen_through(call) else { continue };
                let mapping = match seen.ways.as_slice() {
                    [only] if only.is_same() => Mapping::Box,
                    [_] => Mapping::Rows,
                    _ => Mapping::Folded,
                };
                (seen.domain.to_string(), mapping)
            }
            _ => continue,
        };
        // What is seen through a domain finds no point.
        let is_found = |mapping| matches!(mapping, Mapping::Rank | Mapping::Walk);
        let is_seen = is_found(own.1) && found.iter().any(|(d, m)| *d == own.0 && !is_found(*m));
        if !is_seen && !found.contains(&own) {
            found.push(own);
        }
    }
    found
}
