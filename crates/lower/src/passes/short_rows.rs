//! Points that go through short rows of their own: neighbouring points are lanes, and their rows are turned.
//!
//! Before: `for (x < n) for (i < 5) r[5x + i] = exp(a[5x + i]);`
//! After: `for (b < n / 16) { turn 16 rows of a; for (l < 16) { made[l] = exp(turned[l]); … made[64 + l] = exp(turned[64 + l]); } … }`
//!
//! A row shorter than a vector has no lanes of its own, and elements of neighbouring points that lie five apart make no vectors
//! either. Copying them to where they do costs less than a function that is computed one element after the other.

use std::collections::BTreeSet;

use lift_ir::{BinaryOp, Math, Nat, Pred, Range, Space, Var};
use lift_kernel::{
    Access, Buffer, BufferId, Edit, Expr, Kernel, Loop, LoopKind, Mark, Stmt, ValueType, Variable,
};

use crate::cloning::{Comments, Copier};
use crate::effects::{Counts, has_loop};
use crate::nest::step;
use crate::passes::register_tiling;

/// Points that are taken together.
const LANES: i128 = 16;

/// Elements of a row, statements of a point, and elements of all its rows, at most.
const ROW: i128 = 16;
const STATEMENTS: usize = 256;
const ELEMENTS: usize = 64;

/// Points, at least.
const POINTS: i128 = 64;

pub(crate) fn run(kernel: &mut Kernel, globals: &[Buffer]) {
    if register_tiling::best(kernel).is_some() {
        return;
    }
    let own: BTreeSet<BufferId> =
        kernel.locals.iter().chain(&kernel.privates).map(|buffer| buffer.id).collect();
    let mut body = std::mem::take(&mut kernel.body);
    let mut pass = Pass {
        stored: Counts::of(&body),
        copier: Copier::of(kernel),
        known: globals.iter().chain(&kernel.locals).chain(&kernel.privates).cloned().collect(),
        own,
        made: Vec::new(),
    };
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
    /// Arrays that a point has for itself.
    own: BTreeSet<BufferId>,
    /// Turned rows.
    made: Vec<Buffer>,
}

impl Pass {
    fn block(&mut self, block: &mut [Stmt]) {
        for stmt in block {
            stmt.blocks_mut().into_iter().for_each(|inner| self.block(inner));
            if let Stmt::Loop(points) = stmt
                && let Some(made) = self.in_lanes(points)
            {
                *points = made;
            }
        }
    }

    fn in_lanes(&mut self, points: &Loop) -> Option<Loop> {
        let is_grid = |k: LoopKind| matches!(k, LoopKind::Global(_));
        let is_long = points.extent.as_int().is_none_or(|n| n >= POINTS);
        let is_inner = is_grid(points.kind) && !has_loop(&points.body, &is_grid);
        if !is_long || !is_inner || points.mark != Mark::None || !is_dear(&points.body) {
            return None;
        }
        let mut straight = Vec::new();
        self.write_out(&points.body, &mut straight)?;
        let body = self.with_variables(&straight)?;
        let lane = self.copier.ids.fresh("lane");
        self.copier.facts.declare_inside(&lane, Range::below(Nat::int(LANES)));
        let made = self.made.len();
        let mut turn = Turn {
            points: &points.var,
            lane: &lane,
            rows: [Vec::new(), Vec::new()],
            pass: self,
            chosen: 0,
            is_awkward: false,
            fits: true,
        };
        let turned = turn.block(&body);
        let (rows, pays) = (turn.rows, turn.fits && turn.is_awkward);
        if !pays || rows.iter().flatten().count() > ELEMENTS {
            self.made.truncate(made);
            return None;
        }
        Some(self.grid(points, &body, (lane, turned), rows))
    }

    /// Loops over blocks of points, and what is left of them one by one.
    fn grid(
        &mut self,
        points: &Loop,
        body: &[Stmt],
        (lane, turned): (Var, Vec<Stmt>),
        rows: [Vec<Element>; 2],
    ) -> Loop {
        let lanes = Nat::int(LANES);
        let count = points.extent.ceil_div(&lanes);
        let block = self.copier.ids.fresh("block");
        self.copier.facts.declare_inside(&block, Range::below(count.clone()));
        let first = Nat::var(&block) * &lanes;
        let all = Pred::Lt(&first + Nat::int(LANES - 1), points.extent.clone());
        let is_sure = self.copier.facts.proves(&all);
        let facts = self.copier.facts.clone();
        self.copier.facts.assume(&all);
        let [read, written] = rows;
        let mut then = Vec::new();
        let copies = |pass: &mut Pass, rows: &[Element], is_read: bool| {
            if rows.is_empty() {
                return None;
            }
            let each = pass.copier.ids.fresh("point");
            pass.copier.facts.declare_inside(&each, Range::below(lanes.clone()));
            let value = |v: &Var| (*v == points.var).then(|| &first + Nat::var(&each));
            let stmts = rows.iter().map(|element| {
                let own = element.turned(&each);
                let index = pass.copier.facts.simplify(&element.access.index.substitute(&value));
                let there = Access { index, ..element.access.clone() };
                let (from, to) = if is_read { (there, own) } else { (own, there) };
                Stmt::Store { access: to, value: Expr::Load(from, element.ty) }
            });
            let stmts = stmts.collect();
            Some(Stmt::Loop(Loop::new(each, LoopKind::Seq, lanes.clone(), stmts)))
        };
        then.extend(copies(self, &read, true));
        let value = |v: &Var| (*v == points.var).then(|| &first + Nat::var(&lane));
        let turned = self.copier.copy(&turned, &value, Comments::Keep);
        let inner = Loop::new(lane.clone(), LoopKind::Seq, lanes.clone(), turned);
        then.push(Stmt::Loop(Loop { mark: Mark::Lanes, ..inner }));
        then.extend(copies(self, &written, false));
        let body = if is_sure {
            then
        } else {
            self.copier.facts = facts;
            let left = self.copier.facts.simplify(&(&points.extent - &first));
            let row = self.copier.ids.fresh(points.var.name());
            self.copier.facts.declare_inside(&row, Range::below(left.clone()));
            let value = |v: &Var| (*v == points.var).then(|| &first + Nat::var(&row));
            let one = self.copier.copy(body, &value, Comments::Drop);
            let otherwise = vec![Stmt::Loop(Loop::new(row, LoopKind::Seq, left, one))];
            vec![Stmt::If { condition: Expr::Test(all), then, otherwise }]
        };
        Loop::new(block, points.kind, count, body)
    }

    /// Straight code of loops; nothing where a loop is long, or something is no straight code.
    fn write_out(&mut self, block: &[Stmt], made: &mut Vec<Stmt>) -> Option<()> {
        for stmt in block {
            match stmt {
                Stmt::Loop(l) if matches!(l.kind, LoopKind::Seq | LoopKind::Unroll) => {
                    let count = l.extent.as_int().filter(|n| *n <= ROW && !l.stops())?;
                    for i in 0..count {
                        let value = |v: &Var| (*v == l.var).then(|| Nat::int(i));
                        let comments = Comments::of(usize::try_from(i).ok()?);
                        let once = self.copier.copy(&l.body, &value, comments);
                        self.write_out(&once, made)?;
                    }
                }
                Stmt::Comment(_) | Stmt::Declare { .. } | Stmt::Assign { .. } => {
                    made.push(stmt.clone());
                }
                Stmt::Store { .. } => made.push(stmt.clone()),
                _ => return None,
            }
            if made.len() > STATEMENTS {
                return None;
            }
        }
        Some(())
    }

    /// Variables in place of the elements of arrays that a point has for itself.
    fn with_variables(&mut self, straight: &[Stmt]) -> Option<Vec<Stmt>> {
        let own: Vec<Buffer> =
            self.known.iter().filter(|b| self.own.contains(&b.id)).cloned().collect();
        let mut elements = Elements { own: &own, known: Vec::new(), fits: true };
        let mut made = Vec::new();
        for stmt in straight {
            let Stmt::Store { access, value } = stmt else {
                elements.stmt(stmt, &mut made);
                continue;
            };
            let Some(buffer) = own.iter().find(|buffer| buffer.id == access.buffer) else {
                elements.stmt(stmt, &mut made);
                continue;
            };
            access.index.as_int().filter(|_| access.width == 1)?;
            let value = elements.expr(value);
            if let Some(var) = elements.variable_of(access) {
                made.push(Stmt::Assign { var, value });
                continue;
            }
            let id = self.copier.ids.fresh(&buffer.name);
            let var = Variable { id, ty: ValueType::scalar(buffer.scalar) };
            elements.known.push((access.clone(), var.clone()));
            made.push(Stmt::Declare { var, value: Some(value) });
        }
        elements.fits.then_some(made)
    }
}

/// The elements of a point's own arrays that have been stored, and the variables that they are.
struct Elements<'b> {
    own: &'b [Buffer],
    known: Vec<(Access, Variable)>,
    fits: bool,
}

impl Elements<'_> {
    fn variable_of(&self, access: &Access) -> Option<Variable> {
        let mut known = self.known.iter();
        known.find(|(own, _)| own == access).map(|(_, var)| var.clone())
    }
}

impl Edit for Elements<'_> {
    fn expr(&mut self, expr: &Expr) -> Expr {
        match expr {
            Expr::Load(access, _) if self.own.iter().any(|b| b.id == access.buffer) => {
                let var = self.variable_of(access);
                self.fits &= var.is_some();
                var.map_or_else(|| expr.clone(), Expr::Var)
            }
            _ => self.expr_parts(expr),
        }
    }
}

/// An element of a row, and its place among those of neighbouring points.
struct Element {
    access: Access,
    ty: ValueType,
    rows: BufferId,
    number: usize,
}

impl Element {
    fn turned(&self, lane: &Var) -> Access {
        let index = Nat::int(LANES * self.number as i128) + Nat::var(lane);
        Access { buffer: self.rows, index, ..self.access.clone() }
    }
}

/// Finds the rows of a point, and has its statements use turned ones.
struct Turn<'p> {
    points: &'p Var,
    lane: &'p Var,
    /// What is read, and what is written.
    rows: [Vec<Element>; 2],
    pass: &'p mut Pass,
    /// Choices around.
    chosen: usize,
    /// Whether elements of neighbours lie so far apart that compilers make no vectors of them.
    is_awkward: bool,
    fits: bool,
}

impl Turn<'_> {
    /// The place that stands for one in a row; the same for what neighbours share, or have side by side.
    fn place(&mut self, access: &Access, is_store: bool) -> Option<Access> {
        let along = step(&access.index, self.points, &self.pass.copier.facts).as_int()?;
        if !is_store && self.pass.stored.is_stored(access.buffer) {
            return None;
        }
        if along == 1 || (along == 0 && !is_store) {
            return Some(access.clone());
        }
        let source = self.pass.known.iter().find(|b| b.id == access.buffer)?.clone();
        let is_plain = access.width == 1 && access.stage == Nat::ZERO && access.items.is_empty();
        if along == 0 || !is_plain || self.chosen > 0 {
            return None;
        }
        self.is_awkward |= !matches!(along, 2..=4 | 8 | 16);
        let rows = &mut self.rows[usize::from(is_store)];
        if let Some(known) = rows.iter().find(|element| element.access == *access) {
            return Some(known.turned(self.lane));
        }
        let alike = rows.iter().filter(|element| element.access.buffer == access.buffer);
        let number = alike.clone().count();
        let known = alike.map(|element| element.rows).next();
        let pass = &mut *self.pass;
        let all = pass.known.iter().chain(&pass.made);
        let next = all.map(|buffer| buffer.id.0 + 1).max().unwrap_or(0);
        let id = known.unwrap_or(BufferId(next));
        if known.is_none() {
            pass.made.push(Buffer {
                id,
                name: if is_store { "made" } else { "turned" }.to_owned(),
                length: Nat::ZERO,
                stages: 1,
                space: Space::Private,
                items: Vec::new(),
                align: 64,
                heap: false,
                ..source.clone()
            });
        }
        if let Some(buffer) = pass.made.iter_mut().find(|buffer| buffer.id == id) {
            buffer.length = Nat::int(LANES * (number as i128 + 1));
        }
        let ty = ValueType::scalar(source.scalar);
        let element = Element { access: access.clone(), ty, rows: id, number };
        let turned = element.turned(self.lane);
        rows.push(element);
        Some(turned)
    }

    fn replaced(&mut self, access: &Access, is_store: bool) -> Access {
        let place = self.place(access, is_store);
        self.fits &= place.is_some();
        place.unwrap_or_else(|| access.clone())
    }
}

impl Edit for Turn<'_> {
    fn expr(&mut self, expr: &Expr) -> Expr {
        if let Expr::Load(access, ty) = expr {
            return Expr::Load(self.replaced(access, false), *ty);
        }
        let is_choice = matches!(expr, Expr::Select(..))
            || matches!(expr, Expr::Binary(BinaryOp::And | BinaryOp::Or, ..));
        self.chosen += usize::from(is_choice);
        let made = self.expr_parts(expr);
        self.chosen -= usize::from(is_choice);
        made
    }

    fn stmt(&mut self, stmt: &Stmt, made: &mut Vec<Stmt>) {
        let Stmt::Store { access, value } = stmt else {
            made.push(self.stmt_parts(stmt));
            return;
        };
        let value = self.expr(value);
        made.push(Stmt::Store { access: self.replaced(access, true), value });
    }
}

/// Whether statements call functions that take long one by one.
fn is_dear(block: &[Stmt]) -> bool {
    let mut found = false;
    let mut look = |e: &Expr| {
        let is_root = |math: &Math| matches!(math, Math::Sqrt | Math::Rsqrt);
        found |= matches!(e, Expr::Math(math, _) if math.is_approximate() && !is_root(math));
    };
    block.iter().for_each(|stmt| {
        stmt.each(&mut |s| s.values().for_each(|value| value.each(&mut look)));
    });
    found
}
