//! The parser of strategy files: what it reads, and what it reports.

#![allow(clippy::unwrap_used)]

use lift_ir::BinaryOp;
use lift_syntax::ast::{ExprKind, Strategy};
use lift_syntax::diagnostic::render;
use lift_syntax::parser::{parse_strategies, parse_strategy_expr};
use lift_syntax::source::Sources;

fn read(text: &str) -> Vec<Strategy> {
    let (definitions, mistakes) = parse_strategies(0, text);
    assert!(mistakes.is_empty(), "{text}: {mistakes:?}");
    definitions
}

fn messages(text: &str) -> Vec<String> {
    parse_strategies(0, text).1.into_iter().map(|d| d.message).collect()
}

#[test]
fn a_definition_has_arguments_parameters_clauses_launches_and_a_body() {
    let text = "// tiles\nstrategy tile[; T = 16, U](m, s) where N % T == 0, T % U == 0 \
                launch local(T, 4) global(N) = split_join(m) >> s;\nstrategy other = id;";
    let [tile, other] = read(text).try_into().unwrap();
    let names: Vec<&str> = tile.names.iter().map(|n| n.text.as_str()).collect();
    assert_eq!((tile.name.text.as_str(), names), ("tile", vec!["m", "s"]));
    let parameters: Vec<(&str, bool)> =
        tile.parameters.iter().map(|p| (p.name.text.as_str(), p.default.is_some())).collect();
    assert_eq!(parameters, [("T", true), ("U", false)]);
    assert_eq!((tile.wheres.len(), tile.launches.len()), (2, 1));
    let counts: Vec<_> =
        tile.launches[0].clauses.iter().map(|(c, n)| (c.name(), n.len())).collect();
    assert_eq!(counts, [("local", 2), ("global", 1)]);
    assert!(matches!(tile.body.kind, ExprKind::Binary(BinaryOp::Shr, ..)));
    assert_eq!(
        text.get(tile.span.start as usize..tile.span.end as usize).unwrap().lines().count(),
        1
    );
    assert!(other.names.is_empty() && other.parameters.is_empty() && other.wheres.is_empty());
}

#[test]
fn a_file_may_be_empty() {
    assert!(read("").is_empty());
    assert!(read("// nothing yet\n").is_empty());
}

#[test]
fn where_is_a_clause_before_the_body_and_a_call_in_it() {
    let [main] = read("strategy main where (N % 2 == 0) = where(map) >> try(where(!map));")
        .try_into()
        .unwrap();
    assert_eq!(main.wheres.len(), 1);
    assert!(matches!(main.body.kind, ExprKind::Binary(BinaryOp::Shr, ..)));
    let (expr, mistakes) =
        parse_strategy_expr(0, "where(map) >> choice(where(let), where(let || value))");
    assert!(
        mistakes.is_empty() && matches!(expr.kind, ExprKind::Binary(BinaryOp::Shr, ..)),
        "{mistakes:?}"
    );
}

#[test]
fn places_are_fields_of_the_root() {
    let (expr, mistakes) = parse_strategy_expr(0, "at(root.0.1.12, id)");
    assert!(mistakes.is_empty(), "{mistakes:?}");
    let ExprKind::Call(_, args) = expr.kind else { panic!("no call") };
    let ExprKind::Field(inner, 12) = &args[0].kind else { panic!("{:?}", args[0]) };
    assert!(matches!(inner.kind, ExprKind::Field(_, 1)));
}

#[test]
fn mistakes_are_reported() {
    for (text, expected) in [
        ("def f(x: i32) -> i32 = x;", "expected `strategy` and a name, found the keyword `def`"),
        ("tile = id;", "expected `strategy` and a name, found `tile`"),
        ("strategy = id;", "expected the name of a strategy, found `=`"),
        ("strategy a id;", "expected `=` and the body, found `id`"),
        ("strategy a = ;", "expected an expression, found `;`"),
        ("strategy a = id", "expected `;`, found the end of the text"),
        ("strategy a(1) = id;", "expected the name of an argument, found the number `1`"),
        ("strategy a = try(id;", "expected `)` to close this `(`, found `;`"),
        ("strategy a[T] = id;", "new parameters of the program stand behind `;`"),
    ] {
        assert_eq!(messages(text).first().map(String::as_str), Some(expected), "{text}");
    }
}

#[test]
fn what_follows_a_mistake_is_read() {
    let text = "strategy a = ;\nstrategy b = id;\nnonsense;\nstrategy c = id;";
    let (definitions, mistakes) = parse_strategies(0, text);
    let names: Vec<&str> = definitions.iter().map(|d| d.name.text.as_str()).collect();
    assert!(names.ends_with(&["b", "c"]), "{names:?}");
    assert_eq!(mistakes.len(), 2);
}

#[test]
fn mistakes_show_their_place() {
    let text = "strategy main =\n  try(id;";
    let mut sources = Sources::new();
    let file = sources.add("a.strategy", text);
    let shown = render(&parse_strategies(file, text).1, &sources, false);
    assert!(shown.contains("a.strategy:2:") && shown.contains("2 │   try(id;"), "{shown}");
}

/// Deep nesting is refused, not followed.
#[test]
fn nesting_is_bounded() {
    let deep = format!("strategy a = {}id{};", "try(".repeat(5000), ")".repeat(5000));
    assert!(messages(&deep).iter().any(|m| m.contains("256")), "{:?}", messages(&deep));
}
