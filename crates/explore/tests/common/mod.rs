//! Spaces made up: what becomes of a candidate is in the name of its variable.

use lift_explore::space::{Space, Variant};
use lift_ir::Def;
use lift_rewrite::Derivation;

/// A program with a variable of this name; high-level where that is `x`.
pub fn def(name: &str, factor: usize) -> Def {
    let map = if name == "x" { "map" } else { "mapGlb(0)" };
    let text = format!(
        "def f[N](xs: [f32; N]) -> [f32; N] = xs |> {map}(\\{name} -> {name} * {factor}.0);"
    );
    let checked = lift_syntax::check_text("f.lift", &text);
    assert!(!checked.has_errors(), "{}", checked.render(false));
    checked.program.entry().unwrap().clone()
}

/// Kernels that differ, so that none is passed over.
pub fn space(names: &[&str]) -> Space {
    let variant = |(index, name): (usize, &&str)| {
        let def = def(name, index + 2);
        Variant { derivation: Derivation::of(&def), def, origin: "seeded" }
    };
    Space { variants: names.iter().enumerate().map(variant).collect(), ..Space::default() }
}
