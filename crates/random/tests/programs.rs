//! What the generator promises of its programs.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;

use lift_ir::{BinaryOp, Def, table};
use lift_random::{Case, Config, Discard, features, program};
use lift_syntax::check_text;

const SEEDS: std::ops::Range<u64> = 0..2500;

/// The programs of all seeds but those that grow too long.
fn programs() -> impl Iterator<Item = (u64, Def)> {
    SEEDS.filter_map(|seed| match program(seed, &Config::default()) {
        Ok(program) => Some((seed, program.def)),
        Err(Discard::Long) => None,
        Err(other) => panic!("seed {seed}: {other:?}"),
    })
}

/// The interpreter would not be done with what this seed tries first. Where the generator has changed and it no longer
/// is too long, another seed has to be looked for: there is one among some thousands.
#[test]
fn programs_that_grow_too_long_are_given_up() {
    let (case, discards) = Case::find(70_001_086, &Config::default());
    assert!(case.is_some_and(|case| case.def.body.places().len() <= 1000));
    assert!(discards.contains(&Discard::Long), "{discards:?}");
}

/// Everything that programs with a meaning to the interpreter can hold, but for the table's names.
fn beside_the_table() -> Vec<String> {
    let mut wanted: Vec<String> = Vec::new();
    for map in ["mapGlb", "mapWrg", "mapLcl"] {
        wanted.extend((0..3).map(|d| format!("{map}({d})")));
    }
    for reorder in ["gather", "scatter"] {
        let kinds = ["reverse", "stride", "shift", "function"];
        wanted.extend(kinds.map(|kind| format!("{reorder} {kind}")));
    }
    wanted.extend(["clamp", "mirror", "wrap", "function"].map(|kind| format!("pad {kind}")));
    wanted.extend(["point 1", "point 2", "point 3", "range"].map(str::to_string));
    wanted.extend(["iterate changing", "iterate keeping"].map(str::to_string));
    wanted.extend(["tuple", "field", "array", "vector", "splat", "lane"].map(str::to_string));
    wanted.extend(["if", "let", "size", "as", "unary -", "unary !", "unary ~"].map(str::to_string));
    wanted.extend(["x2", "x3", "x4", "x8"].map(str::to_string));
    wanted.extend(BinaryOp::ALL.iter().map(|op| op.symbol().to_string()));
    let scalars = lift_ir::Scalar::ALL.into_iter().filter(|s| *s != lift_ir::Scalar::F16);
    wanted.extend(scalars.map(|s| s.name().to_string()));
    wanted
}

#[test]
fn every_pattern_occurs() {
    let mut found = BTreeSet::new();
    for (_, def) in programs() {
        found.extend(features(&def.body));
    }
    let names = table::PATTERNS.iter().map(|p| p.name.to_string());
    let missing: Vec<String> =
        names.chain(beside_the_table()).filter(|name| !found.contains(name)).collect();
    assert!(missing.is_empty(), "never made: {missing:?}");
}

#[test]
fn a_seed_gives_one_program() {
    let mut texts = BTreeSet::new();
    for seed in 0..100 {
        let [first, second] =
            [0; 2].map(|_| Case::new(seed, &Config::default()).map(|c| c.to_string()));
        assert_eq!(first, second);
        texts.extend(first);
    }
    assert!(texts.len() > 90, "only {} programs differ", texts.len());
}

#[test]
fn programs_print_back_to_themselves() {
    for (seed, def) in programs().take(400) {
        let text = def.to_string();
        let checked = check_text("random.lift", &text);
        assert!(!checked.has_errors(), "{text}\n{}", checked.render(false));
        assert!(checked.program.defs.first().unwrap().alpha_eq(&def), "seed {seed}: {text}");
    }
}

#[test]
fn few_programs_are_discarded() {
    let discards: Vec<_> =
        (0..1000).filter_map(|seed| Case::new(seed, &Config::default()).err()).collect();
    assert!(discards.len() <= 30, "{} of 1000: {discards:?}", discards.len());
    assert!((0..50).all(|seed| Case::find(seed, &Config::default()).0.is_some()));
}

#[test]
fn cases_read_back() {
    for seed in 0..100 {
        let Some(case) = Case::find(seed, &Config::default()).0 else { continue };
        let again = Case::parse(&case.to_string()).unwrap();
        assert_eq!(again.args, case.args, "{case}");
        assert_eq!(again.expected, case.expected, "{case}");
        let given = again.given();
        assert_eq!(lift_interp::run(&again.def, &again.args, &given).unwrap(), case.expected);
    }
}
