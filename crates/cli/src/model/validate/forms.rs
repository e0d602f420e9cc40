//! Set c: programs of the suites, each as it is and in some random low-level forms.

use std::path::Path;
use std::time::{Duration, Instant};

use lift_bench::suite;
use lift_clock::forms::{
    ComparedForm, Form, MeasuredForms, compare_forms, mean_rank_correlation, predicted, quantile,
};
use lift_clock::timed::{Apart, Question, What};
use lift_clock::validate::spread;
use lift_clock::{Description, four_digits};
use lift_explore::candidate::Goal;
use lift_explore::deadline::Deadline;
use lift_explore::machine::machine;
use lift_explore::settings::Settings;
use lift_explore::space::everything_until;
use lift_explore::tune::drawn;
use serde_json::json;

use super::{Options, described};
use crate::collection::{Pair, pairs};
use crate::machine_file;
use crate::model::columns::columns;
use crate::predict::language;
use crate::report::{Failure, remark, say, say_json};

/// Elements of the largest argument, as powers of two.
const POWERS: [u32; 4] = [12, 16, 20, 24];
/// Forms beside the program itself.
const FORMS: usize = 5;
/// For finding the forms of one program, and for one run.
const TO_FIND: Duration = Duration::from_secs(4);
const TO_RUN: Duration = Duration::from_secs(20);
/// What is predicted to take longer is not run.
const TOO_LONG_MS: f64 = 500.0;

pub fn run(options: &Options) -> Result<(), Failure> {
    let (measured, machine) = match &options.measured {
        Some(path) => {
            let measured: MeasuredForms = super::kept(path)?;
            if measured.set != "c" {
                let shown = path.display();
                let text = format!("{shown}: measurements of set {}", measured.set);
                return Err(Failure::message(text));
            }
            (measured, super::machine_of_kept(options)?)
        }
        None => on_device(options)?,
    };
    let all = compare_forms(&measured, language(&machine)?, &machine);
    if options.json {
        let forms: Vec<_> = all.iter().map(one).collect();
        return say_json(&json!({
            "device": measured.device, "set": "c", "seed": measured.seed, "date": measured.date, "forms": forms,
        }));
    }
    let failed = measured.forms.iter().filter(|form| form.failed.is_some()).count();
    say(&table(&all, failed))
}

fn on_device(options: &Options) -> Result<(MeasuredForms, Description), Failure> {
    let (info, description) = described(options)?;
    let language = language(&description)?;
    let folder = suite::folder(None).map_err(Failure::of)?;
    let pairs = pairs(&folder, &options.only, &POWERS)?;
    let command = crate::own::path()
        .map_err(|e| Failure::message(format!("cannot find this command: {e}")))?;
    let mut apart = Apart::new(command, &["timed"]);
    let mut measured = MeasuredForms {
        device: description.device.clone(),
        set: "c".to_string(),
        seed: options.seed,
        date: machine_file::today(),
        forms: Vec::new(),
    };
    let start = Instant::now();
    let count = pairs.len().min(options.count);
    for (k, pair) in pairs.into_iter().take(count).enumerate() {
        let left = options.time.saturating_sub(start.elapsed());
        if left.is_zero() {
            remark(&format!("the time is over: {k} of {count} programs and sizes were tried"));
            break;
        }
        remark(&format!("{} at 2^{}, {} of {count}", pair.program, pair.power, k + 1));
        for mut form in forms(&pair, &info, options.seed, TO_FIND.min(left)) {
            let time = match predicted(&form, language, &description) {
                Err(why) => Err(why),
                Ok((ms, _)) if ms > TOO_LONG_MS => {
                    Err("not run: it is predicted to take too long".to_string())
                }
                Ok(_) => timed(&form, &options.device, &mut apart),
            };
            match time {
                Ok(figure) => {
                    form.measured_ms = Some(four_digits(figure.ms));
                    form.unsteady = figure.unsteady;
                }
                Err(why) => form.failed = Some(why),
            }
            measured.forms.push(form);
        }
        if let Some(path) = &options.output {
            write(path, &measured)?;
        }
    }
    Ok((measured, description))
}

/// The program as it is, and others of its forms.
fn forms(pair: &Pair, info: &lift::DeviceInfo, seed: u64, time: Duration) -> Vec<Form> {
    let form = |number: usize, text: String| Form {
        program: pair.program.clone(),
        number,
        sizes: pair.sizes.clone(),
        entry: pair.def.name.clone(),
        text,
        measured_ms: None,
        unsteady: false,
        failed: None,
    };
    let mut forms = vec![form(0, pair.text.clone())];
    let settings = Settings::default();
    let mut bounds = settings.bounds;
    bounds.most_items = bounds.most_items.min(i128::from(info.max_group_size));
    let (sizes, language) = (pair.sizes.clone(), info.language);
    let goal = Goal { sizes, language, machine: machine(info) };
    let deadline = Deadline::after(time);
    let (known, target) = (&goal.sizes, goal.target());
    let by = deadline.share(2);
    let Ok(space) = everything_until(&pair.def, known, target, &settings.limits, by) else {
        return forms;
    };
    let others = drawn(&space, &goal, &bounds, FORMS, seed, deadline);
    forms.extend(others.into_iter().zip(1..).map(|(made, number)| form(number, made.text)));
    forms
}

fn timed(
    form: &Form,
    device: &str,
    apart: &mut Apart,
) -> Result<lift_clock::timed::Figure, String> {
    let question = Question {
        text: form.text.clone(),
        entry: form.entry.clone(),
        sizes: form.sizes.clone(),
        device: device.to_string(),
        what: What::Kernels,
    };
    let first = apart.ask(&question, TO_RUN)?;
    // What something disturbed has another turn.
    if first.unsteady { apart.ask(&question, TO_RUN) } else { Ok(first) }
}

fn write(path: &Path, measured: &MeasuredForms) -> Result<(), Failure> {
    let failed = |e: String| Failure::message(format!("cannot write {}: {e}", path.display()));
    let text = serde_json::to_string(measured).map_err(|e| failed(e.to_string()))?;
    let write = |file: &mut std::fs::File| std::io::Write::write_all(file, text.as_bytes());
    crate::output::replace(path, write).map_err(|e| failed(e.to_string()))
}

fn one(c: &ComparedForm<'_>) -> serde_json::Value {
    json!({
        "program": c.form.program, "number": c.form.number, "unsteady": c.form.unsteady,
        "sizes": c.form.sizes.iter().map(|(n, s)| (n.clone(), json!(*s as i64))).collect::<serde_json::Map<_, _>>(),
        "measured_ms": four_digits(c.measured_ms), "predicted_ms": four_digits(c.predicted_ms),
        "q": four_digits(c.q()), "bound_by": c.bound_by,
    })
}

fn table(all: &[ComparedForm<'_>], failed: usize) -> String {
    let titles =
        ["what", "forms", "median of d", "90 % of d", "mean of q", "its deviation", "rank"];
    let mut rows = vec![titles.map(String::from).to_vec()];
    let mut row = |what: String, chosen: Vec<&ComparedForm<'_>>| {
        let d: Vec<f64> = chosen.iter().map(|c| c.d()).collect();
        let (Some(middle), Some(most)) = (quantile(&d, 0.5), quantile(&d, 0.9)) else { return };
        let (mean, deviation) = spread(&chosen.iter().map(|c| c.q()).collect::<Vec<_>>());
        let rank = mean_rank_correlation(&chosen).map(|(mean, _)| mean);
        let mut cells = vec![what, chosen.len().to_string()];
        cells.extend([middle, most, mean, deviation].map(|f| format!("{f:.3}")));
        cells.push(crate::model::columns::decimals(rank, 3));
        rows.push(cells);
    };
    let steady = || all.iter().filter(|c| !c.form.unsteady);
    row("all".to_string(), steady().collect());
    row("programs as they are".to_string(), steady().filter(|c| c.form.number == 0).collect());
    row("other forms".to_string(), steady().filter(|c| c.form.number > 0).collect());
    let mut bounds: Vec<&str> = all.iter().map(|c| c.bound_by).collect();
    bounds.sort_unstable();
    bounds.dedup();
    for bound in bounds {
        row(format!("bound by {bound}"), steady().filter(|c| c.bound_by == bound).collect());
    }
    let mut programs: Vec<&str> = all.iter().map(|c| c.form.program.as_str()).collect();
    programs.sort_unstable();
    programs.dedup();
    for program in programs {
        row(program.to_string(), steady().filter(|c| c.form.program == program).collect());
    }
    row(
        "unsteady, not counted above".to_string(),
        all.iter().filter(|c| c.form.unsteady).collect(),
    );
    let mut text = columns(&rows);
    if failed > 0 {
        text += &format!("{failed} more failed or were not run\n");
    }
    text
}
