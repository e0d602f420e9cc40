//! What a model says about candidates that it has not seen, against what was measured.

use lift_model::learn::{Dataset, Kind, Layout, Sample, pearson, spearman};

use crate::collected::{Problem, Tried};
use crate::numbers::short;

/// What random choices of the model follow from.
const SEED: u64 = 1;

/// A model of fewer is none.
const FEWEST: usize = 10;

/// More marks than this cannot be told apart.
const MOST_MARKS: usize = 2000;

pub struct Predicted {
    /// What the model was trained on.
    pub from: String,
    pub points: Vec<Point>,
    /// How many there are of which these are some.
    pub of: usize,
    pub pearson: Option<f64>,
    pub spearman: Option<f64>,
}

/// Shares of the best speed.
pub struct Point {
    pub measured: f64,
    pub predicted: f64,
    pub name: String,
}

/// Trained on other programs measured on the same device, or, where there are none, on every second candidate of this
/// problem. Otherwise it says what is missing.
pub fn predicted(all: &[Problem], of: &Problem) -> Result<Predicted, String> {
    let timed: Vec<&Tried> =
        of.tried.iter().filter(|tried| tried.ms.is_some() && tried.features.is_some()).collect();
    if timed.is_empty() {
        return Err(of.why_no_features());
    }
    let others: Vec<&Problem> = all
        .iter()
        .filter(|p| p.key.program != of.key.program && p.device() == of.device())
        .collect();
    let of_others: Vec<Sample> = others
        .iter()
        .flat_map(|p| p.tried.iter().filter(|t| t.ms.is_some()).filter_map(|t| p.sample(t)))
        .collect();
    if of_others.len() >= FEWEST {
        let from = format!(
            "a model trained on {} candidates of other programs in this database",
            of_others.len()
        );
        return judged(of, from, of_others, &timed);
    }
    let half = |rest: usize| timed.iter().copied().skip(rest).step_by(2).collect::<Vec<&Tried>>();
    let (seen, unseen) = (half(0), half(1));
    if seen.len() < FEWEST || unseen.is_empty() {
        return Err(format!(
            "Too few candidates were timed to train a model: {} here and {} of other programs on this device, where \
             {} or {FEWEST} are needed. Measure more with `lift tune`.",
            timed.len(),
            of_others.len(),
            2 * FEWEST
        ));
    }
    let from = format!(
        "a model trained on every second candidate of this problem ({}), as the database has too little of other \
         programs on this device; shown are the rest",
        seen.len()
    );
    judged(of, from, seen.iter().filter_map(|tried| of.sample(tried)).collect(), &unseen)
}

fn judged(
    of: &Problem,
    from: String,
    seen: Vec<Sample>,
    unseen: &[&Tried],
) -> Result<Predicted, String> {
    let mut data = Dataset::new(Layout::current());
    for sample in seen {
        data.push(sample).map_err(|error| error.to_string())?;
    }
    let mut model = Kind::Trees.model(SEED);
    model.fit(&data).map_err(|error| error.to_string())?;
    let point = |tried: &&Tried| {
        let (measured, features) = (of.share(tried)?, tried.features.as_ref()?);
        let name = format!("{} ms, {}", short(tried.ms?), tried.candidate.parameters);
        Some(Point { measured, predicted: model.predict(features), name })
    };
    let points: Vec<Point> = unseen.iter().filter_map(point).collect();
    let (said, is): (Vec<f64>, Vec<f64>) =
        points.iter().map(|point| (point.predicted, point.measured)).unzip();
    let (count, every) = (points.len(), points.len().div_ceil(MOST_MARKS).max(1));
    Ok(Predicted {
        from,
        of: count,
        points: points.into_iter().step_by(every).collect(),
        pearson: pearson(&said, &is),
        spearman: spearman(&said, &is),
    })
}
