//! Loops written out.
//!
//! Before: `for (i = 0; i < 4; ++i) acc[i] = 0;` over an array in private memory.
//! After: `acc[0] = 0; … acc[3] = 0;`, so that every index is a constant and [`registers`](crate::registers)
//! can make variables of the array.
//!
//! Written out are loops that index private arrays, and those the program asks to write out. What would
//! become too long stays a loop, marked for the device's compiler.

use std::collections::BTreeMap;

use lift_ir::{Facts, Nat, Pred, Range, Var};
use lift_kernel::{Access, BufferId, Edit, Expr, Kernel, Loop, LoopKind, Names, Stmt, Variable};

/// Longer loops are left alone: so many registers there are not.
const MAX_ITERATIONS: i128 = 64;

/// Statements a loop may become.
const MAX_STATEMENTS: usize = 1024;

/// Marks the loops that index private arrays, for compilers that write loops out themselves.
pub(crate) fn mark(kernel: &mut Kernel) {
    let private: Vec<BufferId> = kernel.privates.iter().map(|b| b.id).collect();
    if !private.is_empty() {
        mark_block(&mut kernel.body, &private);
    }
}

fn mark_block(stmts: &mut [Stmt], private: &[BufferId]) {
    for stmt in stmts {
        stmt.blocks_mut().into_iter().for_each(|inner| mark_block(inner, private));
        if let Stmt::Loop(l) = stmt
            && l.kind == LoopKind::Seq
            && is_short(l)
            && indexes(&l.body, &l.var, private)
        {
            l.kind = LoopKind::Unroll;
        }
    }
}

/// Writes out the loops that are marked.
pub(crate) fn write_out(kernel: &mut Kernel) {
    let facts = kernel.facts.clone();
    let mut pass = Pass { names: Names::of(kernel), facts };
    kernel.body = pass.block(&kernel.body);
}

struct Pass {
    names: Names,
    facts: Facts,
}

impl Edit for Pass {
    fn stmt(&mut self, stmt: &Stmt, made: &mut Vec<Stmt>) {
        let Stmt::Loop(l) = stmt else {
            let done = self.stmt_parts(stmt);
            made.push(done);
            return;
        };
        let body = self.block(&l.body);
        let count = l.extent.as_int().filter(|_| l.kind == LoopKind::Unroll && is_short(l));
        match count.and_then(|n| usize::try_from(n).ok()) {
            Some(n) if statements(&body) * n <= MAX_STATEMENTS => {
                for i in 0..n {
                    let value = Nat::int(i as i128);
                    let copy = Copy { pass: self, var: &l.var, value, renamed: BTreeMap::new() }
                        .block(&body);
                    made.extend(copy);
                }
            }
            _ => made.push(Stmt::Loop(Loop { body, ..l.clone() })),
        }
    }
}

/// One iteration, with names of its own for what it declares.
struct Copy<'p> {
    pass: &'p mut Pass,
    var: &'p Var,
    value: Nat,
    renamed: BTreeMap<String, String>,
}

impl Copy<'_> {
    fn value_of(&self, v: &Var) -> Option<Nat> {
        if v == self.var {
            return Some(self.value.clone());
        }
        self.renamed.get(&v.to_string()).map(|name| Nat::var(&Var::named(name)))
    }

    fn fresh(&mut self, name: &str) -> String {
        let fresh = self.pass.names.fresh(name);
        self.renamed.insert(name.to_string(), fresh.clone());
        fresh
    }
}

impl Edit for Copy<'_> {
    fn nat(&mut self, nat: &Nat) -> Nat {
        let replaced = nat.substitute(&|v| self.value_of(v));
        if replaced == *nat { replaced } else { self.pass.facts.simplify(&replaced) }
    }

    fn pred(&mut self, pred: &Pred) -> Pred {
        pred.substitute(&|v| self.value_of(v))
    }

    fn variable(&mut self, var: &Variable) -> Variable {
        match self.renamed.get(&var.name) {
            Some(name) => Variable { name: name.clone(), ty: var.ty },
            None => var.clone(),
        }
    }

    fn bound(&mut self, var: &Var) -> Var {
        Var::named(&self.fresh(&var.to_string()))
    }

    fn stmt(&mut self, stmt: &Stmt, made: &mut Vec<Stmt>) {
        if matches!(stmt, Stmt::Comment(_)) && self.value != Nat::ZERO {
            return;
        }
        if let Stmt::Declare { var, value } = stmt {
            let value = value.as_ref().map(|v| self.expr(v));
            let var = Variable { name: self.fresh(&var.name), ty: var.ty };
            made.push(Stmt::Declare { var, value });
            return;
        }
        if let Stmt::Loop(l) = stmt {
            let (extent, var) = (self.nat(&l.extent), self.bound(&l.var));
            self.pass.facts.declare(&var, Range::below(extent.clone()));
            let body = self.block(&l.body);
            made.push(Stmt::Loop(Loop { var, extent, body, ..*l }));
            return;
        }
        let done = self.stmt_parts(stmt);
        made.push(done);
    }
}

fn is_short(l: &Loop) -> bool {
    l.extent.as_int().is_some_and(|n| n <= MAX_ITERATIONS)
}

fn statements(block: &[Stmt]) -> usize {
    let mut count = 0;
    block.iter().for_each(|stmt| stmt.each(&mut |_| count += 1));
    count
}

/// Whether an index into a private array depends on a variable.
fn indexes(stmts: &[Stmt], var: &Var, private: &[BufferId]) -> bool {
    let mut found = false;
    let mut access = |a: &Access| found |= private.contains(&a.buffer) && a.index.mentions(var);
    for stmt in stmts {
        stmt.each(&mut |s| {
            if let Stmt::Store { access: to, .. } = s {
                access(to);
            }
            for value in s.values() {
                value.each(&mut |e| {
                    if let Expr::Load(from, _) = e {
                        access(from);
                    }
                });
            }
        });
    }
    found
}
