//! Answers that facts gave before. The same question has the same answer until something more is known.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use crate::hash::QuickMap;
use crate::{Facts, Nat, Var};

/// No more answers are kept.
const MOST: usize = 4096;

/// Facts that are the same share it.
#[derive(Clone, Default)]
pub(crate) struct Found(Arc<Mutex<Answers>>);

#[derive(Default)]
struct Answers {
    simple: QuickMap<Nat, Nat>,
    /// What is known where some variables are there.
    here: BTreeMap<BTreeSet<Var>, Facts>,
}

impl Found {
    pub(crate) fn simple(&self, n: &Nat, answer: impl FnOnce() -> Nat) -> Nat {
        self.answered(
            |all| all.simple.get(n).cloned(),
            answer,
            |all, simple| {
                if all.simple.len() < MOST {
                    all.simple.insert(n.clone(), simple.clone());
                }
            },
        )
    }

    pub(crate) fn here(&self, vars: &BTreeSet<Var>, answer: impl FnOnce() -> Facts) -> Facts {
        self.answered(
            |all| all.here.get(vars).cloned(),
            answer,
            |all, facts| {
                if all.here.len() < MOST {
                    all.here.insert(vars.clone(), facts.clone());
                }
            },
        )
    }

    /// The answer is looked for without the lock, as it asks further questions.
    fn answered<T>(
        &self,
        known: impl FnOnce(&Answers) -> Option<T>,
        answer: impl FnOnce() -> T,
        keep: impl FnOnce(&mut Answers, &T),
    ) -> T {
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known(&lock()) {
            return known;
        }
        let found = answer();
        keep(&mut lock(), &found);
        found
    }
}

/// What was asked before says nothing of what is known.
impl fmt::Debug for Found {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::{Facts, Range, parse, parse_assumptions};

    /// What is known later counts, also where the question was asked before; other facts keep their answers.
    #[test]
    fn answers_are_those_of_the_facts_as_they_are() {
        let least = parse("min(x, 5)").expect("the text is one");
        let x = parse("x").expect("the text is one");
        let mut facts = Facts::new();
        let var = x.as_var().expect("it is a variable").clone();
        facts.declare_inside(&var, Range::at_least(crate::Nat::ZERO));
        assert_eq!(facts.simplify(&least), least);
        let before = facts.clone();
        for fact in parse_assumptions("x <= 3").expect("the text is one") {
            facts.assume(&fact);
        }
        assert_eq!(facts.simplify(&least), x);
        assert_eq!(before.simplify(&least), least);
        let mut inside = before.clone();
        inside.declare_inside(&var, Range::below(crate::Nat::int(4)));
        assert_eq!(inside.simplify(&least), x);
        assert_eq!(before.simplify(&least), least);
    }
}
