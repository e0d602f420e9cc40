//! Rules: named laws that rewrite left to right.

use std::fmt;
use std::sync::OnceLock;

use lift_ir::{Context, Expr};

use crate::arguments::{Applied, Arguments};
use crate::law::Law;
use crate::refusal::Refusal;

/// A law with a name. Its text is all there is to a declarative rule: the engine, the reference
/// and the law test read the same text.
#[derive(Debug)]
pub struct Rule {
    pub name: &'static str,
    /// The law in words: one sentence.
    pub about: &'static str,
    /// The metavariables: `f: b -> c, xs: [b; n]`.
    pub signature: &'static str,
    pub left: &'static str,
    pub right: &'static str,
    /// Empty where the law always holds.
    pub condition: &'static str,
    pub kind: RuleKind,
    law: OnceLock<Result<Law, String>>,
}

/// How the left side is found and the right side made.
#[derive(Clone, Copy, Debug)]
pub enum RuleKind {
    /// By the law's text.
    Law,
    /// By a function, where matching needs more than the text can say.
    Function(fn(&Site) -> Result<Expr, Refusal>),
}

/// Where a rule is tried.
#[derive(Clone, Copy)]
pub struct Site<'a> {
    pub cx: &'a Context,
    pub expr: &'a Expr,
    pub arguments: &'a Arguments,
}

impl Rule {
    pub const fn law(
        name: &'static str,
        about: &'static str,
        signature: &'static str,
        left: &'static str,
        right: &'static str,
    ) -> Rule {
        let kind = RuleKind::Law;
        Rule { name, about, signature, left, right, condition: "", kind, law: OnceLock::new() }
    }

    /// The text says what the function does, and the law test makes its instances from it.
    pub const fn function(
        name: &'static str,
        about: &'static str,
        signature: &'static str,
        left: &'static str,
        right: &'static str,
        function: fn(&Site) -> Result<Expr, Refusal>,
    ) -> Rule {
        let kind = RuleKind::Function(function);
        Rule { name, about, signature, left, right, condition: "", kind, law: OnceLock::new() }
    }

    /// The same rule under a condition such as `n % m == 0`.
    pub const fn needs(mut self, condition: &'static str) -> Rule {
        self.condition = condition;
        self
    }

    /// The law, read once.
    pub fn read(&self) -> Result<&Law, Refusal> {
        let read = || Law::read(self.signature, self.left, self.right, self.condition);
        self.law.get_or_init(read).as_ref().map_err(|e| Refusal::Law(e.clone()))
    }

    /// The expression rewritten, or why it cannot be.
    pub fn apply(
        &self,
        cx: &Context,
        expr: &Expr,
        arguments: &Arguments,
    ) -> Result<Applied, Refusal> {
        crate::apply::apply(self, &Site { cx, expr, arguments })
    }
}

/// `name: left = right  (where condition)`
impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} = {}", self.name, self.left, self.right)?;
        match self.condition {
            "" => Ok(()),
            condition => write!(f, " where {condition}"),
        }
    }
}
