//! What the points of a grid do: which loops are over points, what each point folds, which accesses vary along which loop.
//!
//! From the indices alone: an access that does not vary along a loop is shared along it; one that moves by one element lies
//! side by side. Passes that tile grids decide by this, whatever the program was.

use std::collections::BTreeSet;

use lift_ir::{Facts, Nat, Var};
use lift_kernel::{Access, BufferId, Kernel, Loop, LoopKind, Stmt, only_loop};

use crate::effects::{Counts, touches};

/// Elements between two steps of a fold from which on each is in another page, and all are in few places of the cache.
pub(crate) const FAR: i128 = 512;

/// Iterations of a fold, at least, and of one that is short.
const STEPS: i128 = 8;
const FEW_STEPS: i128 = 4;

/// Rows that a packed operand is read for, at least.
pub(crate) const PACKED_FOR: i128 = 16;

/// Steps of all the loops that count a packed operand, at most, where they are several.
const PACKED_STEPS: i128 = 1 << 12;

/// Loops over a grid, right inside each other.
pub(crate) struct Nest<'k> {
    /// Outermost first. The last one's points become lanes.
    pub loops: Vec<&'k Loop>,
}

impl<'k> Nest<'k> {
    pub(crate) fn of(stmt: &'k Stmt) -> Option<Nest<'k>> {
        let is_grid = |l: &&Loop| matches!(l.kind, LoopKind::Global(_));
        let Stmt::Loop(outermost) = stmt else { return None };
        let mut loops: Vec<&Loop> = Some(outermost).filter(is_grid).into_iter().collect();
        while let Some(inner) = only_loop(&loops.last()?.body).filter(is_grid) {
            if loops.iter().any(|outer| inner.extent.mentions(&outer.var)) {
                return None;
            }
            loops.push(inner);
        }
        Some(Nest { loops })
    }

    pub(crate) fn columns(&self) -> Option<&'k Loop> {
        self.loops.last().copied()
    }

    /// The loops around that of the columns.
    pub(crate) fn around(&self) -> &[&'k Loop] {
        self.loops.split_last().map_or(&[], |(_, around)| around)
    }

    pub(crate) fn body(&self) -> &'k [Stmt] {
        self.columns().map_or(&[], |l| &l.body)
    }
}

/// A load in a fold.
pub(crate) struct Read<'k> {
    pub access: &'k Access,
    /// The loops around it inside of the point, outermost first.
    pub folds: Vec<&'k Loop>,
    /// Whether the point stores to the same array: then it may not be read beforehand.
    pub is_stored: bool,
}

impl<'k> Read<'k> {
    /// How far the next neighbour's is away.
    pub(crate) fn step(&self, var: &Var, facts: &Facts) -> Nat {
        step(&self.access.index, var, facts)
    }

    /// Whether lanes read the same element, or neighbouring ones.
    pub(crate) fn is_lanewise(&self, columns: &Var, facts: &Facts) -> bool {
        let step = self.step(columns, facts);
        step == Nat::ZERO || step == Nat::ONE
    }

    pub(crate) fn is_shared(&self, rows: &Loop, facts: &Facts) -> bool {
        self.step(&rows.var, facts) == Nat::ZERO
    }

    /// Whether an operand can be packed: its elements are counted by loops of the point, and read for many rows, or in many steps
    /// of another loop.
    pub(crate) fn is_packable(&self, rows: Option<&Loop>, facts: &Facts) -> bool {
        let many = |l: &Loop| l.extent.as_int().is_none_or(|n| n >= PACKED_FOR);
        let for_rows = rows.is_some_and(|rows| many(rows) && self.is_shared(rows, facts));
        let again = rows.is_none_or(|rows| self.is_shared(rows, facts))
            && self.folds.iter().any(|l| many(l) && !self.access.index.mentions(&l.var));
        !self.is_stored && self.access.width == 1 && self.is_counted() && (for_rows || again)
    }

    /// The loops that count the elements, outermost first.
    pub(crate) fn counted_by(&self) -> Vec<&'k Loop> {
        self.folds.iter().copied().filter(|l| self.access.index.mentions(&l.var)).collect()
    }

    /// By one loop of any extent, or by several with few steps in all.
    fn is_counted(&self) -> bool {
        let counting = self.counted_by();
        let steps = counting
            .iter()
            .try_fold(1_i128, |product, l| l.extent.as_int().and_then(|n| product.checked_mul(n)));
        match counting.len() {
            0 => false,
            1 => true,
            _ => steps.is_some_and(|n| n <= PACKED_STEPS),
        }
    }
}

/// A size that nothing is known of, where an example is needed.
const ANY_SIZE: i128 = 30_011;

/// How far an index is from that of the next value of a variable.
pub(crate) fn step(index: &Nat, var: &Var, facts: &Facts) -> Nat {
    if !index.mentions(var) {
        return Nat::ZERO;
    }
    let next = index.substitute(&|v| (v == var).then(|| Nat::var(var) + Nat::ONE));
    facts.simplify(&(next - index))
}

/// The same for most values, where an index wraps or is cut at an end of its range: what lies side by side but there does.
pub(crate) fn usual_step(index: &Nat, var: &Var, facts: &Facts) -> Nat {
    let exact = step(index, var, facts);
    if exact.as_int().is_some() {
        return exact;
    }
    let vars = index.vars();
    let bounds: Vec<(&Var, i128)> = vars
        .iter()
        .map(|v| (v, facts.upper(&Nat::var(v)).filter(|n| *n > 0).unwrap_or(ANY_SIZE)))
        .collect();
    let at = |thirtieths: i128, by: i128| {
        let value = |v: &Var| {
            let (_, most) = bounds.iter().find(|(own, _)| *own == v)?;
            Some(most * thirtieths / 30 + if v == var { by } else { 0 })
        };
        index.eval(&value).ok()
    };
    // Inside, far from both ends and from the middle.
    let steps = [11, 13, 17, 19].map(|n| Some(at(n, 1)? - at(n, 0)?));
    match steps {
        [Some(first), ..] if steps.iter().all(|step| *step == Some(first)) => Nat::int(first),
        _ => exact,
    }
}

/// What the points of a nest fold.
pub(crate) struct Folds<'k> {
    pub reads: Vec<Read<'k>>,
    /// Variables that folds carry from step to step.
    pub carried: i128,
    /// Bytes of the largest of them.
    pub bytes: i128,
    pub weight: usize,
    /// No fold has more than a few steps.
    pub is_short: bool,
}

impl<'k> Folds<'k> {
    /// Nothing where a point does something that lanes cannot do together.
    pub(crate) fn of(nest: &Nest<'k>, kernel: &Kernel) -> Option<Folds<'k>> {
        let (columns, body) = (nest.columns()?, nest.body());
        let mut carried = BTreeSet::new();
        let mut bytes = 0;
        let mut look = Look { inside: BTreeSet::new(), is_plain: true, steps: 0, weight: 0 };
        body.iter().for_each(|stmt| {
            look.stmt(stmt, nest, &mut |var, size| {
                carried.insert(var.clone());
                bytes = bytes.max(size);
            })
        });
        if !look.is_plain || look.steps < FEW_STEPS || carried.is_empty() {
            return None;
        }
        let own: BTreeSet<BufferId> =
            kernel.locals.iter().chain(&kernel.privates).map(|buffer| buffer.id).collect();
        let mut reads: Vec<Read> = Vec::new();
        let stored = Counts::of(body);
        for touch in touches(body) {
            let by_data = touch.access.index.any_var(&mut |v| look.inside.contains(v));
            if own.contains(&touch.access.buffer) || by_data {
                return None;
            }
            match touch.writes {
                true => {
                    let along = step(&touch.access.index, &columns.var, &kernel.facts);
                    // Lanes that write one element would have to take turns.
                    let is_apart = touch.loops.is_empty() || along == Nat::ONE;
                    if along == Nat::ZERO || !is_apart {
                        return None;
                    }
                }
                false if touch.loops.is_empty() => {}
                false => reads.push(Read {
                    access: touch.access,
                    folds: touch.loops.to_vec(),
                    is_stored: stored.is_stored(touch.access.buffer),
                }),
            }
        }
        let count = i128::try_from(carried.len()).ok()?;
        let is_short = look.steps < STEPS;
        Some(Folds { reads, carried: count, bytes, weight: look.weight, is_short })
    }

    /// Whether the next step of a fold is far from where the last one read columns.
    pub(crate) fn go_far(&self, columns: &Loop, facts: &Facts) -> bool {
        self.reads.iter().any(|read| {
            let far = read.folds.last().is_some_and(|l| {
                let step = read.step(&l.var, facts);
                step.as_int().map_or(step != Nat::ZERO, |n| n >= FAR)
            });
            far && read.step(&columns.var, facts) == Nat::ONE
        })
    }

    /// The loop around that of the columns along which most is shared, if anything is.
    pub(crate) fn rows(&self, nest: &Nest<'k>, facts: &Facts) -> Option<&'k Loop> {
        let columns = nest.columns()?;
        let shared = |l: &Loop| -> usize {
            let shared = self.reads.iter().filter(|read| read.is_shared(l, facts));
            shared.map(|read| 1 + usize::from(!read.is_shared(columns, facts))).sum()
        };
        let scored = nest.around().iter().map(|l| (shared(l), *l));
        // Of equals the innermost.
        scored.filter(|(score, _)| *score > 0).max_by_key(|(score, _)| *score).map(|(_, l)| l)
    }
}

/// Looks at all statements of a point.
struct Look {
    /// Index variables whose values come from data.
    inside: BTreeSet<Var>,
    /// Nothing keeps lanes apart.
    is_plain: bool,
    /// Of the longest fold.
    steps: i128,
    weight: usize,
}

impl Look {
    fn stmt(&mut self, stmt: &Stmt, nest: &Nest, carried: &mut dyn FnMut(&Var, i128)) {
        self.weight += 1;
        stmt.values().for_each(|value| value.each(&mut |_| self.weight += 1));
        match stmt {
            Stmt::Barrier(_) | Stmt::Stop(_) | Stmt::ThreadId { .. } | Stmt::Atomic { .. } => {
                self.is_plain = false;
            }
            Stmt::Index { var, .. } => {
                self.inside.insert(var.clone());
            }
            Stmt::Loop(l) => {
                let is_seq = matches!(l.kind, LoopKind::Seq | LoopKind::Unroll);
                let by_point = nest.loops.iter().any(|around| l.extent.mentions(&around.var));
                let by_data = l.extent.any_var(&mut |v| self.inside.contains(v));
                self.is_plain &= is_seq && !by_point && !by_data;
                self.steps = self.steps.max(l.extent.as_int().unwrap_or(STEPS));
                self.carried(l, carried);
            }
            _ => {}
        }
        stmt.blocks().into_iter().flatten().for_each(|inner| self.stmt(inner, nest, carried));
    }

    /// The variables that a loop assigns but does not declare.
    fn carried(&mut self, l: &Loop, found: &mut dyn FnMut(&Var, i128)) {
        let (mut declared, mut assigned) = (BTreeSet::new(), Vec::new());
        l.body.iter().for_each(|stmt| {
            stmt.each(&mut |s| match s {
                Stmt::Declare { var, .. } => {
                    declared.insert(var.id.clone());
                }
                Stmt::Assign { var, .. } => assigned.push(var.clone()),
                _ => {}
            });
        });
        for var in assigned.iter().filter(|var| !declared.contains(&var.id)) {
            self.is_plain &= var.ty.width == 1;
            found(&var.id, var.ty.scalar.bytes() as i128);
        }
    }
}
