//! Effects: what statements read and write, which work-items do it, and in which order.
//!
//! Passes that move, share or repeat statements ask here; none of them walks a kernel for it by itself.
//!
//! - [`touches`]: every access to memory, in the order they are done, with the loops around it.
//! - [`Counts`]: how often each buffer is loaded from and stored to.
//! - [`Variables`]: where in a block each variable is declared, assigned and read.
//! - [`Sharing`]: whether a work-item of a group may touch what another one wrote.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use lift_ir::{Nat, QuickMap, Var};
use lift_kernel::{Access, BufferId, Expr, Kernel, Loop, LoopKind, Stmt};

use crate::plan::Warps;

/// An access to memory.
#[derive(Clone)]
pub(crate) struct Touch<'s> {
    pub(crate) access: &'s Access,
    pub(crate) writes: bool,
    /// The loops around it among the statements that were asked about, outermost first.
    pub(crate) loops: Rc<[&'s Loop]>,
}

impl Touch<'_> {
    /// The dimensions of the group of which one work-item does it, if there are no others: where they are the same for
    /// two accesses the same one does both, in their order.
    pub(crate) fn by_one(&self) -> Option<Vec<u8>> {
        let mut dimensions = Vec::new();
        for l in self.loops.iter() {
            if let LoopKind::Local(dimension) = l.kind {
                dimensions.push(dimension);
                if l.extent != Nat::ONE {
                    return None;
                }
            }
        }
        dimensions.sort_unstable();
        Some(dimensions)
    }
}

/// The accesses of some statements, in the order they are done.
pub(crate) fn touches<'s>(stmts: impl IntoIterator<Item = &'s Stmt>) -> Vec<Touch<'s>> {
    let mut found = Vec::new();
    let outside = Rc::from([]);
    stmts.into_iter().for_each(|stmt| add_touches(stmt, &outside, &mut found));
    found
}

/// The accesses of a value.
pub(crate) fn touches_of(value: &Expr) -> Vec<Touch<'_>> {
    let mut found = Vec::new();
    add_loads(value, &Rc::from([]), &mut found);
    found
}

fn add_touches<'s>(stmt: &'s Stmt, loops: &Rc<[&'s Loop]>, found: &mut Vec<Touch<'s>>) {
    stmt.values().for_each(|value| add_loads(value, loops, found));
    match stmt {
        Stmt::Store { access, .. } => {
            found.push(Touch { access, writes: true, loops: loops.clone() });
        }
        Stmt::Atomic { access, .. } => {
            let own = [false, true].map(|writes| Touch { access, writes, loops: loops.clone() });
            found.extend(own);
        }
        Stmt::Loop(l) => {
            let loops = loops.iter().copied().chain([l]).collect();
            l.body.iter().for_each(|inner| add_touches(inner, &loops, found));
        }
        _ => {
            stmt.blocks().into_iter().flatten().for_each(|inner| add_touches(inner, loops, found));
        }
    }
}

fn add_loads<'s>(value: &'s Expr, loops: &Rc<[&'s Loop]>, found: &mut Vec<Touch<'s>>) {
    value.each(&mut |e| {
        if let Expr::Load(access, _) = e {
            found.push(Touch { access, writes: false, loops: loops.clone() });
        }
    });
}

/// How often each buffer is accessed.
#[derive(Default)]
pub(crate) struct Counts(BTreeMap<BufferId, Count>);

#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Count {
    pub(crate) loads: usize,
    pub(crate) stores: usize,
}

impl Counts {
    pub(crate) fn of<'s>(stmts: impl IntoIterator<Item = &'s Stmt>) -> Counts {
        let mut counts = Counts::default();
        for touch in touches(stmts) {
            let count = counts.0.entry(touch.access.buffer).or_default();
            match touch.writes {
                true => count.stores += 1,
                false => count.loads += 1,
            }
        }
        counts
    }

    pub(crate) fn get(&self, buffer: BufferId) -> Count {
        self.0.get(&buffer).copied().unwrap_or_default()
    }

    pub(crate) fn is_stored(&self, buffer: BufferId) -> bool {
        self.get(buffer).stores > 0
    }

    /// The buffers that are stored to.
    pub(crate) fn stored(&self) -> impl Iterator<Item = BufferId> {
        self.0.iter().filter(|(_, count)| count.stores > 0).map(|(id, _)| *id)
    }
}

/// Where in a block variables are used, by the number of the statement that does it or has it inside.
#[derive(Default)]
pub(crate) struct Variables(QuickMap<Var, Mentions>);

#[derive(Default)]
pub(crate) struct Mentions {
    /// Whether it is declared in the block.
    pub(crate) declared: bool,
    /// The statements that read it, in order.
    pub(crate) read: Vec<usize>,
    /// Those that assign it, in order.
    pub(crate) assigned: Vec<usize>,
}

impl Variables {
    pub(crate) fn of<'s>(stmts: impl IntoIterator<Item = &'s Stmt>) -> Variables {
        Variables::among(stmts, &|_| true)
    }

    /// The same of some variables.
    pub(crate) fn among<'s>(
        stmts: impl IntoIterator<Item = &'s Stmt>,
        wanted: &dyn Fn(&Var) -> bool,
    ) -> Variables {
        let mut found = Variables::default();
        for (at, stmt) in stmts.into_iter().enumerate() {
            stmt.each(&mut |s| found.add(at, s, wanted));
        }
        found
    }

    fn add(&mut self, at: usize, stmt: &Stmt, wanted: &dyn Fn(&Var) -> bool) {
        for value in stmt.values() {
            value.each(&mut |e| {
                if let Expr::Var(var) = e
                    && wanted(&var.id)
                {
                    self.mentions(&var.id).read.push(at);
                }
            });
        }
        match stmt {
            Stmt::Declare { var, .. } if wanted(&var.id) => self.mentions(&var.id).declared = true,
            Stmt::Assign { var, .. } if wanted(&var.id) => {
                self.mentions(&var.id).assigned.push(at);
            }
            _ => {}
        }
    }

    fn mentions(&mut self, var: &Var) -> &mut Mentions {
        self.0.entry(var.clone()).or_default()
    }

    pub(crate) fn get(&self, var: &Var) -> Option<&Mentions> {
        self.0.get(var)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Var, &Mentions)> {
        self.0.iter()
    }

    /// Whether a variable is assigned that is declared elsewhere.
    pub(crate) fn assigns_others(&self) -> bool {
        self.0.values().any(|var| !var.assigned.is_empty() && !var.declared)
    }
}

/// What the work-items of a group share in a kernel.
pub(crate) struct Sharing<'w> {
    /// Arrays that each work-item has for itself, and where a failed check is said: any may write there.
    unshared: BTreeSet<BufferId>,
    /// Of buffers that have several.
    stages: BTreeMap<BufferId, u32>,
    warps: &'w Warps,
}

/// The one element that each work-item touches of its own: the index, in which dimensions stand for the variables of
/// loops over work-items, the stage, and the dimensions and lengths of these loops.
#[derive(Clone, PartialEq)]
pub(crate) struct Own {
    index: Nat,
    stage: Nat,
    items: Vec<(u8, Nat)>,
}

impl Own {
    /// The same in the next iteration of a loop.
    pub(crate) fn next_time(self, var: &Var) -> Own {
        Own { index: next_time(&self.index, var), stage: next_time(&self.stage, var), ..self }
    }
}

/// An index or a stage in the next iteration of a loop.
pub(crate) fn next_time(nat: &Nat, var: &Var) -> Nat {
    nat.substitute(&|v| (v == var).then(|| Nat::var(v) + Nat::ONE))
}

impl<'w> Sharing<'w> {
    pub(crate) fn of(kernel: &Kernel, status: Option<BufferId>, warps: &'w Warps) -> Sharing<'w> {
        let unshared = kernel.privates.iter().map(|b| b.id).chain(status).collect();
        let stages = kernel.locals.iter().map(|b| (b.id, b.stages)).collect();
        Sharing { unshared, stages, warps }
    }

    pub(crate) fn is_shared(&self, buffer: BufferId) -> bool {
        !self.unshared.contains(&buffer)
    }

    /// Whether statements write what work-items share.
    pub(crate) fn writes<'s>(&self, stmts: impl IntoIterator<Item = &'s Stmt>) -> bool {
        touches(stmts).iter().any(|touch| touch.writes && self.is_shared(touch.access.buffer))
    }

    /// The element of each work-item, if it touches one only: there is no other loop around, and the index tells all
    /// work-items apart. One alone is told.
    pub(crate) fn own(&self, touch: &Touch) -> Option<Own> {
        let mut items = Vec::new();
        for l in touch.loops.iter() {
            let LoopKind::Local(dimension) = l.kind else { return None };
            if l.extent != Nat::ONE && !self.tells_apart(&touch.access.index, &l.var) {
                return None;
            }
            items.push((dimension, l.extent.clone()));
        }
        let named = |v: &Var| {
            let at = touch.loops.iter().position(|l| l.var == *v)?;
            Some(Nat::var(&Var::with_id("item", u32::from(items[at].0) + 1)))
        };
        let [index, stage] =
            [&touch.access.index, &touch.access.stage].map(|n| n.substitute(&named));
        (!items.is_empty()).then_some(Own { index, stage, items })
    }

    /// Whether an index differs between the work-items of a loop. Some lanes of a warp may do nothing, and
    /// others touch elements that they would have: an index that is no multiple of the pair's does not tell.
    fn tells_apart(&self, index: &Nat, var: &Var) -> bool {
        if !self.warps.loops.contains_key(var) {
            return index.mentions(var);
        }
        let step = next_time(index, var) - index;
        step != Nat::ZERO && !step.mentions(var)
    }

    /// Whether two counts of a buffer's stages may choose the same one.
    pub(crate) fn may_be_same_stage(&self, buffer: BufferId, a: &Nat, b: &Nat) -> bool {
        let stages = self.stages.get(&buffer).copied().unwrap_or(1);
        let apart = (a - b).as_int().is_some_and(|n| n.rem_euclid(i128::from(stages)) != 0);
        !apart
    }
}

/// Whether statements have loops over the work-items of a group.
pub(crate) fn holds_items<'s>(stmts: impl IntoIterator<Item = &'s Stmt>) -> bool {
    has_loop(stmts, &|kind| matches!(kind, LoopKind::Local(_)))
}

/// Whether statements have a loop of some kind.
pub(crate) fn has_loop<'s>(
    stmts: impl IntoIterator<Item = &'s Stmt>,
    wanted: &dyn Fn(LoopKind) -> bool,
) -> bool {
    let mut found = false;
    for stmt in stmts {
        stmt.each(&mut |s| found |= matches!(s, Stmt::Loop(l) if wanted(l.kind)));
    }
    found
}
