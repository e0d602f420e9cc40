//! What is kept is bounded, and the bounds are reached.

use super::nat;
use crate::known::Known;
use crate::session::{Effort, Session};
use crate::term::Atom;
use crate::{Facts, Nat, Pred, Var, default_facts, parse_assumptions};

fn x(i: usize) -> Nat {
    Nat::var(&Var::named(&format!("x{i}")))
}

fn known(all: impl IntoIterator<Item = Pred>) -> Known {
    let mut known = Known::default();
    all.into_iter().for_each(|p| known.assume(&p, &mut Effort::BRIEF.clone()));
    known
}

#[test]
fn facts_are_kept_up_to_a_number() {
    let ordered = known((0..450).map(|i| Pred::Le(x(i), x(i + 1))));
    assert_eq!(ordered.constraints.len(), 400);
    let divided = known((0..450).map(|i| Pred::divides(Nat::int(4), x(i) * x(i + 1))));
    assert_eq!(divided.divides.len(), 400);
    let unequal = known((0..450).map(|i| Pred::Ne(x(i), x(i + 1))));
    let held = (0..450).filter(|i| unequal.unequal(&(x(*i) - x(i + 1)))).count();
    assert_eq!(held, 400);
    let solved = known((0..80).map(|i| Pred::Eq(x(2 * i), x(2 * i + 1))));
    let held = (0..160).filter(|i| solved.solution(&Var::named(&format!("x{i}"))).is_some());
    assert_eq!(held.count(), 64);
    // What is no longer solved is still a constraint.
    assert_eq!(solved.constraints.len(), 2 * 16);
    let mut cases = Known::default();
    (0..450).for_each(|i| cases.one_of(&Var::named(&format!("x{i}")), vec![x(1000), x(1001)]));
    let held = (0..450).filter(|i| cases.case_of(&|v| v.name() == format!("x{i}")).is_some());
    assert_eq!(held.count(), 400);
}

#[test]
fn a_fact_is_kept_once() {
    let twice = |p: Pred| known([p.clone(), p]);
    assert_eq!(twice(Pred::Le(x(0), x(1))).constraints.len(), 1);
    assert_eq!(twice(Pred::divides(Nat::int(4), x(0) * x(1))).divides.len(), 1);
    // Multiples of the divisor and common factors are not part of it.
    let same = known([
        Pred::divides(Nat::int(4), x(0) * x(1)),
        Pred::divides(Nat::int(-8), Nat::int(2) * x(0) * x(1) + Nat::int(16)),
    ]);
    assert_eq!(same.divides, [(Nat::int(4), x(0) * x(1))]);
    // What always holds is not kept at all.
    let nothing = known([
        Pred::divides(Nat::int(4), Nat::int(8) * x(0)),
        Pred::Le(x(0), x(0) + Nat::ONE),
        Pred::divides(Nat::ZERO, x(0)),
    ]);
    assert!(nothing.divides.is_empty() && nothing.constraints.is_empty());
    assert!(nothing.keeps(&x(0)), "division by zero says nothing");
}

#[test]
fn a_question_spends_what_it_has() {
    let known = Known::default();
    let mut session = Session::new(&known, Effort::BRIEF);
    assert!(session.spend(3_000));
    assert!(session.spend(999));
    assert!(!session.spend(0), "every step costs");
    assert!(!session.spend(1));
    assert!(!session.nested(false, |_| true));
    assert!(!session.under(None, false, |_, _| true));

    let mut session = Session::new(&known, Effort::FULL);
    fn depth(session: &mut Session<'_>) -> u32 {
        session.nested(0, |s| 1 + depth(s))
    }
    assert_eq!(depth(&mut session), 48);
    // The way back up frees the levels.
    assert_eq!(depth(&mut session), 48);
    fn under(session: &mut Session<'_>) -> u32 {
        session.under(None, 0, |s, _| 1 + under(s))
    }
    assert_eq!(under(&mut session), 48);
    assert_eq!(session.nested(0, |s| 1 + under(s)), 48);
}

#[test]
fn what_a_condition_costs_is_spent() {
    let known = Known::default();
    let mut session = Session::new(&known, Effort::BRIEF);
    session.under(None, (), |inside, _| {
        inside.spend(3_998);
    });
    assert!(!session.spend(2));
}

#[test]
fn constraints_of_a_question_are_bounded() {
    let known = known((0..400).map(|i| Pred::Le(x(i), x(i + 1))));
    let mut session = Session::new(&known, Effort::FULL);
    session.prepare();
    assert_eq!(session.constraints.len(), 400);
    session.prepare();
    assert_eq!(session.constraints.len(), 400);
    // A minimum of eleven brings eleven more each time.
    for i in 0..20 {
        session.translate(&Nat::min_of((0..11).map(|k| x(1000 + 20 * i + k)).collect()));
    }
    assert_eq!(session.constraints.len(), 500);
}

#[test]
fn wide_extrema_are_not_looked_into() {
    let known = Known::default();
    for (parts, noted) in [(12, 12), (13, 0)] {
        for extremum in [Nat::min_of, Nat::max_of] {
            let mut session = Session::new(&known, Effort::FULL);
            session.translate(&extremum((0..parts).map(x).collect()));
            assert_eq!(session.constraints.len(), noted, "{parts}");
        }
    }
    assert!(matches!(nat("min(a, b)").as_atom(), Some(Atom::Min(parts)) if parts.len() == 2));
}

#[test]
fn long_values_are_left_alone() {
    let facts = default_facts(&[], &parse_assumptions("i < 4").unwrap());
    for (others, simplifies) in [(198, true), (199, true), (200, false), (300, false)] {
        let sum = (0..others).fold(Nat::ZERO, |sum, k| sum + x(k));
        let long = &sum + nat("i / 4");
        let expected = if simplifies { &sum } else { &long };
        assert_eq!(facts.simplify(&long), *expected, "{others}");
    }
}

/// Values count from their least: what a proof sees is not negative.
#[test]
fn translation_counts_from_the_least_value() {
    let known = known([Pred::Le(Nat::int(3), x(0)), Pred::Le(Nat::ZERO, x(1))]);
    let mut session = Session::new(&known, Effort::FULL);
    assert_eq!(session.translate(&x(0)), x(0) + Nat::int(3));
    assert_eq!(session.translate(&(x(1) + x(2))), x(1) + x(2));
    assert_eq!(session.translate(&(x(0) * x(1))), (x(0) + Nat::int(3)) * x(1));
    let quotient = session.translate(&x(1).div(&x(0)));
    let v = quotient.as_var().expect("one variable in place of the quotient").clone();
    assert!(session.bounded_below(&v) && session.bounded_below(&Var::named("x0")));
    assert!(!session.bounded_below(&Var::named("x2")));
    // The same atom is the same variable, another is another.
    assert_eq!(session.translate(&x(1).div(&x(0))), quotient);
    assert_ne!(session.translate(&x(0).div(&x(1))), quotient);
}

#[test]
fn a_length_that_is_none_says_nothing_of_others() {
    let (n, other) = (Var::named("n"), Var::named("other"));
    let mut facts = Facts::new();
    facts.size(&other);
    facts.length_among(&n, vec![Nat::ZERO]);
    assert!(facts.equal(&Nat::var(&n), &Nat::ZERO));
    assert!(
        !facts.at_most(&Nat::var(&other), &Nat::int(7)),
        "anything follows from a contradiction"
    );
    assert!(!facts.equal(&Nat::var(&other).div(&Nat::int(2)), &Nat::ZERO));
    let mut facts = Facts::new();
    facts.length_among(&n, vec![Nat::var(&other)]);
    assert!(facts.at_most(&Nat::ONE, &Nat::var(&n)));
}
