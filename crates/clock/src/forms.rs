//! Forms of programs: predictions beside measurements, and whether both put them in the same order.

use std::collections::BTreeMap;

use lift_lower::Options;
use lift_runtime::Language;
use serde::{Deserialize, Serialize};

use crate::decide::rank_correlation;
use crate::description::Description;
use crate::predict::{plan, predict};

/// One form of a program at some sizes, and what came of it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Form {
    pub program: String,
    /// Which form: 0 is the program itself.
    pub number: usize,
    pub sizes: BTreeMap<String, i128>,
    pub entry: String,
    pub text: String,
    pub measured_ms: Option<f64>,
    /// The runs differ too much.
    pub unsteady: bool,
    /// Why there is no time.
    pub failed: Option<String>,
}

/// What was measured of the set.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct MeasuredForms {
    pub device: String,
    pub set: String,
    pub seed: u64,
    pub date: String,
    pub forms: Vec<Form>,
}

/// A form with a time and its prediction.
#[derive(Clone, PartialEq, Debug)]
pub struct ComparedForm<'f> {
    pub form: &'f Form,
    pub measured_ms: f64,
    pub predicted_ms: f64,
    pub bound_by: &'static str,
}

impl ComparedForm<'_> {
    /// Predicted over measured.
    pub fn q(&self) -> f64 {
        self.predicted_ms / self.measured_ms.max(1e-9)
    }

    /// The greater over the smaller of the two.
    pub fn d(&self) -> f64 {
        self.q().max(1.0 / self.q().max(1e-12))
    }
}

/// Predicts one form. The component is that of the kernel that takes longest.
pub fn predicted(
    form: &Form,
    language: Language,
    machine: &Description,
) -> Result<(f64, &'static str), String> {
    let checked = lift_syntax::check_text("form.lift", &form.text);
    let def = checked.program.def(&form.entry);
    let def = def.ok_or_else(|| format!("a form does not check: {}", checked.render(false)))?;
    let options = Options { sizes: form.sizes.clone(), ..Options::default() };
    let plan = plan(def, &options, language, machine).map_err(|e| e.to_string())?;
    let whole = predict(&plan, &form.sizes, machine)?;
    let longest = whole
        .kernels
        .iter()
        .max_by(|a, b| (a.runs * a.time.ms()).total_cmp(&(b.runs * b.time.ms())));
    Ok((whole.kernel_ms(), longest.map_or("nothing", |k| k.time.bound_by)))
}

/// Predicts what has a time. What can no longer be compiled, as by another version, is left out.
pub fn compare_forms<'f>(
    measured: &'f MeasuredForms,
    language: Language,
    machine: &Description,
) -> Vec<ComparedForm<'f>> {
    let one = |form: &'f Form| {
        let measured_ms = form.measured_ms?;
        let (predicted_ms, bound_by) = predicted(form, language, machine).ok()?;
        Some(ComparedForm { form, measured_ms, predicted_ms, bound_by })
    };
    measured.forms.iter().filter_map(one).collect()
}

/// The mean, over programs at their sizes, of how alike the orders of their forms are; with how many there are.
pub fn mean_rank_correlation(all: &[&ComparedForm<'_>]) -> Option<(f64, usize)> {
    let mut groups: BTreeMap<_, (Vec<f64>, Vec<f64>)> = BTreeMap::new();
    for compared in all {
        let key = (compared.form.program.as_str(), &compared.form.sizes);
        let (predicted, measured) = groups.entry(key).or_default();
        predicted.push(compared.predicted_ms);
        measured.push(compared.measured_ms);
    }
    let found: Vec<f64> = groups.values().filter_map(|(p, m)| rank_correlation(p, m)).collect();
    let count = found.len();
    (count > 0).then(|| (found.iter().sum::<f64>() / count as f64, count))
}

/// The value below which this part of all lies.
pub fn quantile(values: &[f64], part: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().checked_sub(1)?;
    sorted.get((part * last as f64).round() as usize).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(program: &str, n: i128) -> Form {
        Form {
            program: program.to_string(),
            number: 0,
            sizes: BTreeMap::from([("N".to_string(), n)]),
            entry: "f".to_string(),
            text: String::new(),
            measured_ms: None,
            unsteady: false,
            failed: None,
        }
    }

    #[test]
    fn orders_are_compared_within_a_program_and_a_size() {
        let (a, b) = (form("a", 1), form("a", 2));
        let compared = |form, predicted_ms, measured_ms| ComparedForm {
            form,
            measured_ms,
            predicted_ms,
            bound_by: "dram",
        };
        // All of the second are slower, which says nothing of the order in either.
        let all = [
            compared(&a, 1.0, 1.0),
            compared(&a, 2.0, 5.0),
            compared(&a, 3.0, 6.0),
            compared(&b, 10.0, 30.0),
            compared(&b, 20.0, 20.0),
            compared(&b, 30.0, 10.0),
        ];
        let all: Vec<&ComparedForm<'_>> = all.iter().collect();
        assert_eq!(mean_rank_correlation(&all), Some((0.0, 2)));
        assert_eq!(mean_rank_correlation(&all[..3]), Some((1.0, 1)));
        assert_eq!(mean_rank_correlation(&all[..2]), None);
        assert_eq!(all[1].d(), 2.5);
    }

    #[test]
    fn a_part_lies_below_its_quantile() {
        let values: Vec<f64> = (0..=10).rev().map(f64::from).collect();
        assert_eq!(quantile(&values, 0.5), Some(5.0));
        assert_eq!(quantile(&values, 0.9), Some(9.0));
        assert_eq!(quantile(&[], 0.9), None);
    }
}
