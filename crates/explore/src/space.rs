//! The low-level programs to try.
//!
//! They come about in two ways. Moves change the algorithm, at every place and in every order, and what they lead to
//! is mapped to the device in every way that fits ([`algorithms`], then `spaces/mapping.strategy`). Recipes, the
//! other strategies of `spaces`, go all the way for programs of one kind. A strategy with alternatives makes a
//! program of each combination of them.

pub mod algorithms;
pub mod heuristics;
pub mod schedule;

use std::collections::{BTreeMap, BTreeSet, HashSet};

use lift_ir::{Def, Kind, Type, Var, check_low_level};
use lift_lower::Target;
use lift_rewrite::strategy::{Unreadable, outcomes_until};
use lift_rewrite::{Derivation, Script, read_script};
use rayon::prelude::*;

use crate::deadline::Deadline;
use crate::parameters::Values;
use crate::phase::Phase;
use algorithms::{Algorithm, Limits, algorithms};

/// How many sequences of decisions are followed.
const DECISIONS: usize = 100_000;

/// One low-level program; its parameters have no values yet.
#[derive(Clone, Debug)]
pub struct Variant {
    pub def: Def,
    pub derivation: Derivation,
    /// The recipe, or the mapping of an algorithm.
    pub origin: &'static str,
}

/// The programs of a space, and how many there were on the way.
#[derive(Clone, Debug, Default)]
pub struct Space {
    pub variants: Vec<Variant>,
    /// How many there were at each phase.
    pub counts: BTreeMap<Phase, usize>,
    /// Outcomes in which low-level patterns stand where they may not.
    pub misplaced: usize,
}

/// What goes all the way, for programs of one kind.
pub const RECIPES: &[(&str, &str)] = &[
    ("maps", include_str!("../spaces/maps.strategy")),
    ("contractions", include_str!("../spaces/contractions.strategy")),
    ("processors", include_str!("../spaces/processors.strategy")),
    ("reductions", include_str!("../spaces/reductions.strategy")),
    ("pairs", include_str!("../spaces/pairs.strategy")),
    ("stencils", include_str!("../spaces/stencils.strategy")),
];

/// What maps an algorithm to a device.
pub const MAPPING: &str = include_str!("../spaces/mapping.strategy");

/// Those of them that are for processors alone, where one thread runs a group.
const FOR_PROCESSORS: &[&str] = &["processors"];

/// All programs that there are for a definition at given sizes. A recipe that has none for it is no mistake.
pub fn everything(
    def: &Def,
    sizes: &Values,
    target: Target,
    limits: &Limits,
) -> Result<Space, Unreadable> {
    everything_until(def, sizes, target, limits, Deadline::NEVER)
}

/// As many of them as there is time for. Recipes share the first half of it, so that none has it all.
pub fn everything_until(
    def: &Def,
    sizes: &Values,
    target: Target,
    limits: &Limits,
    deadline: Deadline,
) -> Result<Space, Unreadable> {
    let mut all = Space::default();
    let mut known = HashSet::new();
    let fits = |name: &str| target == Target::Loops || !FOR_PROCESSORS.contains(&name);
    let fitting: Vec<_> = RECIPES.iter().filter(|(name, _)| fits(name)).collect();
    let for_recipes = deadline.share(2);
    for ((name, text), left) in fitting.iter().zip((1..=fitting.len() as u32).rev()) {
        let script = recipe(def, name, text)?;
        all.add(from_script(def, &script, name, for_recipes.share(left)), &mut known);
    }
    let recipes = all.variants.len();
    let padded = sizes.values().any(|size| size % 8 != 0);
    let algorithms = algorithms(def, padded, limits, deadline.share(2))?;
    let mapping = read("mapping", MAPPING)?;
    let mapped = |a: &Algorithm| from_script(&a.def, &mapping, "mapping", deadline);
    let mapped: Vec<Space> = algorithms.found.par_iter().map(mapped).collect();
    for (mut space, algorithm) in mapped.into_iter().zip(&algorithms.found) {
        for variant in &mut space.variants {
            let rest = variant.derivation.clone();
            variant.derivation = algorithm.derivation.clone().then(rest);
        }
        all.add(space, &mut known);
    }
    all.variants.iter_mut().for_each(|variant| schedule::offer(&mut variant.def, target));
    all.counts = BTreeMap::from([
        (Phase::MadeByMoves, algorithms.made),
        (Phase::Different, algorithms.different),
        (Phase::OfSensibleDepth, algorithms.shallow),
        (Phase::WithResultsNearTheirUse, algorithms.found.len()),
        (Phase::MappedToTheDevice, all.variants.len() - recipes),
        (Phase::MadeByRecipes, recipes),
        (Phase::LowLevelPrograms, all.variants.len()),
    ]);
    Ok(all)
}

/// A recipe, with names of its own for what it offers.
fn recipe(def: &Def, name: &str, text: &str) -> Result<Script, Unreadable> {
    read(name, &with_free_names(def, text, &read(name, text)?))
}

fn read(name: &str, text: &str) -> Result<Script, Unreadable> {
    read_script(0, text).map_err(|mistakes| Unreadable::new(name, &mistakes))
}

impl Space {
    /// The programs of another space that are not known yet.
    fn add(&mut self, other: Space, known: &mut HashSet<u64>) {
        self.misplaced += other.misplaced;
        let new = other.variants.into_iter().filter(|v| known.insert(v.def.alpha_hash()));
        self.variants.extend(new);
    }
}

/// What a script makes of a definition, as far as there is time; nothing where it does not apply.
fn from_script(def: &Def, script: &Script, origin: &'static str, deadline: Deadline) -> Space {
    let mut space = space_until(def, script, deadline).unwrap_or_default();
    space.variants.iter_mut().for_each(|v| v.origin = origin);
    space
}

/// The text of a script with other names for those of its parameters that the program has already.
fn with_free_names(def: &Def, text: &str, script: &Script) -> String {
    let sizes = def.sizes.iter().chain(def.parameters.iter().map(|p| &p.var));
    let taken: HashSet<&str> =
        sizes.map(Var::name).chain(def.params.iter().map(|p| p.name())).collect();
    let mut renamed = text.to_string();
    for parameter in script.parameters.iter().filter(|p| taken.contains(p.name.as_str())) {
        let is_free = |name: &String| !taken.contains(name.as_str()) && !text.contains(name);
        let free = (1..).map(|n| format!("{}_{n}", parameter.name)).find(is_free);
        renamed = with_word_replaced(&renamed, &parameter.name, &free.unwrap_or_default());
    }
    renamed
}

fn with_word_replaced(text: &str, word: &str, by: &str) -> String {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(is_part) {
        let (before, from) = rest.split_at(start);
        let (found, after) = from.split_at(from.find(|c| !is_part(c)).unwrap_or(from.len()));
        result.push_str(before);
        result.push_str(if found == word { by } else { found });
        rest = after;
    }
    result + rest
}

/// What a script with alternatives makes of a definition.
pub fn space(def: &Def, script: &Script) -> Result<Space, lift_rewrite::ScriptError> {
    space_until(def, script, Deadline::NEVER)
}

fn space_until(
    def: &Def,
    script: &Script,
    deadline: Deadline,
) -> Result<Space, lift_rewrite::ScriptError> {
    let def = script.prepared(def)?;
    let all = outcomes_until(&def, &script.strategy, DECISIONS, &|| deadline.is_over());
    let mut space = Space::default();
    for outcome in all.found {
        if check_low_level(&outcome.def.body).is_empty() {
            let (def, derivation) = (without_unused(outcome.def), outcome.derivation);
            space.variants.push(Variant { def, derivation, origin: "script" });
        } else {
            space.misplaced += 1;
        }
    }
    Ok(space)
}

/// Without the parameters that the script offered and nothing uses, and what is said of them.
fn without_unused(mut def: Def) -> Def {
    let mut used = BTreeSet::new();
    for (_, expr) in def.body.places() {
        add_sizes(expr.ty(), &mut used);
        if let Kind::Call(call) = expr.kind() {
            call.sizes.iter().for_each(|size| used.extend(size.vars()));
        }
    }
    def.parameters.retain(|p| p.default.is_some() || used.contains(&p.var));
    let known: BTreeSet<Var> =
        def.sizes.iter().chain(def.parameters.iter().map(|p| &p.var)).cloned().collect();
    def.wheres.retain(|clause| clause.pred.vars().iter().all(|v| known.contains(v)));
    def
}

fn add_sizes(ty: &Type, used: &mut BTreeSet<Var>) {
    match ty {
        Type::Scalar(_) => {}
        Type::Vector(_, width) => used.extend(width.vars()),
        Type::Tuple(parts) => parts.iter().for_each(|part| add_sizes(part, used)),
        Type::Array(element, length) => {
            used.extend(length.vars());
            add_sizes(element, used);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Where there is no time at all, there is nothing, and no error.
    #[test]
    fn what_there_is_no_time_for_is_left_out() {
        let text = "def f[N](x: [f32; N]) -> [f32; N] = x |> map(\\a -> a + 1.0);";
        let checked = lift_syntax::check_text("f.lift", text);
        let def = checked.program.entry().expect("a definition");
        let sizes = Values::from([("N".to_string(), 64)]);
        let limits = Limits { depth: 1, ..Limits::default() };
        let until = |deadline| {
            everything_until(def, &sizes, Target::Loops, &limits, deadline).expect("can be read")
        };
        assert_eq!(until(Deadline::after(Duration::ZERO)).variants.len(), 0);
        let (all, timed) = (until(Deadline::NEVER), until(Deadline::after(Duration::MAX)));
        assert!(!all.variants.is_empty());
        assert_eq!(all.variants.len(), timed.variants.len());
    }

    #[test]
    fn a_recipe_that_cannot_be_read_is_named_with_its_mistake() {
        let text = "def f[N](x: [f32; N]) -> [f32; N] = x;";
        let checked = lift_syntax::check_text("f.lift", text);
        let def = checked.program.entry().expect("a definition");
        let error = recipe(def, "maps", "strategy main = map_fusoin;").expect_err("is misspelt");
        let said = "the built-in strategy `maps` cannot be read: there is no rule or strategy `map_fusoin`";
        assert_eq!(error.to_string(), said);
    }

    #[test]
    fn words_are_replaced_and_parts_of_words_are_not() {
        assert_eq!(with_word_replaced("a(C, CC) + C_1*C", "C", "C_2"), "a(C_2, CC) + C_1*C_2");
        assert_eq!(with_word_replaced("", "C", "D"), "");
    }
}
