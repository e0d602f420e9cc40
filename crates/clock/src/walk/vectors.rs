//! Which loops of a processor compilers make vector code of, and which they write out before.

use std::collections::BTreeMap;

use lift_ir::{BinaryOp, Nat, Var};
use lift_kernel::{Access, Expr, Loop, LoopKind, Mark, Stmt};

use super::loops::straight;

/// Turns of a loop of known length that compilers for processors write out, and how many instructions it may have then.
const TURNS: usize = 16;
const INSTRUCTIONS: usize = 200;

/// Turns of which a vector is made, at least.
const LEAST_LANES: usize = 4;

/// Scalars from one lane to the next, at most, for vectors to be put together from what lies between them.
const APART: i128 = 8;

/// Whether a loop has none left inside once compilers have written out short ones.
pub fn is_innermost(l: &Loop) -> bool {
    !l.body.iter().any(keeps_loop)
}

fn keeps_loop(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Loop(l) => !is_written_out(l) || l.body.iter().any(keeps_loop),
        other => other.blocks().iter().any(|block| block.iter().any(keeps_loop)),
    }
}

/// Whether a compiler for a processor leaves nothing of a loop but its turns: those of which it makes vectors are lanes, written out
/// or not.
pub fn is_written_out(l: &Loop) -> bool {
    let Some(turns) = l.extent.as_int().and_then(|n| usize::try_from(n).ok()) else {
        return l.kind == LoopKind::Unroll;
    };
    let is_short =
        || turns <= TURNS && straight(&l.body).is_some_and(|n| turns * n <= INSTRUCTIONS);
    let becomes_lanes =
        l.mark != Mark::None || turns >= LEAST_LANES && is_innermost(l) && is_vector_code(l);
    !becomes_lanes && (l.kind == LoopKind::Unroll || is_short())
}

/// Whether a compiler makes vector code of an innermost loop: no number is carried from one iteration to the next, nothing is
/// called but functions of mathematics, which have versions for vectors, no integer is divided by another, no more
/// than choosing between numbers is under a condition, and what the lanes of a vector load and store is evenly spaced, and not far apart, for all that the text says.
pub fn is_vector_code(l: &Loop) -> bool {
    let of = &l.var;
    // What is chosen by the variable of a loop that is written out is known.
    let known = l.extent.as_int().filter(|_| l.kind == LoopKind::Unroll);
    let mut found = Found { of, known, indices: BTreeMap::new(), own: Vec::new(), vector: true };
    l.body.iter().for_each(|stmt| stmt.each(&mut |stmt| found.stmt(stmt)));
    found.vector
}

/// Whether a compiler puts a sum's loop outside of the one around it: of a loop that does nothing but sum and store, where memory is
/// read far apart along the sum and in a row across it. Its iterations are vector code then.
pub fn is_put_inside(l: &Loop) -> bool {
    let works = |stmt: &&Stmt| !matches!(stmt, Stmt::Comment(_));
    let body: Vec<&Stmt> = l.body.iter().filter(works).collect();
    let [
        Stmt::Declare { var, value: Some(Expr::Literal(_)) },
        Stmt::Loop(sum),
        Stmt::Store { access, value: Expr::Var(stored) },
    ] = body.as_slice()
    else {
        return false;
    };
    let steps = |access: &Access| [&l.var, &sum.var].map(|var| step(&access.index, var));
    let mut loads = Vec::new();
    let mut adds = stored.id == var.id && steps(access) == [Some(1), Some(0)];
    for stmt in &sum.body {
        adds &= match stmt {
            Stmt::Assign { var: sum, .. } => sum.id == var.id,
            Stmt::Declare { .. } | Stmt::Comment(_) => true,
            _ => false,
        };
        for value in stmt.values() {
            value.each(&mut |e| match e {
                Expr::Load(access, _) => loads.push(steps(access)),
                Expr::Extern(..) => adds = false,
                _ => {}
            });
        }
    }
    let in_rows = loads.iter().all(|[across, _]| matches!(across, Some(0 | 1)));
    let far = loads.iter().any(|[_, along]| along.is_none_or(|n| n.abs() > APART));
    adds && in_rows && far
}

/// How far an index goes on with a variable, where that is always the same number.
fn step(index: &Nat, var: &Var) -> Option<i128> {
    if !index.mentions(var) {
        return Some(0);
    }
    let next = &Nat::var(var) + &Nat::int(1);
    let step = &index.substitute(&|v| (v == var).then(|| next.clone())) - index;
    step.as_int().filter(|_| index.is_polynomial_in(var))
}

struct Found<'l> {
    of: &'l Var,
    /// The turns of a loop that is written out.
    known: Option<i128>,
    /// Indices that have a name, in the loop's variable; nothing where data says them.
    indices: BTreeMap<&'l Var, Option<Nat>>,
    own: Vec<&'l Var>,
    vector: bool,
}

impl<'l> Found<'l> {
    fn stmt(&mut self, stmt: &'l Stmt) {
        match stmt {
            Stmt::Declare { var, .. } => self.own.push(&var.id),
            Stmt::Assign { var, .. } => self.vector &= self.own.contains(&&var.id),
            Stmt::Index { var, value } => {
                let index = match value {
                    Expr::Index(nat, _) => Some(self.in_lane(nat)),
                    _ => None,
                };
                self.indices.insert(var, index.flatten());
            }
            Stmt::Store { access, .. } => self.vector &= self.is_even(access),
            Stmt::Stop(_) | Stmt::Atomic { .. } => self.vector = false,
            Stmt::If { .. } => {
                let chooses = |s: &Stmt| matches!(s, Stmt::Assign { .. } | Stmt::Comment(_));
                self.vector &= stmt.blocks().iter().all(|block| block.iter().all(chooses));
            }
            _ => {}
        }
        for value in stmt.values() {
            value.each(&mut |e| match e {
                Expr::Extern(..) => self.vector = false,
                Expr::Load(access, _) => self.vector &= self.is_even(access),
                Expr::Binary(BinaryOp::Div | BinaryOp::Rem, a, b) => {
                    let constant = matches!(&**b, Expr::Literal(_));
                    self.vector &= a.ty().scalar.is_float() || constant;
                }
                _ => {}
            });
        }
    }

    /// An index without names for parts of it; nothing where data says one of them.
    fn in_lane(&self, index: &Nat) -> Option<Nat> {
        let mut known = true;
        index.each_var(&mut |v| known &= self.indices.get(v).is_none_or(Option::is_some));
        known.then(|| index.substitute(&|v| self.indices.get(v).cloned().flatten()))
    }

    /// Whether each lane is as far behind the one before.
    fn is_even(&self, access: &Access) -> bool {
        let Some(index) = self.in_lane(&access.index) else { return false };
        let at = |turn: i128| index.substitute(&|v| (v == self.of).then(|| Nat::int(turn)));
        let step = match self.known {
            Some(turns) => (&at(turns / 2 + 1) - &at(turns / 2)).as_int(),
            None => step(&index, self.of),
        };
        step.is_some_and(|n| n.abs() <= APART)
    }
}
