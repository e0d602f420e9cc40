//! How many runs of earlier searches the clock would have saved, and whether it would have dropped the best.
//!
//! cargo run --release -p lift-lang-explore --example hopeless -- data/stencils-h200.csv.gz data/machines/h200-opencl.json
//!
//! Tables have hashes of candidates and no texts, so candidates are derived again and found by their hash, or else by their
//! features. That takes long: after the two files may follow how many of them count, as one in so many besides the fastest.
//! Where rules have changed since, the fastest may not be derived any more as it was: the candidate with the same parameters and
//! groups that is most like it stands for it then, and how many of its features are the same is told.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};

use lift_clock::Description;
use lift_clock::decide::spread_out;
use lift_explore::candidate::{Candidate, Goal};
use lift_explore::parameters::{Values, local_counts};
use lift_explore::space::{Space, everything, schedule};
use lift_explore::tune::hopeless::{Clock, clock, replay};
use lift_model::features::Machine;
use lift_runtime::Language;
use rayon::prelude::*;

/// Where the features have the work-items of a group.
const LOCAL: usize = 3;

struct Row {
    hash: String,
    values: Values,
    ms: Option<f64>,
    features: Vec<f64>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [table, machine, rest @ ..] = args.as_slice() else {
        return Err("expected TABLE MACHINE [ONE_IN]".into());
    };
    let one_in: usize = rest.first().map_or(Ok(1), |n| n.parse())?;
    let machine = Description::read(machine.as_ref())?;
    let language = match machine.way.as_str() {
        "cpu" => Language::C,
        "opencl" => Language::OpenCl,
        _ => Language::Cuda,
    };
    println!(
        "| program | sizes | candidates | found again | K=2 | K=4 | K=8 | K=16 | q of the fastest |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    let mut problems: Vec<_> = read(table)?.into_iter().map(Some).collect();
    for k in spread_out(problems.len()) {
        let Some(((program, sizes), mut rows)) = problems[k].take() else { continue };
        let best = rows.iter().filter_map(|row| row.ms).min_by(f64::total_cmp);
        let mut number = 0..;
        rows.retain(|row| number.next().is_none_or(|k| k % one_in == 0) || row.ms == best);
        let path = format!("programs/stencil/{program}.lift");
        let checked = lift_syntax::check_file(path.as_ref())?;
        let def = checked.program.entry().ok_or("no definition")?;
        let given: Vec<i128> =
            sizes.split(',').filter_map(|p| p.split_once('=')?.1.parse().ok()).collect();
        let sizes_of: Values = def.sizes.iter().map(|v| v.name().to_string()).zip(given).collect();
        let features = match language {
            Language::C => Machine::processor(16),
            _ => Machine { compute_units: 132, ..Machine::default() },
        };
        let goal = Goal { sizes: sizes_of, language, machine: features };
        let space = everything(def, &goal.sizes, goal.target(), &Default::default())?;
        let clock = clock(machine.clone(), &goal);
        let found: Vec<Option<Again>> =
            rows.par_iter().map(|row| again(row, def, &space, &goal, &clock)).collect();
        let is_same = |again: &&Again| again.share > SAME;
        let known: Vec<(f64, f64)> = found
            .iter()
            .flatten()
            .filter(is_same)
            .filter_map(|again| Some((again.ms?, again.predicted)))
            .collect();
        let saved = |k: f64| {
            let told = replay(&known, k);
            format!("{}{}", told.dropped, if told.lost_best { " LOST" } else { "" })
        };
        // Where the fastest of all is not among those that were found again, the one most like it is shown.
        let fastest = found.iter().flatten().find(|again| again.ms.is_some() && again.ms == best);
        let q = match (fastest, best) {
            (Some(again), Some(ms)) if again.share > SAME => format!("{:.2}", again.predicted / ms),
            (Some(again), Some(ms)) => {
                format!("{:.2}, of one like it to {:.2}", again.predicted / ms, again.share)
            }
            _ => "not found".to_string(),
        };
        // Every one as `PROGRAM;SIZES;MS;PREDICTED`, for whoever wants more than the table.
        for (ms, predicted) in &known {
            eprintln!("{program};{sizes};{ms};{predicted}");
        }
        println!(
            "| {program} | {sizes} | {} | {} | {} | {} | {} | {} | {q} |",
            rows.len(),
            found.iter().flatten().filter(is_same).count(),
            saved(2.0),
            saved(4.0),
            saved(8.0),
            saved(16.0)
        );
    }
    Ok(())
}

/// A candidate is the one of a row where more of its features than this part are the same.
const SAME: f64 = 0.99;

/// The candidate of a row, made again.
struct Again {
    ms: Option<f64>,
    predicted: f64,
    /// Of its features, the part that is the same as in the row.
    share: f64,
}

fn again(
    row: &Row,
    def: &lift_ir::Def,
    space: &Space,
    goal: &Goal,
    clock: &Clock,
) -> Option<Again> {
    let itself = row.values.is_empty().then(|| Candidate::of(def, goal).ok()).flatten();
    let names = names_of(row.values.keys().map(String::as_str));
    let others = space.variants.iter().filter_map(|variant| {
        let own = names_of(variant.def.parameters.iter().map(|p| p.var.name()));
        let known: Values =
            goal.sizes.iter().chain(&row.values).map(|(n, v)| (n.clone(), *v)).collect();
        // Others than had the same groups need not be compiled.
        let groups = local_counts(&variant.def, &known).unwrap_or_default();
        let same = |(k, n): (usize, &i128)| row.features.get(LOCAL + k) == Some(&(*n as f64));
        let fits =
            own == names && (goal.language == Language::C || groups.iter().enumerate().all(same));
        fits.then(|| Candidate::new(&variant.def, &row.values, goal).ok()).flatten()
    });
    let mut like: Option<(Candidate, f64)> = None;
    for made in itself.into_iter().chain(others) {
        let same = made
            .features
            .values
            .iter()
            .zip(&row.features)
            .filter(|(a, b)| (*a - *b).abs() <= 1e-6 * a.abs().max(b.abs()).max(1.0));
        let share = match made.hash == row.hash {
            true => 1.0,
            false => same.count() as f64 / row.features.len().max(1) as f64,
        };
        if like.as_ref().is_none_or(|(_, most)| share > *most) {
            like = Some((made, share));
        }
        if share >= 1.0 {
            break;
        }
    }
    let (made, share) = like?;
    Some(Again { ms: row.ms, predicted: clock(&made)?, share })
}

/// Parameters, but for what says how a kernel is transformed, which may be left open.
fn names_of<'n>(names: impl Iterator<Item = &'n str>) -> BTreeSet<&'n str> {
    names.filter(|name| schedule::knob(name).is_none()).collect()
}

/// Rows by program and sizes.
type Problems = BTreeMap<(String, String), Vec<Row>>;

fn read(path: &str) -> Result<Problems, Box<dyn Error>> {
    let mut child = Command::new("gzip").args(["-dc", path]).stdout(Stdio::piped()).spawn()?;
    let mut text = String::new();
    BufReader::new(child.stdout.take().ok_or("no output")?).read_to_string(&mut text)?;
    child.wait()?;
    let mut lines = text.as_bytes().lines();
    let heads = split(&lines.next().ok_or("an empty table")??);
    let at = |name: &str| heads.iter().position(|h| h == name).ok_or(format!("no column {name}"));
    let (program, sizes, hash, parameters, ms) =
        (at("program")?, at("sizes")?, at("hash")?, at("parameters")?, at("ms")?);
    let first = at("feature_version")? + 1;
    let mut all = Problems::new();
    for line in lines {
        let cells = split(&line?);
        let cell = |k: usize| cells.get(k).cloned().unwrap_or_default();
        let named = cell(parameters);
        let values = named
            .split(',')
            .filter_map(|p| p.split_once('='))
            .filter_map(|(n, v)| Some((n.to_string(), v.parse().ok()?)))
            .collect();
        let features = cells.iter().skip(first).filter_map(|c| c.parse().ok()).collect();
        let row = Row { hash: cell(hash), values, ms: cell(ms).parse().ok(), features };
        all.entry((cell(program), cell(sizes))).or_default().push(row);
    }
    Ok(all)
}

/// The cells of a line; those with commas are in quotes.
fn split(line: &str) -> Vec<String> {
    let (mut cells, mut quoted) = (vec![String::new()], false);
    for c in line.chars() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(String::new()),
            c => cells.last_mut().into_iter().for_each(|cell| cell.push(c)),
        }
    }
    cells
}
