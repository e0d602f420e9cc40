//! Elements of private arrays that a loop carries from one iteration to the next are variables around it.
//!
//! Before: `for (k) { acc[8*i] = acc[8*i] + x[k]; acc[8*i + 1] = acc[8*i + 1] + y[k]; }`
//! After: `float a = acc[8*i]; float b = acc[8*i + 1]; for (k) { a = a + x[k]; b = b + y[k]; } acc[8*i] = a; …`
//!
//! For addresses that are invariant in the loop and do not overlap. On processors only for vectors: C compilers promote
//! scalars by themselves, but vectors are accessed through pointers that may alias anything. Marked loops inside are
//! unrolled where that leaves invariant addresses.

use std::collections::{BTreeMap, BTreeSet};

use lift_ir::Var;
use lift_kernel::{
    Access, BufferId, Edit, Expr, Kernel, Loop, LoopKind, Stmt, ValueType, Variable,
};

use crate::Target;
use crate::cloning::Copier;
use crate::effects::touches;
use crate::passes::unroll;

/// More values than this are in no registers.
const MAX_CARRIED: usize = 64;

pub(super) fn run(kernel: &mut Kernel, target: Target) {
    let arrays = kernel.privates.iter().map(|b| (b.id, b.name.clone())).collect();
    let (copier, most) = (Copier::of(kernel), unroll::iterations(kernel));
    let mut pass = Pass { copier, most, arrays, target };
    if !pass.arrays.is_empty() {
        kernel.body = pass.block(&kernel.body);
    }
}

struct Pass {
    copier: Copier,
    /// Iterations of loops inside that are written out.
    most: u32,
    /// The private arrays and their names.
    arrays: BTreeMap<BufferId, String>,
    target: Target,
}

impl Edit for Pass {
    fn stmt(&mut self, stmt: &Stmt, made: &mut Vec<Stmt>) {
        let stmt = self.stmt_parts(stmt);
        match &stmt {
            Stmt::Loop(l) if l.kind == LoopKind::Seq => match self.carried(l) {
                Some(stmts) => made.extend(stmts),
                None => made.push(stmt),
            },
            _ => made.push(stmt),
        }
    }
}

impl Pass {
    /// Whether something is put into one of the arrays that the device's compiler would not keep in a register.
    fn pays(&self, l: &Loop) -> bool {
        let least = if self.target == Target::Loops { 2 } else { 1 };
        touches(&l.body).iter().any(|touch| {
            let Access { buffer, width, .. } = touch.access;
            touch.writes && *width >= least && self.arrays.contains_key(buffer)
        })
    }

    /// The loop with what it carries in variables, if there is something.
    fn carried(&mut self, l: &Loop) -> Option<Vec<Stmt>> {
        if !self.pays(l) {
            return None;
        }
        let body = unroll::written_out(&mut self.copier, self.most, &l.body);
        let mut slots = Vec::new();
        for (buffer, name) in &self.arrays {
            slots.extend(fixed_slots(l, &body, *buffer).into_iter().map(|slot| (slot, name)));
        }
        if slots.is_empty() || slots.len() > MAX_CARRIED {
            return None;
        }
        let mut named = Vec::new();
        for (slot, name) in slots {
            let ty = slot.ty;
            let var = Variable { id: self.copier.ids.fresh(name), ty };
            named.push((slot, var));
        }
        let body = InVariables { named: &named }.block(&body);
        let before = named.iter().map(|(slot, var)| Stmt::Declare {
            var: var.clone(),
            value: Some(Expr::Load(slot.access.clone(), slot.ty)),
        });
        let looped = Stmt::Loop(Loop::new(l.var.clone(), l.kind, l.extent.clone(), body));
        let changed = named.iter().filter(|(slot, _)| slot.is_stored);
        let after = changed.map(|(slot, var)| Stmt::Store {
            access: slot.access.clone(),
            value: Expr::Var(var.clone()),
        });
        Some(before.chain(std::iter::once(looped)).chain(after).collect())
    }
}

/// A place in an array that does not move.
struct Slot {
    access: Access,
    ty: ValueType,
    is_stored: bool,
}

/// The places of an array that a loop accesses. None where it only reads it, where a place moves, where two may
/// overlap, or where work-items inside have an array each.
fn fixed_slots(l: &Loop, body: &[Stmt], buffer: BufferId) -> Vec<Slot> {
    if is_in_parallel(body, buffer) {
        return Vec::new();
    }
    let mut bound = BTreeSet::from([l.var.clone()]);
    body.iter().for_each(|stmt| stmt.each(&mut |s| bound.extend(bound_by(s))));
    let mut slots: Vec<Slot> = Vec::new();
    let mut fixed = true;
    for stmt in body {
        each_typed_access(stmt, &mut |access, ty, is_store| {
            if access.buffer == buffer && fixed {
                fixed = !moves(access, &bound) && add(&mut slots, access, ty, is_store);
            }
        });
    }
    if fixed && slots.iter().any(|slot| slot.is_stored) { slots } else { Vec::new() }
}

/// Whether the array is accessed in a parallel loop.
fn is_in_parallel(body: &[Stmt], buffer: BufferId) -> bool {
    let mut found = false;
    for stmt in body {
        stmt.each(&mut |s| match s {
            Stmt::Loop(l) if l.kind != LoopKind::Seq => {
                s.each_access(&mut |access, _| found |= access.buffer == buffer);
            }
            _ => {}
        });
    }
    found
}

fn bound_by(stmt: &Stmt) -> Option<Var> {
    match stmt {
        Stmt::Loop(Loop { var, .. }) | Stmt::Index { var, .. } | Stmt::ThreadId { var, .. } => {
            Some(var.clone())
        }
        Stmt::Comment(_)
        | Stmt::Declare { .. }
        | Stmt::Assign { .. }
        | Stmt::Store { .. }
        | Stmt::Atomic { .. }
        | Stmt::If { .. }
        | Stmt::Stop(_)
        | Stmt::Barrier(_) => None,
    }
}

fn moves(access: &Access, bound: &BTreeSet<Var>) -> bool {
    let mut parts = access.items.iter().chain([&access.index, &access.stage]);
    parts.any(|nat| nat.any_var(&mut |v| bound.contains(v)))
}

/// Adds an access to the places; not where it may overlap another one.
fn add(slots: &mut Vec<Slot>, access: &Access, ty: ValueType, is_store: bool) -> bool {
    for slot in slots.iter_mut() {
        match between(&slot.access, access) {
            Some(0) if slot.ty == ty => {
                slot.is_stored |= is_store;
                return true;
            }
            Some(n) if n >= i128::from(slot.ty.width) || -n >= i128::from(ty.width) => {}
            _ => return false,
        }
    }
    slots.push(Slot { access: access.clone(), ty, is_stored: is_store });
    true
}

/// How far the second access is behind the first.
fn between(first: &Access, second: &Access) -> Option<i128> {
    second.int_from(first)
}

fn each_typed_access(stmt: &Stmt, visit: &mut dyn FnMut(&Access, ValueType, bool)) {
    stmt.each(&mut |s| {
        if let Stmt::Store { access, value } = s {
            let ty = ValueType::vector(value.ty().scalar, access.width);
            visit(access, ty, true);
        }
        for value in s.values() {
            value.each(&mut |e| {
                if let Expr::Load(access, ty) = e {
                    visit(access, *ty, false);
                }
            });
        }
    });
}

/// Accesses to slots become their variables.
struct InVariables<'s> {
    named: &'s [(Slot, Variable)],
}

impl InVariables<'_> {
    fn variable_of(&self, access: &Access) -> Option<&Variable> {
        let own = |slot: &Slot| between(&slot.access, access) == Some(0);
        self.named.iter().find(|(slot, _)| own(slot)).map(|(_, var)| var)
    }
}

impl Edit for InVariables<'_> {
    fn expr(&mut self, expr: &Expr) -> Expr {
        match expr {
            Expr::Load(access, _) => match self.variable_of(access) {
                Some(var) => Expr::Var(var.clone()),
                None => expr.clone(),
            },
            _ => self.expr_parts(expr),
        }
    }

    fn stmt(&mut self, stmt: &Stmt, made: &mut Vec<Stmt>) {
        let stmt = self.stmt_parts(stmt);
        made.push(match stmt {
            Stmt::Store { access, value } => match self.variable_of(&access) {
                Some(var) => Stmt::Assign { var: var.clone(), value },
                None => Stmt::Store { access, value },
            },
            other => other,
        });
    }
}
