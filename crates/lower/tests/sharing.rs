//! What is read again and again is computed once.

#![allow(clippy::unwrap_used)]

use lift_ir::{Math, Nat};
use lift_kernel::{Expr, LoopKind, Stmt};
use lift_lower::{Options, Plan, Target, lower};

fn plan_of(text: &str, target: Target) -> Plan {
    let checked = lift_syntax::check_text("test.lift", text);
    assert!(!checked.has_errors(), "{}", checked.render(false));
    lower(checked.program.entry().unwrap(), &Options { target, ..Options::default() }).unwrap()
}

/// The loops around each call of a function, outermost first, kernel by kernel.
fn calls(plan: &Plan, math: Math) -> Vec<Vec<LoopKind>> {
    fn walk(block: &[Stmt], around: &[LoopKind], math: Math, found: &mut Vec<Vec<LoopKind>>) {
        for stmt in block {
            for value in stmt.values() {
                value.each(&mut |e| {
                    if matches!(e, Expr::Math(m, _) if *m == math) {
                        found.push(around.to_vec());
                    }
                });
            }
            let mut inside = around.to_vec();
            inside.extend(match stmt {
                Stmt::Loop(l) => Some(l.kind),
                _ => None,
            });
            stmt.blocks().into_iter().for_each(|inner| walk(inner, &inside, math, found));
        }
    }
    let mut found = Vec::new();
    plan.kernels.iter().for_each(|k| walk(&k.body, &[], math, &mut found));
    found
}

/// Each program has one `exp`, to be computed for every element of a matrix and no more often: by two dimensions of
/// a grid, wherever it is written and however it is read.
#[test]
fn a_value_read_often_has_a_grid_of_its_own() {
    let columns = "v |> map(\\c -> zip(E, c) |> map(\\(a, b) -> a * b) |> reduce(0.0, (+)))";
    let named = format!(
        "x |> map(\\row -> let e = row |> map(\\a -> exp(a)); {})",
        columns.replace('E', "e")
    );
    let unnamed =
        format!("x |> map(map(\\a -> exp(a))) |> map(\\row -> {})", columns.replace('E', "row"));
    let inside = format!(
        "x |> map(\\row -> row |> map(\\a -> exp(a)) |> (\\e -> {}))",
        columns.replace('E', "e")
    );
    let windows = "x |> map(\\row -> row |> map(\\a -> exp(a)) |> pad(1, 1, clamp) |> slide(3, 1) |> map(\\w -> w[0] + w[2]))".to_string();
    let in_pieces =
        "x |> map(map(\\a -> exp(a)) >> scan(0.0, (+))) |> transpose |> map(scan(0.0, (+)))"
            .to_string();
    for body in [named, unnamed, inside, windows] {
        let text = format!(
            "def main[N](x: [[f32; N]; N], v: [[f32; N]; N]) -> [[f32; N]; N] =\n  {body};\n"
        );
        let found = calls(&plan_of(&text, Target::Loops), Math::Exp);
        assert_eq!(found, [[LoopKind::Global(1), LoopKind::Global(0)]], "{text}");
    }
    // A scan goes along its row, once.
    let text = format!("def main[N](x: [[f32; N]; N]) -> [[f32; N]; N] =\n  {in_pieces};\n");
    let found = calls(&plan_of(&text, Target::Loops), Math::Exp);
    assert_eq!(found, [[LoopKind::Global(0), LoopKind::Seq]], "{text}");
}

/// What does not depend on the row is computed in front of all rows.
#[test]
fn what_all_elements_share_is_computed_once() {
    let text = "def main[N](x: [f32; N], v: [f32; N]) -> [f32; N] =
      x |> map(\\a -> v |> map(\\b -> exp(b)) |> map(\\b -> a * b) |> reduce(0.0, (+)));\n";
    let invariant = "def main[N](x: [f32; N], v: [f32; N]) -> [f32; N] =
      x |> map(\\a -> let e = v |> map(\\b -> exp(b)); zip(e, e |> gather(reverse)) |> map(\\(b, c) -> a * b + c) |> reduce(0.0, (+)));\n";
    for text in [text, invariant] {
        let found = calls(&plan_of(text, Target::Loops), Math::Exp);
        assert_eq!(found, [[LoopKind::Global(0)]], "{text}");
    }
}

/// What is read once is fused, and what is cheap is computed again.
#[test]
fn nothing_is_stored_that_is_cheaper_to_read() {
    let once = "def main[N](x: [[f32; N]; N]) -> [f32; N] =
      x |> map(\\row -> let e = row |> map(\\a -> exp(a)); e |> reduce(0.0, (+)));\n";
    let cheap = "def main[N](x: [[f32; N]; N], v: [[f32; N]; N]) -> [[f32; N]; N] =
      x |> map(map(\\a -> a * 2.0)) |> map(\\row -> v |> map(\\c -> zip(row, c) |> map(\\(a, b) -> a * b) |> reduce(0.0, (+))));\n";
    for text in [once, cheap] {
        assert_eq!(plan_of(text, Target::Loops).kernels.len(), 1, "{text}");
    }
}

/// A short array inside a map is kept by the work-item that makes it.
#[test]
fn a_short_array_stays_with_its_work_item() {
    let text = "def main[N](x: [[f32; 4]; N]) -> [f32; N] =
      x |> map(\\p -> let e = p |> map(\\a -> exp(a)); zip(e, e |> gather(reverse)) |> map(\\(a, b) -> a * b) |> reduce(0.0, (+)));\n";
    let plan = plan_of(text, Target::Loops);
    let lengths: Vec<String> =
        plan.kernels.iter().flat_map(|k| &k.privates).map(|b| b.length.to_string()).collect();
    assert_eq!((plan.kernels.len(), lengths), (1, vec!["4".to_string()]));
    assert_eq!(calls(&plan, Math::Exp).len(), 1);
}

/// A `let` in front of a map does not keep the map's elements from having threads of their own, or those of a group that also
/// shares the sum.
#[test]
fn a_let_inside_a_map_leaves_its_threads() {
    let view = "def main[N](x: [[f32; N]; N], w: [f32; N]) -> [[[f32; N]; N]; N] =
      x |> map(\\row -> let r = row |> gather(reverse); w |> map(\\a -> r |> map(\\b -> a * b)));\n";
    let sum = "def main[N](x: [[f32; N]; N]) -> [[f32; N]; N] =
      x |> map(\\row -> let s = row |> reduce(0.0, (+)); row |> map(\\a -> a / s));\n";
    let plan = plan_of(view, Target::Threads);
    assert_eq!(plan.kernels.last().unwrap().launch.global.len(), 3);
    let plan = plan_of(sum, Target::Threads);
    let [kernel] = plan.kernels.as_slice() else { panic!("{} kernels", plan.kernels.len()) };
    assert_eq!(kernel.launch.local, [Nat::int(256)]);
    assert!(!kernel.locals.is_empty());
}
