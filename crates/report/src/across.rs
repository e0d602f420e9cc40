//! Programs that were tuned for several devices: what was tuned for one of them, run on the others.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::collected::Problem;
use crate::devices::full_name;
use crate::numbers::short;
use crate::winner::sizes;

/// A program at sizes, on all devices that it was tuned for.
#[derive(Serialize)]
pub struct Across {
    pub name: String,
    pub sizes: String,
    /// Run on these.
    pub devices: Vec<String>,
    pub rows: Vec<TunedFor>,
}

/// The best form for a device, on each of them.
#[derive(Serialize)]
pub struct TunedFor {
    pub device: String,
    pub cells: Vec<String>,
}

/// Programs with two devices or more, in the order of their first problems.
pub fn across(problems: &[Problem]) -> Vec<Across> {
    let mut groups: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for (index, Problem { key, .. }) in problems.iter().enumerate() {
        groups.entry((&key.program, &key.sizes, &key.flags)).or_default().push(index);
    }
    let mut groups: Vec<Vec<usize>> = groups.into_values().filter(|g| g.len() > 1).collect();
    groups.sort();
    let pick = |group: Vec<usize>| -> Vec<&Problem> {
        group.into_iter().filter_map(|index| problems.get(index)).collect()
    };
    groups.into_iter().map(pick).map(|group| matrix(&group)).collect()
}

fn matrix(group: &[&Problem]) -> Across {
    let name = |problem: &Problem| full_name(problem, group.iter().copied());
    let first = group.first();
    let text = first.and_then(|p| p.tried.first()).map_or("", |t| t.candidate.text.as_str());
    let named = first.map_or(Vec::new(), |p| sizes(&p.key, text).into_iter().collect());
    let named: Vec<String> =
        named.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    let row = |owner: &&Problem| TunedFor {
        device: name(owner),
        cells: group.iter().map(|on| cell(owner, on)).collect(),
    };
    Across {
        name: first.map_or(String::new(), |p| p.key.name.clone()),
        sizes: named.join(", "),
        devices: group.iter().map(|problem| name(problem)).collect(),
        rows: group.iter().map(row).collect(),
    }
}

/// `0.123 ms, 57 %`: the time of the best form for `owner` on another device, and its speed over that of the best there.
fn cell(owner: &Problem, on: &Problem) -> String {
    let Some(best) = &owner.best else { return "none is right".to_string() };
    let same = on.tried.iter().find(|tried| tried.candidate.hash == best.candidate.hash);
    match same {
        None => "not measured".to_string(),
        Some(tried) => match (tried.ms, on.share(tried)) {
            (Some(ms), Some(share)) => format!("{} ms, {:.0} %", short(ms), share * 100.0),
            _ => tried.outcome.to_string(),
        },
    }
}

#[cfg(test)]
mod tests {
    use lift_store::{Candidate, Device, Measurement, Outcome, ProblemKey, Store};

    use super::*;
    use crate::collected::problems;

    fn record(store: &mut Store, device: &str, size: u64, times: &[(&str, f64)]) {
        let device =
            Device { fingerprint: device.into(), name: device.into(), kind: "cuda".into() };
        let key = ProblemKey {
            program: "def f(xs: [f32; N]) = xs".to_string(),
            name: "f".to_string(),
            sizes: [("N0".to_string(), size)].into(),
            device,
            flags: String::new(),
        };
        let problem = store.problem(&key).expect("new");
        for (hash, ms) in times {
            let candidate = Candidate { hash: hash.to_string(), ..Candidate::default() };
            let id = store.candidate(problem, &candidate).expect("new");
            let (outcome, samples) = match ms.is_finite() {
                true => (Outcome::Ok, vec![*ms]),
                false => (Outcome::Wrong, Vec::new()),
            };
            let (message, host) = (String::new(), String::new());
            let measurement = Measurement { outcome, message, samples, started: 0, seed: 0, host };
            store.record(id, &measurement).expect("new");
        }
    }

    #[test]
    fn what_was_tuned_for_one_device_is_shown_on_the_others() {
        let mut store = Store::open_in_memory().expect("memory");
        record(&mut store, "A", 64, &[("a", 1.0), ("b", 2.0)]);
        record(&mut store, "B", 64, &[("a", 8.0), ("b", 4.0)]);
        record(&mut store, "C", 64, &[("b", f64::NAN), ("c", 3.0)]);
        // Another size has one device.
        record(&mut store, "A", 128, &[("a", 1.0)]);
        let all = across(&problems(&store).expect("they are there"));
        let [one] = all.as_slice() else { panic!("{} programs", all.len()) };
        assert_eq!(one.devices, ["cuda A", "cuda B", "cuda C"]);
        let cells: Vec<Vec<&str>> =
            one.rows.iter().map(|row| row.cells.iter().map(String::as_str).collect()).collect();
        assert_eq!(cells[0], ["1.000 ms, 100 %", "8.000 ms, 50 %", "not measured"]);
        assert_eq!(cells[1], ["2.000 ms, 50 %", "4.000 ms, 100 %", "wrong"]);
        assert_eq!(cells[2], ["not measured", "not measured", "3.000 ms, 100 %"]);
    }

    /// Drivers are named where the device is not enough to tell columns apart.
    #[test]
    fn devices_of_the_same_name_are_told_apart_by_their_drivers() {
        let mut store = Store::open_in_memory().expect("memory");
        record(&mut store, "A", 64, &[("a", 1.0)]);
        record(&mut store, "B", 64, &[("a", 2.0)]);
        let mut problems = problems(&store).expect("they are there");
        for problem in &mut problems {
            problem.key.device.name = "GPU".to_string();
        }
        assert_eq!(across(&problems)[0].devices, ["A", "B"]);
        problems[1].key.device.kind = "opencl".to_string();
        assert_eq!(across(&problems)[0].devices, ["cuda GPU", "opencl GPU"]);
    }

    /// Problems of a device stand together, in the order in which they came, and each device has a row.
    #[test]
    fn problems_are_shown_device_by_device() {
        let mut store = Store::open_in_memory().expect("memory");
        for (device, size) in [("A", 64), ("B", 64), ("A", 128), ("B", 32)] {
            record(&mut store, device, size, &[("a", 1.0), ("b", f64::NAN)]);
        }
        let sorted = crate::devices::by_device(problems(&store).expect("they are there"));
        let order: Vec<(&str, u64)> =
            sorted.iter().map(|p| (p.key.device.name.as_str(), p.key.sizes["N0"])).collect();
        assert_eq!(order, [("A", 64), ("A", 128), ("B", 64), ("B", 32)]);
        let rows: Vec<_> = crate::devices::devices(&sorted)
            .iter()
            .map(|row| (row.name.clone(), row.problems, row.tried, row.timed))
            .collect();
        assert_eq!(rows, [("cuda A".to_string(), 2, 4, 2), ("cuda B".to_string(), 2, 4, 2)]);
        assert!(crate::devices::devices(&sorted[..2]).is_empty(), "one device needs no table");
    }
}
