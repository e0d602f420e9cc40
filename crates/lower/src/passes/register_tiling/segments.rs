//! A loop over lanes cut into several, so that compilers find vector code for each.
//!
//! Before: `lanes for (l) { acc = 0; for (k) acc = …; r[l] = max(acc, 0); }`
//! After: `lanes for (l) { acc = 0; for (k) acc = …; kept[l] = acc; } lanes for (l) { acc = kept[l]; r[l] = max(acc, 0); }`
//!
//! Compilers vectorise a loop with one loop inside, and choices in an innermost loop only. So every loop of a point ends a
//! segment, and what follows the last one is a segment if it chooses. A fold that chooses in every step becomes a loop around
//! a loop over lanes. Variables that are used in later segments are kept in an array, a row of lanes each (scalar expansion).

use std::collections::{BTreeMap, BTreeSet};

use lift_ir::{BinaryOp, Math, Nat, Range, Scalar, Space, Var};
use lift_kernel::{
    Access, Buffer, BufferId, Expr, Loop, LoopKind, Mark, Stmt, ValueType, Variable,
};

use crate::cloning::{Comments, Copier};

/// Arrays that are made for kept variables, one for each type.
pub(super) struct Kept<'b> {
    /// Lanes of a row.
    pub width: Nat,
    pub next: &'b mut u32,
    pub buffers: &'b mut Vec<Buffer>,
}

/// A loop over lanes, as one or several.
pub(super) fn cut(
    lane: Var,
    extent: Nat,
    body: Vec<Stmt>,
    kept: &mut Kept,
    copier: &mut Copier,
) -> Vec<Stmt> {
    let lanes = |var: Var, body| {
        let l = Loop::new(var, LoopKind::Seq, extent.clone(), body);
        Stmt::Loop(Loop { mark: Mark::Lanes, ..l })
    };
    let parts = parts(body);
    let crossing = match parts.len() {
        0 | 1 => None,
        _ => crossing(&parts),
    };
    let Some(crossing) = crossing else {
        return vec![lanes(lane, parts.concat())];
    };
    let slots = kept.slots(&crossing);
    let at = |var: &Variable, lane: &Var| -> Option<Access> {
        let (buffer, row) = slots.get(&var.id)?;
        let index = Nat::int(*row) * &kept.width + Nat::var(lane);
        let (stage, items) = (Nat::ZERO, Vec::new());
        Some(Access { buffer: *buffer, index, stage, items, width: 1, aligned: false })
    };
    let mut made = Vec::new();
    for part in parts {
        // A fold that chooses: its loop is around that over lanes.
        let (part, fold) = match part.as_slice() {
            [Stmt::Loop(l)] if chooses_in(&l.body) => (l.body.clone(), Some(l.clone())),
            _ => (part, None),
        };
        let mut part = part;
        let (declared, assigned, used) = variables(&part);
        let mut before = Vec::new();
        for var in crossing.iter().filter(|v| !declared.contains(&v.id) && used.contains(&v.id)) {
            let value = at(var, &lane).map(|access| Expr::Load(access, var.ty));
            before.push(Stmt::Declare { var: var.clone(), value });
        }
        let changed = |v: &&Variable| declared.contains(&v.id) || assigned.contains(&v.id);
        for var in crossing.iter().filter(changed) {
            let access = at(var, &lane);
            part.extend(access.map(|access| Stmt::Store { access, value: Expr::Var(var.clone()) }));
        }
        before.extend(part);
        // Variables of its own, as every loop has.
        let own = copier.ids.fresh(lane.name());
        copier.facts.declare_inside(&own, Range::below(extent.clone()));
        let value = |v: &Var| (*v == lane).then(|| Nat::var(&own));
        let segment = lanes(own.clone(), copier.copy(&before, &value, Comments::Keep));
        made.push(match fold {
            Some(fold) => Stmt::Loop(Loop { body: vec![segment], ..fold }),
            None => segment,
        });
    }
    made
}

/// The statements of a point, cut behind loops.
fn parts(body: Vec<Stmt>) -> Vec<Vec<Stmt>> {
    let mut parts: Vec<Vec<Stmt>> = vec![Vec::new()];
    for stmt in body {
        let is_loop = matches!(stmt, Stmt::Loop(_));
        let alone = matches!(&stmt, Stmt::Loop(l) if chooses_in(&l.body));
        match parts.last_mut() {
            Some(last) if !alone || last.is_empty() => last.push(stmt),
            _ => parts.push(vec![stmt]),
        }
        if is_loop {
            parts.push(Vec::new());
        }
    }
    // What is left to do goes with the last loop where it is straight.
    if let Some(rest) = parts.pop()
        && !rest.is_empty()
    {
        match parts.last_mut() {
            Some(last) if !rest.iter().any(chooses) && !ends_in_choice(last) => last.extend(rest),
            _ => parts.push(rest),
        }
    }
    parts
}

/// Whether a part is a fold that chooses.
fn ends_in_choice(part: &[Stmt]) -> bool {
    matches!(part.last(), Some(Stmt::Loop(l)) if chooses_in(&l.body))
}

/// Whether the steps of a fold choose; loops inside them stay inside of lanes.
fn chooses_in(body: &[Stmt]) -> bool {
    let is_inner = |s: &Stmt| matches!(s, Stmt::Loop(_));
    body.iter().any(chooses) && !body.iter().any(is_inner)
}

/// Whether a statement does one thing or another, in itself or inside.
fn chooses(stmt: &Stmt) -> bool {
    let mut found = matches!(stmt, Stmt::If { .. });
    for value in stmt.values() {
        value.each(&mut |e| {
            found |= match e {
                Expr::Select(..) | Expr::Extern(..) => true,
                Expr::Binary(op, ..) => matches!(op, BinaryOp::And | BinaryOp::Or),
                Expr::Math(math, _) => !matches!(math, Math::Sqrt | Math::Rsqrt | Math::Fma),
                Expr::Cast(to, from) => from.ty().scalar.is_float() && to.scalar.is_integer(),
                _ => false,
            };
        });
    }
    found
}

/// The variables that are declared in one part and used in a later one; nothing where an index is.
fn crossing(parts: &[Vec<Stmt>]) -> Option<Vec<Variable>> {
    let mut declared: BTreeMap<Var, Variable> = BTreeMap::new();
    let mut indices = BTreeSet::new();
    let mut found: Vec<Variable> = Vec::new();
    for part in parts {
        let mut own = Vec::new();
        for stmt in part {
            stmt.each(&mut |s| {
                let mut used = |var: &Variable| {
                    if declared.contains_key(&var.id) && !found.contains(var) {
                        found.push(var.clone());
                    }
                };
                if let Stmt::Assign { var, .. } = s {
                    used(var);
                }
                s.values().for_each(|value| {
                    value.each(&mut |e| {
                        if let Expr::Var(var) = e {
                            used(var);
                        }
                    });
                });
                match s {
                    Stmt::Declare { var, .. } => own.push(var.clone()),
                    Stmt::Index { var, .. } => {
                        indices.insert(var.clone());
                    }
                    _ => {}
                }
            });
        }
        declared.extend(own.into_iter().map(|var| (var.id.clone(), var)));
    }
    let simple = found.iter().all(|v| v.ty.width == 1 && v.ty.scalar != Scalar::Bool);
    (indices.is_empty() && simple).then_some(found)
}

type Ids = BTreeSet<Var>;

/// The variables that statements declare themselves, assign, and use.
fn variables(stmts: &[Stmt]) -> (Ids, Ids, Ids) {
    let (mut declared, mut assigned, mut used) = (Ids::new(), Ids::new(), Ids::new());
    for stmt in stmts {
        stmt.each(&mut |s| {
            match s {
                Stmt::Declare { var, .. } => {
                    declared.insert(var.id.clone());
                }
                Stmt::Assign { var, .. } => {
                    assigned.insert(var.id.clone());
                    used.insert(var.id.clone());
                }
                _ => {}
            }
            s.values().for_each(|value| {
                value.each(&mut |e| {
                    if let Expr::Var(var) = e {
                        used.insert(var.id.clone());
                    }
                });
            });
        });
    }
    (declared, assigned, used)
}

impl Kept<'_> {
    /// Where each variable is kept: in which array, and which row of it.
    fn slots(&mut self, variables: &[Variable]) -> BTreeMap<Var, (BufferId, i128)> {
        let mut slots = BTreeMap::new();
        let mut rows: BTreeMap<Scalar, i128> = BTreeMap::new();
        for Variable { id, ty: ValueType { scalar, .. } } in variables {
            let row = rows.entry(*scalar).or_insert(0);
            slots.insert(id.clone(), (self.array(*scalar), *row));
            *row += 1;
        }
        for (scalar, rows) in rows {
            let length = Nat::int(rows) * &self.width;
            let buffer = self.array(scalar);
            let own = self.buffers.iter_mut().find(|b| b.id == buffer);
            if let Some(own) = own.filter(|own| own.length.as_int() < length.as_int()) {
                own.length = length;
            }
        }
        slots
    }

    /// The array of a type, which is made where there is none yet.
    fn array(&mut self, scalar: Scalar) -> BufferId {
        let is_one = |b: &&Buffer| b.name == NAME && b.scalar == scalar;
        if let Some(buffer) = self.buffers.iter().find(is_one) {
            return buffer.id;
        }
        let id = BufferId(*self.next);
        *self.next += 1;
        self.buffers.push(Buffer {
            id,
            name: NAME.to_owned(),
            scalar,
            length: Nat::ZERO,
            stages: 1,
            space: Space::Private,
            items: Vec::new(),
            align: 64,
            heap: false,
        });
        id
    }
}

const NAME: &str = "kept";
