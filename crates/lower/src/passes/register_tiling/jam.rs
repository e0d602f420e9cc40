//! Copies of statements for several points of a grid, statement by statement side by side.

use std::collections::BTreeMap;

use lift_ir::{Nat, Range, Var};
use lift_kernel::{Loop, Stmt};

use crate::cloning::{Comments, Copier, Names};

/// The variables of the grid's loops at one point.
pub(super) type Point = BTreeMap<Var, Nat>;

/// What all points do. Points are independent, so that any order of their statements will do; loops of one length, and
/// branches with one condition, are done together.
pub(super) fn together(body: &[Stmt], points: Vec<Point>, copier: &mut Copier) -> Vec<Stmt> {
    let mut copies = points.into_iter().map(|at| Copy { at, names: Names::default() }).collect();
    Jam { copier, copies: &mut copies }.block(body)
}

struct Copy {
    at: Point,
    names: Names,
}

struct Jam<'c> {
    copier: &'c mut Copier,
    copies: &'c mut Vec<Copy>,
}

impl Jam<'_> {
    fn block(&mut self, block: &[Stmt]) -> Vec<Stmt> {
        let mut made = Vec::new();
        for stmt in block {
            match stmt {
                Stmt::Loop(l) => self.a_loop(l, &mut made),
                Stmt::If { condition, then, otherwise } => {
                    let conditions = self.each(|copy, copier| {
                        copier.copy_expr(condition, &|v| copy.at.get(v).cloned(), &mut copy.names)
                    });
                    match one(conditions) {
                        Some(condition) => {
                            let then = self.block(then);
                            let otherwise = self.block(otherwise);
                            made.push(Stmt::If { condition, then, otherwise });
                        }
                        None => self.apart(stmt, &mut made),
                    }
                }
                _ => self.apart(stmt, &mut made),
            }
        }
        made
    }

    fn a_loop(&mut self, l: &Loop, made: &mut Vec<Stmt>) {
        let extents = self.each(|copy, copier| {
            copier.copy_nat(&l.extent, &|v| copy.at.get(v).cloned(), &mut copy.names)
        });
        let Some(extent) = one(extents) else {
            return self.apart(&Stmt::Loop(l.clone()), made);
        };
        let var = self.copier.ids.fresh(l.var.name());
        self.copier.facts.declare_inside(&var, Range::below(extent.clone()));
        self.copies.iter_mut().for_each(|copy| copy.names.bind(&l.var, Nat::var(&var)));
        let body = self.block(&l.body);
        made.push(Stmt::Loop(Loop { var, extent, body, ..*l }));
    }

    /// A statement for one point after the other.
    fn apart(&mut self, stmt: &Stmt, made: &mut Vec<Stmt>) {
        for (number, copy) in self.copies.iter_mut().enumerate() {
            let value = |v: &Var| copy.at.get(v).cloned();
            let stmt = std::slice::from_ref(stmt);
            let comments = Comments::of(number);
            made.extend(self.copier.copy_more(stmt, &value, comments, &mut copy.names));
        }
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
