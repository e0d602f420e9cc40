//! `lift bench decide`: how good the decisions of `--device auto` are.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use lift_bench::suite;
use lift_clock::decide::{AS_GOOD, Offer, regret, summary};
use lift_clock::timed::{Apart, Question, What};
use lift_clock::{Description, four_digits, plan, predict};
use serde_json::{Value, json};

use crate::arguments::parse_seconds;
use crate::collection::{Pair, pairs};
use crate::predict::language;
use crate::report::{Failure, remark, say, say_json};
use crate::run::short;
use crate::{machine_file, output};

/// Say how often `--device auto` is right over the programs of the suites
///
/// The first program of every problem is predicted for every device that `lift calibrate` has measured, at sizes at which its
/// largest argument has so many elements, and run, from data on the host to the result there, in a process of its own. A
/// decision is right where the chosen device is within 5 % of the best; its regret is the time of the chosen over that
/// of the best. Pairs are gone through in an order that is spread over all, until the time is over.
#[derive(clap::Args)]
#[command(after_help = "\
Example:\n\
\x20 lift bench decide --devices cpu,opencl:0 --time 60 --only axpy,dot # takes minutes")]
pub struct Options {
    /// The devices to decide between; all that are measured otherwise
    #[arg(long, value_name = "DEVICE", value_delimiter = ',', num_args = 1..)]
    devices: Vec<String>,
    /// Only these programs and problems
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    only: Vec<String>,
    /// Elements of the largest argument, as powers of two
    #[arg(long, value_name = "K", value_delimiter = ',', num_args = 1..,
          default_values_t = [10, 12, 14, 16, 18, 20, 22, 24, 26],
          value_parser = clap::value_parser!(u32).range(1..=34))]
    powers: Vec<u32>,
    /// Seconds until nothing more is begun
    #[arg(long, value_name = "S", value_parser = parse_seconds, default_value = "600")]
    time: Duration,
    /// The folder of benchmarks, instead of `bench` here
    #[arg(long, value_name = "FOLDER")]
    bench_dir: Option<PathBuf>,
    /// Write the JSON to this file too, whole after every decision
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print {"right", "regret", "worst", "decisions": […]}
    #[arg(long)]
    json: bool,
}

/// No program is run that is predicted to take longer everywhere.
const TOO_LONG_MS: f64 = 1000.0;
/// A device that is predicted to take so many times as long as another is not run.
const HOPELESS: f64 = 50.0;
/// A run that takes so much longer than its prediction is given up.
const PATIENCE: Duration = Duration::from_secs(20);

struct Machine {
    id: String,
    description: Description,
}

/// What came of one.
struct Decision {
    pair: Pair,
    offers: Vec<Offer>,
}

pub fn run(options: &Options) -> Result<(), Failure> {
    let machines = machines(&options.devices)?;
    let folder = suite::folder(options.bench_dir.as_deref()).map_err(Failure::of)?;
    let pairs = pairs(&folder, &options.only, &options.powers)?;
    let start = Instant::now();
    let command = crate::own::path()
        .map_err(|e| Failure::message(format!("cannot find this command: {e}")))?;
    let mut apart = Apart::new(command, &["timed"]);
    let count = pairs.len();
    let mut all = Vec::new();
    let mut begun = 0;
    for pair in pairs {
        if start.elapsed() >= options.time {
            break;
        }
        begun += 1;
        let offers = offers(&pair, &machines, &mut apart)?;
        let decision = Decision { pair, offers };
        remark(&format!("{begun} of {count}: {}", decision.told()));
        all.push(decision);
        if let Some(path) = &options.output {
            write(path, &report(&all, &machines))?;
        }
    }
    if begun < count {
        remark(&format!("the time is over: {begun} of {count} were tried"));
    }
    if options.json { say_json(&report(&all, &machines)) } else { say(&table(&all)) }
}

/// The devices to decide between, with their descriptions.
fn machines(devices: &[String]) -> Result<Vec<Machine>, Failure> {
    let known: Vec<lift::DeviceInfo> = match devices {
        [] => lift::devices().into_iter().flatten().collect(),
        some => {
            let mut all = Vec::new();
            for id in some {
                all.push(super::device(id)?);
            }
            all
        }
    };
    let (mut machines, mut unknown) = (Vec::new(), Vec::new());
    for info in known {
        match machine_file::of_device(&info, "")? {
            Some(description) => machines.push(Machine { id: info.id, description }),
            None => unknown.push(info.id),
        }
    }
    let first = unknown.first().map_or("cpu", String::as_str);
    let how = format!("measure it by `lift calibrate --device {first}`");
    if !devices.is_empty() && !unknown.is_empty() {
        return Err(Failure::message(format!("`{first}` has not been measured yet; {how}")));
    }
    if machines.len() < 2 {
        let some = match machines.first() {
            Some(one) => format!("only `{}` is measured", one.id),
            None => "none is measured".to_string(),
        };
        let what_to_do = match unknown.is_empty() {
            true => "name another by `--devices`, as in cpu,opencl:0".to_string(),
            false => format!("there is `{first}`: {how}"),
        };
        return Err(Failure::message(format!(
            "decisions are between devices, and {some}; {what_to_do}"
        )));
    }
    Ok(machines)
}

/// What every device that can run it offers, the one first that is predicted to be the best. Others are run as long as there is
/// a hope.
fn offers(pair: &Pair, machines: &[Machine], apart: &mut Apart) -> Result<Vec<Offer>, Failure> {
    let mut offers = Vec::new();
    for machine in machines {
        let language = language(&machine.description)?;
        let lowering = lift::Options { sizes: pair.sizes.clone(), ..lift::Options::default() };
        // What a device cannot run is no offer.
        let Ok(plan) = plan(&pair.def, &lowering, language, &machine.description) else {
            continue;
        };
        let predicted =
            predict(&plan, &pair.sizes, &machine.description).map_err(Failure::message)?;
        let measured = Err("not run".to_string());
        let (device, predicted_ms) = (machine.id.clone(), predicted.total_ms());
        offers.push(Offer { device, predicted_ms, measured });
    }
    offers.sort_by(|a, b| a.predicted_ms.total_cmp(&b.predicted_ms));
    let Some(least) = offers.first().map(|o| o.predicted_ms) else { return Ok(offers) };
    for offer in &mut offers {
        offer.measured = if least > TOO_LONG_MS {
            Err("not run: it is predicted to take too long".to_string())
        } else if offer.predicted_ms > HOPELESS * least {
            Err(format!("not run: predicted to take more than {HOPELESS} times as long"))
        } else {
            let question = Question {
                text: pair.text.clone(),
                entry: pair.def.name.clone(),
                sizes: pair.sizes.clone(),
                device: offer.device.clone(),
                what: What::Total,
            };
            let expected = Duration::from_secs_f64((10.0 * offer.predicted_ms * 1e-3).min(60.0));
            apart.ask_again(&question, PATIENCE + expected).map(|figure| figure.ms)
        };
    }
    Ok(offers)
}

impl Decision {
    fn told(&self) -> String {
        let one = |o: &Offer| {
            let measured = match &o.measured {
                Ok(ms) => format!("{} ms", short(*ms)),
                Err(why) => why.clone(),
            };
            format!("{} {} ms predicted, {measured}", o.device, short(o.predicted_ms))
        };
        let offers: Vec<String> = self.offers.iter().map(one).collect();
        let regret = match regret(&self.offers) {
            Some(regret) => format!(": regret {regret:.2}"),
            None => String::new(),
        };
        format!("{} at 2^{}: {}{regret}", self.pair.program, self.pair.power, offers.join("; "))
    }

    fn to_json(&self) -> Value {
        let one = |o: &Offer| {
            let mut offer =
                json!({ "device": o.device, "predicted_ms": four_digits(o.predicted_ms) });
            match &o.measured {
                Ok(ms) => offer["measured_ms"] = four_digits(*ms).into(),
                Err(why) => offer["failed"] = why.as_str().into(),
            }
            offer
        };
        json!({
            "program": self.pair.program,
            "power": self.pair.power,
            "sizes": self.pair.sizes.iter().map(|(n, s)| (n.clone(), json!(*s as i64))).collect::<serde_json::Map<_, _>>(),
            "chosen": self.offers.first().map(|o| o.device.as_str()),
            "offers": self.offers.iter().map(one).collect::<Vec<_>>(),
            "regret": regret(&self.offers).map(four_digits),
        })
    }
}

fn report(all: &[Decision], machines: &[Machine]) -> Value {
    let regrets: Vec<f64> = all.iter().filter_map(|d| regret(&d.offers)).collect();
    let sum = summary(&regrets);
    json!({
        "date": machine_file::today(),
        "devices": machines.iter().map(|m| json!({ "id": m.id, "device": m.description.device })).collect::<Vec<_>>(),
        "known": regrets.len(),
        "right": sum.map(|s| four_digits(s.right)),
        "regret": sum.map(|s| four_digits(s.mean)),
        "worst": sum.map(|s| four_digits(s.worst)),
        "decisions": all.iter().map(Decision::to_json).collect::<Vec<_>>(),
    })
}

fn table(all: &[Decision]) -> String {
    let mut rows =
        vec![["elements", "decisions", "right", "regret", "worst"].map(String::from).to_vec()];
    let mut row = |what: String, chosen: Vec<&Decision>| {
        let regrets: Vec<f64> = chosen.iter().filter_map(|d| regret(&d.offers)).collect();
        let Some(sum) = summary(&regrets) else { return };
        rows.push(vec![
            what,
            sum.decisions.to_string(),
            format!("{:.0} %", 100.0 * sum.right),
            format!("{:.3}", sum.mean),
            format!("{:.2}", sum.worst),
        ]);
    };
    row("all".to_string(), all.iter().collect());
    let powers: BTreeSet<u32> = all.iter().map(|d| d.pair.power).collect();
    for power in powers {
        let same = all.iter().filter(|d| d.pair.power == power);
        row(format!("2^{power}"), same.collect());
    }
    let mut text = crate::model::columns::columns(&rows);
    let mut wrong: Vec<(f64, String)> = all
        .iter()
        .filter_map(|d| Some((regret(&d.offers).filter(|r| *r > AS_GOOD)?, d.told())))
        .collect();
    wrong.sort_by(|a, b| b.0.total_cmp(&a.0));
    for (_, told) in wrong.iter().take(super::MOST_TOLD) {
        text += &format!("{told}\n");
    }
    let unknown = all.iter().filter(|d| regret(&d.offers).is_none()).count();
    if unknown > 0 {
        text +=
            &format!("{unknown} more are not known, as the chosen device was not run or failed\n");
    }
    text
}

fn write(path: &Path, report: &Value) -> Result<(), Failure> {
    let text = format!("{report:#}\n");
    let write = |file: &mut std::fs::File| std::io::Write::write_all(file, text.as_bytes());
    output::replace(path, write)
        .map_err(|e| Failure::message(format!("cannot write {}: {e}", path.display())))
}
