//! The variables in sight of a statement, and the values of indices over them.

use std::collections::BTreeMap;

use lift_ir::{BinaryOp, Literal, Math, Nat, UnaryOp, Var};
use lift_kernel::Expr;

use super::values::Values;

/// A size that is not given counts as this.
pub(super) const UNKNOWN_SIZE: i128 = 1024;

/// Where the mean over a variable is wanted, so many values are looked at.
const MEAN_SAMPLES: i128 = 64;

/// What goes through the values of a variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Role {
    /// The work-items of a group in a dimension.
    Local(usize),
    /// The work-items of the grid in a dimension.
    Global(usize),
    /// The groups of the grid.
    Group,
    /// The iterations of a loop that one thread runs.
    Iteration,
}

impl Role {
    /// Whether it says where in the whole grid a work-item is.
    pub fn is_in_grid(self) -> bool {
        match self {
            Role::Global(_) | Role::Group => true,
            Role::Local(_) | Role::Iteration => false,
        }
    }
}

pub(super) enum Meaning<'k> {
    Takes(Values, Role),
    /// A value computed at run time.
    Defined(&'k Expr),
}

pub(super) struct Entry<'k> {
    pub var: &'k Var,
    pub meaning: Meaning<'k>,
}

/// Variables by number, inner ones last. Those that are not here are sizes.
pub(super) struct Scope<'k> {
    sizes: &'k BTreeMap<String, i128>,
    entries: Vec<Entry<'k>>,
}

/// Values of some variables of a scope, in place of those that stand for all.
pub(super) type At<'a> = &'a [(usize, i128)];

impl<'k> Scope<'k> {
    pub fn new(sizes: &'k BTreeMap<String, i128>) -> Scope<'k> {
        Scope { sizes, entries: Vec::new() }
    }

    pub fn push(&mut self, var: &'k Var, meaning: Meaning<'k>) {
        self.entries.push(Entry { var, meaning });
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn truncate(&mut self, len: usize) {
        self.entries.truncate(len);
    }

    pub fn entry(&self, number: usize) -> Option<(&Values, Role)> {
        match &self.entries.get(number)?.meaning {
            Meaning::Takes(values, role) => Some((values, *role)),
            Meaning::Defined(_) => None,
        }
    }

    /// Gives a variable other values; those it had come back.
    pub fn replace(&mut self, number: usize, with: Values) -> Option<Values> {
        match &mut self.entries.get_mut(number)?.meaning {
            Meaning::Takes(values, _) => Some(std::mem::replace(values, with)),
            Meaning::Defined(_) => None,
        }
    }

    fn find(&self, var: &Var) -> Option<usize> {
        self.entries.iter().rposition(|e| e.var == var)
    }

    fn value(&self, var: &Var, at: At<'_>) -> Option<i128> {
        let Some(number) = self.find(var) else {
            return Some(self.sizes.get(var.name()).copied().unwrap_or(UNKNOWN_SIZE));
        };
        if let Some((_, value)) = at.iter().find(|(n, _)| *n == number) {
            return Some(*value);
        }
        match &self.entries.get(number)?.meaning {
            Meaning::Takes(values, _) => Some(values.middle()),
            Meaning::Defined(value) => self.integer(value, at),
        }
    }

    /// The value where variables have the values given, others the ones that stand for all; nothing where it depends
    /// on data.
    pub fn eval(&self, nat: &Nat, at: At<'_>) -> Option<i128> {
        match nat.as_int() {
            Some(value) => Some(value),
            None => nat.eval(&|v| self.value(v, at)).ok(),
        }
    }

    /// The mean over all values of the variables that the index mentions, each at a time.
    pub fn mean(&self, nat: &Nat) -> Option<f64> {
        let middle = self.eval(nat, &[])? as f64;
        let mut mean = middle;
        for number in self.mentioned(nat).0 {
            let Some((values, Role::Local(_) | Role::Iteration)) = self.entry(number) else {
                continue;
            };
            let all = values.sample(MEAN_SAMPLES).filter_map(|v| self.eval(nat, &[(number, v)]));
            let (count, sum) = all.fold((0.0, 0.0), |(n, s), v| (n + 1.0, s + v.max(0) as f64));
            if count > 0.0 {
                mean += sum / count - middle;
            }
        }
        Some(mean)
    }

    /// The variables with several values that an index depends on, by number, and whether it does so directly: not
    /// through a value computed at run time.
    pub fn mentioned(&self, nat: &Nat) -> (Vec<usize>, bool) {
        let (mut found, mut directly) = (Vec::new(), true);
        nat.each_var(&mut |var| {
            directly &= !self.is_defined(var);
            self.collect_var(var, &mut found);
        });
        (found, directly)
    }

    fn is_defined(&self, var: &Var) -> bool {
        let entry = self.find(var).and_then(|number| self.entries.get(number));
        entry.is_some_and(|e| matches!(e.meaning, Meaning::Defined(_)))
    }

    pub fn var(&self, number: usize) -> Option<&'k Var> {
        self.entries.get(number).map(|e| e.var)
    }

    /// Whether the value of one variable depends on another, given by number.
    pub fn depends(&self, var: &Var, on: usize) -> bool {
        let mut found = Vec::new();
        self.collect_var(var, &mut found);
        found.contains(&on)
    }

    fn collect(&self, nat: &Nat, found: &mut Vec<usize>) {
        nat.each_var(&mut |var| self.collect_var(var, found));
    }

    fn collect_var(&self, var: &Var, found: &mut Vec<usize>) {
        let Some(number) = self.find(var) else { return };
        match self.entries.get(number).map(|e| &e.meaning) {
            Some(Meaning::Takes(values, _)) if values.count() > 1 && !found.contains(&number) => {
                found.push(number);
            }
            Some(Meaning::Defined(value)) => self.collect_expr(value, found),
            _ => {}
        }
    }

    /// The same of all indices in an expression.
    pub fn collect_expr(&self, expr: &Expr, found: &mut Vec<usize>) {
        expr.each(&mut |e| match e {
            Expr::Index(nat, _) => self.collect(nat, found),
            Expr::Test(pred) => pred.vars().iter().for_each(|v| self.collect_var(v, found)),
            Expr::Literal(_)
            | Expr::Var(_)
            | Expr::Load(..)
            | Expr::Unary(..)
            | Expr::Binary(..)
            | Expr::Math(..)
            | Expr::Cast(..)
            | Expr::Select(..)
            | Expr::Vector(..)
            | Expr::Splat(..)
            | Expr::Lane(..)
            | Expr::Extern(..)
            | Expr::Shuffle(..) => {}
        });
    }

    /// The value of an integer that is computed from indices alone.
    fn integer(&self, expr: &Expr, at: At<'_>) -> Option<i128> {
        match expr {
            Expr::Index(nat, _) => self.eval(nat, at),
            Expr::Literal(Literal::Int(_, value)) => Some(*value),
            Expr::Cast(ty, value) if ty.scalar.is_integer() && ty.width == 1 => {
                self.integer(value, at)
            }
            Expr::Unary(UnaryOp::Neg, value) => self.integer(value, at)?.checked_neg(),
            Expr::Binary(op, a, b) => {
                let width = i128::from(a.ty().scalar.width());
                let (a, b) = (self.integer(a, at)?, self.integer(b, at)?);
                match op {
                    BinaryOp::Add => a.checked_add(b),
                    BinaryOp::Sub => a.checked_sub(b),
                    BinaryOp::Mul => a.checked_mul(b),
                    BinaryOp::Div => a.checked_div(b),
                    BinaryOp::Rem => a.checked_rem(b),
                    BinaryOp::BitOr => Some(a | b),
                    BinaryOp::BitXor => Some(a ^ b),
                    BinaryOp::BitAnd => Some(a & b),
                    BinaryOp::Shl => a.checked_mul(1 << (b & (width - 1))),
                    BinaryOp::Shr => Some(a >> (b & (width - 1))),
                    BinaryOp::Or
                    | BinaryOp::And
                    | BinaryOp::Eq
                    | BinaryOp::Ne
                    | BinaryOp::Lt
                    | BinaryOp::Le
                    | BinaryOp::Gt
                    | BinaryOp::Ge => None,
                }
            }
            Expr::Math(Math::Min, args) => self.pair(args, at).map(|(a, b)| a.min(b)),
            Expr::Math(Math::Max, args) => self.pair(args, at).map(|(a, b)| a.max(b)),
            Expr::Select(condition, then, otherwise) => match self.truth(condition, at)? {
                true => self.integer(then, at),
                false => self.integer(otherwise, at),
            },
            Expr::Literal(_)
            | Expr::Var(_)
            | Expr::Test(_)
            | Expr::Load(..)
            | Expr::Unary(..)
            | Expr::Math(..)
            | Expr::Cast(..)
            | Expr::Vector(..)
            | Expr::Splat(..)
            | Expr::Lane(..)
            | Expr::Extern(..)
            | Expr::Shuffle(..) => None,
        }
    }

    fn pair(&self, args: &[Expr], at: At<'_>) -> Option<(i128, i128)> {
        match args {
            [a, b] => Some((self.integer(a, at)?, self.integer(b, at)?)),
            _ => None,
        }
    }

    /// Whether a condition holds; nothing where it depends on data.
    pub fn truth(&self, expr: &Expr, at: At<'_>) -> Option<bool> {
        match expr {
            Expr::Test(pred) => pred.eval(&|v| self.value(v, at)).ok(),
            Expr::Literal(Literal::Bool(value)) => Some(*value),
            Expr::Unary(UnaryOp::Not, value) => self.truth(value, at).map(|v| !v),
            Expr::Binary(BinaryOp::And, a, b) => Some(self.truth(a, at)? && self.truth(b, at)?),
            Expr::Binary(BinaryOp::Or, a, b) => Some(self.truth(a, at)? || self.truth(b, at)?),
            Expr::Binary(op, a, b) if op.is_comparison() => {
                op.holds(self.integer(a, at)?, self.integer(b, at)?)
            }
            Expr::Literal(_)
            | Expr::Var(_)
            | Expr::Index(..)
            | Expr::Load(..)
            | Expr::Unary(..)
            | Expr::Binary(..)
            | Expr::Math(..)
            | Expr::Cast(..)
            | Expr::Select(..)
            | Expr::Vector(..)
            | Expr::Splat(..)
            | Expr::Lane(..)
            | Expr::Extern(..)
            | Expr::Shuffle(..) => None,
        }
    }
}
