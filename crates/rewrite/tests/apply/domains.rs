//! The mappings of iterations over domains, on domains of all kinds: what is made means the same and prints as what parses again.

use lift_interp::{ScalarValue, Sizes, Value, run};
use lift_ir::Def;
use lift_random::Random;
use lift_rewrite::Arguments;
use lift_syntax::check_text;

use crate::{def, rewritten};

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
        ] {
            // One index has no rows to fold.
            if name == "domain_folded" && domain.starts_with("{ (i) ") {
                continue;
            }
            let new = rewritten(name, &text, "root", Arguments::none()).unwrap();
            assert_eq!(value(&new), value(&old), "{name} on {domain}");
            let again = def(&new.to_string());
            assert!(again.alpha_eq(&new), "{name} on {domain}: {new}");
        }
    }
}
