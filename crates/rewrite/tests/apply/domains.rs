//! The mappings of iterations over domains, on domains of all kinds: what is made means the same and prints as what parses again.

use lift_interp::{ScalarValue, Sizes, Value, run};
use lift_ir::{Def, Nat, Var};
use lift_random::Random;
use lift_rewrite::Arguments;
use lift_syntax::check_text;

use crate::{all_places, def, refusal, rewritten};

/// Triangles, tetrahedra, bands, slopes and fields of a chess board; the last three drawn at random.
fn domains() -> Vec<String> {
    let mut all: Vec<String> = [
        "{ (i, j) | j <= i, i < 7 }",
        "{ (i, j) | i < j, j < 6 }",
        "{ (i, j, k) | i <= j <= k, k < 5 }",
        "{ (i, j) | i < 6, j < 6, i <= j + 1, j <= i + 1 }",
        "{ (i, j) | 2 * j <= i, i < 8 }",
        "{ (i, j) | i < 4, j < 5, (i + j) % 2 == 0 }",
        "{ (i) | 3 <= i, i < 9 }",
    ]
    .map(str::to_string)
    .to_vec();
    let mut random = Random::new(20261117);
    while all.len() < 10 {
        let [a, b, c] = [0; 3].map(|_| random.between(-2, 2));
        let d = random.between(0, 4);
        let text = format!(
            "{{ (i, j, k) | i < 4, j < 5, k < 4, 0 <= {a} * i + {b} * j + {c} * k + {d} }}"
        );
        let program = program(&text);
        let checked = check_text("random.lift", &program);
        // A box is a nest of maps already.
        let is_no_box = |def: &Def| def.body.to_string().contains("point(");
        let fits = !checked.has_errors() && checked.program.defs.iter().all(is_no_box);
        if fits && !all.contains(&text) {
            all.push(text);
        }
    }
    all
}

/// A number for every point, which reads an array where the domain says that it may.
fn program(domain: &str) -> String {
    let (indices, value) = match domain.matches(',').count() {
        _ if domain.starts_with("{ (i)") => ("i", "i * i"),
        _ if domain.starts_with("{ (i, j)") => ("(i, j)", "i * 5 - j"),
        _ => ("(i, j, k)", "i * 25 - j * 5 + k"),
    };
    format!(
        "def p(x: i32) -> [i32; count({domain})] = flat([ x + {value} | {indices} in {domain} ]);"
    )
}

fn value(def: &Def) -> Value {
    run(def, &[Value::Scalar(ScalarValue::I32(3))], &Sizes::new()).unwrap()
}

#[test]
fn every_mapping_means_the_same_on_every_domain() {
    for domain in domains() {
        let text = program(&domain);
        let old = def(&text);
        for name in [
            "domain_by_rank",
            "domain_in_box",
            "domain_by_rows",
            "domain_folded",
            "domain_in_tiles",
            "domain_in_two",
            "domain_cut",
            "domain_put",
        ] {
            // One index has no rows to fold.
            if name == "domain_folded" && domain.starts_with("{ (i) ") {
                continue;
            }
            let arguments = match name {
                "domain_cut" | "domain_put" => Arguments::none().size("m", 3),
                _ => Arguments::none(),
            };
            let new = rewritten(name, &text, "root", arguments).unwrap();
            assert_eq!(value(&new), value(&old), "{name} on {domain}");
            let again = def(&new.to_string());
            assert!(again.alpha_eq(&new), "{name} on {domain}: {new}");
        }
    }
}

/// Where a part has no point, and where the border is a size.
#[test]
fn a_domain_is_cut_at_any_border() {
    let text = program("{ (i, j) | j <= i, i < 7 }");
    for name in ["domain_cut", "domain_put"] {
        for border in [0, 1, 6, 7, 20] {
            let new = rewritten(name, &text, "root", Arguments::none().size("m", border)).unwrap();
            assert_eq!(value(&new), value(&def(&text)), "{name} at {border}");
        }
    }
    let text =
        "def p[N, M](xs: [i32; N], ys: [i32; M]) -> [i32; count({ (i, j) | j <= i, i < N })] =
                  flat([ xs[i] * 10 + xs[j] | (i, j) in { (i, j) | j <= i, i < N } ]);";
    let (old, at) = (def(text), Nat::var(&Var::named("M")));
    for name in ["domain_cut", "domain_put"] {
        let new = rewritten(name, text, "root", Arguments::none().size("m", at.clone())).unwrap();
        for (n, m) in [(1, 1), (5, 2), (5, 5), (6, 9)] {
            let line = |n: i32| Value::from((0..n).map(|i| i * 3 % 7).collect::<Vec<i32>>());
            let args = [line(n), line(m)];
            let [old, new] = [&old, &new].map(|def| run(def, &args, &Sizes::new()).unwrap());
            assert_eq!(new, old, "{name} of {n} at {m}");
        }
        assert!(def(&new.to_string()).alpha_eq(&new), "{name}: {new}");
    }
}

#[test]
fn a_map_of_an_iteration_is_one_iteration() {
    for domain in domains() {
        let text = program(&domain);
        let iteration = text.split_once(" = flat(").unwrap().1.trim_end_matches(");");
        let text = format!(
            "def p(x: i32) -> [i32; count({domain})] = {iteration} |> flat |> map(\\v -> v * v - x);"
        );
        let new = rewritten("domain_map_fusion", &text, "root", Arguments::none()).unwrap();
        assert_eq!(value(&new), value(&def(&text)), "{domain}");
        assert!(!new.body.to_string().contains("map("), "{new}");
        // What comes of it is an iteration again.
        rewritten("domain_by_rank", &new.to_string(), "root", Arguments::none()).unwrap();
    }
}

/// Boxes of one to four dimensions, of random extents.
#[test]
fn an_iteration_over_a_box_is_a_nest() {
    let mut random = Random::new(20261118);
    for dimensions in [1usize, 2, 3, 4, 2, 3] {
        let names = &["i", "j", "k", "l"][..dimensions];
        let extents: Vec<i64> = names.iter().map(|_| random.between(1, 5)).collect();
        let bounds: Vec<String> =
            names.iter().zip(&extents).map(|(name, n)| format!("{name} < {n}")).collect();
        let domain = format!("{{ ({}) | {} }}", names.join(", "), bounds.join(", "));
        let sum = match dimensions {
            1 => "p * 3".to_string(),
            _ => (0..dimensions)
                .map(|k| format!("p.{k} * {}", 3 + 2 * k))
                .collect::<Vec<_>>()
                .join(" - "),
        };
        let count: i64 = extents.iter().product();
        let text = format!(
            "def p(x: i32) -> [i32; {count}] = generate({count}, \\r -> let p = point({domain}, r); x + {sum});"
        );
        let new = rewritten("domain_is_box", &text, "root", Arguments::none()).unwrap();
        assert_eq!(value(&new), value(&def(&text)), "{domain}");
        assert!(!new.body.to_string().contains("point("), "{new}");
        assert!(def(&new.to_string()).alpha_eq(&new), "{new}");
    }
}

/// What the size of a part depends on is chosen, which is not said to fit nowhere.
#[test]
fn where_a_domain_is_cut_has_to_be_chosen() {
    let text = program("{ (i, j) | j <= i, i < 7 }");
    for name in ["domain_cut", "domain_put"] {
        assert_eq!(all_places(name, &text), ["root"], "{name}");
        let refusal = refusal(name, &text, Arguments::none().fresh("m", Var::named("m")));
        assert_eq!(refusal, "`m` must be chosen", "{name}");
    }
}

/// A least index that is no constant, but known to be small, is one of 32 bits.
#[test]
fn rules_apply_where_the_least_index_is_no_constant() {
    let text = "def p[N](xs: [i32; N]) -> [i32 in { (i, j, k) | i < N, j < N, k < N, i + j >= k }] =
                  [ xs[i] * 100 + xs[j] * 10 + xs[k] | (i, j, k) in { (i, j, k) | i < N, j < N, k < N, i + j >= k } ];";
    let old = def(text);
    let xs = Value::from(vec![3, 1, 2]);
    for name in ["domain_by_rank", "domain_in_box"] {
        let new = rewritten(name, text, "root", Arguments::none()).unwrap();
        let [old, new] =
            [&old, &new].map(|def| run(def, std::slice::from_ref(&xs), &Sizes::new()).unwrap());
        assert_eq!(new, old, "{name}");
    }
}

/// Of sizes for which there is no point, the box around the points is shorter than nothing.
#[test]
fn mappings_of_no_points_need_no_larger_sizes() {
    let text = "def p[N](xs: [i32; N]) -> [i32 in { (i, j, k) | i < j, j < k, k < N }] =
                  [ xs[i] * 100 + xs[j] * 10 + xs[k] | (i, j, k) in { (i, j, k) | i < j, j < k, k < N } ];";
    let old = def(text);
    for name in
        ["domain_by_rank", "domain_in_box", "domain_by_rows", "domain_folded", "domain_in_tiles"]
    {
        let new = rewritten(name, text, "root", Arguments::none()).unwrap();
        for xs in [vec![7], vec![7, 1], vec![7, 1, 2, 5]] {
            let xs = [Value::from(xs)];
            let [old, new] = [&old, &new].map(|def| run(def, &xs, &Sizes::new()).unwrap());
            assert_eq!(new, old, "{name}");
        }
    }
}

/// The size of a domain that is an outer index less one is below 0 at the first.
#[test]
fn a_negative_size_ends_the_run() {
    for domain in ["line[i - 1]", "line[i * i - 1]", "line[i / 2 - 1]"] {
        let text = format!(
            "def p[N](xs: [i32; N]) -> [i32; N] = [ reduce(0, (+), [ xs[k / 9] | k in {domain} ]) | i in line[N] ];"
        );
        let result = run(&def(&text), &[Value::from(vec![1, 2])], &Sizes::new());
        assert!(result.is_err(), "{domain}: {result:?}");
        let guarded = text.replace("[ reduce(", "[ if i < 4 then 5 else reduce(");
        let result = run(&def(&guarded), &[Value::from(vec![1, 2])], &Sizes::new()).unwrap();
        assert_eq!(result, Value::from(vec![5, 5]), "{domain}");
    }
}
