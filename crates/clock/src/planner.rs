//! Planning: of the ways that a program can be lowered, the one that is predicted to be fastest.
//!
//! Lowering says where it could have gone another way ([`Choice`]). One choice after the other, in the order in which lowering
//! comes to them, each other way is tried, with the ways taken before it, and is kept where the whole program is predicted to be
//! faster by more than predictions are usually off. What is tried is bounded by how much text it is, not by a time, so that a
//! program is always planned the same way.

use lift_execute::Error;
use lift_ir::Def;
use lift_lower::{Choice, Choices, Options, Plan};
use lift_runtime::Language;

use crate::description::Description;
use crate::predict::{Known, Sizes, launched, plan};

/// Lowerings that are tried besides the first, at most, and at least where there are choices.
const MOST: usize = 24;
const LEAST: usize = 3;

/// Letters of kernels in all lowerings that are tried, about: these are gone through in a fifth of a second.
const LETTERS: usize = 200_000;

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
}

impl Planned {
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
    let mut clock = Clock { sizes: &options.sizes, machine, known: Known::default() };
    let lowered = |choices: &Choices| {
        let options = Options { choices: choices.clone(), ..options.clone() };
        plan(def, &options, language, machine)
    };
    let first = lowered(&options.choices)?;
    let is_open = options.local.is_none() && options.global.is_none();
    // Of processors too little is predicted well enough.
    let is_planned = is_open && language != Language::C && !first.choices.is_empty();
    let usual_ms = if is_planned { clock.ms(&first) } else { None };
    let mut tries = (LETTERS / clock.known.letters().max(1)).clamp(LEAST, MOST);
    let (choices, followed) = (options.choices.clone(), clock.known.followed());
    let mut best = Planned { plan: first, choices, ms: usual_ms, usual_ms, lowered: 1, followed };
    let mut number = 0;
    while let (Some(choice), Some(before)) = (best.plan.choices.get(number), best.ms) {
        let (taken, ways) = (choice.taken, choice.ways.len());
        let base = best.choices.clone();
        let mut least = before * GAIN;
        for way in (0..ways).filter(|way| *way != taken) {
            if tries == 0 {
                return Ok(best);
            }
            tries -= 1;
            best.lowered += 1;
            let choices = base.with(number, way);
            // What cannot be lowered so is no plan.
            let Ok(plan) = lowered(&choices) else { continue };
            let ms = clock.ms(&plan);
            best.followed = clock.known.followed();
            if let Some(ms) = ms.filter(|ms| *ms < least) {
                least = ms;
                best = Planned { plan, choices, ms: Some(ms), ..best };
            }
        }
        number += 1;
    }
    Ok(best)
}

/// Predicts plans that have most of their kernels in common.
struct Clock<'m> {
    sizes: &'m Sizes,
    machine: &'m Description,
    known: Known,
}

impl Clock<'_> {
    fn ms(&mut self, plan: &Plan) -> Option<f64> {
        let (sizes, launched) = launched(plan, self.sizes);
        let mut all = 0.0;
        for (kernel, runs) in launched {
            all += runs * self.known.of(kernel, &sizes, self.machine).ok()?.time.ms();
        }
        Some(all)
    }
}
