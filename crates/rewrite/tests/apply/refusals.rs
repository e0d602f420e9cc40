//! Where rules must not apply, and what they say.

use lift_ir::{Nat, Var};
use lift_rewrite::{Arguments, Rule};

use crate::{SUM, TWO_MAPS, body, def, refusal};

fn refused(rule: &str, text: &str) -> String {
    refusal(rule, text, Arguments::none())
}

fn refused_at(rule: &str, text: &str, name: &str, value: i128) -> String {
    refusal(rule, text, Arguments::none().size(name, Nat::int(value)))
}

#[test]
fn a_value_in_a_memory_gets_no_other() {
    let text = "def f[N](xs: [i32; N]) -> [i32; N] = toGlobal(map(\\x -> x + 1), xs);";
    for rule in ["to_global", "to_local", "to_private"] {
        assert_eq!(refused(rule, text), "the value has a memory already");
        assert_eq!(refused(&format!("result_{rule}"), text), "the value has a memory already");
    }
    let layout = "def f[N](xs: [i32; N]) -> [i32; N] = gather(reverse, xs);";
    assert_eq!(refused("result_to_local", layout), "expected a pattern of a function and an array");
}

#[test]
fn flat_zips_stay() {
    let text = "def f[N](xs: [i32; N], ys: [i32; N]) -> [i32; N] = zip(xs, ys) |> map((+));";
    assert_eq!(refused("flatten_zip_map", text), "there is no `zip` in a `zip`");
    assert_eq!(refused("flatten_zip_map", TWO_MAPS), "there is no `zip` in a `zip`");
    assert_eq!(refused("flatten_zip_map", SUM), "expected `map`, found `reduce`");
    assert_eq!(refused("flatten_zip_map_seq", text), "expected `mapSeq`, found `map`");
    assert_eq!(refused("flatten_zip_reduce_seq", text), "expected `reduceSeq`, found `map`");
}

#[test]
fn what_is_no_let_is_not_written_out() {
    assert_eq!(refused("let_inline", SUM), "expected a `let`");
    assert_eq!(
        refused("let_float_function", TWO_MAPS),
        "no function of the pattern starts with a `let`"
    );
    assert_eq!(refused("let_float_argument", TWO_MAPS), "no argument of the pattern is a `let`");
    let repeated = "def f(x: i32, c: i32) -> i32 = iterate(3, \\y -> let z = c * 2; y + z, x);";
    assert_eq!(
        refused("let_float_function", repeated),
        "`iterate` may run its function not at all"
    );
}

#[test]
fn a_map_of_two_uses_of_the_element_is_not_cut() {
    assert_eq!(refused("map_fission", SUM), "expected `map`");
    let text = "def f[N](xs: [i32; N]) -> [i32; N] = map(\\x -> (x + 1) * (x + 2), xs);";
    assert_eq!(
        refused("map_fission", text),
        "not just one argument of the outer step uses the element"
    );
}

#[test]
fn what_depends_on_the_row_stays_inside() {
    let text = "def f[N, M](A: [[i32; M]; N], x: [i32; M]) -> [[i32; M]; N] =
      A |> map(\\row -> zip(row, x) |> map(\\(a, b) -> a - b * row[0]));";
    assert_eq!(
        refused("map_interchange_zip_inside", text),
        "`f` depends on `row`, which is bound inside"
    );
    let text = "def f[N, M](A: [[i32; M]; N]) -> [[i32; M]; N] =
      A |> map(\\row -> zip(row, row) |> map(\\(a, b) -> a - b));";
    assert_eq!(
        refused("map_interchange_zip_inside", text),
        "`ys` depends on `row`, which is bound inside"
    );
    let text = "def f[N, M](zs: [i32; N], xss: [[i32; N]; M]) -> [i32; N] =
      xss |> reduceSeq(zs, \\us xs -> zip(us, xs) |> map(\\(u, x) -> u + x + us[0]));";
    assert_eq!(
        refused("reduce_map_interchange", text),
        "`f` depends on `us`, which is bound inside"
    );
}

#[test]
fn divisibility_must_be_known() {
    let open = "def f[N](xs: [i32; N]) -> [i32; N] = xs;";
    let seven = "def f(xs: [i32; 7]) -> [i32; 7] = xs;";
    for rule in ["join_split_intro", "as_vector_intro"] {
        assert_eq!(refused_at(rule, open, "m", 4), "`N % 4 == 0` cannot be proved");
        assert_eq!(refused_at(rule, seven, "m", 4), "`7 % 4 == 0` never holds");
    }
    assert_eq!(refused_at("vectorize_map", TWO_MAPS, "m", 4), "`N % 4 == 0` cannot be proved");
    assert_eq!(refused_at("vectorize_reduce", SUM, "m", 4), "`N % 4 == 0` cannot be proved");
}

#[test]
fn only_some_widths_are_vectors() {
    let width = |found: &str| {
        format!("the result has no type: a vector has 2, 3, 4, 8 or 16 lanes, not {found}")
    };
    let text = "def f(xs: [i32; 30]) -> [i32; 30] = map(\\x -> x + 1, xs);";
    for m in [5, 6, 1] {
        assert_eq!(refused_at("vectorize_map", text, "m", m), width(&m.to_string()));
        assert_eq!(refused_at("as_vector_intro", text, "m", m), width(&m.to_string()));
    }
    let pairs = "def f(xs: [i32; 30], ys: [i32; 30]) -> [i32; 30] = zip(xs, ys) |> map((+));";
    assert_eq!(refused_at("vectorize_zip_map", pairs, "m", 5), width("5"));
    let sum = "def f(xs: [i32; 30]) -> i32 = reduce(0, (+), xs);";
    assert_eq!(refused_at("vectorize_reduce", sum, "m", 5), width("5"));
}

#[test]
fn only_scalars_become_vectors() {
    let text = "def f(ps: [(i32, i32); 8]) -> [(i32, i32); 8] = ps;";
    assert_eq!(
        refused_at("as_vector_intro", text, "m", 4),
        "the result has no type: `as_vector` takes an array of scalars, found `[(i32, i32); 8]`"
    );
}

#[test]
fn wide_vectors_have_no_dot_product() {
    let text = "def f[N](xs: [f32x8; N], ys: [f32x8; N]) -> f32 =
      zip(xs, ys) |> mapSeq(\\(a, b) -> a * b) |> as_scalar |> reduceSeq(0.0, (+));";
    assert_eq!(refused("dot_builtin", text), "`8 <= 4` never holds");
    let other = "def f[N](xs: [f32x4; N], ys: [f32x4; N]) -> f32 =
      zip(xs, ys) |> mapSeq(\\(a, b) -> a + b) |> as_scalar |> reduceSeq(0.0, (+));";
    assert_eq!(refused("dot_builtin", other), "expected `*`, found `+`");
}

#[test]
fn vectors_of_another_width_do_not_cancel() {
    let text = "def f(vs: [f32x4; 8]) -> [f32x8; 4] = as_vector(8, as_scalar(vs));";
    assert_eq!(refused("as_vector_as_scalar", text), "expected the size `8`, found `4`");
    let rows = "def f(xs: [i32; 8]) -> [i32; 8] = as_scalar(as_vector(2, xs));";
    assert_eq!(refused("as_vector_as_scalar", rows), "expected `as_vector`, found `as_scalar`");
}

#[test]
fn steps_must_give_the_right_number_of_results() {
    let text = "def f(xs: [i32; 64]) -> [i32; 8] = partial_reduce(8, 0, (+), xs);";
    let choices =
        |k: i128, i: i128| Arguments::none().size("k", Nat::int(k)).size("i", Nat::int(i));
    assert_eq!(refusal("partial_reduce_iterate", text, choices(2, 2)), "`8 == 4` never holds");
    assert_eq!(refusal("partial_reduce_iterate", text, choices(2, 0)), "`1 <= 0` never holds");
    let open = Arguments::none().fresh("i", Var::named("i")).size("k", Nat::int(2));
    assert_eq!(
        refusal("partial_reduce_iterate", text, open),
        "`i` must be a number: the length changes each time"
    );
}

#[test]
fn what_is_no_matrix_has_no_rows() {
    let text = "def f[N](xs: [i32; N]) -> [i32; N] = xs;";
    for rule in ["transpose_intro", "split_join_intro"] {
        assert_eq!(refused(rule, text), "expected `xss` to be an array, found `i32`");
    }
    let scalar = "def f(x: i32) -> i32 = x;";
    assert_eq!(refused("copy", scalar), "expected `xs` to be an array, found `i32`");
}

#[test]
fn what_may_fail_is_evaluated_as_before() {
    let named = "def f(a: i32, b: i32) -> i32 = let q = a / b; if b == 0 then 3 else q;";
    let lost = "the value may fail, and would not be evaluated everywhere";
    assert_eq!(refused("let_inline", named), lost);
    let inner = "def f[N](c: bool, xs: [i32; N]) -> [i32; N] =
      xs |> map(\\x -> if c then 10 / x else 0);";
    let lazy = "the inner step may fail, and is not always evaluated";
    assert_eq!(refused("map_fission", inner), lazy);
    let outside =
        "def f[N](a: i32, xs: [i32; N]) -> [i32; N] = xs |> map(\\x -> let q = 10 / a; q + x);";
    let never = "the value may fail, and may not be evaluated at all";
    assert_eq!(refused("let_float_function", outside), never);
}

#[test]
fn nearly_the_form_is_another_form() {
    let constant = "def f[N](xs: [i32; N], y: i32) -> [i32; N] = map(\\x -> y, xs);";
    assert_eq!(refused("map_identity", constant), "expected `x`, found the variable `y`");
    let wrapped = "def f[N](xs: [i32; N]) -> [i32; N + 2] = pad(1, 0, clamp, pad(0, 1, wrap, xs));";
    assert_eq!(refused("pad_pad", wrapped), "expected `pad`, found `pad`");
    let squares = "def f(xs: [i32; 4], ys: [i32; 4]) -> [i32; 6] =
      pad_value(1, 1, 0, zip(xs, ys) |> map(\\p -> p.0 * p.0));";
    assert_eq!(refused("pad_product", squares), "expected products that are filled up with zeros");
    let negated = "def f(x: i32) -> i32 = -x;";
    assert_eq!(refused("map_identity", negated), "expected `map`, found `-`");
    let pair = "def f(x: i32) -> (i32, i32) = (x, x);";
    assert_eq!(refused("map_identity", pair), "expected `map`, found a tuple");
    assert_eq!(refused("map_identity", "def f(x: i32) -> i32 = 3;"), "expected `map`, found `3`");
    let component = "def f(p: (i32, i32)) -> i32 = p.1;";
    assert_eq!(refused("map_identity", component), "expected `map`, found `.1`");
    let parallel = "def f[N](xs: [i32; N]) -> [i32; N] = mapGlb(1)(\\x -> x, xs);";
    assert_eq!(refused("map_identity", parallel), "expected `map`, found `mapGlb(1)`");
}

/// Literals and types that a law writes out.
#[test]
fn what_a_law_writes_out_must_be_there() {
    let applies = |rule: &Rule, text: &str| {
        let def = def(text);
        rule.apply(&def.context(), &def.body, &Arguments::none()).is_ok()
    };
    static ZERO: Rule = Rule::law("plus_zero", "", "x: i32", "x + 0", "x");
    assert!(applies(&ZERO, "def f(x: i32) -> i32 = x + 0;"));
    assert!(!applies(&ZERO, "def f(x: i32) -> i32 = x + 1;"));
    static REVERSED: Rule =
        Rule::law("reversed", "", "xs: [a; n]", "gather(reverse, gather(reverse, xs))", "xs");
    let turned =
        |p: &str| format!("def f(xs: [i32; 4]) -> [i32; 4] = gather({p}, gather(reverse, xs));");
    assert!(applies(&REVERSED, &turned("reverse")));
    assert!(!applies(&REVERSED, &turned("shift(1)")));
    static WRAPPED: Rule = Rule::law(
        "wrapped",
        "",
        "f: a -> b, xs: [a; n]",
        "map((f), pad(l, r, wrap, xs))",
        "pad(l, r, wrap, map(f, xs))",
    );
    let padded = |boundary: &str| {
        format!("def f(xs: [i32; 4]) -> [i32; 6] = map(\\x -> x + 1, pad(1, 1, {boundary}, xs));")
    };
    assert!(applies(&WRAPPED, &padded("wrap")));
    assert!(!applies(&WRAPPED, &padded("clamp")) && !applies(&WRAPPED, &padded("mirror")));
    static PAIRS: Rule = Rule::law("pairs", "", "ps: [(a, b); n]", "id(ps)", "ps");
    assert!(applies(&PAIRS, "def f(ps: [(i32, f32); 4]) -> [(i32, f32); 4] = id(ps);"));
    assert!(!applies(&PAIRS, "def f(ps: [(i32, f32, i8); 4]) -> [(i32, f32, i8); 4] = id(ps);"));
    static ALIKE: Rule = Rule::law("alike", "", "ps: [(a, a); n]", "id(ps)", "ps");
    assert!(applies(&ALIKE, "def f(ps: [(i32, i32); 4]) -> [(i32, i32); 4] = id(ps);"));
    assert!(!applies(&ALIKE, "def f(ps: [(i32, f32); 4]) -> [(i32, f32); 4] = id(ps);"));
    static VECTORS: Rule = Rule::law("vectors", "", "v: f32x4", "id(v)", "v");
    assert!(applies(&VECTORS, "def f(v: f32x4) -> f32x4 = id(v);"));
    assert!(!applies(&VECTORS, "def f(v: i32x4) -> i32x4 = id(v);"));
    assert!(!applies(&VECTORS, "def f(v: f32x2) -> f32x2 = id(v);"));
}

#[test]
fn an_index_that_is_in_range_does_not_fail() {
    let named = |index: &str| {
        format!(
            "def f(c: bool, i: i32, xs: [i32; 4]) -> i32 = let e = xs[{index}]; if c then e else 0;"
        )
    };
    let lost = "the value may fail, and would not be evaluated everywhere";
    assert_eq!(body("let_inline", &named("3"), Arguments::none()), "if c then xs[3] else 0");
    assert_eq!(refused("let_inline", &named("i")), lost);
}
