//! Tiles for points that read in one order and write in another, through local memory.
//!
//! Before: `for (y) for (x) r[y][x] = f(a[x][y], b[y][x]);`, of which neighbouring threads read what lies apart.
//! After: a group of 32 x 8 threads has a tile of 32 x 32 points, four a thread. It copies what they read of `a` to local memory,
//! neighbours what lies side by side, waits, and computes its points from there:
//! `tile[x][y] = a[x][y]; barrier; r[y][x] = f(tile[x][y], b[y][x]);`. Rows of the tile are one longer than they need be, so that its
//! columns are in different banks. Likewise `for (x) for (y) r[y][x] = f(…)`, whose results go through the tile.
//!
//! Processors do the same in blocks, without threads ([`blocks`]).
//!
//! Strides alone decide, for any straight code at a point. Where the tile does not divide the grid, points beyond its end do nothing.

pub(super) mod blocks;

use lift_ir::{Nat, Pred, Range, Space, Var};
use lift_kernel::{
    Access, Barrier, Buffer, BufferId, Edit, Expr, Fence, Kernel, Launch, Loop, LoopKind, Runs,
    Stmt, ValueType,
};

use crate::Options;
use crate::cloning::{Comments, Copier};
use crate::effects::{Counts, touches};
use crate::nest::Nest;
use crate::passes::grid_order::{computed, nearness};
use crate::passes::group_tiling::by_group;

/// Points of a tile along each of its sides, and how many rows of them the threads of a group do at a time.
const SIDE: i128 = 32;
const AT_A_TIME: i128 = 8;

/// Arrays that go through local memory at most.
const MOST: usize = 2;

/// Points of a grid from which on a fourth as many threads fill a device.
const MANY: i128 = 1 << 20;

/// Groups that a launch has in its second and third dimension, at most.
const GROUPS: i128 = 65535;

pub(crate) fn run(kernel: &mut Kernel, options: &Options, globals: &[Buffer]) {
    if let Some((body, launch, tiles, copier)) = turned(kernel, options, globals) {
        kernel.body = vec![body];
        kernel.launch = launch;
        kernel.locals.extend(tiles);
        kernel.facts = copier.facts;
        kernel.ids = copier.ids;
        kernel.runs = Runs::Threads;
    }
}

type Turned = (Stmt, Launch, Vec<Buffer>, Copier);

fn turned(kernel: &Kernel, options: &Options, globals: &[Buffer]) -> Option<Turned> {
    let is_open = kernel.launch.local.is_empty() && kernel.launch.global.is_empty();
    let is_free = is_open && options.local.is_none() && options.global.is_none();
    if !is_free || kernel.runs != Runs::Loops || kernel.schedule.tile.is_some() {
        return None;
    }
    let mut work = kernel.body.iter().filter(|stmt| !matches!(stmt, Stmt::Comment(_)));
    let nest = Nest::of(work.next()?).filter(|_| work.next().is_none())?;
    let plan = Plan::of(&nest, kernel, globals)?;
    let many = plan.points >= MANY;
    let mut ways = [true, false];
    if !many {
        ways.reverse();
    }
    let names = ways.map(|tiled| match tiled {
        true => format!("{}: turned in tiles", kernel.name),
        false => format!("{}: read as it lies", kernel.name),
    });
    if !*ways.get(options.choices.take("turned_tiles", names.into()))? {
        return None;
    }
    Some(Tiling::new(&plan, kernel, globals).made())
}

/// How a grid is cut into tiles.
struct Plan<'k> {
    /// The innermost loop, and that along which neighbours are nearer for some accesses.
    columns: &'k Loop,
    rows: &'k Loop,
    others: Vec<&'k Loop>,
    way: Way,
    points: i128,
    /// What a point does, and where it does something, if not everywhere.
    body: &'k [Stmt],
    guard: Option<&'k Expr>,
}

enum Way {
    /// What is read along the rows goes through tiles, one each.
    Reads(Vec<Access>),
    /// What is written along them does.
    Write,
}

impl<'k> Plan<'k> {
    fn of(nest: &Nest<'k>, kernel: &Kernel, globals: &[Buffer]) -> Option<Plan<'k>> {
        let (columns, around) = nest.loops.split_last()?;
        let points = nest.loops.iter().try_fold(1i128, |all, l| {
            let n = l.extent.as_int().filter(|n| *n > 0)?;
            all.checked_mul(n)
        })?;
        let is_plain = |stmt: &Stmt| {
            let value = matches!(stmt, Stmt::Declare { .. } | Stmt::Assign { .. });
            value || matches!(stmt, Stmt::Comment(_) | Stmt::Store { .. })
        };
        let (body, guard) = guarded(nest.body());
        if !body.iter().all(is_plain) || !computed(body).is_empty() {
            return None;
        }
        let found = touches(body);
        let is_global = |access: &Access| globals.iter().any(|b| b.id == access.buffer);
        if found.iter().any(|touch| !is_global(touch.access) || touch.access.width != 1) {
            return None;
        }
        let crosses = |access: &Access, rows: &Loop| {
            nearness(&access.index, &columns.var, kernel) < 0
                && nearness(&access.index, &rows.var, kernel) > 0
        };
        let is_far = |access: &Access| nearness(&access.index, &columns.var, kernel) < 0;
        let rows = *around.iter().find(|rows| found.iter().any(|t| crosses(t.access, rows)))?;
        // All that lies apart along the columns has to lie side by side along the rows.
        if found.iter().any(|t| is_far(t.access) && !crosses(t.access, rows)) {
            return None;
        }
        let others: Vec<&Loop> = around.iter().copied().filter(|l| l.var != rows.var).collect();
        let batch = others.iter().fold(1, |all: i128, l| all * l.extent.as_int().unwrap_or(1));
        let groups = |l: &Loop| l.extent.as_int().map(|n| (n + SIDE - 1) / SIDE);
        let fits = groups(rows)? <= GROUPS && batch <= GROUPS;
        let is_long = |l: &Loop| l.extent.as_int().is_some_and(|n| n >= SIDE);
        if !fits || !is_long(rows) || !is_long(columns) {
            return None;
        }
        let far: Vec<bool> = found.iter().map(|touch| is_far(touch.access)).collect();
        let is_written = found.iter().zip(&far).any(|(t, far)| *far && t.writes);
        let is_read = found.iter().zip(&far).any(|(t, far)| *far && !t.writes);
        let way = match (is_read, is_written) {
            (true, false) => {
                let reads = certain_reads(body, &|access| is_far(access));
                let stored = Counts::of(body);
                let far_reads = found.iter().filter(|t| !t.writes && is_far(t.access));
                let all = far_reads.into_iter().all(|t| reads.contains(t.access));
                let fixed = reads.iter().all(|access| !stored.is_stored(access.buffer));
                (all && fixed && reads.len() <= MOST).then_some(Way::Reads(reads))?
            }
            (false, true) => {
                let stores = found.iter().filter(|touch| touch.writes).count();
                (stores == 1).then_some(Way::Write)?
            }
            (true, true) | (false, false) => return None,
        };
        Some(Plan { columns, rows, others, way, points, body, guard })
    }
}

/// What a point does, and where it does it, if it is one statement with a condition on indices: the points of a domain in the grid
/// around it.
fn guarded(body: &[Stmt]) -> (&[Stmt], Option<&Expr>) {
    let mut work = body.iter().filter(|stmt| !matches!(stmt, Stmt::Comment(_)));
    match (work.next(), work.next()) {
        (Some(Stmt::If { condition, then, otherwise }), None)
            if otherwise.is_empty() && matches!(condition, Expr::Test(_)) =>
        {
            (then, Some(condition))
        }
        _ => (body, None),
    }
}

/// What statements read in any case: not only where something else is so.
fn certain_reads(body: &[Stmt], wanted: &dyn Fn(&Access) -> bool) -> Vec<Access> {
    let mut found = Vec::new();
    for value in body.iter().flat_map(Stmt::values) {
        add_certain(value, wanted, &mut found);
    }
    found
}

fn add_certain(expr: &Expr, wanted: &dyn Fn(&Access) -> bool, found: &mut Vec<Access>) {
    match expr {
        Expr::Load(access, _) => {
            if wanted(access) && !found.contains(access) {
                found.push(access.clone());
            }
        }
        Expr::Select(condition, ..) => add_certain(condition, wanted, found),
        // The right side may not be looked at.
        Expr::Binary(_, a, b) => {
            add_certain(a, wanted, found);
            if b.ty() != ValueType::scalar(lift_ir::Scalar::Bool) {
                add_certain(b, wanted, found);
            }
        }
        Expr::Unary(_, a)
        | Expr::Cast(_, a)
        | Expr::Splat(_, a)
        | Expr::Lane(a, _)
        | Expr::Shuffle(_, a) => add_certain(a, wanted, found),
        Expr::Math(_, all) | Expr::Vector(_, all) | Expr::Extern(_, all) => {
            all.iter().for_each(|part| add_certain(part, wanted, found));
        }
        Expr::Literal(_) | Expr::Var(_) | Expr::Index(..) | Expr::Test(_) => {}
    }
}

struct Tiling<'p, 'k> {
    plan: &'p Plan<'k>,
    copier: Copier,
    groups: [Var; 2],
    items: [Var; 2],
    /// Where a point is in its tile: row and column.
    within: [Var; 2],
    tiles: Vec<Buffer>,
    next: u32,
    globals: &'p [Buffer],
}

impl<'p, 'k> Tiling<'p, 'k> {
    fn new(plan: &'p Plan<'k>, kernel: &Kernel, globals: &'p [Buffer]) -> Self {
        let known = globals.iter().chain(&kernel.locals).chain(&kernel.privates);
        let next = known.map(|buffer| buffer.id.0 + 1).max().unwrap_or(0);
        let mut copier = Copier::of(kernel);
        let mut fresh = |name: &str, extent: Nat| {
            let var = copier.ids.fresh(name);
            copier.facts.declare_inside(&var, Range::below(extent));
            var
        };
        let groups = [
            fresh("wg1", plan.rows.extent.ceil_div(&Nat::int(SIDE))),
            fresh("wg0", plan.columns.extent.ceil_div(&Nat::int(SIDE))),
        ];
        let items = [fresh("l1", Nat::int(AT_A_TIME)), fresh("l0", Nat::int(SIDE))];
        let within = [fresh("row", Nat::int(SIDE)), fresh("column", Nat::int(SIDE))];
        Tiling { plan, copier, groups, items, within, tiles: Vec::new(), next, globals }
    }

    fn made(mut self) -> Turned {
        let batch = self.plan.others.iter().fold(Nat::ONE, |all, l| all * &l.extent);
        let has_batch = !self.plan.others.is_empty();
        let group = self.copier.ids.fresh("wg2");
        if has_batch {
            self.copier.facts.declare_inside(&group, Range::below(batch.clone()));
        }
        let others = by_group(&self.plan.others, &group, &self.copier.facts);
        let mut inside: Vec<Stmt> = [(1, AT_A_TIME), (0, SIDE)]
            .into_iter()
            .zip(&self.items)
            .map(|((d, extent), var)| Stmt::ThreadId {
                var: var.clone(),
                kind: LoopKind::Local(d),
                extent: Nat::int(extent),
            })
            .collect();
        inside.extend(match &self.plan.way {
            Way::Reads(reads) => self.by_reads(self.plan.body, reads, &others),
            Way::Write => self.by_write(self.plan.body, &others),
        });
        let [rows, columns] =
            [self.plan.rows, self.plan.columns].map(|l| l.extent.ceil_div(&Nat::int(SIDE)));
        let [row, column] = self.groups.clone();
        let mut dims = vec![(column, 0, columns), (row, 1, rows)];
        if has_batch {
            dims.push((group, 2, batch));
        }
        let local = [SIDE, AT_A_TIME, 1].map(Nat::int);
        let global = dims.iter().zip(&local).map(|((_, _, groups), items)| groups * items);
        let launch = Launch {
            global: global.collect(),
            local: local.into_iter().take(dims.len()).collect(),
        };
        for (var, d, extent) in dims {
            inside = vec![Stmt::Loop(Loop::new(var, LoopKind::Group(d), extent, inside))];
        }
        (inside.swap_remove(0), launch, self.tiles, self.copier)
    }

    /// Tiles are filled along the rows, and points read from there.
    fn by_reads(&mut self, body: &[Stmt], reads: &[Access], others: &[(Var, Nat)]) -> Vec<Stmt> {
        let mut through = Through { reads: Vec::new() };
        let mut made = Vec::new();
        let mut fill = Vec::new();
        for access in reads {
            let Some(tile) = self.tile(access) else { continue };
            let value = Expr::Load(access.clone(), ValueType::scalar(tile.scalar));
            let [row, column] = self.within.each_ref().map(Nat::var);
            let place = in_tile(&tile, &column, &row);
            fill.push(Stmt::Store { access: place.clone(), value });
            through.reads.push((access.clone(), place));
        }
        for part in self.parts() {
            made.extend(self.points(&fill, Along::Rows, part, others));
        }
        made.push(Stmt::Barrier(Barrier::group(Fence::Local)));
        let body = through.block(body);
        for part in self.parts() {
            made.extend(self.points(&body, Along::Columns, part, others));
        }
        made
    }

    /// Points leave their results in a tile, which is stored along the rows.
    fn by_write(&mut self, body: &[Stmt], others: &[(Var, Nat)]) -> Vec<Stmt> {
        let mut made = Vec::new();
        let mut left = Vec::new();
        let mut own = Vec::new();
        for stmt in body {
            let Stmt::Store { access, value } = stmt else {
                own.push(stmt.clone());
                continue;
            };
            let Some(tile) = self.tile(access) else { continue };
            let [row, column] = self.within.each_ref().map(Nat::var);
            let place = in_tile(&tile, &row, &column);
            own.push(Stmt::Store { access: place.clone(), value: value.clone() });
            let value = Expr::Load(place, ValueType::scalar(tile.scalar));
            left.push(Stmt::Store { access: access.clone(), value });
        }
        for part in self.parts() {
            made.extend(self.points(&own, Along::Columns, part, others));
        }
        made.push(Stmt::Barrier(Barrier::group(Fence::Local)));
        for part in self.parts() {
            made.extend(self.points(&left, Along::Rows, part, others));
        }
        made
    }

    fn parts(&self) -> std::ops::Range<i128> {
        0..SIDE / AT_A_TIME
    }

    /// What a thread does for one of its points, where there is one. Neighbouring threads have neighbouring columns, or rows.
    fn points(
        &mut self,
        body: &[Stmt],
        along: Along,
        part: i128,
        others: &[(Var, Nat)],
    ) -> Vec<Stmt> {
        let [slow, fast] = self.items.each_ref().map(Nat::var);
        let slow = slow + Nat::int(part * AT_A_TIME);
        let (row, column) = match along {
            Along::Rows => (fast, slow),
            Along::Columns => (slow, fast),
        };
        let sides = [(self.plan.rows, &row), (self.plan.columns, &column)];
        let mut values: Vec<(Var, Nat)> = others.to_vec();
        let mut ends = Vec::new();
        for (((l, place), group), within) in sides.into_iter().zip(&self.groups).zip(&self.within) {
            let at = Nat::var(group) * Nat::int(SIDE) + place;
            values.push((l.var.clone(), at.clone()));
            values.push((within.clone(), place.clone()));
            if l.extent.as_int().is_none_or(|n| n % SIDE != 0) {
                ends.push(Pred::Lt(at, l.extent.clone()));
            }
        }
        let value = |v: &Var| values.iter().find(|(own, _)| own == v).map(|(_, n)| n.clone());
        let comments = Comments::of(usize::from(part > 0));
        let guarded = self.plan.guard.map(|guard| Stmt::If {
            condition: guard.clone(),
            then: body.to_vec(),
            otherwise: Vec::new(),
        });
        let body = guarded.as_ref().map_or(body, std::slice::from_ref);
        let then = self.copier.copy(body, &value, comments);
        let condition = match ends.len() {
            0 => return then,
            1 => ends.swap_remove(0),
            _ => Pred::And(ends),
        };
        vec![Stmt::If { condition: Expr::Test(condition), then, otherwise: Vec::new() }]
    }

    /// A tile for the elements that an access is to.
    fn tile(&mut self, access: &Access) -> Option<Buffer> {
        let of = self.globals.iter().find(|b| b.id == access.buffer)?;
        let tile = Buffer {
            id: BufferId(self.next),
            name: format!("{}_tile", of.name),
            scalar: of.scalar,
            length: Nat::int(SIDE * (SIDE + 1)),
            stages: 1,
            space: Space::Local,
            items: Vec::new(),
            align: 16,
            heap: false,
        };
        self.next += 1;
        self.tiles.push(tile.clone());
        Some(tile)
    }
}

/// Which points neighbouring threads have.
#[derive(Clone, Copy)]
enum Along {
    Rows,
    Columns,
}

/// An element of a tile whose rows are padded.
fn in_tile(tile: &Buffer, row: &Nat, column: &Nat) -> Access {
    Access {
        buffer: tile.id,
        index: row * Nat::int(SIDE + 1) + column,
        stage: Nat::ZERO,
        items: Vec::new(),
        width: 1,
        aligned: false,
    }
}

/// Reads from tiles.
struct Through {
    reads: Vec<(Access, Access)>,
}

impl Edit for Through {
    fn access(&mut self, access: &Access) -> Access {
        match self.reads.iter().find(|(own, _)| own == access) {
            Some((_, place)) => place.clone(),
            None => access.clone(),
        }
    }
}
