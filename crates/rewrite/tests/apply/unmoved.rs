//! For every rule a program that looks like its left side and is not: the rule must leave it alone, and say why.

use std::collections::BTreeSet;

use lift_ir::{Nat, Permutation};
use lift_rewrite::{Arguments, rules};

use crate::{refusal, rewritten};

/// What the programs are about.
const AROUND: &str = "
  fn inc(x: i32) -> i32 = x + 1;
  fn twice(x: i32) -> i32 = x * 2;
  def f[N, M, K](
    xs: [i32; N], ys: [i32; N], zs: [i32; N], row: [i32; M], xss: [[i32; M]; N], yss: [[i32; M]; N],
    cube: [[[i32; K]; M]; N], us: [f32x4; N], vs: [f32x4; N], eight: [i32; 8], c: i32) = ";

/// Rules that hold of every value there is.
const EVERYWHERE: &[&str] = &["let_intro"];

/// Three lines a program: the rule with what is chosen for it, the program, and why the rule does not apply.
const PROGRAMS: &str = include_str!("unmoved.txt");

struct Unmoved {
    rule: &'static str,
    chosen: Arguments,
    body: &'static str,
    reason: &'static str,
}

fn unmoved() -> Vec<Unmoved> {
    let is_text = |line: &&str| !line.is_empty() && !line.starts_with('#');
    let lines: Vec<&str> = PROGRAMS.lines().filter(is_text).map(str::trim).collect();
    let one = |three: &[&'static str]| {
        let [rule, body, reason] = *three else { panic!("three lines a program: {three:?}") };
        let (rule, chosen) = rule.split_once(' ').unwrap_or((rule, ""));
        Unmoved { rule, chosen: arguments(chosen), body, reason }
    };
    lines.chunks(3).map(one).collect()
}

/// `m=4,k=2` or `p=reverse`
fn arguments(text: &str) -> Arguments {
    let all = text.split(',').filter_map(|one| one.split_once('='));
    all.fold(Arguments::none(), |arguments, (name, value)| match value {
        "reverse" => arguments.permutation(name, Permutation::Reverse),
        number => arguments.size(name, Nat::int(number.parse().unwrap())),
    })
}

fn program(body: &str) -> String {
    format!("{AROUND}{body};")
}

#[test]
fn every_rule_has_a_program_that_it_leaves_alone() {
    let known: BTreeSet<&str> = rules().iter().map(|rule| rule.name).collect();
    let tried: BTreeSet<&str> = unmoved().iter().map(|one| one.rule).collect();
    let everywhere: BTreeSet<&str> = EVERYWHERE.iter().copied().collect();
    assert_eq!(&tried | &everywhere, known);
    assert!(tried.is_disjoint(&everywhere));
}

#[test]
fn rules_leave_what_only_looks_like_their_left_side_alone() {
    let mut faults = Vec::new();
    for Unmoved { rule, chosen, body, reason } in unmoved() {
        let said = refusal(rule, &program(body), chosen);
        if said != reason {
            faults.push(format!("{rule}: {body}\n  {said}"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn some_rules_hold_of_everything() {
    for rule in EVERYWHERE {
        for body in ["xs", "c + 1", "map(inc, xs)", "let y = c; y * y"] {
            let after = rewritten(rule, &program(body), "root", Arguments::none());
            assert!(after.is_ok(), "{rule}: {body}");
        }
    }
}
