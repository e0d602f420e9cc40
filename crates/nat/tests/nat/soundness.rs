//! Nothing the library says is ever wrong: checked at every assignment of a small range.

use crate::common::*;
use lift_nat::{Nat, Pred, parse, parse_assumptions};
use proptest::prelude::*;

/// Wherever `raw` is defined, `n` has its value.
fn same_value(raw: &Raw, n: &Nat, at: &[Values]) -> Result<(), TestCaseError> {
    for at in at {
        if let Some(value) = raw.value(at) {
            let got = n.eval(&lookup(at));
            prop_assert_eq!(got, Ok(value), "{} at {:?}", n, at);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(config(60))]

    #[test]
    fn construction_keeps_the_value(raw in anything()) {
        let n = raw.build();
        same_value(&raw, &n, &assignments(World::Naturals, &[]))?;
        same_value(&raw, &n, &assignments(World::Integers, &[]))?;
    }

    #[test]
    fn simplification_keeps_the_value(
        raw in prop_oneof![index(), anything()], given in given(), world in world(),
    ) {
        let facts = facts(world, &given);
        let simple = facts.simplify(&raw.build());
        same_value(&raw, &simple, &assignments(world, &given))?;
        let again = facts.simplify(&simple);
        same_value(&raw, &again, &assignments(world, &given))?;
    }

    #[test]
    fn positions_keep_their_value(raw in position(), given in bounded()) {
        let facts = facts(World::Naturals, &given);
        let simple = facts.simplify(&raw.build());
        same_value(&raw, &simple, &assignments(World::Naturals, &given))?;
        let text = simple.to_string();
        let back = parse(&text).map_err(|e| TestCaseError::fail(format!("{text}: {e}")))?;
        same_value(&raw, &back, &assignments(World::Naturals, &given))?;
    }

    #[test]
    fn simplifying_twice_changes_nothing(raw in position(), given in bounded()) {
        let facts = facts(World::Naturals, &given);
        let simple = facts.simplify(&raw.build());
        prop_assert_eq!(facts.simplify(&simple).to_string(), simple.to_string());
        prop_assert!(facts.equal(&simple, &raw.build()), "{}", raw.build());
    }

    #[test]
    fn comparisons_of_positions_hold(a in position(), b in position(), given in bounded()) {
        let facts = facts(World::Naturals, &given);
        let (claim, value) = (RawPred::Le(a.clone(), b), a.build());
        let pred = claim.build();
        let (proved, refuted) = (facts.proves(&pred), facts.refutes(&pred));
        let (lower, upper) = (facts.lower(&value), facts.upper(&value));
        for at in assignments(World::Naturals, &given) {
            if let Some(truth) = claim.value(&at) {
                prop_assert!(!proved || truth, "proved {} at {:?}", pred, at);
                prop_assert!(!refuted || !truth, "refuted {} at {:?}", pred, at);
            }
            if let Some(v) = a.value(&at) {
                prop_assert!(lower.is_none_or(|low| low <= v), "{lower:?} {value} at {at:?}");
                prop_assert!(upper.is_none_or(|high| high >= v), "{upper:?} {value} at {at:?}");
            }
        }
    }

    #[test]
    fn what_is_proved_holds(
        claim in compare(prop_oneof![index(), anything()].boxed()), given in given(), world in world(),
    ) {
        let facts = facts(world, &given);
        let pred = claim.build();
        let (proved, refuted) = (facts.proves(&pred), facts.refutes(&pred));
        let simple = facts.simplify_pred(&pred);
        for at in assignments(world, &given) {
            if let Some(truth) = claim.value(&at) {
                prop_assert!(!proved || truth, "proved {} at {:?}", pred, at);
                prop_assert!(!refuted || !truth, "refuted {} at {:?}", pred, at);
                prop_assert_eq!(simple.eval(&lookup(&at)), Ok(truth), "{} at {:?}", &simple, at);
            }
        }
    }

    #[test]
    fn bounds_hold(raw in prop_oneof![index(), anything()], given in given(), world in world()) {
        let facts = facts(world, &given);
        let n = raw.build();
        let (lower, upper) = (facts.lower(&n), facts.upper(&n));
        for at in assignments(world, &given) {
            if let Some(value) = raw.value(&at) {
                prop_assert!(lower.is_none_or(|low| low <= value), "{lower:?} {n} at {at:?}");
                prop_assert!(upper.is_none_or(|high| high >= value), "{upper:?} {n} at {at:?}");
            }
        }
    }

    #[test]
    fn text_reads_back(raw in anything(), given in given()) {
        let simple = facts(World::Naturals, &given).simplify(&raw.build());
        let text = simple.to_string();
        // A constant out of range has no text that could be read.
        prop_assume!(!text.contains("?overflow"));
        let back = parse(&text).map_err(|e| TestCaseError::fail(format!("{text}: {e}")))?;
        same_value(&raw, &back, &assignments(World::Naturals, &given))?;
        let pred = Pred::Le(simple, raw.build());
        let text = pred.to_string();
        let back = parse_assumptions(&text).map_err(|e| TestCaseError::fail(format!("{text}: {e}")))?;
        prop_assert_eq!(back.len(), 1);
    }

    #[test]
    fn substitution_commutes_with_evaluation(raw in anything(), by in anything()) {
        let (n, by_nat) = (raw.build(), by.build());
        let replaced = n.substitute(&|v| (*v == var(2)).then(|| by_nat.clone()));
        for mut at in assignments(World::Integers, &[]) {
            let outer = at;
            let Some(value) = by.value(&at) else { continue };
            at[2] = value;
            if let Some(value) = raw.value(&at) {
                prop_assert_eq!(replaced.eval(&lookup(&outer)), Ok(value), "at {:?}", outer);
            }
        }
    }

    #[test]
    fn a_common_divisor_divides_both(a in index(), b in index(), c in index()) {
        let (a, b) = (a.build() * c.build(), b.build() * c.build());
        let common = a.gcd(&b);
        for at in assignments(World::Naturals, &[]) {
            let value = |n: &Nat| n.eval(&lookup(&at));
            if let (Ok(d), Ok(a), Ok(b)) = (value(&common), value(&a), value(&b)) {
                if d == 0 {
                    prop_assert!(a == 0 && b == 0, "{} at {:?}", common, at);
                } else {
                    prop_assert!(a % d == 0 && b % d == 0, "{} at {:?}", common, at);
                }
            }
        }
    }

    /// Quotients of quotients, of either kind, by constants and by sizes, where they are defined.
    #[test]
    fn chains_of_quotients_keep_their_value(
        raw in chain(), given in prop_oneof![Just(vec![]).boxed(), bounded().boxed()], world in world(),
    ) {
        let n = raw.build();
        same_value(&raw, &n, &assignments(World::Naturals, &[]))?;
        same_value(&raw, &n, &assignments(World::Integers, &[]))?;
        let facts = facts(world, &given);
        same_value(&raw, &facts.simplify(&n), &assignments(world, &given))?;
    }

    /// What is said about such chains holds, also where they are compared with what they divide.
    #[test]
    fn comparisons_of_chains_hold(a in chain(), b in position(), given in bounded()) {
        let facts = facts(World::Naturals, &given);
        let (claim, other) = (RawPred::Le(a.clone(), b.clone()), RawPred::Le(b, a.clone()));
        let (proved, opposite) = (facts.proves(&claim.build()), facts.proves(&other.build()));
        let value = a.build();
        let (lower, upper) = (facts.lower(&value), facts.upper(&value));
        for at in assignments(World::Naturals, &given) {
            prop_assert!(!proved || claim.value(&at) != Some(false), "{:?} at {:?}", claim, at);
            prop_assert!(!opposite || other.value(&at) != Some(false), "{:?} at {:?}", other, at);
            if let Some(v) = a.value(&at) {
                prop_assert!(lower.is_none_or(|low| low <= v), "{lower:?} {value} at {at:?}");
                prop_assert!(upper.is_none_or(|high| high >= v), "{upper:?} {value} at {at:?}");
            }
        }
    }

    /// Quotients whose operands have either sign, as facts say.
    #[test]
    fn signed_quotients_keep_their_value(raw in signed_quotient(), given in signs()) {
        let facts = facts(World::Integers, &given);
        let simple = facts.simplify(&raw.build());
        same_value(&raw, &simple, &assignments(World::Integers, &given))?;
    }

    /// What follows from facts about either sign holds.
    #[test]
    fn signed_comparisons_hold(a in signed_quotient(), b in index(), given in signs()) {
        let facts = facts(World::Integers, &given);
        for (claim, other) in [
            (RawPred::Le(a.clone(), b.clone()), RawPred::Lt(b.clone(), a.clone())),
            (RawPred::Eq(a.clone(), b.clone()), RawPred::Ne(a.clone(), b.clone())),
        ] {
            let (pred, negation) = (claim.build(), other.build());
            let (proved, refuted) = (facts.proves(&pred), facts.proves(&negation));
            for at in assignments(World::Integers, &given) {
                if let Some(truth) = claim.value(&at) {
                    prop_assert!(!proved || truth, "proved {} at {:?}", pred, at);
                    prop_assert!(!refuted || !truth, "proved {} at {:?}", negation, at);
                }
            }
        }
    }
}
