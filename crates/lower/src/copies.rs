//! Variables that only repeat another, or a constant.
//!
//! Before: `float x = acc_0; float y = ys_1; acc_0 = x + u * y;`
//! After: `acc_0 = acc_0 + u * ys_1;`
//!
//! A copy stands for its source wherever the source still has the value it was copied with.

use std::collections::{BTreeMap, BTreeSet};

use lift_kernel::{Edit, Expr, Kernel, Stmt, Variable};

pub(crate) fn remove(kernel: &mut Kernel) {
    let body = std::mem::take(&mut kernel.body);
    kernel.body = block(body);
}

fn block(stmts: Vec<Stmt>) -> Vec<Stmt> {
    let facts: Vec<Mentions> = stmts.iter().map(Mentions::of).collect();
    let mut replaced: BTreeMap<String, Expr> = BTreeMap::new();
    let mut made = Vec::with_capacity(stmts.len());
    for (at, mut stmt) in stmts.into_iter().enumerate() {
        stmt = Replaced { by: &replaced }.stmt_parts(&stmt);
        if let Stmt::Declare { var, value: Some(value) } = &stmt
            && let Some(source) = copied(value)
            && lasts(var, &source, &facts[at + 1..])
        {
            replaced.insert(var.name.clone(), value.clone());
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

/// Whether nothing changes the copy or its source until the copy is read for the last time.
fn lasts(copy: &Variable, source: &Source, after: &[Mentions]) -> bool {
    let last = after.iter().rposition(|m| m.read.contains(&copy.name));
    if after.iter().any(|m| m.written.contains(&copy.name)) {
        return false;
    }
    let (Some(last), Source::Variable(source)) = (last, source) else { return true };
    after.iter().take(last + 1).enumerate().all(|(i, m)| {
        // A statement reads before it writes; one with statements inside may do it again.
        !m.written.contains(&source.name) || (i == last && m.is_plain)
    })
}

/// The variables that a statement and those inside it read and write.
struct Mentions {
    read: BTreeSet<String>,
    written: BTreeSet<String>,
    is_plain: bool,
}

impl Mentions {
    fn of(stmt: &Stmt) -> Mentions {
        let (mut read, mut written) = (BTreeSet::new(), BTreeSet::new());
        stmt.each(&mut |s| {
            if let Stmt::Assign { var, .. } = s {
                written.insert(var.name.clone());
            }
            for value in s.values() {
                value.each(&mut |e| {
                    if let Expr::Var(var) = e {
                        read.insert(var.name.clone());
                    }
                });
            }
        });
        Mentions { read, written, is_plain: stmt.blocks().is_empty() }
    }
}

struct Replaced<'a> {
    by: &'a BTreeMap<String, Expr>,
}

impl Edit for Replaced<'_> {
    fn expr(&mut self, expr: &Expr) -> Expr {
        match expr {
            Expr::Var(var) => self.by.get(&var.name).unwrap_or(expr).clone(),
            _ => self.expr_parts(expr),
        }
    }
}
