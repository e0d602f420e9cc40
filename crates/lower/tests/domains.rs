//! Accesses at indices of which something is known: by the domain, by conditions, by arithmetic.

#![allow(clippy::unwrap_used)]

use std::path::Path;

use lift_kernel::{Expr, Stmt};
use lift_lower::{Fault, Options, Plan, Target, lower};

const TARGETS: [Target; 2] = [Target::Loops, Target::Threads];

fn plans(program: &Path, entry: &str) -> Vec<Plan> {
    let checked = lift_syntax::check_file(program).unwrap();
    assert!(!checked.has_errors(), "{}", checked.render(false));
    let def = checked.program.def(entry).unwrap();
    let plan = |target| lower(def, &Options { target, ..Options::default() });
    TARGETS.map(|target| plan(target).unwrap_or_else(|e| panic!("{entry}: {e:?}"))).into()
}

fn of_collection(file: &str, entry: &str) -> Vec<Plan> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/domain");
    plans(&root.join(file), entry)
}

fn of_text(text: &str) -> Vec<Plan> {
    let checked = lift_syntax::check_text("test.lift", text);
    assert!(!checked.has_errors(), "{}", checked.render(false));
    let def = checked.program.entry().unwrap();
    let plan = |target| lower(def, &Options { target, ..Options::default() }).unwrap();
    TARGETS.map(plan).into()
}

#[track_caller]
fn checks(text: &str, count: usize) {
    for plan in of_text(text) {
        assert_eq!(plan.checks.len(), count, "{:?}", plan.checks);
    }
}

/// How many loads there are in the text of a plan's kernels.
fn loads(plan: &Plan) -> usize {
    fn in_block(block: &[Stmt], count: &mut usize) {
        for stmt in block {
            for value in stmt.values() {
                value.each(&mut |e| *count += usize::from(matches!(e, Expr::Load(..))));
            }
            match stmt {
                Stmt::Loop(l) => in_block(&l.body, count),
                Stmt::If { then, otherwise, .. } => {
                    in_block(then, count);
                    in_block(otherwise, count);
                }
                _ => {}
            }
        }
    }
    let mut count = 0;
    plan.kernels.iter().for_each(|k| in_block(&k.body, &mut count));
    count
}

#[test]
fn the_second_access_is_the_first() {
    let plans = of_collection("fig71.lift", "fig71");
    assert!(plans.iter().all(|p| p.checks.is_empty()));
    let threads = plans.last().unwrap();
    assert_eq!(loads(threads), 2);
}

#[test]
fn points_of_a_domain_are_inside_what_holds_it() {
    for (file, entry) in [
        ("triangles.lift", "skew"),
        ("triangles.lift", "syrk"),
        ("triangles.lift", "parts"),
        ("triangles.lift", "symv"),
        ("pairs.lift", "energy"),
        ("pairs.lift", "tetra_sum"),
        ("pairs.lift", "triples"),
    ] {
        for plan in of_collection(file, entry) {
            assert!(plan.checks.is_empty(), "{entry}: {:?}", plan.checks);
        }
    }
}

#[test]
fn conditions_prove_the_accesses_they_guard() {
    let with = |body: &str| {
        format!("def f[N](a: [f32; N], n: i32) -> [f32; N] = generate(N, \\i -> {body});")
    };
    checks(&with("if i + 1 < N then a[i + 1] else 0.0"), 0);
    checks(&with("if i == 0 then 0.0 else a[i - 1]"), 0);
    checks(&with("if i >= 1 && i < N - 1 then a[i - 1] + a[i + 1] else 0.0"), 0);
    checks(&with("if i == 0 || i == N - 1 then 0.0 else a[i - 1] + a[i + 1]"), 0);
    checks(&with("a[(i + 1) % N]"), 0);
    checks(&with("a[i / 2]"), 0);
    checks(&with("if i in line[N - 1] then a[i + 1] else 0.0"), 0);
    // These guard nothing, or something else.
    checks(&with("a[i + 1]"), 1);
    checks(&with("if i + 1 < N then 0.0 else a[i + 1]"), 1);
    checks(&with("if i + 1 < N then a[i + 2] else 0.0"), 1);
    checks(&with("if n < N then a[n] else 0.0"), 1);
}

/// What wraps in 32 bits is no fact about numbers without end.
#[test]
fn what_may_wrap_proves_nothing() {
    let text = "def f[N](a: [f32; N]) -> [f32; N] =
        generate(N, \\i -> if i * 1103515245 + 12345 < N then a[i * 1103515245 + 12345] else 0.0);";
    checks(text, 1);
    let text = "def f[N](a: [f32; N]) -> [f32; N] =
        generate(N, \\i -> a[(i * 1103515245 + 12345) % N]);";
    checks(text, 1);
}

#[test]
fn ranges_from_data_are_checked() {
    for plan in of_collection("rows.lift", "spmv") {
        // The bounds may decrease, the range may leave the entries, and a column may be none, wherever rows are folded.
        let of = |wanted: &dyn Fn(&Fault) -> bool| {
            plan.checks.iter().filter(|check| wanted(&check.fault)).count()
        };
        let ranges = of(&|fault| matches!(fault, Fault::Range));
        let lengths = |name: &str| {
            of(&|f| matches!(f, Fault::Index { length } if length.to_string() == name))
        };
        let folds = if plan.kernels.len() == 3 { 4 } else { 1 };
        assert_eq!((ranges, lengths("C")), (folds, folds), "{:?}", plan.checks);
        assert!(lengths("E") >= folds, "{:?}", plan.checks);
    }
    for plan in of_collection("recurrences.lift", "trsv") {
        assert!(plan.checks.is_empty(), "{:?}", plan.checks);
    }
}

/// A processor's threads have equal shares of a triangle, however many they are, and find no point inside of a row.
#[test]
fn processors_go_through_rows_in_equal_shares() {
    fn innermost(block: &[Stmt]) -> Option<&[Stmt]> {
        let mut found = None;
        for stmt in block {
            if let Stmt::Loop(l) = stmt {
                found = Some(innermost(&l.body).unwrap_or(&l.body));
            }
        }
        found
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/domain");
    let checked = lift_syntax::check_file(&root.join("triangles.lift")).unwrap();
    let def = checked.program.def("skew").unwrap();
    let sizes = [("N".to_string(), 2896)].into_iter().collect();
    let options = Options { target: Target::Loops, sizes, ..Options::default() };
    let plan = lower(def, &options).unwrap();
    assert!(plan.checks.is_empty(), "{:?}", plan.checks);
    let [kernel] = plan.kernels.as_slice() else { panic!("{} kernels", plan.kernels.len()) };
    let shares = kernel.body.iter().find_map(|stmt| match stmt {
        Stmt::Loop(l) => l.extent.as_int(),
        _ => None,
    });
    let (shares, points) = (shares.unwrap(), 2896 * 2895 / 2);
    let length = (points + shares - 1) / shares;
    for threads in 1..=32 {
        let most = (shares + threads - 1) / threads * length;
        assert!(most * threads * 10 <= points * 11, "{threads} threads have {most} at most");
    }
    let row = innermost(&kernel.body).unwrap();
    assert!(matches!(row, [Stmt::Store { .. }]), "{row:?}");
}
