//! Points at which all that is known holds: what does not hold at one of them has no proof.

use super::Known;
use crate::{Nat, Pred, Var};

/// What all variables are at once, or what they may be that is nearest.
const EXAMPLES: [i128; 3] = [0, 16, 1024];

impl Known {
    /// Whether a value, in terms of unsolved variables, is negative at a point where all that is known holds: there is no
    /// proof that it never is.
    pub(crate) fn has_counterexample(&self, n: &Nat) -> bool {
        let is_one = |point: &dyn Fn(&Var) -> Option<i128>| {
            value(n, point).is_some_and(|n| n < 0) && self.holds_at(point)
        };
        EXAMPLES.iter().any(|at| is_one(&|v| Some(self.nearest(v, *at)))) || {
            let corner = self.least_corner(n);
            is_one(&|v| Some(in_corner(&corner, v).unwrap_or_else(|| self.nearest(v, 0))))
        }
    }

    /// Whether a condition holds at a point where all that is known does: there is no proof that it never does.
    pub(crate) fn has_example(&self, p: &Pred) -> bool {
        EXAMPLES.iter().any(|at| {
            let open = |v: &Var| Some(self.nearest(v, *at));
            let point = |v: &Var| match self.solved.get(v) {
                Some(solved) => value(solved, &open),
                None => open(v),
            };
            let mut is_summed = false;
            p.each_part(&mut |part| is_summed = is_summed || part.is_summed());
            !is_summed && p.eval(&point).is_ok_and(|holds| holds) && self.holds_at(&open)
        })
    }

    /// The value of a variable that is nearest to one, by the constants that it does not leave.
    fn nearest(&self, v: &Var, value: i128) -> i128 {
        let below = self.upper.get(v).map_or(value, |most| value.min(*most));
        self.lower.get(v).map_or(below, |least| below.max(*least))
    }

    /// The variables of a value at their greatest where that makes it less, one after the other: the others are at their least.
    fn least_corner(&self, n: &Nat) -> Vec<(Var, i128)> {
        let mut raised: Vec<(Var, i128)> = Vec::new();
        let at = |raised: &[(Var, i128)]| {
            value(n, &|v| Some(in_corner(raised, v).unwrap_or_else(|| self.nearest(v, 0))))
        };
        let Some(mut least) = at(&raised) else { return raised };
        for v in n.vars() {
            let Some(most) = self.upper.get(&v) else { continue };
            raised.push((v, *most));
            match at(&raised) {
                Some(found) if found < least => least = found,
                _ => drop(raised.pop()),
            }
        }
        raised
    }

    /// Whether all that is known holds where the unsolved variables have these values.
    fn holds_at(&self, point: &dyn Fn(&Var) -> Option<i128>) -> bool {
        let value = |n: &Nat| value(n, point);
        let divides = |(d, n): &(Nat, Nat)| match (value(d), value(n)) {
            (Some(d), Some(n)) => n.checked_rem(d) == Some(0),
            _ => false,
        };
        self.cases.is_empty()
            && self.constraints.iter().all(|n| value(n).is_some_and(|n| n >= 0))
            && self.unequal.iter().all(|n| value(n).is_some_and(|n| n != 0))
            && self.divides.iter().all(divides)
    }
}

fn in_corner(raised: &[(Var, i128)], v: &Var) -> Option<i128> {
    raised.iter().find(|(own, _)| own == v).map(|(_, value)| *value)
}

/// The value at a point, unless finding it takes long.
fn value(n: &Nat, point: &dyn Fn(&Var) -> Option<i128>) -> Option<i128> {
    if n.is_summed() { None } else { n.eval(point).ok() }
}
