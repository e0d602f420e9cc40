//! The mappings of iterations over domains are kernels that store each element at the number of its point: nothing lies in
//! memory in between.

#![allow(clippy::unwrap_used)]

use lift::{Compiled, Options, Sizes, Value};
use lift_execute::explain_domains;
use lift_ir::Def;
use lift_lower::{Role, lower};
use lift_random::Random;
use lift_rewrite::{Arguments, apply_in, find};

/// Each with what is said of it.
const RULES: [(&str, &[&str]); 4] = [
    ("domain_by_rank", &["finds it by its number"]),
    ("domain_in_box", &["of the box around it"]),
    // Rows that begin at 0 are those of the box.
    ("domain_by_rows", &["of its rows", "of the box around it"]),
    ("domain_folded", &["of two rows"]),
];

/// Triangles, tetrahedra and three random domains, and what is computed at a point.
fn domains() -> Vec<(String, &'static str)> {
    let mut all = vec![
        ("(i, j) | j <= i, i < 45".to_string(), "i * 50 - j"),
        ("(i, j) | j <= i, i < 46".to_string(), "i * 50 - j"),
        ("(i, j) | i < j, j < 45".to_string(), "i * 50 - j"),
        ("(i, j, k) | i <= j <= k, k < 13".to_string(), "i * 400 - j * 20 + k"),
        ("(i, j, k) | k <= j, j <= i, i < 12".to_string(), "i * 400 - j * 20 + k"),
    ];
    let mut random = Random::new(20261118);
    while all.len() < 8 {
        let [a, b, c] = [0; 3].map(|_| random.between(-2, 2));
        let d = random.between(3, 9);
        let domain =
            format!("(i, j, k) | i < 9, j < 10, k < 11, 0 <= {a} * i + {b} * j + {c} * k + {d}");
        let value = "i * 400 - j * 20 + k";
        // Rows differ in length, and it is no box.
        if c != 0
            && (a != 0 || b != 0)
            && def(&domain, value).body.to_string().contains("point(")
            && !all.iter().any(|(other, _)| *other == domain)
        {
            all.push((domain, value));
        }
    }
    all
}

fn def(domain: &str, value: &str) -> Def {
    let (indices, _) = domain.split_once(" |").unwrap();
    let text = format!(
        "def p(x: i32) -> [i32; count({{ {domain} }})] = flat([ x + {value} | {indices} in {{ {domain} }} ]);"
    );
    lift::parse("mapped.lift", &text).unwrap().entry().unwrap().clone()
}

#[test]
fn every_mapping_is_one_kernel_without_memory() {
    let args = [Value::from(3i32)];
    for (domain, value) in domains() {
        let old = def(&domain, value);
        let wanted = lift_interp::run(&old, &args, &Sizes::new()).unwrap();
        for (rule, how) in RULES {
            let here = "root".parse().unwrap();
            let new = apply_in(find(rule).unwrap(), &old, &here, &Arguments::none()).unwrap();
            let threads = Options::default();
            let plan = lower(&new, &threads).unwrap();
            let stored = plan.buffers.iter().filter(|b| b.role == Role::Temporary).count();
            assert_eq!((plan.kernels.len(), stored), (1, 0), "{rule} on {domain}");
            let told = explain_domains(&new, &threads).unwrap();
            let is_said = |line: &String| how.iter().any(|how| line.contains(how));
            assert!(told.iter().any(is_said), "{rule} on {domain}: {told:?}");
            for name in ["cpu", "opencl:pocl"] {
                let mut device = lift::open(name).unwrap();
                let mut compiled = Compiled::new(&new, &threads, &mut *device).unwrap();
                let found = compiled.run(&mut *device, &args, &Sizes::new()).unwrap();
                assert_eq!(found.result, wanted, "{rule} on {domain}, {name}");
            }
        }
    }
}

/// What a domain says of its points is known wherever they are laid out.
#[test]
fn no_mapping_of_a_triangle_checks_what_it_reads() {
    let text = "domain upper[n] = { (a, b) | a < b, b < n };
        def skew[N](a: [[f32; N]; N]) -> [f32 in upper[N]] =
          [ 0.5 * (a[i, j] - a[j, i]) | (i, j) in upper[N] ];";
    let old = lift::parse("skew.lift", text).unwrap().entry().unwrap().clone();
    for (rule, _) in RULES {
        let here = "root".parse().unwrap();
        let new = apply_in(find(rule).unwrap(), &old, &here, &Arguments::none()).unwrap();
        for n in [45, 46] {
            let sizes = [("N".to_string(), n)].into_iter().collect();
            let plan = lower(&new, &Options { sizes, ..Options::default() }).unwrap();
            assert!(plan.checks.is_empty(), "{rule} at {n}: {:?}", plan.checks);
        }
    }
}
