//! Barriers between loops over work-items that share memory.
//!
//! Before: loops over the work-items of a group, one after the other.
//! After: a barrier between two of them where their accesses conflict: both touch one buffer, one of them writes, and they
//! may be by different work-items. The end of a loop around them meets its beginning.
//!
//! Accesses do not conflict where every work-item touches only its own element, the same one in both loops, or where one
//! work-item does both. Barriers stand at group level, outside all loops over work-items, so they never diverge.
//!
//! The barrier is one for a warp where only lanes of one warp touch the same memory: both loops are over the lanes of one
//! `mapWarp`, which stay within warps of the device, and the memory was made inside it, so each warp has its own part. Later
//! accesses of others still wait for a barrier of the group.

use std::collections::{BTreeMap, BTreeSet};

use lift_ir::{Facts, Nat, Space, Var};
use lift_kernel::{Barrier, BufferId, Expr, Fence, Kernel, Loop, LoopKind, Scope, Stmt};

use crate::Options;
use crate::effects::{self, Own, Sharing, Touch, has_loop, holds_items};
use crate::plan::Warps;

/// Without simplification a barrier stands after every loop that writes what is shared.
pub(crate) fn insert(
    kernel: &mut Kernel,
    status: Option<BufferId>,
    warps: &Warps,
    options: &Options,
) {
    if !has_loop(&kernel.body, &|k| matches!(k, LoopKind::Group(_))) {
        return;
    }
    let sharing = Sharing::of(kernel, status, warps);
    let local: Vec<BufferId> =
        kernel.locals.iter().filter(|b| b.space == Space::Local).map(|b| b.id).collect();
    let groups: Vec<(Nat, Nat)> =
        kernel.launch.global.iter().cloned().zip(kernel.launch.local.iter().cloned()).collect();
    let width = Nat::int(options.warp.into());
    let whole_warps = groups.first().is_some_and(|(_, local)| kernel.facts.divides(&width, local));
    let simplify = options.simplify.barriers;
    let body = std::mem::take(&mut kernel.body);
    let facts = &kernel.facts;
    let pass = Pass { sharing, local, groups, facts, warps, whole_warps, simplify };
    kernel.body = pass.block(body, &mut Touched::default());
}

struct Pass<'w> {
    sharing: Sharing<'w>,
    local: Vec<BufferId>,
    /// Global and local sizes by dimension.
    groups: Vec<(Nat, Nat)>,
    facts: &'w Facts,
    warps: &'w Warps,
    /// Groups are made of whole warps of the device.
    whole_warps: bool,
    simplify: bool,
}

/// The memories that barriers of the group have fenced.
#[derive(Clone, Copy, Default)]
struct Fenced {
    local: bool,
    global: bool,
}

/// What was touched since the last barrier, by buffer and stage.
#[derive(Clone, Default)]
struct Touched(BTreeMap<(BufferId, Nat), Uses>);

#[derive(Clone)]
struct Uses {
    written: bool,
    /// The element that each work-item touches, if it is one and the same all the time.
    own: Option<Own>,
    /// The dimensions of the one work-item that does it all, if there is only one.
    by_one: Option<Vec<u8>>,
    /// The `mapWarp`s whose lanes touch their warp's own part; `None` stands for everyone else.
    by: BTreeSet<Option<Var>>,
    /// The lanes of each warp have waited for each other since.
    waited: bool,
}

impl Uses {
    /// Whether nobody touches here what somebody else does there.
    fn are_kept_by(&self, later: &Uses) -> bool {
        let same_element = self.own.is_some() && self.own == later.own;
        let same_work_item = self.by_one.is_some() && self.by_one == later.by_one;
        same_element || same_work_item
    }

    /// The only `mapWarp` whose lanes touch this.
    fn warp(&self) -> Option<&Var> {
        match (self.by.len(), self.by.first()) {
            (1, Some(warp)) => warp.as_ref(),
            _ => None,
        }
    }
}

impl Touched {
    /// The buffers that one work-item may touch here and another one later, one of them to write, and who
    /// these work-items are.
    fn conflicts(&self, later: &Touched, pass: &Pass<'_>) -> (Vec<BufferId>, Scope) {
        let (mut found, mut scope) = (Vec::new(), Scope::Warp);
        for ((id, stage), a) in &self.0 {
            for ((other, at), b) in &later.0 {
                let shared = a.written || b.written;
                let may_meet = || pass.sharing.may_be_same_stage(*id, stage, at);
                if id != other || !shared || a.are_kept_by(b) || !may_meet() {
                    continue;
                }
                let in_warp = a.warp().is_some() && a.warp() == b.warp();
                if in_warp && a.waited {
                    continue;
                }
                if !in_warp {
                    scope = Scope::Group;
                }
                if !found.contains(id) {
                    found.push(*id);
                }
            }
        }
        (found, scope)
    }

    /// What is left to wait for after a barrier. It is one for the memories that it fences.
    fn after(&mut self, barrier: Barrier, pass: &Pass<'_>) {
        match barrier.scope {
            Scope::Group => self.0.retain(|(id, _), _| !pass.is_fenced(*id, barrier.fence)),
            Scope::Warp => self.0.values_mut().for_each(|uses| uses.waited = true),
        }
    }

    /// The same in the next iteration of a loop.
    fn next_time(self, var: &Var) -> Touched {
        let moved = |((id, stage), uses): ((BufferId, Nat), Uses)| {
            let own = uses.own.map(|own| own.next_time(var));
            ((id, effects::next_time(&stage, var)), Uses { own, ..uses })
        };
        Touched(self.0.into_iter().map(moved).collect())
    }

    fn add(&mut self, other: Touched) {
        for (id, uses) in other.0 {
            let Some(known) = self.0.get_mut(&id) else {
                self.0.insert(id, uses);
                continue;
            };
            known.own = known.own.take().filter(|own| uses.own.as_ref() == Some(own));
            known.by_one = known.by_one.take().filter(|one| uses.by_one.as_ref() == Some(one));
            known.written |= uses.written;
            known.by.extend(uses.by);
            known.waited &= uses.waited;
        }
    }
}

impl Pass<'_> {
    /// Puts barriers into a block at group level.
    fn block(&self, block: Vec<Stmt>, pending: &mut Touched) -> Vec<Stmt> {
        let mut made = Vec::new();
        for stmt in block {
            match stmt {
                Stmt::Loop(l) if !matches!(l.kind, LoopKind::Local(_)) && holds_items(&l.body) => {
                    self.before(&self.beginning(&l.body), pending, &mut made);
                    made.push(Stmt::Loop(self.around(l, pending)));
                }
                Stmt::If { condition, then, otherwise }
                    if holds_items(&then) || holds_items(&otherwise) =>
                {
                    let mut first = self.touched_by(&condition);
                    first.add(self.beginning(&then));
                    first.add(self.beginning(&otherwise));
                    self.before(&first, pending, &mut made);
                    pending.add(self.touched_by(&condition));
                    let mut other = pending.clone();
                    let then = self.block(then, pending);
                    let otherwise = self.block(otherwise, &mut other);
                    pending.add(other);
                    made.push(Stmt::If { condition, then, otherwise });
                }
                other => {
                    let touched = self.touched(&other);
                    self.before(&touched, pending, &mut made);
                    let writes = touched.0.values().any(|uses| uses.written);
                    pending.add(touched);
                    made.push(other);
                    if writes && !self.simplify {
                        let barrier = Barrier::group(Fence::Both);
                        made.push(Stmt::Barrier(barrier));
                        pending.after(barrier, self);
                    }
                }
            }
        }
        made
    }

    /// Puts a barrier before what is touched next, where one is needed.
    fn before(&self, next: &Touched, pending: &mut Touched, made: &mut Vec<Stmt>) {
        let (clash, scope) = pending.conflicts(next, self);
        if !clash.is_empty() {
            // The line about what comes next stays with it.
            let said = made.iter().rev().take_while(|s| matches!(s, Stmt::Comment(_))).count();
            let barrier = Barrier { fence: self.fence(&clash), scope };
            made.insert(made.len() - said, Stmt::Barrier(barrier));
            pending.after(barrier, self);
        }
    }

    /// What a block touches before the first barriers of the group that fence it.
    fn beginning(&self, block: &[Stmt]) -> Touched {
        let (mut start, mut fenced) = (Touched::default(), Fenced::default());
        block.iter().for_each(|stmt| self.first_touched(stmt, &mut start, &mut fenced));
        start
    }

    /// A loop around loops over work-items: its end meets its beginning.
    fn around(&self, l: Loop, pending: &mut Touched) -> Loop {
        let once = match l.kind {
            LoopKind::Group(d) => self.one_group_each(d, &l.extent),
            _ => false,
        };
        // Where there is no iteration, or one ends early, nobody has waited.
        let before = (!self.runs(&l)).then(|| pending.clone());
        let mut body = self.block(l.body, pending);
        if !once {
            let start = self.beginning(&body).next_time(&l.var);
            self.before(&start, pending, &mut body);
        }
        let done = Loop { body, ..l };
        if let Some(before) = before {
            pending.add(before);
            done.body.iter().filter(|_| done.stops()).for_each(|s| pending.add(self.touched(s)));
        }
        done
    }

    /// Adds what is touched in memories that no barrier of the group has fenced so far.
    fn first_touched(&self, stmt: &Stmt, start: &mut Touched, fenced: &mut Fenced) {
        let mut add = |mut touched: Touched, fenced: &Fenced| {
            touched.0.retain(|(id, _), _| match self.local.contains(id) {
                true => !fenced.local,
                false => !fenced.global,
            });
            start.add(touched);
        };
        match stmt {
            Stmt::Barrier(barrier) if barrier.scope == Scope::Group => {
                fenced.local |= barrier.fence != Fence::Global;
                fenced.global |= barrier.fence != Fence::Local;
            }
            Stmt::Loop(l) if !matches!(l.kind, LoopKind::Local(_)) && holds_items(&l.body) => {
                let before = *fenced;
                l.body.iter().for_each(|inner| self.first_touched(inner, start, fenced));
                if !self.runs(l) {
                    *fenced = before;
                }
            }
            Stmt::If { condition, then, otherwise } => {
                add(self.touched_by(condition), fenced);
                let mut other = *fenced;
                then.iter().for_each(|inner| self.first_touched(inner, start, fenced));
                otherwise.iter().for_each(|inner| self.first_touched(inner, start, &mut other));
                fenced.local &= other.local;
                fenced.global &= other.global;
            }
            stmt => add(self.touched(stmt), fenced),
        }
    }

    /// Whether a loop has a whole iteration for certain. Nothing of a group is touched outside of its loops.
    fn runs(&self, l: &Loop) -> bool {
        let is_any = self.facts.at_most(&Nat::ONE, &l.extent) && !l.stops();
        matches!(l.kind, LoopKind::Group(_)) || is_any
    }

    /// There are exactly as many groups as iterations, or there is one iteration: no group runs two.
    fn one_group_each(&self, dimension: u8, extent: &Nat) -> bool {
        *extent == Nat::ONE
            || self.groups.get(usize::from(dimension)).is_some_and(|(global, local)| {
                lift_ir::Facts::new().equal(global, &(extent * local))
            })
    }

    /// Whether a barrier of the group makes what others did with a buffer known.
    fn is_fenced(&self, id: BufferId, fence: Fence) -> bool {
        match fence {
            Fence::Local => self.local.contains(&id),
            Fence::Global => !self.local.contains(&id),
            Fence::Both => true,
        }
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
        self.all_touched(&effects::touches([stmt]))
    }

    fn touched_by(&self, value: &Expr) -> Touched {
        self.all_touched(&effects::touches_of(value))
    }

    fn all_touched(&self, touches: &[Touch]) -> Touched {
        let mut found = Touched::default();
        for touch in touches.iter().filter(|t| self.sharing.is_shared(t.access.buffer)) {
            let uses = Uses {
                written: touch.writes,
                own: self.sharing.own(touch),
                by_one: touch.by_one(),
                by: BTreeSet::from([self.warp(touch)]),
                waited: false,
            };
            let place = (touch.access.buffer, touch.access.stage.clone());
            found.add(Touched(BTreeMap::from([(place, uses)])));
        }
        found
    }

    /// The `mapWarp` whose lanes touch a buffer that was made inside it.
    fn warp(&self, touch: &Touch) -> Option<Var> {
        let made = self.warps.buffers.get(&touch.access.buffer);
        let maker = made.filter(|_| self.whole_warps)?;
        let own = |l: &&Loop| self.warps.loops.get(&l.var) == Some(maker);
        touch.loops.iter().any(own).then(|| maker.clone())
    }
}
