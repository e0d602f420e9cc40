//! The page about the clock, from what other commands print.

use std::path::{Path, PathBuf};

use lift_report::{Pair, Roof, Validation, clock_page};
use serde_json::Value;

use crate::report::Failure;

pub fn page(validations: &[PathBuf], rooflines: &[PathBuf]) -> Result<String, Failure> {
    let validations: Result<Vec<_>, _> = validations.iter().map(|path| validation(path)).collect();
    let roofs: Result<Vec<_>, _> = rooflines.iter().map(|path| roof(path)).collect();
    clock_page(&validations?, &roofs?).map_err(|error| Failure::message(error.to_string()))
}

fn read(path: &Path) -> Result<Value, Failure> {
    let shown = path.display();
    let text = std::fs::read_to_string(path)
        .map_err(|e| Failure::message(format!("cannot read {shown}: {e}")))?;
    serde_json::from_str(&text).map_err(|e| Failure::message(format!("{shown} is no JSON: {e}")))
}

fn validation(path: &Path) -> Result<Validation, Failure> {
    let told = read(path)?;
    let all = told["pairs"].as_array().or_else(|| told["forms"].as_array());
    let all = all.ok_or_else(|| unknown(path, "lift model validate … --json"))?;
    let (mut pairs, mut unsteady) = (Vec::new(), 0);
    for one in all {
        let number = |name: &str| one[name].as_f64().filter(|ms| *ms > 0.0);
        let (Some(measured_ms), Some(predicted_ms)) =
            (number("measured_ms"), number("predicted_ms"))
        else {
            return Err(unknown(path, "lift model validate … --json"));
        };
        if one["unsteady"] == true {
            unsteady += 1;
            continue;
        }
        let what = match one["program"].as_str() {
            Some(program) => format!("{program}, form {}, {}", one["number"], one["sizes"]),
            None => format!("body {}, {} x {}", one["body"], one["height"], one["width"]),
        };
        let bound_by = one["bound_by"].as_str().unwrap_or("nothing").to_string();
        pairs.push(Pair { what, measured_ms, predicted_ms, bound_by });
    }
    let text = |name: &str| told[name].as_str().unwrap_or_default().to_string();
    let title = format!("set {}, {}, {}", text("set"), text("device"), text("date"));
    Ok(Validation { title, pairs, unsteady })
}

fn roof(path: &Path) -> Result<Roof, Failure> {
    let told = read(path)?;
    let number = |name: &str| {
        told["roofline"][name]
            .as_f64()
            .ok_or_else(|| unknown(path, "lift predict … --roofline --json"))
    };
    let longest = told["kernels"].as_array().into_iter().flatten().max_by(|a, b| {
        let ms = |k: &Value| k["runs"].as_f64().unwrap_or(1.0) * k["ms"].as_f64().unwrap_or(0.0);
        ms(a).total_cmp(&ms(b))
    });
    let of_longest = |name: &str| longest.and_then(|k| k[name].as_str()).unwrap_or("nothing");
    let machine = told["machine"].as_str().unwrap_or_default();
    Ok(Roof {
        title: format!("{} on {machine}", of_longest("name")),
        intensity: number("intensity")?,
        peak_gflops: number("peak_gflop_per_s")?,
        peak_gb: number("peak_gb_per_s")?,
        gflops: number("gflop_per_s")?,
        bound_by: of_longest("bound_by").to_string(),
    })
}

fn unknown(path: &Path, command: &str) -> Failure {
    Failure::message(format!("{} is not what `{command}` prints", path.display()))
}
