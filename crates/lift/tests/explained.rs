//! What a plan says of programs as users write them.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use lift::{KernelPlan, Options, Target, explain, explain_domains, parse};
use lift_testing::root;

fn plan(name: &str, sizes: &[(&str, i128)]) -> Vec<KernelPlan> {
    let path = root().join(format!("programs/users/{name}.lift"));
    let program = parse(name, &std::fs::read_to_string(path).unwrap()).unwrap();
    let sizes: BTreeMap<String, i128> = sizes.iter().map(|(n, v)| (n.to_string(), *v)).collect();
    let options = Options { target: Target::Threads, sizes, ..Options::default() };
    explain(program.defs.last().unwrap(), &options).unwrap()
}

/// What goes into a loop of the host and what comes out of it is copied by a thread an element, as a step is done.
#[test]
fn copies_around_loops_have_a_thread_an_element() {
    for name in ["lu", "floyd", "life10", "heat10"] {
        let sizes: &[(&str, i128)] = match name {
            "lu" | "floyd" => &[("N", 1024)],
            _ => &[("M", 1024), ("N", 1024)],
        };
        let kernels = plan(name, sizes);
        assert!(kernels.len() >= 2, "{name}: {kernels:?}");
        for kernel in kernels {
            assert_eq!(kernel.points, Some(1024 * 1024), "{name}: {kernel:?}");
            assert!(kernel.threads() >= kernel.points, "{name}: {kernel:?}");
        }
    }
}

#[test]
fn a_product_says_what_its_tiles_share() {
    let plan = plan("linear_relu", &[("M", 4096), ("K", 1024), ("N", 4096)]);
    let [kernel] = plan.as_slice() else { panic!("{plan:?}") };
    assert_eq!(kernel.points, Some(4096 * 4096));
    assert_eq!((kernel.groups, kernel.group.as_slice()), (Some(32 * 32), [16, 16].as_slice()));
    assert!(kernel.schedule.contains(&"tile(128, 128)".to_string()), "{kernel:?}");
    assert!(kernel.why.iter().any(|why| why.contains("x_tile")), "{kernel:?}");
}

#[test]
fn what_is_stored_between_kernels_says_who_reads_it() {
    let plan = plan("mlp", &[("M", 64), ("K", 64), ("H", 64), ("N", 64)]);
    let [first, second] = plan.as_slice() else { panic!("{plan:?}") };
    let [hidden] = first.stores.as_slice() else { panic!("{first:?}") };
    assert_eq!((hidden.bytes, hidden.is_result), (Some(64 * 64 * 4), false));
    assert_eq!(hidden.read_by, std::slice::from_ref(&second.name));
    assert!(second.stores.iter().all(|stored| stored.is_result), "{second:?}");
}

#[test]
fn domains_say_how_they_are_mapped_and_arrays_that_read_themselves_their_order() {
    let text = "def half[N](a: [[f32; N]; N]) -> [f32 in { (i, j) | j <= i, i < N }] =
        rec t = [ if i == 0 || j == i then a[i, j] else 0.5 * t[i - 1, j] + a[i, j] | (i, j) in { (i, j) | j <= i, i < N } ];
        [ a[i, j] + 2.0 * a[j, i] | (i, j) in { (i, j) | j <= i, i < N } ];";
    let program = parse("half", text).unwrap();
    let sizes: BTreeMap<String, i128> = [("N".to_string(), 64)].into_iter().collect();
    let told = |target| {
        let options = Options { target, sizes: sizes.clone(), ..Options::default() };
        explain_domains(program.entry().unwrap(), &options).unwrap()
    };
    let threads = told(Target::Threads);
    let [mapped, order] = threads.as_slice() else { panic!("{threads:?}") };
    assert_eq!(
        mapped,
        "{ (i, j) | j <= i, i <= 63 }: a thread a point of the box around it; what is outside is left out"
    );
    assert_eq!(order, "t: order (1, 0), all points of equal i at once");
    let loops = told(Target::Loops);
    assert!(
        loops[0].ends_with("equal shares of the points, which they go through row by row"),
        "{loops:?}"
    );
}
