//! Proofs that a value is not negative.
//!
//! `p >= 0` follows if `p = m1 * h1 + m2 * h2 + … + rest` where the `h` are known not to be
//! negative, the `m` are products of values that are not, and `rest` has no negative term. The
//! search takes a term of `p` that may be negative and a constraint that has a term to cancel it.

use crate::divide::gcd;
use crate::ops::less_multiple;
use crate::session::{MAX_PARTS, Session};
use crate::term::{Atom, Mono, Term};
use crate::{Nat, Pred};

/// Constraints combined in one proof, and steps to find them.
const DEEPENING: [(u32, u32); 3] = [(3, 30), (6, 60), (14, 120)];
/// Constraints tried for one term.
const MAX_TRIED: usize = 4;
/// Constraints looked at for one term.
const MAX_WAYS: usize = 24;
/// Values with more terms are not proved about.
const MAX_TERMS: usize = 80;

/// A bound under construction: `scale * goal >= value`.
#[derive(Clone)]
struct Bound {
    value: Nat,
    scale: i128,
}

impl Bound {
    /// The goal is an integer, so it is at least the next one.
    fn least(&self, constant: i128) -> i128 {
        let floor = constant.div_euclid(self.scale);
        if constant.rem_euclid(self.scale) == 0 { floor } else { floor + 1 }
    }
}

/// A constraint, by its place, one of its coefficients, and what to multiply with.
type Way = (usize, i128, Mono);

impl Session<'_> {
    pub(crate) fn positive(&mut self, n: &Nat) -> bool {
        self.nonnegative(&(n - Nat::ONE))
    }

    /// `0 <= n`
    pub(crate) fn nonnegative(&mut self, n: &Nat) -> bool {
        if n.is_overflow() || n.term_count() > MAX_TERMS {
            return false;
        }
        if let Some(i) = n.as_int() {
            return i >= 0;
        }
        if let Some(answer) = self.proved.get(n) {
            return *answer;
        }
        let bounds = self.known.bounds(n);
        // The search takes longest where there is nothing to find.
        let answer = bounds.least.is_some_and(|least| least >= 0)
            || bounds.most.is_none_or(|most| most >= 0)
                && !self.known.has_counterexample(n)
                && self.nested(false, |s| {
                    s.bound(n, Some(0)).is_some_and(|least| least >= 0)
                        || s.nonnegative_in_each_case(n)
                });
        self.proved.insert(n.clone(), answer);
        answer
    }

    /// A constant that `n` is proved not to go below.
    pub(crate) fn lower(&mut self, n: &Nat) -> Option<i128> {
        if n.is_overflow() || n.term_count() > MAX_TERMS {
            return None;
        }
        if let Some(i) = n.as_int() {
            return Some(i);
        }
        self.nested(None, |s| s.bound(n, None))
    }

    /// The least value found by the search: the first that is `enough`, or else the best.
    fn bound(&mut self, n: &Nat, enough: Option<i128>) -> Option<i128> {
        self.prepare();
        let value = self.translate(n);
        let start = Bound { value, scale: 1 };
        let mut search = Search { enough, best: None, steps: 0, cut_short: false };
        // Short proofs first: a long detour must not use up the steps they would take.
        for (combined, steps) in DEEPENING {
            (search.steps, search.cut_short) = (steps, false);
            search.run(self, start.clone(), combined);
            if search.done() || !search.cut_short {
                break;
            }
        }
        search.best
    }

    /// An extremum is one of its parts, a choice one of its branches.
    fn nonnegative_in_each_case(&mut self, n: &Nat) -> bool {
        let Some((atom, alternatives)) =
            n.atoms().into_iter().find_map(|a| Some((a.clone(), a.alternatives()?)))
        else {
            return false;
        };
        alternatives.into_iter().all(|(when, part)| {
            let chosen = n.replace_atoms(&mut |a| (*a == atom).then(|| part.clone()));
            self.under(when.as_ref(), false, |inside, known| {
                inside.nonnegative(&known.solve(&chosen))
            })
        })
    }

    /// Whether a translated product of atoms cannot be negative.
    fn factor_is_safe(&self, mono: &Mono) -> bool {
        mono.factors().iter().all(|(atom, k)| self.power_is_safe(atom, *k))
    }

    fn power_is_safe(&self, atom: &Atom, k: u32) -> bool {
        k.is_multiple_of(2) || matches!(atom, Atom::Var(v) if self.bounded_below(v))
    }

    /// A term that may pull a sum below its constant.
    fn is_bad(&self, t: &Term) -> bool {
        !t.mono.is_one() && (t.coeff < 0 || !self.factor_is_safe(&t.mono))
    }

    /// Whether a constraint can cancel `t` by its term `n`.
    fn cancels(&self, n: &Term, t: &Term) -> bool {
        (n.coeff < 0) == (t.coeff < 0)
            && t.mono.leaves(&n.mono, |atom, k| self.power_is_safe(atom, k))
    }

    /// The ways to cancel `t` by a constraint.
    fn ways(&self, t: &Term) -> Vec<Way> {
        let mut found = Vec::new();
        for (i, h) in self.constraints.iter().enumerate() {
            for n in h.terms().iter().filter(|n| self.cancels(n, t)) {
                found.extend(t.mono.over(&n.mono).map(|mono| (i, n.coeff, mono)));
            }
        }
        found
    }

    /// How many ways there are to cancel `t`, counted up to `enough`.
    fn count_ways(&self, t: &Term, enough: usize) -> usize {
        let each = |h: &Nat| h.terms().iter().filter(|n| self.cancels(n, t)).count();
        let mut count = 0;
        for h in &self.constraints {
            if count >= enough {
                break;
            }
            count += each(h);
        }
        count
    }

    /// The first of the terms with the fewest ways to cancel it.
    fn hardest<'t>(&self, terms: &[&'t Term]) -> Option<&'t Term> {
        if let [only] = terms {
            return Some(only);
        }
        let mut hardest = None;
        let mut fewest = usize::MAX;
        for t in terms {
            let count = self.count_ways(t, fewest);
            if count < fewest || hardest.is_none() {
                (hardest, fewest) = (Some(*t), count);
            }
        }
        hardest
    }

    /// How many negative terms a constraint brings in that nothing in `bound` makes up for.
    fn brought_in(&self, bound: &Bound, (i, _, factor): &Way) -> usize {
        let Some(h) = self.constraints.get(*i) else { return usize::MAX };
        let terms = bound.value.terms();
        let made_up = |n: &Term| {
            let mono = n.mono.times(factor);
            terms.iter().any(|t| t.coeff.is_positive() && Some(&t.mono) == mono.as_ref())
        };
        h.terms().iter().filter(|n| n.coeff.is_positive() && !made_up(n)).count()
    }

    /// What is left to bound when `t` is cancelled, the most promising first.
    fn cancelled(&mut self, bound: &Bound, t: &Term, mut ways: Vec<Way>) -> Vec<Bound> {
        if ways.len() > MAX_WAYS {
            ways.sort_by_cached_key(|way| self.brought_in(bound, way));
            ways.truncate(MAX_WAYS);
        }
        if !self.spend(ways.len()) {
            return Vec::new();
        }
        let mut found: Vec<(usize, usize, Bound)> = Vec::new();
        for (i, coeff, mono) in ways {
            let Some(h) = self.constraints.get(i) else { continue };
            let Some(next) = bound.less_multiple(t.coeff, coeff, mono, h) else { continue };
            let bad = next.value.terms().iter().filter(|t| self.is_bad(t)).count();
            found.push((bad, next.value.term_count(), next));
        }
        found.sort_by_key(|(bad, terms, _)| (*bad, *terms));
        found.into_iter().map(|(_, _, next)| next).collect()
    }
}

impl Bound {
    /// Subtracts the multiple of `h` that cancels a term `t_coeff * …` by one `n_coeff * …`.
    fn less_multiple(&self, t_coeff: i128, n_coeff: i128, mono: Mono, h: &Nat) -> Option<Bound> {
        let shared = gcd(t_coeff, n_coeff);
        let scale = n_coeff.checked_div(shared)?.checked_abs()?;
        let factor = t_coeff.checked_div(shared)?.checked_abs()?;
        let value = less_multiple(&self.value, scale, h, (factor, &mono));
        let scale = self.scale.checked_mul(scale)?;
        (!value.is_overflow() && value.term_count() <= MAX_TERMS).then_some(Bound { value, scale })
    }
}

struct Search {
    enough: Option<i128>,
    best: Option<i128>,
    steps: u32,
    /// Whether a limit ended the search before its possibilities did.
    cut_short: bool,
}

impl Search {
    fn done(&self) -> bool {
        self.best.is_some_and(|best| self.enough.is_some_and(|enough| best >= enough))
    }

    fn run(&mut self, session: &mut Session<'_>, bound: Bound, left: u32) {
        self.steps = self.steps.saturating_sub(1);
        let cost = 1 + session.constraints.len() / 16;
        if self.steps == 0 || !session.spend(cost) {
            self.cut_short = true;
            return;
        }
        let terms = bound.value.terms();
        let bad: Vec<&Term> = terms.iter().filter(|t| session.is_bad(t)).collect();
        let constant = bound.value.constant();
        let target = if bad.is_empty() {
            let least = bound.least(constant);
            self.best = Some(self.best.map_or(least, |best| best.max(least)));
            if self.done() || constant >= 0 {
                return;
            }
            // Only the constant is in the way.
            vec![&terms[0]]
        } else {
            bad
        };
        if left == 0 {
            self.cut_short = true;
            return;
        }
        // Every bad term has to go; the one with the fewest ways first.
        let Some(t) = session.hardest(&target) else { return };
        let ways = session.ways(t);
        for next in session.cancelled(&bound, t, ways).into_iter().take(MAX_TRIED) {
            self.run(session, next, left - 1);
            if self.done() {
                return;
            }
        }
    }
}

impl Atom {
    /// The values of which this atom is one, each with what holds where it is.
    fn alternatives(&self) -> Option<Vec<(Option<Pred>, Nat)>> {
        let each = |parts: &[Nat], better: fn(Nat, Nat) -> Pred| {
            let alternative = |part: &Nat| {
                let others = parts.iter().filter(|other| *other != part);
                let wins = others.map(|other| better(part.clone(), other.clone())).collect();
                (Some(Pred::And(wins)), part.clone())
            };
            Some(parts.iter().map(alternative).collect())
        };
        match self {
            Atom::Min(parts) | Atom::Max(parts) if parts.len() > MAX_PARTS => None,
            Atom::Min(parts) => each(parts, Pred::Le),
            Atom::Max(parts) => each(parts, |part, other| Pred::Le(other, part)),
            Atom::Cond(pred, a, b) => {
                Some(vec![(Some((**pred).clone()), a.clone()), (pred.negation(), b.clone())])
            }
            Atom::Var(_)
            | Atom::Quot(..)
            | Atom::Exact(..)
            | Atom::Pow(..)
            | Atom::Log2(_)
            | Atom::Sum(..)
            | Atom::Group(_) => None,
        }
    }
}

#[cfg(test)]
mod tests;
