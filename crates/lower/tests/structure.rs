//! What kernels look like: how many there are, what they store where, where their barriers stand.

#![allow(clippy::unwrap_used)]

use std::path::Path;

use lift_kernel::{Access, Expr, Kernel, LoopKind, Stmt};
use lift_lower::{Options, Plan, Role, Target, lower};

fn plan_of(program: &str) -> Plan {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs");
    let checked = lift_syntax::check_file(&root.join(program)).unwrap();
    assert!(!checked.has_errors(), "{}", checked.render(false));
    // Loops over work-items are seen as loops where they are none of threads.
    let options = Options { target: Target::Loops, ..Options::default() };
    lower(checked.program.entry().unwrap(), &options).unwrap()
}

fn plan_of_text(text: &str) -> Plan {
    let checked = lift_syntax::check_text("test.lift", text);
    assert!(!checked.has_errors(), "{}", checked.render(false));
    // Loops over work-items are seen as loops where they are none of threads.
    let options = Options { target: Target::Loops, ..Options::default() };
    lower(checked.program.entry().unwrap(), &options).unwrap()
}

/// Calls `visit` on every statement, outer ones first.
fn each(block: &[Stmt], visit: &mut dyn FnMut(&Stmt)) {
    for stmt in block {
        visit(stmt);
        match stmt {
            Stmt::Loop(l) => each(&l.body, visit),
            Stmt::If { then, otherwise, .. } => {
                each(then, visit);
                each(otherwise, visit);
            }
            _ => {}
        }
    }
}

fn barriers(kernel: &Kernel) -> usize {
    let mut count = 0;
    each(&kernel.body, &mut |s| count += usize::from(matches!(s, Stmt::Barrier(_))));
    count
}

fn loops(kernel: &Kernel) -> Vec<LoopKind> {
    let mut kinds = Vec::new();
    each(&kernel.body, &mut |s| {
        if let Stmt::Loop(l) = s {
            kinds.push(l.kind);
        }
    });
    kinds
}

/// Stores of vectors, and whether what they store is loaded as a vector.
fn vector_copies(kernel: &Kernel) -> usize {
    let mut count = 0;
    each(&kernel.body, &mut |s| {
        if let Stmt::Store { access: Access { width: 4, aligned: true, .. }, value } = s
            && matches!(value, Expr::Load(Access { width: 4, aligned: true, .. }, _))
        {
            count += 1;
        }
    });
    count
}

fn lengths(buffers: &[lift_kernel::Buffer]) -> Vec<String> {
    buffers.iter().map(|b| b.length.to_string()).collect()
}

/// Figure 5.2 of the thesis: two tiles of 512 in local memory, 32 accumulators and a block of each
/// operand in registers, tiles copied four elements at a time, one barrier before and one after the
/// block product.
#[test]
fn tiled_multiplication() {
    let plan = plan_of("thesis/mm_local.lift");
    let [kernel] = plan.kernels.as_slice() else { panic!("one kernel") };
    assert_eq!(lengths(&kernel.locals), ["512", "512"]);
    assert_eq!(lengths(&kernel.privates), ["32", "8", "4"]);
    assert_eq!(barriers(kernel), 2);
    assert_eq!(vector_copies(kernel), 2);
    assert!(
        plan.buffers.iter().all(|b| b.role != Role::Temporary),
        "nothing else in global memory"
    );
}

/// Listing 2.4: one barrier after the first step and one after each iteration, which reads one stage of a
/// buffer and writes the other.
#[test]
fn partial_dot() {
    let plan = plan_of("thesis/partial_dot.lift");
    let [kernel] = plan.kernels.as_slice() else { panic!("one kernel") };
    assert_eq!(barriers(kernel), 2);
    let [tmp] = kernel.locals.as_slice() else { panic!("one buffer") };
    assert_eq!((tmp.length.to_string().as_str(), tmp.stages), ("64", 2));
}

/// A tile with its border in local memory, filled, one barrier, results straight to the output.
#[test]
fn tiled_stencil() {
    let plan = plan_of("stencil/jacobi2d_5_tiled.lift");
    let [kernel] = plan.kernels.as_slice() else { panic!("one kernel") };
    assert_eq!(lengths(&kernel.locals), ["324"]);
    assert_eq!(barriers(kernel), 1);
}

/// The default lowering: a grid as deep as the nest, everything else fused into it.
#[test]
fn default_multiplication() {
    let plan = plan_of("mm.lift");
    let [kernel] = plan.kernels.as_slice() else { panic!("one kernel") };
    assert_eq!(loops(kernel), [LoopKind::Global(1), LoopKind::Global(0), LoopKind::Seq]);
    assert!(kernel.privates.is_empty() && kernel.locals.is_empty());
}

/// A reduction of any length runs in parallel, and what it reduces is never stored.
#[test]
fn default_reduction() {
    let plan = plan_of("reduce/dot.lift");
    assert_eq!(plan.kernels.len(), 3);
    let first = plan.kernels.first().unwrap();
    assert_eq!(loops(first), [LoopKind::Global(0), LoopKind::Seq]);
    let temporary = plan.buffers.iter().filter(|b| b.role == Role::Temporary).count();
    assert_eq!(temporary, 2, "the partial results of the two parallel steps");
}

/// What is read more than once through windows is computed once, by a kernel of its own.
#[test]
fn windows_of_computed_arrays_are_stored() {
    let text = "def f[N](x: [f32; N]) -> [f32; N] =
        x |> map(\\v -> v * v) |> pad(1, 1, clamp) |> slide(3, 1) |> map(reduce(0.0, (+)));";
    assert_eq!(plan_of_text(text).kernels.len(), 2);
}

/// Work-items that touch only their own elements need no barrier.
#[test]
fn own_elements_need_no_barrier() {
    let text = "def f[N](x: [f32; N]) -> [f32; N] where N % 64 == 0 =
        x |> split(64) |> mapWrg(0)(\\c -> c |> mapLcl(0)(toLocal(\\v -> v * v))
          |> mapLcl(0)(toGlobal(\\v -> v + 1.0))) |> join;";
    assert_eq!(barriers(plan_of_text(text).kernels.first().unwrap()), 0);
    let reversed = "def f[N](x: [f32; N]) -> [f32; N] where N % 64 == 0 =
        x |> split(64) |> mapWrg(0)(\\c -> c |> mapLcl(0)(toLocal(\\v -> v * v))
          |> gather(reverse) |> mapLcl(0)(toGlobal(\\v -> v + 1.0))) |> join;";
    assert_eq!(barriers(plan_of_text(reversed).kernels.first().unwrap()), 1);
}

/// Indices are as a person would write them.
#[test]
fn indices_are_simple() {
    let plan = plan_of("thesis/transpose_gather.lift");
    let mut indices = Vec::new();
    each(&plan.kernels.first().unwrap().body, &mut |s| {
        if let Stmt::Store { access, value: Expr::Load(from, _) } = s {
            indices.push((access.index.to_string(), from.index.to_string()));
        }
    });
    assert_eq!(indices.len(), 1);
    assert!(
        indices.iter().all(|(to, from)| !format!("{to}{from}").contains(['/', '%'])),
        "{indices:?}"
    );
}

#[test]
fn indices_are_wide_unless_sizes_say_otherwise() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/extra/scal.lift");
    let checked = lift_syntax::check_file(&root).unwrap();
    let def = checked.program.entry().unwrap();
    assert!(lower(def, &Options::default()).unwrap().kernels.iter().all(|k| k.wide_indices));
    let mut options = Options::default();
    options.sizes.insert("N".to_string(), 1 << 20);
    assert!(lower(def, &options).unwrap().kernels.iter().all(|k| !k.wide_indices));
    options.sizes.insert("N".to_string(), 1 << 32);
    assert!(lower(def, &options).unwrap().kernels.iter().all(|k| k.wide_indices));
}

#[test]
fn sizes_that_break_a_clause_are_refused() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/thesis/partial_dot.lift");
    let checked = lift_syntax::check_file(&root).unwrap();
    let mut options = Options::default();
    options.sizes.insert("N".to_string(), 100);
    let error = lower(checked.program.entry().unwrap(), &options).unwrap_err();
    assert!(error.message.contains("does not hold"), "{error}");
}
