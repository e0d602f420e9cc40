//! Running strategies.
//!
//! Invariant: where a strategy fails, the program, the steps and what is assumed are as they were before.

mod traverse;

use lift_ir::{Context, Def, Expr, Place, Pred, Var};

use super::arguments::{Given, Names};
use super::failure::may_fit;
use super::outcomes::Decisions;
use super::{Failure, Reason, Strategy, simplify};
use crate::arguments::Arguments;
use crate::derivation::{Derivation, Step};
use crate::refusal::Refusal;
use crate::rule::Rule;

/// How many rules a strategy applies before it is taken to run forever.
pub const STEP_LIMIT: usize = 10_000;

/// How many nodes a program may grow to. Larger ones are not read back by the parser, which bounds nesting.
pub const SIZE_LIMIT: u32 = 4_000;

/// How many new sizes a strategy may introduce.
pub const PARAMETER_LIMIT: usize = 32;

/// Asked again and again whether there is no time for more.
pub type Stop<'s> = &'s (dyn Fn() -> bool + Sync);

/// What a strategy made of a definition.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub def: Def,
    pub derivation: Derivation,
}

/// A strategy at the body of a definition.
pub fn run(def: &Def, strategy: &Strategy) -> Result<Outcome, Failure> {
    run_at_most(def, strategy, STEP_LIMIT)
}

/// The same with a limit on the number of rule applications, also of those that are taken back.
pub fn run_at_most(def: &Def, strategy: &Strategy, limit: usize) -> Result<Outcome, Failure> {
    let mut runner = Runner::new(def, limit);
    runner.run(strategy, &Place::root())?;
    Ok(runner.outcome())
}

/// The same with a limit on time: when it is told to stop, it fails.
pub fn run_until(def: &Def, strategy: &Strategy, stop: Stop<'_>) -> Result<Outcome, Failure> {
    let mut runner = Runner::new(def, STEP_LIMIT).until(stop);
    runner.run(strategy, &Place::root())?;
    Ok(runner.outcome())
}

pub(super) struct Runner<'d> {
    def: &'d Def,
    pub cx: Context,
    pub root: Expr,
    steps: Vec<Step>,
    fresh: Vec<Var>,
    assumed: Vec<Pred>,
    /// Bounds that earlier contexts required; those of the present one follow.
    required: Vec<Pred>,
    /// How many rules may still be applied.
    left: usize,
    limit: usize,
    stop: Option<Stop<'d>>,
    /// What decides where several outcomes are possible; without it the first is taken.
    pub decisions: Option<Decisions>,
}

/// An earlier state to come back to, while everything since is only added.
pub(super) struct Mark {
    root: Expr,
    steps: usize,
    fresh: usize,
    assumed: usize,
    required: usize,
}

/// Why a rule was not applied.
pub(super) enum Stopped {
    /// It starts with another pattern.
    OtherPattern,
    Refused(Refusal),
    /// A limit is reached.
    Limit(Reason),
}

/// How many rules could be applied at some time, and had been.
pub(super) struct Budget {
    left: usize,
    steps: usize,
}

/// A state to go to from anywhere.
pub(super) struct State {
    root: Expr,
    steps: Vec<Step>,
}

impl<'d> Runner<'d> {
    pub fn new(def: &'d Def, limit: usize) -> Runner<'d> {
        let (fresh, assumed, steps) = (Vec::new(), Vec::new(), Vec::new());
        let (root, required) = (def.body.clone(), Vec::new());
        Runner {
            def,
            cx: def.context(),
            root,
            steps,
            fresh,
            assumed,
            required,
            left: limit,
            limit,
            stop: None,
            decisions: None,
        }
    }

    pub fn until(self, stop: Stop<'d>) -> Runner<'d> {
        Runner { stop: Some(stop), ..self }
    }

    fn is_stopped(&self) -> bool {
        self.stop.is_some_and(|stop| stop())
    }

    /// What has become of the definition.
    pub fn outcome(&self) -> Outcome {
        let implied = self.def.implied.iter().cloned().chain(self.all_required()).collect();
        let derivation = Derivation {
            start: self.def.clone(),
            steps: self.steps.clone(),
            parameters: self.fresh.clone(),
            clauses: self.assumed.clone(),
            implied,
            next_number: self.cx.next_number(),
        };
        Outcome { def: derivation.end(), derivation }
    }

    /// The bounds required so far, in order.
    fn all_required(&self) -> Vec<Pred> {
        let mut all = self.required.clone();
        all.extend(self.cx.required());
        all
    }

    fn required_count(&self) -> usize {
        self.required.len() + self.cx.required().len()
    }

    pub fn mark(&self) -> Mark {
        let (steps, fresh, assumed) = (self.steps.len(), self.fresh.len(), self.assumed.len());
        let required = self.required_count();
        Mark { root: self.root.clone(), steps, fresh, assumed, required }
    }

    pub fn back_to(&mut self, mark: Mark) {
        self.root = mark.root;
        self.steps.truncate(mark.steps);
        let same = self.fresh.len() == mark.fresh
            && self.assumed.len() == mark.assumed
            && self.required_count() == mark.required;
        if !same {
            self.fresh.truncate(mark.fresh);
            self.assumed.truncate(mark.assumed);
            self.forget(mark.required);
        }
    }

    /// A context that knows what is recorded and no more, with so many of the bounds that were required.
    fn forget(&mut self, required: usize) {
        self.required = self.all_required();
        self.required.truncate(required);
        let cx = Context::starting_at(self.def.facts(), self.cx.next_number());
        self.fresh.iter().for_each(|var| cx.declare_size(var));
        self.assumed.iter().chain(&self.required).for_each(|pred| cx.assume(pred));
        cx.adopt(&self.root);
        self.cx = cx;
    }

    /// Requires: no sizes are introduced and nothing is assumed until the state is gone to.
    pub fn state(&self) -> State {
        State { root: self.root.clone(), steps: self.steps.clone() }
    }

    pub fn go_to(&mut self, state: State) {
        self.root = state.root;
        self.steps = state.steps;
    }

    pub fn run(&mut self, strategy: &Strategy, place: &Place) -> Result<(), Failure> {
        if self.is_stopped() {
            return Err(self.failure("strategy", place, Reason::Stopped));
        }
        let mark = self.mark();
        let done = self.at(strategy, place);
        if done.is_err() {
            self.back_to(mark);
        }
        done
    }

    fn at(&mut self, strategy: &Strategy, place: &Place) -> Result<(), Failure> {
        match strategy {
            Strategy::Rule(rule, given) => self.apply(rule, given, place),
            Strategy::Id => Ok(()),
            Strategy::Fail(reason) => {
                Err(self.failure("fail", place, Reason::Says(reason.clone())))
            }
            Strategy::Seq(parts) => parts.iter().try_for_each(|part| self.run(part, place)),
            Strategy::Choice(parts) => self.choice(parts, place),
            Strategy::Any(parts) => match self.pick(parts.len()).and_then(|i| parts.get(i)) {
                Some(part) => self.run(part, place),
                None => self.choice(parts, place),
            },
            Strategy::Anywhere(inner) => self.anywhere(inner, place),
            Strategy::Try(inner) => self.tried(inner, place).map(|_| ()),
            Strategy::Repeat(inner) => {
                while self.changes(inner, place)? {}
                Ok(())
            }
            Strategy::One(inner) => self.one(inner, place),
            Strategy::All(inner) => {
                (0..self.children(place).len()).try_for_each(|index| match u32::try_from(index) {
                    Ok(index) => self.run(inner, &place.child(index)),
                    Err(_) => Ok(()),
                })
            }
            Strategy::Somewhere(inner) => self.somewhere(inner, place),
            Strategy::Topdown(inner) => self.topdown(inner, place),
            Strategy::Bottomup(inner) => self.bottomup(inner, place),
            Strategy::At(below, inner) => {
                let place = Place(place.0.iter().chain(&below.0).copied().collect());
                match self.root.at(&place) {
                    Some(_) => self.run(inner, &place),
                    None => Err(self.failure("at", &place, Reason::NoPlace)),
                }
            }
            Strategy::Body(inner) => {
                let child = self.body_of(place)?;
                self.run(inner, &child)
            }
            Strategy::Argument(index, inner) => {
                let child = self.argument_of(*index, place)?;
                self.run(inner, &child)
            }
            Strategy::Find(condition, inner) => {
                let found = self.find(condition, place)?;
                self.run(inner, &found)
            }
            Strategy::Normalize(rules) => self.normalize(rules, place),
            Strategy::Where(condition) => match self.here(place) {
                Some(expr) if condition.holds(&self.cx, expr) => Ok(()),
                _ => Err(self.failure("where", place, Reason::Not(condition.clone()))),
            },
            Strategy::Simplify => simplify::simplify(self, place),
            Strategy::Named(name, inner) => self.run(inner, place).map_err(|e| e.inside(name)),
        }
    }

    fn apply(
        &mut self,
        rule: &'static Rule,
        given: &[Given],
        place: &Place,
    ) -> Result<(), Failure> {
        let refused = |this: &Runner, reason| this.failure(rule.name, place, reason);
        if self.is_other_pattern(rule, place) {
            return Err(refused(self, Reason::OtherPattern(rule)));
        }
        let arguments = self.names().arguments(rule, given);
        let arguments = arguments.map_err(|e| refused(self, Reason::Refused(e)))?;
        self.apply_with(rule, &arguments, place).map_err(|stopped| match stopped {
            Stopped::OtherPattern => refused(self, Reason::OtherPattern(rule)),
            Stopped::Refused(refusal) => refused(self, Reason::Refused(refusal)),
            Stopped::Limit(reason) => refused(self, reason),
        })
    }

    fn is_other_pattern(&self, rule: &Rule, place: &Place) -> bool {
        match (rule.read(), self.here(place)) {
            (Ok(law), Some(expr)) => !may_fit(rule, law, expr),
            _ => false,
        }
    }

    /// Applies a rule and records the step. Where it is refused, nothing has become known.
    pub fn apply_with(
        &mut self,
        rule: &'static Rule,
        arguments: &Arguments,
        place: &Place,
    ) -> Result<(), Stopped> {
        if self.is_other_pattern(rule, place) {
            return Err(Stopped::OtherPattern);
        }
        if self.is_stopped() {
            return Err(Stopped::Limit(Reason::Stopped));
        }
        let required = self.required_count();
        let applied = crate::apply::apply_at(&self.cx, rule, &self.root, place, arguments);
        let applied = applied.map_err(|refusal| {
            let assumes = matches!(refusal, Refusal::Type(_) | Refusal::Changes { .. })
                && !(arguments.sizes.is_empty() && arguments.open.is_empty());
            if assumes || self.required_count() != required {
                self.forget(required);
            }
            Stopped::Refused(refusal)
        })?;
        self.root = applied.expr;
        self.fresh.extend(applied.fresh);
        self.assumed.extend(applied.assumed);
        self.within_limits().map_err(Stopped::Limit)?;
        let (place, body) = (place.clone(), self.root.clone());
        let (parameters, clauses) = (self.fresh.len(), self.assumed.len());
        let arguments = arguments.clone();
        self.steps.push(Step { rule, place, arguments, body, parameters, clauses });
        Ok(())
    }

    fn within_limits(&mut self) -> Result<(), Reason> {
        self.left = self.left.checked_sub(1).ok_or(Reason::Steps(self.limit))?;
        // A program that is larger from the start may stay so large.
        let largest = SIZE_LIMIT.max(self.def.body.weight().saturating_mul(4));
        if self.root.weight() > largest {
            return Err(Reason::Size(largest));
        }
        match self.fresh.len() > PARAMETER_LIMIT {
            true => Err(Reason::Parameters(PARAMETER_LIMIT)),
            false => Ok(()),
        }
    }

    pub fn budget(&self) -> Budget {
        Budget { left: self.left, steps: self.steps.len() }
    }

    /// Counts the steps that are kept since then, not those that were taken back: for searches that end by
    /// themselves.
    pub fn count_from(&mut self, budget: Budget) {
        self.left = budget.left.saturating_sub(self.steps.len().saturating_sub(budget.steps));
    }

    fn names(&self) -> Names<'_> {
        let own = self.def.parameters.iter().map(|p| &p.var);
        let sizes: Vec<&Var> =
            self.def.sizes.iter().chain(own.clone()).chain(&self.fresh).collect();
        // Outcomes are for sizes that are known to whoever asks for them all, who drops those that do not fit.
        let given = self.def.sizes.iter().filter(|_| self.decisions.is_some());
        let open = own.chain(&self.fresh).chain(given).collect();
        let mut taken: Vec<String> = sizes.iter().map(|v| v.name().to_string()).collect();
        taken.extend(self.def.params.iter().map(|p| p.name().to_string()));
        Names { sizes, open, taken }
    }

    pub fn failure(&self, part: &'static str, place: &Place, reason: Reason) -> Failure {
        let (within, place, expr) = (Vec::new(), place.clone(), self.here(place).cloned());
        Failure { within, part, place, expr, reason: Box::new(reason) }
    }
}
