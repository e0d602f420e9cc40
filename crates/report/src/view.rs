//! What the page shows of a problem, as texts and drawings.

use std::collections::BTreeMap;

use lift_explore::phase::in_order;
use lift_explore::tune::{Learning, Random};
use lift_model::learn::{Dataset, Layout, redundancies};
use lift_store::{Outcome, PastRun};
use serde::Serialize;

use crate::charts::bars::{Bar, bars};
use crate::charts::histogram::histogram;
use crate::charts::progress::progress;
use crate::charts::radar::{Shape, radar};
use crate::charts::scatter::scatter;
use crate::collected::{Problem, Tried};
use crate::numbers::{date, short};
use crate::predicted::predicted;
use crate::replay::{MOST_TRIALS, SEEDS, as_measured, replayed};
use crate::winner::{Winner, sizes};
use crate::work::work;

/// So many features are shown.
const MOST_FEATURES: usize = 20;

/// The radar shows so many features of so many candidates.
const SPOKES: usize = 8;
const SHAPES: usize = 10;

/// An example of what went wrong is cut after so many characters.
const MESSAGE: usize = 300;

#[derive(Serialize)]
pub struct ProblemView {
    /// Names its place on the page.
    pub id: String,
    pub name: String,
    pub sizes: String,
    pub device: String,
    pub kind: String,
    pub flags: String,
    pub best: Option<String>,
    /// `12.3 GB/s` and the like, of the best.
    pub rates: Vec<String>,
    pub default: Option<String>,
    pub default_rates: Vec<String>,
    /// The best against the default.
    pub times: Option<String>,
    pub tried: usize,
    pub untried: usize,
    pub run: Option<RunView>,
    pub outcomes: Vec<OutcomeView>,
    pub histogram: Part,
    pub failures: Part,
    pub progress: Part,
    pub predicted: Part,
    pub features: Part,
    pub radar: Part,
    pub shapes: Vec<ShapeView>,
    pub spokes: Vec<String>,
    pub winner: Option<Winner>,
}

/// A drawing and what is said about it, or why there is none.
#[derive(Serialize, Default)]
pub struct Part {
    pub svg: Option<String>,
    pub text: String,
}

#[derive(Serialize)]
pub struct RunView {
    pub count: usize,
    pub method: String,
    pub seed: u64,
    pub budget: String,
    pub version: String,
    pub started: String,
    pub finished: Option<String>,
    pub phases: Vec<(String, u64)>,
}

#[derive(Serialize)]
pub struct OutcomeView {
    pub outcome: String,
    pub count: usize,
    pub example: String,
}

#[derive(Serialize)]
pub struct ShapeView {
    pub ms: String,
    pub parameters: String,
    pub values: Vec<String>,
}

pub fn problem_view(number: usize, all: &[Problem], problem: &Problem) -> ProblemView {
    let best = problem.best.as_ref();
    let text = best.map(|best| best.candidate.text.as_str());
    let text = text.or(problem.tried.first().map(|tried| tried.candidate.text.as_str()));
    let sizes = sizes(&problem.key, text.unwrap_or_default());
    let sizes = sizes.iter().map(|(name, value)| format!("{name} = {value}"));
    let default = problem.default().and_then(|default| default.ms);
    let times = best.map(|best| best.median).filter(|ms| *ms > 0.0);
    let times = times.and_then(|ms| Some(short(default? / ms)));
    let work = work(problem);
    let rates = |ms: Option<f64>| work.as_ref().map_or(Vec::new(), |work| work.rates(ms));
    let important = important(problem);
    let (radar, spokes, shapes) = radar_part(problem, &important);
    ProblemView {
        id: format!("problem-{}", number + 1),
        name: problem.key.name.clone(),
        sizes: sizes.collect::<Vec<String>>().join(", "),
        device: problem.key.device.name.clone(),
        kind: problem.key.device.kind.clone(),
        flags: problem.key.flags.clone(),
        best: best.map(|best| short(best.median)),
        rates: rates(best.map(|best| best.median)),
        default: default.map(short),
        default_rates: rates(default),
        times,
        tried: problem.tried.len(),
        untried: problem.untried,
        run: problem.runs.last().map(|run| run_view(run, problem.runs.len())),
        histogram: histogram_part(problem),
        failures: failures_part(problem),
        outcomes: outcomes(problem),
        progress: progress_part(problem),
        predicted: predicted_part(all, problem),
        features: features_part(problem, &important),
        radar,
        spokes,
        shapes,
        winner: best.map(|best| Winner::new(&problem.key, best)),
    }
}

fn run_view(past: &PastRun, count: usize) -> RunView {
    RunView {
        count,
        method: past.run.method.clone(),
        seed: past.run.seed,
        budget: past.run.budget.clone(),
        version: past.run.version.clone(),
        started: date(past.run.started),
        finished: past.finished.map(date),
        phases: in_order(&past.counts),
    }
}

/// Those there are, in the order of [`Outcome::ALL`], each with an example of what was said.
fn outcomes(problem: &Problem) -> Vec<OutcomeView> {
    let mut by_outcome: BTreeMap<Outcome, Vec<&Tried>> = BTreeMap::new();
    problem.tried.iter().for_each(|tried| by_outcome.entry(tried.outcome).or_default().push(tried));
    let view = |(outcome, all): (Outcome, Vec<&Tried>)| {
        let said = all.iter().map(|tried| tried.message.as_str());
        let example = said.into_iter().find(|text| !text.is_empty()).unwrap_or_default();
        let example = if outcome == Outcome::Ok { "" } else { example };
        let mut short: String = example.chars().take(MESSAGE).collect();
        if short.len() < example.len() {
            short.push('…');
        }
        OutcomeView { outcome: outcome.to_string(), count: all.len(), example: short }
    };
    by_outcome.into_iter().map(view).collect()
}

fn histogram_part(problem: &Problem) -> Part {
    match histogram(problem) {
        None => missing("No candidate is right, so there are no speeds to compare."),
        svg => {
            let timed = problem.tried.iter().filter(|tried| problem.share(tried).is_some()).count();
            let text = format!(
                "{timed} candidates by speed, 1 / time, over that of the best. Those that were far slower were timed \
                 once."
            );
            Part { svg, text }
        }
    }
}

/// Those without a time; the others are in the histogram.
fn failures_part(problem: &Problem) -> Part {
    let mut counts: BTreeMap<Outcome, usize> = BTreeMap::new();
    for tried in problem.tried.iter().filter(|tried| tried.ms.is_none()) {
        *counts.entry(tried.outcome).or_default() += 1;
    }
    let bar = |(outcome, count): (&Outcome, &usize)| Bar {
        name: outcome.to_string(),
        value: *count as f64,
        text: count.to_string(),
    };
    let rows: Vec<Bar> = counts.iter().map(bar).collect();
    let most = rows.iter().map(|bar| bar.value).fold(0.0, f64::max);
    match bars("failures", "Candidates that failed, by kind", "candidates", &rows, most) {
        None => missing("No candidate failed."),
        svg => {
            let failed: usize = counts.values().sum();
            Part { svg, text: format!("{failed} candidates failed; the table above has examples.") }
        }
    }
}

fn progress_part(problem: &Problem) -> Part {
    if problem.best.is_none() {
        return missing("No candidate is right, so there is no best one to find.");
    }
    let curves = [
        ("learning", replayed(problem, "learning", Learning::new)),
        ("measured", as_measured(problem)),
        ("random", replayed(problem, "random", Random::new)),
    ];
    let text = format!(
        "The fastest candidate after so many trials: in the order in which they were measured, and as the searches \
         would have chosen from what was recorded. Of searches the median over {SEEDS} seeds, with the middle half \
         shaded, for {MOST_TRIALS} trials at most. Times are those that count in the end."
    );
    Part { svg: progress(&curves), text }
}

fn predicted_part(all: &[Problem], problem: &Problem) -> Part {
    if problem.best.is_none() {
        return missing("No candidate is right, so there is nothing to compare with.");
    }
    let found = match predicted(all, problem) {
        Ok(found) => found,
        Err(why) => return missing(why),
    };
    let of =
        |r: Option<f64>| r.map_or("none, as all are equally fast".into(), |r| format!("{r:.2}"));
    let some = match found.of > found.points.len() {
        true => format!(" Shown are {} of {} candidates.", found.points.len(), found.of),
        false => String::new(),
    };
    let text = format!(
        "Predicted by {}. Correlation (Pearson) {}, of ranks (Spearman) {}.{some}",
        found.from,
        of(found.pearson),
        of(found.spearman)
    );
    Part { svg: Some(scatter(&found.points)), text }
}

/// Every feature with its redundancy, the largest first; empty where no candidate that was timed has features.
fn important(problem: &Problem) -> Vec<(String, f64)> {
    let mut data = Dataset::new(Layout::current());
    for tried in problem.tried.iter().filter(|tried| tried.ms.is_some()) {
        // What the database has are finite numbers.
        problem.sample(tried).and_then(|sample| data.push(sample).ok());
    }
    if data.samples().is_empty() { Vec::new() } else { redundancies(&data) }
}

fn features_part(problem: &Problem, important: &[(String, f64)]) -> Part {
    if important.is_empty() {
        return missing(problem.why_no_features());
    }
    let says = important.iter().filter(|(_, value)| *value > 0.0).take(MOST_FEATURES);
    let rows: Vec<Bar> = says
        .map(|(name, value)| Bar { name: name.clone(), value: *value, text: format!("{value:.3}") })
        .collect();
    let label = "How much each feature says about speed";
    match bars("importance", label, "redundancy with speed, 0 to 0.5", &rows, 0.5) {
        None => missing("No feature says anything about speed here."),
        svg => {
            let text = format!(
                "How much each feature by itself says about the speed of this problem's candidates: the mutual \
                 information over the sum of the entropies, 0 for nothing and 0.5 for everything. {} of {} features.",
                rows.len(),
                important.len()
            );
            Part { svg, text }
        }
    }
}

/// The best candidates over the most important features, each from its least to its largest value here.
fn radar_part(
    problem: &Problem,
    important: &[(String, f64)],
) -> (Part, Vec<String>, Vec<ShapeView>) {
    let names = Layout::current().names;
    let with = |tried: &&Tried| tried.ms.is_some() && tried.features.is_some();
    let mut timed: Vec<&Tried> = problem.tried.iter().filter(with).collect();
    if timed.is_empty() {
        return (missing(problem.why_no_features()), Vec::new(), Vec::new());
    }
    let value = |tried: &Tried, k: usize| tried.features.as_ref()?.get(k).copied();
    let range = |k: usize| {
        let values = timed.iter().filter_map(|tried| value(tried, k));
        values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)))
    };
    let says = important.iter().filter(|(_, redundancy)| *redundancy > 0.0);
    let spokes: Vec<(usize, &String, (f64, f64))> = says
        .filter_map(|(name, _)| Some((names.iter().position(|n| n == name)?, name)))
        .map(|(k, name)| (k, name, range(k)))
        .filter(|(_, _, (low, high))| high > low)
        .take(SPOKES)
        .collect();
    timed.retain(|tried| tried.outcome == Outcome::Ok);
    timed.sort_by(|a, b| a.ms.unwrap_or(f64::MAX).total_cmp(&b.ms.unwrap_or(f64::MAX)));
    timed.truncate(SHAPES);
    let shape = |(rank, tried): (usize, &&Tried)| {
        let ms = short(tried.ms.unwrap_or_default());
        let parameters = &tried.candidate.parameters;
        let part = |(k, _, (low, high)): &(usize, &String, (f64, f64))| {
            let part = (value(tried, *k).unwrap_or(*low) - low) / (high - low);
            // Numbers may be too large to be subtracted.
            if part.is_finite() { part } else { 0.0 }
        };
        let name = format!("{}: {ms} ms, {parameters}", rank + 1);
        Shape { name, values: spokes.iter().map(part).collect() }
    };
    let shapes: Vec<Shape> = timed.iter().enumerate().map(shape).collect();
    let spoke_names: Vec<String> = spokes.iter().map(|(_, name, _)| name.to_string()).collect();
    let Some(svg) = radar(&spoke_names, &shapes) else {
        let why = "Too few features vary, or no candidate that has them is right.";
        return (missing(why), Vec::new(), Vec::new());
    };
    let text = format!(
        "The best {} candidates over the {} features that say most about speed. Each spoke goes from the least value \
         among all candidates, in the middle, to the largest, at the edge. The best one is drawn thick.",
        shapes.len(),
        spokes.len()
    );
    let view = |tried: &&Tried| ShapeView {
        ms: short(tried.ms.unwrap_or_default()),
        parameters: tried.candidate.parameters.replace(',', ", "),
        values: spokes.iter().map(|(k, ..)| value(tried, *k).map_or("".into(), short)).collect(),
    };
    (Part { svg: Some(svg), text }, spoke_names, timed.iter().map(view).collect())
}

fn missing(why: impl Into<String>) -> Part {
    Part { svg: None, text: why.into() }
}
