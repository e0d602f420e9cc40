//! What one launch of a kernel asks of a machine, in all.

mod distinct;
mod followed;
mod registers;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

use lift_ir::{Nat, Var};
use lift_kernel::{Arg, BufferId, Kernel, Loop, Mark, Runs, Stmt};
use lift_nat::Lanes;

use crate::operations::Operations;
use crate::walk::{
    LANES, LINE, SECTOR, Sample, Seen, Shape, Tally, Touched, follow, is_innermost, works,
};
use distinct::{Part, Pieces};
use followed::{Effort, at_once, at_once_for_work, samples, spread};
use registers::live;

/// What the nearest cache of a unit keeps, in bytes, as GPUs have it beside local memory; a processor's core keeps no less.
const KEPT: f64 = 131_072.0;
/// An array of which a launch touches a smaller part is touched here and there.
const SPARSE: f64 = 0.6;
/// A warp that touches no memory and does less than the first by this factor is idle.
const IDLE: u64 = 4;

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
    /// Left after what groups that run at the same time ask for is merged.
    pub by_wave: f64,
    /// Different bytes of the whole launch.
    pub distinct: f64,
    /// Of those of `by_wave`, the ones whose neighbours nobody asks for at the same time.
    pub scattered: f64,
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
    pub read: Traffic,
    pub written: Traffic,
    /// Requests of warps to global memory, the lines of 128 bytes that they touch, and the rounds of the nearest cache's banks.
    pub requests: f64,
    pub lines: f64,
    pub rounds: f64,
    /// Sectors of which a request of a warp writes a part.
    pub stored_parts: f64,
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
            let enough = first.work / IDLE;
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
    let mut sum = Sum::new(SECTOR, shape.groups, 1);
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
    let mut sum = Sum::new(SECTOR, shape.groups, effort.samples);
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
    let mut sum = Sum::new(LINE, [shared, 1, 1], effort.samples);
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
        if lanes { (all + LANES as i64 - 1) / LANES as i64 } else { all }
    };
    let most = block.iter().map(|stmt| match stmt {
        Stmt::Loop(l) => of(l),
        other => other.blocks().iter().map(|b| shared_iterations(b, number)).max().unwrap_or(1),
    });
    most.max().unwrap_or(1).max(1)
}

struct Sum {
    piece: f64,
    /// Of the launch, in each dimension.
    grid: [i64; 3],
    /// Every group is followed.
    all: bool,
    groups: f64,
    seen: Seen,
    read: BTreeMap<BufferId, Pieces>,
    written: BTreeMap<BufferId, Pieces>,
    /// What some warps read that run at the same time, each of another group.
    wave: BTreeMap<BufferId, Pieces>,
}

impl Sum {
    fn new(piece: i64, grid: [i64; 3], samples: i64) -> Sum {
        let (read, written, wave) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let all = grid.iter().product::<i64>() <= 2 * samples;
        let piece = piece as f64;
        Sum { piece, grid, all, groups: 0.0, seen: Seen::default(), read, written, wave }
    }

    /// Groups on both sides of one, and one far away in the same row, in a dimension that changes with the number; none where all
    /// are followed anyway.
    fn neighbours(&self, number: usize, group: [i64; 3]) -> Vec<([i64; 3], Part)> {
        let dimensions: Vec<usize> = (0..3).filter(|d| self.grid[*d] > 1).collect();
        let d = dimensions.get(number % dimensions.len().max(1)).filter(|_| !self.all);
        let Some(d) = d.copied() else { return Vec::new() };
        let moved = |to: i64| {
            let mut next = group;
            next[d] = to;
            next
        };
        let beside =
            [group[d] - 1, group[d] + 1].into_iter().filter(|n| (0..self.grid[d]).contains(n));
        let mut all: Vec<_> = beside.map(|n| (moved(n), Part::Near(d))).collect();
        // An odd number away, as indices are often taken modulo powers of two.
        let away = (self.grid[d] * 382 / 1000) | 1;
        all.push((moved((group[d] + away) % self.grid[d]), Part::Far(d)));
        all
    }

    /// So many of the groups that run at the same time about the middle of the launch; none where all are followed anyway.
    fn at_the_same_time(&self, most: i64) -> Vec<[i64; 3]> {
        let wave = at_once(self.grid);
        let count = wave.iter().product::<i64>();
        if self.all || most == 0 || count <= 2 * most {
            return Vec::new();
        }
        let group = |number: i64| {
            let [x, y, _] = wave;
            let inside = [number % x, number / x % y, number / (x * y)];
            std::array::from_fn(|d| (self.grid[d] - wave[d]) / 2 + inside[d])
        };
        // By chance, but the same every time: what is evenly spread may never meet.
        let mut random = fastrand::Rng::with_seed(1);
        (0..most).map(|_| group(random.i64(0..count))).collect()
    }

    /// Adds a warp of those that run at the same time.
    fn of_wave(&mut self, warp: Seen) {
        self.seen.work += warp.work;
        for (buffer, pieces) in warp.touched.by_buffer() {
            self.wave.entry(buffer).or_default().add(pieces, 1.0, Part::First);
        }
    }

    /// Adds a group of which some warps were followed; each stands for so many.
    fn group(&mut self, warps: Vec<Seen>, times: f64, part: Part) {
        let (mut touched, mut written) = (Touched::default(), Touched::default());
        for warp in warps {
            let to = &mut self.seen;
            add(&mut to.operations, &warp.operations, times);
            add(&mut to.scalar_operations, &warp.scalar_operations, times);
            to.scalar_accesses += warp.scalar_accesses * times;
            add(&mut to.chain, &warp.chain, times);
            to.chained += warp.chained * times;
            to.requests += warp.requests * times;
            to.lines += warp.lines * times;
            to.rounds += warp.rounds * times;
            to.pieces += warp.pieces * times;
            to.stored += warp.stored * times;
            to.stored_parts += warp.stored_parts * times;
            to.local += warp.local * times;
            to.barriers += warp.barriers * times;
            to.forks += warp.forks * times;
            to.iterations += warp.iterations * times;
            to.turns += warp.turns * times;
            to.turns_apart += warp.turns_apart * times;
            to.work += warp.work;
            to.assumed.extend(warp.assumed);
            touched.append(warp.touched);
            written.append(warp.written);
        }
        for (into, pieces) in [(&mut self.read, touched), (&mut self.written, written)] {
            for (buffer, pieces) in pieces.by_buffer() {
                into.entry(buffer).or_default().add(pieces, times, part);
            }
        }
        self.groups += 1.0;
    }

    /// `warps` of a group do something.
    fn counts(self, group_items: f64, warps: f64, length: &BTreeMap<BufferId, f64>) -> Counts {
        let groups = self.grid.iter().product::<i64>() as f64;
        let times = groups / self.groups.max(1.0);
        let scaled = |of: &Operations, times: f64| {
            of.iter().map(|(name, n)| (name.clone(), n * times)).collect::<Operations>()
        };
        let followed = self.groups;
        let traffic = |asked: f64,
                       of: BTreeMap<BufferId, Pieces>,
                       wave_of: &BTreeMap<_, Pieces>| {
            let mut traffic = Traffic { asked: asked * times * self.piece, ..Traffic::default() };
            for (buffer, pieces) in of {
                let pieces = pieces.known();
                let most = length.get(&buffer).copied().unwrap_or(f64::INFINITY);
                let each = pieces.each() * self.piece;
                let distinct = (pieces.distinct(self.grid) * self.piece).min(most);
                // What all groups look up and a unit keeps comes to it once.
                let (own, common) = pieces.own_and_common();
                let is_kept = !self.all && common * self.piece <= KEPT;
                let (own, common) = match is_kept {
                    true => (own * self.piece, common * self.piece),
                    false => (each, 0.0),
                };
                traffic.by_unit += own * groups;
                traffic.kept += common;
                let wave = at_once(self.grid);
                let waves = groups / wave.iter().product::<i64>() as f64;
                // Neighbours say what is shared with them; warps here and there say what is shared at all.
                let beside = pieces.distinct(wave);
                let running = wave.iter().product::<i64>() * warps as i64;
                let among = wave_of
                    .get(&buffer)
                    .map_or(beside, |some| some.known().distinct([running, 1, 1]));
                let by_wave = (beside.min(among) * self.piece).min(distinct) * waves;
                let by_wave = by_wave.clamp(distinct, (each * groups).max(distinct));
                // What is fetched once and leaves nothing out comes with its neighbours, whoever asks for them.
                let sparse = if distinct < SPARSE * most { distinct } else { 0.0 };
                traffic.scattered += pieces.lonely() * (by_wave - distinct + sparse);
                traffic.by_group += each * groups;
                traffic.by_wave += by_wave;
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
            scalar_accesses: self.seen.scalar_accesses * times,
            read: traffic(asked, self.read, &self.wave),
            written: traffic(self.seen.stored, self.written, &BTreeMap::new()),
            requests: self.seen.requests * times,
            lines: self.seen.lines * times,
            rounds: self.seen.rounds * times,
            stored_parts: self.seen.stored_parts * times,
            local_rounds: self.seen.local * times,
            barriers: self.seen.barriers * times,
            iterations: self.seen.iterations * times,
            chains: self.seen.chained / self.seen.chain.values().sum::<f64>().max(1e-9),
            chain: scaled(&self.seen.chain, per_warp),
            warp_requests: self.seen.requests * per_warp,
            warp_barriers: self.seen.barriers * per_warp,
            forks: self.seen.forks * per_warp,
            warp_turns: self.seen.turns * per_warp,
            warp_turns_apart: self.seen.turns_apart * per_warp,
            assumed: self.seen.assumed,
            followed: self.seen.work,
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

    /// Every group reads columns of its own rows, and another one the rest of each piece: not a neighbour, but one that runs at
    /// the same time.
    #[test]
    fn what_is_shared_at_the_same_time_is_found() {
        let mut sum = Sum::new(SECTOR, [32, 8192, 1], 6);
        let chosen = sum.at_the_same_time(64);
        assert_eq!(chosen.len(), 64);
        let row = (8192 - 32) / 2;
        assert!(
            chosen.iter().all(|[x, y, _]| *x < 32 && (row..row + 32).contains(y)),
            "{chosen:?}"
        );
        assert!(Sum::new(SECTOR, [4, 2, 1], 6).at_the_same_time(64).is_empty());
        let read = |[x, y, _]: [i64; 3], warp: i64| {
            let row = |lane: i64| (248 * y + 256 * x + 32 * warp + lane) % 8192;
            let mut touched = Touched::default();
            touched.add(BufferId(0), (0..32).map(|lane| (1024 * row(lane) + y / 8, 1.0)));
            Seen { touched, ..Seen::default() }
        };
        let all = |group: [i64; 3]| (0..8).map(|warp| read(group, warp)).collect::<Vec<Seen>>();
        for (k, number) in samples(32 * 8192, 6).into_iter().enumerate() {
            let group = [number % 32, number / 32, 0];
            sum.group(all(group), 1.0, Part::First);
            for (next, part) in sum.neighbours(k, group) {
                sum.group(all(next), 1.0, part);
            }
        }
        for (k, group) in chosen.into_iter().enumerate() {
            sum.of_wave(read(group, k as i64 % 8));
        }
        let counts = sum.counts(256.0, 8.0, &BTreeMap::new());
        // Four bytes of each work-item, where each asked for a whole piece.
        let items = 32.0 * 8192.0 * 256.0;
        let each = counts.read.by_wave / items;
        assert!((2.0..8.0).contains(&each), "{each}");
        assert_eq!(counts.read.by_group, 32.0 * items);
    }

    #[test]
    fn groups_are_followed_beside_others_in_every_dimension() {
        let sum = Sum::new(SECTOR, [4, 50, 1], 6);
        let (near, far) = (Part::Near, Part::Far);
        let inside = [([0, 7, 0], near(0)), ([2, 7, 0], near(0)), ([2, 7, 0], far(0))];
        assert_eq!(sum.neighbours(0, [1, 7, 0]), inside);
        let other = [([1, 6, 0], near(1)), ([1, 8, 0], near(1)), ([1, 26, 0], far(1))];
        assert_eq!(sum.neighbours(1, [1, 7, 0]), other);
        assert_eq!(sum.neighbours(2, [3, 7, 0]), [([2, 7, 0], near(0)), ([0, 7, 0], far(0))]);
        assert_eq!(Sum::new(SECTOR, [4, 2, 1], 6).neighbours(0, [0, 0, 0]), []);
    }
}
