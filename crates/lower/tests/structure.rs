//! What kernels look like: how many there are, what they store where, where their barriers stand.

#![allow(clippy::unwrap_used)]

use std::path::Path;

use lift_ir::Nat;
use lift_kernel::{Access, Expr, Kernel, LoopKind, Stmt, same_up_to_names};
use lift_lower::{LowerError, Options, Plan, Role, Target, lower};

fn plan_of(program: &str) -> Plan {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs");
    let checked = lift_syntax::check_file(&root.join(program)).unwrap();
    assert!(!checked.has_errors(), "{}", checked.render(false));
    // Loops over work-items are seen as loops where they are none of threads.
    let options = Options { target: Target::Loops, ..Options::default() };
    lower(checked.program.entry().unwrap(), &options).unwrap()
}

fn plan_of_text(text: &str) -> Plan {
    // Loops over work-items are seen as loops where they are none of threads.
    plan_with(text, &Options { target: Target::Loops, ..Options::default() }).unwrap()
}

fn plan_with(text: &str, options: &Options) -> Result<Plan, LowerError> {
    let checked = lift_syntax::check_text("test.lift", text);
    assert!(!checked.has_errors(), "{}", checked.render(false));
    lower(checked.program.entry().unwrap(), options)
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

/// Vectors that are copied to local memory.
fn vector_copies(kernel: &Kernel) -> usize {
    let mut count = 0;
    each(&kernel.body, &mut |s| {
        if let Stmt::Store { access: Access { width: 4, aligned: true, buffer, .. }, value } = s
            && kernel.locals.iter().any(|b| b.id == *buffer)
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

/// Figure 5.2 of the thesis: two tiles of 1024 in local memory, 64 accumulators and a block of each
/// operand in registers, tiles copied four elements at a time, one barrier before and one after the
/// block product.
#[test]
fn tiled_multiplication() {
    let plan = plan_of("thesis/mm_local.lift");
    let [kernel] = plan.kernels.as_slice() else { panic!("one kernel") };
    assert_eq!(lengths(&kernel.locals), ["1024", "1024"]);
    assert_eq!(lengths(&kernel.privates), ["64", "8", "8"]);
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
    assert_eq!(loops(kernel)[..2], [LoopKind::Global(1), LoopKind::Global(0)]);
    assert_eq!(kernel.schedule.tile, Some([8, 32]), "in tiles of rows and columns");
    assert!(kernel.privates.is_empty() && kernel.locals.is_empty());
}

/// A reduction of any length runs in parallel, and what it reduces is never stored.
#[test]
fn default_reduction() {
    let plan = plan_of("reduce/dot.lift");
    assert_eq!(plan.kernels.len(), 3);
    let first = plan.kernels.first().unwrap();
    let (grid, folds) = loops(first).split_first().map(|(l, rest)| (*l, rest.to_vec())).unwrap();
    assert_eq!(grid, LoopKind::Global(0));
    assert!(!folds.is_empty() && folds.iter().all(|l| *l == LoopKind::Seq), "{folds:?}");
    let temporary = plan.buffers.iter().filter(|b| b.role == Role::Temporary).count();
    assert_eq!(temporary, 2, "the partial results of the two parallel steps");
}

/// What is dear and read more than once through windows is computed once, by a kernel of its own.
#[test]
fn windows_of_dear_arrays_are_stored() {
    let kernels = |element: &str| {
        let text = format!(
            "def f[N](x: [f32; N]) -> [f32; N] =
               x |> map(\\v -> {element}) |> pad(1, 1, clamp) |> slide(3, 1) |> map(reduce(0.0, (+)));"
        );
        plan_of_text(&text).kernels.len()
    };
    assert_eq!(kernels("exp(v)"), 2);
    assert_eq!(kernels("v * v"), 1);
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

/// Where the launch has several groups in a dimension that no `mapWrg` uses, the first does all.
#[test]
fn groups_of_an_unused_dimension_do_nothing() {
    let text = "def f[N, M](xss: [[[i32; N]; M]; 3]) -> [[[i32; N]; M]; 3] =
        xss |> mapWrg(0)(mapLcl(1)(mapLcl(0)(toGlobal(\\x -> 3 * x + 1))));";
    let of = |global: &[u64]| {
        let (local, global) = (Some(vec![8, 4]), Some(global.to_vec()));
        let target = Target::Loops;
        let plan = plan_with(text, &Options { target, local, global, ..Options::default() });
        let kernel = plan.unwrap().kernels.remove(0);
        let outermost = kernel.body.iter().find_map(|s| match s {
            Stmt::Loop(l) => Some((l.kind, l.extent.to_string())),
            _ => None,
        });
        (loops(&kernel), outermost.unwrap())
    };
    let own = [LoopKind::Group(0), LoopKind::Local(1), LoopKind::Local(0)];
    let (several, outermost) = of(&[16, 8]);
    assert_eq!(several, [&[LoopKind::Group(1)][..], &own].concat());
    assert_eq!(outermost, (LoopKind::Group(1), "1".to_string()));
    let (one, _) = of(&[16, 4]);
    assert_eq!(one, own);
}

/// What a thread holds has a size that is a number; loops allocate what they hold.
#[test]
fn private_arrays_of_open_size_are_refused() {
    let text = "def f[N, M](xss: [[[i32; N]; 4]; M]) -> [[i32; N]; M] =
        xss |> mapWrg(0)(\\rows -> rows
          |> reduceSeq(repeat(N, 0) |> mapLcl(0)(toPrivate(id)), \\acc row ->
            zip(acc, row) |> mapLcl(0)(\\(a, x) -> 2 * a + x))
          |> mapLcl(0)(toGlobal(id)));";
    let error = plan_with(text, &Options::default()).unwrap_err();
    assert!(error.message.contains("private memory, whose size must be known"), "{error}");
    assert!(error.span.is_some());
    assert_eq!(plan_of_text(text).kernels.len(), 1);
    let mut sized = Options::default();
    sized.sizes.insert("N".to_string(), 300);
    assert!(plan_with(text, &sized).is_ok());
}

/// A map is not cut where a work-item's own state would have to outlive its iteration.
#[test]
fn an_exchange_around_a_work_items_own_state_is_refused() {
    let over = |state: &str| {
        let text = format!(
            "def f[M](x: [[f32; 64]; M]) -> [[f32; 8]; M] launch local(8, 8) global(8 * M, 8) =
            x |> mapWrg(0)(\\row -> row |> split(8) |> mapLcl(1)(\\c -> {state}));"
        );
        plan_with(&text, &Options::default())
    };
    let tile = "let t = p |> mapLcl(0)(toLocal(\\e -> e + 1.0));";
    let carried = format!("c |> split(2) |> reduceSeq(1.0, \\a p -> {tile} a * t[1] + t[0])");
    let error = over(&carried).unwrap_err();
    assert!(error.message.contains("would have to wait for each other"), "{error}");
    let fresh = format!("let p = c; {tile} t[1] + t[0]");
    assert!(over(&fresh).is_ok());
}

/// A body of a group over chunks of 64.
fn over_chunks(body: &str) -> Result<Plan, LowerError> {
    let text = format!(
        "def f[N](x: [f32; N]) -> [f32; N] where N % 64 == 0 =
           x |> split(64) |> mapWrg(0)(\\c -> {body}) |> join;"
    );
    plan_with(&text, &Options::default())
}

/// Every work-item keeps its own share of a private array.
#[test]
fn shares_are_read_by_those_who_made_them() {
    let made = "c |> mapLcl(0)(toPrivate(\\v -> v * v))";
    let refused = |rest: &str, maker: &str| {
        let error = over_chunks(&format!("{made} |> {rest}")).unwrap_err();
        assert!(
            error.message.starts_with(&format!("a private array made under {maker}")),
            "{error}"
        );
        assert!(error.span.is_some());
    };
    assert!(over_chunks(&format!("{made} |> mapLcl(0)(toGlobal(id))")).is_ok());
    refused("gather(reverse) |> mapLcl(0)(toGlobal(id))", "`mapLcl(0)` of 64");
    refused("split(2) |> mapLcl(0)(mapSeq(toGlobal(id))) |> join", "`mapLcl(0)` of 64");
    refused("mapLcl(1)(toGlobal(id))", "`mapLcl(0)` of 64");
    refused("mapSeq(toGlobal(id))", "`mapLcl(0)` of 64");
}

/// What a whole grid writes is not private to one who reads it.
#[test]
fn private_arrays_of_a_grid_are_refused_outside_of_it() {
    let text = "def f(a: f32) -> [i32; 3] =
        [a, a] |> reduceSeqUnroll(
          a |> toPrivate(\\x -> generate(3, \\i -> x as i32) |> mapGlb(0)(\\y -> y)), \\p x -> p);";
    let error = plan_with(text, &Options::default()).unwrap_err();
    assert!(error.message.contains("written under `mapGlb(0)` of 3"), "{error}");
    assert!(error.message.contains("`toGlobal`"), "{error}");
}

/// Views may lead to a `mapLcl` inside of another that the program's text does not nest.
#[test]
fn groups_do_not_work_inside_of_a_work_item() {
    let nested = "c |> map(\\v -> c |> mapLcl(0)(toLocal(\\w -> w + v)) |> reduceSeq(0.0, (+))) |> mapLcl(0)(\\v -> v)";
    let error = over_chunks(nested).unwrap_err();
    assert!(error.message.contains("read inside the `mapLcl(0)` around it"), "{error}");
}

/// What others write before a barrier and a work-item reads after it is nothing that only its own pointer leads to.
#[test]
fn pointers_to_what_others_write_meanwhile_are_not_restricted() {
    let plan = over_chunks(
        "c |> mapLcl(0)(toGlobal(\\v -> v * v)) |> gather(reverse) |> mapLcl(0)(\\v -> v + 1.0)",
    );
    let kernel = &plan.unwrap().kernels[0];
    let valid = lift_kernel::validate(kernel).unwrap();
    for text in [lift_kernel::opencl(&valid), lift_kernel::cuda(&valid)] {
        assert!(text.contains("float* tmp"), "{text}");
        assert!(text.contains("restrict") && !text.contains("restrict tmp"), "{text}");
        assert!(!text.contains("__restrict__ tmp"), "{text}");
    }
}

/// Sums that every work-item has whole are not shared out for a step and read whole again.
#[test]
fn accumulators_are_made_by_those_who_add_to_them() {
    let summed = |zero: &str, rest: &str| {
        let text = format!(
            "def f[N](xss: [[[[f32; 64]; 4]; 2]; N]) -> [[[f32; 64]; 2]; N] =
               xss |> mapWrg(0)(mapLcl(1)(\\rows -> rows
                 |> reduceSeq({zero}, \\acc row -> zip(acc, row) |> mapLcl(0)((+)))
                 |> {rest}));"
        );
        plan_with(&text, &Options::default())
    };
    let own = "repeat(64, 0.0) |> mapLcl(0)(toPrivate(id))";
    assert!(summed(own, "mapLcl(0)(toGlobal(id))").is_ok());
    assert!(summed("repeat(64, 0.0)", "mapLcl(0)(toGlobal(id))").is_ok());
    for rest in ["mapSeq(toGlobal(id))", "gather(reverse) |> mapLcl(0)(toGlobal(id))"] {
        let error = summed("repeat(64, 0.0)", rest).unwrap_err();
        let expected = "an array private to each work-item is written under `mapLcl(0)` of 64";
        assert!(error.message.starts_with(expected), "{error}");
        assert!(error.span.is_some());
    }
}

/// A new accumulator is computed beside the old one where it reads all of it, and the copy back is shared by
/// those who hold it.
#[test]
fn accumulators_are_copied_by_their_work_items() {
    let text = "def f[N](xss: [[[f32; 64]; 4]; N]) -> [[f32; 64]; N] =
        xss |> mapWrg(0)(\\rows -> rows
          |> reduceSeq(repeat(64, 0.0) |> mapLcl(0)(toPrivate(id)), \\acc row ->
            let twice = acc |> mapLcl(0)(toPrivate(\\a -> 2.0 * a));
            zip(twice, row) |> mapLcl(0)(\\(a, x) -> a + x))
          |> mapLcl(0)(toGlobal(id)));";
    let kernel = plan_with(text, &Options::default()).unwrap().kernels.remove(0);
    assert!(kernel.privates.is_empty(), "everything is in registers");
    assert_eq!(barriers(&kernel), 0);
}

/// Sums of chunks, four a work-item, with the new sums of one step made as `step` says.
fn sums_with(step: &str) -> Kernel {
    let text = format!(
        "def f[N](xs: [[[f32; 4]; 8]; N]) -> [[f32; 4]; 8] launch local(8) global(8) =
           mapWrg(0)(\\group -> group
             |> reduceSeq(repeat(8, repeat(4, 0.0)) |> mapLcl(0)(toPrivate(id)), \\acc x ->
                  zip(acc, x) |> mapLcl(0)(\\p -> {step}))
             |> mapLcl(0)(mapSeq(toGlobal(id))), split(N, xs)) |> join;"
    );
    plan_of_text(&text).kernels.pop().unwrap()
}

/// `toPrivate(\x -> x, e)` computes e where it is wanted, `toPrivate(id, e)` copies it there.
#[test]
fn what_is_given_back_is_computed_in_place() {
    let plain = sums_with("zip(p.0, p.1) |> mapSeq((+))");
    assert_eq!(lengths(&plain.privates), ["4"]);
    for step in [
        "toPrivate(\\y -> y, zip(p.0, p.1) |> mapSeq((+)))",
        "toPrivate(\\q -> zip(q.0, q.1) |> mapSeq((+)), p)",
        "let old = p.0; zip(old, p.1) |> mapSeq((+))",
        "let q = p; toPrivate(\\y -> y, zip(q.0, q.1) |> mapSeq((+)))",
    ] {
        let kernel = sums_with(step);
        assert!(same_up_to_names(&plain, &kernel), "{step}");
    }
    let copied = sums_with("toPrivate(id, zip(p.0, p.1) |> mapSeq((+)))");
    assert!(copied.privates.len() > 1);
    assert!(!same_up_to_names(&plain, &copied));
    // By its other name too, an old sum may be read for the new sum in its place only.
    let reversed = sums_with("let old = p.0; zip(p.1, gather(reverse, old)) |> mapSeq((+))");
    assert!(reversed.privates.len() > 1);
}

/// What names a memory is computed there, though it goes on to another.
#[test]
fn a_named_memory_is_gone_through() {
    let through = |first: &str| {
        let text = format!(
            "def f[N](xs: [f32; N]) -> [f32; N] where N % 256 == 0 launch local(64) global(N / 4) =
               xs |> split(256) |> mapWrg(0)(\\chunk -> chunk |> split(4) |> mapLcl(0)(\\four ->
                 let own = toPrivate(\\y -> y, four |> {first});
                 own |> mapSeq(toGlobal(id))) |> join) |> join;"
        );
        let kernel = plan_of_text(&text).kernels.pop().unwrap();
        (lengths(&kernel.locals), lengths(&kernel.privates))
    };
    let lengths = |all: &[&str]| all.iter().map(|n| n.to_string()).collect::<Vec<_>>();
    let nowhere_else = (lengths(&[]), lengths(&["4"]));
    assert_eq!(through("mapSeq(\\x -> x + 1.0)"), nowhere_else);
    assert_eq!(through("mapSeq(toPrivate(\\x -> x + 1.0))"), nowhere_else);
    let in_local = (lengths(&["256"]), lengths(&["4"]));
    assert_eq!(through("mapSeq(toLocal(\\x -> x + 1.0))"), in_local);
}

fn cuda_of(plan: &Plan) -> String {
    let kernel = plan.kernels.first().unwrap();
    lift_kernel::cuda(&lift_kernel::validate(kernel).unwrap())
}

/// The barriers of a text in order, by the name of what waits.
fn waits(text: &str) -> Vec<&str> {
    text.lines()
        .filter_map(|line| line.trim().strip_prefix("__sync")?.strip_suffix("();"))
        .collect()
}

/// The steps of one warp wait for its lanes; the group waits before and after them.
#[test]
fn lanes_wait_for_their_warp() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/reduce/llp3.lift");
    let checked = lift_syntax::check_file(&root).unwrap();
    let plan = lower(checked.program.entry().unwrap(), &Options::default()).unwrap();
    let steps = ["threads", "threads", "warp", "warp", "warp", "warp", "warp"];
    assert_eq!(waits(&cuda_of(&plan)), steps);
}

/// Sums of 64 by each of four warps: 32 pairs, then 16, and so on, by the same lanes.
fn warp_sums(launch: &str) -> Plan {
    let text = format!(
        "def f[N](x: [f32; N]) -> [f32; N / 64] where N % 256 == 0 {launch} =
           x |> split(256) |> mapWrg(0)(\\chunk ->
             chunk |> split(64) |> mapWarp(0)(\\part ->
               part |> split(2) |> mapLane(0)(toLocal(reduceSeq(0.0, (+))))
                 |> split(2) |> mapLane(0)(toLocal(reduceSeq(0.0, (+))))
                 |> split(16) |> mapLane(0)(toGlobal(reduceSeq(0.0, (+)))))
             |> join) |> join;"
    );
    plan_with(&text, &Options::default()).unwrap()
}

/// Fewer lanes than a warp has are the first of the warp, so that warps stay apart.
#[test]
fn warps_of_fewer_lanes_stay_apart() {
    let text = cuda_of(&warp_sums("launch local(128) global(N / 2)"));
    assert_eq!(waits(&text), ["warp", "warp"]);
    assert!(text.contains("% 32 < 16"), "{text}");
    assert!(text.contains("% 32 < 1") || text.contains("% 32 == 0"), "{text}");
}

/// Groups that are not made of whole warps wait as groups.
#[test]
fn parts_of_warps_wait_for_the_group() {
    let text = cuda_of(&warp_sums("launch local(48) global(3 * N / 16)"));
    assert_eq!(waits(&text), ["threads", "threads"]);
}

/// What a lane made for its warp is read by the others after a barrier, though the places look alike.
#[test]
fn one_lane_writes_for_all() {
    let text = "def f[N](x: [f32; N]) -> [f32; N] where N % 128 == 0 launch local(128) global(N) =
        x |> split(128) |> mapWrg(0)(\\chunk -> chunk |> split(32) |> mapWarp(0)(\\part ->
          let sum = part |> split(32) |> mapLane(0)(toLocal(reduceSeq(0.0, (+))));
          part |> mapLane(0)(toGlobal(\\v -> v / sum[0]))) |> join) |> join;";
    let plan = plan_with(text, &Options::default()).unwrap();
    assert_eq!(waits(&cuda_of(&plan)), ["warp"]);
}

/// A group of four warps of 32.
fn over_warps(body: &str, target: Target) -> Result<Plan, LowerError> {
    let text = format!(
        "def f[N](x: [f32; N]) -> [f32; N] where N % 128 == 0 launch local(128) global(N) =
           x |> split(128) |> mapWrg(0)(\\chunk -> chunk |> split(32) |> {body} |> join) |> join;"
    );
    plan_with(&text, &Options { target, ..Options::default() })
}

/// Lanes of different warps hold different shares of a private array.
#[test]
fn lanes_hold_their_shares() {
    let made = "mapLane(0)(toPrivate(\\v -> v * v))";
    let used = "mapLane(0)(toGlobal(\\v -> v + 1.0))";
    let kept =
        |target| over_warps(&format!("mapWarp(0)(\\part -> part |> {made} |> {used})"), target);
    let kernel = kept(Target::Loops).unwrap().kernels.remove(0);
    let items = kernel.privates.iter().map(|b| b.items.clone()).collect::<Vec<_>>();
    assert_eq!(items, [[Nat::int(128)]]);
    assert!(kept(Target::Threads).unwrap().kernels.remove(0).privates.is_empty(), "a register");
    for target in [Target::Loops, Target::Threads] {
        let turned = format!("mapWarp(0)(\\part -> part |> {made} |> gather(reverse) |> {used})");
        let error = over_warps(&turned, target).unwrap_err();
        assert!(error.message.contains("made under `mapLane(0)` is read"), "{error}");
        let later = format!("mapWarp(0)({made}) |> mapWarp(0)({used})");
        let error = over_warps(&later, target).unwrap_err();
        assert!(error.message.contains("what `mapWarp` makes"), "{error}");
    }
}

/// Kernels in a loop of the host have its counter as an argument, which is no size of the program.
#[test]
fn counters_are_told_from_sizes() {
    let plan = plan_of_text(
        "def p[N](x: [[f32; N]; 4]) -> [[f32; N]; 4] = x |> mapSeq(mapGlb(0)(\\v -> v + 1.0));",
    );
    let [kernel] = plan.kernels.as_slice() else { panic!("one kernel") };
    let sizes = kernel.args.iter().filter_map(|arg| match arg {
        lift_kernel::Arg::Size(var) => Some((var.name() == "N", plan.is_counter(var))),
        _ => None,
    });
    let sizes: Vec<(bool, bool)> = sizes.collect();
    assert_eq!(sizes, [(true, false), (false, true)]);
}
