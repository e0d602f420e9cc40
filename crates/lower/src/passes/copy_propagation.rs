//! Copy propagation: a variable that repeats another, or a constant, is replaced by it.
//!
//! Before: `float x = acc_0; float y = ys_1; acc_0 = x + u * y;`
//! After: `acc_0 = acc_0 + u * ys_1;`
//!
//! Only while the source still has the value that was copied.

use lift_ir::{QuickMap, QuickSet, Var};
use lift_kernel::{Expr, Kernel, Stmt, Variable};

use crate::effects::Variables;

pub(crate) fn remove(kernel: &mut Kernel) {
    let body = std::mem::take(&mut kernel.body);
    kernel.body = block(body);
}

fn block(stmts: Vec<Stmt>) -> Vec<Stmt> {
    let values = Values::of(&stmts);
    let mut replaced: QuickMap<Var, Expr> = QuickMap::default();
    let mut made = Vec::with_capacity(stmts.len());
    for (at, mut stmt) in stmts.into_iter().enumerate() {
        if !replaced.is_empty() {
            replace_in(&mut stmt, &replaced);
        }
        if let Stmt::Declare { var, value: Some(value) } = &stmt
            && let Some(source) = copied(value)
            && values.last(at, var, &source)
        {
            replaced.insert(var.id.clone(), value.clone());
            continue;
        }
        for inner in stmt.blocks_mut() {
            *inner = block(std::mem::take(inner));
        }
        made.push(stmt);
    }
    made
}

/// What a value that is cheap to write again depends on.
enum Source<'v> {
    Nothing,
    Variable(&'v Variable),
}

fn copied(value: &Expr) -> Option<Source<'_>> {
    match value {
        Expr::Literal(_) => Some(Source::Nothing),
        Expr::Var(var) => Some(Source::Variable(var)),
        Expr::Lane(vector, _) => copied(vector),
        _ => None,
    }
}

/// How long the variables of a block that are copies, or are copied, keep their values.
struct Values {
    variables: Variables,
    /// Whether a statement has none inside.
    is_plain: Vec<bool>,
}

impl Values {
    fn of(stmts: &[Stmt]) -> Values {
        let mut wanted = QuickSet::default();
        for stmt in stmts {
            let Stmt::Declare { var, value: Some(value) } = stmt else { continue };
            match copied(value) {
                Some(Source::Variable(source)) => wanted.extend([&var.id, &source.id]),
                Some(Source::Nothing) => wanted.extend([&var.id]),
                None => {}
            }
        }
        if wanted.is_empty() {
            return Values { variables: Variables::default(), is_plain: Vec::new() };
        }
        let variables = Variables::among(stmts, &|var| wanted.contains(var));
        Values { variables, is_plain: stmts.iter().map(|s| s.blocks().is_empty()).collect() }
    }

    fn assigned_after(&self, at: usize, var: &Var) -> &[usize] {
        let all = self.variables.get(var).map(|m| m.assigned.as_slice()).unwrap_or_default();
        &all[all.partition_point(|w| *w <= at)..]
    }

    /// Whether nothing changes the copy made at a place or its source until the copy is read for the last time.
    fn last(&self, at: usize, copy: &Variable, source: &Source) -> bool {
        if !self.assigned_after(at, &copy.id).is_empty() {
            return false;
        }
        let read = self.variables.get(&copy.id).and_then(|m| m.read.last().copied());
        let last = read.filter(|last| *last > at);
        let (Some(last), Source::Variable(source)) = (last, source) else { return true };
        // A statement reads before it writes; one with statements inside may do it again.
        let mut until = self.assigned_after(at, &source.id).iter().take_while(|w| **w <= last);
        until.all(|w| *w == last && self.is_plain[last])
    }
}

/// Puts values in the place of variables, in a statement and in those inside it.
fn replace_in(stmt: &mut Stmt, by: &QuickMap<Var, Expr>) {
    stmt.values_mut().for_each(|value| replace(value, by));
    for inner in stmt.blocks_mut() {
        inner.iter_mut().for_each(|stmt| replace_in(stmt, by));
    }
}

fn replace(expr: &mut Expr, by: &QuickMap<Var, Expr>) {
    if let Expr::Var(var) = expr {
        if let Some(value) = by.get(&var.id) {
            *expr = value.clone();
        }
        return;
    }
    expr.parts_mut().into_iter().for_each(|part| replace(part, by));
}
