//! Operations that wait for each other: what changes a number that a loop carries from one turn to the next.

use std::collections::BTreeMap;

use lift_ir::{QuickMap, Var};
use lift_kernel::{Expr, Runs};

use super::tally::{Number, Tally};
use super::{Mask, Walk};
use crate::operations::{Operations, SHUFFLE};

/// For each loop that numbers are changed in, by its variable, and each such number: the operations that change it.
#[derive(Default)]
pub(super) struct Chains<'k>(QuickMap<Carried<'k>, Steps>);

/// A number of a loop.
type Carried<'k> = (Option<&'k Var>, &'k Var);

/// Operations, each once, with how often.
type Steps = Vec<(Number, f64)>;

impl<'k> Chains<'k> {
    fn add(&mut self, of: Option<&'k Var>, var: &'k Var, operation: Number, count: f64) {
        let steps = self.0.entry((of, var)).or_default();
        match steps.iter_mut().find(|(own, _)| *own == operation) {
            Some((_, n)) => *n += count,
            None => steps.push((operation, count)),
        }
    }

    /// The longest chain, and how many operations there are in all: loops run one after the other, and the numbers that one of them
    /// carries are changed side by side.
    pub(super) fn longest(self, tally: &Tally) -> (Operations, f64) {
        let mut by_loop: BTreeMap<Option<&Var>, (f64, Steps)> = BTreeMap::new();
        let mut all = 0.0;
        let mut carried: Vec<_> = self.0.into_iter().collect();
        carried.sort_by_key(|(number, _)| *number);
        for ((of, _), steps) in carried {
            let length: f64 = steps.iter().map(|(_, n)| n).sum();
            all += length;
            let so_far = by_loop.entry(of).or_default();
            if length > so_far.0 {
                *so_far = (length, steps);
            }
        }
        let mut chain = Operations::new();
        for (operation, count) in by_loop.into_values().flat_map(|(_, steps)| steps) {
            *chain.entry(tally.name(operation).to_string()).or_default() += count;
        }
        (chain, all)
    }
}

impl<'k> Walk<'k> {
    /// A number that is changed from its value before: the next turn waits for it. Outside of vector code the lanes of a processor are
    /// turns, too; and what a turn has for itself no other waits for, while a work-item of a GPU has nothing else to do.
    pub(super) fn carry(&mut self, var: &'k Var, value: &'k Expr, mask: Mask, weight: f64) {
        if self.kernel.runs == Runs::Loops && self.changing.declares(var) {
            return;
        }
        if self.tally.reads(value, var)
            && let Some((operation, _)) = self.tally.of(value)
        {
            let turns = match self.kernel.runs {
                Runs::Loops if !self.vector => mask.iter().filter(|m| **m).count() as f64,
                _ => 1.0,
            };
            self.chains.add(self.innermost, var, operation, weight * turns);
        }
    }

    /// A step in which lanes give each other a number that goes on changing.
    pub(super) fn shuffle(&mut self, value: &'k Expr, weight: f64) {
        if let Expr::Shuffle(_, inner) = value
            && let Expr::Var(var) = &**inner
        {
            let operation = self.tally.number(SHUFFLE);
            self.chains.add(self.innermost, &var.id, operation, weight);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_one_loop_change_side_by_side_and_loops_follow_each_other() {
        let [i, j, a, b, c] = ["i", "j", "a", "b", "c"].map(Var::named);
        let mut tally = Tally::default();
        let (add, mul) = (tally.number("f32.add"), tally.number("f32.mul"));
        let mut chains = Chains::default();
        chains.add(Some(&i), &a, add, 100.0);
        chains.add(Some(&i), &b, add, 100.0);
        chains.add(Some(&i), &b, mul, 100.0);
        chains.add(Some(&j), &c, add, 50.0);
        let (longest, all) = chains.longest(&tally);
        let expected = [("f32.add", 150.0), ("f32.mul", 100.0)];
        assert_eq!(longest, expected.map(|(name, n)| (name.to_string(), n)).into());
        assert_eq!(all, 350.0);
    }
}
