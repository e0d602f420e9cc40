//! Copies of statements for several points of a grid, statement by statement side by side.

use std::collections::{BTreeMap, BTreeSet};

use lift_ir::{Nat, Range, Var};
use lift_kernel::{Expr, Loop, Stmt, Variable};

use crate::cloning::{Comments, Copier, Renaming};
use crate::plan::Uses;

/// The variables of the grid's loops at one point.
pub(crate) type Point = BTreeMap<Var, Nat>;

/// What all points do. Points are independent, so that any order of their statements will do; loops of one length, and
/// branches with one condition, are done together.
pub(crate) fn together(body: &[Stmt], points: Vec<Point>, copier: &mut Copier) -> Vec<Stmt> {
    let mut copies =
        points.into_iter().map(|at| Copy { at, renaming: Renaming::default() }).collect();
    let mut assigned = BTreeSet::new();
    body.iter().for_each(|stmt| {
        stmt.each(&mut |s| {
            if let Stmt::Assign { var, .. } = s {
                assigned.insert(var.id.clone());
            }
        });
    });
    Jam { copier, assigned, copies: &mut copies }.block(body)
}

struct Copy {
    at: Point,
    renaming: Renaming,
}

/// What a statement is made of, in one copy.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    /// The copy, where no other may share the statement.
    own: Option<usize>,
    indices: Vec<Option<Nat>>,
    variables: Vec<Option<Var>>,
}

/// The variables that a statement and those inside of it use or assign.
struct Mentioned {
    indices: Vec<Var>,
    variables: Vec<Var>,
}

impl Mentioned {
    fn of(stmt: &Stmt) -> Mentioned {
        let mut uses = Uses::default();
        uses.block(std::slice::from_ref(stmt));
        let mut variables = uses.variables;
        stmt.each(&mut |s| {
            if let Stmt::Assign { var, .. } = s {
                variables.insert(var.id.clone());
            }
        });
        let indices = uses.sizes.into_iter().collect();
        Mentioned { indices, variables: variables.into_iter().collect() }
    }
}

struct Jam<'c> {
    copier: &'c mut Copier,
    /// The variables that are assigned somewhere.
    assigned: BTreeSet<Var>,
    copies: &'c mut Vec<Copy>,
}

impl Jam<'_> {
    fn block(&mut self, block: &[Stmt]) -> Vec<Stmt> {
        let mut made = Vec::new();
        for stmt in block {
            match stmt {
                Stmt::Loop(l) => self.a_loop(l, &mut made),
                Stmt::If { condition, then, otherwise } => {
                    self.branch(condition, then, otherwise, &mut made);
                }
                _ => self.apart(stmt, &mut made),
            }
        }
        made
    }

    /// A branch for all points that have one condition, and one for those of the next.
    fn branch(
        &mut self,
        condition: &Expr,
        then: &[Stmt],
        otherwise: &[Stmt],
        made: &mut Vec<Stmt>,
    ) {
        let conditions = self.each(|copy, copier| {
            copier.copy_expr(condition, &|v| copy.at.get(v).cloned(), &mut copy.renaming)
        });
        let mut left: Vec<(usize, Copy, Expr)> = std::mem::take(self.copies)
            .into_iter()
            .zip(conditions)
            .enumerate()
            .map(|(number, (copy, condition))| (number, copy, condition))
            .collect();
        let mut done: Vec<(usize, Copy)> = Vec::new();
        while let Some((_, _, condition)) = left.first() {
            let condition = condition.clone();
            let (alike, others): (Vec<_>, Vec<_>) =
                left.into_iter().partition(|(_, _, other)| *other == condition);
            left = others;
            let (numbers, copies): (Vec<usize>, Vec<Copy>) =
                alike.into_iter().map(|(number, copy, _)| (number, copy)).unzip();
            *self.copies = copies;
            let (then, otherwise) = (self.block(then), self.block(otherwise));
            made.push(Stmt::If { condition, then, otherwise });
            done.extend(numbers.into_iter().zip(std::mem::take(self.copies)));
        }
        done.sort_by_key(|(number, _)| *number);
        self.copies.extend(done.into_iter().map(|(_, copy)| copy));
    }

    fn a_loop(&mut self, l: &Loop, made: &mut Vec<Stmt>) {
        let extents = self.each(|copy, copier| {
            copier.copy_nat(&l.extent, &|v| copy.at.get(v).cloned(), &mut copy.renaming)
        });
        let Some(extent) = one(extents) else {
            return self.apart(&Stmt::Loop(l.clone()), made);
        };
        let var = self.copier.ids.fresh(l.var.name());
        self.copier.facts.declare_inside(&var, Range::below(extent.clone()));
        self.copies.iter_mut().for_each(|copy| copy.renaming.bind(&l.var, Nat::var(&var)));
        let body = self.block(&l.body);
        made.push(Stmt::Loop(Loop { var, extent, body, ..*l }));
    }

    /// A statement for one point after the other. What several points would do alike is done once.
    fn apart(&mut self, stmt: &Stmt, made: &mut Vec<Stmt>) {
        let mentioned = Mentioned::of(stmt);
        let mut first_of: BTreeMap<Key, usize> = BTreeMap::new();
        for number in 0..self.copies.len() {
            let key = self.key(stmt, &mentioned, number);
            if let Some(first) = first_of.get(&key) {
                self.share(stmt, *first, number);
                continue;
            }
            let copy = &mut self.copies[number];
            let value = |v: &Var| copy.at.get(v).cloned();
            let comments = Comments::of(number);
            let stmt = std::slice::from_ref(stmt);
            made.extend(self.copier.copy_more(stmt, &value, comments, &mut copy.renaming));
            first_of.insert(key, number);
        }
    }

    /// What tells the copy of a statement from those of other points. A variable that is assigned later is each point's
    /// own, whatever it starts with.
    fn key(&self, stmt: &Stmt, mentioned: &Mentioned, number: usize) -> Key {
        let Copy { at, renaming } = &self.copies[number];
        let own = match stmt {
            Stmt::Declare { var, .. } if self.assigned.contains(&var.id) => Some(number),
            _ => None,
        };
        let indices =
            mentioned.indices.iter().map(|v| at.get(v).cloned().or_else(|| renaming.index(v)));
        let variables = mentioned.variables.iter().map(|v| renaming.variable(v));
        Key { own, indices: indices.collect(), variables: variables.collect() }
    }

    /// What one copy has bound is what another has, too.
    fn share(&mut self, stmt: &Stmt, first: usize, number: usize) {
        let (Stmt::Declare { var: Variable { id: var, .. }, .. } | Stmt::Index { var, .. }) = stmt
        else {
            return;
        };
        let renaming = &self.copies[first].renaming;
        let (variable, index) = (renaming.variable(var), renaming.index(var));
        self.copies[number].renaming.adopt(var, variable, index);
    }

    fn each<T>(&mut self, mut of: impl FnMut(&mut Copy, &mut Copier) -> T) -> Vec<T> {
        self.copies.iter_mut().map(|copy| of(copy, self.copier)).collect()
    }
}

/// What all are.
fn one<T: PartialEq>(all: Vec<T>) -> Option<T> {
    let mut all = all.into_iter();
    let first = all.next()?;
    all.all(|other| other == first).then_some(first)
}
