//! Grids with few columns: points and their columns are one loop, where both lie side by side.
//!
//! Before: `for (x < n) for (c < 5) r[5x + c] = a[5x + c] * k[c];`
//! After: `for (x < n / 16) for (l < 80) r[80x + l] = a[80x + l] * spread[l];`, where `spread` repeats `k` for 16 points.
//!
//! A loop over fewer columns than a vector has lanes is scalar code. Where every index moves as far from a point to the next
//! as it does over all columns, the number of the column in all of the points takes the place of both. What is the
//! same for all points is repeated for some of them beforehand, and points are taken so many at a time.

use lift_ir::{BinaryOp, Nat, Pred, Range, Space, Var};
use lift_kernel::{
    Access, Buffer, BufferId, Edit, Expr, Kernel, Loop, LoopKind, Mark, Stmt, ValueType, only_loop,
};

use crate::cloning::{Comments, Copier};
use crate::effects::{Counts, has_loop, touches};
use crate::nest::step;
use crate::passes::register_tiling::segments::{self, Kept, Lanes};

/// Numbers of a vector.
const LANES: i128 = 16;

/// Columns, at most: of more than these the compiler's remainder is a small part.
const COLUMNS: i128 = 64;

/// Points that are taken together where something is repeated for them: columns times these make whole vectors.
const TOGETHER: i128 = 16;

/// How often what is repeated is used again, at most.
const BLOCKS: i128 = 16;

/// Points for which repeating something pays, at least.
const REPEATED_FOR: i128 = 64;

/// Elements that are repeated, with all repetitions, at most.
const SPREAD: i128 = 1 << 12;

pub(crate) fn run(kernel: &mut Kernel, globals: &[Buffer]) {
    let all = globals.iter().chain(&kernel.locals).chain(&kernel.privates);
    let known: Vec<Buffer> = all.cloned().collect();
    let mut body = std::mem::take(&mut kernel.body);
    let mut pass =
        Pass { stored: Counts::of(&body), copier: Copier::of(kernel), known, made: Vec::new() };
    pass.block(&mut body);
    kernel.body = body;
    kernel.facts = pass.copier.facts;
    kernel.privates.extend(pass.made);
}

struct Pass {
    copier: Copier,
    /// How often the kernel stores to each array.
    stored: Counts,
    known: Vec<Buffer>,
    /// The arrays of what is repeated.
    made: Vec<Buffer>,
}

impl Pass {
    fn block(&mut self, block: &mut [Stmt]) {
        for stmt in block {
            stmt.blocks_mut().into_iter().for_each(|inner| self.block(inner));
            // What was joined may have few columns again.
            if let Stmt::Loop(points) = stmt
                && let Some(joined) = self.joined(points)
            {
                *points = joined;
            }
        }
    }

    fn fresh(&mut self, name: &str, extent: &Nat) -> Var {
        let var = self.copier.ids.fresh(name);
        self.copier.facts.declare_inside(&var, Range::below(extent.clone()));
        var
    }

    fn joined(&mut self, points: &Loop) -> Option<Loop> {
        let is_grid = |l: &Loop| matches!(l.kind, LoopKind::Global(_)) && l.mark == Mark::None;
        let columns = only_loop(&points.body).filter(|l| is_grid(points) && is_grid(l))?;
        let few = columns.extent.as_int().filter(|n| (2..COLUMNS).contains(n))?;
        let is_inner = !has_loop(&columns.body, &|k| matches!(k, LoopKind::Global(_)));
        if !is_inner || few % LANES == 0 {
            return None;
        }
        let [column, lane] = [(); 2].map(|()| self.copier.ids.fresh(columns.var.name()));
        let mut join = Join {
            points,
            columns,
            pass: self,
            column: &column,
            lane: &lane,
            around: Vec::new(),
            bound: Vec::new(),
            chosen: 0,
            spread: Vec::new(),
            fits: true,
        };
        let body = join.block(&columns.body);
        let (fits, spread) = (join.fits, join.spread);
        if !fits {
            return None;
        }
        let extent = &points.extent * &columns.extent;
        self.copier.facts.declare_inside(&column, Range::below(extent.clone()));
        if spread.is_empty() {
            return Some(Loop { var: column, extent, body, ..columns.clone() });
        }
        let is_long = points.extent.as_int().is_none_or(|n| n >= REPEATED_FOR);
        let is_own = |id: BufferId| {
            self.known.iter().any(|buffer| buffer.id == id && buffer.space != Space::Global)
        };
        // Lanes have no arrays of their own, and would have to take turns where they write one element.
        let is_lanewise = touches(&body).iter().all(|touch| {
            !is_own(touch.access.buffer) && (!touch.writes || touch.access.index.mentions(&column))
        });
        (is_long && is_lanewise)
            .then(|| self.in_blocks(points, columns, (&column, lane), &body, spread))
    }

    /// Points, some at a time, behind what is repeated for them.
    fn in_blocks(
        &mut self,
        points: &Loop,
        columns: &Loop,
        (column, lane): (&Var, Var),
        body: &[Stmt],
        spread: Vec<Spread>,
    ) -> Loop {
        let (together, most) = (Nat::int(TOGETHER), Nat::int(BLOCKS));
        let width = &together * &columns.extent;
        let blocks = points.extent.ceil_div(&together);
        let chunks = blocks.ceil_div(&most);
        let chunk = self.fresh("chunk", &chunks);
        let first = Nat::var(&chunk) * &most;
        let left = self.copier.facts.simplify(&Nat::min(&most, &(&blocks - &first)));
        let block = self.fresh("block", &left);
        let start = (first + Nat::var(&block)) * &together;
        let left_points = Nat::min(&together, &(&points.extent - &start));
        let extent = self.copier.facts.simplify(&(left_points * &columns.extent));
        self.copier.facts.declare_inside(&lane, Range::below(extent.clone()));
        let value = |v: &Var| (v == column).then(|| &start * &columns.extent + Nat::var(&lane));
        let body = self.copier.copy(body, &value, Comments::Keep);
        let mut inside: Vec<Stmt> =
            spread.iter().map(|one| self.filled(one, columns, &width)).collect();
        self.made.extend(spread.into_iter().map(|one| one.buffer));
        let lanes = Lanes { var: lane.clone(), extent, padded: None };
        let mut next = self.next();
        let mut kept = Kept { width, next: &mut next, buffers: &mut self.made };
        let lanes = segments::cut(lanes, body, false, &mut kept, &mut self.copier);
        inside.push(Stmt::Loop(Loop::new(block, LoopKind::Seq, left, lanes)));
        Loop::new(chunk, points.kind, chunks, inside)
    }

    /// Repeats what is the same for all points.
    fn filled(&mut self, spread: &Spread, columns: &Loop, width: &Nat) -> Stmt {
        let steps: Vec<Var> = spread.counted.iter().map(|(v, n)| self.fresh(v.name(), n)).collect();
        let time = self.fresh("time", &Nat::int(TOGETHER));
        let column = self.fresh(columns.var.name(), &columns.extent);
        let value = |v: &Var| match *v == columns.var {
            true => Some(Nat::var(&column)),
            false => {
                let mut pairs = spread.counted.iter().zip(&steps);
                pairs.find(|((own, _), _)| own == v).map(|(_, step)| Nat::var(step))
            }
        };
        let index = self.copier.facts.simplify(&spread.access.index.substitute(&value));
        let from = Access { index, ..spread.access.clone() };
        let value = Expr::Load(from, ValueType::scalar(spread.buffer.scalar));
        let at = Nat::var(&time) * &columns.extent + Nat::var(&column);
        let steps: Vec<(Var, Nat)> =
            steps.into_iter().zip(&spread.counted).map(|(v, (_, n))| (v, n.clone())).collect();
        let access = spread.place(&steps, width, &at);
        let around = steps.into_iter().chain([(time, Nat::int(TOGETHER))]);
        let loops = around.chain([(column, columns.extent.clone())]);
        let all: Vec<(Var, Nat)> = loops.collect();
        all.into_iter().rev().fold(Stmt::Store { access, value }, |inner, (var, extent)| {
            Stmt::Loop(Loop::new(var, LoopKind::Seq, extent, vec![inner]))
        })
    }

    /// The number of an array that there is none of yet.
    fn next(&self) -> u32 {
        self.known.iter().chain(&self.made).map(|buffer| buffer.id.0 + 1).max().unwrap_or(0)
    }
}

/// An operand that all points share.
struct Spread {
    access: Access,
    /// The loops of a point that count its elements, outermost first: their variables and extents.
    counted: Vec<(Var, Nat)>,
    buffer: Buffer,
}

impl Spread {
    /// Where its repetitions have an element, in the steps at which the loops that count it are.
    fn place(&self, steps: &[(Var, Nat)], width: &Nat, at: &Nat) -> Access {
        let step = steps.iter().fold(Nat::ZERO, |outer, (v, n)| outer * n + Nat::var(v));
        let (stage, items) = (Nat::ZERO, Vec::new());
        let index = step * width + at;
        Access { buffer: self.buffer.id, index, stage, items, width: 1, aligned: false }
    }
}

/// What the number of a column among those of all points makes of the statements of one.
struct Join<'p> {
    points: &'p Loop,
    columns: &'p Loop,
    pass: &'p mut Pass,
    /// The column among those of all points, and among those of a block.
    column: &'p Var,
    lane: &'p Var,
    /// The loops around, inside of the point, and the variables that data decide.
    around: Vec<(Var, Nat)>,
    bound: Vec<Var>,
    /// Branches around.
    chosen: usize,
    spread: Vec<Spread>,
    /// Whether all statements can be done so.
    fits: bool,
}

impl Join<'_> {
    fn mentions(&self, nat: &Nat) -> bool {
        nat.mentions(&self.points.var) || nat.mentions(&self.columns.var)
    }

    /// The index of what moves by points as it does by all their columns.
    fn along(&self, index: &Nat) -> Option<Nat> {
        let facts = &self.pass.copier.facts;
        let by_column = step(index, &self.columns.var, facts);
        let by_point = step(index, &self.points.var, facts);
        let is_even = !self.mentions(&by_column) && !self.mentions(&by_point);
        let is_one = facts.simplify(&(&by_column * &self.columns.extent)) == by_point;
        let first = index.substitute(&|v| {
            (*v == self.points.var || *v == self.columns.var).then_some(Nat::ZERO)
        });
        (is_even && is_one).then(|| facts.simplify(&(first + by_column * Nat::var(self.column))))
    }

    /// Where an operand that all points share is repeated for some.
    fn repeated(&mut self, access: &Access) -> Option<Access> {
        let is_shared = !access.index.mentions(&self.points.var) && access.width == 1;
        let by_data = access.index.any_var(&mut |v| self.bound.contains(v));
        let is_stored = self.pass.stored.is_stored(access.buffer);
        let buffer = self.pass.known.iter().find(|b| b.id == access.buffer)?;
        let is_global = buffer.space == Space::Global && access.stage == Nat::ZERO;
        if !is_shared || by_data || is_stored || !is_global || self.chosen > 0 {
            return None;
        }
        let width = Nat::int(TOGETHER) * &self.columns.extent;
        let counted: Vec<(Var, Nat)> =
            self.around.iter().filter(|(v, _)| access.index.mentions(v)).cloned().collect();
        let length = counted.iter().fold(width.clone(), |length, (_, n)| length * n);
        length.as_int().filter(|n| *n <= SPREAD)?;
        let at = Nat::var(self.lane);
        if let Some(same) = self.spread.iter().find(|s| s.access == *access) {
            return Some(same.place(&counted, &width, &at));
        }
        let id = BufferId(self.pass.next() + self.spread.len() as u32);
        let spread = Spread {
            access: access.clone(),
            counted: counted.clone(),
            buffer: Buffer {
                id,
                name: "spread".to_owned(),
                length,
                stages: 1,
                space: Space::Private,
                items: Vec::new(),
                align: 64,
                heap: false,
                ..buffer.clone()
            },
        };
        let access = spread.place(&counted, &width, &at);
        self.spread.push(spread);
        Some(access)
    }
}

impl Edit for Join<'_> {
    fn nat(&mut self, nat: &Nat) -> Nat {
        self.fits &= !self.mentions(nat);
        nat.clone()
    }

    fn pred(&mut self, pred: &Pred) -> Pred {
        self.fits &= !pred.mentions(&self.points.var) && !pred.mentions(&self.columns.var);
        pred.clone()
    }

    fn access(&mut self, access: &Access) -> Access {
        if !self.mentions(&access.index) {
            return self.access_parts(access);
        }
        self.fits &=
            !self.mentions(&access.stage) && !access.items.iter().any(|n| self.mentions(n));
        if let Some(index) = self.along(&access.index).filter(|_| access.width == 1) {
            return Access { index, ..access.clone() };
        }
        let repeated = self.repeated(access);
        self.fits &= repeated.is_some();
        repeated.unwrap_or_else(|| access.clone())
    }

    fn expr(&mut self, expr: &Expr) -> Expr {
        let is_choice = matches!(expr, Expr::Select(..))
            || matches!(expr, Expr::Binary(BinaryOp::And | BinaryOp::Or, ..));
        self.chosen += usize::from(is_choice);
        let made = self.expr_parts(expr);
        self.chosen -= usize::from(is_choice);
        made
    }

    fn stmt(&mut self, stmt: &Stmt, made: &mut Vec<Stmt>) {
        let is_choice = matches!(stmt, Stmt::If { .. });
        let around = self.around.len();
        match stmt {
            Stmt::Loop(l) => {
                self.fits &= matches!(l.kind, LoopKind::Seq | LoopKind::Unroll) && !l.stops();
                self.around.push((l.var.clone(), l.extent.clone()));
            }
            Stmt::Index { var, .. } => self.bound.push(var.clone()),
            Stmt::ThreadId { .. } | Stmt::Barrier(_) | Stmt::Atomic { .. } => self.fits = false,
            _ => {}
        }
        self.chosen += usize::from(is_choice);
        let done = self.stmt_parts(stmt);
        self.chosen -= usize::from(is_choice);
        self.around.truncate(around);
        made.push(done);
    }
}
