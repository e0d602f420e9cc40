//! Where choices by a variable turn: the points before and after which `max(i - 1, 0)` is another of its parts.
//!
//! Law: where all turns are found, and none lies between two values of the variable, an expression that is linear in
//! it but for choices is linear between them.

use crate::nat::Nat;
use crate::term::Atom;
use crate::{Facts, Pred, Var};

/// More combinations of parts than this are not gone through.
const COMBINATIONS: usize = 16;

/// A comparison with a variable holds from a value on, and does not before, or the other way around.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Turn {
    /// The value lies between `least / divisor` and `most / divisor`, both rounded up; any value between will do.
    pub least: Nat,
    pub most: Nat,
    pub divisor: i128,
}

impl Turn {
    /// A bound of the value, if one is known.
    pub fn at_most(&self, facts: &Facts) -> Option<i128> {
        // Rounded up.
        facts.upper(&self.least).map(|n| -(-n).div_euclid(self.divisor))
    }

    /// A bound of how far the value is below another, if one is known.
    pub fn below(&self, end: &Nat, facts: &Facts) -> Option<i128> {
        let distance = end * Nat::int(self.divisor) - &self.most;
        facts.upper(&distance).map(|n| n.div_euclid(self.divisor))
    }
}

impl Nat {
    /// Calls `found` for every choice by a variable: with where it turns, or with nothing where that is not known.
    pub fn turns_by(&self, var: &Var, facts: &Facts, found: &mut dyn FnMut(Option<Turn>)) {
        for atom in self.atoms() {
            match atom {
                Atom::Min(parts) | Atom::Max(parts) => {
                    for (i, a) in parts.iter().enumerate() {
                        parts[i + 1..].iter().for_each(|b| compare(a, b, Tie::Any, var, found));
                    }
                }
                Atom::Cond(condition, ..) => condition.turns_by(var, found),
                // A quotient that is 0 or 1, or negative near the start, as of an index that wraps around.
                Atom::Quot(a, b)
                    if a.mentions(var)
                        && !b.mentions(var)
                        && facts.lower(a).is_some()
                        && facts.less(a, &(b * Nat::int(2))) =>
                {
                    compare(b, a, Tie::Holds, var, found);
                    compare(a, &-b.clone(), Tie::Holds, var, found);
                }
                _ => {}
            }
            atom.each_part(&mut |part| part.turns_by(var, facts, found));
        }
    }
}

impl Pred {
    /// As [`Nat::turns_by`], for the truth of a condition; choices inside of what is compared count by themselves.
    pub fn turns_by(&self, var: &Var, found: &mut dyn FnMut(Option<Turn>)) {
        match self {
            Pred::Le(a, b) => compare(a, b, Tie::Holds, var, found),
            Pred::Lt(a, b) => compare(a, b, Tie::Fails, var, found),
            Pred::Eq(a, b) | Pred::Ne(a, b) => {
                compare(a, b, Tie::Holds, var, found);
                compare(a, b, Tie::Fails, var, found);
            }
            Pred::Divides { divisor, of } => {
                if divisor.mentions(var) || of.mentions(var) {
                    found(None);
                }
            }
            Pred::And(parts) => parts.iter().for_each(|part| part.turns_by(var, found)),
        }
    }
}

/// Whether `a <= b` counts as holding where both are the same.
#[derive(Clone, Copy)]
enum Tie {
    Holds,
    Fails,
    /// It makes no difference.
    Any,
}

/// Where `a <= b` turns.
fn compare(a: &Nat, b: &Nat, tie: Tie, var: &Var, found: &mut dyn FnMut(Option<Turn>)) {
    let difference = b - a;
    if !difference.mentions(var) {
        return;
    }
    let mut straight = Vec::new();
    if !without_choices(&difference, var, &mut straight) {
        return found(None);
    }
    straight.iter().filter(|d| d.mentions(var)).for_each(|d| found(solve(d, tie, var)));
}

/// What an expression is for each part of its choices by a variable; not where there are too many.
fn without_choices(n: &Nat, var: &Var, found: &mut Vec<Nat>) -> bool {
    let choice = n.atoms().into_iter().find_map(|atom| match atom {
        Atom::Min(parts) | Atom::Max(parts) if parts.iter().any(|p| p.mentions(var)) => {
            Some((atom.clone(), parts.clone()))
        }
        Atom::Cond(_, a, b) => Some((atom.clone(), vec![a.clone(), b.clone()])),
        _ => None,
    });
    let Some((choice, parts)) = choice else {
        found.push(n.clone());
        return found.len() <= COMBINATIONS;
    };
    parts.iter().all(|part| {
        let with = n.replace_atoms(&mut |atom| (*atom == choice).then(|| part.clone()));
        without_choices(&with, var, found)
    })
}

/// Where `difference`, linear in the variable, is no longer negative, or no longer positive.
fn solve(difference: &Nat, tie: Tie, var: &Var) -> Option<Turn> {
    let (rest, factor) = difference.linear_in(&Atom::Var(var.clone()))?;
    let factor = factor.as_int().filter(|_| !rest.mentions(var))?;
    // `0 <= rest + factor * var` from here on, or up to here; strictly from one further on.
    let (from, strictly) = match factor > 0 {
        true => (-rest.clone(), Nat::ONE - &rest),
        false => (&rest + Nat::ONE, rest.clone()),
    };
    let (least, most) = match (tie, factor > 0) {
        (Tie::Holds, _) => (from.clone(), from),
        (Tie::Fails, _) => (strictly.clone(), strictly),
        (Tie::Any, true) => (from, strictly),
        (Tie::Any, false) => (strictly, from),
    };
    let divisor = i128::try_from(factor.unsigned_abs()).ok().filter(|d| *d > 0)?;
    Some(Turn { least, most, divisor })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Range, parse};

    fn turns(text: &str) -> Vec<Option<Turn>> {
        let (i, n) = (Var::named("i"), Var::named("N"));
        let mut facts = Facts::new();
        facts.size(&n);
        facts.declare(&i, Range::below(Nat::var(&n)));
        let mut found = Vec::new();
        parse(text).expect(text).turns_by(&i, &facts, &mut |turn| found.push(turn));
        found
    }

    /// The borders at both ends that a text asks for.
    fn borders(text: &str) -> Vec<(Option<i128>, Option<i128>)> {
        let mut facts = Facts::new();
        facts.size(&Var::named("N"));
        let end = Nat::var(&Var::named("N"));
        let of = |turn: Turn| (turn.at_most(&facts), turn.below(&end, &facts));
        turns(text).into_iter().map(|turn| of(turn.expect(text))).collect()
    }

    #[test]
    fn boundaries_turn_near_the_ends() {
        assert_eq!(borders("max(i - 1, 0)"), [(Some(1), None)]);
        assert_eq!(borders("min(i + 1, N - 1)"), [(None, Some(1))]);
        assert_eq!(borders("max(i - 10, 0)"), [(Some(10), None)]);
        // The mirrored index.
        assert_eq!(borders("if i - 2 < 0 then 1 - i else i - 2"), [(Some(2), None)]);
        // An index that wraps around.
        assert!(borders("(i + 1) % N").contains(&(None, Some(1))));
        assert!(borders("(i + N - 3) % N").contains(&(Some(3), None)));
        // Every second element.
        assert_eq!(borders("max(2*i - 3, 0)"), [(Some(2), None)]);
        assert_eq!(borders("min(2*i, 2*N - 5)"), [(None, Some(2))]);
    }

    #[test]
    fn choices_in_choices_turn_where_their_parts_do() {
        let found = borders("max(min(N - 1, i - 1), 0)");
        assert!(found.contains(&(Some(1), None)), "{found:?}");
        assert!(found.iter().all(|(low, high)| low.is_some() || high.is_some()), "{found:?}");
    }

    #[test]
    fn what_is_not_linear_is_not_solved() {
        assert_eq!(turns("max(i*i - 4, 0)"), [None]);
        assert_eq!(turns("max(i / 3 - 1, 0)"), [None]);
        // Cut in fours: no choice at all.
        assert_eq!(turns("i / 4"), []);
        assert_eq!(turns("max(N - 1, 0)"), []);
    }
}
