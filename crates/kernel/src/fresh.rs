//! Names for what passes add to a kernel.

use std::collections::HashMap;

use crate::names::safe_name;
use crate::{Arg, Kernel, Stmt};

/// The names in a kernel, each with a number up to which names made from it are taken.
#[derive(Default)]
pub struct Names(HashMap<String, u32>);

impl Names {
    pub fn of(kernel: &Kernel) -> Names {
        let mut names = vec![kernel.name.clone()];
        for arg in &kernel.args {
            names.push(match arg {
                Arg::Buffer(buffer, _) => buffer.name.clone(),
                Arg::Scalar(var) => var.name.clone(),
                Arg::Size(var) => var.to_string(),
            });
        }
        names.extend(kernel.locals.iter().chain(&kernel.privates).map(|b| b.name.clone()));
        for stmt in &kernel.body {
            stmt.each(&mut |s| match s {
                Stmt::Declare { var, .. } => {
                    names.push(var.name.clone());
                }
                Stmt::Index { var, .. } | Stmt::Place { var, .. } => {
                    names.push(var.to_string());
                }
                Stmt::Loop(l) => {
                    names.push(l.var.to_string());
                }
                Stmt::Comment(_)
                | Stmt::Assign { .. }
                | Stmt::Store { .. }
                | Stmt::If { .. }
                | Stmt::Barrier(_) => {}
            });
        }
        Names(names.into_iter().map(|name| (name, 1)).collect())
    }

    /// The wanted name, or one like it that nothing has.
    pub fn fresh(&mut self, wanted: &str) -> String {
        // What has been taken is a safe name.
        if let Some(taken) = self.0.get(wanted) {
            return self.numbered(wanted, *taken);
        }
        let safe = safe_name(wanted);
        match self.0.get(&safe) {
            Some(taken) => self.numbered(&safe, *taken),
            None => {
                self.0.insert(safe.clone(), 1);
                safe
            }
        }
    }

    /// The first name made from another that nothing has, where numbers up to one are taken.
    fn numbered(&mut self, from: &str, taken: u32) -> String {
        let mut number = taken + 1;
        let mut name = format!("{from}_{number}");
        while self.0.contains_key(&name) {
            number += 1;
            name = format!("{from}_{number}");
        }
        self.0.insert(name.clone(), 1);
        if let Some(taken) = self.0.get_mut(from) {
            *taken = number;
        }
        name
    }
}

#[cfg(test)]
mod tests {
    use super::Names;

    #[test]
    fn the_first_number_that_is_free_is_taken() {
        let mut names = Names::default();
        let mut fresh = |wanted: &str| names.fresh(wanted);
        assert_eq!(fresh("x_3"), "x_3");
        assert_eq!(["x", "x", "x", "x"].map(&mut fresh), ["x", "x_2", "x_4", "x_5"]);
        assert_eq!(["x_2", "x_2"].map(&mut fresh), ["x_2_2", "x_2_3"]);
    }

    #[test]
    fn reserved_names_are_changed_first() {
        let mut names = Names::default();
        assert_eq!(["kernel", "kernel"].map(|n| names.fresh(n)), ["kernel_", "kernel__2"]);
    }
}
