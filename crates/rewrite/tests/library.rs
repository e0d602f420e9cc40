//! Strategies of the library on small programs; derivations try the others.

#![allow(clippy::unwrap_used)]

use lift_rewrite::{read_strategy, run};

/// The body after a strategy.
fn after(program: &str, strategy: &str) -> String {
    let checked = lift_syntax::check_text("program", program);
    assert!(!checked.has_errors(), "{}", checked.render(false));
    let strategy = read_strategy(0, strategy).unwrap();
    run(checked.program.entry().unwrap(), &strategy).unwrap().def.body.to_string()
}

#[test]
fn the_outermost_of_three_loops_moves_inside() {
    let program = "def f[A, B, C](x: [[[i32; C]; B]; A]) -> [[[i32; C]; B]; A] =
        x |> map(map(map(\\e -> e + 1)));";
    assert_eq!(
        after(program, "interchange_far"),
        "transpose(x) |> map(\\x -> transpose(x) |> map(map(\\e -> e + 1)) |> transpose) |> transpose"
    );
}
