//! The smallest program that fusing and leaving out give.
//!
//! Fusion and identities are applied until none fits. Then every rule that may enable more of them is tried
//! at every place, and the smallest program that comes of it is gone on with, also if it is larger, up to five
//! times without a gain. The smallest program met is kept.

use lift_ir::Place;

use super::Failure;
use super::run::{Runner, State, Stopped};
use crate::arguments::Arguments;
use crate::find;
use crate::rule::Rule;

/// Make one loop of two, or drop something. Each makes the program smaller.
const SETTLING: &[&str] = &[
    "map_fusion",
    "map_seq_fusion",
    "reduce_map_fusion",
    "reduce_any_map_fusion",
    "map_identity",
    "join_split",
    "split_join_id",
    "transpose_transpose",
    "as_scalar_as_vector",
    "as_vector_as_scalar",
    "gather_scatter",
    "scatter_gather",
    "take_all",
    "drop_none",
    "take_pad",
    "take_pad_value",
    "take_take",
    "drop_drop",
    "take_concat",
    "drop_concat",
    "zip_first",
    "zip_second",
    "unzip_zip",
    "zip_unzip",
    "iterate_once",
];

/// Move layout patterns out of the way.
const ENABLING: &[&str] = &[
    "transpose_map",
    "map_demotion",
    "split_map",
    "map_split",
    "map_promotion",
    "transpose_map_split",
    "map_transpose_split",
    "join_map_transpose",
    "transpose_join",
    "gather_map",
    "map_gather",
];

/// How often an enabling rule may bring nothing.
const PATIENCE: usize = 5;

pub(super) fn simplify(runner: &mut Runner, place: &Place) -> Result<(), Failure> {
    let (settling, enabling) = (named(SETTLING), named(ENABLING));
    let before = runner.budget();
    runner.normalize(&settling, place)?;
    let (mut best, mut smallest) = (runner.state(), weight(runner, place));
    let mut in_vain = 0;
    while in_vain < PATIENCE {
        let Some(size) = enable(runner, &settling, &enabling, place)? else { break };
        if size < smallest {
            (best, smallest, in_vain) = (runner.state(), size, 0);
        } else {
            in_vain += 1;
        }
    }
    runner.go_to(best);
    runner.count_from(before);
    Ok(())
}

/// Goes on with the smallest program that one enabling rule leads to; its size.
fn enable(
    runner: &mut Runner,
    settling: &[&'static Rule],
    enabling: &[&'static Rule],
    place: &Place,
) -> Result<Option<u32>, Failure> {
    let mut smallest: Option<(u32, State)> = None;
    let none = Arguments::none();
    for candidate in runner.places(place) {
        for rule in enabling {
            let (before, budget) = (runner.mark(), runner.budget());
            match runner.apply_with(rule, &none, &candidate) {
                Ok(()) => {}
                Err(Stopped::OtherPattern | Stopped::Refused(_)) => continue,
                Err(Stopped::Limit(reason)) => {
                    return Err(runner.failure(rule.name, &candidate, reason));
                }
            }
            runner.normalize(settling, place)?;
            let size = weight(runner, place);
            if smallest.as_ref().is_none_or(|(known, _)| size < *known) {
                smallest = Some((size, runner.state()));
            }
            runner.back_to(before);
            runner.count_from(budget);
        }
    }
    Ok(smallest.map(|(size, state)| {
        runner.go_to(state);
        size
    }))
}

fn weight(runner: &Runner, place: &Place) -> u32 {
    runner.here(place).map_or(0, |expr| expr.weight())
}

/// Rules that are registered under these names; a test sees to it that all are.
fn named(names: &[&str]) -> Vec<&'static Rule> {
    names.iter().filter_map(|name| find(name).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_is_registered() {
        assert_eq!(named(SETTLING).len(), SETTLING.len());
        assert_eq!(named(ENABLING).len(), ENABLING.len());
    }
}
