//! Strategies: what each combinator does, what failures say and leave, scripts, derivations, laws.

#![allow(clippy::unwrap_used)]

mod combinators;
mod derivations;
mod docs;
mod failures;
mod laws;
mod scripts;
mod text;

use lift_ir::Def;
use lift_rewrite::{Failure, Outcome, Strategy, read_script, read_strategy, run};
use lift_syntax::check_text;
use lift_syntax::diagnostic::Diagnostic;

fn def(text: &str) -> Def {
    let checked = check_text("test.lift", text);
    assert!(!checked.has_errors(), "{}", checked.render(false));
    checked.program.entry().unwrap().clone()
}

fn strategy(text: &str) -> Strategy {
    read_strategy(0, text).unwrap_or_else(|mistakes| panic!("{text}: {mistakes:?}"))
}

fn ran(program: &str, text: &str) -> Result<Outcome, Failure> {
    run(&def(program), &strategy(text))
}

/// The body after a strategy.
fn body(program: &str, text: &str) -> String {
    let outcome = ran(program, text).unwrap_or_else(|failure| panic!("{text}: {failure}"));
    outcome.def.body.to_string()
}

fn failure(program: &str, text: &str) -> String {
    ran(program, text).unwrap_err().to_string()
}

/// The message and the help of the first mistake.
fn told(mistakes: Vec<Diagnostic>) -> String {
    let first = mistakes.first().unwrap();
    std::iter::once(first.message.clone()).chain(first.notes.clone()).collect::<Vec<_>>().join("; ")
}

fn mistake(text: &str) -> String {
    told(read_strategy(0, text).unwrap_err())
}

fn script_mistake(text: &str) -> String {
    told(read_script(0, text).unwrap_err())
}

const TWO: &str =
    "def f[N](xs: [i32; N]) -> [i32; N] = xs |> map(\\x -> x * 2) |> map(\\x -> x + 1);";
const ROWS: &str = "def f[N, M](xss: [[i32; M]; N]) -> [[i32; M]; N] =
  xss |> map(\\xs -> xs |> map(\\x -> x * 2) |> map(\\x -> x + 1));";
const SUM: &str = "def f[N](xs: [i32; N]) -> i32 where N % 8 == 0 = reduce(0, (+), xs);";
const PAIR: &str = "def f[N](xs: [i32; N], ys: [i32; N]) -> [(i32, i32); N] =
  zip(map(\\x -> x + 1, xs), map(\\y -> y * 2, ys));";
const LET: &str = "def f[N](xs: [i32; N]) -> [i32; N] =
  let ys = map(\\x -> x + 1, xs); map(\\y -> y * y, ys);";
const MM: &str = "def mm[M, K, N](A: [[f32; K]; M], B: [[f32; N]; K]) -> [[f32; N]; M] =
  A |> map(\\row -> transpose(B) |> map(\\col ->
    zip(row, col) |> map(\\(a, b) -> a * b) |> reduce(0.0, (+))));";
