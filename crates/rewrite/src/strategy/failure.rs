//! Why a strategy fails.
//!
//! Most failures are met by another choice and never told, so they are put in words only when somebody asks.

use std::fmt;

use lift_ir::{Expr, Place};

use super::Condition;
use crate::law::{Law, Op, Term};
use crate::matching::{form, name_of_prim};
use crate::refusal::Refusal;
use crate::rule::{Rule, RuleKind};

/// The part that did not apply, where, why, and within which named strategies.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The named strategies around, outermost first.
    pub within: Vec<String>,
    /// The rule or combinator that failed.
    pub part: &'static str,
    pub place: Place,
    /// What stood there.
    pub expr: Option<Expr>,
    pub reason: Box<Reason>,
}

#[derive(Clone, Debug)]
pub enum Reason {
    /// The rule starts with another pattern than what stands there.
    OtherPattern(&'static Rule),
    Refused(Refusal),
    /// `fail`, with what it says.
    Says(String),
    /// A condition that does not hold.
    Not(Condition),
    /// Nothing that meets the condition.
    Without(Condition),
    NoPlace,
    NoFunction,
    NoArgument,
    /// No part of a choice succeeds.
    NoPart(Vec<Failure>),
    /// It succeeds at no place; the failure that tells most.
    Nowhere(Option<Box<Failure>>),
    /// So many rules were applied.
    Steps(usize),
    /// The program has more nodes than this.
    Size(u32),
    /// So many new sizes were introduced.
    Parameters(usize),
    /// There was no time for more.
    Stopped,
}

impl Failure {
    pub(super) fn inside(mut self, name: &str) -> Failure {
        self.within.insert(0, name.to_string());
        self
    }

    /// Not to be met by another choice: a limit is reached.
    pub(super) fn is_final(&self) -> bool {
        matches!(
            *self.reason,
            Reason::Steps(_) | Reason::Size(_) | Reason::Parameters(_) | Reason::Stopped
        )
    }

    /// The failure inside that tells most, or this one.
    pub fn cause(&self) -> &Failure {
        match &*self.reason {
            Reason::Nowhere(Some(inner)) => inner.cause(),
            Reason::NoPart(parts) => nearest(parts).map_or(self, Failure::cause),
            _ => self,
        }
    }

    /// How near this came to success: a condition that fails is nearer than another form.
    pub(super) fn nearness(&self) -> u8 {
        match &*self.reason {
            Reason::OtherPattern(_) | Reason::NoFunction | Reason::NoArgument => 0,
            Reason::Not(_) | Reason::Without(_) | Reason::Says(_) | Reason::NoPlace => 1,
            Reason::Refused(refusal) => match refusal {
                Refusal::Form { .. } | Refusal::NoPlace(_) => 1,
                Refusal::Captures { .. } | Refusal::Differs { .. } | Refusal::Other(_) => 2,
                Refusal::Type(_) | Refusal::Changes { .. } => 2,
                Refusal::Condition { .. }
                | Refusal::Missing { .. }
                | Refusal::NoParameter { .. }
                | Refusal::Law(_) => 3,
            },
            Reason::NoPart(parts) => parts.iter().map(Failure::nearness).max().unwrap_or(0),
            Reason::Nowhere(inner) => inner.as_ref().map_or(0, |inner| inner.nearness()),
            Reason::Steps(_) | Reason::Size(_) | Reason::Parameters(_) | Reason::Stopped => 4,
        }
    }
}

/// Places longer than this are not written out.
const TOLD: usize = 40;

/// The first of those that came nearest.
pub(super) fn nearest(failures: &[Failure]) -> Option<&Failure> {
    let most = failures.iter().map(Failure::nearness).max()?;
    failures.iter().find(|f| f.nearness() == most)
}

/// False where the rule is a law whose left side starts with another pattern than the expression: cheap to ask,
/// and true of most places.
pub(super) fn may_fit(rule: &Rule, law: &Law, expr: &Expr) -> bool {
    match (rule.kind, &law.left) {
        (RuleKind::Law, Term::Call { op: Op::Exact(prim), .. }) => {
            expr.as_call().is_some_and(|call| call.prim == *prim)
        }
        _ => true,
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.within.is_empty() {
            write!(f, "{}: ", self.within.join(" > "))?;
        }
        match self.place.0.len() {
            depth if depth > TOLD => write!(f, "`{}` fails {depth} levels deep: ", self.part)?,
            _ => write!(f, "`{}` fails at {}: ", self.part, self.place)?,
        }
        match (&*self.reason, &self.expr) {
            (Reason::OtherPattern(rule), Some(expr)) => write!(f, "{}", other_pattern(rule, expr)),
            (reason, _) => write!(f, "{reason}"),
        }
    }
}

fn other_pattern(rule: &Rule, expr: &Expr) -> Refusal {
    match rule.read().map(|law| &law.left) {
        Ok(Term::Call { op: Op::Exact(prim), .. }) => form(name_of_prim(prim), expr),
        Ok(_) => form(format!("`{}`", rule.left), expr),
        Err(refusal) => refusal,
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::OtherPattern(rule) => write!(f, "expected `{}`", rule.left),
            Reason::Refused(refusal) => write!(f, "{refusal}"),
            Reason::Says(text) => f.write_str(text),
            Reason::Not(condition) => write!(f, "`{condition}` does not hold"),
            Reason::Without(condition) => write!(f, "there is no `{condition}` here"),
            Reason::NoPlace => f.write_str("there is no such place"),
            Reason::NoFunction => f.write_str("there is no function here"),
            Reason::NoArgument => f.write_str("there is no such argument"),
            Reason::NoPart(parts) => {
                let most = parts.iter().map(Failure::nearness).max().unwrap_or(0);
                let told = parts.iter().filter(|part| part.nearness() == most);
                let told: Vec<String> = told.map(ToString::to_string).collect();
                write!(f, "no part succeeds ({})", told.join("; "))
            }
            Reason::Nowhere(Some(inner)) => {
                write!(f, "it succeeds nowhere; nearest to it, {inner}")
            }
            Reason::Nowhere(None) => f.write_str("there is nothing inside"),
            Reason::Stopped => write!(f, "there is no time for more"),
            Reason::Steps(limit) => write!(
                f,
                "stopped after {limit} rule applications; does the strategy undo its own work?"
            ),
            Reason::Size(limit) => write!(
                f,
                "the program would have more than {limit} nodes; does the strategy add to it forever?"
            ),
            Reason::Parameters(limit) => write!(
                f,
                "there would be more than {limit} new sizes; does the strategy split forever?"
            ),
        }
    }
}

impl std::error::Error for Failure {}
