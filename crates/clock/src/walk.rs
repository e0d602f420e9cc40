//! A kernel followed step by step, for some of its work-items.
//!
//! What a launch does is counted by doing it: all but the arithmetic on data, for a few groups spread over the
//! launch, all work-items of a warp at once. So every address is the one that the device asks for, whatever the index
//! is made of. Of long loops some iterations in a row are followed, and stand for the others.
//!
//! On a GPU the lanes are work-items of a group with neighbouring numbers. On a processor one thread runs a group, and
//! the lanes are neighbouring iterations of an innermost loop, which vector code does together.

mod chains;
mod changing;
mod data;
mod expressions;
mod loops;
mod memory;
mod requests;
mod tally;
mod touched;
mod values;
mod vectors;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use lift_ir::{QuickSet, Var};
use lift_kernel::{Buffer, BufferId, Expr, Kernel, Runs, Stmt};

use crate::operations::Operations;
use chains::Chains;
use changing::Changing;
use expressions::bounds_left;
pub use tally::Tally;
pub use touched::Touched;
pub use vectors::is_innermost;

/// Lanes that are followed together.
pub const LANES: usize = 32;
/// A number for each of them.
type Lanes = lift_nat::Lanes<LANES>;
type Mask = [bool; LANES];

/// Iterations that stand for all of a loop, outside of all others and inside of one.
const ITERATIONS: [i64; 3] = [12, 8, 4];
/// Of a loop that is written out, all up to so many.
const WRITTEN_OUT: i64 = 64;
/// No more statements are followed for one warp; what is left is not counted, and that is told.
const MOST_STEPS: u32 = 20_000;

/// The part of memory that one request of a warp fetches at least, in bytes.
pub const SECTOR: i64 = 32;
/// Of a processor, the line.
pub const LINE: i64 = 64;
/// Sectors of a line of a GPU's cache.
const LINE_SECTORS: i64 = 4;

/// What was seen of one warp, or of one thread of a processor.
#[derive(Default)]
pub struct Seen {
    /// By lane: of a warp that takes part, every lane counts.
    pub operations: Operations,
    /// The same in loops that no vector code is made of. Only on a processor.
    pub scalar_operations: Operations,
    /// Requests to global memory by a warp, and the pieces of memory they touch, stores among them.
    pub requests: f64,
    pub pieces: f64,
    pub stored: f64,
    /// Pieces that a request stores a part of.
    pub stored_parts: f64,
    /// Elements that lanes change as one step.
    pub changed: f64,
    /// Lines of the nearest cache that requests touch, and rounds of its banks until they are served.
    pub lines: f64,
    pub rounds: f64,
    /// Rounds of the banks of local memory.
    pub local: f64,
    pub barriers: f64,
    /// Loops that threads of a processor share, each time they come to one.
    pub forks: f64,
    /// Loads and stores outside of vector code. Only on a processor.
    pub scalar_accesses: f64,
    /// Words that vector code loads and stores, whole vectors of them. Only on a processor.
    pub vector_accesses: f64,
    /// Iterations of loops that are not written out.
    pub iterations: f64,
    /// How often a turn of a loop waits for loads of its own, where compilers load for several turns at once; and how often it
    /// does so besides where they do not, because an operation of the turn may branch.
    pub turns: f64,
    pub turns_apart: f64,
    /// Of both, those in which the warp asks for pieces that it has not asked for before.
    pub turns_of_new: f64,
    pub turns_apart_of_new: f64,
    /// All turns of loops with loads, put together or not.
    pub turns_in_all: f64,
    /// Requests for such pieces.
    pub fetches: u64,
    /// Loads that each turn of the innermost loop does anew.
    pub loads: f64,
    /// Which pieces of which buffer, with how often each stands for others.
    pub touched: Touched,
    pub written: Touched,
    /// Operations that wait for each other from one turn of a loop to the next, in the longest chain; and how many there are in all
    /// chains.
    pub chain: Operations,
    pub chained: f64,
    pub assumed: BTreeSet<String>,
    /// Statements and accesses that were followed.
    pub work: u64,
}

/// Where in the launch the lanes are.
#[derive(Clone, Copy)]
pub struct Sample {
    pub group: [i64; 3],
    /// The number of the first lane in its group.
    pub first: i64,
}

/// Numbers of the launch.
#[derive(Clone, Copy)]
pub struct Shape {
    pub local: [i64; 3],
    pub groups: [i64; 3],
}

pub struct Walk<'k> {
    kernel: &'k Kernel,
    shape: Shape,
    sizes: &'k dyn Fn(&Var) -> Option<i64>,
    buffers: BTreeMap<BufferId, &'k Buffer>,
    sample: Sample,
    scope: Vec<(&'k Var, Option<Lanes>)>,
    depth: usize,
    steps: u32,
    /// Where nothing but this is asked: whether anything is done, so much work or a request.
    enough: Option<u64>,
    /// On a processor: the loop whose iterations are lanes is one that becomes vector code.
    vector: bool,
    /// On a processor: the lanes are iterations of a loop around, so that those of loops inside follow each other.
    in_lanes: bool,
    /// On a processor: threads share a loop around. Its text is a function of its own, to which compilers do not tell that arrays are
    /// apart, so that they leave the order of loops alone.
    shares: bool,
    /// Numbers of the part of a block that was followed, so that an index is computed once.
    known: QuickSet<usize>,
    /// Conditions that were tested already in straight code.
    tested: QuickSet<usize>,
    changing: Changing<'k>,
    /// The part of a turn's operations that is left of one that is moved out.
    moved: f64,
    /// Turns of the innermost loop that are followed: what is moved out of it is seen as often.
    followed: f64,
    /// The variable of the innermost loop that is not written out.
    innermost: Option<&'k Var>,
    /// Variables of loops around that are written out: what is made of them alone is known to compilers.
    constant: Vec<&'k Var>,
    chains: Chains<'k>,
    /// Variables that are what a remainder or a mask leaves, with how many of two bounds that does not imply.
    bounded: BTreeMap<&'k Var, f64>,
    tally: Tally,
    seen: Seen,
}

/// Whether a warp asks for memory, or does at least so much of anything.
pub fn works<'k>(
    kernel: &'k Kernel,
    shape: Shape,
    sizes: &'k dyn Fn(&Var) -> Option<i64>,
    sample: Sample,
    tally: &RefCell<Tally>,
    enough: u64,
) -> bool {
    let seen = followed(kernel, shape, sizes, sample, tally, Some(enough));
    seen.requests > 0.0 || seen.work >= enough
}

/// Follows one warp of a GPU, or on a processor the iteration of the outermost parallel loops at a sample. The tally is the same for
/// all of a kernel.
pub fn follow<'k>(
    kernel: &'k Kernel,
    shape: Shape,
    sizes: &'k dyn Fn(&Var) -> Option<i64>,
    sample: Sample,
    tally: &RefCell<Tally>,
) -> Seen {
    followed(kernel, shape, sizes, sample, tally, None)
}

/// The same, until enough of it is seen to say that it does something.
fn followed<'k>(
    kernel: &'k Kernel,
    shape: Shape,
    sizes: &'k dyn Fn(&Var) -> Option<i64>,
    sample: Sample,
    tally: &RefCell<Tally>,
    enough: Option<u64>,
) -> Seen {
    let buffers = kernel.buffers();
    let mut tally_of_kernel = tally.take();
    tally_of_kernel.requests.begin();
    let mut walk = Walk {
        kernel,
        shape,
        sizes,
        buffers,
        sample,
        scope: Vec::new(),
        depth: 0,
        steps: 0,
        enough,
        vector: false,
        in_lanes: false,
        shares: false,
        known: QuickSet::default(),
        tested: QuickSet::default(),
        changing: Changing::default(),
        moved: 1.0,
        followed: 1.0,
        innermost: None,
        constant: Vec::new(),
        chains: Chains::default(),
        bounded: BTreeMap::new(),
        tally: tally_of_kernel,
        seen: Seen::default(),
    };
    let mask = match kernel.runs {
        Runs::Threads => {
            let items: i64 = shape.local.iter().product();
            std::array::from_fn(|k| sample.first + (k as i64) < items)
        }
        // One thread, until a loop's iterations are lanes.
        Runs::Loops => std::array::from_fn(|k| k == 0),
    };
    walk.block(&kernel.body, mask, 1.0);
    let [operations, scalar_operations] = walk.tally.take_by_name();
    let (chain, chained) = walk.chains.longest(&walk.tally);
    tally.replace(walk.tally);
    Seen { operations, scalar_operations, chain, chained, ..walk.seen }
}

impl<'k> Walk<'k> {
    fn block(&mut self, block: &'k [Stmt], mask: Mask, weight: f64) {
        let outer = self.scope.len();
        for stmt in block {
            self.stmt(stmt, mask, weight);
        }
        self.scope.truncate(outer);
    }

    fn stmt(&mut self, stmt: &'k Stmt, mask: Mask, weight: f64) {
        self.steps += 1;
        self.seen.work += 1;
        if self.steps > MOST_STEPS {
            self.seen.assumed.insert("a kernel this long is not counted to its end".to_string());
            return;
        }
        let is_enough = |work: u64| self.seen.requests > 0.0 || self.seen.work >= work;
        if !mask.iter().any(|m| *m) || self.enough.is_some_and(is_enough) {
            return;
        }
        match stmt {
            Stmt::Comment(_) => {}
            Stmt::Declare { var, value } => {
                self.changing.declare(&var.id);
                if let Some(value) = value {
                    self.expr(value, mask, weight, false);
                    self.defined(&var.id, value);
                    self.shuffle(value, weight);
                }
            }
            Stmt::Assign { var, value } => {
                self.expr(value, mask, weight, false);
                self.defined(&var.id, value);
                self.carry(&var.id, value, mask, weight);
            }
            Stmt::Index { var, value } => {
                self.expr(value, mask, weight, false);
                self.defined(var, value);
                let lanes = self.integer(value);
                self.scope.push((var, lanes));
            }
            Stmt::ThreadId { var, kind, .. } => {
                let lanes = self.thread(*kind);
                self.scope.push((var, Some(lanes)));
            }
            Stmt::Store { access, value } => {
                self.expr(value, mask, weight, false);
                self.access(access, mask, weight, true);
            }
            Stmt::Atomic { access, value, .. } => {
                self.expr(value, mask, weight, false);
                self.changed(access, mask, weight);
            }
            Stmt::Loop(l) => self.a_loop(l, mask, weight),
            Stmt::If { condition, then, otherwise } => {
                self.expr(condition, mask, weight, false);
                self.either(condition, mask, weight, |walk, mask, weight, taken| {
                    walk.block(if taken { then } else { otherwise }, mask, weight);
                });
            }
            Stmt::Barrier(_) => self.seen.barriers += weight,
            Stmt::Stop(condition) => {
                self.expr(condition, mask, weight, false);
            }
        }
    }

    fn either(
        &mut self,
        condition: &'k Expr,
        mask: Mask,
        weight: f64,
        mut branch: impl FnMut(&mut Self, Mask, f64, bool),
    ) {
        match self.truth(condition) {
            Some(holds) => {
                for taken in [true, false] {
                    let inside = std::array::from_fn(|k| mask[k] && holds[k] == taken);
                    if inside.iter().any(|m| *m) {
                        branch(self, inside, weight, taken);
                    }
                }
            }
            None => match self.in_range(condition) {
                Some(holds) => branch(self, mask, weight, holds),
                // Both sides, half as often.
                None => {
                    let note = "a condition on data holds half of the time";
                    self.seen.assumed.insert(note.to_string());
                    branch(self, mask, weight / 2.0, true);
                    branch(self, mask, weight / 2.0, false);
                }
            },
        }
    }

    fn defined(&mut self, var: &'k Var, value: &'k Expr) {
        if self.tally.changing(value, &self.changing).1 {
            self.changing.insert(var);
        }
        if let Some(bounds) = bounds_left(value) {
            self.bounded.insert(var, bounds);
        }
    }
}
