//! What one launch of a kernel asks of a machine, in all.

mod distinct;
mod followed;
mod registers;
mod sum;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

use lift_ir::{Nat, Var};
use lift_kernel::{Arg, BufferId, Kernel, Loop, Mark, Runs, Stmt};
use lift_nat::Lanes;

use crate::operations::Operations;
use crate::walk::{
    LANES, LINE, SECTOR, Sample, Seen, Shape, Tally, Touched, follow, is_innermost, works,
};
use distinct::Part;
use followed::{Effort, at_once_for_work, samples, spread};
use registers::live;
use sum::Sum;

/// A warp that touches no memory and does less than the first by this factor is idle, and so is one that does no more than it takes to
/// find that there is nothing to do.
const IDLE: u64 = 4;
const NOTHING: u64 = 4;

/// Bytes of global memory by how far away they are found.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Traffic {
    /// Asked for by warps, in whole sectors; on a processor by iterations, in lines.
    pub asked: f64,
    /// Left after what a group, or a thread, asks for twice is merged.
    pub by_group: f64,
    /// The same without what the nearest cache keeps from one group to the next, and how much that is in each of them.
    pub by_unit: f64,
    pub kept: f64,
    /// Of those of `by_unit`, the ones whose neighbours their group does not ask for.
    pub lonely: f64,
    /// Left after what groups that run at the same time ask for is merged.
    pub by_wave: f64,
    /// Different bytes of the whole launch.
    pub distinct: f64,
    /// Of those of `by_wave`, the ones whose neighbours nobody asks for at the same time.
    pub scattered: f64,
    /// Lines that iterations touch and the nearest cache of a processor's core does not keep, though they are few, because they crowd
    /// in it; and those that crowd in the core's own cache too, which are not among the former.
    pub crowded: f64,
    pub crowded_out: f64,
}

#[derive(Clone, PartialEq, Debug, Default)]
pub struct Counts {
    /// Work-items of a group, and groups; on a processor, iterations that threads share.
    pub group_items: f64,
    pub groups: f64,
    /// By lane, all lanes of a warp that takes part among them.
    pub operations: Operations,
    /// Outside of vector code, with loads and stores. Only on a processor.
    pub scalar_operations: Operations,
    pub scalar_accesses: f64,
    /// Words that vector code loads and stores, whole vectors of them. Only on a processor.
    pub vector_accesses: f64,
    pub read: Traffic,
    pub written: Traffic,
    /// Requests of warps to global memory, the lines of 128 bytes that they touch, and the rounds of the nearest cache's banks.
    pub requests: f64,
    pub lines: f64,
    pub rounds: f64,
    /// Sectors of which a request of a warp writes a part.
    pub stored_parts: f64,
    /// Elements of global memory that work-items change as one step.
    pub changed: f64,
    /// Rounds of the banks of local memory.
    pub local_rounds: f64,
    pub barriers: f64,
    pub iterations: f64,
    /// Steps of one work-item that wait for the one before, in the longest chain; and how many chains go on side by side.
    pub chain: Operations,
    pub chains: f64,
    /// Requests of one warp.
    pub warp_requests: f64,
    /// Barriers that one warp comes to.
    pub warp_barriers: f64,
    /// How often threads of a processor begin to share a loop.
    pub forks: f64,
    /// How often turns of a work-item's loops wait for loads of their own.
    pub warp_turns: f64,
    /// How many more turns wait where an operation in them branches.
    pub warp_turns_apart: f64,
    /// All turns of loops that load, put together by compilers or not.
    pub warp_turns_in_all: f64,
    /// Of both, those in which it asks for what its warp has not asked for before.
    pub warp_turns_of_new: f64,
    pub warp_turns_apart_of_new: f64,
    /// Warps of a group that do something.
    pub warps: f64,
    /// Of a group, in bytes.
    pub local_bytes: f64,
    /// Of a work-item, a guess.
    pub registers: f64,
    pub is_threads: bool,
    /// What is not known and was taken to be so.
    pub assumed: BTreeSet<String>,
    /// Statements and accesses that were followed to count all this.
    pub followed: u64,
}

impl Counts {
    /// Different bytes of global memory that the launch touches.
    pub fn footprint(&self) -> f64 {
        self.read.distinct + self.written.distinct
    }
}

/// Counts a launch. Sizes without a value count as 1024, and are told.
pub fn count(kernel: &Kernel, given: &dyn Fn(&Var) -> Option<i64>) -> Counts {
    count_begun(kernel, given, None)
}

/// What is known of a launch of threads as soon as one warp, or a few, were followed: how much work one takes, and how many of a
/// group do something.
#[derive(Clone)]
pub(crate) struct Begun {
    work: u64,
    busy: Vec<i64>,
}

/// The same, where the beginning was made.
pub(crate) fn count_begun(
    kernel: &Kernel,
    given: &dyn Fn(&Var) -> Option<i64>,
    begun: Option<Begun>,
) -> Counts {
    counted(kernel, given, &|shape, sizes, number| match kernel.runs {
        Runs::Threads => of_threads(kernel, shape, sizes, begun.clone()),
        Runs::Loops => of_loops(kernel, shape, sizes, number),
    })
}

/// What a launch of threads asks for at least, where groups are like the one in the middle and another: nothing of memory that
/// caches may keep, and all else. It takes following a few warps.
pub(crate) fn count_least(
    kernel: &Kernel,
    given: &dyn Fn(&Var) -> Option<i64>,
) -> (Counts, Option<Begun>) {
    let begun = Cell::new(None);
    let counts = counted(kernel, given, &|shape, sizes, _| {
        let (counts, own) = least_of_threads(kernel, shape, sizes);
        begun.set(Some(own));
        counts
    });
    (counts, begun.take())
}

/// What is known of a launch from its shape, the values of sizes, and those of expressions.
type OfShape<'a> = &'a dyn Fn(Shape, &dyn Fn(&Var) -> Option<i64>, &dyn Fn(&Nat) -> i64) -> Counts;

fn counted(kernel: &Kernel, given: &dyn Fn(&Var) -> Option<i64>, of: OfShape<'_>) -> Counts {
    let mut assumed = BTreeSet::new();
    for arg in &kernel.args {
        if let Arg::Size(var) = arg
            && given(var).is_none()
        {
            assumed.insert(format!("the size `{var}` is 1024"));
        }
    }
    let sizes = |var: &Var| Some(given(var).unwrap_or(1024));
    let number = |nat: &Nat| {
        let value = nat.eval_lanes::<1>(&|v| sizes(v).map(Lanes::Same));
        value.map_or(1, |n| n.first()).max(1)
    };
    let read = |counts: &[Nat]| [0, 1, 2].map(|d| counts.get(d).map_or(1, number));
    let (global, local) = (read(&kernel.launch.global), read(&kernel.launch.local));
    let groups: [i64; 3] = std::array::from_fn(|d| (global[d] + local[d] - 1) / local[d]);
    let mut counts = of(Shape { local, groups }, &sizes, &number);
    counts.is_threads = kernel.runs == Runs::Threads;
    let bytes = |b: &lift_kernel::Buffer| number(&b.total()) as f64 * b.scalar.bytes() as f64;
    counts.local_bytes = kernel.locals.iter().map(bytes).sum();
    let index = if kernel.wide_indices { 2.0 } else { 1.0 };
    let privates = kernel.privates.iter().map(bytes).sum::<f64>() / 4.0;
    counts.registers = privates + live(&kernel.body, index);
    counts.assumed.append(&mut assumed);
    counts
}

/// The warps of a launch, of which some are followed.
struct Warps<'k> {
    kernel: &'k Kernel,
    shape: Shape,
    sizes: &'k dyn Fn(&Var) -> Option<i64>,
    tally: RefCell<Tally>,
}

impl Warps<'_> {
    fn follow(&self, group: [i64; 3], number: i64) -> Seen {
        let sample = Sample { group, first: number * LANES as i64 };
        follow(self.kernel, self.shape, self.sizes, sample, &self.tally)
    }

    fn group_items(&self) -> i64 {
        self.shape.local.iter().product()
    }

    fn groups(&self) -> i64 {
        self.shape.groups.iter().product()
    }

    fn group(&self, number: i64) -> [i64; 3] {
        let [x, y, _] = self.shape.groups;
        [number % x, number / x % y, number / (x * y)]
    }

    /// The first warp of the group in the middle, and which warps of it do something: of a group that is larger than its grid, in any
    /// dimension, the others only find that there is nothing to do.
    fn first_and_busy(&self) -> (Seen, Vec<i64>) {
        let middle = self.group(self.groups() / 2);
        let warps = (self.group_items() + LANES as i64 - 1) / LANES as i64;
        let first = self.follow(middle, 0);
        let works = |number: &i64| {
            let sample = Sample { group: middle, first: number * LANES as i64 };
            let enough = (first.work / IDLE).max(NOTHING);
            works(self.kernel, self.shape, self.sizes, sample, &self.tally, enough)
        };
        let busy = std::iter::once(0).chain((1..warps).filter(works)).collect();
        (first, busy)
    }
}

fn least_of_threads(
    kernel: &Kernel,
    shape: Shape,
    sizes: &dyn Fn(&Var) -> Option<i64>,
) -> (Counts, Begun) {
    let warps = Warps { kernel, shape, sizes, tally: RefCell::default() };
    let (first, busy) = warps.first_and_busy();
    let working = busy.len() as f64;
    let begun = Begun { work: first.work, busy };
    let mut sum = Sum::new(&arrays_of(kernel), SECTOR, shape.groups, 1);
    let other = samples(warps.groups(), 2).get(1).map(|n| warps.follow(warps.group(*n), 0));
    for warp in std::iter::once(first).chain(other) {
        // Pieces are not looked at: all of them may be in caches.
        let warp = Seen { touched: Touched::default(), written: Touched::default(), ..warp };
        sum.group(vec![warp], working, Part::First);
    }
    (sum.counts(warps.group_items() as f64, working, &BTreeMap::new()), begun)
}

fn of_threads(
    kernel: &Kernel,
    shape: Shape,
    sizes: &dyn Fn(&Var) -> Option<i64>,
    begun: Option<Begun>,
) -> Counts {
    let warps = Warps { kernel, shape, sizes, tally: RefCell::default() };
    let Begun { work, busy } = begun.unwrap_or_else(|| {
        let (first, busy) = warps.first_and_busy();
        Begun { work: first.work, busy }
    });
    let effort = Effort::for_work(work);
    let working = busy.len() as i64;
    let nth = |n: i64| usize::try_from(n).ok().and_then(|n| busy.get(n)).copied().unwrap_or(0);
    let followed_warps: Vec<i64> = spread(working, effort.warps).into_iter().map(nth).collect();
    let mut sum = Sum::new(&arrays_of(kernel), SECTOR, shape.groups, effort.samples);
    let each = working as f64 / followed_warps.len().max(1) as f64;
    let seen = |group: [i64; 3]| {
        followed_warps.iter().map(|w| warps.follow(group, *w)).collect::<Vec<Seen>>()
    };
    for (k, number) in samples(warps.groups(), effort.samples).into_iter().enumerate() {
        let group = warps.group(number);
        sum.group(seen(group), each, Part::First);
        for (next, part) in sum.neighbours(k, group) {
            sum.group(seen(next), each, part);
        }
    }
    for (k, group) in sum.at_the_same_time(at_once_for_work(work)).into_iter().enumerate() {
        let number = k as i64 % working.max(1);
        sum.of_wave(warps.follow(group, nth(number)));
    }
    let length = lengths(kernel, sizes);
    sum.counts(warps.group_items() as f64, working as f64, &length)
}

fn of_loops(
    kernel: &Kernel,
    shape: Shape,
    sizes: &dyn Fn(&Var) -> Option<i64>,
    number: &dyn Fn(&Nat) -> i64,
) -> Counts {
    let shared = shared_iterations(&kernel.body, number);
    let sample = Sample { group: [0; 3], first: shared / 2 };
    let tally = RefCell::default();
    let effort = Effort::for_work(follow(kernel, shape, sizes, sample, &tally).work);
    let mut sum = Sum::new(&arrays_of(kernel), LINE, [shared, 1, 1], effort.samples);
    let seen = |first: i64| {
        let sample = Sample { group: [0; 3], first };
        vec![follow(kernel, shape, sizes, sample, &tally)]
    };
    for (k, first) in samples(shared, effort.samples).into_iter().enumerate() {
        sum.group(seen(first), 1.0, Part::First);
        for ([next, _, _], part) in sum.neighbours(k, [first, 0, 0]) {
            sum.group(seen(next), 1.0, part);
        }
    }
    let length = lengths(kernel, sizes);
    sum.counts(1.0, 1.0, &length)
}

fn arrays_of(kernel: &Kernel) -> Vec<BufferId> {
    let array = |arg: &Arg| match arg {
        Arg::Buffer(buffer, _) => Some(buffer.id),
        Arg::Scalar(_) | Arg::Size(_) => None,
    };
    kernel.args.iter().filter_map(array).collect()
}

fn lengths(kernel: &Kernel, sizes: &dyn Fn(&Var) -> Option<i64>) -> BTreeMap<BufferId, f64> {
    let mut all = BTreeMap::new();
    for arg in &kernel.args {
        if let Arg::Buffer(b, _) = arg {
            let scalars = b.total().eval_lanes::<1>(&|v| sizes(v).map(Lanes::Same));
            let scalars = scalars.map_or(1, |n| n.first()).max(1);
            all.insert(b.id, scalars as f64 * b.scalar.bytes() as f64);
        }
    }
    all
}

/// How many iterations threads share, where they are most; of loops without others inside, so many lanes count as one.
fn shared_iterations(block: &[Stmt], number: &dyn Fn(&Nat) -> i64) -> i64 {
    let of = |l: &Loop| {
        if !matches!(l.mark, Mark::Shared { .. }) {
            return shared_iterations(&l.body, number);
        }
        let nest = l.shared_nest();
        let all = nest.iter().fold(1i64, |n, l| n.saturating_mul(number(&l.extent)));
        let lanes = nest.last().is_some_and(|last| is_innermost(last));
        if lanes { all.saturating_add(LANES as i64 - 1) / LANES as i64 } else { all }
    };
    let most = block.iter().map(|stmt| match stmt {
        Stmt::Loop(l) => of(l),
        other => other.blocks().iter().map(|b| shared_iterations(b, number)).max().unwrap_or(1),
    });
    most.max().unwrap_or(1).max(1)
}
