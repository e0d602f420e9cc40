//! Every registered rule is a law: random instances of its left side mean the same after it.
//!
//! Instances are made from the text of the law, so a new rule needs no code here. Rules written
//! wrong on purpose show that the harness notices.

#![allow(clippy::unwrap_used)]

mod functions;
mod harness;
mod instance;
mod kinds;
mod monoids;
mod values;

use harness::{INSTANCES, check};
use lift_rewrite::{Rule, rules};

#[test]
fn every_rule_is_a_law() {
    let mut failures = Vec::new();
    for rule in rules() {
        match check(rule) {
            Ok(report) => assert!(report.fired >= INSTANCES, "{rule}"),
            Err(failure) => failures.push(format!("{}: {failure}", rule.name)),
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

fn caught(rule: &Rule) -> String {
    match check(rule) {
        Ok(report) => panic!("{} passed {} instances", rule.name, report.fired),
        Err(failure) => failure,
    }
}

#[test]
fn swapped_composition_is_caught() {
    static WRONG: Rule = Rule::law(
        "map_fusion_swapped",
        "",
        "f: a -> a, g: a -> a, xs: [a; n]",
        "map(f, map(g, xs))",
        "map(\\x -> g(f(x)), xs)",
    );
    assert!(caught(&WRONG).contains("differ"));
}

#[test]
fn missing_divisibility_is_caught() {
    static WRONG: Rule = Rule::law(
        "split_join_always",
        "",
        "f: a -> b, xs: [a; n]",
        "map(f, xs)",
        "join(map(map(f), split(m, xs)))",
    );
    assert!(caught(&WRONG).contains("`split` needs"));
}

#[test]
fn a_condition_that_is_too_weak_is_caught() {
    // Striding twice is the identity only where s * s == n.
    static WRONG: Rule = Rule::law(
        "stride_twice",
        "",
        "xs: [a; n]",
        "reorder_stride(s, reorder_stride(s, xs))",
        "xs",
    );
    assert!(caught(&WRONG).contains("differ"));
}

#[test]
fn regrouping_any_function_is_caught() {
    static WRONG: Rule = Rule::law(
        "regroup_sequential_fold",
        "",
        "z: a, f: (a, a) -> a, xs: [a; n]",
        "reduceSeq(z, f, xs)",
        "reduceSeq(z, f, map(reduceSeq(z, f), split(m, xs)))",
    )
    .needs("n % m == 0");
    assert!(caught(&WRONG).contains("differ"));
}

#[test]
fn a_wrong_inverse_permutation_is_caught() {
    static WRONG: Rule = Rule::law(
        "gather_gather",
        "",
        "p: permutation, xs: [a; n]",
        "gather(p, gather(p, xs))",
        "xs",
    );
    assert!(caught(&WRONG).contains("differ"));
}

#[test]
fn a_changed_type_is_caught() {
    static WRONG: Rule = Rule::law("join_dropped", "", "xss: [[a; m]; n]", "join(xss)", "xss");
    assert!(caught(&WRONG).contains("the result has type"));
}

#[test]
fn a_rule_that_cannot_fire_is_caught() {
    static WRONG: Rule =
        Rule::function("never", "", "f: a -> b, xs: [a; n]", "map(f, xs)", "map(f, xs)", |_| {
            Err(lift_rewrite::Refusal::Other("not today".to_string()))
        });
    assert!(caught(&WRONG).contains("fired"));
}
