//! Vectorised accesses: loads or stores of one work-item side by side become one of 128 bits, or of 64.
//!
//! Before: `a = x[4*i]; b = x[4*i + 1]; c = x[4*i + 2]; d = x[4*i + 3];`
//! After: `float4 x4 = *(float4*)(x + 4*i); a = x4.s0; …`, and likewise for stores.
//!
//! Only where the address is known to be aligned, and nothing between the first and the last access may write what is read,
//! or read what is written.

use std::collections::{BTreeMap, BTreeSet};

use lift_ir::{Facts, Nat, Scalar};
use lift_kernel::{Access, Buffer, BufferId, Edit, Expr, Ids, Kernel, Stmt, ValueType, Variable};

/// Bytes of wide accesses, the widest first.
const WIDTHS: [u32; 2] = [16, 8];

pub(crate) fn loads(kernel: &mut Kernel, globals: &[Buffer]) {
    let ids = kernel.ids.clone();
    run(kernel, globals, ids, &|pass, stmts, ids| pass.wide_loads(stmts, ids));
}

pub(crate) fn stores(kernel: &mut Kernel, globals: &[Buffer]) {
    // Stores need no new variables.
    run(kernel, globals, Ids::default(), &|pass, stmts, _| pass.wide_stores(stmts));
}

/// Counts the loads in blocks of a kernel that can be wide.
pub(crate) fn counter(kernel: &Kernel, globals: &[Buffer]) -> impl Fn(&[Stmt]) -> usize + use<> {
    let passes = WIDTHS.map(|bytes| Pass::of(kernel, globals, bytes));
    move |block| passes.iter().map(|pass| pass.count(block)).sum()
}

/// What becomes of a piece of code without branches.
type Straight<'s> = dyn Fn(&Pass, Vec<Stmt>, &Ids) -> Vec<Stmt> + 's;

fn run(kernel: &mut Kernel, globals: &[Buffer], ids: Ids, straight: &Straight) {
    for bytes in WIDTHS {
        let pass = Pass::of(kernel, globals, bytes);
        let body = std::mem::take(&mut kernel.body);
        kernel.body = pass.block(body, &ids, straight);
    }
}

struct Pass {
    buffers: BTreeMap<BufferId, Buffer>,
    facts: Facts,
    /// Of the accesses to be made.
    bytes: u32,
}

impl Pass {
    fn of(kernel: &Kernel, globals: &[Buffer], bytes: u32) -> Pass {
        let shared = globals.iter().chain(&kernel.locals);
        let buffers = shared.map(|b| (b.id, b.clone())).collect();
        Pass { buffers, facts: kernel.facts.clone(), bytes }
    }

    fn block(&self, block: Vec<Stmt>, ids: &Ids, straight: &Straight) -> Vec<Stmt> {
        let mut made = Vec::new();
        let mut run: Vec<Stmt> = Vec::new();
        for mut stmt in block {
            if stmt.is_straight_line() {
                run.push(stmt);
                continue;
            }
            made.extend(straight(self, std::mem::take(&mut run), ids));
            for inner in stmt.blocks_mut() {
                *inner = self.block(std::mem::take(inner), ids, straight);
            }
            made.push(stmt);
        }
        made.extend(straight(self, run, ids));
        made
    }

    /// How many scalars of a buffer are accessed at once.
    fn lanes(&self, id: BufferId) -> Option<u32> {
        let buffer = self.buffers.get(&id)?;
        let bytes = buffer.scalar.bytes() as u32;
        let fits = buffer.scalar != Scalar::Bool && bytes >= 4 && buffer.align >= self.bytes;
        let lanes = fits.then(|| self.bytes / bytes).filter(|n| *n > 1)?;
        buffer.has_aligned_stages(lanes, &self.facts).then_some(lanes)
    }

    fn is_aligned(&self, index: &Nat, lanes: u32) -> bool {
        self.facts.divides(&Nat::int(lanes.into()), index)
    }

    fn wide_stores(&self, run: Vec<Stmt>) -> Vec<Stmt> {
        let mut made: Vec<Stmt> = Vec::with_capacity(run.len());
        // Wide stores by the statement they take the place of, and the statements that are gone.
        let (mut wide, mut gone) = (BTreeMap::new(), BTreeSet::new());
        for at in 0..run.len() {
            if !gone.contains(&at)
                && let Some((store, row)) = self.row_of_stores(&run[at..])
            {
                gone.extend(row.iter().map(|i| at + i));
                wide.extend(row.last().map(|i| (at + i, store)));
            }
        }
        for (at, stmt) in run.into_iter().enumerate() {
            match wide.remove(&at) {
                Some(store) => made.push(store),
                None if gone.contains(&at) => {}
                None => made.push(stmt),
            }
        }
        made
    }

    /// One store for the one that the statements begin with and those after it, and where these are. What they store
    /// is computed where the last of them is.
    fn row_of_stores(&self, stmts: &[Stmt]) -> Option<(Stmt, Vec<usize>)> {
        let Some(Stmt::Store { access: first, .. }) = stmts.first() else { return None };
        let lanes = self.lanes(first.buffer)?;
        let (mut row, mut values): (Vec<usize>, Vec<&Expr>) = Default::default();
        for (at, stmt) in stmts.iter().enumerate() {
            if stmt.values().any(|value| reads(value, first.buffer)) {
                return None;
            }
            match stmt {
                Stmt::Store { access, value } if access.buffer == first.buffer => {
                    if !follows(first, access, row.len()) {
                        return None;
                    }
                    row.push(at);
                    values.push(value);
                }
                Stmt::Assign { var, .. } if values.iter().any(|value| mentions(value, var)) => {
                    return None;
                }
                // An element in between is another's, too.
                Stmt::Atomic { access, .. } if access.buffer == first.buffer => return None,
                // What a value reads may be written here.
                Stmt::Store { access, .. } | Stmt::Atomic { access, .. }
                    if values.iter().any(|value| reads(value, access.buffer)) =>
                {
                    return None;
                }
                _ => {}
            }
            if row.len() == lanes as usize {
                break;
            }
        }
        if row.len() < lanes as usize || !self.is_aligned(&first.index, lanes) {
            return None;
        }
        let scalar = self.buffers.get(&first.buffer)?.scalar;
        let access = Access { width: lanes, aligned: true, ..first.clone() };
        let values = values.into_iter().cloned().collect();
        Some((Stmt::Store { access, value: Expr::Vector(scalar, values) }, row))
    }

    fn count(&self, block: &[Stmt]) -> usize {
        let straight = block.split(|stmt| !stmt.is_straight_line()).map(|run| self.rows(run).len());
        let inside = block.iter().flat_map(Stmt::blocks).map(|inner| self.count(inner));
        straight.chain(inside).sum()
    }

    /// The rows of loads that can be one load.
    fn rows(&self, run: &[Stmt]) -> Vec<Row> {
        let mut rows: Vec<Row> = Vec::new();
        for (at, stmt) in run.iter().enumerate() {
            for value in stmt.values() {
                always(value, &mut |access| self.note(access, at, &mut rows));
            }
            if let Stmt::Store { access, .. } | Stmt::Atomic { access, .. } = stmt {
                rows.iter_mut()
                    .filter(|r| r.buffer() == access.buffer)
                    .for_each(|r| r.open = false);
            }
        }
        rows.retain(|row| row.is_full() && self.is_aligned(&row.start.index, row.lanes));
        rows
    }

    fn wide_loads(&self, run: Vec<Stmt>, ids: &Ids) -> Vec<Stmt> {
        let mut rows = self.rows(&run);
        if rows.is_empty() {
            return run;
        }
        for row in &mut rows {
            let Some(buffer) = self.buffers.get(&row.buffer()) else { continue };
            let ty = ValueType::vector(buffer.scalar, row.lanes);
            let id = ids.fresh(&format!("{}{}", buffer.name, row.lanes));
            row.vector = Some(Variable { id, ty });
        }
        let mut made = Vec::new();
        for (at, stmt) in run.into_iter().enumerate() {
            made.extend(rows.iter().filter(|r| r.first == at).filter_map(Row::load));
            let live: Vec<&Row> = rows.iter().filter(|r| r.first <= at && at <= r.last).collect();
            match live.is_empty() {
                true => made.push(stmt),
                false => Lanes { rows: live }.stmt(&stmt, &mut made),
            }
        }
        made
    }

    /// Puts a load into the row it belongs to.
    fn note(&self, access: &Access, at: usize, rows: &mut Vec<Row>) {
        let Some(lanes) = self.lanes(access.buffer).filter(|_| access.width == 1) else { return };
        let own = rows.iter_mut().filter(|r| r.open).find_map(|r| Some((r.lane(access)?, r)));
        if let Some((lane, row)) = own {
            row.seen |= 1 << lane;
            row.last = at;
            return;
        }
        let (start, lane) = aligned_start(access, lanes);
        let row =
            Row { start, lanes, seen: 1 << lane, first: at, last: at, open: true, vector: None };
        rows.push(row);
    }
}

/// The access that the row of an access begins with, if the variable part of its index is aligned, and the
/// place in the row.
fn aligned_start(access: &Access, lanes: u32) -> (Access, u32) {
    let lane = access.index.constant().rem_euclid(i128::from(lanes));
    let index = &access.index - Nat::int(lane);
    (Access { index, ..access.clone() }, lane as u32)
}

/// Loads of scalars that lie side by side.
struct Row {
    start: Access,
    lanes: u32,
    /// A bit for each that is loaded.
    seen: u32,
    /// The statements with the first and the last of the loads.
    first: usize,
    last: usize,
    /// Nothing was stored to the buffer since the first load.
    open: bool,
    vector: Option<Variable>,
}

impl Row {
    fn buffer(&self) -> BufferId {
        self.start.buffer
    }

    fn is_full(&self) -> bool {
        self.seen == (1 << self.lanes) - 1
    }

    /// The place of an access in the row.
    fn lane(&self, access: &Access) -> Option<u32> {
        if access.width != 1 {
            return None;
        }
        let lane = access.int_from(&self.start)?;
        u32::try_from(lane).ok().filter(|l| *l < self.lanes)
    }

    fn load(&self) -> Option<Stmt> {
        let var = self.vector.clone()?;
        let access = Access { width: self.lanes, aligned: true, ..self.start.clone() };
        let value = Some(Expr::Load(access, var.ty));
        Some(Stmt::Declare { var, value })
    }
}

/// Loads become lanes of the vectors loaded before.
struct Lanes<'r> {
    rows: Vec<&'r Row>,
}

impl Edit for Lanes<'_> {
    fn expr(&mut self, expr: &Expr) -> Expr {
        if let Expr::Load(access, _) = expr {
            for row in &self.rows {
                if let (Some(lane), Some(var)) = (row.lane(access), &row.vector) {
                    return Expr::Lane(Box::new(Expr::Var(var.clone())), lane);
                }
            }
        }
        self.expr_parts(expr)
    }
}

/// Whether an access is the i-th after another.
fn follows(first: &Access, access: &Access, i: usize) -> bool {
    access.width == 1 && access.int_from(first) == Some(i as i128)
}

fn mentions(value: &Expr, var: &Variable) -> bool {
    let mut found = false;
    value.each(&mut |e| found |= matches!(e, Expr::Var(v) if v == var));
    found
}

fn reads(value: &Expr, buffer: BufferId) -> bool {
    let mut found = false;
    value.each(&mut |e| found |= matches!(e, Expr::Load(access, _) if access.buffer == buffer));
    found
}

/// Calls `visit` on the loads that are done whatever the values are.
fn always(value: &Expr, visit: &mut dyn FnMut(&Access)) {
    match value {
        Expr::Load(access, _) => visit(access),
        Expr::Select(condition, _, _) => always(condition, visit),
        // The right side may not be looked at.
        Expr::Binary(lift_ir::BinaryOp::And | lift_ir::BinaryOp::Or, a, _) => always(a, visit),
        _ => value.parts().into_iter().for_each(|part| always(part, visit)),
    }
}
