//! Every definition of the programs run so that its kernels have several groups of many work-items.

use std::path::Path;

use lift::{Compiled, Def, Options, Sizes, Value};
use lift_interp::inputs::{Fill, generate};
use lift_interp::{ScalarValue, compare, concrete_type, run as interpret};
use lift_ir::{Nat, Scalar, Type, Var};
use lift_kernel::{Kernel, LoopKind, Stmt};
use lift_lower::{Pass, Stage, lower_watched};
use lift_testing::programs;

use crate::simulator::{Launched, Simulator};

/// The least that every parallel kernel is launched with.
pub const GROUPS: u64 = 2;
pub const ITEMS: u64 = 32;

/// Units of the device that is compiled for: work of any length has groups enough for each of its steps, and no more.
const UNITS: u32 = 16;

/// Sizes and parameters that are not the usual ones, by definition.
const SIZES: &[(&str, &[(&str, i128)])] = &[
    ("acoustic3d", &[("D", 3), ("N", 4), ("M", 40)]),
    ("all_paths", &[("B", 2), ("N", 12)]),
    ("atax_local", &[("M", 4), ("N", 128), ("C", 8), ("P", 4)]),
    ("batched_mm", &[("B", 2), ("M", 3), ("K", 5), ("N", 40)]),
    ("blocked", &[("N", 160)]),
    ("cholesky", &[("N", 96)]),
    ("clauses", &[("M", 2), ("N", 40)]),
    ("counted_back", &[("N", 70)]),
    ("convolution_column_tiled", &[("N", 16), ("M", 64), ("E", 2)]),
    ("convolution_row_tiled", &[("N", 8), ("M", 64), ("E", 2)]),
    ("gemv_coalesced", &[("M", 3), ("N", 128)]),
    ("gemv_t_coalesced", &[("M", 8), ("N", 16), ("C", 8), ("P", 4)]),
    ("gesummv_local", &[("M", 3), ("N", 128)]),
    ("counted", &[("N", 2100)]),
    ("exchange_inside", &[("M", 3)]),
    ("fibonacci", &[("N", 70)]),
    ("first_of_all", &[("N", 2900)]),
    ("glb3", &[("A", 40), ("B", 3), ("C", 2)]),
    ("groups", &[("N", 96), ("T", 32)]),
    ("halved", &[("N", 272)]),
    ("heat3d", &[("D", 3), ("N", 4), ("M", 40)]),
    ("jacobi2d_5_tiled", &[("N", 16), ("M", 32)]),
    ("jacobi3d_7", &[("D", 3), ("N", 4), ("M", 40)]),
    ("keep", &[("N", 256)]),
    ("kmeans", &[("P", 70), ("F", 3), ("C", 5)]),
    ("kmeans_global", &[("P", 300), ("F", 3), ("C", 4)]),
    ("kmeans_private", &[("P", 300), ("F", 3), ("C", 10)]),
    ("largest", &[("N", 2100)]),
    ("last_points", &[("N", 40)]),
    ("last_of_all", &[("N", 2900)]),
    ("levels", &[("N", 70), ("E", 70)]),
    ("llp1", &[("N", 256)]),
    ("llp1_argmin", &[("N", 256)]),
    ("llp1_asum", &[("N", 256)]),
    ("llp1_dot", &[("N", 256)]),
    ("llp1_min", &[("N", 256)]),
    ("llp2", &[("N", 512)]),
    ("llp2_argmin", &[("N", 512)]),
    ("llp2_asum", &[("N", 512)]),
    ("llp2_dot", &[("N", 512)]),
    ("llp2_min", &[("N", 512)]),
    ("llp3", &[("N", 768), ("E", 3)]),
    ("llp3_argmin", &[("N", 768), ("E", 3)]),
    ("llp3_asum", &[("N", 768), ("E", 3)]),
    ("llp3_dot", &[("N", 768), ("E", 3)]),
    ("llp3_min", &[("N", 768), ("E", 3)]),
    ("mandelbrot", &[("W", 40), ("H", 3), ("K", 9)]),
    ("matrix_products", &[("N", 200)]),
    ("maxima_of_rest", &[("N", 2900)]),
    ("md", &[("N", 40), ("J", 4)]),
    ("md_private", &[("N", 40), ("J", 4)]),
    ("members", &[("N", 70)]),
    ("mm", &[("M", 3), ("K", 5), ("N", 40)]),
    ("mm_at", &[("M", 3), ("K", 5), ("N", 40)]),
    ("mm_bt", &[("M", 3), ("K", 5), ("N", 40)]),
    (
        "mm_cpu",
        &[("M", 4), ("K", 6), ("N", 64), ("BM", 2), ("BN", 2), ("TK", 3), ("RM", 2), ("RN", 16)],
    ),
    ("mm_local", &[("M", 128), ("K", 16), ("N", 256)]),
    ("mm_mali", &[("M", 36), ("K", 8), ("N", 12)]),
    ("mm_register", &[("M", 72), ("K", 5), ("N", 36)]),
    ("mm_vectorised", &[("M", 36), ("K", 8), ("N", 12)]),
    ("named_for_rows", &[("N", 3)]),
    ("nbody_local", &[("N", 64), ("T", 16), ("P", 2)]),
    ("nn_global", &[("N", 1200)]),
    ("norm", &[("N", 256)]),
    ("paths", &[("N", 12)]),
    ("product", &[("K", 3), ("N", 12)]),
    ("states", &[("B", 2), ("T", 3), ("D", 70)]),
    ("of_a_triangle", &[("N", 12)]),
    ("pairwise_distance", &[("M", 3), ("N", 40), ("D", 5)]),
    ("partial_dot", &[("N", 256)]),
    ("phi_mag", &[("K", 288)]),
    ("phi_mag_global", &[("K", 300)]),
    ("pivots", &[("N", 40)]),
    ("put", &[("N", 1100), ("K", 40)]),
    ("put_pairs", &[("N", 1100), ("K", 40)]),
    ("put_rows", &[("N", 1100), ("K", 40)]),
    ("q_private", &[("X", 300), ("K", 8)]),
    ("recurrence", &[("N", 1300)]),
    ("reachable", &[("N", 4), ("S", 70)]),
    ("reverse_coalesced", &[("N", 128)]),
    ("row_sums_inside", &[("M", 3)]),
    ("rows_summed", &[("N", 1100), ("K", 40), ("M", 3)]),
    ("running_sums", &[("N", 2900)]),
    ("runs", &[("N", 2900)]),
    ("scale4", &[("N", 160)]),
    ("scale_width", &[("N", 320)]),
    ("scans_of_columns", &[("M", 130), ("N", 40)]),
    ("scans_of_cubes", &[("L", 2), ("M", 40), ("N", 257)]),
    ("scans_of_rows", &[("M", 40), ("N", 257)]),
    ("segmented", &[("N", 2900)]),
    ("summed", &[("N", 1100), ("K", 41)]),
    ("sums", &[("N", 512)]),
    ("sums_between_maps", &[("N", 5500)]),
    ("sums_from", &[("N", 2900)]),
    ("sums_from_a_sum", &[("M", 300), ("N", 2900)]),
    ("sums_of_items", &[("N", 3)]),
    ("three_stages", &[("N", 192)]),
    ("there_and_back", &[("N", 40)]),
    ("thomas", &[("N", 5), ("B", 70)]),
    ("tiles", &[("N", 160)]),
    ("turned_blocks", &[("N", 3)]),
    ("turned_inside", &[("N", 3)]),
    ("two_kernels", &[("N", 288)]),
    ("first_indices", &[("N", 40)]),
    ("moved_up", &[("N", 40)]),
    ("numbers_added_up", &[("N", 24)]),
    ("of_waves", &[("N", 24)]),
    ("of_corners", &[("N", 1100)]),
    ("of_slanted", &[("N", 70)]),
    ("of_thirds", &[("N", 2600)]),
    ("packed_doubled", &[("N", 40)]),
    ("picked", &[("N", 2100)]),
    ("doubled_twice", &[("N", 20)]),
    ("ell", &[("R", 70), ("C", 12), ("K", 3)]),
    ("energy", &[("N", 40)]),
    ("flattened", &[("N", 12)]),
    ("guarded", &[("N", 40)]),
    ("joined", &[("N", 40)]),
    ("packed_sums", &[("N", 40)]),
    ("parts", &[("N", 40)]),
    ("pascal", &[("N", 20)]),
    ("points", &[("N", 8)]),
    ("ranks", &[("N", 8)]),
    ("same", &[("N", 40)]),
    ("seen", &[("N", 20)]),
    ("skew", &[("N", 40)]),
    ("spmv", &[("R", 140), ("C", 12), ("E", 140)]),
    ("zipped_rows", &[("R", 140), ("E", 140)]),
    ("weight_of_all", &[("N", 6)]),
    ("while_small", &[("N", 140), ("M", 140)]),
    ("symmetric", &[("N", 40)]),
    ("symv", &[("N", 70)]),
    ("tetra_sum", &[("N", 12)]),
    ("triples", &[("N", 20)]),
    ("there_and_back_again", &[("N", 24)]),
    ("trsv", &[("N", 70)]),
    ("typed", &[("N", 100)]),
    ("viterbi", &[("S", 70), ("O", 12), ("T", 4)]),
    ("all_below", &[("N", 70)]),
    ("between", &[("N", 24)]),
    ("corner_boxes", &[("N", 70)]),
    ("pairs_below", &[("N", 70)]),
    ("red_order", &[("N", 70)]),
    ("reds", &[("N", 70)]),
    ("squares_below", &[("N", 70)]),
    ("steeps", &[("N", 70)]),
    ("triples_below", &[("N", 70)]),
];

/// Every other size, where a definition has one, two or more of them.
const USUAL: [i128; 3] = [288, 40, 12];

/// Group sizes in place of the program's and of the usual one, by the beginning of a definition's
/// name, where those make too few work-items or too few groups.
const LOCAL: &[(&str, &[u64])] =
    &[("llp", &[128]), ("mm_mali", &[8, 4]), ("mm_vectorised", &[8, 4]), ("two_kernels", &[32])];

/// Definitions with a kernel that cannot have as many work-items, or is not launched, and why.
const SMALLER: &[(&str, &str)] = &[
    ("accumulators", "the program maps one group over one array"),
    ("again", "there are four places"),
    ("bits", "there are two places"),
    ("both", "the condition holds at once"),
    ("both_of", "the result has two elements"),
    ("bounded", "the condition holds at once"),
    ("corner", "the result has two elements"),
    ("corners", "a front has at most nine points"),
    ("counted_masks", "the result has four elements"),
    ("counts", "the result has three elements"),
    ("element_by_named_fold", "the last step of a fold that an index needs has one group"),
    ("grown", "the condition holds at once"),
    ("in_an_array", "the result has two elements"),
    ("least", "there are three places"),
    ("mm_cpu", "the program has groups of one work-item"),
    ("numbers", "the domain has six points"),
    ("parsed", "a front has at most twelve points"),
    ("pascal", "a front has at most eight points"),
    ("put_three_pairs", "the array has nine elements"),
    ("replaced", "three elements are replaced"),
    ("row_by_size", "the result has two elements"),
    ("rows_on_the_host", "a row has four elements"),
    ("second_and_third", "the result has two elements"),
    ("smaller", "a front has at most four points"),
    ("viterbi", "the result has four elements"),
    ("ways", "a front has at most four points"),
    ("without_two", "the result has three elements"),
];

/// Runs every definition of every program with open sizes, or with all sizes fixed.
pub fn every_definition_runs(simulator: &mut Simulator, fixed: bool) {
    let (mut count, mut faults, mut seen) = (0, Vec::new(), Vec::new());
    // Programs of users have loops over all of their arrays, which take the simulator hours at these sizes: their tests are run.
    let is_of_users = |path: &Path| path.components().any(|part| part.as_os_str() == "users");
    for path in programs().into_iter().filter(|path| !is_of_users(path)) {
        let checked = lift_syntax::check_file(&path).unwrap();
        for def in &checked.program.defs {
            count += 1;
            simulator.launches.clear();
            let found = run(def, simulator, fixed);
            let smaller = SMALLER.iter().map(|(name, _)| *name).find(|name| *name == def.name);
            let found = found.and_then(|kernels| {
                let sizes = sizes(def);
                let is_one = |n: &Nat| n.eval(&|v| sizes.get(v.name())) == Ok(1);
                wide(&kernels, &simulator.launches, smaller, &is_one, &mut seen)
            });
            faults.extend(found.err().map(|fault| format!("{}: {fault}", title(&path, def))));
        }
    }
    assert!(faults.is_empty(), "{} of {count}:\n{}", faults.len(), faults.join("\n"));
    let names = SMALLER.iter().map(|(name, _)| *name);
    let needless: Vec<&str> = names.filter(|name| !seen.contains(&Seen::Smaller(name))).collect();
    assert!(needless.is_empty(), "these need no exception: {}", needless.join(", "));
    let wide = seen.iter().filter(|seen| **seen == Seen::Wide).count();
    assert!(wide > 100, "only {wide} kernels had enough work-items");
}

fn title(path: &Path, def: &Def) -> String {
    format!("{} {}", path.display(), def.name)
}

/// Runs a definition on made-up inputs; its result is the interpreter's. Gives its kernels as they are
/// while work-items are iterations of loops.
fn run(def: &Def, simulator: &mut Simulator, fixed: bool) -> Result<Vec<Kernel>, String> {
    let text = |error: &dyn std::fmt::Display| error.to_string();
    let sizes = sizes(def);
    let options = options(def, &sizes, fixed);
    let mut args: Vec<Value> = Vec::new();
    for (seed, param) in def.params.iter().enumerate() {
        let ty = concrete_type(param.ty(), &sizes).map_err(|e| text(&e))?;
        args.push(match (def.name.starts_with("md"), param.name()) {
            (true, "pos") => lattice(),
            (true, "cutsq") => Value::f32(5.0),
            // Rows follow each other, and no number is divided by a small one.
            _ if ["levels", "spmv", "squares_of", "zipped_rows"].contains(&def.name.as_str())
                && param.name() == "starts" =>
            {
                generate(Fill::Iota, &ty).map_err(|e| text(&e))?
            }
            // One of them is long, so that a group folds it.
            _ if LONG_ROWS.contains(&def.name.as_str()) && param.name() == "starts" => rows(&ty),
            _ if ONES.contains(&(def.name.as_str(), param.name())) => {
                generate(Fill::Ones, &ty).map_err(|e| text(&e))?
            }
            _ if ZEROS.contains(&(def.name.as_str(), param.name())) => {
                generate(Fill::Zeros, &ty).map_err(|e| text(&e))?
            }
            _ => generate(Fill::Random { seed: seed as u64 }, &ty).map_err(|e| text(&e))?,
        });
    }
    let expected = interpret(def, &args, &sizes).map_err(|e| text(&e))?;
    let mut compiled = Compiled::new(def, &options, simulator).map_err(|e| text(&e))?;
    let run = compiled.run(simulator, &args, &sizes).map_err(|e| text(&e))?;
    compare(&run.result, &expected, true).map_err(|e| text(&e))?;
    let mut kernels = Vec::new();
    let watch = &mut |pass: &Pass, stage: Stage| {
        if let ("translate" | "whole_copies", Stage::Plan(plan)) = (pass.name, stage) {
            kernels.clone_from(&plan.kernels);
        }
    };
    lower_watched(def, &options, watch).map_err(|e| text(&e))?;
    Ok(kernels)
}

/// Arguments of ones: among random ones, some of them small, rounding errors grow from step to step.
const ONES: [(&str, &str); 3] = [("thomas", "below"), ("thomas", "diagonal"), ("trsv", "l")];

/// Arguments of zeros: ranges that begin at random numbers would end before.
const ZEROS: [(&str, &str); 1] = [("from_data", "a")];

/// Definitions whose rows begin where `starts` says.
const LONG_ROWS: [&str; 3] = ["long_rows", "long_wide_rows", "spread"];

/// Where rows begin: all but one have an element.
fn rows(ty: &Type) -> Value {
    let (element, count) = ty.as_array().unwrap();
    let starts = (0..count.as_int().unwrap()).map(|i| if i > 4 { i + 600 } else { i });
    match element {
        Type::Scalar(Scalar::I64) => Value::from(starts.map(|n| n as i64).collect::<Vec<i64>>()),
        _ => Value::from(starts.map(|n| n as i32).collect::<Vec<i32>>()),
    }
}

/// The particles of `md`, a unit apart: between random ones, some of them close, rounding errors grow.
fn lattice() -> Value {
    let at = |i: i32| [i % 4, i / 4 % 4, i / 16, 0].map(|x| ScalarValue::F32(x as f32));
    Value::array((0..40).map(|i| Value::vector(at(i)).unwrap()).collect()).unwrap()
}

/// A value for every size and parameter.
fn sizes(def: &Def) -> Sizes {
    let chosen = SIZES.iter().find(|(name, _)| *name == def.name).map_or(&[][..], |(_, s)| s);
    let usual = USUAL[def.sizes.len().clamp(1, USUAL.len()) - 1];
    let open = def.sizes.iter().map(|var| (var.name().to_string(), usual));
    // Definitions of different files may have one name.
    let own = |name: &str| {
        let parameters = def.parameters.iter().map(|p| &p.var);
        def.sizes.iter().chain(parameters).any(|var| var.name() == name)
    };
    let chosen = chosen.iter().filter(|(name, _)| own(name));
    open.chain(chosen.map(|(name, value)| (name.to_string(), *value))).collect()
}

fn options(def: &Def, sizes: &Sizes, fixed: bool) -> Options {
    let is_size = |name: &str| def.sizes.iter().any(|var: &Var| var.name() == name);
    let given = sizes.iter().filter(|(name, _)| fixed || !is_size(name));
    let local = LOCAL
        .iter()
        .find(|(start, _)| def.name.starts_with(start))
        .map(|(_, local)| local.to_vec());
    let local = local.or_else(|| def.launches.is_empty().then(|| vec![ITEMS]));
    let sizes = given.map(|(name, value)| (name.to_string(), value)).collect();
    Options { sizes, local, units: Some(UNITS), ..Options::default() }
}

/// What kind of launch a kernel had.
#[derive(PartialEq, Eq)]
enum Seen {
    Wide,
    /// One of [`SMALLER`].
    Smaller(&'static str),
    /// A kernel of one group's work, the last step of a fold.
    OneGroup,
    /// A kernel of one work-item's work.
    Sequential,
}

/// Every parallel kernel had enough groups and work-items, or its definition, `smaller`, is excepted.
fn wide(
    kernels: &[Kernel],
    launches: &[Launched],
    smaller: Option<&'static str>,
    is_one: &dyn Fn(&Nat) -> bool,
    seen: &mut Vec<Seen>,
) -> Result<(), String> {
    for kernel in kernels {
        let of_kernel = launches.iter().filter(|l| l.kernel == kernel.name);
        let largest = of_kernel.max_by_key(|l| (l.items >= ITEMS, l.groups));
        seen.push(match (largest, smaller) {
            (Some(_), _) if !is_parallel(kernel, is_any, is_one) => Seen::Sequential,
            (Some(l), _) if l.groups >= GROUPS && l.items >= ITEMS => Seen::Wide,
            (_, Some(name)) => Seen::Smaller(name),
            (Some(l), _) if l.items >= ITEMS && !is_parallel(kernel, is_grid, is_one) => {
                Seen::OneGroup
            }
            (Some(l), None) => return Err(format!("{l:?} is below {GROUPS} groups of {ITEMS}")),
            (None, None) => return Err(format!("`{}` was not launched", kernel.name)),
        });
    }
    Ok(())
}

/// Has a loop of such a kind that is longer than one for the sizes at hand.
fn is_parallel(kernel: &Kernel, kind: fn(LoopKind) -> bool, is_one: &dyn Fn(&Nat) -> bool) -> bool {
    let mut found = false;
    for stmt in &kernel.body {
        stmt.each(&mut |s| {
            let Stmt::Loop(l) = s else { return };
            found |= kind(l.kind) && !is_one(&l.extent);
        });
    }
    found
}

fn is_any(kind: LoopKind) -> bool {
    is_grid(kind) || matches!(kind, LoopKind::Local(_))
}

fn is_grid(kind: LoopKind) -> bool {
    matches!(kind, LoopKind::Group(_) | LoopKind::Global(_))
}
