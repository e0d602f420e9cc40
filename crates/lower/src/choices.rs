//! Choices: where lowering could go several ways, and which it takes.
//!
//! A pass that knows several ways names them and asks which to take. It is told the first, the one it thinks best, unless
//! another is wanted. Choices are numbered as lowering comes to them: those before a choice are the same in every lowering in
//! which the same ways were wanted before it. So a planner can lower a program again with one choice made otherwise.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// A place at which lowering could have gone several ways.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Choice {
    /// The pass that asked.
    pub pass: &'static str,
    /// For people. The first is what the pass takes by itself.
    pub ways: Vec<String>,
    /// Which was taken.
    pub taken: usize,
}

impl Choice {
    /// What was taken and what would have been, where that is another.
    pub fn otherwise(&self) -> Option<(&str, &str)> {
        let (taken, usual) = (self.ways.get(self.taken)?, self.ways.first()?);
        (self.taken > 0).then_some((taken, usual))
    }
}

/// The ways that are wanted, by the number of the choice.
#[derive(Clone, Default, Debug)]
pub struct Choices {
    wanted: BTreeMap<usize, usize>,
    made: Arc<Mutex<Vec<Choice>>>,
}

impl Choices {
    /// The same, but for one choice.
    pub fn with(&self, number: usize, way: usize) -> Choices {
        let mut wanted = self.wanted.clone();
        wanted.insert(number, way);
        Choices { wanted, made: Arc::default() }
    }

    /// The same before anything was asked.
    pub(crate) fn afresh(&self) -> Choices {
        Choices { wanted: self.wanted.clone(), made: Arc::default() }
    }

    /// Which of these ways to take; of none or one there is nothing to choose.
    pub(crate) fn take(&self, pass: &'static str, ways: Vec<String>) -> usize {
        if ways.len() < 2 {
            return 0;
        }
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = self.wanted.get(&made.len()).copied().filter(|way| *way < ways.len());
        let taken = taken.unwrap_or(0);
        made.push(Choice { pass, ways, taken });
        taken
    }

    /// The choices that were made, in order.
    pub(crate) fn made(&self) -> Vec<Choice> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ways(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| name.to_string()).collect()
    }

    #[test]
    fn the_first_way_is_taken_unless_another_is_wanted() {
        let usual = Choices::default();
        assert_eq!(usual.take("a", ways(&["x", "y"])), 0);
        let other = usual.with(1, 2).with(2, 7);
        assert_eq!(other.take("a", ways(&["x", "y"])), 0);
        assert_eq!(other.take("b", ways(&["only"])), 0);
        assert_eq!(other.take("b", ways(&["x", "y", "z"])), 2);
        assert_eq!(other.take("c", ways(&["x", "y"])), 0, "there is no eighth way");
        let taken: Vec<_> = other.made().iter().map(|c| (c.pass, c.taken)).collect();
        assert_eq!(taken, [("a", 0), ("b", 2), ("c", 0)]);
        assert_eq!(other.afresh().made(), []);
        assert_eq!(other.afresh().take("a", ways(&["x", "y"])), 0);
    }
}
