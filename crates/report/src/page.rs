//! The page itself: a template filled in.

use std::path::Path;

use minijinja::value::Serde;
use minijinja::{Environment, Value, context};

use crate::across::across;
use crate::collected::Problem;
use crate::devices::devices;
use crate::error::ReportError;
use crate::view::{ProblemView, problem_view};

/// The name ends in `.html`, so that every text is escaped.
const PAGE: &str = "page.html";

pub fn render(path: &Path, problems: &[Problem]) -> Result<String, ReportError> {
    let views: Vec<ProblemView> = problems
        .iter()
        .enumerate()
        .map(|(number, problem)| problem_view(number, problems, problem))
        .collect();
    let (across, devices) = (across(problems), devices(problems));
    let file = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    let mut environment = Environment::new();
    environment.add_template(PAGE, include_str!("page.html"))?;
    environment.add_template("problem.html", include_str!("problem.html"))?;
    let style = include_str!("page.css");
    let template = environment.get_template(PAGE)?;
    Ok(template.render(context! {
        file, style, problems => Value::from(Serde(&views)),
        across => Value::from(Serde(&across)), devices => Value::from(Serde(&devices))
    })?)
}
