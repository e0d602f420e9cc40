//! What one launch of a kernel asks of a machine, in all.

mod distinct;
mod registers;

use std::collections::{BTreeMap, BTreeSet};

use lift_ir::{Nat, Var};
use lift_kernel::{Arg, BufferId, Kernel, Loop, Mark, Runs, Stmt};

use crate::operations::Operations;
use crate::walk::{LANES, LINE, Place, SECTOR, Seen, Shape, follow, holds_loop};
use distinct::{Pieces, union};
use registers::live;

/// Groups that are followed, each with the one after it, at most and at least.
const PAIRS: i64 = 6;
const FEWEST_PAIRS: i64 = 3;
/// Warps of a group that are followed.
const WARPS: i64 = 8;
/// Statements and accesses that are followed in a launch, about: of long kernels fewer warps and groups are.
const WORK: i64 = 100_000;
/// A warp that touches no memory and does less than the first by this factor is idle.
const IDLE: u64 = 4;
/// Groups that run at the same time on a large device, of which reuse is taken to be found in the last cache.
const AT_ONCE: f64 = 1024.0;

/// Bytes of global memory by how far away they are found.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Traffic {
    /// Asked for by warps, in whole sectors; on a processor by iterations, in lines.
    pub asked: f64,
    /// Left after what a group, or a thread, asks for twice is merged.
    pub by_group: f64,
    /// Left after what groups that run at the same time ask for is merged.
    pub by_wave: f64,
    /// Different bytes of the whole launch.
    pub distinct: f64,
}

#[derive(Clone, PartialEq, Debug, Default)]
pub struct Counts {
    /// Work-items of a group, and groups; on a processor, iterations that threads share.
    pub group_items: f64,
    pub groups: f64,
    /// By lane, all lanes of a warp that takes part among them.
    pub operations: Operations,
    /// Outside of vector code. Only on a processor.
    pub scalar_operations: Operations,
    pub read: Traffic,
    pub written: Traffic,
    /// Requests of warps to global memory, and the lines of 128 bytes that they touch.
    pub requests: f64,
    pub lines: f64,
    /// Rounds of the banks of local memory.
    pub local_rounds: f64,
    pub barriers: f64,
    pub iterations: f64,
    /// Steps of one work-item that wait for the one before.
    pub chain: Operations,
    /// Requests of one warp.
    pub warp_requests: f64,
    /// How often turns of a work-item's loops wait for loads of their own.
    pub warp_turns: f64,
    /// Of a group, in bytes.
    pub local_bytes: f64,
    /// Of a work-item, a guess.
    pub registers: f64,
    pub is_threads: bool,
    /// What is not known and was taken to be so.
    pub assumed: BTreeSet<String>,
}

impl Counts {
    /// Different bytes of global memory that the launch touches.
    pub fn footprint(&self) -> f64 {
        self.read.distinct + self.written.distinct
    }
}

/// Counts a launch. Sizes without a value count as 1024, and are told.
pub fn count(kernel: &Kernel, given: &dyn Fn(&Var) -> Option<i64>) -> Counts {
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
        let lanes: Option<[i64; 1]> = nat.eval_lanes(&|v| sizes(v).map(|n| [n]));
        lanes.map_or(1, |[n]| n).max(1)
    };
    let read = |counts: &[Nat]| [0, 1, 2].map(|d| counts.get(d).map_or(1, number));
    let (global, local) = (read(&kernel.launch.global), read(&kernel.launch.local));
    let groups: [i64; 3] = std::array::from_fn(|d| (global[d] + local[d] - 1) / local[d]);
    let shape = Shape { local, groups };
    let mut counts = match kernel.runs {
        Runs::Threads => of_threads(kernel, shape, &sizes),
        Runs::Loops => of_loops(kernel, shape, &sizes, &number),
    };
    counts.is_threads = kernel.runs == Runs::Threads;
    let bytes = |b: &lift_kernel::Buffer| number(&b.total()) as f64 * b.scalar.bytes() as f64;
    counts.local_bytes = kernel.locals.iter().map(bytes).sum();
    counts.registers = kernel.privates.iter().map(bytes).sum::<f64>() / 4.0 + live(&kernel.body);
    counts.assumed.append(&mut assumed);
    counts
}

fn of_threads(kernel: &Kernel, shape: Shape, sizes: &dyn Fn(&Var) -> Option<i64>) -> Counts {
    let group_items: i64 = shape.local.iter().product();
    let groups: i64 = shape.groups.iter().product();
    let warps = (group_items + LANES as i64 - 1) / LANES as i64;
    let at = |number: i64| {
        let [x, y, _] = shape.groups;
        [number % x, number / x % y, number / (x * y)]
    };
    let warp = |number: i64| {
        let place = Place { group: at(groups / 2), first: number * LANES as i64 };
        follow(kernel, shape, sizes, place)
    };
    let first = warp(0);
    let effort = Effort::for_work(first.work);
    let works = |number: i64| {
        let other = warp(number);
        other.requests > 0.0 || other.work.saturating_mul(IDLE) >= first.work
    };
    let busy = busy(warps, &works);
    let followed_warps: Vec<i64> = spread(busy, effort.warps);
    let mut sum = Sum::new(SECTOR, groups, effort.pairs);
    for number in pairs(groups, effort.pairs) {
        let group = at(number);
        let seen = followed_warps.iter().map(|w| {
            let place = Place { group, first: w * LANES as i64 };
            follow(kernel, shape, sizes, place)
        });
        sum.group(seen, busy as f64 / followed_warps.len().max(1) as f64);
    }
    let length = lengths(kernel, sizes);
    sum.counts(group_items as f64, groups as f64, busy as f64, &length)
}

fn of_loops(
    kernel: &Kernel,
    shape: Shape,
    sizes: &dyn Fn(&Var) -> Option<i64>,
    number: &dyn Fn(&Nat) -> i64,
) -> Counts {
    let shared = shared_iterations(&kernel.body, number);
    let place = Place { group: [0; 3], first: shared / 2 };
    let effort = Effort::for_work(follow(kernel, shape, sizes, place).work);
    let mut sum = Sum::new(LINE, shared, effort.pairs);
    for first in pairs(shared, effort.pairs) {
        let place = Place { group: [0; 3], first };
        sum.group(std::iter::once(follow(kernel, shape, sizes, place)), 1.0);
    }
    let length = lengths(kernel, sizes);
    sum.counts(1.0, shared as f64, 1.0, &length)
}

fn lengths(kernel: &Kernel, sizes: &dyn Fn(&Var) -> Option<i64>) -> BTreeMap<BufferId, f64> {
    let mut all = BTreeMap::new();
    for arg in &kernel.args {
        if let Arg::Buffer(b, _) = arg {
            let lanes: Option<[i64; 1]> = b.total().eval_lanes(&|v| sizes(v).map(|n| [n]));
            let scalars = lanes.map_or(1, |[n]| n).max(1);
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
        let lanes = nest.last().is_some_and(|last| !last.body.iter().any(holds_loop));
        if lanes { (all + LANES as i64 - 1) / LANES as i64 } else { all }
    };
    let most = block.iter().map(|stmt| match stmt {
        Stmt::Loop(l) => of(l),
        other => other.blocks().iter().map(|b| shared_iterations(b, number)).max().unwrap_or(1),
    });
    most.max().unwrap_or(1).max(1)
}

/// How many of the warps of a group do something, which are those in front: of a group that is larger than its grid, the
/// others only find that there is nothing to do.
fn busy(warps: i64, works: &dyn Fn(i64) -> bool) -> i64 {
    // The first works, those from the last on do not.
    let (mut first, mut last) = (1, warps);
    if warps <= 1 || works(warps - 1) {
        return warps;
    }
    while first < last {
        let middle = (first + last) / 2;
        if works(middle) { first = middle + 1 } else { last = middle }
    }
    first
}

/// Some of `0..count`, evenly spread, all if they are few.
fn spread(count: i64, most: i64) -> Vec<i64> {
    let taken = count.min(most);
    (0..taken).map(|k| if taken == count { k } else { (2 * k + 1) * count / (2 * taken) }).collect()
}

/// Some of `0..count` spread over it, each with the one after it. They are spread by the golden section, so that no
/// two are in the same row or column of a grid because they are evenly apart.
fn pairs(count: i64, pairs: i64) -> Vec<i64> {
    if count <= 2 * pairs {
        return (0..count).collect();
    }
    let place = |k: i64| {
        let part = (0.5 + k as f64 * 0.618_033_988_75).fract();
        ((count - 1) as f64 * part) as i64
    };
    (0..pairs).flat_map(|k| [place(k), place(k) + 1]).collect()
}

/// How much of a launch is followed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Effort {
    pairs: i64,
    warps: i64,
}

impl Effort {
    /// Where one warp takes so much work.
    fn for_work(each: u64) -> Effort {
        let most = WORK / i64::try_from(each).unwrap_or(i64::MAX).max(1);
        let warps = (most / (2 * PAIRS)).clamp(1, WARPS);
        Effort { pairs: (most / (2 * warps)).clamp(FEWEST_PAIRS, PAIRS), warps }
    }
}

struct Sum {
    piece: f64,
    /// Every group is followed.
    all: bool,
    groups: f64,
    seen: Seen,
    read: BTreeMap<BufferId, Pieces>,
    written: BTreeMap<BufferId, Pieces>,
}

impl Sum {
    fn new(piece: i64, groups: i64, pairs: i64) -> Sum {
        let (read, written) = (BTreeMap::new(), BTreeMap::new());
        let all = groups <= 2 * pairs;
        Sum { piece: piece as f64, all, groups: 0.0, seen: Seen::default(), read, written }
    }

    /// Adds a group of which some warps were followed; each stands for so many.
    fn group(&mut self, warps: impl Iterator<Item = Seen>, times: f64) {
        let mut touched = BTreeMap::new();
        let mut written = BTreeMap::new();
        for warp in warps {
            let to = &mut self.seen;
            add(&mut to.operations, &warp.operations, times);
            add(&mut to.scalar_operations, &warp.scalar_operations, times);
            add(&mut to.chain, &warp.chain, times);
            to.requests += warp.requests * times;
            to.lines += warp.lines * times;
            to.pieces += warp.pieces * times;
            to.stored += warp.stored * times;
            to.local += warp.local * times;
            to.barriers += warp.barriers * times;
            to.iterations += warp.iterations * times;
            to.turns += warp.turns * times;
            to.assumed.extend(warp.assumed);
            for (key, weight) in warp.touched {
                touched.entry(key).or_insert(weight);
            }
            for (key, weight) in warp.written {
                written.entry(key).or_insert(weight);
            }
        }
        // Where all are followed, none stands for others.
        let first = self.all || self.groups as i64 % 2 == 0;
        for (into, pieces) in [(&mut self.read, touched), (&mut self.written, written)] {
            let mut by_buffer: BTreeMap<BufferId, BTreeMap<i64, f64>> = BTreeMap::new();
            for ((buffer, piece), weight) in pieces {
                by_buffer.entry(buffer).or_default().insert(piece, weight * times);
            }
            for (buffer, pieces) in by_buffer {
                into.entry(buffer).or_default().add(&pieces, first);
            }
        }
        self.groups += 1.0;
    }

    /// `warps` of a group do something.
    fn counts(
        self,
        group_items: f64,
        groups: f64,
        warps: f64,
        length: &BTreeMap<BufferId, f64>,
    ) -> Counts {
        let times = groups / self.groups.max(1.0);
        let scaled = |of: &Operations, times: f64| {
            of.iter().map(|(name, n)| (name.clone(), n * times)).collect::<Operations>()
        };
        let followed = self.groups;
        let traffic = |asked: f64, of: BTreeMap<BufferId, Pieces>| {
            let mut traffic = Traffic { asked: asked * times * self.piece, ..Traffic::default() };
            for (buffer, mut pieces) in of {
                pieces.end_pair();
                let most = length.get(&buffer).copied().unwrap_or(f64::INFINITY);
                let each = pieces.by_group / followed * self.piece;
                let (apart, pairs) = match self.all {
                    true => (followed, followed),
                    false => ((followed / 2.0).ceil(), (followed / 2.0).ceil()),
                };
                let distinct = (pieces.distinct(apart, groups) * self.piece).min(most);
                let pair = pieces.by_pair / pairs * self.piece;
                let wave = groups.min(AT_ONCE);
                let by_wave =
                    union(each, pair, 2.0_f64.min(followed), wave).min(distinct) * groups / wave;
                traffic.by_group += each * groups;
                traffic.by_wave += by_wave.clamp(distinct, (each * groups).max(distinct));
                traffic.distinct += distinct;
            }
            traffic
        };
        let asked = self.seen.pieces - self.seen.stored;
        let per_warp = 1.0 / (followed * warps).max(1.0);
        Counts {
            group_items,
            groups,
            operations: scaled(&self.seen.operations, times),
            scalar_operations: scaled(&self.seen.scalar_operations, times),
            read: traffic(asked, self.read),
            written: traffic(self.seen.stored, self.written),
            requests: self.seen.requests * times,
            lines: self.seen.lines * times,
            local_rounds: self.seen.local * times,
            barriers: self.seen.barriers * times,
            iterations: self.seen.iterations * times,
            chain: scaled(&self.seen.chain, per_warp),
            warp_requests: self.seen.requests * per_warp,
            warp_turns: self.seen.turns * per_warp,
            assumed: self.seen.assumed,
            ..Counts::default()
        }
    }
}

fn add(to: &mut Operations, from: &Operations, times: f64) {
    for (name, n) in from {
        *to.entry(name.clone()).or_default() += n * times;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_followed_is_spread_over_all() {
        assert_eq!(pairs(3, PAIRS), [0, 1, 2]);
        assert_eq!(pairs(100, PAIRS), [49, 50, 11, 12, 72, 73, 35, 36, 96, 97, 58, 59]);
        assert_eq!(spread(5, 8), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn warps_that_work_are_in_front() {
        for working in 1..=8 {
            assert_eq!(busy(8, &|number| number < working), working);
        }
        assert_eq!(busy(1, &|_| true), 1);
    }

    #[test]
    fn of_long_kernels_less_is_followed() {
        assert_eq!(Effort::for_work(20), Effort { pairs: 6, warps: 8 });
        assert_eq!(Effort::for_work(3000), Effort { pairs: 6, warps: 2 });
        assert_eq!(Effort::for_work(1_000_000), Effort { pairs: 3, warps: 1 });
        assert_eq!(Effort::for_work(0), Effort { pairs: 6, warps: 8 });
        for each in [1, 30, 300, 3000, 9000] {
            let effort = Effort::for_work(each);
            assert!(2 * effort.pairs * effort.warps * each as i64 <= WORK, "{each}: {effort:?}");
        }
    }
}
