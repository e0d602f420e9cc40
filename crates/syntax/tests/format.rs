//! The formatter keeps the meaning and the comments, and leaves its own output alone.

mod common;

use common::{expression, pieces, well_formed};
use lift_syntax::format::format;
use lift_syntax::parser::parse;
use lift_testing::programs;
use proptest::prelude::*;

/// The canonical layout, after checking everything that must hold for it.
fn checked(text: &str) -> String {
    let parsed = parse(0, text);
    assert!(parsed.diagnostics.is_empty(), "{text}\n{:?}", parsed.diagnostics);
    let once = format(&parsed, text);
    let again = parse(0, &once);
    assert!(again.diagnostics.is_empty(), "{text}\n---\n{once}\n{:?}", again.diagnostics);
    assert_eq!(without_spans(&parsed.file), without_spans(&again.file), "{text}\n---\n{once}");
    let comments = |parsed: &lift_syntax::parser::Parsed| {
        let mut texts: Vec<_> = parsed.comments.iter().map(|c| c.text.clone()).collect();
        texts.sort();
        texts
    };
    assert_eq!(comments(&parsed), comments(&again), "{text}\n---\n{once}");
    assert_eq!(once, format(&again, &once), "not its own layout:\n{text}\n---\n{once}");
    for line in once.lines() {
        assert_eq!(line, line.trim_end(), "{once}");
    }
    once
}

/// The text of a tree without the places in it.
fn without_spans(tree: &impl std::fmt::Debug) -> String {
    let text = format!("{tree:?}");
    let mut out = String::new();
    for (at, piece) in text.split("Span { ").enumerate() {
        out.push_str(if at == 0 { piece } else { piece.split_once('}').map_or(piece, |p| p.1) });
    }
    out
}

fn unchanged(text: &str) {
    assert_eq!(checked(text), text);
}

#[test]
fn the_samples_and_the_programs() {
    for text in well_formed() {
        checked(&text);
    }
    for path in programs() {
        let text = std::fs::read_to_string(&path).unwrap();
        let parsed = parse(0, &text);
        assert!(parsed.diagnostics.is_empty(), "{}: {:?}", path.display(), parsed.diagnostics);
        checked(&text);
    }
}

#[test]
fn a_pipeline_that_does_not_fit_has_a_stage_a_line() {
    unchanged(
        r"def partial_dot[N](x: [f32; N], y: [f32; N]) -> [f32; N / 128]
  where N % 128 == 0
  launch local(64) global(N / 2) =
  zip(x, y)
  |> split(128)
  |> mapWrg(0)(\chunk ->
    chunk
    |> split(2)
    |> mapLcl(0)(\two -> two |> reduceSeq(0.0, mult_add) |> toLocal(id))
    |> iterate(6, \xs ->
      xs |> split(2) |> mapLcl(0)(\two -> two |> reduceSeq(0.0, (+)) |> toLocal(id)))
    |> mapLcl(0)(toGlobal(id)))
  |> join;
",
    );
}

#[test]
fn one_stage_that_ends_in_a_lambda_stays_on_its_line() {
    unchanged(
        r"def mm[M, K, N](A: [[f32; K]; M], B: [[f32; N]; K]) -> [[f32; N]; M] =
  A |> map(\row ->
    transpose(B) |> map(\column ->
      zip(row, column) |> map(\(a, b) -> a * b) |> reduce(0.0, (+)) |> as_vector(4) |> id));
",
    );
}

#[test]
fn long_lists() {
    let numbers = vec!["1.25"; 40].join(",");
    let text = checked(&format!("const a = [{numbers}];"));
    assert_eq!(text.lines().count(), 4, "{text}");
    unchanged(
        "def f(
  first_parameter: [f32; N],
  second_parameter: [f32; N],
  third_parameter: [f32; N],
  fourth: f32
) -> f32 =
  g(
    first_parameter + second_parameter + third_parameter,
    second_parameter * first_parameter,
    fourth + fourth
  );
",
    );
    unchanged(
        "test matrices:
  transpose([[1.25, 1.25, 1.25, 1.25, 1.25, 1.25, 1.25, 1.25], [1.25, 1.25, 1.25, 1.25, 1.25],
             [1.25, 1.25, 1.25, 1.25, 1.25, 1.25, 1.25, 1.25], [1.25, 1.25, 1.25, 1.25, 1.25]])
  == [];
"
        .replace("], [", "],\n             [")
        .as_str(),
    );
}

#[test]
fn signs_are_part_of_short_things() {
    let numbers = vec!["-1.25"; 40].join(",");
    let text = checked(&format!("const a = [{numbers}];"));
    assert_eq!(text.lines().count(), 4, "{text}");
}

#[test]
fn a_chain_breaks_at_its_weakest_operators() {
    unchanged(
        "def f(x: f32) =
  first_of_the_summands * first_of_the_factors
  + second_of_the_summands * second_of_the_factors
  - third_of_the_summands * third_of_the_factors;
",
    );
}

#[test]
fn only_lists_and_lambdas_stay_beside_the_bracket() {
    unchanged(
        "def f(x: f32) =
  a_function_of_one_argument(
    first_of_the_summands + second_of_the_summands + third_of_the_summands + the_fourth_summand
  );
",
    );
    unchanged(
        "def f(x: f32) =
  a_function_of_one_argument([first_of_the_elements + 1.0,
                              second_of_the_elements + 1.0,
                              third_of_the_elements + 1.0,
                              the_fourth_element]);
",
    );
}

#[test]
fn comments_between_clauses() {
    unchanged(
        "def f[N](x: [f32; N]) -> f32
  where N > 1, // behind the first
        // in front of the second
        N % 4 == 0 // behind the second
  launch local(1) =
  x[0];
",
    );
}

#[test]
fn lets_and_conditionals() {
    unchanged(
        "fn f(x: f32) -> f32 =
  let y = x;

  // About z.
  let z = y; // behind z
  if y > z then
    the_first_of_several_functions(with_arguments, and_more) // behind a branch
  // in front of else
  else if y < z then
    the_second_of_several_functions(with_arguments, and_more)
  else
    the_third_of_several_functions(with_arguments, and_more);
",
    );
    assert_eq!(
        checked("def f(x:f32)=map(\\x->let y=x;y,xs);"),
        "def f(x: f32) = map(\\x -> let y = x; y, xs);\n"
    );
    assert_eq!(checked("def f(x:f32)=let y=x;y;"), "def f(x: f32) =\n  let y = x;\n  y;\n");
    unchanged(
        "def f(x: f32) =
  map(
    \\x ->
      let y = x;
      let z = y;
      z,
    xs
  );
",
    );
}

#[test]
fn comments_stay_where_they_belong() {
    unchanged(
        "// The file.

// About f.
def f(
  // the first
  x: f32, // behind x
  y: f32
) -> f32 =
  // the body
  zip(
    x, // behind an argument
    y
  )
  |> map(\\a ->
    // the result
    a + 1.0) // behind a stage
  // in front of a stage
  |> id; // behind f

// The end.
",
    );
}

#[test]
fn blank_lines_between_items() {
    assert_eq!(
        checked("const a = 1;\n\n\n\nconst b = 2;\nconst c = 3;\n// d\nconst d = 4; fn f() = 1;"),
        "const a = 1;\n\nconst b = 2;\nconst c = 3;\n// d\nconst d = 4;\n\nfn f() = 1;\n"
    );
    assert_eq!(checked("\n\n// only\n\n\n// comments\n\n"), "// only\n\n// comments\n");
    assert_eq!(checked(""), "");
}

#[test]
fn what_could_be_read_otherwise_is_kept_apart() {
    unchanged("const a = 1 .0;\n");
    unchanged("const a = x as (T -> U);\n");
    unchanged("def f(g: ((T, U)) -> V, h: (T -> U) -> V, k: T -> U -> V) = -!-x;\n");
    unchanged("const a = 1.0.0 + x.0.1 + f32x{4 + m}(1)[0];\n");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_expressions(e in expression()) {
        checked(&format!("def f(x: f32) = {e};"));
        checked(&format!("test t: ({e}) ~= {e};"));
    }

    /// Comments between any two tokens are kept, and the layout they get is stable.
    #[test]
    fn comments_anywhere(
        sample in 0..3usize,
        places in proptest::collection::vec((any::<prop::sample::Index>(), 0..4usize), 1..8),
    ) {
        let mut parts = pieces(&well_formed()[sample]);
        for (n, (place, layout)) in places.iter().enumerate() {
            let at = place.index(parts.len() + 1);
            parts.insert(at, match layout {
                0 => format!(" // c{n}\n"),
                1 => format!("\n// c{n}\n"),
                2 => format!("\n\n// c{n}\n\n"),
                _ => "\n\n".to_string(),
            });
        }
        checked(&parts.join(" "));
    }

    #[test]
    fn comments_in_random_expressions(
        e in expression(),
        places in proptest::collection::vec((any::<prop::sample::Index>(), any::<bool>()), 1..6),
    ) {
        let mut parts = pieces(&format!("def f(x: f32) = {e};"));
        for (n, (place, own)) in places.iter().enumerate() {
            let at = place.index(parts.len() + 1);
            let line = if *own { "\n" } else { "" };
            parts.insert(at, format!("{line} // c{n}\n"));
        }
        checked(&parts.join(" "));
    }
}
