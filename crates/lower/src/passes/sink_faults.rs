//! Store sinking for checks: what failed in a loop is told behind it.
//!
//! Before: `for (i) { if (bad(i)) status = (3, i); acc = f(acc, i); }`
//! After: `int fault = 0, told = 0; for (i) { fault = bad(i) ? 3 : fault; told = bad(i) ? i : told; acc = f(acc, i); } if (fault != 0) status = (fault, told);`
//!
//! A check of an index is kept in one variable, if there is no other, which is an index in range until one is not: `int outside = 0; for (i) { outside =
//! x < n ? outside : x; … } if (!(outside < n)) status = (3, outside);`
//!
//! A loop that stores nothing is one that compilers write out several times, with all loads before the first use. Any of the checks
//! that failed is as good as another, and the last one is what is told. Only loops without another inside: what is behind that one is
//! told once each time around. A loop that is written out already, with the same check again and again, is left alone.

use lift_ir::{BinaryOp, Facts, Literal, Nat, Pred, Range, Scalar, UnaryOp, Var};
use lift_kernel::{Access, BufferId, Expr, Ids, Kernel, Loop, LoopKind, Stmt, ValueType, Variable};

use crate::effects::has_loop;

pub(crate) fn run(kernel: &mut Kernel, status: Option<BufferId>) {
    let Some(status) = status else { return };
    let mut pass = Pass { status, ids: kernel.ids.clone(), facts: &mut kernel.facts };
    let body = std::mem::take(&mut kernel.body);
    kernel.body = pass.block(body);
}

struct Pass<'k> {
    status: BufferId,
    ids: Ids,
    facts: &'k mut Facts,
}

impl Pass<'_> {
    fn block(&mut self, stmts: Vec<Stmt>) -> Vec<Stmt> {
        let mut made = Vec::with_capacity(stmts.len());
        for mut stmt in stmts {
            for inner in stmt.blocks_mut() {
                *inner = self.block(std::mem::take(inner));
            }
            match stmt {
                Stmt::Loop(l) if is_innermost(&l) => made.extend(self.sunk(l)),
                other => made.push(other),
            }
        }
        made
    }

    /// A loop without stores of faults, with what keeps them around it.
    fn sunk(&mut self, mut l: Loop) -> Vec<Stmt> {
        let faults = faults(&l.body, self.status);
        let widest = faults.iter().map(|(access, _)| access).max_by_key(|access| access.width);
        let (Some(access), false) = (widest.cloned(), is_written_out(&faults)) else {
            return vec![Stmt::Loop(l)];
        };
        let mut checks =
            l.body.iter_mut().filter(|stmt| !self::faults([&**stmt], self.status).is_empty());
        if let (1, Some(stmt)) = (faults.len(), checks.next())
            && let Some(check) = IndexCheck::of(stmt)
            && self.facts.at_most(&Nat::ONE, &check.length)
        {
            let outside = self.kept_index(stmt, &check);
            return self.around(l, access, check, outside);
        }
        let words = words(access.width, &self.ids);
        l.body = kept(l.body, self.status, &words);
        let mut made: Vec<Stmt> = words.iter().cloned().map(declared).collect();
        made.extend([Stmt::Loop(l), behind(access, words)]);
        made
    }

    /// An index that is outside is kept in a variable, which holds one in range until then.
    fn kept_index(&self, stmt: &mut Stmt, check: &IndexCheck) -> Variable {
        let ty = ValueType::scalar(Scalar::I32);
        let outside = Variable { id: self.ids.fresh("outside"), ty };
        let known = Box::new(Expr::Var(outside.clone()));
        let own = Box::new(Expr::Index(Nat::var(&check.index), Scalar::I32));
        let inside = Box::new(Expr::Test(check.inside(&check.index)));
        let value = Expr::Select(inside, known, own);
        *stmt = Stmt::Assign { var: outside.clone(), value };
        outside
    }

    fn around(
        &mut self,
        l: Loop,
        access: Access,
        check: IndexCheck,
        outside: Variable,
    ) -> Vec<Stmt> {
        let last = self.ids.fresh(check.index.name());
        if let Some((low, high)) = Scalar::I32.integer_range() {
            self.facts.declare_inside(&last, Range::between(Nat::int(low), Nat::int(high)));
        }
        let inside = Box::new(Expr::Test(check.inside(&last)));
        let words = vec![check.number, Expr::Var(outside.clone())];
        let store = Stmt::Store { access, value: Expr::Vector(Scalar::I32, words) };
        let condition = Expr::Unary(UnaryOp::Not, inside);
        vec![
            declared(outside.clone()),
            Stmt::Loop(l),
            Stmt::Index { var: last, value: Expr::Var(outside) },
            Stmt::If { condition, then: vec![store], otherwise: Vec::new() },
        ]
    }
}

/// Where faults are stored, and what.
fn faults<'s>(body: impl IntoIterator<Item = &'s Stmt>, status: BufferId) -> Vec<(Access, Expr)> {
    let mut found = Vec::new();
    for stmt in body {
        stmt.each(&mut |s| {
            if let Stmt::Store { access, value } = s
                && access.buffer == status
            {
                found.push((access.clone(), value.clone()));
            }
        });
    }
    found
}

/// Whether the same check is there several times.
fn is_written_out(faults: &[(Access, Expr)]) -> bool {
    let number = |(_, value): &(Access, Expr)| values(value.clone()).into_iter().next();
    let others = |at: usize| faults.iter().skip(at + 1);
    faults.iter().enumerate().any(|(at, own)| others(at).any(|other| number(other) == number(own)))
}

/// `if (!(0 <= index && index < length)) status = (number, index);`
struct IndexCheck {
    index: Var,
    length: Nat,
    number: Expr,
}

impl IndexCheck {
    fn of(stmt: &Stmt) -> Option<IndexCheck> {
        let Stmt::If { condition: Expr::Unary(UnaryOp::Not, inside), then, otherwise } = stmt
        else {
            return None;
        };
        let (Expr::Test(Pred::And(parts)), [Stmt::Store { value, .. }], []) =
            (inside.as_ref(), then.as_slice(), otherwise.as_slice())
        else {
            return None;
        };
        let (Expr::Vector(_, words), [Pred::Le(zero, low), Pred::Lt(high, length)]) =
            (value, parts.as_slice())
        else {
            return None;
        };
        let [number @ Expr::Literal(_), Expr::Index(told, Scalar::I32)] = words.as_slice() else {
            return None;
        };
        let index = told.as_var()?.clone();
        let is_same = *zero == Nat::ZERO && low == told && high == told;
        // Sizes of the program are the same in front of the loop and behind it.
        let is_size = !length.any_var(&mut |v| v.id() != 0);
        let (length, number) = (length.clone(), number.clone());
        (is_same && is_size).then_some(IndexCheck { index, length, number })
    }

    fn inside(&self, index: &Var) -> Pred {
        let index = Nat::var(index);
        Pred::And(vec![Pred::Le(Nat::ZERO, index.clone()), Pred::Lt(index, self.length.clone())])
    }
}

fn is_innermost(l: &Loop) -> bool {
    l.kind == LoopKind::Seq && !has_loop(&l.body, &|_| true)
}

/// Faults are kept in variables.
fn kept(stmts: Vec<Stmt>, status: BufferId, words: &[Variable]) -> Vec<Stmt> {
    let mut made = Vec::with_capacity(stmts.len());
    for mut stmt in stmts {
        if let Some(choices) = chosen(&stmt, status, words) {
            made.extend(choices);
            continue;
        }
        for inner in stmt.blocks_mut() {
            *inner = kept(std::mem::take(inner), status, words);
        }
        match stmt {
            Stmt::Store { access, value } if access.buffer == status => {
                let vars = words.iter().cloned().zip(values(value));
                made.extend(vars.map(|(var, value)| Stmt::Assign { var, value }));
            }
            other => made.push(other),
        }
    }
    made
}

/// A check whose numbers are there already, without a branch.
fn chosen(stmt: &Stmt, status: BufferId, words: &[Variable]) -> Option<Vec<Stmt>> {
    let Stmt::If { condition, then, otherwise } = stmt else { return None };
    let ([Stmt::Store { access, value }], []) = (then.as_slice(), otherwise.as_slice()) else {
        return None;
    };
    let values = values(value.clone());
    if access.buffer != status || !values.iter().all(is_there) {
        return None;
    }
    let choice = |(var, value): (&Variable, Expr)| {
        let kept = Expr::Var(var.clone());
        let value = Expr::Select(Box::new(condition.clone()), Box::new(value), Box::new(kept));
        Stmt::Assign { var: var.clone(), value }
    };
    Some(words.iter().zip(values).map(choice).collect())
}

/// Whether nothing has to be computed for a value.
fn is_there(value: &Expr) -> bool {
    match value {
        Expr::Literal(_) | Expr::Var(_) => true,
        Expr::Index(index, _) => index.as_var().is_some(),
        _ => false,
    }
}

/// The words of what a check stores.
fn values(stored: Expr) -> Vec<Expr> {
    match stored {
        Expr::Vector(_, values) => values,
        number => vec![number],
    }
}

/// Variables for the number of a check and what it tells.
fn words(width: u32, ids: &Ids) -> Vec<Variable> {
    let name = |at: u32| if at == 0 { "fault" } else { "told" };
    let ty = ValueType::scalar(Scalar::I32);
    (0..width).map(|at| Variable { id: ids.fresh(name(at)), ty }).collect()
}

fn number(n: i128) -> Expr {
    Expr::Literal(Literal::Int(Scalar::I32, n))
}

fn declared(var: Variable) -> Stmt {
    Stmt::Declare { var, value: Some(number(0)) }
}

/// The fault is stored, if there is one.
fn behind(access: Access, words: Vec<Variable>) -> Stmt {
    let words: Vec<Expr> = words.into_iter().map(Expr::Var).collect();
    let fault = words.first().cloned().unwrap_or_else(|| number(0));
    let condition = Expr::Binary(BinaryOp::Ne, Box::new(fault.clone()), Box::new(number(0)));
    let value = if access.width == 1 { fault } else { Expr::Vector(Scalar::I32, words) };
    Stmt::If { condition, then: vec![Stmt::Store { access, value }], otherwise: Vec::new() }
}
