//! Where a strategy goes: alternatives, traversals, and places named by what stands there.

use lift_ir::{Expr, Kind, Place};

use super::{Runner, Stopped};
use crate::arguments::Arguments;
use crate::rule::Rule;
use crate::strategy::{Condition, Failure, Reason, Strategy};

impl Runner<'_> {
    /// Whether a strategy succeeds; an error only where that is final.
    pub(super) fn tried(&mut self, strategy: &Strategy, place: &Place) -> Result<bool, Failure> {
        match self.run(strategy, place) {
            Ok(()) => Ok(true),
            Err(failure) if failure.is_final() => Err(failure),
            Err(_) => Ok(false),
        }
    }

    /// Whether a strategy succeeds and changes something.
    pub(super) fn changes(&mut self, strategy: &Strategy, place: &Place) -> Result<bool, Failure> {
        let before = self.root.clone();
        Ok(self.tried(strategy, place)? && !before.same_node(&self.root))
    }

    pub(super) fn choice(&mut self, parts: &[Strategy], place: &Place) -> Result<(), Failure> {
        let mut failures = Vec::new();
        for part in parts {
            match self.run(part, place) {
                Ok(()) => return Ok(()),
                Err(failure) if failure.is_final() => return Err(failure),
                Err(failure) => failures.push(failure),
            }
        }
        Err(self.failure("choice", place, Reason::NoPart(failures)))
    }

    pub(super) fn one(&mut self, inner: &Strategy, place: &Place) -> Result<(), Failure> {
        let mut nearest = None;
        for child in self.children(place) {
            if self.succeeds(inner, &child, &mut nearest)? {
                return Ok(());
            }
        }
        Err(self.failure("one", place, Reason::Nowhere(nearest.map(Box::new))))
    }

    pub(super) fn somewhere(&mut self, inner: &Strategy, place: &Place) -> Result<(), Failure> {
        let mut nearest = None;
        // What fails changes nothing, so the places stay as they are until one succeeds.
        let mut pending = vec![place.clone()];
        while let Some(candidate) = pending.pop() {
            if self.succeeds(inner, &candidate, &mut nearest)? {
                return Ok(());
            }
            pending.extend(self.children(&candidate).into_iter().rev());
        }
        Err(self.failure("somewhere", place, Reason::Nowhere(nearest.map(Box::new))))
    }

    /// Whether a strategy succeeds; the first of the failures that came nearest is kept.
    pub(super) fn succeeds(
        &mut self,
        strategy: &Strategy,
        place: &Place,
        nearest: &mut Option<Failure>,
    ) -> Result<bool, Failure> {
        match self.run(strategy, place) {
            Ok(()) => Ok(true),
            Err(failure) if failure.is_final() => Err(failure),
            Err(failure) => {
                if nearest.as_ref().is_none_or(|known| known.nearness() < failure.nearness()) {
                    *nearest = Some(failure);
                }
                Ok(false)
            }
        }
    }

    /// The number of the alternative to take, where that is decided.
    pub(super) fn pick(&mut self, count: usize) -> Option<usize> {
        self.decisions.as_mut().map(|decisions| decisions.next(count))
    }

    /// At one of the places where it succeeds.
    pub(super) fn anywhere(&mut self, inner: &Strategy, place: &Place) -> Result<(), Failure> {
        if self.decisions.is_none() {
            return self.somewhere(inner, place);
        }
        let mut fitting = Vec::new();
        for candidate in self.places(place) {
            let mark = self.mark();
            // What is decided inside is decided again once the place is chosen.
            let decisions = self.decisions.take();
            if self.tried(inner, &candidate)? {
                fitting.push(candidate);
            }
            self.decisions = decisions;
            self.back_to(mark);
        }
        match self.pick(fitting.len()).and_then(|i| fitting.get(i)) {
            Some(chosen) => self.run(inner, chosen),
            None => self.somewhere(inner, place),
        }
    }

    pub(super) fn topdown(&mut self, inner: &Strategy, place: &Place) -> Result<(), Failure> {
        self.tried(inner, place)?;
        self.children(place).iter().try_for_each(|child| self.topdown(inner, child))
    }

    pub(super) fn bottomup(&mut self, inner: &Strategy, place: &Place) -> Result<(), Failure> {
        for child in self.children(place) {
            self.bottomup(inner, &child)?;
        }
        self.tried(inner, place).map(|_| ())
    }

    /// Rules from the inside out, over and over, until a round changes nothing.
    pub(in crate::strategy) fn normalize(
        &mut self,
        rules: &[&'static Rule],
        place: &Place,
    ) -> Result<(), Failure> {
        while self.normalize_once(rules, place)? {}
        Ok(())
    }

    pub(super) fn normalize_once(
        &mut self,
        rules: &[&'static Rule],
        place: &Place,
    ) -> Result<bool, Failure> {
        let mut changed = false;
        for child in self.children(place) {
            changed |= self.normalize_once(rules, &child)?;
        }
        let none = Arguments::none();
        let mut again = true;
        while again {
            again = false;
            for rule in rules {
                match self.apply_with(rule, &none, place) {
                    Ok(()) => again = true,
                    Err(Stopped::Limit(reason)) => {
                        return Err(self.failure(rule.name, place, reason));
                    }
                    Err(Stopped::OtherPattern | Stopped::Refused(_)) => {}
                }
            }
            changed |= again;
        }
        Ok(changed)
    }

    pub(in crate::strategy) fn here(&self, place: &Place) -> Option<&Expr> {
        self.root.at(place)
    }

    pub(super) fn children(&self, place: &Place) -> Vec<Place> {
        let count = self.here(place).map_or(0, |expr| expr.children().len());
        (0..count).filter_map(|i| u32::try_from(i).ok()).map(|i| place.child(i)).collect()
    }

    /// The place and all below, from the outside in.
    pub(in crate::strategy) fn places(&self, place: &Place) -> Vec<Place> {
        let below = |inner: Place| Place(place.0.iter().chain(&inner.0).copied().collect());
        let found = self.here(place).map_or(Vec::new(), |expr| expr.places());
        found.into_iter().map(|(inner, _)| below(inner)).collect()
    }

    pub(super) fn find(&self, condition: &Condition, place: &Place) -> Result<Place, Failure> {
        let meets = |p: &Place| self.here(p).is_some_and(|expr| condition.holds(&self.cx, expr));
        let found = self.places(place).into_iter().find(meets);
        found.ok_or_else(|| self.failure("find", place, Reason::Without(condition.clone())))
    }

    pub(super) fn body_of(&self, place: &Place) -> Result<Place, Failure> {
        let expr = self.here(place);
        match expr.map(Expr::kind) {
            Some(Kind::Let { .. }) => Ok(place.child(1)),
            Some(Kind::Call(call)) if !call.functions.is_empty() => Ok(place.child(0)),
            _ => Err(self.failure("body", place, Reason::NoFunction)),
        }
    }

    pub(super) fn argument_of(&self, index: Option<u32>, place: &Place) -> Result<Place, Failure> {
        let none = || self.failure("argument", place, Reason::NoArgument);
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
}
