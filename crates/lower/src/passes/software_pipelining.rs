//! Software pipelining: loops that fill tiles in local memory fill those of later iterations while they work on this one.
//! With two stages it is double buffering.
//!
//! Before: `for (i) { tile[l] = x[i, l]; barrier; work on tile; barrier; }`
//! After: `tile[0] = x[0, l]; barrier; for (i) { next = x[i + 1, l]; work on tile[i]; tile[i + 1] = next; barrier; }`, where the
//! tile has as many stages as the schedule says, chosen by the iteration. One barrier an iteration, and nobody waits for
//! global memory. With n stages the loop is n - 1 tiles ahead.
//!
//! Only where tiles are filled from memory that no work-item writes. Filling may be guarded and may compute addresses. A
//! work-item that fills several elements in a loop has no register for each: the next tile is then filled before the work.

use lift_ir::{Nat, Pred, Var};
use lift_kernel::{
    Access, Barrier, BufferId, Edit, Expr, Ids, Kernel, Loop, LoopKind, Scope, Stmt, Variable,
};

use crate::cloning::{Comments, Copier};
use crate::effects::{Counts, Variables, has_loop};
use crate::passes::dead_code;

pub(crate) fn run(kernel: &mut Kernel) {
    let stages = kernel.schedule.stages.unwrap_or(1);
    if kernel.locals.is_empty() || stages < 2 {
        return;
    }
    let mut pass = Pass {
        copier: Copier::of(kernel),
        locals: kernel.locals.iter().map(|b| b.id).collect(),
        staged: Vec::new(),
        accesses: Counts::of(&kernel.body),
        ahead: stages - 1,
        declares: false,
    };
    let body = std::mem::take(&mut kernel.body);
    kernel.body = pass.block(body);
    if pass.staged.is_empty() {
        return;
    }
    for buffer in &mut kernel.locals {
        if pass.staged.contains(&buffer.id) {
            buffer.set_stages(stages);
        }
    }
    kernel.facts = pass.copier.facts;
    // Addresses are computed where a tile is fetched and where it is put; each needs its own.
    if pass.declares {
        dead_code::remove(kernel);
    }
}

struct Pass {
    copier: Copier,
    locals: Vec<BufferId>,
    /// Buffers that have stages now.
    staged: Vec<BufferId>,
    /// All accesses of the kernel.
    accesses: Counts,
    /// How many tiles the loop is ahead.
    ahead: u32,
    /// Something is declared to fill a tile.
    declares: bool,
}

/// The parts of a loop that can be pipelined.
struct Parts<'l> {
    /// What fills tiles.
    fill: &'l [Stmt],
    tiles: Vec<BufferId>,
    /// What stands between the two barriers.
    work: &'l [Stmt],
    barrier: &'l Stmt,
}

impl Pass {
    fn block(&mut self, block: Vec<Stmt>) -> Vec<Stmt> {
        let mut made = Vec::with_capacity(block.len());
        for stmt in block {
            match stmt {
                Stmt::Loop(l) if l.kind == LoopKind::Seq => match self.parts(&l) {
                    Some(parts) => self.pipelined(&l, &parts, &mut made),
                    None => made.push(Stmt::Loop(l)),
                },
                // Barriers stand at group level: in loops over groups and nowhere deeper.
                Stmt::Loop(l) if matches!(l.kind, LoopKind::Group(_)) => {
                    let body = self.block(l.body);
                    made.push(Stmt::Loop(Loop { body, ..l }));
                }
                // In a branch that all work-items of the group take alike.
                Stmt::If { condition, then, otherwise } => {
                    let (then, otherwise) = (self.block(then), self.block(otherwise));
                    made.push(Stmt::If { condition, then, otherwise });
                }
                other => made.push(other),
            }
        }
        made
    }

    fn parts<'l>(&self, l: &'l Loop) -> Option<Parts<'l>> {
        let barriers: Vec<usize> = (0..l.body.len())
            .filter(|i| matches!(l.body[*i], Stmt::Barrier(Barrier { scope: Scope::Group, .. })))
            .collect();
        let [first, last] = barriers.as_slice() else { return None };
        let is_any = self.copier.facts.at_most(&Nat::ONE, &l.extent);
        if last + 1 != l.body.len() || !is_any || l.stops() {
            return None;
        }
        let (fill, work) = (&l.body[..*first], &l.body[first + 1..*last]);
        let filling = Filling { pass: self, l, variables: Variables::of(&l.body) };
        if !fill.iter().all(|stmt| filling.can_be_early(stmt)) || !filling.is_apart(fill, work) {
            return None;
        }
        let waits = work.iter().any(|s| matches!(s, Stmt::Barrier(_)));
        let tiles: Vec<BufferId> = Counts::of(fill).stored().collect();
        let (here, worked_on) = (Counts::of(&l.body), Counts::of(work));
        let is_only_here = |id: &BufferId| here.get(*id) == self.accesses.get(*id);
        let is_filled = |id: &BufferId| !worked_on.is_stored(*id) && is_only_here(id);
        let is_useful = !tiles.is_empty() && tiles.iter().all(is_filled) && !waits;
        is_useful.then(|| Parts { fill, tiles, work, barrier: &l.body[*last] })
    }

    fn pipelined(&mut self, l: &Loop, parts: &Parts, made: &mut Vec<Stmt>) {
        let i = Nat::var(&l.var);
        for step in 0..self.ahead {
            let step = Nat::int(step.into());
            let first = self.filled(l, parts, &step);
            made.extend(self.where_there_is(&step, l, first));
        }
        made.push(parts.barrier.clone());
        let later = &i + Nat::int(self.ahead.into());
        let mut next = self.filled(l, parts, &later);
        let mut body = Vec::new();
        let mut put = Vec::new();
        if !has_loop(&next, &|_| true) {
            put = self.filled(l, parts, &later);
            body = InRegisters::split(&mut next, &mut put, &self.copier.ids);
        }
        body.extend(self.where_there_is(&later, l, next));
        body.extend(Staged { tiles: &parts.tiles, stage: &i }.block(parts.work));
        body.extend(self.where_there_is(&later, l, put));
        body.push(parts.barrier.clone());
        made.push(Stmt::Loop(Loop::new(l.var.clone(), l.kind, l.extent.clone(), body)));
        self.staged.extend(parts.tiles.iter().copied());
        let declares = |s: &Stmt| matches!(s, Stmt::Declare { .. } | Stmt::Index { .. });
        parts.fill.iter().for_each(|stmt| stmt.each(&mut |s| self.declares |= declares(s)));
    }

    /// What fills the tiles of an iteration.
    fn filled(&mut self, l: &Loop, parts: &Parts, step: &Nat) -> Vec<Stmt> {
        let at = |v: &Var| (*v == l.var).then(|| step.clone());
        let fill = self.copier.copy(parts.fill, &at, Comments::Drop);
        Staged { tiles: &parts.tiles, stage: step }.block(&fill)
    }

    /// Statements for an iteration, if there is one.
    fn where_there_is(&self, step: &Nat, l: &Loop, then: Vec<Stmt>) -> Vec<Stmt> {
        let there_is = Pred::Lt(step.clone(), l.extent.clone());
        if then.is_empty() || self.copier.facts.proves(&there_is) {
            return then;
        }
        vec![Stmt::If { condition: Expr::Test(there_is), then, otherwise: Vec::new() }]
    }
}

/// Whether statements fill tiles with what is the same whenever they are done.
struct Filling<'p> {
    pass: &'p Pass,
    l: &'p Loop,
    /// Of the body of the loop.
    variables: Variables,
}

impl Filling<'_> {
    fn can_be_early(&self, stmt: &Stmt) -> bool {
        if !stmt.values().all(|value| self.is_same(value)) {
            return false;
        }
        match stmt {
            Stmt::Comment(_) | Stmt::Index { .. } | Stmt::Declare { value: Some(_), .. } => true,
            Stmt::Store { access, .. } => {
                let (pass, tile) = (self.pass, access.buffer);
                pass.locals.contains(&tile) && !pass.staged.contains(&tile)
            }
            Stmt::If { .. } | Stmt::Loop(_) => {
                stmt.blocks().into_iter().flatten().all(|inner| self.can_be_early(inner))
            }
            Stmt::Declare { value: None, .. }
            | Stmt::Assign { .. }
            | Stmt::ThreadId { .. }
            | Stmt::Atomic { .. }
            | Stmt::Barrier(_)
            | Stmt::Stop(_) => false,
        }
    }

    /// Whether a value is made of what nobody writes in the loop.
    fn is_same(&self, value: &Expr) -> bool {
        let mut same = true;
        value.each(&mut |e| match e {
            Expr::Load(from, _) => {
                let pass = self.pass;
                same &=
                    !pass.accesses.is_stored(from.buffer) && !pass.locals.contains(&from.buffer);
            }
            Expr::Var(var) => {
                same &= self.variables.get(&var.id).is_none_or(|m| m.assigned.is_empty());
            }
            _ => {}
        });
        same
    }

    /// Whether what is declared to fill tiles is used for nothing else.
    fn is_apart(&self, fill: &[Stmt], work: &[Stmt]) -> bool {
        let mut used = crate::plan::Uses::default();
        used.block(work);
        let is_used = |stmt: &Stmt| match stmt {
            Stmt::Declare { var, .. } => used.variables.contains(&var.id),
            Stmt::Index { var, .. } => used.sizes.contains(var) && *var != self.l.var,
            _ => false,
        };
        !fill.iter().any(is_used)
    }
}

/// What is fetched stays in registers until it is put into the tile.
struct InRegisters<'r> {
    registers: std::slice::Iter<'r, Variable>,
    fetches: bool,
}

impl InRegisters<'_> {
    /// Makes one copy of what fills tiles fetch, and another put what is fetched; gives the registers' declarations.
    fn split(fetch: &mut Vec<Stmt>, put: &mut Vec<Stmt>, ids: &Ids) -> Vec<Stmt> {
        let mut registers = Vec::new();
        for stmt in fetch.iter() {
            stmt.each(&mut |s| {
                if let Stmt::Store { value, .. } = s {
                    registers.push(Variable { id: ids.fresh("next"), ty: value.ty() });
                }
            });
        }
        for (block, fetches) in [(&mut *fetch, true), (&mut *put, false)] {
            *block = InRegisters { registers: registers.iter(), fetches }.block(block);
        }
        registers.into_iter().map(|var| Stmt::Declare { var, value: None }).collect()
    }
}

impl Edit for InRegisters<'_> {
    fn stmt(&mut self, stmt: &Stmt, made: &mut Vec<Stmt>) {
        let Stmt::Store { access, value } = stmt else {
            let done = self.stmt_parts(stmt);
            return made.push(done);
        };
        let Some(register) = self.registers.next().cloned() else { return };
        made.push(match self.fetches {
            true => Stmt::Assign { var: register, value: value.clone() },
            false => Stmt::Store { access: access.clone(), value: Expr::Var(register) },
        });
    }
}

/// Accesses to tiles go to a stage.
struct Staged<'s> {
    tiles: &'s [BufferId],
    stage: &'s Nat,
}

impl Edit for Staged<'_> {
    fn access(&mut self, access: &Access) -> Access {
        match self.tiles.contains(&access.buffer) {
            true => Access { stage: self.stage.clone(), ..access.clone() },
            false => access.clone(),
        }
    }
}
