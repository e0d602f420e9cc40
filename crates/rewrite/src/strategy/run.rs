//! Running strategies.
//!
//! Invariant: where a strategy fails, the program, the steps and what is assumed are as they were before.

use lift_ir::{Context, Def, Expr, Kind, Place, Pred, Var};

use super::arguments::{Given, Names};
use super::{Condition, Failure, Strategy, simplify};
use crate::arguments::Arguments;
use crate::derivation::{Derivation, Step};
use crate::refusal::Refusal;
use crate::rule::Rule;

/// How many rules a strategy applies before it is taken to run forever.
pub const STEP_LIMIT: usize = 10_000;

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

pub(super) struct Runner<'d> {
    def: &'d Def,
    pub cx: Context,
    pub root: Expr,
    steps: Vec<Step>,
    fresh: Vec<Var>,
    assumed: Vec<Pred>,
    /// How many rules may still be applied.
    left: usize,
    limit: usize,
}

/// An earlier state to come back to, while everything since is only added.
pub(super) struct Mark {
    root: Expr,
    steps: usize,
    fresh: usize,
    assumed: usize,
}

/// A state to go to from anywhere.
pub(super) struct State {
    root: Expr,
    steps: Vec<Step>,
}

impl<'d> Runner<'d> {
    fn new(def: &'d Def, limit: usize) -> Runner<'d> {
        let (fresh, assumed, steps) = (Vec::new(), Vec::new(), Vec::new());
        let root = def.body.clone();
        Runner { def, cx: def.context(), root, steps, fresh, assumed, left: limit, limit }
    }

    fn outcome(self) -> Outcome {
        let derivation = Derivation {
            start: self.def.clone(),
            steps: self.steps,
            parameters: self.fresh,
            clauses: self.assumed,
            implied: self.def.implied.iter().cloned().chain(self.cx.required()).collect(),
            next_number: self.cx.next_number(),
        };
        Outcome { def: derivation.end(), derivation }
    }

    pub fn mark(&self) -> Mark {
        let (steps, fresh, assumed) = (self.steps.len(), self.fresh.len(), self.assumed.len());
        Mark { root: self.root.clone(), steps, fresh, assumed }
    }

    pub fn back_to(&mut self, mark: Mark) {
        self.root = mark.root;
        self.steps.truncate(mark.steps);
        if self.fresh.len() == mark.fresh && self.assumed.len() == mark.assumed {
            return;
        }
        // What was assumed meanwhile is not known.
        self.fresh.truncate(mark.fresh);
        self.assumed.truncate(mark.assumed);
        let cx = Context::starting_at(self.def.facts(), self.cx.next_number());
        self.fresh.iter().for_each(|var| cx.declare_size(var));
        self.assumed.iter().for_each(|pred| cx.assume(pred));
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
            Strategy::Fail(reason) => Err(self.failure("fail", place, reason.clone())),
            Strategy::Seq(parts) => parts.iter().try_for_each(|part| self.run(part, place)),
            Strategy::Choice(parts) => self.choice(parts, place),
            Strategy::Try(inner) => self.tried(inner, place).map(|_| ()),
            Strategy::Repeat(inner) => {
                while self.changes(inner, place)? {}
                Ok(())
            }
            Strategy::One(inner) => {
                let children = self.children(place);
                self.first(strategy, inner, place, children)
            }
            Strategy::All(inner) => {
                (0..self.children(place).len()).try_for_each(|index| match u32::try_from(index) {
                    Ok(index) => self.run(inner, &place.child(index)),
                    Err(_) => Ok(()),
                })
            }
            Strategy::Somewhere(inner) => {
                let places = self.places(place);
                self.first(strategy, inner, place, places)
            }
            Strategy::Topdown(inner) => self.topdown(inner, place),
            Strategy::Bottomup(inner) => self.bottomup(inner, place),
            Strategy::At(below, inner) => {
                let place = Place(place.0.iter().chain(&below.0).copied().collect());
                match self.root.at(&place) {
                    Some(_) => self.run(inner, &place),
                    None => Err(self.failure("at", &place, "there is no such place".to_string())),
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
                _ => {
                    let reason = format!("`{condition}` does not hold");
                    Err(self.failure("where", place, reason))
                }
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
        let refused = |this: &Runner, e: Refusal| this.failure(rule.name, place, e.to_string());
        let arguments = self.names().arguments(rule, given).map_err(|e| refused(self, e))?;
        self.apply_with(rule, arguments, place).map_err(|e| match e {
            Some(refusal) => refused(self, refusal),
            None => self.out_of_steps(rule.name, place),
        })
    }

    /// Applies a rule and records the step. `None` as the error: no steps are left.
    pub fn apply_with(
        &mut self,
        rule: &'static Rule,
        arguments: Arguments,
        place: &Place,
    ) -> Result<(), Option<Refusal>> {
        let applied = crate::apply::apply_at(&self.cx, rule, &self.root, place, &arguments)?;
        self.left = self.left.checked_sub(1).ok_or(None)?;
        self.root = applied.expr;
        self.fresh.extend(applied.fresh);
        self.assumed.extend(applied.assumed);
        let (place, body) = (place.clone(), self.root.clone());
        let (parameters, clauses) = (self.fresh.len(), self.assumed.len());
        self.steps.push(Step { rule, place, arguments, body, parameters, clauses });
        Ok(())
    }

    fn out_of_steps(&self, part: &str, place: &Place) -> Failure {
        let reason = format!(
            "stopped after {} rule applications; does the strategy undo its own work?",
            self.limit
        );
        Failure { is_final: true, ..self.failure(part, place, reason) }
    }

    fn names(&self) -> Names<'_> {
        let own = self.def.parameters.iter().map(|p| &p.var);
        let sizes: Vec<&Var> =
            self.def.sizes.iter().chain(own.clone()).chain(&self.fresh).collect();
        let open = own.chain(&self.fresh).collect();
        let mut taken: Vec<String> = sizes.iter().map(|v| v.name().to_string()).collect();
        taken.extend(self.def.params.iter().map(|p| p.name().to_string()));
        Names { sizes, open, taken }
    }

    /// Whether a strategy succeeds; an error only where that is final.
    fn tried(&mut self, strategy: &Strategy, place: &Place) -> Result<bool, Failure> {
        match self.run(strategy, place) {
            Ok(()) => Ok(true),
            Err(failure) if failure.is_final => Err(failure),
            Err(_) => Ok(false),
        }
    }

    /// Whether a strategy succeeds and changes something.
    fn changes(&mut self, strategy: &Strategy, place: &Place) -> Result<bool, Failure> {
        let before = self.root.clone();
        Ok(self.tried(strategy, place)? && !before.same_node(&self.root))
    }

    fn choice(&mut self, parts: &[Strategy], place: &Place) -> Result<(), Failure> {
        let mut reasons = Vec::new();
        for part in parts {
            match self.run(part, place) {
                Ok(()) => return Ok(()),
                Err(failure) if failure.is_final => return Err(failure),
                Err(failure) => reasons.push(failure),
            }
        }
        let told: Vec<String> = reasons.iter().map(|f| format!("{f}")).collect();
        Err(self.failure("choice", place, format!("no part succeeds ({})", told.join("; "))))
    }

    /// A strategy at the first of some places where it succeeds. Of the failures, the one at a place of the
    /// right form tells most.
    fn first(
        &mut self,
        whole: &Strategy,
        inner: &Strategy,
        place: &Place,
        places: Vec<Place>,
    ) -> Result<(), Failure> {
        let mut nearest: Option<Failure> = None;
        for candidate in places {
            match self.run(inner, &candidate) {
                Ok(()) => return Ok(()),
                Err(failure) if failure.is_final => return Err(failure),
                Err(failure) => {
                    if nearest
                        .as_ref()
                        .is_none_or(|known| known.place.0.len() < failure.place.0.len())
                    {
                        nearest = Some(failure);
                    }
                }
            }
        }
        let reason = match nearest {
            Some(failure) => format!("it succeeds nowhere; the last try: {failure}"),
            None => "there is nothing inside".to_string(),
        };
        Err(self.failure(&whole.to_string(), place, reason))
    }

    fn topdown(&mut self, inner: &Strategy, place: &Place) -> Result<(), Failure> {
        self.tried(inner, place)?;
        self.children(place).iter().try_for_each(|child| self.topdown(inner, child))
    }

    fn bottomup(&mut self, inner: &Strategy, place: &Place) -> Result<(), Failure> {
        for child in self.children(place) {
            self.bottomup(inner, &child)?;
        }
        self.tried(inner, place).map(|_| ())
    }

    /// Rules from the inside out, over and over, until a round changes nothing.
    pub fn normalize(&mut self, rules: &[&'static Rule], place: &Place) -> Result<(), Failure> {
        while self.normalize_once(rules, place)? {}
        Ok(())
    }

    fn normalize_once(&mut self, rules: &[&'static Rule], place: &Place) -> Result<bool, Failure> {
        let mut changed = false;
        for child in self.children(place) {
            changed |= self.normalize_once(rules, &child)?;
        }
        let mut again = true;
        while again {
            again = false;
            for rule in rules {
                match self.apply_with(rule, Arguments::none(), place) {
                    Ok(()) => again = true,
                    Err(None) => return Err(self.out_of_steps(rule.name, place)),
                    Err(Some(_)) => {}
                }
            }
            changed |= again;
        }
        Ok(changed)
    }

    pub fn here(&self, place: &Place) -> Option<&Expr> {
        self.root.at(place)
    }

    fn children(&self, place: &Place) -> Vec<Place> {
        let count = self.here(place).map_or(0, |expr| expr.children().len());
        (0..count).filter_map(|i| u32::try_from(i).ok()).map(|i| place.child(i)).collect()
    }

    /// The place and all below, from the outside in.
    pub fn places(&self, place: &Place) -> Vec<Place> {
        let below = |inner: Place| Place(place.0.iter().chain(&inner.0).copied().collect());
        let found = self.here(place).map_or(Vec::new(), |expr| expr.places());
        found.into_iter().map(|(inner, _)| below(inner)).collect()
    }

    fn find(&self, condition: &Condition, place: &Place) -> Result<Place, Failure> {
        let meets = |p: &Place| self.here(p).is_some_and(|expr| condition.holds(&self.cx, expr));
        let found = self.places(place).into_iter().find(meets);
        found.ok_or_else(|| {
            let reason = format!("there is no `{condition}` here");
            self.failure("find", place, reason)
        })
    }

    fn body_of(&self, place: &Place) -> Result<Place, Failure> {
        let expr = self.here(place);
        match expr.map(Expr::kind) {
            Some(Kind::Let { .. }) => Ok(place.child(1)),
            Some(Kind::Call(call)) if !call.functions.is_empty() => Ok(place.child(0)),
            _ => Err(self.failure("body", place, "there is no function here".to_string())),
        }
    }

    fn argument_of(&self, index: Option<u32>, place: &Place) -> Result<Place, Failure> {
        let none = || self.failure("argument", place, "there is no such argument".to_string());
        match self.here(place).map(Expr::kind) {
            Some(Kind::Let { .. }) => Ok(place.child(0)),
            Some(Kind::Call(call)) => {
                let count = u32::try_from(call.args.len()).unwrap_or(u32::MAX);
                let functions = u32::try_from(call.functions.len()).unwrap_or(u32::MAX);
                let index = index.or(count.checked_sub(1)).filter(|i| *i < count);
                index.map(|i| place.child(functions + i)).ok_or_else(none)
            }
            _ => Err(none()),
        }
    }

    fn failure(&self, part: &str, place: &Place, reason: String) -> Failure {
        let (within, part, place) = (Vec::new(), part.to_string(), place.clone());
        Failure { within, part, place, reason, is_final: false }
    }
}
