//! All outcomes of a strategy: every alternative of `any` and `anywhere` in turn.
//!
//! A strategy is run again for every sequence of decisions, so what is common to two outcomes is done twice. In
//! return the strategy itself is run as always, and nothing has to be undone.

use std::collections::HashSet;

use lift_ir::{Def, Place};

use super::Strategy;
use super::run::{Outcome, Runner, STEP_LIMIT, Stop};

/// What a strategy with alternatives makes of a definition.
#[derive(Clone, Debug, Default)]
pub struct Outcomes {
    /// Different ones, up to names, in the order of the alternatives.
    pub found: Vec<Outcome>,
    /// How many sequences of decisions were tried.
    pub tried: usize,
    /// How many of them failed.
    pub failed: usize,
    /// Whether all were tried.
    pub is_complete: bool,
}

/// The outcomes of a strategy, from at most so many sequences of decisions.
///
/// What rules need of the sizes of the program is assumed and becomes `where` clauses of an outcome.
pub fn outcomes(def: &Def, strategy: &Strategy, limit: usize) -> Outcomes {
    outcomes_until(def, strategy, limit, &|| false)
}

/// The same, until there is no time for more. Those that were found by then are the first ones of all.
pub fn outcomes_until(def: &Def, strategy: &Strategy, limit: usize, stop: Stop<'_>) -> Outcomes {
    let mut all = Outcomes { is_complete: true, ..Outcomes::default() };
    let mut known: HashSet<u64> = HashSet::new();
    let mut decisions = Decisions::default();
    loop {
        if all.tried == limit || stop() {
            all.is_complete = false;
            return all;
        }
        all.tried += 1;
        let mut runner = Runner::new(def, STEP_LIMIT).until(stop);
        runner.decisions = Some(decisions);
        let done = runner.run(strategy, &Place::root());
        decisions = runner.decisions.take().unwrap_or_default();
        match done {
            Err(_) => all.failed += 1,
            Ok(()) => {
                let outcome = runner.outcome();
                if known.insert(outcome.def.alpha_hash()) {
                    all.found.push(outcome);
                }
            }
        }
        if !decisions.advance() {
            return all;
        }
    }
}

/// What a strategy makes of a definition at every place where it succeeds, each by itself. Of `any` the first
/// alternative is taken. Sizes are assumed to be what rules need, as by [`outcomes`]. Where there is no time for more,
/// later places are left out.
pub fn at_every_place(def: &Def, strategy: &Strategy, stop: Stop<'_>) -> Vec<Outcome> {
    let mut runner = Runner::new(def, STEP_LIMIT).until(stop);
    let mut found = Vec::new();
    for (place, _) in def.body.places() {
        if stop() {
            break;
        }
        runner.decisions = Some(Decisions::default());
        let (mark, budget) = (runner.mark(), runner.budget());
        if runner.run(strategy, &place).is_ok() {
            found.push(runner.outcome());
        }
        runner.back_to(mark);
        runner.count_from(budget);
    }
    found
}

/// A sequence of decisions: the ones to be taken first, then always the first alternative.
#[derive(Clone, Debug, Default)]
pub(super) struct Decisions {
    /// What was decided, and among how many.
    taken: Vec<(usize, usize)>,
    /// How many of them have been asked for in this run.
    asked: usize,
}

impl Decisions {
    /// The next decision among so many alternatives.
    pub fn next(&mut self, count: usize) -> usize {
        if self.asked == self.taken.len() {
            self.taken.push((0, count));
        }
        let decided = self.taken.get(self.asked).map_or(0, |(index, _)| *index);
        self.asked += 1;
        decided
    }

    /// The next sequence; false where all have been tried. Decisions that were not asked for do not count.
    fn advance(&mut self) -> bool {
        self.taken.truncate(self.asked);
        self.asked = 0;
        while let Some((index, count)) = self.taken.pop() {
            if index + 1 < count {
                self.taken.push((index + 1, count));
                return true;
            }
        }
        false
    }
}
