//! `lift model eval`: how well models do for programs that they have not seen.

use lift_model::learn::{
    Cost, Evaluation, GroupResult, Kind, LearnError, Noise, ProgramResult, Reached, Summary,
    leave_one_out, redundancies,
};
use serde_json::{Value, json};

use crate::model::columns::{columns, decimals};
use crate::model::measurements::{Measurements, Named};
use crate::report::{Failure, remark, say, say_json};

/// Judge models by programs that they have not seen
///
/// Each program in turn is left out, a model is fitted to all others and asked about the one left out. For both kinds
/// of models: how predicted and measured throughput correlate, how fast the candidate predicted to be best is, and how
/// many runs and how much kernel time it takes to reach 90 % of the best, in predicted order and in random order. Then
/// how much each feature says about speed by itself, and how much times of one candidate vary. Devices are judged one by one:
/// no model learns from measurements of another device.
#[derive(clap::Args)]
#[command(after_help = "\
Example:\n\
\x20 lift model eval data/others-cpu.csv.gz --json")]
pub struct Options {
    #[command(flatten)]
    measurements: Named,
    /// What random choices follow from
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print {"device", "models", "redundancy", "noise"}, by program and sizes; an array of these for several devices
    #[arg(long)]
    json: bool,
}

pub fn run(options: &Options) -> Result<(), Failure> {
    let mut judged = Vec::new();
    let mut refused = Vec::new();
    for measurements in options.measurements.read_each()? {
        match Judged::new(measurements, options.seed) {
            Ok(device) => judged.push(device),
            Err(why) => refused.push(why),
        }
    }
    // A device that nothing can be said of does not keep others from being judged.
    if let (true, Some(why)) = (judged.is_empty(), refused.first()) {
        return Err(Failure::message(why));
    }
    refused.iter().for_each(|why| remark(&format!("warning: {why}")));
    if options.json {
        let mut found: Vec<Value> = judged.iter().map(Judged::json).collect();
        let only = if found.len() == 1 { found.pop() } else { None };
        return say_json(&only.unwrap_or_else(|| found.into()));
    }
    let texts: Vec<String> = judged.iter().map(Judged::text).collect();
    say(&texts.join("\n"))
}

/// Both kinds of models, for one device.
struct Judged {
    device: String,
    models: Vec<Evaluation>,
    measurements: Measurements,
}

impl Judged {
    fn new(measurements: Measurements, seed: u64) -> Result<Judged, String> {
        let device = measurements.data.device().map_err(|e| e.to_string())?.to_string();
        let models: Result<Vec<Evaluation>, LearnError> = Kind::ALL
            .into_iter()
            .map(|kind| leave_one_out(&measurements.data, kind, seed))
            .collect();
        let models = models.map_err(|error| format!("{device}: {error}"))?;
        Ok(Judged { device, models, measurements })
    }

    fn text(&self) -> String {
        text(&self.device, &self.models, &self.measurements)
    }

    fn json(&self) -> Value {
        report(&self.device, &self.models, &self.measurements)
    }
}

fn text(device: &str, models: &[Evaluation], measurements: &Measurements) -> String {
    let mut text = format!("{device}: each program predicted from the others\n");
    for model in models {
        text.push_str(&format!("\n{}\n{}", model.kind, columns(&table(model))));
    }
    let headings = ["feature", "redundancy"].map(String::from).to_vec();
    let features = redundancies(&measurements.data);
    let rows = features.iter().map(|(name, value)| vec![name.clone(), decimals(*value, 3)]);
    let rows: Vec<_> = std::iter::once(headings).chain(rows).collect();
    text.push_str(&format!(
        "\nWhat each feature says about speed, from 0 to 0.5\n{}\n{}\n",
        columns(&rows),
        noise_text(measurements.noise)
    ));
    text
}

const HEADINGS: [&str; 12] = [
    "program",
    "sizes",
    "candidates",
    "pearson",
    "spearman",
    "first",
    "runs",
    "random",
    "fewer",
    "ms",
    "random",
    "less",
];

fn table(model: &Evaluation) -> Vec<Vec<String>> {
    let tried = |program: &ProgramResult| -> usize {
        program.groups.iter().map(|group| group.measured + group.failed).sum()
    };
    let mut rows = vec![HEADINGS.map(String::from).to_vec()];
    for program in &model.programs {
        let sizes = program.groups.len();
        rows.push(line(&program.program, sizes, tried(program), &program.summary()));
    }
    let sizes = model.programs.iter().map(|program| program.groups.len()).sum();
    let all = model.programs.iter().map(tried).sum();
    rows.push(line("all", sizes, all, &model.summary()));
    rows
}

fn line(name: &str, sizes: usize, candidates: usize, summary: &Summary) -> Vec<String> {
    vec![
        name.to_string(),
        sizes.to_string(),
        candidates.to_string(),
        decimals(summary.pearson, 2),
        decimals(summary.spearman, 2),
        decimals(summary.first, 2),
        decimals(summary.model.runs, 1),
        decimals(summary.random.runs, 1),
        decimals(summary.fewer_runs, 1),
        decimals(summary.model.ms, 3),
        decimals(summary.random.ms, 3),
        decimals(summary.less_time, 1),
    ]
}

fn noise_text(noise: Option<Noise>) -> String {
    let Some(noise) = noise else {
        return "No candidate ran more than once, so nothing is known about noise.".to_string();
    };
    format!(
        "Noise: the middle half of a candidate's times lies within {:.1} % of their median for half of {} \
         candidates, within {:.1} % for nine of ten.",
        100.0 * noise.median,
        noise.candidates,
        100.0 * noise.ninth_decile
    )
}

fn report(device: &str, models: &[Evaluation], measurements: &Measurements) -> Value {
    let redundancy = redundancies(&measurements.data);
    let redundancy =
        redundancy.iter().map(|(name, value)| json!({ "feature": name, "redundancy": value }));
    let noise = measurements.noise.map(|noise| {
        json!({
            "candidates": noise.candidates,
            "median_spread": noise.median,
            "ninth_decile_spread": noise.ninth_decile,
        })
    });
    json!({
        "device": device,
        "models": models.iter().map(model_json).collect::<Value>(),
        "redundancy": redundancy.collect::<Value>(),
        "noise": noise,
    })
}

fn model_json(model: &Evaluation) -> Value {
    json!({
        "kind": model.kind.to_string(),
        "programs": model.programs.iter().map(program_json).collect::<Value>(),
        "all": summary_json(&model.summary()),
    })
}

fn program_json(program: &ProgramResult) -> Value {
    let mut json = summary_json(&program.summary());
    json["program"] = program.program.as_str().into();
    json["problems"] = program.groups.iter().map(group_json).collect();
    json
}

fn group_json(group: &GroupResult) -> Value {
    json!({
        "sizes": group.sizes,
        "measured": group.measured,
        "failed": group.failed,
        "pearson": group.pearson,
        "spearman": group.spearman,
        "first": group.first,
        "model": cost_json(group.model),
        "random": cost_json(group.random),
        "fewer_runs": group.fewer_runs(),
        "less_time": group.less_time(),
        "reached": group.reached.iter().map(reached_json).collect::<Value>(),
    })
}

fn reached_json(reached: &Reached) -> Value {
    json!({ "runs": reached.runs, "model": reached.model, "random": reached.random })
}

fn summary_json(summary: &Summary) -> Value {
    json!({
        "pearson": summary.pearson,
        "spearman": summary.spearman,
        "first": summary.first,
        "model": cost_json(summary.model),
        "random": cost_json(summary.random),
        "fewer_runs": summary.fewer_runs,
        "less_time": summary.less_time,
    })
}

fn cost_json(cost: Cost) -> Value {
    json!({ "runs": cost.runs, "ms": cost.ms })
}
