//! Spaces of low-level programs: every program of one means what the high-level program means.

#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};

use lift_explore::candidate::Candidate;
use lift_explore::parameters::{Bounds, Values, assignments, local_counts, some_assignment};
use lift_explore::space::{Space, space};
use lift_interp::inputs::{Fill, generate};
use lift_interp::{Sizes, compare, concrete_type};
use lift_ir::Def;
use lift_lower::Target;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn def_of(file: &str, entry: &str) -> Def {
    let checked = lift_syntax::check_file(&root().join("programs").join(file)).unwrap();
    checked.program.def(entry).unwrap().clone()
}

fn contractions(def: &Def) -> Space {
    let text = include_str!("../spaces/contractions.strategy");
    space(def, &lift_rewrite::read_script(0, text).unwrap()).unwrap()
}

fn values(pairs: &[(&str, i128)]) -> Values {
    pairs.iter().map(|(name, value)| (name.to_string(), *value)).collect()
}

const SMALL: Bounds =
    Bounds { values: Vec::new(), fewest_items: 1, most_items: 64, most_copies: 64 };

#[test]
fn every_program_of_the_space_means_the_same() {
    let def = def_of("mm.lift", "mm");
    let sizes = values(&[("M", 16), ("K", 8), ("N", 16)]);
    let given: Sizes = sizes.iter().map(|(n, v)| (n.clone(), *v)).collect();
    let arguments: Vec<_> = def
        .params
        .iter()
        .enumerate()
        .map(|(i, p)| {
            let ty = concrete_type(p.ty(), &given).unwrap();
            generate(Fill::Random { seed: i as u64 }, &ty).unwrap()
        })
        .collect();
    let expected = lift_interp::run(&def, &arguments, &given).unwrap();
    let space = contractions(&def);
    assert!(space.variants.len() >= 20, "{}", space.variants.len());
    assert_eq!(space.misplaced, 0);
    let bounds = Bounds { values: vec![1, 2, 4], ..SMALL };
    for variant in &space.variants {
        let chosen = assignments(&variant.def, &sizes, &bounds, 1);
        let chosen = chosen.first().unwrap_or_else(|| panic!("no values for\n{}", variant.def));
        let made = Candidate::new(&variant.def, chosen, &sizes, Target::Threads).unwrap();
        // The text alone is the program.
        let checked = lift_syntax::check_text("candidate", &made.text);
        assert!(!checked.has_errors(), "{}\n{}", checked.render(false), made.text);
        let found = checked.program.def("mm").unwrap();
        let found = lift_interp::run(found, &arguments, &given).unwrap();
        compare(&found, &expected, true).unwrap();
    }
}

#[test]
fn a_space_is_empty_where_nothing_fits() {
    assert!(contractions(&def_of("reduce/sum.lift", "sum")).variants.is_empty());
}

#[test]
fn values_meet_clauses_and_groups_have_a_sensible_size() {
    let def = def_of("mm.lift", "mm");
    let sizes = values(&[("M", 64), ("K", 48), ("N", 96)]);
    let space = contractions(&def);
    let values = vec![1, 2, 3, 4, 8, 16, 32];
    let bounds = Bounds { values, fewest_items: 16, most_items: 64, most_copies: 16 };
    let last = &space.variants.last().unwrap().def;
    let all = assignments(last, &sizes, &bounds, 200);
    assert!(!all.is_empty());
    for chosen in &all {
        let known: Values = sizes.iter().chain(chosen).map(|(n, v)| (n.clone(), *v)).collect();
        let value = |v: &lift_ir::Var| known.get(v.name()).copied();
        assert!(last.wheres.iter().all(|c| c.pred.eval(&value) == Ok(true)), "{chosen:?}");
        let items: i128 = local_counts(last, &known).unwrap().iter().product();
        assert!((16..=64).contains(&items), "{chosen:?}");
        // A block of results is written out.
        assert!(known["RM"] * known["TN"] <= 16, "{chosen:?}");
    }
    let mut backwards = |values: &[i128]| values.iter().rev().copied().collect();
    let some = some_assignment(last, &sizes, &bounds, &mut backwards).unwrap();
    assert!(assignments(last, &sizes, &bounds, usize::MAX).contains(&some));
}

#[test]
fn every_space_can_be_read() {
    for (name, text) in lift_explore::space::SPACES {
        let read = lift_rewrite::read_script(0, text);
        assert!(read.is_ok(), "{name}: {read:?}");
    }
}

#[test]
fn there_is_something_for_every_kind_of_program() {
    let count = |file: &str, entry: &str| {
        let space = lift_explore::space::everything(&def_of(file, entry));
        assert_eq!(space.misplaced, 0, "{file}");
        space.variants.len()
    };
    assert!(count("mm.lift", "mm") >= 80);
    assert!(count("reduce/sum.lift", "sum") >= 6);
    assert!(count("thesis/gemv.lift", "gemv") >= 5);
    assert!(count("stencil/jacobi2d_5.lift", "jacobi2d_5") >= 8);
    assert!(count("extra/axpy.lift", "axpy") >= 4);
}
