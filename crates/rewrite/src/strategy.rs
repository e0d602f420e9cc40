//! Strategies: where rules are applied, in which order, and what happens where one does not apply.
//!
//! A strategy works at a place of a program and either succeeds, having applied rules there or below, or
//! fails with a [`Failure`] that says which part did not apply where and why, having changed nothing.
//!
//! ```
//! use lift_ir::{Build, Context, Facts, Type};
//! use lift_rewrite::{Strategy, find};
//!
//! let fuse = Strategy::rule(find("map_fusion")?);
//! let seq = Strategy::rule(find("map_to_seq")?);
//! let strategy = fuse.somewhere().repeat().then(seq.somewhere());
//! assert_eq!(strategy.to_string(), "repeat(somewhere(map_fusion)) >> somewhere(map_to_seq)");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod arguments;
mod condition;
mod failure;
mod library;
mod outcomes;
mod run;
mod script;
mod simplify;
mod text;

use std::fmt;

use lift_ir::Place;

use crate::rule::Rule;

pub use arguments::Given;
pub use condition::Condition;
pub use failure::{Failure, Reason};
pub use library::{Listed, Unreadable, library, listed};
pub use outcomes::{Outcomes, at_every_place, outcomes, outcomes_until};
pub use run::{
    Outcome, PARAMETER_LIMIT, SIZE_LIMIT, STEP_LIMIT, Stop, run, run_at_most, run_until,
};
pub use script::{NewParameter, Script, ScriptError, Written, read_script, read_strategy};

#[derive(Clone, Debug)]
pub enum Strategy {
    /// A rule, with as many of its parameters as are given; others become parameters of the program.
    Rule(&'static Rule, Vec<Given>),
    /// Succeeds without doing anything.
    Id,
    /// Fails, with a reason.
    Fail(String),
    /// One after the other; fails where one of them fails.
    Seq(Vec<Strategy>),
    /// The first that succeeds.
    Choice(Vec<Strategy>),
    /// Any of these: each gives an outcome of its own. Where one is wanted, the first that succeeds.
    Any(Vec<Strategy>),
    /// At any place where it succeeds: each gives an outcome of its own. Where one is wanted, the first from
    /// the outside in.
    Anywhere(Box<Strategy>),
    /// If it succeeds.
    Try(Box<Strategy>),
    /// As often as it succeeds and changes something.
    Repeat(Box<Strategy>),
    /// At the first child where it succeeds.
    One(Box<Strategy>),
    /// At every child; fails where it fails at one.
    All(Box<Strategy>),
    /// At the first place where it succeeds, from the outside in.
    Somewhere(Box<Strategy>),
    /// At every place where it succeeds, parents before children.
    Topdown(Box<Strategy>),
    /// At every place where it succeeds, children before parents.
    Bottomup(Box<Strategy>),
    /// At a place below.
    At(Place, Box<Strategy>),
    /// At the body of the function of a pattern, or of a `let`.
    Body(Box<Strategy>),
    /// At an argument of a pattern, the last one if none is named; the value of a `let`.
    Argument(Option<u32>, Box<Strategy>),
    /// At the first pattern below that meets a condition, from the outside in.
    Find(Condition, Box<Strategy>),
    /// These rules wherever they apply, until none does.
    Normalize(Vec<&'static Rule>),
    /// Succeeds where a condition holds.
    Where(Condition),
    /// Fuses and drops what can be dropped until the program does not get smaller.
    Simplify,
    /// A strategy with a name, which its failures carry.
    Named(String, Box<Strategy>),
}

impl Strategy {
    pub fn rule(rule: &'static Rule) -> Strategy {
        Strategy::Rule(rule, Vec::new())
    }

    /// This one, then the next.
    pub fn then(self, next: Strategy) -> Strategy {
        match self {
            Strategy::Seq(mut parts) => {
                parts.push(next);
                Strategy::Seq(parts)
            }
            first => Strategy::Seq(vec![first, next]),
        }
    }

    /// This one, or where it fails the other.
    pub fn or(self, other: Strategy) -> Strategy {
        match self {
            Strategy::Choice(mut parts) => {
                parts.push(other);
                Strategy::Choice(parts)
            }
            first => Strategy::Choice(vec![first, other]),
        }
    }

    pub fn attempt(self) -> Strategy {
        Strategy::Try(Box::new(self))
    }

    pub fn repeat(self) -> Strategy {
        Strategy::Repeat(Box::new(self))
    }

    pub fn somewhere(self) -> Strategy {
        Strategy::Somewhere(Box::new(self))
    }

    pub fn topdown(self) -> Strategy {
        Strategy::Topdown(Box::new(self))
    }

    pub fn bottomup(self) -> Strategy {
        Strategy::Bottomup(Box::new(self))
    }

    pub fn at(self, place: Place) -> Strategy {
        Strategy::At(place, Box::new(self))
    }

    pub fn named(self, name: &str) -> Strategy {
        Strategy::Named(name.to_string(), Box::new(self))
    }
}

/// As it is written in a strategy file. A named one is its name; `{:#}` writes out what it stands for, so that the
/// text can be read without its definition.
impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(f.alternate()))
    }
}

impl Strategy {
    fn text(&self, in_full: bool) -> String {
        let text = |inner: &Strategy| inner.text(in_full);
        let around = |name: &str, inner: &Strategy| format!("{name}({})", text(inner));
        match self {
            Strategy::Rule(rule, given) if given.is_empty() => rule.name.to_string(),
            Strategy::Rule(rule, given) => {
                let given: Vec<String> = given.iter().map(ToString::to_string).collect();
                format!("{}({})", rule.name, given.join(", "))
            }
            Strategy::Id => "id".to_string(),
            Strategy::Fail(_) => "fail".to_string(),
            Strategy::Seq(parts) => match parts.as_slice() {
                [] => "id".to_string(),
                parts => parts.iter().map(text).collect::<Vec<String>>().join(" >> "),
            },
            Strategy::Choice(parts) | Strategy::Any(parts) if parts.is_empty() => {
                "fail".to_string()
            }
            Strategy::Choice(parts) | Strategy::Any(parts) => {
                let name = if matches!(self, Strategy::Any(_)) { "any" } else { "choice" };
                let parts: Vec<String> = parts.iter().map(text).collect();
                format!("{name}({})", parts.join(", "))
            }
            Strategy::Anywhere(inner) => around("anywhere", inner),
            Strategy::Try(inner) => around("try", inner),
            Strategy::Repeat(inner) => around("repeat", inner),
            Strategy::One(inner) => around("one", inner),
            Strategy::All(inner) => around("all", inner),
            Strategy::Somewhere(inner) => around("somewhere", inner),
            Strategy::Topdown(inner) => around("topdown", inner),
            Strategy::Bottomup(inner) => around("bottomup", inner),
            Strategy::At(place, inner) if place.0.is_empty() => {
                format!("at(root, {})", text(inner))
            }
            Strategy::At(place, inner) => format!("at(root.{place}, {})", text(inner)),
            Strategy::Body(inner) => around("body", inner),
            Strategy::Argument(None, inner) => around("argument", inner),
            Strategy::Argument(Some(index), inner) => format!("argument({index}, {})", text(inner)),
            Strategy::Find(condition, inner) => format!("find({condition}, {})", text(inner)),
            Strategy::Normalize(rules) => {
                let names: Vec<&str> = rules.iter().map(|rule| rule.name).collect();
                format!("normalize({})", names.join(", "))
            }
            Strategy::Where(condition) => format!("where({condition})"),
            Strategy::Simplify => "simplify".to_string(),
            Strategy::Named(_, inner) if in_full => text(inner),
            Strategy::Named(name, _) => name.clone(),
        }
    }
}
