//! Barriers between loops over work-items that share memory.
//!
//! Before: loops over the work-items of a group one after the other.
//! After: a barrier stands between two of them where one may touch what another work-item wrote, or
//! write what another one reads; loops around them count as one time after the other.
//!
//! No barrier is needed where every work-item touches only its own element, the same one in both
//! loops. Barriers stand at group level, outside all loops over work-items, so they never diverge.

use std::collections::BTreeMap;

use lift_ir::{Nat, Space, Var};
use lift_kernel::{Access, BufferId, Expr, Fence, Kernel, Loop, LoopKind, Stmt};

/// Without `simplify` a barrier stands after every loop that writes what is shared.
pub(crate) fn insert(kernel: &mut Kernel, status: Option<BufferId>, simplify: bool) {
    if !crate::launch::uses(&kernel.body, &|k| matches!(k, LoopKind::Group(_))) {
        return;
    }
    let unshared: Vec<BufferId> = kernel.privates.iter().map(|b| b.id).chain(status).collect();
    let local: Vec<BufferId> =
        kernel.locals.iter().filter(|b| b.space == Space::Local).map(|b| b.id).collect();
    let groups: Vec<(Nat, Nat)> =
        kernel.launch.global.iter().cloned().zip(kernel.launch.local.iter().cloned()).collect();
    let stages = kernel.locals.iter().map(|b| (b.id, b.stages)).collect();
    let pass = Pass { unshared, local, stages, groups, simplify };
    let body = std::mem::take(&mut kernel.body);
    kernel.body = pass.block(body, &mut Touched::default());
}

struct Pass {
    /// What needs no barrier: no work-item reads what another wrote.
    unshared: Vec<BufferId>,
    local: Vec<BufferId>,
    /// The stages of each buffer in local memory.
    stages: BTreeMap<BufferId, u32>,
    /// Global and local sizes by dimension.
    groups: Vec<(Nat, Nat)>,
    simplify: bool,
}

/// What was touched since the last barrier, by buffer and stage.
#[derive(Clone, Default)]
struct Touched(BTreeMap<(BufferId, Nat), Uses>);

#[derive(Clone, Default)]
struct Uses {
    read: bool,
    written: bool,
    /// The element as every work-item sees it, if each touches one only; `None` otherwise.
    own: Option<Own>,
    several: bool,
}

/// An index with the loops over work-items named by dimension.
type Own = (Nat, Vec<(u8, Nat)>);

impl Touched {
    /// The buffers that one work-item may touch here and another one later, one of them to write.
    fn conflicts(&self, later: &Touched, pass: &Pass) -> Vec<BufferId> {
        let mut found = Vec::new();
        for ((id, stage), a) in &self.0 {
            let clash = later.0.iter().any(|((other, at), b)| {
                let shared = a.written || b.written;
                let own = !a.several && !b.several && a.own.is_some() && a.own == b.own;
                let same = own && stage == at;
                id == other && shared && !same && pass.may_be_same(*id, stage, at)
            });
            if clash && !found.contains(id) {
                found.push(*id);
            }
        }
        found
    }

    /// The same in the next iteration of a loop.
    fn next_time(self, var: &Var) -> Touched {
        let next = |v: &Var| (v == var).then(|| Nat::var(v) + Nat::ONE);
        let moved = |((id, stage), uses): ((BufferId, Nat), Uses)| {
            let own = uses.own.map(|(index, loops)| (index.substitute(&next), loops));
            ((id, stage.substitute(&next)), Uses { own, ..uses })
        };
        Touched(self.0.into_iter().map(moved).collect())
    }

    fn add(&mut self, other: Touched) {
        for (id, uses) in other.0 {
            let known = self.0.entry(id).or_default();
            known.several |= uses.several || (known.own.is_some() && known.own != uses.own);
            known.own = uses.own.or(known.own.take());
            known.read |= uses.read;
            known.written |= uses.written;
        }
    }
}

impl Pass {
    /// Puts barriers into a block at group level.
    fn block(&self, block: Vec<Stmt>, pending: &mut Touched) -> Vec<Stmt> {
        let mut made = Vec::new();
        for stmt in block {
            match stmt {
                Stmt::Loop(l) if !matches!(l.kind, LoopKind::Local(_)) && holds_items(&l.body) => {
                    self.before(&self.beginning(&l.body), pending, &mut made);
                    made.push(Stmt::Loop(self.around(l, pending)));
                }
                other => {
                    let touched = self.touched(&other);
                    self.before(&touched, pending, &mut made);
                    let writes = touched.0.values().any(|uses| uses.written);
                    pending.add(touched);
                    made.push(other);
                    if writes && !self.simplify {
                        made.push(Stmt::Barrier(Fence::Both));
                        *pending = Touched::default();
                    }
                }
            }
        }
        made
    }

    /// Puts a barrier before what is touched next, where one is needed.
    fn before(&self, next: &Touched, pending: &mut Touched, made: &mut Vec<Stmt>) {
        let clash = pending.conflicts(next, self);
        if !clash.is_empty() {
            // The line about what comes next stays with it.
            let said = made.iter().rev().take_while(|s| matches!(s, Stmt::Comment(_))).count();
            made.insert(made.len() - said, Stmt::Barrier(self.fence(&clash)));
            *pending = Touched::default();
        }
    }

    /// What a block touches before its first barrier.
    fn beginning(&self, block: &[Stmt]) -> Touched {
        let mut start = Touched::default();
        for stmt in block {
            if self.first_touched(stmt, &mut start) {
                break;
            }
        }
        start
    }

    /// A loop around loops over work-items: its end meets its beginning.
    fn around(&self, l: Loop, pending: &mut Touched) -> Loop {
        let once = match l.kind {
            LoopKind::Group(d) => self.one_group_each(d, &l.extent),
            _ => false,
        };
        let mut body = self.block(l.body, pending);
        if !once {
            let start = self.beginning(&body).next_time(&l.var);
            self.before(&start, pending, &mut body);
        }
        Loop { body, ..l }
    }

    /// Adds what is touched up to the first barrier; true where one was met.
    fn first_touched(&self, stmt: &Stmt, start: &mut Touched) -> bool {
        match stmt {
            Stmt::Barrier(_) => true,
            Stmt::Loop(l) if !matches!(l.kind, LoopKind::Local(_)) && holds_items(&l.body) => {
                l.body.iter().any(|inner| self.first_touched(inner, start))
            }
            other => {
                start.add(self.touched(other));
                false
            }
        }
    }

    /// Whether two counts of a buffer's stages may choose the same one.
    fn may_be_same(&self, id: BufferId, a: &Nat, b: &Nat) -> bool {
        let stages = self.stages.get(&id).copied().unwrap_or(1);
        let apart = (a - b).as_int().is_some_and(|n| n.rem_euclid(i128::from(stages)) != 0);
        !apart
    }

    /// There are exactly as many groups as iterations, so each group runs one.
    fn one_group_each(&self, dimension: u8, extent: &Nat) -> bool {
        self.groups
            .get(usize::from(dimension))
            .is_some_and(|(global, local)| lift_ir::Facts::new().equal(global, &(extent * local)))
    }

    fn fence(&self, buffers: &[BufferId]) -> Fence {
        let local = buffers.iter().any(|b| self.local.contains(b));
        let global = buffers.iter().any(|b| !self.local.contains(b));
        match (local, global) {
            (true, false) => Fence::Local,
            (false, _) => Fence::Global,
            (true, true) => Fence::Both,
        }
    }

    fn touched(&self, stmt: &Stmt) -> Touched {
        let mut walk = Walk { pass: self, items: Vec::new(), inner: 0, found: Touched::default() };
        walk.stmt(stmt);
        walk.found
    }
}

fn holds_items(block: &[Stmt]) -> bool {
    crate::launch::uses(block, &|k| matches!(k, LoopKind::Local(_)))
}

struct Walk<'p> {
    pass: &'p Pass,
    /// The loops over work-items around: variable, dimension, length.
    items: Vec<(Var, u8, Nat)>,
    /// How many sequential loops are around inside them.
    inner: u32,
    found: Touched,
}

impl Walk<'_> {
    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Comment(_) | Stmt::Barrier(_) | Stmt::Place { .. } => {}
            Stmt::Declare { value, .. } => value.iter().for_each(|v| self.expr(v)),
            Stmt::Assign { value, .. } | Stmt::Index { value, .. } => self.expr(value),
            Stmt::Store { access, value } => {
                self.expr(value);
                self.access(access, true);
            }
            Stmt::Loop(l) => match l.kind {
                LoopKind::Local(d) => {
                    self.items.push((l.var.clone(), d, l.extent.clone()));
                    l.body.iter().for_each(|s| self.stmt(s));
                    self.items.pop();
                }
                LoopKind::Seq | LoopKind::Unroll | LoopKind::Group(_) | LoopKind::Global(_) => {
                    self.inner += 1;
                    l.body.iter().for_each(|s| self.stmt(s));
                    self.inner -= 1;
                }
            },
            Stmt::If { condition, then, otherwise } => {
                self.expr(condition);
                then.iter().chain(otherwise).for_each(|s| self.stmt(s));
            }
        }
    }

    fn expr(&mut self, expr: &Expr) {
        expr.each(&mut |e| {
            if let Expr::Load(access, _) = e {
                self.access(access, false);
            }
        });
    }

    fn access(&mut self, access: &Access, write: bool) {
        if self.pass.unshared.contains(&access.buffer) {
            return;
        }
        let named = access.index.substitute(&|v| {
            let item = self.items.iter().find(|(var, _, _)| var == v);
            item.map(|(_, d, _)| Nat::var(&Var::with_id("item", u32::from(*d) + 1)))
        });
        let loops: Vec<(u8, Nat)> = self.items.iter().map(|(_, d, n)| (*d, n.clone())).collect();
        // Every work-item has one element of its own where the index tells all of them apart.
        let apart = self.inner == 0
            && !self.items.is_empty()
            && self.items.iter().all(|(var, _, _)| access.index.mentions(var));
        let own = apart.then_some((named, loops));
        let mut touched = Touched::default();
        touched.0.insert(
            (access.buffer, access.stage.clone()),
            Uses { read: !write, written: write, several: own.is_none(), own },
        );
        self.found.add(touched);
    }
}
