//! Variables that only repeat another, or a constant.
//!
//! Before: `float x = acc_0; float y = ys_1; acc_0 = x + u * y;`
//! After: `acc_0 = acc_0 + u * ys_1;`
//!
//! A copy stands for its source wherever the source still has the value it was copied with.

use std::collections::HashMap;

use lift_ir::Var;
use lift_kernel::{Expr, Kernel, Stmt, Variable};

pub(crate) fn remove(kernel: &mut Kernel) {
    let body = std::mem::take(&mut kernel.body);
    kernel.body = block(body);
}

fn block(stmts: Vec<Stmt>) -> Vec<Stmt> {
    let mentions = Mentions::of(&stmts);
    let mut replaced: HashMap<Var, Expr> = HashMap::new();
    let mut made = Vec::with_capacity(stmts.len());
    for (at, mut stmt) in stmts.into_iter().enumerate() {
        if !replaced.is_empty() {
            replace_in(&mut stmt, &replaced);
        }
        if let Stmt::Declare { var, value: Some(value) } = &stmt
            && let Some(source) = copied(value)
            && mentions.last(at, var, &source)
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

/// Where in a block variables are read and written, by the number of the statement that does it or has it inside.
/// Of the variables that are copies there or are copied.
#[derive(Default)]
struct Mentions {
    of: HashMap<Var, Mention>,
    /// Whether a statement has none inside.
    is_plain: Vec<bool>,
}

#[derive(Default)]
struct Mention {
    /// The last statement that reads the variable.
    read: Option<usize>,
    /// All that write it, in order.
    written: Vec<usize>,
}

impl Mentions {
    fn of(stmts: &[Stmt]) -> Mentions {
        let mut mentions = Mentions::default();
        for stmt in stmts {
            mentions.want(stmt);
        }
        if mentions.of.is_empty() {
            return mentions;
        }
        for (at, stmt) in stmts.iter().enumerate() {
            mentions.is_plain.push(stmt.blocks().is_empty());
            stmt.each(&mut |s| mentions.note(at, s));
        }
        mentions
    }

    /// Notes that it matters where a variable that is declared as a copy is used, and its source.
    fn want(&mut self, stmt: &Stmt) {
        let Stmt::Declare { var, value: Some(value) } = stmt else { return };
        let Some(source) = copied(value) else { return };
        self.of.insert(var.id.clone(), Mention::default());
        if let Source::Variable(source) = source {
            self.of.insert(source.id.clone(), Mention::default());
        }
    }

    fn note(&mut self, at: usize, stmt: &Stmt) {
        if let Stmt::Assign { var, .. } = stmt
            && let Some(mention) = self.of.get_mut(&var.id)
        {
            mention.written.push(at);
        }
        for value in stmt.values() {
            value.each(&mut |e| {
                if let Expr::Var(var) = e
                    && let Some(mention) = self.of.get_mut(&var.id)
                {
                    mention.read = Some(at);
                }
            });
        }
    }

    fn written_after(&self, at: usize, var: &Var) -> &[usize] {
        let all = self.of.get(var).map(|m| m.written.as_slice()).unwrap_or_default();
        &all[all.partition_point(|w| *w <= at)..]
    }

    /// Whether nothing changes the copy made at a place or its source until the copy is read for the last time.
    fn last(&self, at: usize, copy: &Variable, source: &Source) -> bool {
        if !self.written_after(at, &copy.id).is_empty() {
            return false;
        }
        let last = self.of.get(&copy.id).and_then(|m| m.read).filter(|last| *last > at);
        let (Some(last), Source::Variable(source)) = (last, source) else { return true };
        // A statement reads before it writes; one with statements inside may do it again.
        let mut until = self.written_after(at, &source.id).iter().take_while(|w| **w <= last);
        until.all(|w| *w == last && self.is_plain[last])
    }
}

/// Puts values in the place of variables, in a statement and in those inside it.
fn replace_in(stmt: &mut Stmt, by: &HashMap<Var, Expr>) {
    stmt.values_mut().for_each(|value| replace(value, by));
    for inner in stmt.blocks_mut() {
        inner.iter_mut().for_each(|stmt| replace_in(stmt, by));
    }
}

fn replace(expr: &mut Expr, by: &HashMap<Var, Expr>) {
    if let Expr::Var(var) = expr {
        if let Some(value) = by.get(&var.id) {
            *expr = value.clone();
        }
        return;
    }
    expr.parts_mut().into_iter().for_each(|part| replace(part, by));
}
