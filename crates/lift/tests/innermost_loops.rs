//! What the innermost loops of a processor look like, for folds, functions and lists as users write them.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use lift::{Language, Options, compile_text, parse};

/// The text for a processor.
fn text(program: &str) -> String {
    let program = parse("f.lift", program).unwrap();
    let sizes = BTreeMap::from([("N".to_string(), 4096)]);
    let options = Options { sizes, ..Options::default() };
    let (_, texts) = compile_text(program.entry().unwrap(), &options, Language::C).unwrap();
    texts.iter().map(|kernel| kernel.text.as_str()).collect()
}

/// The least of all rows is taken in lanes, by threads, as a sum is.
#[test]
fn joined_rows_are_folded_in_lanes() {
    for fold in ["reduce(inf, min)", "reduce(0.0, (+))"] {
        let text = text(&format!("def f[N](a: [[f32; N]; N]) -> f32 = a |> join |> {fold};"));
        assert!(text.contains("#pragma omp parallel for"), "{fold}: {text}");
        assert!(text.contains("#pragma omp simd"), "{fold}: {text}");
    }
}

/// Functions of mathematics have versions for vectors, also inside of a minimum.
#[test]
fn functions_beside_a_minimum_are_those_for_vectors() {
    let text = text(
        "def f[N](a: [f32; N], b: [f32; N]) -> [f32; N] = zip(a, b) |> map(\\(x, y) -> min(sin(x), y));",
    );
    assert!(text.contains("#pragma omp declare simd notinbranch\nfloat sinf(float);"), "{text}");
}

/// Which element of a list is wanted is known without dividing.
#[test]
fn lists_are_written_without_divisions() {
    let text = text(
        "def f[N](x: [f32; N + 8]) -> [[f32; 3]; N] = x |> slide(9, 1) |> map(\\v -> [v[0], v[4], v[8]]);",
    );
    assert!(!text.contains('%') && !text.contains(" / "), "{text}");
    assert!(text.contains("+ 4]") && text.contains("+ 8]"), "{text}");
}
