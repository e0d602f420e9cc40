//! Rules at places, and where they must not apply.

#![allow(clippy::unwrap_used)]

mod domains;
mod interchange;
mod near_misses;
mod refusals;
mod results;
mod unmoved;

use lift_ir::{Def, Nat, Permutation, Place, Var};
use lift_rewrite::{Arguments, Refusal, Rule, apply_in, find, places};
use lift_syntax::check_text;

fn def(text: &str) -> Def {
    let checked = check_text("test.lift", text);
    assert!(!checked.has_errors(), "{}", checked.render(false));
    checked.program.entry().unwrap().clone()
}

fn rewritten(rule: &str, text: &str, place: &str, arguments: Arguments) -> Result<Def, Refusal> {
    apply_in(find(rule).unwrap(), &def(text), &place.parse().unwrap(), &arguments)
}

fn body(rule: &str, text: &str, arguments: Arguments) -> String {
    rewritten(rule, text, "root", arguments).unwrap().body.to_string()
}

fn refusal(rule: &str, text: &str, arguments: Arguments) -> String {
    rewritten(rule, text, "root", arguments).unwrap_err().to_string()
}

fn all_places(rule: &str, text: &str) -> Vec<String> {
    let def = def(text);
    let found = places(&def.context(), find(rule).unwrap(), &def.body, &Arguments::none());
    found.unwrap().iter().map(Place::to_string).collect()
}

const TWO_MAPS: &str =
    "def f[N](xs: [i32; N]) -> [i32; N] = xs |> map(\\x -> x * 2) |> map(\\x -> x + 1);";
const ROWS: &str = "def f[N, M](xss: [[i32; M]; N]) -> [[i32; M]; N] =
  xss |> map(\\xs -> xs |> map(\\x -> x * 2) |> map(\\x -> x + 1));";
const SUM: &str = "def f[N](xs: [i32; N]) -> i32 = reduce(0, (+), xs);";

#[test]
fn a_value_used_twice_is_computed_once() {
    let text = "def f[N](xs: [i32; N]) -> [i32; N] =
      xs |> map(\\x -> x * 3) |> map(\\y -> y + y);";
    let fused = body("map_fusion", text, Arguments::none());
    assert_eq!(fused, "map(\\x -> let y = x * 3; y + y, xs)");
}

#[test]
fn a_value_used_inside_a_function_is_computed_once() {
    let text = "def f[N](xs: [i32; N]) -> [[i32; 4]; N] =
      xs |> map(\\x -> x * 3) |> map(\\y -> generate(4, \\i -> y + i));";
    let fused = body("map_fusion", text, Arguments::none());
    assert_eq!(fused, "map(\\x -> let y = x * 3; generate(4, \\i -> y + i), xs)");
}

#[test]
fn places_are_listed_and_used() {
    assert_eq!(all_places("map_fusion", ROWS), ["0"]);
    assert_eq!(all_places("split_join", ROWS), ["root", "0", "0.1"]);
    assert_eq!(all_places("map_to_glb", TWO_MAPS), ["root", "1"]);
    assert_eq!(all_places("reorder_both_sides", SUM), [] as [&str; 0]);
    assert_eq!(all_places("reduce_reorder", SUM), ["root"]);
    let new = rewritten("map_fusion", ROWS, "0", Arguments::none()).unwrap();
    assert_eq!(new.body.to_string(), "map(map(\\x -> x * 2 + 1), xss)");
}

#[test]
fn listing_places_makes_nothing_known() {
    let def = def(SUM);
    let cx = def.context();
    let before = (format!("{:?}", cx.facts()), cx.next_number());
    places(&cx, find("reduce_promotion").unwrap(), &def.body, &Arguments::none()).unwrap();
    assert_eq!((format!("{:?}", cx.facts()), cx.next_number()), before);
}

#[test]
fn a_place_that_does_not_exist_is_refused() {
    let refusal = rewritten("map_fusion", TWO_MAPS, "7.1", Arguments::none()).unwrap_err();
    assert_eq!(refusal.to_string(), "there is no place 7.1");
}

#[test]
fn a_new_parameter_brings_its_condition() {
    let m = Arguments::none().fresh("m", Var::named("m"));
    let new = rewritten("reduce_promotion", SUM, "root", m).unwrap();
    assert_eq!(new.parameters.len(), 1);
    assert_eq!(new.wheres.len(), 1);
    assert_eq!(new.wheres[0].pred.to_string(), "N % m == 0");
    let text = new.to_string();
    let again = check_text("again.lift", &text);
    assert!(!again.has_errors(), "{}\n{text}", again.render(false));
    assert!(again.program.entry().unwrap().alpha_eq(&new));
}

#[test]
fn a_new_parameter_needs_a_new_name() {
    let m = Arguments::none().fresh("m", Var::named("N"));
    assert_eq!(refusal("reduce_promotion", SUM, m), "there is a size `N` already");
}

#[test]
fn a_condition_that_cannot_be_proved_is_refused() {
    let four = || Arguments::none().size("m", Nat::int(4));
    assert_eq!(refusal("reduce_promotion", SUM, four()), "`N % 4 == 0` cannot be proved");
    let known = "def f[N](xs: [i32; N]) -> i32 where N % 8 == 0 = reduce(0, (+), xs);";
    assert_eq!(
        body("reduce_promotion", known, four()),
        "split(4, xs) |> map(reduce(0, (+))) |> reduce(0, (+))"
    );
    let seven = "def f(xs: [i32; 7]) -> i32 = reduce(0, (+), xs);";
    assert_eq!(refusal("reduce_promotion", seven, four()), "`7 % 4 == 0` never holds");
}

#[test]
fn parameters_must_be_chosen_and_exist() {
    assert_eq!(refusal("split_join", TWO_MAPS, Arguments::none()), "`m` must be chosen");
    let k = Arguments::none().size("k", Nat::int(2));
    assert_eq!(refusal("split_join", TWO_MAPS, k), "there is no parameter `k`; there is m");
    let p = Arguments::none().permutation("p", Permutation::Reverse);
    assert_eq!(refusal("map_fusion", TWO_MAPS, p), "there is no parameter `p`; the rule has none");
    let d = Arguments::none().size("d", Nat::int(3));
    assert_eq!(refusal("map_to_glb", TWO_MAPS, d), "`3 <= 2` never holds");
}

#[test]
fn another_form_is_refused() {
    let none = Arguments::none;
    assert_eq!(refusal("map_fusion", SUM, none()), "expected `map`, found `reduce`");
    let one = "def f[N](xs: [i32; N]) -> [i32; N] = map(\\x -> x + 1, xs);";
    assert_eq!(refusal("map_fusion", one, none()), "expected `map`, found the variable `xs`");
}

#[test]
fn an_inner_array_that_depends_on_the_outer_element_stays() {
    let text = "def f[N, M](xss: [[i32; M]; N]) -> [[i32; M]; N] =
      map(\\xs -> map(\\x -> x + 1, xs), xss);";
    assert_eq!(
        refusal("map_interchange_separate", text, Arguments::none()),
        "`ys` depends on `xs`, which is bound inside"
    );
}

#[test]
fn different_permutations_do_not_cancel() {
    let text = "def f(xs: [i32; 8]) -> [i32; 8] = gather(reverse, scatter(shift(1), xs));";
    assert_eq!(
        refusal("gather_scatter", text, Arguments::none()),
        "`p` would stand for two different things"
    );
}

#[test]
fn rows_of_another_length_do_not_cancel() {
    let text = "def f(xss: [[i32; 4]; 2]) -> [[i32; 2]; 4] = split(2, join(xss));";
    assert_eq!(
        refusal("split_join_id", text, Arguments::none()),
        "expected the size `2`, found `4`"
    );
}

#[test]
fn a_function_of_one_step_is_not_cut() {
    let text = "def f[N](xs: [i32; N]) -> [i32; N] = map(\\x -> x + 1, xs);";
    assert_eq!(refusal("map_fission", text, Arguments::none()), "the inner step computes nothing");
    let fused = "def f[N](xs: [i32; N]) -> [i32; N] = map(\\x -> x * 2 + 1, xs);";
    assert_eq!(
        body("map_fission", fused, Arguments::none()),
        "map(\\x -> x * 2, xs) |> map(\\y -> y + 1)"
    );
}

#[test]
fn a_value_that_depends_on_the_element_stays_inside() {
    let text = "def f[N](xs: [i32; N]) -> [i32; N] = map(\\x -> let y = x * 2; y + y, xs);";
    assert_eq!(
        refusal("let_float_function", text, Arguments::none()),
        "the value depends on the element"
    );
    let text = "def f[N](xs: [i32; N], c: i32) -> [i32; N] =
      map(\\x -> let y = c * 2; y + y * x, xs);";
    assert_eq!(
        body("let_float_function", text, Arguments::none()),
        "let y = c * 2; map(\\x -> y + y * x, xs)"
    );
}

#[test]
fn a_value_that_may_not_be_needed_stays_inside() {
    let text = "def f(c: bool, xs: [i32; 4], i: i32) -> i32 =
      if c then (let y = xs[i]; y + y) else 0;";
    assert_eq!(
        refusal("let_float_argument", text, Arguments::none()),
        "not all arguments are evaluated"
    );
}

#[test]
fn a_function_of_both_components_needs_both_arrays() {
    let text = "def f[N](xs: [i32; N], ys: [i32; N]) -> [i32; N] =
      zip(xs, ys) |> map(\\(a, b) -> a * b);";
    let refusal = refusal("zip_first", text, Arguments::none());
    assert!(refusal.starts_with("`f` depends on"), "{refusal}");
}

#[test]
fn a_law_that_cannot_be_read_says_why() {
    let reason = |rule: &Rule| rule.read().unwrap_err().to_string();
    static MISSPELT: Rule = Rule::law("misspelt", "", "xs: [a; n]", "mapp(xs)", "xs");
    assert_eq!(
        reason(&MISSPELT),
        "the law cannot be read: `mapp(xs)`: `mapp` is no pattern and no function of this law"
    );
    static UNBOUND: Rule = Rule::law("unbound", "", "xs: [a; n], ys: [a; n]", "join(xs)", "ys");
    assert_eq!(reason(&UNBOUND), "the law cannot be read: the left side does not mention `ys`");
    static SHORT: Rule = Rule::law("short", "", "xs: [a; n]", "split(xs)", "xs");
    assert_eq!(reason(&SHORT), "the law cannot be read: `split(xs)`: `split` lacks an argument");
}
