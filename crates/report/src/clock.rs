//! The page about the clock: predictions beside measurements, and programs under their roofs.

use minijinja::value::Serde;
use minijinja::{Environment, Value, context};
use serde::Serialize;

use crate::charts::quotients::quotients;
use crate::charts::roofline::roofline;
use crate::charts::times::times;
use crate::error::ReportError;
use crate::numbers::short;

/// A prediction and what was measured.
#[derive(Clone, PartialEq, Debug)]
pub struct Pair {
    /// What it is of.
    pub what: String,
    pub measured_ms: f64,
    pub predicted_ms: f64,
    /// What the prediction says that it is bound by.
    pub bound_by: String,
}

/// What a validation found.
#[derive(Clone, PartialEq, Debug)]
pub struct Validation {
    pub title: String,
    /// Those whose runs agree, of which figures are made.
    pub pairs: Vec<Pair>,
    /// How many do not.
    pub unsteady: usize,
}

/// A program under the roofs of a machine.
#[derive(Clone, PartialEq, Debug)]
pub struct Roof {
    pub title: String,
    /// Operations a byte.
    pub intensity: f64,
    pub peak_gflops: f64,
    pub peak_gb: f64,
    pub gflops: f64,
    /// What binds it.
    pub bound_by: String,
}

#[derive(Serialize)]
struct Section {
    title: String,
    figures: Vec<Figure>,
    rows: Vec<[String; 5]>,
    note: String,
}

#[derive(Serialize)]
struct Figure {
    svg: String,
    text: String,
}

/// The page about these.
pub fn clock_page(validations: &[Validation], roofs: &[Roof]) -> Result<String, ReportError> {
    let mut sections: Vec<Section> = validations.iter().map(of_validation).collect();
    sections.extend(roofs.iter().map(of_roof));
    let mut environment = Environment::new();
    environment.add_template("clock.html", include_str!("clock.html"))?;
    let style = include_str!("page.css");
    let template = environment.get_template("clock.html")?;
    Ok(template.render(context! { style, sections => Value::from(Serde(&sections)) })?)
}

fn of_validation(validation: &Validation) -> Section {
    let pairs = &validation.pairs;
    let q = |pair: &Pair| pair.predicted_ms / pair.measured_ms.max(1e-9);
    let all: Vec<f64> = pairs.iter().map(q).collect();
    let mut rows = Vec::new();
    let mut row = |what: &str, of: &[f64]| {
        if let Some(figures) = figures(of) {
            rows.push(
                [what.to_string(), of.len().to_string()].into_iter().chain(figures).collect(),
            );
        }
    };
    row("all", &all);
    let mut bounds: Vec<&str> = pairs.iter().map(|p| p.bound_by.as_str()).collect();
    bounds.sort_unstable();
    bounds.dedup();
    for bound in bounds {
        let chosen = pairs.iter().filter(|p| p.bound_by == bound);
        row(&format!("bound by {bound}"), &chosen.map(q).collect::<Vec<_>>());
    }
    let rows = rows.into_iter().filter_map(|r: Vec<String>| r.try_into().ok()).collect();
    let drawn = |svg: String, text: &str| Figure { svg, text: text.to_string() };
    let shown = match pairs.is_empty() {
        true => Vec::new(),
        false => vec![
            drawn(
                quotients(&all),
                "How often predictions are so many times the measured time; 1 is right.",
            ),
            drawn(times(pairs), "Every pair; on the line, the prediction is right."),
        ],
    };
    let note = match validation.unsteady {
        0 => String::new(),
        n => format!("{n} more, whose runs differ by more than a tenth, are not shown."),
    };
    Section { title: validation.title.clone(), figures: shown, rows, note }
}

/// Mean and deviation of q, and the median of how far off it is either way.
fn figures(q: &[f64]) -> Option<[String; 3]> {
    let n = q.len() as f64;
    let mean = q.iter().sum::<f64>() / n;
    let variance = q.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / (n - 1.0).max(1.0);
    let mut off: Vec<f64> = q.iter().map(|v| v.max(1.0 / v.max(1e-12))).collect();
    off.sort_by(f64::total_cmp);
    let middle = off.get(off.len() / 2)?;
    Some([mean, variance.sqrt(), *middle].map(|v| format!("{v:.3}")))
}

fn of_roof(roof: &Roof) -> Section {
    let under = roof.peak_gflops.min(roof.intensity * roof.peak_gb);
    let part = if under > 0.0 { 100.0 * roof.gflops / under } else { 0.0 };
    let text = format!(
        "{} operations a byte; predicted {} GFLOP/s, {part:.0} % of what the roof allows there. Bound by {}.",
        short(roof.intensity),
        short(roof.gflops),
        roof.bound_by
    );
    Section {
        title: roof.title.clone(),
        figures: vec![Figure { svg: roofline(roof), text }],
        rows: Vec::new(),
        note: String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(measured_ms: f64, predicted_ms: f64, bound_by: &str) -> Pair {
        Pair { what: "<body> 1".into(), measured_ms, predicted_ms, bound_by: bound_by.into() }
    }

    #[test]
    fn every_pair_is_in_both_drawings() {
        let pairs =
            vec![pair(1.0, 1.0, "dram"), pair(2.0, 1.0, "dram"), pair(0.01, 9.0, "latency")];
        let validation = Validation { title: "b & c".to_string(), pairs, unsteady: 4 };
        let page = clock_page(&[validation], &[]).expect("a page");
        assert_eq!(page.matches("<circle").count(), 3);
        // 1, 0.5, and far beyond the end.
        for bar in ["1 from 1.00 to 1.05", "1 from 0.50 to 0.55", "1 from 1.95 on"] {
            assert!(page.contains(bar), "{bar}: {page}");
        }
        assert!(page.contains("bound by latency") && page.contains("4 more"), "{page}");
        assert!(page.contains("b &amp; c") && page.contains("&lt;body&gt;"), "{page}");
        assert!(!page.contains("<body> 1"), "{page}");
    }

    #[test]
    fn figures_are_those_of_the_tables() {
        // Mean 1, deviation √(2 · 0.25 / 2), and half of them off by 1.5 or less.
        assert_eq!(figures(&[0.5, 1.0, 1.5]).expect("some"), ["1.000", "0.500", "1.500"]);
        assert_eq!(figures(&[]), None);
    }

    #[test]
    fn a_program_stands_under_its_roof() {
        let roof = Roof {
            title: "dot".to_string(),
            intensity: 0.25,
            peak_gflops: 1000.0,
            peak_gb: 100.0,
            gflops: 20.0,
            bound_by: "dram".to_string(),
        };
        let page = clock_page(&[], &[roof]).expect("a page");
        assert!(page.contains("80 % of what the roof allows"), "{page}");
        assert!(
            page.contains("<polyline class=\"curve\"") && page.contains("Bound by dram"),
            "{page}"
        );
    }

    #[test]
    fn nothing_measured_is_no_drawing() {
        let validation = Validation { title: "a".into(), pairs: Vec::new(), unsteady: 0 };
        let page = clock_page(&[validation], &[]).expect("a page");
        assert!(!page.contains("<svg"), "{page}");
    }
}
