//! Thread counts for kernels that do not say.
//!
//! Before: a kernel whose loops are marked with dimensions.
//! After: a launch with a count for every dimension the kernel uses: the user's, the program's, or
//! enough work-items for every iteration of its loops, in groups of a moderate size.
//! Ensures: where a count is 0, the kernel has nothing to do and need not be launched.

use std::collections::{BTreeMap, BTreeSet};

use lift_ir::{Facts, Nat, Pred};
use lift_kernel::{Expr, Kernel, Launch, LoopKind, Stmt};

use crate::effects::{self, Touch, has_loop};
use crate::{Options, Target};

/// Work-items of a group, by dimension.
const GROUP_1D: [i128; 1] = [256];
const GROUP_2D: [i128; 2] = [64, 4];
const GROUP_3D: [i128; 3] = [32, 4, 2];

/// Work-items that run in step on most devices: groups of a part of them leave the rest idle.
const WARP: i128 = 32;

/// Groups that a grid of long work has at least: small ones, so that no unit of a device is idle.
const FEWEST_GROUPS: i128 = 1 << 7;

/// Grids with more iterations than this give each work-item several of them, so many along the
/// outermost dimension: starting groups would take longer than running them.
const LARGE_GRID: i128 = 1 << 22;
const PER_ITEM: i128 = 4;

/// Groups beyond the first dimension that every device of threads can start; work-items take several iterations where
/// there are more, or may be.
const MAX_GROUPS: i128 = 65535;

/// `sizes` is what is known where no loop has been entered.
pub(crate) fn choose(kernel: &mut Kernel, options: &Options, sizes: &Facts) {
    let extents = extents(&kernel.body);
    // Work-items of a group may have more dimensions than there are of groups. Further dimensions are loops of a processor.
    let used = extents.keys().copied().chain(local_dimensions(&kernel.body));
    let dimensions = used.map(|d| usize::from(d) + 1).max().unwrap_or(1).min(3);
    let grouped = has_loop(&kernel.body, &|k| matches!(k, LoopKind::Group(_)));
    if kernel.launch.local.is_empty() {
        let default: &[i128] = match dimensions {
            1 => &GROUP_1D,
            2 => &GROUP_2D,
            _ => &GROUP_3D,
        };
        let sequential = extents.is_empty();
        let in_warps = has_shuffle(&kernel.body);
        let exact = group_of(&kernel.body, dimensions, options.group_items.into())
            .filter(|_| options.target == Target::Threads)
            .filter(|local| !in_warps || local.first().is_some_and(is_whole_warps));
        kernel.launch.local = match exact {
            Some(local) => local,
            None if is_of_loops(kernel, options) => vec![Nat::int(group_of_few(&extents))],
            None => default.iter().map(|n| Nat::int(if sequential { 1 } else { *n })).collect(),
        };
    }
    if let Some(local) = &options.local {
        kernel.launch.local = local.iter().map(|n| Nat::int(i128::from(*n))).collect();
    }
    if kernel.launch.global.is_empty() {
        let mut global = Vec::new();
        let iterations = extents
            .values()
            .map(Nat::as_int)
            .try_fold(1i128, |all, n| n.and_then(|n| all.checked_mul(n)));
        // A thread that takes several elements in a row has enough to do.
        let wide = has_loop(&kernel.body, &|k| k == LoopKind::Unroll);
        let large = iterations.is_some_and(|n| n > LARGE_GRID);
        for d in 0..dimensions {
            let one = Nat::int(1);
            let local = kernel.launch.local.get(d).unwrap_or(&one).clone();
            let mut extent = extents.get(&(d as u8)).cloned().unwrap_or_else(|| one.clone());
            if large && !grouped && !wide && d + 1 == dimensions {
                extent = extent.ceil_div(&Nat::int(PER_ITEM));
            }
            let groups = if grouped { extent } else { extent.ceil_div(&local) };
            global.push(limited(groups, d, options.target) * local);
        }
        kernel.launch.global = global;
    }
    if let Some(global) = &options.global {
        kernel.launch.global = global.iter().map(|n| Nat::int(i128::from(*n))).collect();
    }
    pad(&mut kernel.launch);
    at_least_one(kernel, &extents, options.target, sizes);
}

/// Whether a kernel has one dimension of threads, each of which goes through a loop of its own.
fn is_of_loops(kernel: &Kernel, options: &Options) -> bool {
    let in_groups =
        |k| matches!(k, LoopKind::Group(_) | LoopKind::Local(_) | LoopKind::Global(1..));
    options.target == Target::Threads
        && has_loop(&kernel.body, &|k| k == LoopKind::Global(0))
        && has_loop(&kernel.body, &|k| k == LoopKind::Seq)
        && !has_loop(&kernel.body, &in_groups)
}

/// The work-items of a group, fewer of them where the grid has few iterations.
fn group_of_few(extents: &BTreeMap<u8, Nat>) -> i128 {
    let [usual] = GROUP_1D;
    let Some(iterations) = extents.get(&0).and_then(Nat::as_int) else { return usual };
    let sizes = std::iter::successors(Some(usual), |size| Some(size / 2));
    let mut sizes = sizes.take_while(|size| *size > WARP);
    sizes.find(|size| iterations / size >= FEWEST_GROUPS).unwrap_or(WARP)
}

/// As many work-items of a group as its longest loops over them have iterations, where these are numbers and their
/// product is no more than a group may have.
fn group_of(block: &[Stmt], dimensions: usize, most: i128) -> Option<Vec<Nat>> {
    let mut longest = vec![1; dimensions];
    let (mut any, mut fits) = (false, true);
    for stmt in block {
        stmt.each(&mut |s| {
            if let Stmt::Loop(l) = s
                && let LoopKind::Local(d) = l.kind
            {
                any = true;
                match (longest.get_mut(usize::from(d)), l.extent.as_int()) {
                    (Some(known), Some(n)) => *known = n.max(*known),
                    _ => fits = false,
                }
            }
        });
    }
    let all = longest.iter().try_fold(1i128, |all, n| all.checked_mul(*n))?;
    let is_group = all % WARP == 0 && all <= most;
    (any && fits && is_group).then(|| longest.into_iter().map(Nat::int).collect())
}

/// The dimensions of loops over the work-items of a group.
fn local_dimensions(block: &[Stmt]) -> BTreeSet<u8> {
    let mut found = BTreeSet::new();
    let mut look = |s: &Stmt| {
        if let Stmt::Loop(l) = s
            && let LoopKind::Local(d) = l.kind
        {
            found.insert(d);
        }
    };
    block.iter().for_each(|stmt| stmt.each(&mut look));
    found
}

/// Whether work-items give each other numbers: then the first dimension of a group is whole warps.
fn has_shuffle(block: &[Stmt]) -> bool {
    let mut found = false;
    let mut look = |s: &Stmt| {
        s.values().for_each(|value| found |= matches!(value, Expr::Shuffle(..)));
    };
    block.iter().for_each(|stmt| stmt.each(&mut look));
    found
}

fn is_whole_warps(n: &Nat) -> bool {
    n.as_int().is_some_and(|n| n % WARP == 0)
}

/// As many groups of a dimension as can be started.
fn limited(groups: Nat, dimension: usize, target: Target) -> Nat {
    match target {
        Target::Threads if dimension > 0 => Nat::min(&groups, &Nat::int(MAX_GROUPS)),
        Target::Threads | Target::Loops => groups,
    }
}

/// Counts that may be 0 while there is something to do become 1 there.
fn at_least_one(kernel: &mut Kernel, extents: &BTreeMap<u8, Nat>, target: Target, facts: &Facts) {
    let all = stores(&kernel.body);
    let times = |around: &BTreeMap<u8, Nat>| around.values().fold(Nat::ONE, |all, n| all * n);
    let any = all.iter().fold(Nat::ZERO, |sum, around| sum + times(around));
    for (d, count) in kernel.launch.global.iter_mut().enumerate() {
        if facts.proves(&Pred::Le(Nat::ONE, count.clone())) {
            continue;
        }
        let own = extents.get(&(d as u8));
        // Then nothing is stored where there is no iteration.
        let is_around_all = all.iter().all(|around| around.get(&(d as u8)) == own);
        let local = kernel.launch.local.get(d).unwrap_or(&Nat::ONE);
        // These are 0 only where the loop is.
        let follows = own.is_some_and(|extent| {
            let groups = [extent.clone(), extent.ceil_div(local)];
            let counts = groups.map(|n| limited(n, d, target) * local);
            *count == *extent || *count == extent * local || counts.contains(count)
        });
        if !(is_around_all && follows) {
            *count = facts.simplify(&Nat::max(count, &Nat::min(&Nat::ONE, &any)));
        }
    }
}

/// The loops over groups and global work-items around each store of a kernel: their lengths, by dimension.
fn stores(block: &[Stmt]) -> BTreeSet<BTreeMap<u8, Nat>> {
    let around = |touch: &Touch| {
        let lengths = touch.loops.iter().filter_map(|l| match l.kind {
            LoopKind::Global(d) | LoopKind::Group(d) => Some((d, l.extent.clone())),
            LoopKind::Local(_) | LoopKind::Seq | LoopKind::Unroll => None,
        });
        lengths.collect()
    };
    effects::touches(block).iter().filter(|touch| touch.writes).map(around).collect()
}

/// Both lists have as many dimensions.
fn pad(launch: &mut Launch) {
    let dimensions = launch.local.len().max(launch.global.len());
    launch.local.resize(dimensions, Nat::int(1));
    launch.global.resize(dimensions, Nat::int(1));
}

/// The longest loop over groups or global work-items of each dimension.
fn extents(block: &[Stmt]) -> BTreeMap<u8, Nat> {
    let mut found: BTreeMap<u8, Nat> = BTreeMap::new();
    for stmt in block {
        stmt.each(&mut |s| {
            if let Stmt::Loop(l) = s
                && let LoopKind::Global(d) | LoopKind::Group(d) = l.kind
            {
                let known = found.entry(d).or_insert_with(|| l.extent.clone());
                *known = Nat::max(known, &l.extent);
            }
        });
    }
    found
}
