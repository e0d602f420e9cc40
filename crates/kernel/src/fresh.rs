//! Names for what passes add to a kernel.

use std::collections::BTreeSet;

use crate::names::safe_name;
use crate::{Arg, Kernel, Stmt};

/// The names in a kernel.
pub struct Names(BTreeSet<String>);

impl Names {
    pub fn of(kernel: &Kernel) -> Names {
        let mut names = BTreeSet::from([kernel.name.clone()]);
        for arg in &kernel.args {
            names.insert(match arg {
                Arg::Buffer(buffer, _) => buffer.name.clone(),
                Arg::Scalar(var) => var.name.clone(),
                Arg::Size(var) => var.to_string(),
            });
        }
        names.extend(kernel.locals.iter().chain(&kernel.privates).map(|b| b.name.clone()));
        for stmt in &kernel.body {
            stmt.each(&mut |s| match s {
                Stmt::Declare { var, .. } => {
                    names.insert(var.name.clone());
                }
                Stmt::Index { var, .. } | Stmt::Place { var, .. } => {
                    names.insert(var.to_string());
                }
                Stmt::Loop(l) => {
                    names.insert(l.var.to_string());
                }
                Stmt::Comment(_)
                | Stmt::Assign { .. }
                | Stmt::Store { .. }
                | Stmt::If { .. }
                | Stmt::Barrier(_) => {}
            });
        }
        Names(names)
    }

    /// The wanted name, or one like it that nothing has.
    pub fn fresh(&mut self, wanted: &str) -> String {
        let wanted = safe_name(wanted);
        let mut name = wanted.clone();
        let mut number = 1;
        while !self.0.insert(name.clone()) {
            number += 1;
            name = format!("{wanted}_{number}");
        }
        name
    }
}
