//! Strategy files: definitions, parameters, clauses and launch sizes.

use super::*;

fn script(program: &str, text: &str) -> Outcome {
    let script = read_script(0, text).unwrap_or_else(|mistakes| panic!("{mistakes:?}"));
    script.run(&def(program)).unwrap_or_else(|error| panic!("{error}"))
}

fn refused(program: &str, text: &str) -> String {
    read_script(0, text).unwrap().run(&def(program)).unwrap_err().to_string()
}

#[test]
fn parameters_clauses_and_launches_become_those_of_the_program() {
    let text =
        "strategy main[; T = 16, U] where N % T == 0, T % U == 0 launch local(U) global(N / T) =
      split_join(T) >> find(map, body(split_join(U)));";
    assert_eq!(
        script("def f[N](xs: [i32; N]) -> [i32; N] = map(\\x -> x + 1, xs);", text).def.to_string(),
        "def f[N; T = 16, U](xs: [i32; N]) -> [i32; N] where N % T == 0, T % U == 0 \
         launch local(U) global(N / T) = \
         split(T, xs) |> map(\\x -> split(U, x) |> map(map(\\x1 -> x1 + 1)) |> join) |> join;"
    );
}

/// Values of parameters are picked later, so what is not stated of them is assumed.
#[test]
fn conditions_on_parameters_are_assumed() {
    let text = "strategy main[; T = 4] = split_join(T);";
    let outcome = script("def f[N](xs: [i32; N]) -> [i32; N] = map(\\x -> x + 1, xs);", text);
    let clauses: Vec<String> = outcome.def.wheres.iter().map(|c| c.pred.to_string()).collect();
    assert_eq!(clauses, ["N % T == 0"]);
    assert_eq!(outcome.derivation.start.parameters.len(), 1);
}

#[test]
fn defaults_are_in_terms_of_the_program() {
    let text = "strategy main[; T = 4, U = 2 * T] = id;";
    let def = script("def f[N](xs: [i32; N]) -> [i32; N] = xs;", text).def;
    assert_eq!(def.parameters[1].default.as_ref().unwrap().to_string(), "2*T");
    let unknown = "strategy main[; T = Q] = id;";
    assert_eq!(
        refused("def f[N](xs: [i32; N]) -> [i32; N] = xs;", unknown),
        "the program has no size `Q`"
    );
}

#[test]
fn main_or_the_last_strategy_is_run() {
    assert_eq!(
        script(TWO, "strategy main = map_fusion; strategy other = id;").derivation.steps.len(),
        1
    );
    assert_eq!(
        script(TWO, "strategy other = id; strategy last = map_fusion;").derivation.steps.len(),
        1
    );
}

#[test]
fn own_strategies_hide_those_of_the_library() {
    let text = "strategy tile(m, k) = map_fusion; strategy main = tile(1, 2);";
    assert_eq!(script(TWO, text).def.body.to_string(), "map(\\x -> x * 2 + 1, xs)");
}

#[test]
fn names_of_the_program_cannot_be_parameters() {
    let of = |text: &str| refused("def f[N](xs: [i32; N]) -> [i32; N] = xs;", text);
    assert_eq!(of("strategy main[; N = 3] = id;"), "the program has a `N` already");
    assert_eq!(of("strategy main[; xs = 3] = id;"), "the program has a `xs` already");
    assert_eq!(of("strategy main[; T, T] = id;"), "the program has a `T` already");
    assert_eq!(of("strategy main where Q % 2 == 0 = id;"), "the program has no size `Q`");
    assert_eq!(of("strategy main launch local(Q) global(N) = id;"), "the program has no size `Q`");
    let failed = read_script(0, "strategy main[; N] = id;").unwrap();
    let error = failed.run(&def("def f[N](xs: [i32; N]) -> [i32; N] = xs;")).unwrap_err();
    assert_eq!(error.span().map(|s| (s.start, s.end)), Some((16, 17)));
    assert_eq!(of("strategy main = fail;"), "main: `fail` fails at root: it always does");
}

#[test]
fn mistakes_in_files_are_found() {
    for (text, expected) in [
        ("", "there is no strategy in this file; help: write `strategy main = …;`"),
        ("// only this\n", "there is no strategy in this file; help: write `strategy main = …;`"),
        (
            "strategy a = b; strategy b = a;",
            "`a` calls itself; help: `repeat`, `somewhere`, `topdown` and `bottomup` do things again",
        ),
        (
            "strategy a = try(a);",
            "`a` calls itself; help: `repeat`, `somewhere`, `topdown` and `bottomup` do things again",
        ),
        ("strategy a = id; strategy a = fail;", "there are two strategies `a`"),
        ("strategy try = id;", "`try` is a combinator already"),
        ("strategy map_fusion = id;", "`map_fusion` is a rule already"),
        ("strategy main(m) = split_join(m);", "`main` takes 1 argument, not 0; it is `main(m)`"),
        (
            "strategy part[; T = 4] = split_join(T); strategy main = part;",
            "only `main`, which is run, has parameters, `where` clauses and `launch`",
        ),
        (
            "strategy part where N % 2 == 0 = id; strategy main = part;",
            "only `main`, which is run, has parameters, `where` clauses and `launch`",
        ),
        (
            "strategy unused = map_fusoin; strategy main = id;",
            "there is no rule or strategy `map_fusoin`; help: did you mean `map_fusion`?",
        ),
        (
            "strategy a(s) = s(3); strategy main = a(split_join);",
            "`s` is an argument and takes none itself",
        ),
        (
            "strategy a(m) = split_join(m); strategy main = a(id >> id);",
            "expected a size, and `id` is a strategy",
        ),
        (
            "strategy a(s) = try(s); strategy main = a(3);",
            "expected a strategy: a rule, a combinator or a defined one",
        ),
        (
            "strategy main[T] = id;",
            "new parameters of the program stand behind `;`; help: write `[; T = 16]`",
        ),
        ("strategy main where length(N) == 3 = id;", "expected a size"),
    ] {
        assert_eq!(script_mistake(text), expected, "{text}");
    }
}

#[test]
fn clauses_of_a_script_are_clauses_of_the_program() {
    let text = "strategy main[; T = 4] where N % T == 0 && (T <= 8) = split_join((T));";
    let program = def("def f[N](xs: [i32; N]) -> [i32; N] = map(\\x -> x + 1, xs);");
    let after = read_script(0, text).unwrap().run(&program).unwrap().def;
    assert_eq!(after.body.to_string(), "split(T, xs) |> map(map(\\x -> x + 1)) |> join");
    let clauses: Vec<String> = after.wheres.iter().map(|c| c.pred.to_string()).collect();
    assert_eq!(clauses, ["N % T == 0", "T <= 8"]);
}
