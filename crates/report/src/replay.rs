//! How soon a good candidate was found, and how soon searches would have found one among those recorded.

use std::collections::HashMap;

use lift_explore::tune::{Configuration, Known, RecordedSpace, Search, configurations};
use rayon::prelude::*;

use crate::collected::{Problem, Tried};

/// A search is repeated so often, each time with another seed.
pub const SEEDS: u64 = 20;

/// No search goes on for longer.
pub const MOST_TRIALS: usize = 200;

/// The best share of the best speed so far, after each trial.
#[derive(Clone, PartialEq, Debug)]
pub struct Curve {
    pub name: String,
    pub median: Vec<f64>,
    /// A quarter of the searches is below.
    pub low: Vec<f64>,
    /// A quarter of the searches is above.
    pub high: Vec<f64>,
}

/// In the order in which candidates were tried.
pub fn as_measured(problem: &Problem) -> Curve {
    let shares = problem.tried.iter().map(|tried| problem.share(tried).unwrap_or(0.0));
    let best = best_so_far(shares);
    Curve { name: "as measured".into(), median: best.clone(), low: best.clone(), high: best }
}

/// In the order in which a search chooses from what was recorded.
pub fn replayed<S: Search>(
    problem: &Problem,
    name: &str,
    search: impl Fn(u64) -> S + Sync,
) -> Curve {
    let configurations = configurations(problem.tried.iter().map(|tried| &tried.candidate));
    let known = |(configuration, tried): (Configuration, &Tried)| {
        let features = tried.features.clone().unwrap_or_default();
        Known { configuration, features, ms: tried.ms }
    };
    let known: Vec<Known> = configurations.into_iter().zip(&problem.tried).map(known).collect();
    let shares: HashMap<Configuration, (f64, &Known)> = known
        .iter()
        .zip(&problem.tried)
        .map(|(known, tried)| {
            (known.configuration.clone(), (problem.share(tried).unwrap_or(0.0), known))
        })
        .collect();
    let recorded = RecordedSpace::of(known.clone());
    let trials = shares.len().min(MOST_TRIALS);
    let run = |seed: u64| {
        let mut search = search(seed);
        let mut found = Vec::new();
        while found.len() < trials
            && let Some(configuration) = search.next(&recorded)
        {
            let Some((share, known)) = shares.get(&configuration) else { continue };
            found.push(*share);
            search.learn(configuration, &known.features, known.ms);
        }
        best_so_far(found.into_iter())
    };
    let runs: Vec<Vec<f64>> = (0..SEEDS).into_par_iter().map(run).collect();
    let after = |share: f64| (0..trials).map(|trial| quantile(&runs, trial, share)).collect();
    Curve { name: name.to_string(), median: after(0.5), low: after(0.25), high: after(0.75) }
}

fn best_so_far(shares: impl Iterator<Item = f64>) -> Vec<f64> {
    let best = |best: &mut f64, share: f64| {
        *best = best.max(share);
        Some(*best)
    };
    shares.scan(0.0, best).collect()
}

/// Over runs after a trial; one that had stopped before stays where it was.
fn quantile(runs: &[Vec<f64>], trial: usize, share: f64) -> f64 {
    let after = |run: &Vec<f64>| run.get(trial).or(run.last()).copied().unwrap_or(0.0);
    let mut all: Vec<f64> = runs.iter().map(after).collect();
    all.sort_by(f64::total_cmp);
    // Linear between neighbours, so that the median of an even number is the mean of the two in the middle.
    let place = share * all.len().saturating_sub(1) as f64;
    let below = all.get(place.floor() as usize).copied().unwrap_or(0.0);
    let above = all.get(place.ceil() as usize).copied().unwrap_or(below);
    below + (above - below) * place.fract()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_so_far_never_falls() {
        let shares = [0.2, 0.1, 0.5, 0.0, 1.0].into_iter();
        assert_eq!(best_so_far(shares), [0.2, 0.2, 0.5, 0.5, 1.0]);
    }

    #[test]
    fn quantiles_of_runs_of_different_lengths() {
        let runs = [vec![0.0, 1.0], vec![0.5], vec![0.2, 0.4]];
        assert_eq!(quantile(&runs, 0, 0.5), 0.2);
        assert_eq!(quantile(&runs, 1, 0.5), 0.5);
        assert!((quantile(&runs[..2], 1, 0.5) - 0.75).abs() < 1e-12);
        assert_eq!(quantile(&[], 0, 0.5), 0.0);
    }
}
