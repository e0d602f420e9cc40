//! The pipeline: every pass from a program to its kernels, in order.
//!
//! A pass is a row: name, law, what it requires and ensures, which targets it is for. [`run`] runs the rows, all of them or
//! one alone. The file of a pass has the name of its row, unless several rows share one.

mod align;
mod barriers;
mod batches;
mod check_limits;
mod check_private;
mod common_subexpressions;
mod copy_propagation;
mod dead_code;
mod default_lowering;
mod eager_folds;
mod elements;
mod flatten_grids;
mod grid_order;
mod group_tiling;
mod guard_stores;
mod index_set_splitting;
mod index_width;
mod initialise;
mod interleave;
mod join_columns;
mod launch;
mod layout_fission;
mod loop_blocking;
mod loop_fission;
mod loop_interchange;
mod loop_invariants;
mod memory_order;
mod online_folds;
mod parallel_loops;
mod pass;
mod perfect_nests;
mod register_tiling;
mod requirements;
mod row_fusion;
mod row_tiles;
mod run;
mod scalar_replacement;
mod schedule;
mod share;
mod short_rows;
mod sink_faults;
mod software_pipelining;
mod specialise;
mod split_quotients;
mod threads;
pub(crate) mod translate;
mod turned_tiles;
mod unroll;
mod unroll_and_jam;
mod vectorise_accesses;
mod whole_copies;

use lift_ir::{MAX_CHECKED_PERMUTATION, check_permutations};
use lift_kernel::{Kernel, Runs};

pub use parallel_loops::for_processor;
pub use pass::{Pass, Program, Stage, Targets};
pub use run::{lower, lower_watched};
pub use threads::for_threads;

use pass::{Around, Run, always, control, kernel};

use crate::{LowerError, Target};

/// All passes. Those on programs come first, then the one that makes kernels, then those on kernels.
pub fn passes() -> &'static [Pass] {
    &PASSES
}

static PASSES: [Pass; 58] = [
    Pass {
        name: "specialise",
        law: "parameters and sizes that have a value are numbers",
        requires: "a checked program",
        ensures: "only sizes without a value are symbols",
        targets: Targets::All,
        wanted: always,
        run: Run::Program(|program, options| {
            program.def = specialise::specialise(&program.def, options)?;
            Ok(())
        }),
    },
    Pass {
        name: "check_permutations",
        law: "a program stays as it is, or is refused",
        requires: "specialise",
        ensures: "every reordering by an index function with a known length is a permutation",
        targets: Targets::All,
        wanted: always,
        run: Run::Program(|program, _| {
            Ok(check_permutations(&program.def.body, &|_| None, MAX_CHECKED_PERMUTATION)?)
        }),
    },
    Pass {
        name: "requirements",
        law: "a program stays as it is; what it needs of its sizes is noted for the host",
        requires: "the program as it was written: later passes may leave out what is never read",
        ensures: "where the requirements hold, so do the facts that proofs rest on",
        targets: Targets::All,
        wanted: always,
        run: Run::Program(|program, _| {
            program.requirements = requirements::of(&program.def);
            Ok(())
        }),
    },
    Pass {
        name: "elements",
        law: "generate(n, \\i -> f(xs[i])) is map(f, xs), where the array has n elements",
        requires: "high-level patterns; low-level programs are left as they are",
        ensures: "an array that a `generate` goes through one by one is mapped",
        targets: Targets::All,
        wanted: always,
        run: Run::Program(|program, _| {
            program.def = elements::run(&program.def)?;
            Ok(())
        }),
    },
    Pass {
        name: "loop_interchange",
        law: "map(\\x -> iterate(n, f, x), xs) is iterate(n, map(f), xs), where the state is a large array",
        requires: "high-level patterns; low-level programs are left as they are",
        ensures: "loops over large arrays stand outside of the maps around them, and what they do is parallel",
        targets: Targets::All,
        wanted: always,
        run: Run::Program(|program, options| {
            program.def = loop_interchange::run(&program.def, options)?;
            Ok(())
        }),
    },
    Pass {
        name: "row_fusion",
        law: "let ys = map(f, xs); map(\\(x, y) -> g, zip(xs, ys)) is map(\\x -> let y = f(x); g, xs), where rows are folded",
        requires: "high-level patterns; low-level programs are left as they are",
        ensures: "what is folded of a row, and what is made from that, is done row by row",
        targets: Targets::All,
        wanted: always,
        run: Run::Program(|program, _| {
            program.def = row_fusion::run(&program.def)?;
            Ok(())
        }),
    },
    Pass {
        name: "online_folds",
        law: "let m = reduce(-inf, max, xs); e(sum(map(\\x -> exp(x - m), xs))) is one fold of pairs, in which the sum is corrected when a larger maximum comes; a sum and squares around a mean are one of counts, means and squares",
        requires: "row_fusion; low-level programs are left as they are",
        ensures: "an array of which a soft maximum or a variance is taken is read once, where that is predicted to be faster",
        targets: Targets::Threads,
        wanted: control,
        run: Run::Program(|program, options| {
            program.def = online_folds::run(&program.def, options)?;
            Ok(())
        }),
    },
    Pass {
        name: "eager_folds",
        law: "if c then a else e is let d = e; if c then a else d, where e is a long fold and cannot fail",
        requires: "high-level patterns; low-level programs are left as they are",
        ensures: "points of a grid that choose fold alike",
        targets: Targets::All,
        wanted: always,
        run: Run::Program(|program, options| {
            program.def = eager_folds::run(&program.def, options)?;
            Ok(())
        }),
    },
    Pass {
        name: "layout_fission",
        law: "map(\\x -> reverse(map(f, x)), xs) is map(reverse, map(\\x -> map(f, x), xs)), and so for all that rearranges",
        requires: "high-level patterns; low-level programs are left as they are",
        ensures: "what rearranges the rows that a map makes stands outside of it",
        targets: Targets::All,
        wanted: always,
        run: Run::Program(|program, _| {
            program.def = layout_fission::run(&program.def)?;
            Ok(())
        }),
    },
    Pass {
        name: "share",
        law: "what is computed on reading, and read again and again, is a `let` outside of the maps",
        requires: "high-level patterns; low-level programs are left as they are",
        ensures: "an array is computed once, or costs no more than a load to compute again",
        targets: Targets::All,
        wanted: always,
        run: Run::Program(|program, options| {
            program.def = share::share(&program.def, options)?;
            Ok(())
        }),
    },
    Pass {
        name: "memory_order",
        law: "let t = map2(f, transpose(x)); e(t) is let t = transpose(map2(f, transpose(x))); e(transpose(t))",
        requires: "share; low-level programs are left as they are",
        ensures: "arrays between kernels lie in the order in which what they are computed from is read",
        targets: Targets::All,
        wanted: control,
        run: Run::Program(|program, options| {
            program.def = memory_order::run(&program.def, options)?;
            Ok(())
        }),
    },
    Pass {
        name: "default_lowering",
        law: "map and reduce say what runs them: mapGlb, mapWrg, mapLcl, mapSeq, reduceSeq",
        requires: "nothing; low-level patterns are left as they are",
        ensures: "every pattern has a way to run or is a view",
        targets: Targets::All,
        wanted: always,
        run: Run::Program(|program, options| {
            program.orders_open = !default_lowering::is_grid_wide(&program.def.body);
            program.def = default_lowering::decide(&program.def, options)?;
            Ok(())
        }),
    },
    Pass {
        name: "translate",
        law: "patterns are loops, arrays are buffers, layouts are index arithmetic",
        requires: "default_lowering",
        ensures: "every access is proved to be in range or checked; kernels have their arguments",
        targets: Targets::All,
        wanted: always,
        run: Run::Translate(|program, options| {
            let mut plan = translate::translate(&program.def, options, &program.requirements)?;
            plan.requirements.clone_from(&program.requirements);
            plan.orders_open = program.orders_open;
            // Passes that look at all of a kernel have to see its arguments.
            plan.collect_arguments();
            Ok(plan)
        }),
    },
    Pass {
        name: "require_indices",
        law: "kernels stay as they are; sizes at which an index would leave 64 bits are refused",
        requires: "indices as the program's text asks for them, before any is simplified away",
        ensures: "where the requirements hold, no arithmetic on indices leaves 64 bits",
        targets: Targets::All,
        wanted: always,
        run: Run::Plan(|plan, sizes, _| index_width::require(plan, sizes)),
    },
    Pass {
        name: "whole_copies",
        law: "launch t = f(x); launch result = t; is launch result = f(x); and what repeats another array is that array",
        requires: "every kernel has its arguments; a program that leaves open what runs where",
        ensures: "no kernel outside of loops copies a temporary, or copies into one, as it is",
        targets: Targets::All,
        wanted: always,
        run: Run::Plan(|plan, _, _| {
            whole_copies::run(plan);
            Ok(())
        }),
    },
    Pass {
        name: "batches",
        law: "launch make; launch use; is for (batch) { launch make; launch use; }, where what is made of all points does not fit",
        requires: "sizes that are numbers; a program that leaves open what runs where; how much memory there is",
        ensures: "arrays fit into memory, where points have parts of them to themselves that do",
        targets: Targets::All,
        wanted: always,
        run: Run::Plan(|plan, _, options| {
            batches::run(plan, options);
            Ok(())
        }),
    },
    Pass {
        name: "check_private",
        law: "a kernel stays as it is, or is refused",
        requires: "work-items are loops",
        ensures: "what a work-item reads of a private array it has written itself",
        targets: Targets::All,
        wanted: always,
        run: Run::Kernel(|kernel, around| {
            check_private::check(kernel, &around.plan.spans, &around.plan.warps)
        }),
    },
    Pass {
        name: "grid_order",
        law: "for (x) for (y) r[y][x] = … is for (y) for (x) r[y][x] = …, where the program leaves the order open",
        requires: "points of grids are independent",
        ensures: "neighbours in the innermost dimension touch neighbouring elements, where there is such a dimension",
        targets: Targets::All,
        wanted: control,
        run: kernel!(|kernel, around| {
            if around.plan.orders_open {
                grid_order::run(kernel)
            }
        }),
    },
    Pass {
        name: "perfect_nests",
        law: "for (y) { float b = x[y]; for (x) … } is for (y) for (x) { float b = x[y]; … }, where points fold",
        requires: "work-items are loops",
        ensures: "nothing stands between the loops of a grid of folds but what cannot move",
        targets: Targets::All,
        wanted: control,
        run: kernel!(|kernel, _| perfect_nests::run(kernel)),
    },
    Pass {
        name: "group_tiling",
        law: "for (y) for (x) { for (k) acc = … a[y][k] … b[k][x]; } is done by groups, a tile of rows and columns each",
        requires: "a grid whose points fold over what is shared along its dimensions; sizes, or a tile that the program says",
        ensures: "a thread has several points; what they share goes through local memory or is read once for all",
        targets: Targets::Threads,
        wanted: control,
        run: kernel!(|kernel, around| group_tiling::run(kernel, around.options, &around.globals)),
    },
    Pass {
        name: "turned_tiles",
        law: "for (y) for (x) r[y][x] = a[x][y]; is tile[x][y] = a[x][y]; barrier; r[y][x] = tile[x][y]; for tiles of points, by groups",
        requires: "a grid of straight code; sizes; thread counts that are open",
        ensures: "neighbouring threads touch neighbouring elements of all arrays, where one order or the other does",
        targets: Targets::Threads,
        wanted: control,
        run: kernel!(|kernel, around| {
            if around.plan.orders_open {
                turned_tiles::run(kernel, around.options, &around.globals)
            }
        }),
    },
    Pass {
        name: "row_tiles",
        law: "for (y) for (i) … a[n*y + i] … is tile[…] = a[…]; barrier; for (i) … tile[n*y + i] …, for rows of a group",
        requires: "a thread a row; sizes; thread counts that are open",
        ensures: "what threads touch in steps of a short row goes through local memory, to which it is copied side by side; rows of one vector stay",
        targets: Targets::Threads,
        wanted: control,
        run: kernel!(|kernel, around| {
            if around.plan.orders_open {
                row_tiles::run(kernel, around.options, &around.globals)
            }
        }),
    },
    Pass {
        name: "flatten_grids",
        law: "for (w) for (z < n) … is for (wz) with w = wz / n and z = wz % n, where a launch has no dimension for w, or n is few",
        requires: "nothing",
        ensures: "grids have three dimensions at most, and the innermost is no shorter than a warp where the program leaves that open",
        targets: Targets::Threads,
        wanted: always,
        run: Run::Kernel(|kernel, around| {
            let is_free = around.options.local.is_none() && around.options.global.is_none();
            let is_open = kernel.launch.local.is_empty() && kernel.launch.global.is_empty();
            let is_open = is_open && is_free && around.plan.orders_open;
            flatten_grids::run(kernel, around.status, is_open)
        }),
    },
    Pass {
        name: "launch",
        law: "a kernel has thread counts: the user's, the program's, or enough for its loops",
        requires: "parallel loops name their dimensions",
        ensures: "where a count is 0 the kernel has nothing to do",
        targets: Targets::All,
        wanted: always,
        run: kernel!(|kernel, around| launch::choose(kernel, around.options, around.sizes)),
    },
    Pass {
        name: "guard_stores",
        law: "a store that a whole group would do is done by one work-item",
        requires: "launch",
        ensures: "every store to shared memory is under a loop for each dimension of the group",
        targets: Targets::All,
        wanted: always,
        run: kernel!(|kernel, around| {
            if kernel.runs == Runs::Loops {
                guard_stores::guard_stores(kernel, around.status, &around.plan.warps);
            }
        }),
    },
    Pass {
        name: "loop_fission",
        law: "a loop over work-items is cut where they have to wait for each other",
        requires: "iterations of parallel loops are independent",
        ensures: "a barrier can stand outside of all loops over work-items",
        targets: Targets::All,
        wanted: always,
        run: Run::Kernel(|kernel, around| match kernel.runs {
            Runs::Loops => loop_fission::run(kernel, around.status, &around.plan.warps),
            Runs::Threads => Ok(()),
        }),
    },
    Pass {
        name: "barriers",
        law: "between two loops of which one touches what another work-item wrote stands a barrier",
        requires: "loop_fission",
        ensures: "no two work-items of a group race",
        targets: Targets::All,
        wanted: always,
        run: kernel!(|kernel, around| {
            if kernel.runs == Runs::Loops {
                barriers::insert(kernel, around.status, &around.plan.warps, around.options);
            }
        }),
    },
    Pass {
        name: "dead_code",
        law: "float x = a[i]; with no use of x is nothing",
        requires: "values have no effects",
        ensures: "every variable is read; no loop has 0 iterations",
        targets: Targets::All,
        wanted: always,
        run: kernel!(|kernel, _| dead_code::remove(kernel)),
    },
    Pass {
        name: "initialise",
        law: "float acc; acc = 0; is float acc = 0;",
        requires: "nothing",
        ensures: "a variable that is assigned next to its declaration is declared with that value",
        targets: Targets::All,
        wanted: always,
        run: kernel!(|kernel, _| initialise::run(kernel)),
    },
    Pass {
        name: "unroll_windows",
        law: "a short loop whose variable is divided or chosen by is written out",
        requires: "nothing",
        ensures: "the index arithmetic of windows is on constants",
        targets: Targets::All,
        wanted: |options| options.simplify.accesses && options.simplify.control,
        run: kernel!(|kernel, _| unroll::windows(kernel)),
    },
    Pass {
        name: "mark_unrolled",
        law: "a short loop that indexes a private array is marked to be written out",
        requires: "nothing",
        ensures: "the places of private arrays are constants once marked loops are written out",
        targets: Targets::All,
        wanted: always,
        run: kernel!(|kernel, around| unroll::mark(kernel, around.options.target)),
    },
    Pass {
        name: "split_quotients",
        law: "for (x < 2n) r[x] = a[x / 2]; is for (q < n) { r[2q] = a[q]; r[2q + 1] = a[q]; }",
        requires: "points of grids are independent; work-items are loops",
        ensures: "indices along a grid's innermost dimension move evenly, where they divided by a small number",
        targets: Targets::Loops,
        wanted: control,
        run: kernel!(|kernel, around| {
            if around.plan.orders_open {
                split_quotients::run(kernel)
            }
        }),
    },
    Pass {
        name: "index_set_splitting",
        law: "for (i) r[i] = x[max(i - 1, 0)] is the first iterations, and the others without max",
        requires: "work-items are loops",
        ensures: "the interior of a grid has no choices, where its width is one of those tried",
        targets: Targets::Loops,
        wanted: control,
        run: kernel!(|kernel, _| index_set_splitting::split(kernel)),
    },
    Pass {
        name: "join_columns",
        law: "for (x) for (c < 5) r[5x + c] = a[5x + c]; is for (j) r[j] = a[j]; and what all points share is repeated",
        requires: "index_set_splitting: the interior of a grid has no choices",
        ensures: "a grid with few columns has one loop over points and columns, where both lie side by side",
        targets: Targets::Loops,
        wanted: control,
        run: kernel!(|kernel, around| {
            if around.plan.orders_open {
                join_columns::run(kernel, &around.globals)
            }
        }),
    },
    Pass {
        name: "short_rows",
        law: "for (x) for (i < 5) r[5x + i] = exp(a[5x + i]); turns rows of 16 points, and then points are lanes",
        requires: "points of grids are independent; tiles of folds are better where they pay",
        ensures: "functions of short rows are vector code",
        targets: Targets::Loops,
        wanted: control,
        run: kernel!(|kernel, around| {
            if around.plan.orders_open {
                short_rows::run(kernel, &around.globals)
            }
        }),
    },
    Pass {
        name: "schedule",
        law: "launch … is launch … rows(4) where windows overlap; blocks and stages likewise",
        requires: "index_set_splitting: what pays is seen where boundaries do not matter",
        ensures: "later passes do what the clauses of launches say and choose nothing themselves",
        targets: Targets::All,
        wanted: always,
        run: kernel!(|kernel, around| schedule::choose(kernel, around.options)),
    },
    Pass {
        name: "unroll_and_jam",
        law: "for (y) for (x) r[y][x] = … is for (b) for (x) { r[4b][x] = …; … r[4b + 3][x] = …; }",
        requires: "schedule; rows of a grid that have no loops in them",
        ensures: "what the windows of so many rows share is loaded in one iteration",
        targets: Targets::Loops,
        wanted: control,
        run: kernel!(|kernel, _| unroll_and_jam::run(kernel)),
    },
    Pass {
        name: "register_tiling",
        law: "for (y) for (x) { for (k) acc = …; } does the folds of 8 rows and 32 columns in one for (k)",
        requires: "schedule; a grid whose points fold over what neighbours read too",
        ensures: "accumulators of a tile are variables, columns are lanes; columns that lie apart are packed",
        targets: Targets::Loops,
        wanted: control,
        run: kernel!(|kernel, around| register_tiling::run(kernel, &around.globals)),
    },
    Pass {
        name: "copy_propagation",
        law: "float x = acc; acc = x + y; is acc = acc + y;",
        requires: "nothing",
        ensures: "no variable repeats another that still has the value",
        targets: Targets::Loops,
        wanted: control,
        run: kernel!(|kernel, _| copy_propagation::remove(kernel)),
    },
    Pass {
        name: "interleave",
        law: "statements without a variable in common are ordered by the addresses they load from",
        requires: "copy_propagation",
        ensures: "what results side by side share is loaded at about the same time",
        targets: Targets::Loops,
        wanted: control,
        run: kernel!(|kernel, _| interleave::run(kernel)),
    },
    Pass {
        name: "loop_blocking",
        law: "for (z) for (y) for (x) is blocks of planes and rows in parallel, and inside in order",
        requires: "schedule; a grid of three dimensions",
        ensures: "a plane is in the cache when it is read again",
        targets: Targets::Loops,
        wanted: control,
        run: kernel!(|kernel, _| loop_blocking::run(kernel)),
    },
    Pass {
        name: "turned_blocks",
        law: "for (y) for (x) r[y][x] = a[x][y]; is tile[y][x] = a[x][y]; r[y][x] = tile[y][x]; for blocks of points",
        requires: "schedule; a grid of straight code; sizes",
        ensures: "loops go along lines of all arrays, where one order or the other does",
        targets: Targets::Loops,
        wanted: control,
        run: kernel!(|kernel, around| {
            if around.plan.orders_open {
                turned_tiles::blocks::run(kernel, &around.globals)
            }
        }),
    },
    Pass {
        name: "align",
        law: "float acc[32] of which vectors of 16 are loaded is aligned to 64 bytes",
        requires: "nothing changes the width of accesses later",
        ensures: "no vector in local or private memory lies in two cache lines",
        targets: Targets::Loops,
        wanted: control,
        run: kernel!(|kernel, _| align::run(kernel)),
    },
    Pass {
        name: "threads",
        law: "for (g < N) … is if (id < N) … where there are threads enough",
        requires: "launch, check_private",
        ensures: "a private array is what one thread holds",
        targets: Targets::Threads,
        wanted: always,
        run: kernel!(|kernel, around| for_threads(kernel, around.options.simplify.control)),
    },
    Pass {
        name: "check_limits",
        law: "a kernel stays as it is, or is refused",
        requires: "threads",
        ensures: "the length of an array that a thread holds is a number",
        targets: Targets::Threads,
        wanted: always,
        run: Run::Kernel(|kernel, around| check_limits::check(kernel, &around.plan.spans)),
    },
    Pass {
        name: "unroll",
        law: "for (i < 4) acc[i] = 0; that is marked is acc[0] = 0; … acc[3] = 0;",
        requires: "mark_unrolled",
        ensures: "marked loops are written out unless that is too long",
        targets: Targets::Threads,
        wanted: always,
        run: kernel!(|kernel, _| unroll::write_out(kernel)),
    },
    Pass {
        name: "loop_invariants",
        law: "for (i) { float a = x[g]; … } is float a = x[g]; for (i) { … }, also where a short loop inside hides it",
        requires: "threads, unroll",
        ensures: "what each iteration of a loop loads from the same places is loaded once",
        targets: Targets::Threads,
        wanted: control,
        run: kernel!(|kernel, _| loop_invariants::run(kernel)),
    },
    Pass {
        name: "scalar_replacement",
        law: "float acc[4]; acc[0] = 0; is float acc_0 = 0; and for (k) acc[i] = acc[i] + x[k]; adds to a variable",
        requires: "unroll",
        ensures: "a private array with constant places alone is variables, and so is what a loop carries",
        targets: Targets::All,
        wanted: |options| options.target == Target::Threads || options.simplify.control,
        run: kernel!(|kernel, around| scalar_replacement::run(kernel, around.options.target)),
    },
    Pass {
        name: "index_set_branching",
        law: "threads in the interior of a grid have code without choices",
        requires: "threads",
        ensures: "a boundary is not in the way of wide loads",
        targets: Targets::Threads,
        wanted: control,
        run: kernel!(|kernel, around| index_set_splitting::branch(kernel, &around.globals)),
    },
    Pass {
        name: "vectorise_loads",
        law: "a = x[4i]; b = x[4i + 1]; … is float4 v = x[4i ..]; a = v.0; b = v.1; …",
        requires: "an address that is known to be aligned, and no store between",
        ensures: "loads side by side are one of 128 or 64 bits",
        targets: Targets::Threads,
        wanted: always,
        run: kernel!(|kernel, around| vectorise_accesses::loads(kernel, &around.globals)),
    },
    Pass {
        name: "copy_propagation_of_registers",
        law: "as copy_propagation",
        requires: "scalar_replacement, which leaves such copies",
        ensures: "as copy_propagation",
        targets: Targets::Threads,
        wanted: always,
        run: kernel!(|kernel, _| copy_propagation::remove(kernel)),
    },
    Pass {
        name: "vectorise_stores",
        law: "r[4i] = a; r[4i + 1] = b; … is r[4i ..] = (a, b, …)",
        requires: "an address that is known to be aligned, and no access between",
        ensures: "stores side by side are one of 128 or 64 bits",
        targets: Targets::Threads,
        wanted: always,
        run: kernel!(|kernel, around| vectorise_accesses::stores(kernel, &around.globals)),
    },
    Pass {
        name: "dead_code_of_registers",
        law: "as dead_code",
        requires: "as dead_code",
        ensures: "as dead_code",
        targets: Targets::Threads,
        wanted: always,
        run: kernel!(|kernel, _| dead_code::remove(kernel)),
    },
    Pass {
        name: "software_pipelining",
        law: "for (i) { tile = x[i]; … } is tile = x[0]; for (i) { next = x[i + 1]; … tile = next; }",
        requires: "tiles in local memory that are copies of what no work-item writes",
        ensures: "nobody waits for global memory; one barrier a time around",
        targets: Targets::Threads,
        wanted: |options| options.pipeline,
        run: kernel!(|kernel, _| software_pipelining::run(kernel)),
    },
    Pass {
        name: "sink_faults",
        law: "for (i) { if (bad) status = 3; … } is for (i) { if (bad) fault = 3; … } if (fault != 0) status = fault;",
        requires: "whichever check is told is as good as another",
        ensures: "an innermost loop stores no fault",
        targets: Targets::Threads,
        wanted: control,
        run: kernel!(|kernel, around| sink_faults::run(kernel, around.status)),
    },
    Pass {
        name: "common_subexpressions",
        law: "a = x[i] + 1; b = x[i] * 2; is float v = x[i]; a = v + 1; b = v * 2;",
        requires: "straight code, in which nothing changes what is read between two uses",
        ensures: "no load is done twice, and no arithmetic that is worth a name",
        targets: Targets::All,
        wanted: control,
        run: kernel!(|kernel, around| common_subexpressions::run(kernel, &around.globals)),
    },
    Pass {
        name: "parallel_loops",
        law: "for (y) for (x) … is shared by threads, row by row; arrays that are large are allocated",
        requires: "every other pass that makes loops",
        ensures: "printers find marks where there is something to decide",
        targets: Targets::Loops,
        wanted: always,
        run: kernel!(|kernel, _| for_processor(kernel)),
    },
    Pass {
        name: "index_width",
        law: "indices have 32 bits where these certainly suffice, 64 otherwise",
        requires: "every other pass",
        ensures: "no arithmetic on indices wraps; kernels have the arguments they use",
        targets: Targets::All,
        wanted: always,
        run: Run::Plan(|plan, sizes, _| {
            index_width::choose(plan, sizes)?;
            plan.collect_arguments();
            Ok(())
        }),
    },
];
