//! Work-items as threads: how they share loops, and what each of them holds.
//!
//! Before: parallel loops go through all iterations with strides; a private buffer that lives across loops
//! over work-items has a slot for every position in them.
//! After: a loop is straight code or a branch where the launch has threads enough, and a private buffer is
//! what one thread holds. A loop over more positions than threads, whose positions hold memory, becomes
//! rounds to be written out, one position a thread in each.

use std::collections::BTreeMap;

use lift_ir::{Facts, Nat, Pred, Var};
use lift_kernel::{
    Access, BufferId, Edit, Expr, Ids, Kernel, Launch, Loop, LoopKind, Replace, Runs, Stmt,
};

/// Prepares a kernel for devices where every work-item is a thread. Without `simplify` every loop keeps its
/// strides.
pub fn for_threads(kernel: &mut Kernel, simplify: bool) {
    hold(kernel);
    if simplify {
        let mut threads = ThreadIds { ids: kernel.ids.clone(), kernel, known: Vec::new() };
        let body = threads.block(&threads.kernel.body);
        kernel.body = body;
    }
    kernel.runs = Runs::Threads;
}

/// How the n threads that share a parallel loop go through its iterations.
enum Form {
    /// Each takes every n-th, which is always right.
    Strided,
    /// There are threads enough: each takes one or none.
    Branch,
    /// There are as many threads: each takes one.
    Straight,
}

fn form(kernel: &Kernel, l: &Loop) -> Form {
    let (launch, facts) = (&kernel.launch, &kernel.facts);
    let Some(threads) = threads(launch, l.kind) else { return Form::Strided };
    if fills_groups(launch, facts, l.kind) && facts.equal(&threads, &l.extent) {
        Form::Straight
    } else if facts.at_most(&l.extent, &threads) {
        Form::Branch
    } else {
        Form::Strided
    }
}

/// Loops with threads enough become code of the thread with that number, which is named once in a scope.
struct ThreadIds<'k> {
    kernel: &'k Kernel,
    ids: Ids,
    /// The numbers named so far in this scope and those around.
    known: Vec<Known>,
}

struct Known {
    kind: LoopKind,
    extent: Nat,
    /// There are as many threads as the extent says.
    is_exact: bool,
    var: Var,
}

impl ThreadIds<'_> {
    /// The number of a thread in a loop: the loop's own variable, or that of another loop of its kind, where
    /// no more is known of it than holds here: inside a branch the variable is below the extent.
    fn named(&mut self, l: &Loop, is_exact: bool, made: &mut Vec<Stmt>) -> Var {
        let fits = |known: &&Known| {
            let same = || self.kernel.facts.equal(&known.extent, &l.extent);
            known.kind == l.kind && (known.is_exact || same())
        };
        if let Some(known) = self.known.iter().find(fits) {
            return known.var.clone();
        }
        let var = l.var.clone();
        made.push(Stmt::ThreadId { var: var.clone(), kind: l.kind, extent: l.extent.clone() });
        self.known.push(Known { kind: l.kind, extent: l.extent.clone(), is_exact, var });
        l.var.clone()
    }

    /// The number of a thread where only the first does something.
    fn any_id(&mut self, l: &Loop, made: &mut Vec<Stmt>) -> Var {
        match self.known.iter().find(|known| known.kind == l.kind) {
            Some(known) => known.var.clone(),
            None => {
                let var = self.ids.fresh(id_name(l.kind));
                made.push(Stmt::ThreadId { var: var.clone(), kind: l.kind, extent: Nat::ONE });
                var
            }
        }
    }

    /// The body of a loop whose variable is known.
    fn body_at(&mut self, l: &Loop, at: Nat) -> Vec<Stmt> {
        let mut made = Vec::with_capacity(l.body.len());
        if at.as_var() == Some(&l.var) {
            l.body.iter().for_each(|stmt| self.stmt(stmt, &mut made));
            return made;
        }
        let value = |v: &Var| (*v == l.var).then(|| at.clone());
        let body = Replace { value: &value, simplify: &Nat::clone }.block(&l.body);
        body.iter().for_each(|stmt| self.stmt(stmt, &mut made));
        made
    }

    /// The same as a scope of its own.
    fn inside(&mut self, l: &Loop, at: Nat) -> Vec<Stmt> {
        let known = self.known.len();
        let made = self.body_at(l, at);
        self.known.truncate(known);
        made
    }
}

fn id_name(kind: LoopKind) -> &'static str {
    match kind {
        LoopKind::Global(_) => "gid",
        LoopKind::Group(_) => "wg",
        LoopKind::Local(_) | LoopKind::Seq | LoopKind::Unroll => "lid",
    }
}

impl Edit for ThreadIds<'_> {
    fn block(&mut self, block: &[Stmt]) -> Vec<Stmt> {
        let known = self.known.len();
        let mut made = Vec::with_capacity(block.len());
        block.iter().for_each(|stmt| self.stmt(stmt, &mut made));
        self.known.truncate(known);
        made
    }

    fn stmt(&mut self, stmt: &Stmt, made: &mut Vec<Stmt>) {
        let form = match stmt {
            Stmt::Loop(l) => form(self.kernel, l),
            _ => Form::Strided,
        };
        match (stmt, form) {
            (Stmt::Loop(l), Form::Straight) if l.extent == Nat::ONE => {
                made.extend(self.body_at(l, Nat::ZERO));
            }
            (Stmt::Loop(l), Form::Straight) => {
                let id = self.named(l, true, made);
                made.extend(self.body_at(l, Nat::var(&id)));
            }
            (Stmt::Loop(l), Form::Branch) if l.extent == Nat::ONE => {
                let id = Nat::var(&self.any_id(l, made));
                let then = self.inside(l, Nat::ZERO);
                let condition = Expr::Test(Pred::Eq(id, Nat::ZERO));
                made.push(Stmt::If { condition, then, otherwise: Vec::new() });
            }
            (Stmt::Loop(l), Form::Branch) => {
                let id = Nat::var(&self.named(l, false, made));
                let then = self.inside(l, id.clone());
                let condition = Expr::Test(Pred::Lt(id, l.extent.clone()));
                made.push(Stmt::If { condition, then, otherwise: Vec::new() });
            }
            _ => {
                let done = self.stmt_parts(stmt);
                made.push(done);
            }
        }
    }
}

/// The number of threads that share the iterations of a loop, where the launch says it; there may be
/// more, see [`fills_groups`].
fn threads(launch: &Launch, kind: LoopKind) -> Option<Nat> {
    let of = |counts: &[Nat], d: u8| match counts {
        [] => None,
        _ => Some(counts.get(usize::from(d)).cloned().unwrap_or(Nat::ONE)),
    };
    match kind {
        LoopKind::Global(d) => of(&launch.global, d),
        LoopKind::Local(d) => of(&launch.local, d),
        LoopKind::Group(d) => Some(of(&launch.global, d)?.div(&of(&launch.local, d)?)),
        LoopKind::Seq | LoopKind::Unroll => None,
    }
}

/// Whether there are exactly as many threads as the launch says. A launch whose global size is no
/// multiple of the local size starts whole groups, so more.
fn fills_groups(launch: &Launch, facts: &Facts, kind: LoopKind) -> bool {
    match kind {
        LoopKind::Local(_) => true,
        LoopKind::Global(d) | LoopKind::Group(d) => {
            let of = |counts: &[Nat]| counts.get(usize::from(d)).cloned().unwrap_or(Nat::ONE);
            !launch.local.is_empty() && facts.divides(&of(&launch.local), &of(&launch.global))
        }
        LoopKind::Seq | LoopKind::Unroll => false,
    }
}

/// How the positions of a loop choose among what a thread holds.
#[derive(Clone, Debug)]
enum Slots {
    /// Every thread has one position.
    One,
    /// As many rounds, each with a position for every one of the threads.
    Rounds { rounds: i128, threads: i128 },
    /// Thread counts are not known: room for all positions.
    All(Nat),
}

impl Slots {
    fn count(&self) -> Nat {
        match self {
            Slots::One => Nat::ONE,
            Slots::Rounds { rounds, .. } => Nat::int(*rounds),
            Slots::All(count) => count.clone(),
        }
    }
}

/// Private buffers become what one thread holds.
fn hold(kernel: &mut Kernel) {
    if kernel.privates.iter().all(|b| b.items.is_empty()) {
        return;
    }
    let held = held_loops(kernel);
    let mut edit = Hold {
        lengths: kernel.privates.iter().map(|b| (b.id, b.length.clone())).collect(),
        ids: kernel.ids.clone(),
        rounds: BTreeMap::new(),
        held,
    };
    let body = edit.block(&kernel.body);
    kernel.body = body;
    for buffer in &mut kernel.privates {
        let items = std::mem::take(&mut buffer.items);
        let counts = items.iter().enumerate().map(|(k, _)| edit.held.get(&(buffer.id, k)));
        buffer.length = counts.zip(&items).fold(buffer.length.clone(), |length, (slots, all)| {
            length * slots.map_or_else(|| all.clone(), Slots::count)
        });
    }
}

/// The slots of each position of a buffer, by the loop that its accesses name.
fn held_loops(kernel: &Kernel) -> BTreeMap<(BufferId, usize), Slots> {
    let mut kinds = BTreeMap::new();
    for stmt in &kernel.body {
        stmt.each(&mut |s| {
            if let Stmt::Loop(l) = s {
                kinds.insert(l.var.clone(), l.kind);
            }
        });
    }
    let mut slots = BTreeMap::new();
    each_access(&kernel.body, &mut |access| {
        let Some(buffer) = kernel.privates.iter().find(|b| b.id == access.buffer) else { return };
        for (k, (position, extent)) in access.items.iter().zip(&buffer.items).enumerate() {
            let Some(kind) = position.as_var().and_then(|v| kinds.get(v)) else { continue };
            let found = match threads(&kernel.launch, *kind) {
                Some(t) if kernel.facts.at_most(extent, &t) => Slots::One,
                Some(t) => match (t.as_int(), extent.as_int()) {
                    (Some(t), Some(e)) if t > 0 => {
                        Slots::Rounds { rounds: (e + t - 1) / t, threads: t }
                    }
                    _ => Slots::All(extent.clone()),
                },
                None => Slots::All(extent.clone()),
            };
            slots.entry((buffer.id, k)).or_insert(found);
        }
    });
    slots
}

fn each_access(block: &[Stmt], visit: &mut dyn FnMut(&Access)) {
    block.iter().for_each(|stmt| stmt.each_access(&mut |access, _| visit(access)));
}

struct Hold {
    /// Of private buffers, what one position holds.
    lengths: BTreeMap<BufferId, Nat>,
    held: BTreeMap<(BufferId, usize), Slots>,
    /// The round each position of a loop around belongs to.
    rounds: BTreeMap<Var, Var>,
    ids: Ids,
}

impl Hold {
    /// The rounds of a loop over work-items, if its positions hold memory.
    fn rounds_of(&self, l: &Loop) -> Option<(i128, i128)> {
        let mut found = None;
        each_access(&l.body, &mut |access| {
            for (k, position) in access.items.iter().enumerate() {
                if position.as_var() == Some(&l.var)
                    && let Some(Slots::Rounds { rounds, threads }) =
                        self.held.get(&(access.buffer, k))
                {
                    found = Some((*rounds, *threads));
                }
            }
        });
        found
    }

    /// `for l < E` as `for round { l = id; T * round + l < E }`.
    fn in_rounds(&mut self, l: &Loop, rounds: i128, threads: i128) -> Stmt {
        let round = self.ids.fresh(&format!("turn_{}", l.var.name()));
        self.rounds.insert(l.var.clone(), round.clone());
        let body = self.block(&l.body);
        self.rounds.remove(&l.var);
        let position = Nat::int(threads) * Nat::var(&round) + Nat::var(&l.var);
        let value = |v: &Var| (*v == l.var).then(|| position.clone());
        let mut body = Replace { value: &value, simplify: &Nat::clone }.block(&body);
        if l.extent != Nat::int(rounds * threads) {
            let inside = Expr::Test(Pred::Lt(position.clone(), l.extent.clone()));
            body = vec![Stmt::If { condition: inside, then: body, otherwise: Vec::new() }];
        }
        let own = Loop::new(l.var.clone(), l.kind, Nat::int(threads), body);
        let all = Loop::new(round, LoopKind::Unroll, Nat::int(rounds), vec![Stmt::Loop(own)]);
        Stmt::Loop(all)
    }
}

impl Edit for Hold {
    fn access(&mut self, access: &Access) -> Access {
        let Some(length) = self.lengths.get(&access.buffer).filter(|_| !access.items.is_empty())
        else {
            return access.clone();
        };
        let mut slot = Nat::ZERO;
        for (k, position) in access.items.iter().enumerate() {
            let slots = self.held.get(&(access.buffer, k));
            let round = position.as_var().and_then(|v| self.rounds.get(v));
            let own = match (slots, round) {
                (Some(Slots::One), _) => Nat::ZERO,
                (Some(Slots::Rounds { .. }), Some(round)) => Nat::var(round),
                (Some(Slots::Rounds { threads, .. }), None) => position.div(&Nat::int(*threads)),
                (Some(Slots::All(_)) | None, _) => position.clone(),
            };
            let count = slots.map_or(Nat::ONE, Slots::count);
            slot = slot * count + own;
        }
        Access { index: slot * length + &access.index, items: Vec::new(), ..access.clone() }
    }

    fn stmt(&mut self, stmt: &Stmt, made: &mut Vec<Stmt>) {
        let done = match stmt {
            Stmt::Loop(l) if matches!(l.kind, LoopKind::Local(_)) => match self.rounds_of(l) {
                Some((rounds, threads)) => self.in_rounds(l, rounds, threads),
                None => self.stmt_parts(stmt),
            },
            _ => self.stmt_parts(stmt),
        };
        made.push(done);
    }
}
