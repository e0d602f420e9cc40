//! The parts of expressions and statements, for passes that look at all of them.

use crate::{Access, Expr, Loop, Stmt};

impl Expr {
    /// The expressions directly inside.
    pub fn parts(&self) -> Vec<&Expr> {
        match self {
            Expr::Literal(_) | Expr::Var(_) | Expr::Index(..) | Expr::Test(_) | Expr::Load(..) => {
                Vec::new()
            }
            Expr::Unary(_, a)
            | Expr::Cast(_, a)
            | Expr::Splat(_, a)
            | Expr::Lane(a, _)
            | Expr::Shuffle(_, a) => vec![a],
            Expr::Binary(_, a, b) => vec![a, b],
            Expr::Select(a, b, c) => vec![a, b, c],
            Expr::Math(_, args) | Expr::Vector(_, args) | Expr::Extern(_, args) => {
                args.iter().collect()
            }
        }
    }

    /// As [`Expr::parts`], to change them.
    pub fn parts_mut(&mut self) -> Vec<&mut Expr> {
        match self {
            Expr::Literal(_) | Expr::Var(_) | Expr::Index(..) | Expr::Test(_) | Expr::Load(..) => {
                Vec::new()
            }
            Expr::Unary(_, a)
            | Expr::Cast(_, a)
            | Expr::Splat(_, a)
            | Expr::Lane(a, _)
            | Expr::Shuffle(_, a) => vec![a],
            Expr::Binary(_, a, b) => vec![a, b],
            Expr::Select(a, b, c) => vec![a, b, c],
            Expr::Math(_, args) | Expr::Vector(_, args) | Expr::Extern(_, args) => {
                args.iter_mut().collect()
            }
        }
    }

    /// Whether the expression has more than so many parts, itself included; looks at no more than those.
    pub fn is_longer_than(&self, parts: usize) -> bool {
        fn left_of(expr: &Expr, left: usize) -> Option<usize> {
            expr.parts()
                .into_iter()
                .try_fold(left.checked_sub(1)?, |left, part| left_of(part, left))
        }
        left_of(self, parts).is_none()
    }

    /// Calls `visit` on the expression and everything inside, outer ones first.
    pub fn each<'e>(&'e self, visit: &mut dyn FnMut(&'e Expr)) {
        visit(self);
        match self {
            Expr::Literal(_) | Expr::Var(_) | Expr::Index(..) | Expr::Test(_) | Expr::Load(..) => {}
            Expr::Unary(_, a)
            | Expr::Cast(_, a)
            | Expr::Splat(_, a)
            | Expr::Lane(a, _)
            | Expr::Shuffle(_, a) => {
                a.each(visit);
            }
            Expr::Binary(_, a, b) => {
                a.each(visit);
                b.each(visit);
            }
            Expr::Select(a, b, c) => {
                a.each(visit);
                b.each(visit);
                c.each(visit);
            }
            Expr::Math(_, args) | Expr::Vector(_, args) | Expr::Extern(_, args) => {
                args.iter().for_each(|a| a.each(visit));
            }
        }
    }
}

impl Stmt {
    /// The values a statement computes itself, not those of statements inside it.
    pub fn values(&self) -> impl Iterator<Item = &Expr> {
        let value = match self {
            Stmt::Comment(_) | Stmt::Barrier(_) | Stmt::Loop(_) | Stmt::ThreadId { .. } => None,
            Stmt::Declare { value, .. } => value.as_ref(),
            Stmt::Assign { value, .. }
            | Stmt::Index { value, .. }
            | Stmt::Store { value, .. }
            | Stmt::Atomic { value, .. }
            | Stmt::Stop(value)
            | Stmt::If { condition: value, .. } => Some(value),
        };
        value.into_iter()
    }

    /// As [`Stmt::values`], to change them.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut Expr> {
        let value = match self {
            Stmt::Comment(_) | Stmt::Barrier(_) | Stmt::Loop(_) | Stmt::ThreadId { .. } => None,
            Stmt::Declare { value, .. } => value.as_mut(),
            Stmt::Assign { value, .. }
            | Stmt::Index { value, .. }
            | Stmt::Store { value, .. }
            | Stmt::Atomic { value, .. }
            | Stmt::Stop(value)
            | Stmt::If { condition: value, .. } => Some(value),
        };
        value.into_iter()
    }

    /// Whether it is straight-line code: the next statement is the one behind it, and nobody waits.
    pub fn is_straight_line(&self) -> bool {
        match self {
            Stmt::Comment(_)
            | Stmt::Declare { .. }
            | Stmt::Assign { .. }
            | Stmt::Index { .. }
            | Stmt::ThreadId { .. }
            | Stmt::Store { .. }
            | Stmt::Atomic { .. } => true,
            Stmt::Loop(_) | Stmt::If { .. } | Stmt::Barrier(_) | Stmt::Stop(_) => false,
        }
    }

    /// The statements inside, block by block.
    pub fn blocks(&self) -> Vec<&[Stmt]> {
        match self {
            Stmt::Loop(l) => vec![&l.body],
            Stmt::If { then, otherwise, .. } => vec![then, otherwise],
            Stmt::Comment(_)
            | Stmt::Barrier(_)
            | Stmt::Declare { .. }
            | Stmt::Assign { .. }
            | Stmt::Index { .. }
            | Stmt::ThreadId { .. }
            | Stmt::Stop(_)
            | Stmt::Store { .. }
            | Stmt::Atomic { .. } => Vec::new(),
        }
    }

    /// As [`Stmt::blocks`], to change them.
    pub fn blocks_mut(&mut self) -> Vec<&mut Vec<Stmt>> {
        match self {
            Stmt::Loop(l) => vec![&mut l.body],
            Stmt::If { then, otherwise, .. } => vec![then, otherwise],
            Stmt::Comment(_)
            | Stmt::Barrier(_)
            | Stmt::Declare { .. }
            | Stmt::Assign { .. }
            | Stmt::Index { .. }
            | Stmt::ThreadId { .. }
            | Stmt::Stop(_)
            | Stmt::Store { .. }
            | Stmt::Atomic { .. } => Vec::new(),
        }
    }

    /// Calls `visit` on the statement and everything inside, outer ones first.
    pub fn each<'s>(&'s self, visit: &mut dyn FnMut(&'s Stmt)) {
        visit(self);
        for block in self.blocks() {
            block.iter().for_each(|stmt| stmt.each(visit));
        }
    }

    /// Calls `visit` on every access of the statement and of those inside, with whether it is a store. What is changed as one
    /// step is loaded and stored.
    pub fn each_access(&self, visit: &mut dyn FnMut(&Access, bool)) {
        self.each(&mut |s| s.each_own_access(visit));
    }

    /// The same without those of statements inside.
    pub fn each_own_access(&self, visit: &mut dyn FnMut(&Access, bool)) {
        match self {
            Stmt::Store { access, .. } => visit(access, true),
            Stmt::Atomic { access, .. } => {
                visit(access, false);
                visit(access, true);
            }
            Stmt::Comment(_)
            | Stmt::Declare { .. }
            | Stmt::Assign { .. }
            | Stmt::Index { .. }
            | Stmt::ThreadId { .. }
            | Stmt::Loop(_)
            | Stmt::If { .. }
            | Stmt::Barrier(_)
            | Stmt::Stop(_) => {}
        }
        for value in self.values() {
            value.each(&mut |e| {
                if let Expr::Load(access, _) = e {
                    visit(access, false);
                }
            });
        }
    }
}

/// The block's only statement, if it is a loop; comments are ignored.
pub fn only_loop(block: &[Stmt]) -> Option<&Loop> {
    let mut stmts = block.iter().filter(|stmt| !matches!(stmt, Stmt::Comment(_)));
    match (stmts.next(), stmts.next()) {
        (Some(Stmt::Loop(l)), None) => Some(l),
        _ => None,
    }
}
