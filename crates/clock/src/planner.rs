//! Planning: of the ways that a program can be lowered, the one that is predicted to be fastest.
//!
//! Lowering says where it could have gone another way ([`Choice`]). One choice after the other, in the order in which lowering
//! comes to them, each other way is tried, with the ways taken before it, and is kept where the whole program is predicted to be
//! faster by more than predictions are usually off. A way is predicted only as far as it takes to know that it is not. What is tried
//! is bounded by how much text it is, not by a time, so that a program is always planned the same way.

use lift_execute::Error;
use lift_ir::Def;
use lift_lower::{Choice, Choices, Options, Plan};
use lift_runtime::Language;

use crate::description::Description;
use crate::predict::{Known, Prediction, Sizes, plan, predict, predict_known};

/// Lowerings that are tried besides the first, at most, and at least where there are choices.
const MOST: usize = 24;
const LEAST: usize = 3;

/// Letters of kernels in all lowerings that are tried, about: these are gone through in less than a fifth of a second.
const LETTERS: usize = 120_000;

/// Another way has to be predicted to take less than this part of the time.
const GAIN: f64 = 0.9;

/// A plan, and what is wanted of lowering to get it.
pub struct Planned {
    pub plan: Plan,
    pub choices: Choices,
    /// All launches of all kernels, where that can be predicted.
    pub ms: Option<f64>,
    /// The same of the first plan.
    pub usual_ms: Option<f64>,
    /// What it took: lowerings, and statements of kernels that were followed to predict them.
    pub lowered: usize,
    pub followed: u64,
    /// What is known of kernels, for this machine.
    known: Known,
    machine: Description,
}

impl Planned {
    /// Predicts the plan where its sizes have these values.
    pub fn predict(&mut self, sizes: &Sizes, machine: &Description) -> Result<Prediction, String> {
        match self.machine == *machine {
            true => predict_known(&self.plan, sizes, machine, &mut self.known),
            false => predict(&self.plan, sizes, machine),
        }
    }

    /// For people: each choice that was made otherwise than usual, and what for.
    pub fn told(&self) -> Vec<String> {
        let otherwise = self.plan.choices.iter().filter_map(Choice::otherwise);
        let mut lines: Vec<String> =
            otherwise.map(|(taken, usual)| format!("planned: {taken}, not {usual}")).collect();
        if let (Some(ms), Some(usual), false) = (self.ms, self.usual_ms, lines.is_empty()) {
            lines.push(format!("predicted: {ms:.4} ms in place of {usual:.4}"));
        }
        lines
    }
}

/// Plans a definition whose sizes the options give.
pub fn planned(
    def: &Def,
    options: &Options,
    language: Language,
    machine: &Description,
) -> Result<Planned, Error> {
    let lowered = |choices: &Choices| {
        let options = Options { choices: choices.clone(), ..options.clone() };
        plan(def, &options, language, machine)
    };
    let mut known = Known::default();
    let mut ms_below = |limit: f64, plan: &Plan| known.below(limit, plan, &options.sizes, machine);
    let first = lowered(&options.choices)?;
    let is_open = options.local.is_none() && options.global.is_none();
    // Of processors too little is predicted well enough.
    let is_planned = is_open && language != Language::C && !first.choices.is_empty();
    let (usual_ms, letters) = if is_planned { ms_below(f64::INFINITY, &first) } else { (None, 0) };
    let (mut plan, mut choices, mut ms) = (first, options.choices.clone(), usual_ms);
    let (mut left, mut tried, mut number) = (LETTERS.saturating_sub(letters), 0, 0);
    'planning: while let (Some(choice), Some(before)) = (plan.choices.get(number), ms) {
        let (taken, ways) = (choice.taken, choice.ways.len());
        let base = choices.clone();
        let mut least = before * GAIN;
        for way in (0..ways).filter(|way| *way != taken) {
            if tried >= MOST || (tried >= LEAST && left == 0) {
                break 'planning;
            }
            tried += 1;
            let other = base.with(number, way);
            // What cannot be lowered so is no plan.
            let Ok(other_plan) = lowered(&other) else { continue };
            let (found, letters) = ms_below(least, &other_plan);
            left = left.saturating_sub(letters);
            if let Some(found) = found {
                least = found;
                (plan, choices, ms) = (other_plan, other, Some(found));
            }
        }
        number += 1;
    }
    let followed = known.followed;
    let machine = machine.clone();
    Ok(Planned { plan, choices, ms, usual_ms, lowered: tried + 1, followed, known, machine })
}
