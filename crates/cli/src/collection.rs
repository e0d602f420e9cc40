//! Programs of the suites, at sizes that are asked for.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use lift_bench::suite::{self, Problem, Program};
use lift_clock::decide::{grown, spread_out};
use lift_ir::Def;

use crate::report::Failure;

/// A program at some sizes.
pub struct Pair {
    pub program: String,
    pub def: Def,
    pub text: String,
    /// Its largest argument has about two to this power elements.
    pub power: u32,
    pub sizes: BTreeMap<String, i128>,
}

/// The first program of every problem at every size, each once, in an order spread over all.
pub fn pairs(folder: &Path, only: &[String], powers: &[u32]) -> Result<Vec<Pair>, Failure> {
    let suites = suite::read_all(folder).map_err(Failure::of)?;
    let problems: Vec<&Problem> = suites.iter().flat_map(|s| &s.problems).collect();
    let named = |name: &str, problem: &Problem| {
        problem.name == name || problem.programs.iter().any(|p| p.name() == name)
    };
    for name in only {
        if !problems.iter().any(|problem| named(name, problem)) {
            return Err(Failure::message(format!(
                "no suite has a program or problem `{name}`; `lift bench` lists the suites"
            )));
        }
    }
    let mut seen = BTreeSet::new();
    let mut all = Vec::new();
    for problem in problems {
        let is_wanted = |p: &&Program| {
            only.is_empty() || only.iter().any(|n| *n == problem.name || *n == p.name())
        };
        let program = match only.is_empty() {
            true => problem.programs.first(),
            false => problem.programs.iter().find(is_wanted),
        };
        let Some(program) = program else { continue };
        if seen.insert((program.file.clone(), program.entry.clone())) {
            at_all_sizes(program, problem, powers, &mut all)?;
        }
    }
    let mut all: Vec<Option<Pair>> = all.into_iter().map(Some).collect();
    Ok(spread_out(all.len()).into_iter().filter_map(|k| all[k].take()).collect())
}

fn at_all_sizes(
    program: &Program,
    problem: &Problem,
    powers: &[u32],
    all: &mut Vec<Pair>,
) -> Result<(), Failure> {
    let Some(first) = problem.sizes.first() else { return Ok(()) };
    let base: BTreeMap<String, i128> =
        first.sizes.iter().map(|(name, size)| (name.clone(), i128::from(*size))).collect();
    // What a small problem has as much of is no size to grow.
    let fixed = |name: &str| problem.quick.sizes.get(name) == first.sizes.get(name);
    let shown = program.file.display();
    let text = std::fs::read_to_string(&program.file)
        .map_err(|e| Failure::message(format!("cannot read {shown}: {e}")))?;
    let checked = lift_syntax::check_text(&shown.to_string(), &text);
    let def = match &program.entry {
        Some(name) => checked.program.def(name),
        None => checked.program.entry(),
    };
    let def = def.ok_or_else(|| Failure::message(format!("{shown} has no such program")))?;
    for power in powers {
        let Some(sizes) = grown(def, &base, &fixed, f64::from(*power).exp2()) else { continue };
        let (program, def, text, power) = (program.name(), def.clone(), text.clone(), *power);
        all.push(Pair { program, def, text, power, sizes });
    }
    Ok(())
}
