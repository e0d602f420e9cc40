//! What is found, and how the search chooses.

use super::{Bound, Search};
use crate::known::Known;
use crate::session::{Effort, Session};
use crate::term::{Mono, Term};
use crate::{Nat, Pred, Var, default_facts, parse, parse_assumptions};

fn proves(claim: &str, given: &str) -> bool {
    let claim = parse_assumptions(claim).unwrap();
    let claim = Pred::And(claim);
    let given = parse_assumptions(given).unwrap();
    let vars: Vec<_> = claim.vars().into_iter().collect();
    let vars: Vec<_> = vars.iter().map(|v: &Var| parse(v.name()).unwrap()).collect();
    default_facts(&vars.iter().collect::<Vec<_>>(), &given).proves(&claim)
}

#[test]
fn linearised_indices_are_in_bounds() {
    assert!(proves("i*M + j < N*M", "i < N, j < M"));
    assert!(proves("(i*M + j)*K + k < N*M*K", "i < N, j < M, k < K"));
    assert!(!proves("i*M + j < N*M", "i <= N, j < M"));
}

#[test]
fn relations_between_compounds_chain() {
    assert!(proves("i < N", "i < T, T <= N"));
    assert!(proves("i < N", "i + j < N"));
    assert!(proves("n >= 1", "i < n"));
    assert!(!proves("i + j < N", "i < N, j < N"));
}

#[test]
fn quotients_are_bounded_by_what_they_divide() {
    assert!(proves("i / 4 * 4 <= i", ""));
    assert!(proves("i % N < N", ""));
    assert!(proves("i / 4 < N", "i < 4*N"));
    assert!(!proves("i / 4 < N", "i <= 4*N"));
}

fn nat(text: &str) -> Nat {
    parse(text).unwrap()
}

fn term(text: &str) -> Term {
    nat(text).as_term().unwrap()
}

fn known(given: &str) -> Known {
    let mut known = Known::default();
    let given = Pred::And(parse_assumptions(given).unwrap());
    known.assume(&given, &mut Effort::BRIEF.clone());
    known
}

fn prepared(known: &Known) -> Session<'_> {
    let mut session = Session::new(known, Effort::FULL);
    session.prepare();
    session
}

fn mono(text: &str) -> Mono {
    term(text).mono
}

/// `scale * goal >= constant` bounds an integer by the quotient, rounded up.
#[test]
fn bounds_round_up() {
    for scale in 1..6 {
        let bound = Bound { value: Nat::ZERO, scale };
        for constant in -20..20 {
            let least = (-20..=20).find(|goal| scale * goal >= constant);
            assert_eq!(Some(bound.least(constant)), least, "{constant} / {scale}");
        }
    }
}

#[test]
fn terms_that_may_be_negative_are_bad() {
    let known = known("0 <= a, 0 <= b");
    let session = prepared(&known);
    for (text, bad) in [
        ("3", false),
        ("-3", false),
        ("a", false),
        ("-a", true),
        ("a*b", false),
        ("c", true),
        ("-c", true),
        ("a*c", true),
        ("c^2", false),
        ("a*c^2", false),
        ("c^3", true),
        ("-(c^2)", true),
        ("a^3", false),
    ] {
        assert_eq!(session.is_bad(&term(text)), bad, "{text}");
    }
}

#[test]
fn ways_to_cancel_a_term() {
    let known = known("0 <= a, 0 <= b, a <= c, c <= d + 2, a*b <= e");
    let session = prepared(&known);
    assert_eq!(session.constraints, ["c - a", "d + 2 - c", "e - a*b"].map(nat));
    let one = Mono::one();
    for (text, ways) in [
        ("-c", vec![(1, -1, one.clone())]),
        ("c", vec![(0, 1, one.clone())]),
        ("-5*c", vec![(1, -1, one.clone())]),
        ("-b", vec![]),
        ("-a*b*c", vec![(1, -1, mono("a*b"))]),
        ("-a*a*b", vec![(0, -1, mono("a*b")), (2, -1, mono("a"))]),
        ("-c^3", vec![(1, -1, mono("c^2"))]),
        ("-c^2", vec![]),
        ("-7", vec![]),
        ("7", vec![(1, 2, one)]),
    ] {
        let t = term(text);
        assert_eq!(session.ways(&t), ways, "{text}");
        assert_eq!(session.count_ways(&t, usize::MAX), ways.len(), "{text}");
        assert_eq!(session.count_ways(&t, 0), 0, "{text}");
    }
    let (c, aab, b) = (term("-c"), term("-a*a*b"), term("-b"));
    assert_eq!(session.hardest(&[&aab, &c]), Some(&c));
    assert_eq!(session.hardest(&[&c, &aab]), Some(&c));
    assert_eq!(session.hardest(&[&c, &b, &aab]), Some(&b));
    // Of equals the first.
    let d = term("-2*c");
    assert_eq!(session.hardest(&[&c, &d]), Some(&c));
    assert_eq!(session.hardest(&[&d]), Some(&d));
    assert_eq!(session.hardest(&[]), None);
}

/// The best way to cancel a term is the one that brings in the fewest that may be negative.
#[test]
fn promising_ways_come_first() {
    let known = known("0 <= a, 0 <= b, c <= a + d + e, c <= a + d, c <= a + b + 1, c <= a + 1");
    let mut session = prepared(&known);
    let goal = Bound { value: nat("2*a - c"), scale: 1 };
    let t = term("-c");
    let ways = session.ways(&t);
    let brought: Vec<usize> = ways.iter().map(|way| session.brought_in(&goal, way)).collect();
    // `a` is made up for by `2*a`; the constant counts like any other term.
    assert_eq!(brought, [2, 1, 2, 1]);
    let next = session.cancelled(&goal, &t, ways);
    let values: Vec<String> = next.iter().map(|b| b.value.to_string()).collect();
    assert_eq!(values, ["a - 1", "a - d", "a - b - 1", "a - d - e"]);
}

#[test]
fn a_multiple_of_a_constraint_is_subtracted() {
    let goal = Bound { value: nat("5 - 4*x*y"), scale: 3 };
    // 3 * (5 - 4xy) less 4y * (1 - ... ) where the constraint has -3x.
    let next = goal.less_multiple(-4, -6, mono("y"), &nat("7 - 6*x")).unwrap();
    assert_eq!((next.value, next.scale), (nat("15 - 14*y"), 9));
    let far = Bound { value: nat("x"), scale: i128::MAX };
    assert!(far.less_multiple(1, 2, Mono::one(), &nat("2*x + y")).is_none());
    let wide = (0..80).fold(Nat::ZERO, |sum, i| sum + nat(&format!("x{i}")));
    let goal = Bound { value: nat("z"), scale: 1 };
    assert!(goal.less_multiple(1, 1, Mono::one(), &(&wide + nat("z"))).is_some());
    assert!(goal.less_multiple(1, 1, Mono::one(), &(&wide + nat("z + w"))).is_none());
}

#[test]
fn a_search_is_done_when_it_has_enough() {
    let search = |best, enough| Search { enough, best, steps: 1, cut_short: false }.done();
    assert!(search(Some(0), Some(0)) && search(Some(1), Some(0)));
    assert!(!search(Some(-1), Some(0)) && !search(None, Some(0)) && !search(Some(5), None));
}

/// Long chains, many constraints to choose from, and values too wide to look at.
#[test]
fn searches_go_deep_enough() {
    let chain = |n: usize| {
        let steps = (0..n).map(|i| format!("x{i:02} < x{:02}", i + 1));
        steps.collect::<Vec<_>>().join(", ")
    };
    assert!(proves("x00 + 12 <= x12", &chain(12)));
    assert!(!proves("x00 + 13 <= x12", &chain(12)));
    assert!(!proves("x00 + 30 <= x30", &chain(30)), "deeper than any proof may be");
    // Thirty-nine upper bounds lead nowhere; the one that matters is found among them.
    let mut many: Vec<String> = (0..39).map(|i| format!("i < y{i} + z{i}")).collect();
    many.insert(20, "i < N".to_string());
    assert!(proves("i <= N", &many.join(", ")));
    let sum = |n: usize| (0..n).map(|i| format!("x{i}")).collect::<Vec<_>>().join(" + ");
    assert!(proves(&format!("0 <= {}", sum(80)), ""));
    assert!(!proves(&format!("0 <= {}", sum(81)), ""));
    let facts = default_facts(&[&nat(&sum(81))], &[]);
    assert_eq!(facts.lower(&nat(&sum(80))), Some(0));
    assert_eq!(facts.lower(&nat(&sum(81))), None);
}

/// An extremum is one of its parts, a choice one of its branches.
#[test]
fn cases_are_told_apart() {
    assert!(proves("min(x, y) * 2 <= x + y", ""));
    assert!(proves("x + y <= 2*max(x, y)", ""));
    assert!(!proves("x + y <= 2*min(x, y)", ""));
    assert!(proves("(if i < N then i else N - 1) < N", ""));
    assert!(!proves("(if i < N then i else N) < N", ""));
    assert!(proves("(if i % 4 == 0 then i - i/4*4 else 1) <= 1", ""));
    let wide = |n: usize| (0..n).map(|i| format!("x{i} + y")).collect::<Vec<_>>().join(", ");
    assert!(proves(&format!("y <= min({})", wide(12)), ""));
    assert!(!proves(&format!("y <= min({})", wide(13)), ""));
}

#[test]
fn quotients_of_what_is_large_are_large() {
    assert!(proves("N / 2 >= 3", "N >= 7"));
    assert!(!proves("N / 2 >= 4", "N >= 7"));
    assert!(proves("(N - 3) / 2 * 2 + 3 <= N, (N - 3) / 2 * 2 + 3 >= 3", "N >= 3"));
    assert!(proves("(N - W) / S * S + W <= N, (N - W) / S * S + W >= W", "W <= N"));
}
