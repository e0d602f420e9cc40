//! Rewriting on one core: applications of rules, where rules apply, and simplification.

use std::path::Path;

use divan::counter::ItemsCount;
use lift_ir::Def;
use lift_rewrite::{Arguments, Strategy, places, read_strategy, rules, run};

fn main() {
    divan::main();
}

fn mm() -> Def {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/mm.lift");
    let checked = lift_syntax::check_file(&path).expect("a file");
    assert!(!checked.has_errors(), "{}", checked.render(false));
    checked.program.entry().expect("an entry").clone()
}

fn strategy(text: &str) -> Strategy {
    read_strategy(0, text).expect("a strategy")
}

fn after(def: &Def, text: &str) -> Def {
    run(def, &strategy(text)).unwrap_or_else(|failure| panic!("{failure}")).def
}

/// Tiled twice.
const BLOCKED: &str = "tile(m, k) >> within(map, within(map, find(map, tile(p, q))))";

fn program(name: &str) -> Def {
    match name {
        "mm" => mm(),
        _ => after(&mm(), BLOCKED),
    }
}

/// 100 applications that are kept, half of them undoing the other half, at the innermost map.
#[divan::bench(args = ["mm", "blocked"])]
fn applications(bencher: divan::Bencher, name: &str) {
    let def = program(name);
    let pair = "find(reduce, argument(copy)) >> find(reduce, argument(map_identity))";
    let many = strategy(&vec![pair; 50].join(" >> "));
    assert_eq!(run(&def, &many).map(|o| o.derivation.steps.len()).ok(), Some(100));
    bencher.counter(ItemsCount::new(100u32)).bench(|| run(&def, &many).is_ok());
}

/// Every place of every rule.
#[divan::bench(args = ["mm", "blocked"])]
fn all_places(bencher: divan::Bencher, name: &str) {
    let def = program(name);
    let known = rules();
    bencher.bench(|| {
        let cx = def.context();
        let of = |rule| places(&cx, rule, &def.body, &Arguments::none()).map_or(0, |p| p.len());
        known.iter().map(|rule| of(rule)).sum::<usize>()
    });
}

/// A tiled multiplication in which arrays are copied, transposed twice and split and joined.
#[divan::bench]
fn simplify(bencher: divan::Bencher) {
    let clutter = "try(copy) >> try(transpose_intro) >> try(split_join_intro)";
    let def = after(
        &mm(),
        &format!("{BLOCKED} >> {clutter} >> argument({clutter}) >> within(map, {clutter})"),
    );
    let simplify = strategy("simplify");
    assert!(run(&def, &simplify).is_ok_and(|o| o.def.body.weight() < def.body.weight()));
    bencher.bench(|| run(&def, &simplify).is_ok());
}
