//! Whole copies: an array that repeats another takes no memory and no kernel of its own.
//!
//! Before: `launch t = f(x); launch result = t;`, and `launch t = x; launch result = g(t);`
//! After: `launch result = f(x);`, and `launch result = g(x);`
//!
//! Such copies come of results that have several parts, each of which is put into its place by itself, and of loops whose
//! state has parts that a step hands on. A kernel that only copies stores elements of one array at the same places of
//! another. Where nothing but the copy stores into the copy, and nothing changes the original afterwards, readers of the copy
//! can read the original. Where the copy is a result, the original cannot stand for it; but a temporary that is complete by
//! then can be made in the result at once. What loops of the host repeat or swap stays as it is.
//!
//! A temporary that nobody reads is not stored: parts of a state that only the next state is made of.
//!
//! Before: `launch (r, t) = f(x);`
//! After: `launch r = f(x);`

use std::collections::BTreeSet;

use lift_ir::Nat;
use lift_kernel::{Access, Arg, BufferId, Edit, Expr, Stmt, Usage};

use crate::plan::{Plan, PlanBuffer, Role, Step};

pub(crate) fn run(plan: &mut Plan) {
    // Who says what runs where has decided what is copied.
    if !plan.orders_open {
        return;
    }
    while let Some(copy) = next(plan) {
        remove(plan, &copy);
    }
    while let Some(array) = unread(plan) {
        let mut unstored = Unstored { array };
        for kernel in &mut plan.kernels {
            kernel.body = unstored.block(&kernel.body);
        }
        plan.buffers.retain(|planned| planned.buffer.id != array);
        plan.collect_arguments();
    }
}

/// A temporary that is stored and not read.
fn unread(plan: &Plan) -> Option<BufferId> {
    let uses = Uses::of(plan);
    let ids = plan.buffers.iter().filter(|planned| matches!(planned.role, Role::Temporary));
    let mut ids = ids.map(|planned| planned.buffer.id);
    ids.find(|id| {
        let is_stored = uses.stores(*id).next().is_some();
        is_stored && !uses.fixed.contains(id) && uses.loads(*id).next().is_none()
    })
}

/// Without the stores into one array.
struct Unstored {
    array: BufferId,
}

impl Edit for Unstored {
    fn stmt(&mut self, stmt: &Stmt, made: &mut Vec<Stmt>) {
        if !matches!(stmt, Stmt::Store { access, .. } if access.buffer == self.array) {
            let stmt = self.stmt_parts(stmt);
            made.push(stmt);
        }
    }
}

/// A kernel that need not be, and the array that another stands for.
struct Copy {
    kernel: usize,
    array: BufferId,
    instead: BufferId,
}

fn next(plan: &Plan) -> Option<Copy> {
    let uses = Uses::of(plan);
    let copies = plan.kernels.iter().enumerate().filter_map(|(kernel, body)| {
        let (to, from) = copied(&body.body)?;
        let (at, true) = uses.launched_at(kernel)? else { return None };
        if uses.fixed.contains(&to) || uses.fixed.contains(&from) {
            return None;
        }
        let (target, source) = (plan.buffer(to)?, plan.buffer(from)?);
        if !are_alike(target, source) {
            return None;
        }
        let is_only_copied = uses.stores(to).all(|(by, _)| by == kernel);
        let is_complete = uses.stores(from).all(|(_, when)| when < at);
        if !is_only_copied || !is_complete {
            return None;
        }
        match (target.role, source.role) {
            (Role::Temporary, Role::Input { .. } | Role::Output { .. } | Role::Temporary) => {
                Some(Copy { kernel, array: to, instead: from })
            }
            (Role::Output { .. }, Role::Temporary) => {
                let is_unread = uses.loads(to).next().is_none();
                is_unread.then_some(Copy { kernel, array: from, instead: to })
            }
            _ => None,
        }
    });
    let mut copies = copies;
    copies.next()
}

fn are_alike(a: &PlanBuffer, b: &PlanBuffer) -> bool {
    let (a, b) = (&a.buffer, &b.buffer);
    a.scalar == b.scalar && a.length == b.length && a.stages == b.stages && a.align == b.align
}

/// The arrays to which and from which a kernel copies, where it does nothing else.
fn copied(block: &[Stmt]) -> Option<(BufferId, BufferId)> {
    let mut stmts = block.iter().filter(|stmt| !matches!(stmt, Stmt::Comment(_)));
    let (first, second, third) = (stmts.next()?, stmts.next(), stmts.next());
    match (first, second, third) {
        (Stmt::Loop(l), None, None) => copied(&l.body),
        (Stmt::Store { access, value: Expr::Load(from, _) }, None, None) => {
            same_place(access, from).then_some((access.buffer, from.buffer))
        }
        (
            Stmt::Declare { var, value: Some(Expr::Load(from, _)) },
            Some(Stmt::Store { access, value: Expr::Var(stored) }),
            None,
        ) if stored == var => same_place(access, from).then_some((access.buffer, from.buffer)),
        _ => None,
    }
}

fn same_place(a: &Access, b: &Access) -> bool {
    let is_plain = |access: &Access| access.items.is_empty() && access.stage == Nat::ZERO;
    is_plain(a) && is_plain(b) && a.index == b.index && a.width == b.width
}

/// When kernels are launched, and what they load and store.
struct Uses<'p> {
    plan: &'p Plan,
    /// The kernel, the number of the step at the top that launches it, and whether it is that step.
    launches: Vec<(usize, usize, bool)>,
    /// Arrays that change places, or end a loop.
    fixed: BTreeSet<BufferId>,
}

impl Uses<'_> {
    fn of(plan: &Plan) -> Uses<'_> {
        let mut uses = Uses { plan, launches: Vec::new(), fixed: BTreeSet::new() };
        for (at, step) in plan.steps.iter().enumerate() {
            uses.step(step, at, true);
        }
        uses
    }

    fn step(&mut self, step: &Step, at: usize, is_top: bool) {
        match step {
            Step::Launch(kernel) => self.launches.push((*kernel, at, is_top)),
            Step::Stop(flag) => {
                self.fixed.insert(*flag);
            }
            Step::Loop { body, swap, .. } => {
                self.fixed.extend(swap.iter().flat_map(|(a, b)| [*a, *b]));
                body.iter().for_each(|inner| self.step(inner, at, false));
            }
        }
    }

    /// When a kernel is launched that is launched once in the text of the plan, and whether that is in no loop.
    fn launched_at(&self, kernel: usize) -> Option<(usize, bool)> {
        let mut launches = self.launches.iter().filter(|(launched, ..)| *launched == kernel);
        match (launches.next(), launches.next()) {
            (Some((_, at, is_top)), None) => Some((*at, *is_top)),
            _ => None,
        }
    }

    /// The kernels that use an array so, and when.
    fn by(&self, array: BufferId, usages: [Usage; 2]) -> impl Iterator<Item = (usize, usize)> {
        self.launches.iter().filter_map(move |(kernel, at, _)| {
            let uses = |arg: &Arg| match arg {
                Arg::Buffer(buffer, usage) => buffer.id == array && usages.contains(usage),
                Arg::Scalar(_) | Arg::Size(_) => false,
            };
            let is_used = self.plan.kernels.get(*kernel)?.args.iter().any(uses);
            is_used.then_some((*kernel, *at))
        })
    }

    fn stores(&self, array: BufferId) -> impl Iterator<Item = (usize, usize)> {
        self.by(array, [Usage::Write, Usage::ReadWrite])
    }

    fn loads(&self, array: BufferId) -> impl Iterator<Item = (usize, usize)> {
        self.by(array, [Usage::Read, Usage::ReadWrite])
    }
}

fn remove(plan: &mut Plan, copy: &Copy) {
    plan.kernels.remove(copy.kernel);
    without(&mut plan.steps, copy.kernel);
    let mut instead = Instead { array: copy.array, instead: copy.instead };
    for kernel in &mut plan.kernels {
        kernel.body = instead.block(&kernel.body);
    }
    plan.buffers.retain(|planned| planned.buffer.id != copy.array);
    plan.collect_arguments();
}

/// Steps without a kernel, when those behind it have moved up.
fn without(steps: &mut Vec<Step>, removed: usize) {
    steps.retain(|step| !matches!(step, Step::Launch(kernel) if *kernel == removed));
    for step in steps {
        match step {
            Step::Launch(kernel) if *kernel > removed => *kernel -= 1,
            Step::Loop { body, .. } => without(body, removed),
            Step::Launch(_) | Step::Stop(_) => {}
        }
    }
}

/// Accesses to one array go to another.
struct Instead {
    array: BufferId,
    instead: BufferId,
}

impl Edit for Instead {
    fn access(&mut self, access: &Access) -> Access {
        let made = self.access_parts(access);
        let is_array = made.buffer == self.array;
        Access { buffer: if is_array { self.instead } else { made.buffer }, ..made }
    }
}
