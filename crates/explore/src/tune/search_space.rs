//! Search spaces: configurations, at random or near others. A live one makes candidates; a recorded one has been measured.

use std::cell::{Cell, OnceCell};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use fastrand::Rng;
use lift_ir::Def;
use lift_lower::Target;
use lift_model::features::Machine;
use rayon::prelude::*;

use crate::candidate::{Candidate, Goal};
use crate::deadline::Deadline;
use crate::parameters::{Bounds, Choices, Values};
use crate::space::{Space, schedule};

/// A low-level program, by its number, with values for its parameters.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Configuration {
    pub variant: usize,
    pub values: Values,
}

/// What there is to choose from.
pub trait SearchSpace {
    /// Some configuration; nothing where none is found soon.
    fn some(&self, random: &mut Rng) -> Option<Configuration>;

    /// A configuration that is much like this one and has not been tried; nothing where none is found soon.
    fn near(
        &self,
        configuration: &Configuration,
        tried: &HashSet<Configuration>,
        random: &mut Rng,
    ) -> Option<Configuration>;

    /// All configurations of a program, in order; nothing where there is no program of this number.
    fn of_program(&self, variant: usize) -> Option<Vec<Configuration>>;

    /// The features of configurations; nothing for those that cannot be compiled, or that there is no time for.
    fn features(&self, configurations: &[Configuration]) -> Vec<Option<Vec<f64>>>;
}

/// How often something that may not work out is tried.
const ATTEMPTS: usize = 40;

/// One in so many times, another program gets the same values.
const CHANGES_OF_PROGRAM: usize = 4;

/// The programs of a space for a goal, compiled when they are asked for. Programs are drawn round-robin from their
/// origins (strata): recipes and mapped algorithms.
pub struct LiveSpace<'s> {
    space: &'s Space,
    goal: &'s Goal,
    bounds: &'s Bounds,
    /// Work-items that a program has at least, altogether.
    fewest_items: f64,
    /// From then on nothing is made any more.
    deadline: Deadline,
    choices: Vec<OnceCell<Choices>>,
    derivations: Vec<OnceCell<Arc<str>>>,
    shapes: OnceCell<HashMap<u64, usize>>,
    /// The numbers of the programs, by origin.
    origins: Vec<Vec<usize>>,
    /// How often an origin was chosen.
    turns: Cell<usize>,
}

impl<'s> LiveSpace<'s> {
    /// `items` are the work-items that the program has as it is. Of many programs, those are left out that there is
    /// no time to look at.
    pub fn new(
        space: &'s Space,
        goal: &'s Goal,
        bounds: &'s Bounds,
        items: f64,
        deadline: Deadline,
    ) -> LiveSpace<'s> {
        let mut programs = LiveSpace {
            space,
            goal,
            bounds,
            fewest_items: fewest_items(&goal.machine, items),
            deadline,
            choices: space.variants.iter().map(|_| OnceCell::new()).collect(),
            derivations: space.variants.iter().map(|_| OnceCell::new()).collect(),
            shapes: OnceCell::new(),
            origins: Vec::new(),
            turns: Cell::new(0),
        };
        programs.origins = programs.by_origin();
        programs
    }

    /// The numbers of programs by origin; those that no values fit are left out.
    fn by_origin(&self) -> Vec<Vec<usize>> {
        let mut origins: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        let looking = self.deadline.share(2);
        for (index, variant) in self.space.variants.iter().enumerate() {
            if looking.is_over() {
                break;
            }
            if self.choices(index).is_some_and(|choices| choices.count(1) > 0) {
                origins.entry(variant.origin).or_default().push(index);
            }
        }
        origins.into_values().collect()
    }

    /// What may be chosen for a program; nothing where there is no such program.
    pub fn choices(&self, variant: usize) -> Option<&Choices> {
        let def = &self.space.variants.get(variant)?.def;
        let made = || Choices::new(def, &self.goal.sizes, self.bounds);
        Some(self.choices.get(variant)?.get_or_init(made))
    }

    /// The configuration of a candidate with this text, where it may have these values.
    pub fn configuration(&self, text: &str, mut values: Values) -> Option<Configuration> {
        let checked = lift_syntax::check_text("candidate.lift", text);
        let variant = *self.shapes().get(&shape(checked.program.entry()?))?;
        let choices = self.choices(variant)?;
        for (name, _) in choices.parameters().filter(|(name, _)| schedule::knob(name).is_some()) {
            values.entry(name.to_string()).or_insert(0);
        }
        choices.allows(&values).then_some(Configuration { variant, values })
    }

    /// Programs by their shapes.
    fn shapes(&self) -> &HashMap<u64, usize> {
        let all = || self.space.variants.iter().map(|v| shape(&v.def)).zip(0..).collect();
        self.shapes.get_or_init(all)
    }

    /// How a program was derived, as text, which takes long to make.
    pub fn derivation(&self, variant: usize) -> Arc<str> {
        let (variants, kept) = (&self.space.variants, self.derivations.get(variant));
        let Some((variant, kept)) = variants.get(variant).zip(kept) else { return Arc::default() };
        kept.get_or_init(|| variant.derivation.to_string().into()).clone()
    }

    /// The candidate of a configuration; nothing where it cannot be compiled, or needs more than the device has.
    pub fn candidate(&self, configuration: &Configuration) -> Option<Candidate> {
        make(self.space, self.goal, self.fewest_items, configuration)
    }

    /// Those of many, on all cores, as far as there is time by then.
    fn candidates(&self, configurations: &[Configuration], by: Deadline) -> Vec<Option<Candidate>> {
        let LiveSpace { space, goal, fewest_items, .. } = *self;
        let made = |configuration| match by.is_over() {
            false => make(space, goal, fewest_items, configuration),
            true => None,
        };
        configurations.par_iter().map(made).collect()
    }

    /// Another program with the same values, of the same origin.
    fn other_program(
        &self,
        configuration: &Configuration,
        random: &mut Rng,
    ) -> Option<Configuration> {
        let kin = self.origins.iter().find(|kin| kin.contains(&configuration.variant))?;
        let variant = *random.choice(kin)?;
        let fits = self.choices(variant)?.allows(&configuration.values);
        fits.then(|| Configuration { variant, values: configuration.values.clone() })
    }

    /// The same program with one or two values a step away, or anywhere.
    fn other_values(
        &self,
        configuration: &Configuration,
        random: &mut Rng,
    ) -> Option<Configuration> {
        let choices = self.choices(configuration.variant)?;
        let mut values = configuration.values.clone();
        let open: Vec<(&str, &[i128])> = choices.parameters().collect();
        for _ in 0..random.usize(1..=2) {
            let (name, all) = *random.choice(&open)?;
            let at = all.iter().position(|v| values.get(name) == Some(v))?;
            let step = match random.usize(..5) {
                0 | 1 => at.checked_add(1),
                2 | 3 => at.checked_sub(1),
                _ => Some(random.usize(..all.len())),
            };
            values.insert(name.to_string(), *step.and_then(|at| all.get(at))?);
        }
        choices.allows(&values).then_some(Configuration { variant: configuration.variant, values })
    }
}

impl SearchSpace for LiveSpace<'_> {
    fn some(&self, random: &mut Rng) -> Option<Configuration> {
        for _ in 0..ATTEMPTS {
            if self.deadline.is_over() {
                return None;
            }
            // There are many of some origins, and they are not the better for it: origins take turns.
            let turn = self.turns.replace(self.turns.get() + 1);
            let kin = self.origins.get(turn % self.origins.len().max(1))?;
            let variant = *random.choice(kin)?;
            let choices = self.choices(variant)?;
            let mut order = |values: &[i128]| {
                let mut values = values.to_vec();
                random.shuffle(&mut values);
                values
            };
            if let Some(values) = choices.some(&mut order) {
                return Some(Configuration { variant, values });
            }
        }
        None
    }

    fn near(
        &self,
        configuration: &Configuration,
        tried: &HashSet<Configuration>,
        random: &mut Rng,
    ) -> Option<Configuration> {
        for _ in 0..ATTEMPTS {
            let found = match random.usize(..CHANGES_OF_PROGRAM) {
                0 => self.other_program(configuration, random),
                _ => self.other_values(configuration, random),
            };
            if let Some(found) = found.filter(|configuration| !tried.contains(configuration)) {
                return Some(found);
            }
        }
        None
    }

    fn of_program(&self, variant: usize) -> Option<Vec<Configuration>> {
        let mut all = Vec::new();
        self.choices(variant)?.each(&mut |values| {
            all.push(Configuration { variant, values });
            true
        });
        Some(all)
    }

    fn features(&self, configurations: &[Configuration]) -> Vec<Option<Vec<f64>>> {
        let features = |made: Option<Candidate>| made.map(|candidate| candidate.features.values);
        // Knowing them all is of no use where there is no time to measure the best.
        let by = self.deadline.share(4);
        self.candidates(configurations, by).into_iter().map(features).collect()
    }
}

/// The same for all candidates of a program, whatever their values and thread counts.
fn shape(def: &Def) -> u64 {
    let mut bare = def.clone();
    bare.launches.clear();
    bare.wheres.clear();
    bare.parameters.retain(|p| schedule::knob(p.var.name()).is_none());
    bare.parameters.iter_mut().for_each(|p| p.default = None);
    bare.alpha_hash()
}

/// So many times fewer work-items than the program has as it is are too few, unless there is a warp for every
/// compute unit.
const FEWER_ITEMS: f64 = 64.0;

fn fewest_items(machine: &Machine, items: f64) -> f64 {
    let all_units = f64::from(machine.compute_units) * f64::from(machine.warp);
    all_units.min(items / FEWER_ITEMS)
}

fn make(
    space: &Space,
    goal: &Goal,
    fewest_items: f64,
    configuration: &Configuration,
) -> Option<Candidate> {
    let variant = space.variants.get(configuration.variant)?;
    let candidate = Candidate::new(&variant.def, &configuration.values, goal).ok()?;
    fits(&candidate, goal, fewest_items).then_some(candidate)
}

/// Whether the device has the memory and, where there are threads, the registers, and something to do.
fn fits(candidate: &Candidate, goal: &Goal, fewest_items: f64) -> bool {
    let (needs, machine) = (&candidate.needs, &goal.machine);
    let has_memory = needs.local_bytes <= machine.local_memory_bytes as f64;
    let has_registers = needs.registers <= machine.item_registers as f64;
    let is_busy = needs.items >= fewest_items;
    has_memory && (goal.target() == Target::Loops || (has_registers && is_busy))
}

#[cfg(test)]
mod tests {
    use lift_runtime::Language;

    use super::*;
    use crate::parameters::assignments;
    use crate::space::algorithms::Limits;
    use crate::space::everything;

    const MM: &str = "def mm[M, K, N](A: [[f32; K]; M], B: [[f32; N]; K]) -> [[f32; N]; M] =
      A |> map(\\row -> B |> transpose |> map(\\column ->
        zip(row, column) |> map(\\(a, b) -> a * b) |> reduce(0.0, (+))));";

    /// Neither is there an error, nor is it looked for again and again.
    #[test]
    fn programs_that_no_values_fit_are_not_chosen() {
        let text = "def f[N](x: [f32; N]) -> [f32; N] = x |> map(\\a -> a + 1.0);";
        let checked = lift_syntax::check_text("f.lift", text);
        let def = checked.program.entry().expect("a definition");
        let sizes: Values = [("N".to_string(), 64)].into();
        let limits = Limits { depth: 1, ..Limits::default() };
        let space = everything(def, &sizes, Target::Threads, &limits).expect("can be read");
        let (language, machine) = (Language::OpenCl, Machine::default());
        let goal = Goal { sizes, language, machine };
        let bounds = Bounds { values: vec![7], largest_divisor: 1, ..Bounds::default() };
        let programs = LiveSpace::new(&space, &goal, &bounds, 0.0, Deadline::NEVER);
        let chosen: HashSet<usize> = programs.origins.iter().flatten().copied().collect();
        for (index, variant) in space.variants.iter().enumerate() {
            let fit = !assignments(&variant.def, &goal.sizes, &bounds, 1).is_empty();
            assert_eq!(chosen.contains(&index), fit, "{}", variant.def);
        }
        assert!(!chosen.is_empty() && chosen.len() < space.variants.len());
    }

    /// However many programs others have, none is left to chance for long.
    #[test]
    fn origins_take_turns() {
        let checked = lift_syntax::check_text("mm.lift", MM);
        let def = checked.program.entry().expect("a definition");
        let sizes: Values = ["M", "K", "N"].iter().map(|n| (n.to_string(), 64)).collect();
        let limits = Limits { depth: 1, ..Limits::default() };
        let space = everything(def, &sizes, Target::Threads, &limits).expect("can be read");
        let (language, machine) = (Language::OpenCl, Machine::default());
        let (goal, bounds) = (Goal { sizes, language, machine }, Bounds::default());
        let programs = LiveSpace::new(&space, &goal, &bounds, 0.0, Deadline::NEVER);
        let count = programs.origins.len();
        assert!(count > 1);
        let mut random = Rng::with_seed(1);
        for _ in 0..3 {
            let configurations =
                (0..count).map(|_| programs.some(&mut random).expect("there are many"));
            let origins =
                configurations.map(|configuration| space.variants[configuration.variant].origin);
            assert_eq!(origins.collect::<HashSet<_>>().len(), count);
        }
    }

    #[test]
    fn work_items_are_as_many_as_the_device_and_the_problem_need() {
        let machine = Machine { compute_units: 100, warp: 32, ..Machine::default() };
        assert_eq!(fewest_items(&machine, 1e9), 3200.0);
        assert_eq!(fewest_items(&machine, 6400.0), 100.0);
        assert_eq!(fewest_items(&machine, 0.0), 0.0);
    }

    /// What the store keeps of a candidate leads back to its configuration.
    #[test]
    fn a_candidate_is_known_by_its_text() {
        let checked = lift_syntax::check_text("mm.lift", MM);
        let def = checked.program.entry().expect("a definition");
        let sizes: Values = ["M", "K", "N"].iter().map(|n| (n.to_string(), 64)).collect();
        let limits = Limits { depth: 1, ..Limits::default() };
        let space = everything(def, &sizes, Target::Threads, &limits).expect("can be read");
        let (language, machine) = (Language::OpenCl, Machine::default());
        let (goal, bounds) = (Goal { sizes, language, machine }, Bounds::default());
        let programs = LiveSpace::new(&space, &goal, &bounds, 0.0, Deadline::NEVER);
        let mut random = Rng::with_seed(1);
        let mut found = 0;
        for _ in 0..60 {
            let configuration = programs.some(&mut random).expect("there are many");
            let Some(made) = programs.candidate(&configuration) else { continue };
            let mut values = configuration.values.clone();
            values.retain(|name, value| schedule::knob(name).is_none() || *value > 0);
            assert_eq!(
                programs.configuration(&made.text, values),
                Some(configuration),
                "{}",
                made.text
            );
            found += 1;
        }
        assert!(found > 30, "{found}");
    }
}
