//! Which candidate comes next: a search chooses a configuration, and a program is made of it.

use std::collections::HashSet;
use std::time::Duration;

use super::Request;
use super::earlier::{Earlier, Fast};
use super::search::Search;
use super::search_space::{Configuration, LiveSpace};
use super::surrogate::Observation;
use crate::candidate::Candidate;
use crate::space::Space;

/// How many configurations in a row may come to nothing before the space counts as used up.
const PATIENCE: usize = 2_000;

/// A candidate, and the configuration it is made of unless it is the program itself.
pub(super) struct Choice {
    pub candidate: Candidate,
    pub configuration: Option<Configuration>,
    /// By the clock, in milliseconds.
    pub predicted: Option<f64>,
    /// How long it took to choose it.
    pub took: Duration,
}

impl Choice {
    fn new(candidate: Candidate, configuration: Option<Configuration>) -> Choice {
        Choice { candidate, configuration, predicted: None, took: Duration::ZERO }
    }
}

/// Chooses candidates, no two with the same kernels.
pub(super) struct Chooser<'r> {
    request: &'r Request<'r>,
    programs: LiveSpace<'r>,
    search: Box<dyn Search>,
    kernels: HashSet<String>,
    same_kernels: usize,
    /// The program as it is comes first.
    is_first: bool,
}

impl<'r> Chooser<'r> {
    pub fn new(request: &'r Request<'r>, space: &'r Space) -> Chooser<'r> {
        let deadline = request.timetable.search();
        let as_it_is = Candidate::of(request.def, &request.goal).ok();
        let items = as_it_is.map_or(0.0, |made| made.needs.items);
        Chooser {
            request,
            programs: LiveSpace::new(space, &request.goal, &request.bounds, items, deadline),
            search: request.search(),
            kernels: HashSet::new(),
            same_kernels: 0,
            is_first: true,
        }
    }

    /// How many candidates were passed over because another has the same kernels.
    pub fn same_kernels(&self) -> usize {
        self.same_kernels
    }

    pub fn learn(&mut self, choice: Choice, ms: Option<f64>) {
        let features = choice.candidate.features.values;
        match choice.configuration {
            Some(configuration) => self.search.learn(configuration, &features, ms),
            None => self.search.observe(Observation { problem: 0, features, ms }),
        }
    }

    /// Whether what earlier runs found makes a difference.
    pub fn remembers(&self) -> bool {
        self.search.remembers()
    }

    /// What earlier runs found is learned from, and the best of it tried first as far as it fits.
    pub fn learn_earlier(&mut self, earlier: Earlier) {
        for observation in earlier.observations {
            self.search.observe(observation);
        }
        for Fast { text, values } in earlier.fastest {
            let configuration = self.programs.configuration(&text, values);
            configuration.into_iter().for_each(|configuration| self.search.suggest(configuration));
        }
    }

    /// The program as it is is not tried.
    pub fn pass_over_itself(&mut self) {
        self.is_first = false;
    }

    pub fn next(&mut self) -> Option<Choice> {
        if std::mem::take(&mut self.is_first)
            && let Ok(candidate) = Candidate::of(self.request.def, &self.request.goal)
        {
            self.kernels.insert(candidate.kernel_hash.clone());
            return Some(Choice::new(candidate, None));
        }
        for _ in 0..PATIENCE {
            if self.request.timetable.search().is_over() {
                return None;
            }
            let configuration = self.search.next(&self.programs)?;
            let Some(mut candidate) = self.programs.candidate(&configuration) else { continue };
            if self.kernels.insert(candidate.kernel_hash.clone()) {
                candidate.derivation = self.programs.derivation(configuration.variant);
                return Some(Choice::new(candidate, Some(configuration)));
            }
            self.same_kernels += 1;
        }
        None
    }
}
