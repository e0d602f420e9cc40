//! Which algorithms there are: every move at every place, again and again.
//!
//! A move is a strategy that changes the order of a computation and says nothing of the device. Programs that are
//! the same up to names are gone on with once.

use std::collections::HashSet;

use lift_ir::{Def, MapKind, Prim};
use lift_rewrite::strategy::{Stop, Strategy, Unreadable, at_every_place, run_until};
use lift_rewrite::{Derivation, read_strategy};
use rayon::prelude::*;

use super::heuristics::{distance, nesting};
use crate::deadline::Deadline;

/// What may be done to a program, wherever it fits. Sizes that a move does not name become parameters.
const MOVES: &[(&str, &str)] = &[
    ("tile", "cut(split_join, split_join)"),
    ("split", "where(map && !layout) >> split_join"),
    ("coalesce", "split_join >> argument(interchange)"),
    ("interchange", "interchange"),
    ("overlap", "overlap(slide_tiling, map_fusion)"),
    ("overlap_2d", "overlap(slide_tiling_2d, map_fusion >> body(map_fusion))"),
    ("overlap_3d", "overlap(slide_tiling_3d, map_fusion >> body(map_fusion >> body(map_fusion)))"),
    ("split_fold", "split_reduce_seq >> try(argument(zip_split) >> reduce_any_map_fusion)"),
    ("fold_out", "fold_out"),
    ("points_by_rank", "domain_by_rank"),
    ("points_in_box", "domain_in_box"),
    ("points_by_rows", "domain_by_rows"),
    ("points_folded", "domain_folded"),
];

/// The moves for lengths that few numbers divide: what is missing to whole tiles is filled up.
const PADDED_MOVES: &[(&str, &str)] = &[
    ("tile_padded", "cut(split_join_padded, split_join_padded)"),
    ("split_padded", "where(map && !layout) >> split_join_padded"),
    ("overlap_padded", "overlap(slide_tiling_padded, map_fusion) >> merge_pads"),
    (
        "overlap_2d_padded",
        "overlap(slide_tiling_2d_padded, map_fusion >> body(map_fusion)) >> merge_pads",
    ),
];

/// How far moves go.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Moves one after the other.
    pub depth: usize,
    /// How often one move may be made.
    pub uses: usize,
    /// Programs of each depth that are gone on with: those in which results are nearest to where they are used.
    pub breadth: usize,
    /// How much deeper than in the given program patterns may nest: there are so many levels and dimensions of
    /// work-items, and loops inside.
    pub nesting: usize,
    /// How much farther than in the closest program results may be from where they are used.
    pub distance: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { depth: 5, uses: 2, breadth: 10, nesting: 5, distance: 0 }
    }
}

/// An algorithm: a program without a mapping to a device.
#[derive(Clone, Debug)]
pub struct Algorithm {
    pub def: Def,
    pub derivation: Derivation,
}

/// What the moves lead to, and how many programs there were on the way.
#[derive(Clone, Debug, Default)]
pub struct Algorithms {
    pub found: Vec<Algorithm>,
    /// Programs that were made, also the same one several times.
    pub made: usize,
    /// Different ones.
    pub different: usize,
    /// Those of them that nest no deeper than is sensible, once tidied.
    pub shallow: usize,
}

/// A program on the way, and how often each move has been made.
#[derive(Clone)]
struct Reached {
    program: Algorithm,
    uses: Vec<usize>,
}

/// The algorithms of a program, simpler ones first. The program itself is one of them. With `padded`, also those
/// that fill up what is missing to whole tiles. Where there is no time for all, later ones are left out.
pub fn algorithms(
    def: &Def,
    padded: bool,
    limits: &Limits,
    deadline: Deadline,
) -> Result<Algorithms, Unreadable> {
    let stop = || deadline.is_over();
    let extra = if padded { PADDED_MOVES } else { &[] };
    let moves = MOVES.iter().chain(extra).map(|(name, text)| read(name, text));
    let moves = moves.collect::<Result<Vec<Strategy>, Unreadable>>()?;
    let (fuse, tidy) = (read("fuse", FUSE)?, read("tidy", TIDY)?);
    let itself = Algorithm { def: def.clone(), derivation: Derivation::of(def) };
    let start = after(&itself, &fuse, &stop);
    if is_lowered(def) {
        return Ok(Algorithms { found: vec![start], made: 0, different: 1, shallow: 1 });
    }
    let deepest = nesting(&start.def.body) + limits.nesting;
    let (mut seen, mut known) = (HashSet::from([start.def.alpha_hash()]), HashSet::new());
    let mut all = Algorithms::default();
    let mut level = vec![Reached { program: start, uses: vec![0; moves.len()] }];
    for depth in 0..=limits.depth {
        let cleaned: Vec<Algorithm> =
            level.par_iter().map(|r| after(&r.program, &tidy, &stop)).collect();
        let mut ranked: Vec<(usize, Reached, Algorithm)> = Vec::new();
        for (reached, tidy) in level.into_iter().zip(cleaned) {
            if nesting(&tidy.def.body) <= deepest && known.insert(tidy.def.alpha_hash()) {
                ranked.push((distance(&tidy.def.body), reached, tidy));
            }
        }
        all.shallow += ranked.len();
        ranked.sort_by_key(|(far, _, tidy)| (*far, tidy.def.body.weight()));
        ranked.truncate(limits.breadth);
        let made: Vec<Reached> = match depth < limits.depth {
            true => {
                let next = |r: &Reached| next(r, &moves, limits.uses, &stop);
                ranked.par_iter().flat_map_iter(|(_, r, _)| next(r)).collect()
            }
            false => Vec::new(),
        };
        all.found.extend(ranked.into_iter().map(|(_, _, tidy)| tidy));
        all.made += made.len();
        level = made.into_iter().filter(|r| seen.insert(r.program.def.alpha_hash())).collect();
        level.retain(|r| nesting(&r.program.def.body) <= deepest);
    }
    all.different = seen.len();
    let distances: Vec<usize> = all.found.iter().map(|a| distance(&a.def.body)).collect();
    let farthest = distances.iter().min().map_or(0, |nearest| nearest + limits.distance);
    let mut is_near = distances.iter().map(|far| *far <= farthest);
    all.found.retain(|_| is_near.next() == Some(true));
    Ok(all)
}

fn read(name: &str, text: &str) -> Result<Strategy, Unreadable> {
    read_strategy(0, text).map_err(|mistakes| Unreadable::new(name, &mistakes))
}

/// Whether something is decided already: whoever wrote it knows what for.
fn is_lowered(def: &Def) -> bool {
    let lowered = |prim: &Prim| matches!(prim, Prim::Map(kind) if *kind != MapKind::Map);
    def.body.places().iter().any(|(_, e)| e.as_call().is_some_and(|c| lowered(&c.prim)))
}

/// What one more move makes of a program.
fn next(reached: &Reached, moves: &[Strategy], most_uses: usize, stop: Stop<'_>) -> Vec<Reached> {
    let mut made = Vec::new();
    for (index, one) in moves.iter().enumerate() {
        let mut uses = reached.uses.clone();
        match uses.get_mut(index) {
            Some(count) if *count < most_uses => *count += 1,
            _ => continue,
        }
        for outcome in at_every_place(&reached.program.def, one, stop) {
            let derivation = reached.program.derivation.clone().then(outcome.derivation);
            let program = Algorithm { def: outcome.def, derivation };
            made.push(Reached { program, uses: uses.clone() });
        }
    }
    made
}

/// Maps become one, and folds take what feeds them as they go.
const FUSE: &str = "try(repeat(somewhere(map_fusion))) >> try(repeat(fused_fold))";

/// Drops what two moves leave between them. Splits stay: `simplify` would undo them.
const TIDY: &str = "normalize(map_fusion, reduce_any_map_fusion, map_identity, join_split, split_join_id, \
                    transpose_transpose, take_all, drop_none, take_take, zip_first, zip_second)";

/// After a strategy, or as it was where that fails.
fn after(program: &Algorithm, strategy: &Strategy, stop: Stop<'_>) -> Algorithm {
    match run_until(&program.def, strategy, stop) {
        Ok(outcome) => {
            let derivation = program.derivation.clone().then(outcome.derivation);
            Algorithm { def: outcome.def, derivation }
        }
        Err(_) => program.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn def(text: &str) -> Def {
        let checked = lift_syntax::check_text("program", text);
        assert!(!checked.has_errors(), "{}", checked.render(false));
        checked.program.entry().cloned().expect("there is one")
    }

    const SCALE: &str = "def f[N](xs: [f32; N]) -> [f32; N] = map(\\x -> x * 2.0, xs);";

    #[test]
    fn a_move_that_cannot_be_read_is_named_with_its_mistake() {
        let error = read("tile", "cut(split_joyn, split_join)").expect_err("is misspelt");
        let said = "the built-in strategy `tile` cannot be read: there is no rule or strategy `split_joyn`";
        assert_eq!(error.to_string(), said);
    }

    #[test]
    fn a_move_is_made_at_most_so_often() {
        let limits = Limits { depth: 3, uses: 1, breadth: 1000, ..Limits::default() };
        let splits = |a: &Algorithm| {
            a.derivation.steps.iter().filter(|s| s.rule.name == "split_join").count()
        };
        let most = |limits: &Limits| {
            algorithms(&def(SCALE), false, limits, Deadline::NEVER)
                .unwrap()
                .found
                .iter()
                .map(splits)
                .max()
        };
        // One by `split`, one by `coalesce`, two by `tile`.
        assert_eq!(most(&limits), Some(4));
        // One by `split`, two by `tile`, and again.
        assert_eq!(most(&Limits { uses: 2, ..limits }), Some(5));
    }

    #[test]
    fn programs_are_different_and_nest_no_deeper_than_asked() {
        let limits = Limits { nesting: 1, ..Limits::default() };
        let all = algorithms(&def(SCALE), false, &limits, Deadline::NEVER).unwrap();
        let hashes: HashSet<u64> = all.found.iter().map(|a| a.def.alpha_hash()).collect();
        assert_eq!(hashes.len(), all.found.len());
        assert!(all.found.iter().all(|a| nesting(&a.def.body) <= 2));
        assert!(all.found.iter().any(|a| nesting(&a.def.body) == 2));
        assert!(all.made + 1 >= all.different && all.different > all.found.len());
    }

    #[test]
    fn lengths_are_filled_up_where_that_is_asked_for() {
        let pads = |padded| {
            let all = algorithms(&def(SCALE), padded, &Limits::default(), Deadline::NEVER).unwrap();
            all.found.iter().filter(|a| a.def.body.to_string().contains("pad")).count()
        };
        assert_eq!(pads(false), 0);
        assert!(pads(true) > 0);
    }

    #[test]
    fn the_derivation_leads_from_the_program_to_the_algorithm() {
        for algorithm in
            algorithms(&def(SCALE), false, &Limits::default(), Deadline::NEVER).unwrap().found
        {
            assert_eq!(algorithm.derivation.start.to_string(), def(SCALE).to_string());
            assert_eq!(algorithm.derivation.end().to_string(), algorithm.def.to_string());
        }
    }

    #[test]
    fn iterations_over_domains_are_mapped_in_several_ways() {
        let text = "domain lower[n] = { (i, j) | j <= i, i < n };
          def f[N](xs: [f32; N]) -> [f32 in lower[N]] = [ xs[i] * xs[j] | (i, j) in lower[N] ];";
        let all = algorithms(&def(text), false, &Limits::default(), Deadline::NEVER).unwrap().found;
        for rule in ["domain_by_rank", "domain_in_box", "domain_by_rows", "domain_folded"] {
            let applies =
                |a: &Algorithm| a.derivation.steps.iter().any(|step| step.rule.name == rule);
            assert!(all.iter().any(applies), "{rule}");
        }
    }
}
