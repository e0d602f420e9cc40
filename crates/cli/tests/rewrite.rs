//! `lift rules` and `lift rewrite`: what they print, and the exact words where they refuse.

#![allow(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

mod common;

use std::fs;

use common::{Ran, in_folder, root};
use serde_json::Value;

const PROGRAMS: &str = r"
def two[N](xs: [i32; N]) -> [i32; N] = xs |> map(\x -> x * 2) |> map(\x -> x + 1);
def sum[N](xs: [f32; N]) -> f32 where N % 8 == 0 = reduce(0.0, (+), xs);
def less[N](xs: [i32; N]) -> i32 = reduce(0, \a b -> a - b, xs);
def scale[N](xs: [f32; N]) -> [f32; N] = map(\x -> x * 2.0, xs);
def id_of[N](xs: [f32; N]) -> [f32; N] = xs;
def pick[M, N](is: [i32; M], xs: [f32; N]) -> [f32; M] = map(\i -> xs[i], is);
def never[N](xs: [f32; N]) -> [f32; N] where N % 5000 == 0 = map(\x -> x * 2.0, xs);
def past[N](is: [i32; N]) -> [i32; N] = map(\i -> is[i - 1000], is);
def dots[M, N](a: [[f32; N]; M], x: [f32; N]) -> [f32; M] where N % 4 == 0 =
  map(\r -> zip(r, x) |> map(\(p, q) -> p * q) |> reduce(0.0, (+)), a);
";

fn lift(arguments: &[&str]) -> Ran {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.lift"), PROGRAMS).unwrap();
    in_folder(folder.path(), arguments)
}

fn rewrite(entry: &str, arguments: &[&str]) -> Ran {
    lift(&[&["rewrite", "a.lift", "--entry", entry], arguments].concat())
}

fn printed(entry: &str, arguments: &[&str]) -> String {
    let ran = rewrite(entry, arguments);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{arguments:?}");
    ran.stdout
}

fn refused(entry: &str, arguments: &[&str]) -> String {
    let ran = rewrite(entry, arguments);
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{arguments:?}: {}", ran.stderr);
    ran.stderr
}

fn rules() -> Vec<Value> {
    let ran = lift(&["rules", "--json"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    serde_json::from_str(&ran.stdout).unwrap()
}

#[test]
fn the_reference_is_what_the_command_prints() {
    let reference = fs::read_to_string(root().join("docs/rules.md")).unwrap();
    assert_eq!(lift(&["rules", "--markdown"]).stdout, reference);
}

#[test]
fn the_page_lists_the_library_as_it_is() {
    let page = fs::read_to_string(root().join("docs/strategies.md")).unwrap();
    let list = lift(&["rules", "--strategies", "--markdown"]).stdout;
    assert!(
        !list.is_empty() && page.ends_with(&list),
        "put the list at the end of the page:\n{list}"
    );
}

#[test]
fn rules_have_names_laws_conditions_and_kinds() {
    let rules = rules();
    let find = |name: &str| rules.iter().find(|r| r["name"] == name).unwrap();
    let split = find("split_join");
    assert_eq!(split["law"], "map(f, xs) = join(map(map(f), split(m, xs)))");
    assert_eq!((&split["condition"], &split["kind"]), (&"n % m == 0".into(), &"maps".into()));
    assert_eq!(split["parameters"], Value::from(vec!["m"]));
    assert_eq!(split["about"], "A map runs chunk by chunk.");
    assert_eq!(find("map_fusion")["condition"], "");
    assert_eq!(find("map_fission")["kind"], "fission");
    let text = lift(&["rules"]).stdout;
    assert_eq!(text.split("\n\n").count(), rules.len());
    assert!(text.contains(
        "split_join: f: a -> b, xs: [a; n]\n  A map runs chunk by chunk.\n  map(f, xs)\n  = join(map(map(f), split(m, xs)))\n  \
         where n % m == 0\n  choose m\n"
    ));
}

#[test]
fn a_rule_is_applied_at_its_first_place() {
    assert_eq!(
        printed("two", &["--apply", "map_fusion"]),
        "def two[N](xs: [i32; N]) -> [i32; N] = map(\\x -> x * 2 + 1, xs);\n"
    );
    assert_eq!(
        printed("two", &["--apply", "map_to_seq"]),
        "def two[N](xs: [i32; N]) -> [i32; N] = map(\\x -> x * 2, xs) |> mapSeq(\\x -> x + 1);\n"
    );
}

#[test]
fn a_rule_is_applied_at_a_place() {
    assert_eq!(
        printed("two", &["--apply", "map_to_seq@1"]),
        "def two[N](xs: [i32; N]) -> [i32; N] = mapSeq(\\x -> x * 2, xs) |> map(\\x -> x + 1);\n"
    );
    assert_eq!(
        printed("two", &["--apply", "map_to_glb@root:d=1"]),
        "def two[N](xs: [i32; N]) -> [i32; N] = map(\\x -> x * 2, xs) |> mapGlb(1)(\\x -> x + 1);\n"
    );
}

#[test]
fn sizes_and_permutations_are_chosen() {
    let halves = "def sum[N](xs: [f32; N]) -> f32 where N % 8 == 0 =\n  \
                  split(N / 2, xs) |> map(reduce(0.0, (+))) |> reduce(0.0, (+));\n";
    assert_eq!(printed("sum", &["--apply", "reduce_promotion:m=N/2"]), halves);
    let strided = "def sum[N](xs: [f32; N]) -> f32 where N % 8 == 0 = \
                   gather(stride(4), xs) |> reduce(0.0, (+));\n";
    assert_eq!(printed("sum", &["--apply", "reduce_reorder:p=stride(4)"]), strided);
}

#[test]
fn sizes_that_are_not_chosen_become_parameters() {
    assert_eq!(
        printed("scale", &["--apply", "split_join", "--apply", "split_join"]),
        "def scale[N; m, m2](xs: [f32; N]) -> [f32; N] where N % m == 0, N / m % m2 == 0 =\n  \
         split(m, xs) |> split(m2) |> map(map(map(\\x -> x * 2.0))) |> join |> join;\n"
    );
}

#[test]
fn a_trace_shows_every_step() {
    let steps = ["--apply", "map_fusion", "--apply", "split_join:m=1", "--trace"];
    assert_eq!(
        printed("two", &steps),
        "def two[N](xs: [i32; N]) -> [i32; N] = map(\\x -> x * 2, xs) |> map(\\x -> x + 1);\n\n\
         // 1: map_fusion at root\n\
         def two[N](xs: [i32; N]) -> [i32; N] = map(\\x -> x * 2 + 1, xs);\n\n\
         // 2: split_join at root, m = 1\n\
         def two[N](xs: [i32; N]) -> [i32; N] = split(1, xs) |> map(map(\\x -> x * 2 + 1)) |> join;\n"
    );
}

#[test]
fn places_are_listed_from_the_outside_in() {
    assert_eq!(
        printed("dots", &["--places", "split_join"]),
        "root  split_join  map(\\r -> zip(r, x) |> map(\\x -> x.0 * x.1) |> reduce(0.0,…\n\
         0.2   split_join  zip(r, x) |> map(\\x -> x.0 * x.1)\n"
    );
    let nowhere = rewrite("sum", &["--places", "split_join"]);
    assert_eq!((nowhere.code, nowhere.stdout.as_str()), (0, ""));
    assert_eq!(nowhere.stderr, "`split_join` applies nowhere in `sum`\n");
    // Rules whose left side is any value apply everywhere.
    let everywhere = printed("id_of", &["--places"]);
    let rows: Vec<Vec<&str>> = everywhere.lines().map(|l| l.split_whitespace().collect()).collect();
    assert!(rows.contains(&vec!["root", "copy", "xs"]), "{everywhere}");
    assert!(rows.iter().all(|row| row.len() == 3 && row[0] == "root"), "{everywhere}");
}

/// Every rule at every place where it is said to apply gives a program that checks and means the
/// same, or is refused: parallel maps in the wrong places are.
#[test]
fn every_listed_place_can_be_rewritten() {
    let rules = rules();
    let listed = printed("dots", &["--places", "--json"]);
    let listed: Vec<Value> = serde_json::from_str(&listed).unwrap();
    let (mut verified, mut misplaced, mut unprintable) = (0, 0, Vec::new());
    for row in &listed {
        let rule = rules.iter().find(|r| r["name"] == row["rule"]).unwrap();
        let parameters = rule["parameters"].as_array().unwrap();
        let chosen = |name: &str| parameters.iter().any(|p| p == name);
        let choices = if chosen("d") {
            ":d=0"
        } else if chosen("p") {
            ":p=reverse"
        } else if chosen("i") {
            ":i=1"
        } else {
            ""
        };
        let (name, place) = (row["rule"].as_str().unwrap(), row["place"].as_str().unwrap());
        let apply = format!("{name}@{place}{choices}");
        let ran = rewrite("dots", &["--apply", &apply, "--verify"]);
        if ran.code == 0 {
            assert!(ran.stderr.starts_with("verified: "), "{apply}: {}", ran.stderr);
            verified += 1;
        } else if ran.stderr.contains("must stand inside") {
            misplaced += 1;
        } else {
            unprintable.push((apply, ran.stderr));
        }
    }
    assert!(verified >= 20 && misplaced >= 2, "{verified} verified, {misplaced} misplaced");
    assert!(unprintable.is_empty(), "{unprintable:?}");
}

#[test]
fn verification_says_on_what_it_rests() {
    let ran = rewrite("scale", &["--apply", "vectorize_map", "--verify"]);
    assert_eq!(
        (ran.code, ran.stderr.as_str()),
        (
            0,
            "verified: before and after agree on 3 random inputs: \
             N = 4, m = 2; N = 9, m = 3; N = 16, m = 4\n"
        )
    );
}

/// Random indices are below ten, so arrays have to be longer.
#[test]
fn sizes_grow_until_the_program_has_a_value() {
    let ran = rewrite("pick", &["--apply", "map_to_seq", "--verify"]);
    assert_eq!(
        (ran.code, ran.stderr.as_str()),
        (
            0,
            "verified: before and after agree on 3 random inputs: \
             M = 13, N = 14; M = 14, N = 15; M = 15, N = 10\n"
        )
    );
}

#[test]
fn nothing_to_compare_is_a_failure() {
    assert_eq!(
        refused("never", &["--apply", "map_to_seq", "--verify"]),
        "error: found no sizes up to 1024 that `never` accepts\n \
         = so `--verify` has nothing to compare\n\n"
    );
    assert_eq!(
        refused("past", &["--apply", "map_to_seq", "--verify"]),
        "error: `past` has no value for random inputs: index -998 is outside an array of length 12\n \
         = so `--verify` has nothing to compare\n\n"
    );
}

/// Subtraction is no operator for `reduce`, so the law does not hold for it.
#[test]
fn a_difference_is_found() {
    assert_eq!(
        refused("less", &["--apply", "reduce_promotion", "--verify"]),
        "error: `less` means something else after this: expected -18, found 18\n \
         = for N = 4, m = 2\n\n"
    );
}

#[test]
fn an_unknown_rule_is_refused() {
    let message = "error: there is no rule `map_fusoin`; did you mean `map_fusion`?\n \
                   = help: `lift rules` lists the rules\n\n";
    assert_eq!(refused("two", &["--apply", "map_fusoin"]), message);
    assert_eq!(refused("two", &["--places", "map_fusoin"]), message);
}

#[test]
fn a_place_where_nothing_is_or_fits_is_refused() {
    assert_eq!(
        refused("two", &["--apply", "map_fusion@7.1"]),
        "error: `two` has no place 7.1\n = help: `--places` lists the places where rules apply\n\n"
    );
    assert_eq!(
        refused("sum", &["--apply", "map_fusion@root"]),
        "error: `map_fusion` does not apply at root: expected `map`, found `reduce`\n\n"
    );
    assert_eq!(
        refused("sum", &["--apply", "map_fusion"]),
        "error: `map_fusion` applies nowhere in `sum`\n \
         = its left side is `map(f, map(g, xs))`\n\n"
    );
    assert_eq!(
        refused("two", &["--apply", "map_fusion", "--apply", "map_fusion@root", "--trace"]),
        "error: `map_fusion` does not apply at root: expected `map`, found the variable `xs`\n \
         = in step 2, on `map(\\x -> x * 2 + 1, xs)`\n\n"
    );
}

/// Whoever chooses a number means sizes that it fits.
#[test]
fn what_a_choice_needs_becomes_a_clause() {
    let ran = rewrite("scale", &["--apply", "split_join:m=3", "--verify"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stderr.starts_with("assumed: `where N % 3 == 0`\nverified: "), "{}", ran.stderr);
    assert!(ran.stdout.contains(" where N % 3 == 0 =\n"), "{}", ran.stdout);
    // What holds already is not said again, and each clause is said once.
    let ran = rewrite("sum", &["--apply", "reduce_promotion:m=4"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    let both = ["--apply", "reduce_promotion:m=3", "--apply", "split_join@2:m=5", "--trace"];
    let ran = rewrite("sum", &both);
    assert_eq!(ran.stderr.matches("assumed").count(), ran.stderr.lines().count(), "{}", ran.stderr);
    assert!(ran.stdout.contains("N % 8 == 0, N % 3 == 0"), "{}", ran.stdout);
}

#[test]
fn choices_that_do_not_fit_are_refused() {
    let sum = |choices: &str| refused("sum", &["--apply", choices]);
    assert_eq!(
        sum("reduce_promotion@root:m=0"),
        "error: `reduce_promotion` does not apply at root: `N % 0 == 0` cannot be proved\n\n"
    );
    assert_eq!(
        sum("reduce_promotion:k=4"),
        "error: `reduce_promotion` cannot be applied: there is no parameter `k`; there is m\n\n"
    );
    assert_eq!(sum("reduce_promotion:m=Q"), "error: `sum` has no size `Q`\n\n");
    assert_eq!(
        sum("reduce_promotion:m=+"),
        "error: `+` is not a size: expected a number, a name or `(`\n\n"
    );
    assert_eq!(
        sum("reduce_reorder"),
        "error: `reduce_reorder` cannot be applied: `p` must be chosen\n\n"
    );
    assert_eq!(
        sum("reduce_reorder:p=sorted"),
        "error: `sorted` is not a permutation: write `reverse`, `stride(8)` or `shift(1)`\n\n"
    );
    assert_eq!(
        refused("two", &["--apply", "map_to_glb"]),
        "error: `map_to_glb` cannot be applied: `d` must be chosen\n\n"
    );
}

#[test]
fn malformed_applications_are_refused() {
    let refusal = |text: &str, reason: &str| {
        let help = " = help: write RULE, RULE@PLACE or RULE@PLACE:m=8,k=4\n\n";
        let expected = format!("error: `--apply {text}`: {reason}\n{help}");
        assert_eq!(refused("two", &["--apply", text]), expected);
    };
    refusal("@0", "there is no rule");
    refusal("", "there is no rule");
    refusal("map_fusion@x", "`x` is not a place: expected numbers as in `0.1.2`, or `root`");
    refusal("split_join:m", "`m` is not NAME=VALUE");
    refusal("split_join:m=", "`m=` is not NAME=VALUE");
    refusal("split_join:m=2,m=4", "`m` is chosen twice");
}

#[test]
fn a_parallel_map_in_the_wrong_place_is_refused() {
    assert_eq!(
        refused("scale", &["--apply", "map_to_lcl:d=0"]),
        "error: `mapLcl(0)` must stand inside `mapWrg`
  ┌─ rewritten:1:42
  │
1 │ def scale[N](xs: [f32; N]) -> [f32; N] = mapLcl(0)(\\x -> x * 2.0, xs);
  │                                          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  │
  = `scale` is this after the rules, and cannot stay so

"
    );
}

#[test]
fn what_is_to_be_done_must_be_said() {
    assert_eq!(rewrite("two", &[]).code, 2);
    assert_eq!(rewrite("two", &["--places", "--verify"]).code, 2);
    assert_eq!(rewrite("two", &["--apply", "map_fusion", "--json"]).code, 2);
    assert!(lift(&["rewrite", "--help"]).stdout.contains("lift rewrite programs/mm.lift --places"));
}
