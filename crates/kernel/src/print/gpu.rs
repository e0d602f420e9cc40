//! Loops over threads that are there, and private memory among them.

use std::collections::BTreeMap;

use lift_ir::{Nat, Var};

use super::code::{Code, Slot};
use super::dialect::Dialect;
use super::text::Level;
use crate::uses::Uses;
use crate::{Buffer, BufferId, Kernel, Loop, LoopKind, Stmt};

/// Where a thread finds its place.
pub(super) trait Threads: Dialect {
    /// The place among the threads that share the iterations of a loop.
    fn place(kind: LoopKind, wide: bool) -> String;
    /// The number of these threads.
    fn count(kind: LoopKind, wide: bool) -> String;
}

/// A loop over groups or work-items: straight code where there are as many threads as iterations,
/// a branch where there are enough, else a loop.
pub(super) fn parallel<D: Threads>(code: &mut Code<'_, D>, l: &Loop) {
    let threads = threads(code.kernel, l.kind);
    let (exact, enough) = match &threads {
        None => (false, false),
        Some(t) => {
            let exact = fills_groups(code, l.kind) && code.facts.equal(t, &l.extent);
            (exact, exact || code.facts.at_most(&l.extent, t))
        }
    };
    let (ty, wide, v) = (code.index_type(), code.kernel.wide_indices, &l.var);
    let place = D::place(l.kind, wide);
    if l.extent == Nat::ONE {
        return code.with_known(v, Nat::ZERO, |code| match exact {
            true => code.stmts(&l.body),
            false => code.block(&format!("if ({place} == 0) "), |code| code.stmts(&l.body)),
        });
    }
    let uses = Uses::of(&l.body);
    let used = uses.vars.contains(v);
    if enough && used {
        code.line(&format!("const {ty} {v} = {place};"));
    }
    if exact {
        return code.stmts(&l.body);
    }
    let extent = code.nat(&l.extent).at(Level::Sum);
    if enough {
        let place = if used { v.to_string() } else { place };
        return code.block(&format!("if ({place} < {extent}) "), |code| code.stmts(&l.body));
    }
    let held = uses.items.iter().any(|(_, at)| at.iter().any(|n| n.as_var() == Some(v)));
    match (held, threads.as_ref().and_then(Nat::as_int), l.extent.as_int()) {
        (true, Some(t), Some(e)) if t > 0 && e > 0 => rounds(code, l, &place, t, e),
        _ => code.counted(l, &place, &D::count(l.kind, wide)),
    }
}

/// A loop over what each thread holds of private memory, written out: only where the index is
/// constant is such memory in registers.
fn rounds<D: Threads>(code: &mut Code<'_, D>, l: &Loop, place: &str, threads: i128, extent: i128) {
    let rounds = (extent + threads - 1) / threads;
    let (ty, v) = (code.index_type(), &l.var);
    let round = Var::named(&format!("lift_round_{v}"));
    if let Some(unroll) = D::unroll(rounds) {
        code.line(&unroll);
    }
    let head = format!("for ({ty} {round} = 0; {round} < {rounds}; ++{round}) ");
    code.block(&head, |code| {
        code.rounds.insert(v.clone(), round.clone());
        code.line(&format!("const {ty} {v} = {threads}*{round} + {place};"));
        if extent % threads == 0 {
            code.stmts(&l.body);
        } else {
            code.block(&format!("if ({v} < {extent}) "), |code| code.stmts(&l.body));
        }
        code.rounds.remove(v);
    });
}

/// The number of threads that share the iterations of a loop, where the launch says it; there may be
/// more, see [`fills_groups`].
fn threads(kernel: &Kernel, kind: LoopKind) -> Option<Nat> {
    let of = |counts: &[Nat], d: u8| match counts {
        [] => None,
        _ => Some(counts.get(usize::from(d)).cloned().unwrap_or(Nat::ONE)),
    };
    let (global, local) = (&kernel.launch.global, &kernel.launch.local);
    match kind {
        LoopKind::Global(d) => of(global, d),
        LoopKind::Local(d) => of(local, d),
        LoopKind::Group(d) => Some(of(global, d)?.div(&of(local, d)?)),
        LoopKind::Seq | LoopKind::Unroll => None,
    }
}

/// Whether there are exactly as many threads as the launch says. A launch whose global size is no
/// multiple of the local size starts whole groups, so more.
fn fills_groups<D: Dialect>(code: &Code<'_, D>, kind: LoopKind) -> bool {
    match kind {
        LoopKind::Local(_) => true,
        LoopKind::Global(d) | LoopKind::Group(d) => {
            let (global, local) = (&code.kernel.launch.global, &code.kernel.launch.local);
            let of = |counts: &[Nat]| counts.get(usize::from(d)).cloned().unwrap_or(Nat::ONE);
            !local.is_empty() && code.facts.divides(&of(local), &of(global))
        }
        LoopKind::Seq | LoopKind::Unroll => false,
    }
}

/// The three local sizes, where all are constant.
pub(super) fn group_size(kernel: &Kernel) -> Option<[i128; 3]> {
    let mut sizes = [1; 3];
    if kernel.launch.local.is_empty() {
        return None;
    }
    for (size, local) in sizes.iter_mut().zip(&kernel.launch.local) {
        *size = local.as_int()?;
    }
    Some(sizes)
}

/// How positions choose among what a work-item holds: of the iterations that `n` work-items share,
/// each has every n-th.
pub(super) fn slots<D: Dialect>(code: &mut Code<'_, D>) {
    let kernel = code.kernel;
    let mut kinds = BTreeMap::new();
    loops(&kernel.body, &mut kinds);
    let uses = Uses::of(&kernel.body);
    for buffer in &kernel.privates {
        let slot = |(k, count): (usize, &Nat)| {
            let local = local_size(kernel, &uses, &kinds, buffer.id, k);
            match local {
                Some(local) if code.facts.at_most(count, &local) => {
                    Slot { count: Nat::ONE, share: local }
                }
                Some(local) if local.as_int().is_some() => {
                    let all = count + &local - Nat::ONE;
                    Slot { count: all.div(&local), share: local }
                }
                _ => Slot { count: count.clone(), share: Nat::ONE },
            }
        };
        let slots: Vec<Slot> = buffer.items.iter().enumerate().map(slot).collect();
        if !slots.is_empty() {
            code.slots.insert(buffer.id, slots);
        }
    }
}

/// The number of work-items that share the loop of the k-th position of a buffer.
fn local_size(
    kernel: &Kernel,
    uses: &Uses,
    kinds: &BTreeMap<Var, LoopKind>,
    id: BufferId,
    k: usize,
) -> Option<Nat> {
    let mut positions = uses.items.iter().filter(|(of, _)| *of == id).map(|(_, at)| at.get(k));
    let kind = positions.find_map(|p| kinds.get(p?.as_var()?).copied())?;
    threads(kernel, kind)
}

fn loops(stmts: &[Stmt], kinds: &mut BTreeMap<Var, LoopKind>) {
    for stmt in stmts {
        match stmt {
            Stmt::Loop(l) => {
                kinds.insert(l.var.clone(), l.kind);
                loops(&l.body, kinds);
            }
            Stmt::If { then, otherwise, .. } => {
                loops(then, kinds);
                loops(otherwise, kinds);
            }
            Stmt::Comment(_)
            | Stmt::Declare { .. }
            | Stmt::Assign { .. }
            | Stmt::Index { .. }
            | Stmt::Store { .. }
            | Stmt::Barrier(_) => {}
        }
    }
}

/// What a work-item holds of a private buffer, in scalars.
pub(super) fn private_length<D: Dialect>(code: &Code<'_, D>, buffer: &Buffer) -> Nat {
    let slots = code.slots.get(&buffer.id).into_iter().flatten();
    slots.fold(buffer.length.clone(), |n, slot| n * slot.count.clone())
}
