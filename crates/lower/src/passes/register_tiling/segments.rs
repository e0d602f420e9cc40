//! A loop over lanes cut into several, so that compilers find vector code for each.
//!
//! Before: `lanes for (l) { acc = 0; for (k) acc = …; r[l] = max(acc, 0); }`
//! After: `lanes for (l) { acc = 0; for (k) acc = …; kept[l] = acc; } lanes for (l) { acc = kept[l]; r[l] = max(acc, 0); }`
//!
//! Compilers vectorise a loop with one loop inside, and choices in an innermost loop only. So every loop of a point ends a
//! segment, and what follows the last one is a segment if it chooses. A fold that chooses in its steps, has folds in them, or reads
//! elements that do not follow each other in equal steps, becomes a loop around loops over lanes. Variables that are used in later segments are kept in an array, a row of lanes each (scalar expansion).

use std::collections::{BTreeMap, BTreeSet};

use lift_ir::{BinaryOp, Facts, Math, Nat, Range, Scalar, Space, Var};
use lift_kernel::{
    Access, Buffer, BufferId, Expr, Loop, LoopKind, Mark, Stmt, ValueType, Variable,
};

use crate::cloning::{Comments, Copier};
use crate::effects::{Touch, touches};
use crate::nest::step;

/// Arrays that are made for kept variables, one for each type.
pub(in crate::passes) struct Kept<'b> {
    /// Lanes of a row.
    pub width: Nat,
    pub next: &'b mut u32,
    pub buffers: &'b mut Vec<Buffer>,
}

/// The lanes that a loop goes over.
pub(in crate::passes) struct Lanes<'p> {
    pub var: Var,
    pub extent: Nat,
    /// Whole vectors of lanes, with some behind the last that do no harm as long as all they read by their number is in these
    /// arrays.
    pub padded: Option<(Nat, &'p BTreeSet<BufferId>)>,
}

impl Lanes<'_> {
    /// How many lanes do some statements: whole vectors where nobody notices.
    fn extent(&self, stmts: &[Stmt]) -> &Nat {
        match &self.padded {
            Some((padded, packed)) if is_harmless(stmts, &self.var, packed) => padded,
            _ => &self.extent,
        }
    }
}

/// Whether lanes that there are none of may do some statements, too: they store nothing, read only what is there for them, and
/// divide nothing.
fn is_harmless(stmts: &[Stmt], lane: &Var, packed: &BTreeSet<BufferId>) -> bool {
    let mut divides = false;
    for stmt in stmts {
        stmt.each(&mut |s| {
            s.values().for_each(|value| {
                value.each(&mut |e| {
                    divides |= matches!(e, Expr::Binary(BinaryOp::Div | BinaryOp::Rem, a, _)
                        if a.ty().scalar.is_integer());
                    divides |= matches!(e, Expr::Extern(..));
                });
            });
        });
    }
    let is_own = |touch: &Touch| {
        !touch.writes
            && (!touch.access.index.mentions(lane) || packed.contains(&touch.access.buffer))
    };
    !divides && touches(stmts).iter().all(is_own)
}

/// A loop over lanes, as one or several. `around` says that folds are around lanes also where they need not be.
pub(in crate::passes) fn cut(
    lanes: Lanes,
    body: Vec<Stmt>,
    around: bool,
    kept: &mut Kept,
    copier: &mut Copier,
) -> Vec<Stmt> {
    let parts = parts(&body, around, lanes.padded.is_some(), &copier.facts);
    let crossing = match parts.as_slice() {
        [] | [Part::Lanes(_)] => None,
        _ => crossing(&leaves(&parts)),
    };
    let Some(crossing) = crossing else {
        let lanes = Loop::new(lanes.var, LoopKind::Seq, lanes.extent, body);
        return vec![Stmt::Loop(Loop { mark: Mark::Lanes, ..lanes })];
    };
    let (slots, width) = (kept.slots(&crossing), kept.width.clone());
    Cut { lanes, crossing, slots, width, copier }.stmts(parts)
}

/// What a lane does, as far as lanes do it together.
enum Part {
    Lanes(Vec<Stmt>),
    /// A loop, and what lanes do in each step of it.
    Around(Loop, Vec<Part>),
}

/// The statements of a point in parts: loops that compilers cannot vectorise from outside are around lanes, others end a
/// part. `apart` says that what follows the last loop is a part also where it need not be.
fn parts(body: &[Stmt], around: bool, apart: bool, facts: &Facts) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let mut straight: Vec<Stmt> = Vec::new();
    let finish = |straight: &mut Vec<Stmt>, parts: &mut Vec<Part>| {
        if straight.iter().any(|s| !matches!(s, Stmt::Comment(_))) {
            parts.push(Part::Lanes(std::mem::take(straight)));
        }
    };
    for stmt in body {
        match stmt {
            Stmt::Loop(l) if around || is_around(l, facts) => {
                finish(&mut straight, &mut parts);
                let inner = self::parts(&l.body, false, false, facts);
                let shell = Loop { body: vec![], ..l.clone() };
                parts.push(Part::Around(shell, inner));
            }
            Stmt::Loop(_) => {
                straight.push(stmt.clone());
                finish(&mut straight, &mut parts);
            }
            _ => straight.push(stmt.clone()),
        }
    }
    // What is left to do goes with the last loop where it is straight.
    match parts.last_mut() {
        Some(Part::Lanes(last)) if !apart && !straight.iter().any(chooses) => {
            last.extend(straight);
        }
        _ => finish(&mut straight, &mut parts),
    }
    parts
}

/// Whether a loop has loops in it, or steps that choose, or reads elements that do not follow each other in equal steps: a row
/// that begins anywhere, by a remainder.
fn is_around(l: &Loop, facts: &Facts) -> bool {
    let is_even = |touch: &Touch| {
        let step = step(&touch.access.index, &l.var, facts);
        let mut divides = false;
        step.each_divisor(&mut |_| divides = true);
        !divides && !step.mentions(&l.var)
    };
    l.body.iter().any(|stmt| matches!(stmt, Stmt::Loop(_)) || chooses(stmt))
        || !touches(&l.body).iter().all(is_even)
}

/// Whether a statement does one thing or another.
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

/// What lanes do together, in order.
fn leaves(parts: &[Part]) -> Vec<&[Stmt]> {
    let mut found = Vec::new();
    for part in parts {
        match part {
            Part::Lanes(stmts) => found.push(stmts.as_slice()),
            Part::Around(_, inner) => found.extend(leaves(inner)),
        }
    }
    found
}

struct Cut<'c> {
    lanes: Lanes<'c>,
    /// The variables that one part declares and another uses, and where they are kept.
    crossing: Vec<Variable>,
    slots: BTreeMap<Var, (BufferId, i128)>,
    width: Nat,
    copier: &'c mut Copier,
}

impl Cut<'_> {
    fn stmts(&mut self, parts: Vec<Part>) -> Vec<Stmt> {
        let each = parts.into_iter().map(|part| match part {
            Part::Lanes(stmts) => self.lanes(stmts),
            Part::Around(shell, inner) => Stmt::Loop(Loop { body: self.stmts(inner), ..shell }),
        });
        each.collect()
    }

    /// A loop over lanes that finds and leaves kept variables in their places.
    fn lanes(&mut self, mut part: Vec<Stmt>) -> Stmt {
        let (declared, assigned, used) = variables(&part);
        let extent = self.lanes.extent(&part).clone();
        let mut body = Vec::new();
        for var in &self.crossing {
            if !declared.contains(&var.id) && used.contains(&var.id) {
                let value = self.place(var).map(|access| Expr::Load(access, var.ty));
                body.push(Stmt::Declare { var: var.clone(), value });
            }
            if declared.contains(&var.id) || assigned.contains(&var.id) {
                let value = Expr::Var(var.clone());
                part.extend(self.place(var).map(|access| Stmt::Store { access, value }));
            }
        }
        body.extend(part);
        // Variables of its own, as every loop has.
        let own = self.copier.ids.fresh(self.lanes.var.name());
        self.copier.facts.declare_inside(&own, Range::below(extent.clone()));
        let value = |v: &Var| (*v == self.lanes.var).then(|| Nat::var(&own));
        let body = self.copier.copy(&body, &value, Comments::Keep);
        let lanes = Loop::new(own, LoopKind::Seq, extent, body);
        Stmt::Loop(Loop { mark: Mark::Lanes, ..lanes })
    }

    fn place(&self, var: &Variable) -> Option<Access> {
        let (buffer, row) = self.slots.get(&var.id)?;
        let index = Nat::int(*row) * &self.width + Nat::var(&self.lanes.var);
        let (stage, items) = (Nat::ZERO, Vec::new());
        Some(Access { buffer: *buffer, index, stage, items, width: 1, aligned: false })
    }
}

/// The variables that are declared in one part and used in another; nothing where an index is.
fn crossing(parts: &[&[Stmt]]) -> Option<Vec<Variable>> {
    let mut declared: BTreeMap<Var, (usize, Variable)> = BTreeMap::new();
    let mut is_plain = true;
    for (number, part) in parts.iter().enumerate() {
        part.iter().for_each(|stmt| {
            stmt.each(&mut |s| match s {
                Stmt::Declare { var, .. } => {
                    declared.insert(var.id.clone(), (number, var.clone()));
                }
                Stmt::Index { .. } => is_plain = false,
                _ => {}
            });
        });
    }
    let mut found: Vec<Variable> = Vec::new();
    for (number, part) in parts.iter().enumerate() {
        let (_, _, used) = variables(part);
        for (home, var) in used.iter().filter_map(|id| declared.get(id)) {
            if *home != number && !found.contains(var) {
                found.push(var.clone());
            }
        }
    }
    is_plain &= found.iter().all(|v| v.ty.width == 1 && v.ty.scalar != Scalar::Bool);
    is_plain.then_some(found)
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
