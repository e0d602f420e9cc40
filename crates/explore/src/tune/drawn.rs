//! Forms of a program at random, for whoever wants to know how they differ.

use std::collections::HashSet;

use super::search::{Random, Search};
use super::search_space::LiveSpace;
use crate::candidate::{Candidate, Goal};
use crate::deadline::Deadline;
use crate::parameters::Bounds;
use crate::space::Space;

/// How many configurations in a row may come to nothing.
const PATIENCE: usize = 200;

/// So many low-level forms as a random search draws them, no two with the same kernels, fewer where there are no more or there
/// is no time; the same for the same seed.
pub fn drawn(
    space: &Space,
    goal: &Goal,
    bounds: &Bounds,
    count: usize,
    seed: u64,
    deadline: Deadline,
) -> Vec<Candidate> {
    let programs = LiveSpace::new(space, goal, bounds, 0.0, deadline);
    let mut search = Random::new(seed);
    let (mut forms, mut kernels) = (Vec::new(), HashSet::new());
    let mut nothing = 0;
    while forms.len() < count && nothing < PATIENCE {
        let Some(configuration) = search.next(&programs) else { break };
        let made = programs.candidate(&configuration);
        match made.filter(|candidate| kernels.insert(candidate.kernel_hash.clone())) {
            Some(candidate) => {
                forms.push(candidate);
                nothing = 0;
            }
            None => nothing += 1,
        }
    }
    forms
}

#[cfg(test)]
mod tests {
    use lift_model::features::Machine;
    use lift_runtime::Language;

    use super::*;
    use crate::space::algorithms::Limits;
    use crate::space::everything;

    #[test]
    fn forms_differ_and_a_seed_decides_them() {
        let text = "def f[N](x: [f32; N]) -> [f32; N] = x |> map(\\a -> a + 1.0);";
        let checked = lift_syntax::check_text("f.lift", text);
        let def = checked.program.entry().expect("a definition");
        let sizes: crate::parameters::Values = [("N".to_string(), 4096)].into();
        let limits = Limits { depth: 1, ..Limits::default() };
        let goal = Goal { sizes, language: Language::OpenCl, machine: Machine::default() };
        let space = everything(def, &goal.sizes, goal.target(), &limits).expect("can be read");
        let bounds = Bounds::default();
        let of = |seed| -> Vec<String> {
            let forms = drawn(&space, &goal, &bounds, 5, seed, Deadline::NEVER);
            forms.into_iter().map(|form| form.text).collect()
        };
        let first = of(1);
        assert_eq!(first.iter().collect::<HashSet<_>>().len(), 5, "{first:?}");
        assert_eq!(first, of(1));
        assert_ne!(first, of(2));
        for form in &first {
            assert!(!lift_syntax::check_text("form.lift", form).has_errors(), "{form}");
        }
    }
}
