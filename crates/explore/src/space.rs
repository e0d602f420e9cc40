//! The low-level programs to try: the outcomes of strategies with alternatives.

use std::collections::{BTreeSet, HashSet};

use lift_ir::{Def, Kind, Type, Var, check_low_level};
use lift_rewrite::strategy::outcomes;
use lift_rewrite::{Derivation, Script, read_script};

/// How many sequences of decisions are followed.
const DECISIONS: usize = 100_000;

/// One low-level program; its parameters have no values yet.
#[derive(Clone, Debug)]
pub struct Variant {
    pub def: Def,
    pub derivation: Derivation,
}

/// The programs of a space, and how many there were on the way.
#[derive(Clone, Debug, Default)]
pub struct Space {
    pub variants: Vec<Variant>,
    /// Sequences of decisions that were followed.
    pub decisions: usize,
    /// Those that a rule refused.
    pub refused: usize,
    /// Outcomes in which low-level patterns stand where they may not.
    pub misplaced: usize,
}

/// The spaces that are always tried: what each is for, and its script.
pub const SPACES: &[(&str, &str)] = &[
    ("maps", include_str!("../spaces/maps.strategy")),
    ("contractions", include_str!("../spaces/contractions.strategy")),
    ("processors", include_str!("../spaces/processors.strategy")),
    ("reductions", include_str!("../spaces/reductions.strategy")),
    ("stencils", include_str!("../spaces/stencils.strategy")),
];

/// All programs that the spaces have for a definition. One that has none for it is no mistake.
pub fn everything(def: &Def) -> Space {
    let mut all = Space::default();
    let mut known = HashSet::new();
    for (_, text) in SPACES {
        let Ok(script) = read_script(0, text) else { continue };
        // Where a name of the script is one of the program, the script does not apply.
        let Ok(one) = space(def, &script) else { continue };
        all.decisions += one.decisions;
        all.refused += one.refused;
        all.misplaced += one.misplaced;
        let new = one.variants.into_iter().filter(|v| known.insert(v.def.alpha_hash()));
        all.variants.extend(new);
    }
    all
}

/// What a script with alternatives makes of a definition.
pub fn space(def: &Def, script: &Script) -> Result<Space, lift_rewrite::ScriptError> {
    let def = script.prepared(def)?;
    let all = outcomes(&def, &script.strategy, DECISIONS);
    let mut space = Space { decisions: all.tried, refused: all.failed, ..Space::default() };
    for outcome in all.found {
        if check_low_level(&outcome.def.body).is_empty() {
            let def = without_unused(outcome.def);
            space.variants.push(Variant { def, derivation: outcome.derivation });
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
