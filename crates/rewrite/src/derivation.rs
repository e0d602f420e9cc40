//! Derivations: which rules led from one program to another.

use lift_ir::{Clause, Def, Expr, Parameter, Place, Pred, Var};

use crate::arguments::Arguments;
use crate::rule::Rule;

mod text;

pub use text::{ReplayError, formatted, replay};

/// A definition and the rules applied to it, one after the other.
#[derive(Clone, Debug)]
pub struct Derivation {
    pub start: Def,
    pub steps: Vec<Step>,
    /// The sizes that steps introduced, in order.
    pub(crate) parameters: Vec<Var>,
    /// What steps assumed of sizes whose values are picked later, in order.
    pub(crate) clauses: Vec<Pred>,
    /// Bounds that the bodies need, those of the first one among them.
    pub(crate) implied: Vec<Pred>,
    /// One more than every variable number used.
    pub(crate) next_number: u32,
}

/// One application of a rule.
#[derive(Clone, Debug)]
pub struct Step {
    pub rule: &'static Rule,
    pub place: Place,
    pub arguments: Arguments,
    /// The body afterwards.
    pub body: Expr,
    /// How many sizes there are by then of those that steps introduced.
    pub(crate) parameters: usize,
    /// How many assumptions there are by then.
    pub(crate) clauses: usize,
}

impl Derivation {
    /// A definition to which no rule has been applied.
    pub fn of(def: &Def) -> Derivation {
        Derivation {
            start: def.clone(),
            steps: Vec::new(),
            parameters: Vec::new(),
            clauses: Vec::new(),
            implied: def.implied.clone(),
            next_number: def.next_number,
        }
    }

    /// The definition after so many steps; the last one where there are fewer.
    pub fn after(&self, count: usize) -> Def {
        let mut def = self.start.clone();
        let Some(step) = self.steps.get(..count).unwrap_or(&self.steps).last() else {
            return def;
        };
        def.body = step.body.clone();
        let new = |var: &Var| Parameter { var: var.clone(), default: None };
        def.parameters.extend(self.parameters.iter().take(step.parameters).map(new));
        let clause = |pred: &Pred| Clause { pred: pred.clone(), span: None };
        def.wheres.extend(self.clauses.iter().take(step.clauses).map(clause));
        let has =
            |var: &Var| def.sizes.contains(var) || def.parameters.iter().any(|p| p.var == *var);
        let bounds = self.implied.iter().filter(|pred| pred.vars().iter().all(has));
        def.implied = bounds.cloned().collect();
        def.next_number = self.next_number;
        def
    }

    /// The definition after all steps.
    pub fn end(&self) -> Def {
        self.after(self.steps.len())
    }

    /// The steps of this one, then those of another that starts where this one ends.
    pub fn then(mut self, next: Derivation) -> Derivation {
        let (parameters, clauses) = (self.parameters.len(), self.clauses.len());
        let later = |step: Step| Step {
            parameters: step.parameters + parameters,
            clauses: step.clauses + clauses,
            ..step
        };
        self.steps.extend(next.steps.into_iter().map(later));
        self.parameters.extend(next.parameters);
        self.clauses.extend(next.clauses);
        self.implied = next.implied;
        self.next_number = next.next_number;
        self
    }
}
