//! Common-subexpression elimination over loads and arithmetic, in straight-line code.
//!
//! Before: `a = a + x[i]; b = b + x[i];`
//! After: `float x_1 = x[i]; a = a + x_1; b = b + x_1;`
//!
//! A load is available until something is stored to its array, arithmetic until a variable in it is assigned. A value under
//! a condition uses what is available and makes nothing available: it might not be allowed elsewhere. C compilers do the
//! same, but not for loads with stores between them: in parallel loops GCC forgets which pointers are `restrict`.

use std::collections::BTreeSet;

use lift_ir::{BinaryOp, QuickMap, Var};
use lift_kernel::{Buffer, BufferId, Expr, Ids, Kernel, Stmt, Variable};

use crate::passes::copy_propagation;

/// Operations that arithmetic has at least: less is written again.
const OPERATIONS: usize = 2;

pub(crate) fn run(kernel: &mut Kernel, globals: &[Buffer]) {
    let arrays = globals.iter().chain(&kernel.locals).chain(&kernel.privates);
    let names = arrays.map(|buffer| (buffer.id, buffer.name.clone())).collect();
    let mut assigned = BTreeSet::new();
    kernel.body.iter().for_each(|stmt| {
        stmt.each(&mut |s| {
            if let Stmt::Assign { var, .. } = s {
                assigned.insert(var.id.clone());
            }
        });
    });
    let pass = Pass { ids: kernel.ids.clone(), names, assigned };
    let body = std::mem::take(&mut kernel.body);
    kernel.body = pass.block(body);
    // Variables that were declared with what has another name now.
    copy_propagation::remove(kernel);
}

struct Pass {
    ids: Ids,
    /// What arrays are called.
    names: QuickMap<BufferId, String>,
    /// The variables that change after they are declared.
    assigned: BTreeSet<Var>,
}

impl Pass {
    fn block(&self, stmts: Vec<Stmt>) -> Vec<Stmt> {
        let (mut made, mut run) = (Vec::with_capacity(stmts.len()), Vec::new());
        for mut stmt in stmts {
            if stmt.is_straight_line() {
                run.push(stmt);
                continue;
            }
            self.straight(std::mem::take(&mut run), &mut made);
            for inner in stmt.blocks_mut() {
                *inner = self.block(std::mem::take(inner));
            }
            made.push(stmt);
        }
        self.straight(run, &mut made);
        made
    }

    /// Statements that are done one after the other, all of them.
    fn straight(&self, run: Vec<Stmt>, made: &mut Vec<Stmt>) {
        let (uses, visits) = Counts::of(&run);
        if uses.iter().all(|uses| *uses < 2) {
            return made.extend(run);
        }
        let names = vec![None; uses.len()];
        let mut named = Naming { pass: self, uses, visits: visits.into_iter(), names, made };
        for mut stmt in run {
            named.stmt(&mut stmt);
            named.made.push(stmt);
        }
    }
}

/// The values that there are at a point of straight code, by their numbers.
#[derive(Default)]
struct Here<'e> {
    values: QuickMap<&'e Expr, usize>,
    /// Those that are others once a variable or an array changes.
    by_variable: QuickMap<&'e Var, Vec<&'e Expr>>,
    by_array: QuickMap<BufferId, Vec<&'e Expr>>,
}

impl<'e> Here<'e> {
    fn add(&mut self, value: &'e Expr, number: usize) {
        value.each(&mut |e| match e {
            Expr::Var(var) => self.by_variable.entry(&var.id).or_default().push(value),
            Expr::Load(access, _) => self.by_array.entry(access.buffer).or_default().push(value),
            _ => {}
        });
        self.values.insert(value, number);
    }

    /// What there still is after a statement.
    fn after(&mut self, stmt: &Stmt) {
        let gone = match stmt {
            Stmt::Assign { var, .. } => self.by_variable.remove(&var.id),
            Stmt::Store { access, .. } | Stmt::Atomic { access, .. } => {
                self.by_array.remove(&access.buffer)
            }
            _ => None,
        };
        for value in gone.into_iter().flatten() {
            self.values.remove(value);
        }
    }
}

/// A value on the way through straight code, before its parts.
#[derive(Clone, Copy)]
enum Visit {
    /// It is written where it stands.
    Plain,
    /// It has this number, and is evaluated for the first time since it is what it is.
    First(usize),
    /// It is there already; its parts are not visited.
    Again(usize),
}

/// How often values are used that stay the same meanwhile, by their number in the order they are first evaluated.
#[derive(Default)]
struct Counts<'e> {
    here: Here<'e>,
    uses: Vec<usize>,
    visits: Vec<Visit>,
}

impl<'e> Counts<'e> {
    /// The uses of the values of some statements, and all visits on the way.
    fn of(run: &'e [Stmt]) -> (Vec<usize>, Vec<Visit>) {
        let mut counts = Counts::default();
        for stmt in run {
            stmt.values().for_each(|value| counts.value(value, true));
            counts.here.after(stmt);
        }
        (counts.uses, counts.visits)
    }

    fn value(&mut self, value: &'e Expr, always: bool) {
        if let Some(number) = self.here.values.get(value) {
            self.uses[*number] += 1;
            return self.visits.push(Visit::Again(*number));
        }
        let at = self.visits.len();
        self.visits.push(Visit::Plain);
        each_part(value, always, &mut |part, always| self.value(part, always));
        if always && is_worth_a_name(value) {
            self.here.add(value, self.uses.len());
            self.visits[at] = Visit::First(self.uses.len());
            self.uses.push(1);
        }
    }
}

/// The same walk again, in which values that are used again get a variable.
struct Naming<'p> {
    pass: &'p Pass,
    uses: Vec<usize>,
    visits: std::vec::IntoIter<Visit>,
    /// What values are called, by their numbers.
    names: Vec<Option<Variable>>,
    made: &'p mut Vec<Stmt>,
}

impl Naming<'_> {
    fn stmt(&mut self, stmt: &mut Stmt) {
        if let Stmt::Declare { var, value: Some(value) } = stmt
            && !self.pass.assigned.contains(&var.id)
        {
            // It has a name.
            return self.value(value, Some(var));
        }
        stmt.values_mut().for_each(|value| self.value(value, None));
    }

    fn value(&mut self, value: &mut Expr, name: Option<&Variable>) {
        let visit = self.visits.next().unwrap_or(Visit::Plain);
        if let Visit::Again(number) = visit {
            if let Some(var) = &self.names[number] {
                *value = Expr::Var(var.clone());
            }
            return;
        }
        value.parts_mut().into_iter().for_each(|part| self.value(part, None));
        if let Visit::First(number) = visit
            && self.uses[number] > 1
        {
            self.names[number] = Some(match name {
                Some(var) => var.clone(),
                None => self.declared(value),
            });
        }
    }

    /// A variable with this value, which it stands for.
    fn declared(&mut self, value: &mut Expr) -> Variable {
        let name = match value {
            Expr::Load(access, _) => self.pass.names.get(&access.buffer).map_or("", String::as_str),
            _ => "part",
        };
        let var = Variable { id: self.pass.ids.fresh(name), ty: value.ty() };
        let value = std::mem::replace(value, Expr::Var(var.clone()));
        self.made.push(Stmt::Declare { var: var.clone(), value: Some(value) });
        var
    }
}

/// Whether a value takes longer to compute than to keep.
fn is_worth_a_name(value: &Expr) -> bool {
    match value {
        Expr::Load(..) => true,
        // A load that is there under a condition, as those of windows are at the border.
        Expr::Select(..) => loads(value) || operations(value) >= OPERATIONS,
        Expr::Literal(_)
        | Expr::Var(_)
        | Expr::Index(..)
        | Expr::Test(_)
        | Expr::Extern(..)
        | Expr::Shuffle(..) => false,
        Expr::Unary(..)
        | Expr::Binary(..)
        | Expr::Math(..)
        | Expr::Cast(..)
        | Expr::Vector(..)
        | Expr::Splat(..)
        | Expr::Lane(..) => operations(value) >= OPERATIONS,
    }
}

fn loads(value: &Expr) -> bool {
    let mut found = false;
    value.each(&mut |e| found |= matches!(e, Expr::Load(..)));
    found
}

fn operations(value: &Expr) -> usize {
    let mut count = 0;
    value.each(&mut |e| {
        count += match e {
            Expr::Math(..) | Expr::Binary(BinaryOp::Div | BinaryOp::Rem, ..) => OPERATIONS,
            Expr::Unary(..) | Expr::Binary(..) | Expr::Cast(..) | Expr::Select(..) => 1,
            _ => 0,
        };
    });
    count
}

/// Whether the part of a value at a place is evaluated whenever the value is.
fn is_evaluated(value: &Expr, place: usize) -> bool {
    match value {
        Expr::Select(..) | Expr::Binary(BinaryOp::And | BinaryOp::Or, ..) => place == 0,
        _ => true,
    }
}

fn each_part<'e>(value: &'e Expr, always: bool, visit: &mut dyn FnMut(&'e Expr, bool)) {
    for (place, part) in value.parts().into_iter().enumerate() {
        visit(part, always && is_evaluated(value, place));
    }
}
