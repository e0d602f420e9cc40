//! Names for what passes add to a kernel.

use std::collections::{HashMap, HashSet};

use crate::{Arg, Kernel, Stmt};

/// The names in a kernel. A name that is taken gets another number: `x`, `x_2`, `x_3`, also from `x_2`.
#[derive(Default)]
pub struct Names {
    taken: HashSet<String>,
    /// Up to where numbers are taken, by what stands before them.
    numbers: HashMap<String, u32>,
}

impl Names {
    pub fn of(kernel: &Kernel) -> Names {
        let mut names = names_of(kernel);
        // What is known of a variable that is no longer there must not be taken for something about a new one.
        names.extend(kernel.facts.vars().iter().map(ToString::to_string));
        Names { taken: names.into_iter().collect(), numbers: HashMap::new() }
    }

    /// The wanted name, or one like it that nothing has.
    pub fn fresh(&mut self, wanted: &str) -> String {
        if self.taken.insert(wanted.to_string()) {
            return wanted.to_string();
        }
        let stem = without_number(wanted);
        let number = self.numbers.entry(stem.to_string()).or_insert(1);
        loop {
            *number += 1;
            let name = format!("{stem}_{number}");
            if self.taken.insert(name.clone()) {
                return name;
            }
        }
    }
}

/// The names of arguments, arrays, variables and loops, in the order of the kernel.
pub(crate) fn names_of(kernel: &Kernel) -> Vec<String> {
    let mut names = Vec::new();
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
            Stmt::Declare { var, .. } => names.push(var.name.clone()),
            Stmt::Index { var, .. } | Stmt::Place { var, .. } => names.push(var.to_string()),
            Stmt::Loop(l) => names.push(l.var.to_string()),
            Stmt::Comment(_)
            | Stmt::Assign { .. }
            | Stmt::Store { .. }
            | Stmt::If { .. }
            | Stmt::Stop(_)
            | Stmt::Barrier(_) => {}
        });
    }
    names
}

/// A name without the number at its end, or several of them.
fn without_number(name: &str) -> &str {
    match name.rsplit_once('_') {
        Some((stem, number))
            if !stem.is_empty()
                && !number.is_empty()
                && number.bytes().all(|b| b.is_ascii_digit()) =>
        {
            without_number(stem)
        }
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use lift_ir::{Facts, Nat, Range, Var};

    use super::Names;
    use crate::{Kernel, Launch, Runs};

    #[test]
    fn the_first_number_that_is_free_is_taken() {
        let mut names = Names::default();
        let mut fresh = |wanted: &str| names.fresh(wanted);
        assert_eq!(fresh("x_3"), "x_3");
        assert_eq!(["x", "x", "x", "x"].map(&mut fresh), ["x", "x_2", "x_4", "x_5"]);
    }

    #[test]
    fn numbers_do_not_pile_up() {
        let mut names = Names::default();
        let mut fresh = |wanted: &str| names.fresh(wanted);
        assert_eq!(
            ["x_2", "x_2", "x", "x_7_2", "x_7_2"].map(&mut fresh),
            ["x_2", "x_3", "x", "x_7_2", "x_4"]
        );
        assert_eq!(["_2", "_2"].map(&mut fresh), ["_2", "_2_2"]);
        assert_eq!(["x_", "x_"].map(&mut fresh), ["x_", "x__2"]);
    }

    /// Facts go by names: what was known of the old variable would be taken to hold for the new one.
    #[test]
    fn a_variable_that_only_facts_know_has_its_name() {
        let mut facts = Facts::new();
        let [gone, size] = ["l_2", "N"].map(Var::named);
        facts.declare(&gone, Range::below(Nat::var(&size)));
        let kernel = Kernel {
            name: "f".to_string(),
            args: Vec::new(),
            locals: Vec::new(),
            privates: Vec::new(),
            body: Vec::new(),
            launch: Launch::default(),
            wide_indices: false,
            facts,
            runs: Runs::Loops,
        };
        let mut names = Names::of(&kernel);
        assert_eq!(["l", "l", "N"].map(|n| names.fresh(n)), ["l", "l_3", "N_2"]);
    }
}
