//! Which candidate comes next: a search chooses a point, and a program is made of it.

use std::collections::HashSet;

use fastrand::Rng;

use super::earlier::{Earlier, Fast};
use super::ground::{Point, Programs};
use super::search::Search;
use super::surrogate::Finding;
use super::{Method, Request};
use crate::candidate::Candidate;
use crate::parameters::Values;
use crate::space::Space;

/// How many points in a row may come to nothing before the space counts as used up.
const PATIENCE: usize = 2_000;

/// A model ranks so many candidates at a time.
const RANKED: usize = 400;

/// A candidate, and the point it is made of unless it is the program itself.
pub(super) struct Choice {
    pub candidate: Candidate,
    pub point: Option<Point>,
}

/// Chooses candidates, no two with the same kernels.
pub(super) struct Chooser<'r> {
    request: &'r Request<'r>,
    programs: Programs<'r>,
    search: Search,
    random: Rng,
    kernels: HashSet<String>,
    same_kernels: usize,
    /// The program as it is comes first.
    is_first: bool,
    /// For the exhaustive method: the program at hand and the values that are left for it.
    variant: usize,
    left: Vec<Values>,
    /// For the method that goes by a model: what it ranked, best last.
    ranked: Vec<Choice>,
    /// How many of these were chosen.
    chosen: usize,
}

impl<'r> Chooser<'r> {
    pub fn new(request: &'r Request<'r>, space: &'r Space) -> Chooser<'r> {
        let search = match request.method {
            Method::Learning => Search::learning(request.seed),
            _ => Search::random(request.seed),
        };
        let deadline = request.timetable.search();
        let as_it_is = Candidate::of(request.def, &request.goal).ok();
        let items = as_it_is.and_then(|made| made.features.get("total_items")).unwrap_or(0.0);
        Chooser {
            request,
            programs: Programs::new(space, &request.goal, &request.bounds, items, deadline),
            search,
            random: Rng::with_seed(request.seed),
            kernels: HashSet::new(),
            same_kernels: 0,
            is_first: true,
            variant: 0,
            left: Vec::new(),
            ranked: Vec::new(),
            chosen: 0,
        }
    }

    /// How many candidates were passed over because another has the same kernels.
    pub fn same_kernels(&self) -> usize {
        self.same_kernels
    }

    pub fn learn(&mut self, choice: Choice, ms: Option<f64>) {
        let features = choice.candidate.features.values;
        match choice.point {
            Some(point) => self.search.learn(point, &features, ms),
            None => self.search.learn_finding(Finding { problem: 0, features, ms }),
        }
    }

    /// What earlier runs found is learned from, and the best of it tried first as far as it fits.
    pub fn learn_earlier(&mut self, earlier: Earlier) {
        for finding in earlier.findings {
            self.search.learn_finding(finding);
        }
        for Fast { text, values } in earlier.fastest {
            let point = self.programs.point(&text, values);
            point.into_iter().for_each(|point| self.search.suggest(point));
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
            return Some(Choice { candidate, point: None });
        }
        for _ in 0..PATIENCE {
            if self.request.timetable.search().is_over() {
                return None;
            }
            let choice = match (self.request.method, &self.request.prediction) {
                (Method::Exhaustive, _) => {
                    let point = self.in_order()?;
                    self.made(point)
                }
                (Method::Model, Some(_)) => Some(self.best_ranked()?),
                _ => {
                    let point = self.search.next(&self.programs)?;
                    self.made(point)
                }
            };
            let Some(mut choice) = choice else { continue };
            if self.kernels.insert(choice.candidate.kernel_hash.clone()) {
                if let Some(point) = &choice.point {
                    choice.candidate.derivation = self.programs.derivation(point.variant);
                }
                return Some(choice);
            }
            self.same_kernels += 1;
        }
        None
    }

    /// The next program and values in order.
    fn in_order(&mut self) -> Option<Point> {
        loop {
            let at_hand = self.variant.checked_sub(1);
            if let (Some(values), Some(variant)) = (self.left.pop(), at_hand) {
                return Some(Point { variant, values });
            }
            let choices = self.programs.choices(self.variant)?;
            self.variant += 1;
            let left = &mut self.left;
            choices.each(&mut |values| {
                left.push(values);
                true
            });
            self.left.reverse();
        }
    }

    /// The one that is predicted to be fastest, of those at hand.
    fn best_ranked(&mut self) -> Option<Choice> {
        if self.ranked.is_empty() {
            let points: Vec<Point> =
                (0..RANKED).map_while(|_| self.search.next(&self.programs)).collect();
            // Ranking them all is of no use where there is no time to measure the best.
            let by = self.request.timetable.search().share(4);
            let made = self.programs.candidates(&points, by).into_iter().zip(points);
            let choices = made.filter_map(|(candidate, point)| {
                Some(Choice { candidate: candidate?, point: Some(point) })
            });
            let mut ranked: Vec<(f64, Choice)> =
                choices.map(|choice| (predicted(self.request, &choice), choice)).collect();
            ranked.sort_by(|(a, _), (b, _)| a.total_cmp(b));
            self.ranked = ranked.into_iter().map(|(_, choice)| choice).collect();
        }
        self.chosen += 1;
        // Now and then one that the model knows nothing about: what it never sees it cannot like.
        match self.chosen % STRAYS {
            0 if self.ranked.len() > 1 => {
                let at = self.random.usize(..self.ranked.len());
                Some(self.ranked.remove(at))
            }
            _ => self.ranked.pop(),
        }
    }

    fn made(&self, point: Point) -> Option<Choice> {
        let candidate = self.programs.candidate(&point)?;
        Some(Choice { candidate, point: Some(point) })
    }
}

/// The last of so many candidates that a model chooses is chosen at random.
const STRAYS: usize = 10;

fn predicted(request: &Request, choice: &Choice) -> f64 {
    let values = &choice.candidate.features.values;
    request.prediction.as_ref().map_or(0.0, |prediction| prediction(values))
}
