//! The turns of loops: which of them are followed, and for whom they stand.

use lift_kernel::{Expr, Kernel, Loop, LoopKind, Mark, Runs, Stmt};

use lift_nat::Lanes::Same;

use super::changing::Changing;
use super::tally::LoopText;
use super::vectors::{is_innermost, is_put_inside, is_vector_code, is_written_out};
use super::{ITERATIONS, LANES, LINE, Lanes, Mask, WRITTEN_OUT, Walk};
use crate::operations;

/// Iterations that a processor does as so few vectors that no loop is left of them.
const FEW_LANES: i64 = 64;

/// Turns of a processor's innermost loop that go through a line, word by word.
const LINE_TURNS: i64 = LINE / 4;

impl<'k> Walk<'k> {
    /// The number of each lane among the threads that share a loop of a kind.
    pub(super) fn thread(&self, kind: LoopKind) -> Lanes {
        let [x, y, _] = self.shape.local.map(|n| n.max(1));
        let number = self.sample.first;
        let place = |number: i64, d: usize| match d {
            0 => number % x,
            1 => number / x % y,
            _ => number / (x * y),
        };
        let is_in_a_row = number % x + LANES as i64 <= x;
        let item = |d: usize, first: i64| match is_in_a_row {
            true => Lanes::even(first + place(number, d), i64::from(d == 0)),
            false => Lanes::each(|k| first + place(number + k as i64, d)),
        };
        match kind {
            LoopKind::Local(d) => item(d.into(), 0),
            LoopKind::Group(d) => Same(at(&self.sample.group, d)),
            LoopKind::Global(d) => {
                item(d.into(), at(&self.sample.group, d) * at(&self.shape.local, d))
            }
            LoopKind::Seq | LoopKind::Unroll => Same(0),
        }
    }

    pub(super) fn threads(&self, kind: LoopKind) -> i64 {
        match kind {
            LoopKind::Local(d) => at(&self.shape.local, d),
            LoopKind::Group(d) => at(&self.shape.groups, d),
            LoopKind::Global(d) => at(&self.shape.groups, d) * at(&self.shape.local, d),
            LoopKind::Seq | LoopKind::Unroll => 1,
        }
        .max(1)
    }

    pub(super) fn a_loop(&mut self, l: &'k Loop, mask: Mask, weight: f64) {
        let extent = self.nat(&l.extent);
        if extent.is_none() {
            self.seen.assumed.insert("a loop whose length data decides runs once".to_string());
        }
        let extent = extent.unwrap_or(Same(1));
        let parallel = parallel(l.kind);
        match self.kernel.runs {
            Runs::Threads if parallel => {
                let (first, step) = (self.thread(l.kind), self.threads(l.kind));
                let of = |turn: i64| first.plus(&Same(turn * step));
                self.iterate(l, mask, weight, &of, &extent);
            }
            Runs::Threads => self.iterate(l, mask, weight, &Same, &extent),
            Runs::Loops => self.loop_of_a_thread(l, mask, weight, extent.first(), parallel),
        }
    }

    /// Goes through the turns of a loop, in each of which a lane's variable has a value of its own.
    pub(super) fn iterate(
        &mut self,
        l: &'k Loop,
        mask: Mask,
        weight: f64,
        value: &dyn Fn(i64) -> Lanes,
        extent: &Lanes,
    ) {
        let inside = |turn: i64| -> Mask {
            let inside = value(turn).holds(extent, |n, extent| n < extent);
            std::array::from_fn(|k| mask[k] && inside[k])
        };
        let runs = |turn: i64| inside(turn).iter().any(|m| *m);
        let turns = count_while(&runs);
        let text = self.tally.loop_text(l, self.kernel);
        let chosen = self.choose(l, text, turns);
        let each = weight * turns as f64 / chosen.len().max(1) as f64;
        let unrolled = l.kind == LoopKind::Unroll
            || match self.kernel.runs {
                Runs::Threads => is_unrolled(l, text, turns),
                Runs::Loops => text.is_written_out,
            };
        let written_out = unrolled || turns <= 1;
        let loads = self.seen.loads;
        let around = self.innermost;
        let mut outer = None;
        let constants = self.constant.len();
        if unrolled {
            self.constant.push(&l.var);
        }
        if !written_out {
            let changing = Changing::new(&l.var, self.tally.stored_in(l));
            outer =
                Some((std::mem::replace(&mut self.changing, changing), self.moved, self.followed));
            self.innermost = Some(&l.var);
            self.seen.iterations += weight * turns as f64;
            self.depth += 1;
            self.moved = 1.0 / turns as f64;
            self.followed = chosen.len() as f64;
        }
        let mut fetching = Vec::with_capacity(chosen.len());
        for turn in chosen {
            self.forget();
            let number = self.scope.len();
            let before = self.seen.fetches;
            self.scope.push((&l.var, Some(value(turn))));
            self.block(&l.body, inside(turn), each);
            self.scope.truncate(number);
            fetching.push(self.seen.fetches > before);
        }
        self.constant.truncate(constants);
        if unrolled && text.may_branch && self.seen.loads > loads {
            let apart = weight * (turns - 1).max(0) as f64;
            self.seen.turns_apart += apart;
            self.seen.turns_apart_of_new += apart * part_of_new(&fetching, 1);
        }
        if let Some(outer) = outer {
            if self.seen.loads > loads {
                let at_once = at_once(l, text, turns);
                let all = weight * turns as f64;
                let together = all / at_once as f64;
                let of_new = together * part_of_new(&fetching, at_once);
                self.seen.turns_in_all += all;
                self.seen.turns += together;
                self.seen.turns_of_new += of_new;
                if text.may_branch {
                    self.seen.turns_apart += all - together;
                    self.seen.turns_apart_of_new += all * part_of_new(&fetching, 1) - of_new;
                }
            }
            self.depth -= 1;
            self.forget();
            (self.changing, self.moved, self.followed) = outer;
            self.innermost = around;
        }
    }

    /// A turn of a loop that a processor does one by one: the variable is counted on and compared.
    fn turn_of_one(&mut self, turns: f64) {
        let number = self.tally.number("i32.add");
        self.tally.add(number, true, 2.0 * turns);
    }

    /// Straight code ends here.
    pub(super) fn forget(&mut self) {
        self.known.clear();
        self.tested.clear();
    }

    /// The turns that are followed, in a row about the middle.
    pub(super) fn choose(&self, l: &Loop, text: LoopText, turns: i64) -> Vec<i64> {
        let line = self.kernel.runs == Runs::Loops && text.is_innermost;
        let most = match l.kind {
            LoopKind::Unroll => WRITTEN_OUT,
            _ if line => LINE_TURNS,
            _ => ITERATIONS.get(self.depth).copied().unwrap_or(2),
        };
        let first = (turns - most).max(0) / 2;
        // A line that the turns go through belongs to all of them.
        let first = if line { first / most * most } else { first };
        (first..turns.min(first + most)).collect()
    }

    /// On a processor: groups and work-items of the grid are iterations, of which the outermost ones are given.
    pub(super) fn loop_of_a_thread(
        &mut self,
        l: &'k Loop,
        mask: Mask,
        weight: f64,
        extent: i64,
        parallel: bool,
    ) {
        if extent <= 0 {
            return;
        }
        if parallel && matches!(l.mark, Mark::Shared { .. }) {
            return self.shared(l, weight);
        }
        let text = self.tally.loop_text(l, self.kernel);
        let is_put_inside = text.is_put_inside && !self.shares;
        let becomes_lanes = text.is_innermost || is_put_inside || l.mark == Mark::Lanes;
        if !becomes_lanes || self.in_lanes || text.is_written_out {
            return self.iterate(l, mask, weight, &Same, &Same(extent));
        }
        self.lanes_loop(l, weight, extent);
    }

    /// Loops that threads share: the sample says which of their iterations, taken together. Where they hold no other loop,
    /// neighbouring iterations are lanes, and the sample counts as many of them together.
    pub(super) fn shared(&mut self, l: &'k Loop, weight: f64) {
        let nest = l.shared_nest();
        let Some(last) = nest.last().copied() else { return };
        let lanes = self.tally.loop_text(last, self.kernel).is_innermost;
        let all: i64 =
            nest.iter().map(|l| self.nat(&l.extent).map_or(1, |e| e.first()).max(1)).product();
        // One iteration is nothing to share.
        if all > 1 {
            self.seen.forks += weight;
        }
        let first = if lanes { self.sample.first * LANES as i64 } else { self.sample.first };
        let number = match lanes {
            true => Lanes::even(first, 1),
            false => Same(first),
        };
        let inside = number.holds(&Same(all), |n, all| n < all);
        let mask: Mask = std::array::from_fn(|k| inside[k] && (lanes || k == 0));
        let known = self.scope.len();
        let mut left = number;
        // The innermost goes through its values first.
        for l in nest.iter().rev() {
            let extent = self.nat(&l.extent).map_or(1, |e| e.first()).max(1);
            self.scope.push((&l.var, Some(left.map(|n| n.rem_euclid(extent)))));
            left = left.map(|n| n.div_euclid(extent));
        }
        let before = (self.vector, self.in_lanes, self.shares);
        self.vector =
            lanes && nest.len() == 1 && self.tally.loop_text(last, self.kernel).is_vector_code;
        self.in_lanes = lanes;
        self.shares = all > 1;
        self.forget();
        self.block(&last.body, mask, weight);
        (self.vector, self.in_lanes, self.shares) = before;
        self.scope.truncate(known);
    }

    /// An innermost loop, or one that is marked so: neighbouring iterations are the lanes.
    pub(super) fn lanes_loop(&mut self, l: &'k Loop, weight: f64, extent: i64) {
        let before = (self.vector, self.in_lanes);
        self.in_lanes = true;
        let text = self.tally.loop_text(l, self.kernel);
        let is_put_inside = text.is_put_inside && !self.shares;
        self.vector = l.mark == Mark::Lanes || is_put_inside || text.is_vector_code;
        if !self.vector {
            self.turn_of_one(weight * extent as f64);
        }
        let around = self.innermost.replace(&l.var);
        // Of a few vectors nothing is left but straight code, from which the loop around moves what it leaves alone.
        let outer = (!self.vector || extent > FEW_LANES).then(|| {
            let changing = Changing::new(&l.var, self.tally.stored_in(l));
            let outer =
                (std::mem::replace(&mut self.changing, changing), self.moved, self.followed);
            self.moved = 1.0 / extent as f64;
            outer
        });
        let turns = (extent + LANES as i64 - 1) / LANES as i64;
        let chosen = self.choose(l, text, turns);
        let followed: i64 =
            chosen.iter().map(|t| (extent - t * LANES as i64).min(LANES as i64)).sum();
        let each = weight * extent as f64 / followed.max(1) as f64;
        if outer.is_some() {
            self.followed = chosen.len() as f64;
        }
        self.seen.iterations += weight * extent as f64;
        for turn in chosen {
            self.forget();
            let first = turn * LANES as i64;
            let mask = std::array::from_fn(|k| first + (k as i64) < extent);
            let number = self.scope.len();
            self.scope.push((&l.var, Some(Lanes::even(first, 1))));
            self.depth += 1;
            self.block(&l.body, mask, each);
            self.depth -= 1;
            self.scope.truncate(number);
        }
        self.forget();
        (self.vector, self.in_lanes) = before;
        self.innermost = around;
        if let Some(outer) = outer {
            (self.changing, self.moved, self.followed) = outer;
        }
    }
}

/// Instructions that a compiler for a GPU makes of a loop whose length it knows, at most, to have none left.
const UNROLLED: usize = 300;

/// Whether a compiler writes a loop out that nobody asked it to: one whose length is a number, with none in it but such, of which
/// straight code is not long. What it loads that an outer loop leaves alone is then moved out of that one.
fn is_unrolled(l: &Loop, text: LoopText, turns: i64) -> bool {
    let known = l.kind == LoopKind::Seq && l.extent.as_int().is_some();
    let turns = usize::try_from(turns).unwrap_or(usize::MAX);
    known && text.straight.is_some_and(|each| turns.saturating_mul(each) <= UNROLLED)
}

/// Instructions of a block with its loops written out; nothing where one is long, or its length is not known.
pub(super) fn straight(block: &[Stmt]) -> Option<usize> {
    let mut sum = 0usize;
    for stmt in block {
        let own = match stmt {
            Stmt::Loop(l) if parallel(l.kind) => straight(&l.body)?,
            Stmt::Loop(l) => {
                let turns = l.extent.as_int().and_then(|n| usize::try_from(n).ok())?;
                turns.saturating_mul(straight(&l.body)?)
            }
            Stmt::If { then, otherwise, .. } => 1 + straight(then)? + straight(otherwise)?,
            other => instructions(other),
        };
        sum = sum.saturating_add(own);
    }
    (sum <= UNROLLED).then_some(sum)
}

impl LoopText {
    pub(super) fn of(l: &Loop, kernel: &Kernel) -> LoopText {
        // Nobody asks of threads what a processor's compiler does.
        let is_asked = kernel.runs == Runs::Loops;
        LoopText {
            instructions: l.body.iter().map(instructions).sum(),
            straight: straight(&l.body),
            holds_loop: l.body.iter().any(holds_loop),
            is_innermost: is_asked && is_innermost(l),
            is_put_inside: is_asked && is_put_inside(l),
            is_written_out: is_asked && is_written_out(l),
            is_vector_code: is_asked && is_vector_code(l),
            may_branch: may_branch(&l.body),
            is_apart: parallel(l.kind) && !lift_kernel::is_unrolled(kernel, l),
        }
    }
}

/// Instructions of the turns of a loop that a compiler for a GPU puts together, about, and how many turns it puts together of a loop
/// whose length it does not know.
const PUT_TOGETHER: usize = 75;
const TURNS_TOGETHER: i64 = 4;

/// How many turns of a loop a compiler puts together, so that their loads begin at once: as many of a loop of known length as leave none
/// over and are not long; one of a loop that has others in it, or of threads that nobody asks it to unroll.
fn at_once(l: &Loop, text: LoopText, turns: i64) -> i64 {
    if text.holds_loop || text.is_apart {
        return 1;
    }
    if l.extent.as_int().is_none() {
        return TURNS_TOGETHER;
    }
    let most = (PUT_TOGETHER / text.instructions.max(1)) as i64;
    (1..=most.min(turns)).rev().find(|n| turns % n == 0).unwrap_or(1)
}

/// Of turns in a row, of which so many are put together, the part that asks for anything new. The first ones do because
/// those before them were not followed.
fn part_of_new(fetching: &[bool], at_once: i64) -> f64 {
    let at_once = usize::try_from(at_once).unwrap_or(1).max(1);
    let together: Vec<bool> = fetching.chunks(at_once).map(|part| part.contains(&true)).collect();
    match together.as_slice() {
        [_, others @ ..] if !others.is_empty() => {
            others.iter().filter(|is_new| **is_new).count() as f64 / others.len() as f64
        }
        few => f64::from(u8::from(few.contains(&true))),
    }
}

/// About as many as compilers have of a statement: one for each operation, two for each access.
fn instructions(stmt: &Stmt) -> usize {
    let mut count = 0;
    stmt.each(&mut |stmt| {
        count += match stmt {
            Stmt::Store { .. } | Stmt::Atomic { .. } => 2,
            Stmt::If { .. } | Stmt::Barrier(_) | Stmt::Stop(_) => 1,
            _ => 0,
        };
        for value in stmt.values() {
            value.each(&mut |e| {
                count += match e {
                    Expr::Load(..) => 2,
                    Expr::Literal(_) | Expr::Var(_) | Expr::Index(..) => 0,
                    _ => 1,
                };
            });
        }
    });
    count
}

/// Whether there is an operation in straight code that goes another way for rare values, on machines on which it is exact: no
/// load is moved across it.
fn may_branch(block: &[Stmt]) -> bool {
    let mut found = false;
    for stmt in block {
        stmt.each(&mut |stmt| {
            for value in stmt.values() {
                value.each(&mut |e| found |= operations::branches(e));
            }
        });
    }
    found
}

fn parallel(kind: LoopKind) -> bool {
    !matches!(kind, LoopKind::Seq | LoopKind::Unroll)
}

fn at(counts: &[i64; 3], d: u8) -> i64 {
    counts.get(usize::from(d)).copied().unwrap_or(1)
}

/// How many turns there are until one does not run; lanes start in order, so none runs after it.
fn count_while(runs: &dyn Fn(i64) -> bool) -> i64 {
    let (mut low, mut high) = (0, 1);
    while runs(high - 1) {
        low = high;
        high *= 2;
        if high > 1 << 40 {
            return low;
        }
    }
    // `low` turns run, `high` do not.
    while low < high - 1 {
        let middle = (low + high) / 2;
        if runs(middle - 1) { low = middle } else { high = middle }
    }
    low
}

pub fn holds_loop(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Loop(l) => l.kind != LoopKind::Unroll || l.body.iter().any(holds_loop),
        other => other.blocks().iter().any(|block| block.iter().any(holds_loop)),
    }
}
