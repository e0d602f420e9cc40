//! What variables, buffers and functions of a kernel are called where it is printed.
//!
//! Each has the name its author or a pass gave it, as targets take it ([`target_name`]), unless something that is
//! visible there has it: `x`, `x_2`, `x_3`. Two loops beside each other both go over `i`.

use std::collections::{HashMap, HashSet};

use lift_ir::{Nat, Var};

use crate::names::{is_harmless, target_name};
use crate::{Arg, BufferId, Expr, Kernel, Stmt};

#[derive(Debug)]
pub(crate) struct Written {
    variables: HashMap<Var, String>,
    buffers: HashMap<BufferId, String>,
    functions: HashMap<String, String>,
}

impl Written {
    pub fn of(kernel: &Kernel) -> Written {
        let variables = HashMap::new();
        let written = Written { variables, buffers: HashMap::new(), functions: HashMap::new() };
        let mut scope = Scope { written, taken: HashSet::new(), visible: Vec::new() };
        scope.take(kernel.name.clone());
        scope.kernel(kernel);
        scope.block(&kernel.body);
        scope.written
    }

    /// What is no variable of the kernel, as the parameter of a helper, is written as it is.
    pub fn variable<'w>(&'w self, var: &'w Var) -> &'w str {
        self.variables.get(var).map_or(var.name(), String::as_str)
    }

    pub fn buffer(&self, id: BufferId) -> &str {
        self.buffers.get(&id).map_or("", String::as_str)
    }

    pub fn function<'w>(&'w self, name: &'w str) -> &'w str {
        self.functions.get(name).map_or(name, String::as_str)
    }
}

/// The names that are visible at a place.
struct Scope {
    written: Written,
    taken: HashSet<String>,
    /// Those of `taken`, in the order they came.
    visible: Vec<String>,
}

/// What a kernel has from its beginning to its end.
enum Whole<'k> {
    Variable(&'k Var),
    Buffer(BufferId, &'k str),
    Function(&'k str),
}

impl Whole<'_> {
    fn name(&self) -> &str {
        match self {
            Whole::Variable(var) => var.name(),
            Whole::Buffer(_, name) | Whole::Function(name) => name,
        }
    }
}

impl Scope {
    fn take(&mut self, name: String) -> bool {
        let is_free = self.taken.insert(name.clone());
        if is_free {
            self.visible.push(name);
        }
        is_free
    }

    /// The wanted name as targets take it, with a number where something visible has it.
    fn chosen(&mut self, wanted: &str) -> String {
        let plain = target_name(wanted);
        let (stem, end) = match plain.strip_suffix('_') {
            Some(stem) => (stem, "_"),
            None => (plain.as_str(), ""),
        };
        let mut name = plain.clone();
        let mut number = 1;
        while !self.take(name.clone()) {
            number += 1;
            name = format!("{stem}_{number}{end}");
        }
        name
    }

    fn bind(&mut self, var: &Var) {
        let name = self.chosen(var.name());
        self.written.variables.insert(var.clone(), name);
    }

    /// Arguments, arrays and functions. What may stay as it is has its name before anything else gets one.
    fn kernel(&mut self, kernel: &Kernel) {
        let mut whole: Vec<Whole<'_>> = Vec::new();
        for arg in &kernel.args {
            whole.push(match arg {
                Arg::Buffer(buffer, _) => Whole::Buffer(buffer.id, &buffer.name),
                Arg::Scalar(var) => Whole::Variable(&var.id),
                Arg::Size(var) => Whole::Variable(var),
            });
        }
        let arrays = kernel.locals.iter().chain(&kernel.privates);
        whole.extend(arrays.map(|b| Whole::Buffer(b.id, &b.name)));
        whole.extend(functions(&kernel.body).into_iter().map(Whole::Function));
        let (kept, others): (Vec<_>, Vec<_>) =
            whole.into_iter().partition(|part| is_harmless(part.name()));
        for part in kept.into_iter().chain(others) {
            let name = self.chosen(part.name());
            match part {
                Whole::Variable(var) => drop(self.written.variables.insert(var.clone(), name)),
                Whole::Buffer(id, _) => drop(self.written.buffers.insert(id, name)),
                Whole::Function(own) => drop(self.written.functions.insert(own.to_owned(), name)),
            }
        }
    }

    fn block(&mut self, block: &[Stmt]) {
        let outside = self.visible.len();
        block.iter().for_each(|stmt| self.stmt(stmt));
        self.leave(outside);
    }

    fn leave(&mut self, outside: usize) {
        for name in self.visible.drain(outside..) {
            self.taken.remove(&name);
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Declare { var, .. } => self.bind(&var.id),
            Stmt::Index { var, .. } | Stmt::ThreadId { var, .. } => self.bind(var),
            // The body of a loop that goes around once may stand in the block around it, without the variable.
            Stmt::Loop(l) if l.extent == Nat::ONE => {
                let outside = self.visible.len();
                self.bind(&l.var);
                l.body.iter().for_each(|stmt| self.stmt(stmt));
                let own = self.visible.remove(outside);
                self.taken.remove(&own);
            }
            Stmt::Loop(l) => {
                let outside = self.visible.len();
                self.bind(&l.var);
                l.body.iter().for_each(|stmt| self.stmt(stmt));
                self.leave(outside);
            }
            Stmt::If { then, otherwise, .. } => {
                self.block(then);
                self.block(otherwise);
            }
            Stmt::Comment(_)
            | Stmt::Assign { .. }
            | Stmt::Store { .. }
            | Stmt::Atomic { .. }
            | Stmt::Barrier(_)
            | Stmt::Stop(_) => {}
        }
    }
}

/// The functions that statements call and that are target code, each once.
fn functions(block: &[Stmt]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for stmt in block {
        stmt.each(&mut |s| {
            for value in s.values() {
                value.each(&mut |e| {
                    if let Expr::Extern(function, _) = e
                        && !names.contains(&function.name.as_str())
                    {
                        names.push(&function.name);
                    }
                });
            }
        });
    }
    names
}
