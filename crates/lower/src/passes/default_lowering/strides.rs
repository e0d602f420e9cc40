//! How the points of a grid read what they fold.
//!
//! A functional program does not say how far apart elements lie, a kernel does. So the map is translated with a
//! work-item a point and a fold in order, and the indices of its loads are looked at.

use std::collections::BTreeSet;

use lift_ir::{Def, Expr, Facts, Kind, Nat, Param, Var};
use lift_kernel::{Kernel, Loop, LoopKind, Stmt};

use super::LONG;
use crate::Options;
use crate::effects::{Touch, touches};
use crate::nest::usual_step;
use crate::passes::translate::translate;

/// Neighbours along a dimension that read the same, from which on tiles of them pay.
const SHARED: i128 = 16;

/// Points below this number leave most of a device idle even if all of them read the same.
const FEW: i128 = 1 << 12;

/// What the reads of a fold have in common.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Order {
    /// The elements of one fold lie side by side.
    Rows,
    /// Those of neighbouring points do, or neither.
    Columns,
    /// Each element is read along one of two dimensions of the grid: a product of matrices, or the like.
    Contraction,
}

/// The long folds of a grid.
pub(super) struct Folds {
    pub order: Order,
    /// All that is folded lies beside what neighbouring points fold, or is the same for all of them.
    pub are_beside: bool,
    /// Of a contraction: something is read along each of the two dimensions, so that a tile of points reads little.
    pub are_tiled: bool,
    /// The points of the grid, and the steps of its longest fold, where they are numbers.
    pub points: Option<i128>,
    pub steps: Option<i128>,
}

impl Folds {
    /// Of a grid whose folds run in order. Nothing where it has no long folds, or where it cannot be told.
    pub(super) fn of(grid: &Expr, def: &Def, next_number: u32, options: &Options) -> Option<Folds> {
        Folds::of_kernel(&alone(grid, def, next_number, options)?)
    }

    fn of_kernel(kernel: &Kernel) -> Option<Folds> {
        let (mut dimensions, mut folds) = (Vec::new(), Vec::new());
        kernel.body.iter().for_each(|stmt| outermost(stmt, &mut dimensions, &mut folds));
        let is_long = |l: &Loop| l.extent.as_int().is_none_or(|n| n >= LONG);
        folds.retain(|l| is_long(l));
        if folds.is_empty() {
            return None;
        }
        let points =
            dimensions.iter().try_fold(1i128, |all, l| all.checked_mul(l.extent.as_int()?));
        let steps =
            folds.iter().map(|l| l.extent.as_int()).try_fold(0, |most, n| Some(n?.max(most)));
        let known = Known::of(kernel);
        let found = touches(&kernel.body);
        let reads: Vec<Read> = found
            .iter()
            .filter(|touch| !touch.writes && !known.privates.contains(&touch.access.buffer.0))
            .filter_map(|touch| {
                let fold = touch.loops.iter().find(|l| folds.iter().any(|own| own.var == l.var))?;
                Some(Read { touch, fold: &fold.var, known: &known })
            })
            .collect();
        let first = dimensions.iter().find(|l| l.kind == LoopKind::Global(0));
        let are_beside = first.is_some_and(|l| {
            let beside = reads.iter().filter(|read| read.is_beside(&l.var)).count();
            let still = reads.iter().filter(|read| read.is_still(&l.var)).count();
            beside > 0 && beside + still == reads.len()
        });
        let shared = shared(&reads, &dimensions);
        let are_tiled = shared.iter().any(|(a, b)| {
            let varies = |l: &Loop| reads.iter().any(|read| !read.is_still(&l.var));
            varies(a) && varies(b)
        });
        let order = match shared.is_empty() {
            true => order(&reads, &dimensions, points),
            false => Order::Contraction,
        };
        Some(Folds { order, are_beside, are_tiled, points, steps })
    }
}

/// The kernel that a grid is by itself. A program that cannot be translated is refused later, with all that is around it.
pub(super) fn alone(grid: &Expr, def: &Def, next_number: u32, options: &Options) -> Option<Kernel> {
    let alone = Def {
        params: free_variables(grid),
        ret: grid.ty().clone(),
        launches: Vec::new(),
        body: grid.clone(),
        next_number,
        ..def.clone()
    };
    translate(&alone, options, &[]).ok()?.kernels.pop()
}

/// The pairs of dimensions along one of which each element is read, or along none.
fn shared<'k>(reads: &[Read], dimensions: &[&'k Loop]) -> Vec<(&'k Loop, &'k Loop)> {
    if reads.is_empty() {
        return Vec::new();
    }
    let many = |l: &Loop| l.extent.as_int().is_none_or(|n| n >= SHARED);
    let wide: Vec<&Loop> = dimensions.iter().copied().filter(|l| many(l)).collect();
    let is_shared = |(a, b): &(&Loop, &Loop)| {
        reads.iter().all(|read| read.is_still(&a.var) || read.is_still(&b.var))
    };
    let pairs =
        wide.iter().enumerate().flat_map(|(at, a)| wide.iter().skip(at + 1).map(move |b| (*a, *b)));
    pairs.filter(is_shared).collect()
}

fn order(reads: &[Read], dimensions: &[&Loop], points: Option<i128>) -> Order {
    let Some(neighbours) = dimensions.iter().find(|l| l.kind == LoopKind::Global(0)) else {
        return Order::Columns;
    };
    let across = |read: &&Read| read.is_beside(&neighbours.var);
    let along = |read: &&Read| read.is_beside(read.fold) && !across(read);
    let columns = reads.iter().filter(across).count();
    let rows = reads.iter().filter(along).filter(|read| !read.is_still(&neighbours.var)).count();
    // What all points read alike is loaded once for all that run together, which takes many of them.
    let alike = reads.iter().filter(along).count() - rows;
    // What moves by one element with the point as with the fold is in rows as well: `x[i + lag]`.
    let both = reads.iter().filter(across).filter(|read| read.is_beside(read.fold)).count();
    let is_few = points.is_some_and(|n| n < FEW);
    match rows > 0 && rows >= columns || columns == both && alike + both > 0 && is_few {
        true => Order::Rows,
        false => Order::Columns,
    }
}

/// What the kernel says of its indices.
struct Known<'k> {
    facts: &'k Facts,
    privates: BTreeSet<u32>,
    /// Indices that are computed, or read from memory: how far the next one is cannot be said.
    computed: BTreeSet<Var>,
}

impl Known<'_> {
    fn of(kernel: &Kernel) -> Known<'_> {
        let mut computed = BTreeSet::new();
        for stmt in &kernel.body {
            stmt.each(&mut |s| {
                if let Stmt::Index { var, .. } = s {
                    computed.insert(var.clone());
                }
            });
        }
        let privates = kernel.privates.iter().map(|b| b.id.0).collect();
        Known { facts: &kernel.facts, privates, computed }
    }
}

/// A load in a long fold.
struct Read<'k> {
    touch: &'k Touch<'k>,
    fold: &'k Var,
    known: &'k Known<'k>,
}

impl Read<'_> {
    fn step(&self, var: &Var) -> Option<Nat> {
        let index = &self.touch.access.index;
        let is_known = self.known.computed.iter().all(|own| !index.mentions(own));
        is_known.then(|| usual_step(index, var, self.known.facts))
    }

    /// Whether the next value of a variable reads the same element.
    fn is_still(&self, var: &Var) -> bool {
        self.step(var) == Some(Nat::ZERO)
    }

    /// Whether it reads the next element.
    fn is_beside(&self, var: &Var) -> bool {
        self.step(var) == Some(Nat::ONE)
    }
}

/// The loops of the grid, and the outermost of those in them.
fn outermost<'k>(stmt: &'k Stmt, grid: &mut Vec<&'k Loop>, folds: &mut Vec<&'k Loop>) {
    match stmt {
        Stmt::Loop(l) => match l.kind {
            LoopKind::Global(_) => {
                grid.push(l);
                l.body.iter().for_each(|inner| outermost(inner, grid, folds));
            }
            LoopKind::Seq | LoopKind::Unroll | LoopKind::Group(_) | LoopKind::Local(_) => {
                folds.push(l)
            }
        },
        other => {
            other.blocks().into_iter().flatten().for_each(|inner| outermost(inner, grid, folds));
        }
    }
}

/// The variables that an expression takes from around it.
pub(super) fn free_variables(expr: &Expr) -> Vec<Param> {
    let free = expr.free_variables();
    let mut found: Vec<Param> = Vec::new();
    let mut open = vec![expr];
    while let Some(part) = open.pop().filter(|_| found.len() < free.len()) {
        if let Kind::Var(param) = part.kind()
            && free.contains(&param.id())
            && found.iter().all(|known| known.id() != param.id())
        {
            found.push(param.clone());
        }
        open.extend(part.children());
    }
    found
}
