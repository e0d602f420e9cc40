//! Candidates of a tuning database, as rows of a table.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use lift_explore::candidate::hash;
use lift_model::learn::{Layout, Row, Sample, device_label, spread};
use lift_store::{CandidateId, Measured, ProblemKey, Store, StoreError, deciding};

/// What a database has.
#[derive(Default)]
pub struct Found {
    pub rows: Vec<Row>,
    /// How many were tried that have no features of the layout.
    pub without: usize,
    /// Versions of the features there are.
    versions: BTreeSet<u32>,
}

impl Found {
    /// Why there are no rows, and what to do.
    pub fn why_none(&self, layout: &Layout) -> String {
        if self.without == 0 {
            let tune = "measure some with `lift tune`";
            return format!("there is no measured candidate in this database: {tune}");
        }
        let (without, version) = (self.without, layout.version);
        let others = self.versions.iter().filter(|of| **of != version);
        let others: Vec<String> = others.map(u32::to_string).collect();
        let but = match others.as_slice() {
            [] => String::new(),
            _ => format!(", but of version {}", others.join(", ")),
        };
        format!(
            "none of {without} candidates has all features of version {version}{but}: compute them with \
             `lift model renew`"
        )
    }
}

pub fn read(path: &Path, layout: &Layout) -> Result<Found, StoreError> {
    let store = Store::open_to_read(path)?;
    let problems: Vec<_> = store
        .problems()?
        .into_iter()
        .map(|id| Ok((id, store.key(id)?)))
        .collect::<Result<_, StoreError>>()?;
    let names = names(problems.iter().map(|(_, key)| key));
    let mut found = Found::default();
    for (id, key) in &problems {
        let mut features = HashMap::new();
        for of in store.features(*id)? {
            found.versions.insert(of.version);
            if of.version == layout.version {
                features.insert(of.candidate, of.numbers);
            }
        }
        let program = names.get(&key.program).unwrap_or(&key.name);
        for measured in store.measured(*id)? {
            add(&mut found, &measured, (program, key), &features, layout);
        }
    }
    Ok(found)
}

fn add(
    found: &mut Found,
    measured: &Measured,
    (program, key): (&str, &ProblemKey),
    features: &HashMap<CandidateId, BTreeMap<String, f64>>,
    layout: &Layout,
) {
    let Some(last) = deciding(&measured.measurements) else { return };
    let numbers = features.get(&measured.id);
    let values = layout.names.iter().map(|name| numbers?.get(name).copied());
    let Some(features) = values.collect::<Option<Vec<f64>>>() else {
        found.without += 1;
        return;
    };
    let sample = Sample {
        program: program.to_string(),
        sizes: sizes(key),
        device: device_label(&key.device.kind, &key.device.name),
        features,
        ms: last.ms(),
    };
    found.rows.push(Row {
        sample,
        hash: measured.candidate.hash.clone(),
        parameters: measured.candidate.parameters.clone(),
        outcome: last.outcome.to_string(),
        spread: last.ms().and_then(|_| spread(&last.samples)),
    });
}

/// A name for each program, by its text. Where several have the same, part of the text's hash tells them apart.
fn names<'k>(keys: impl Iterator<Item = &'k ProblemKey>) -> HashMap<String, String> {
    let texts: BTreeMap<&str, &str> =
        keys.map(|key| (key.program.as_str(), key.name.as_str())).collect();
    let is_alone = |name: &str| texts.values().filter(|other| **other == name).count() == 1;
    let named = |(text, name): (&&str, &&str)| match is_alone(name) {
        true => (text.to_string(), name.to_string()),
        false => (text.to_string(), format!("{name}-{}", hash(text))),
    };
    texts.iter().map(named).collect()
}

/// The sizes, and what else makes it a problem of its own.
fn sizes(key: &ProblemKey) -> String {
    let sizes = key.sizes.iter().map(|(name, value)| format!("{name}={value}"));
    let sizes = sizes.collect::<Vec<String>>().join(",");
    format!("{sizes} {}", key.flags).trim().to_string()
}

#[cfg(test)]
mod tests {
    use lift_store::{Measurement, Outcome};

    use super::*;

    fn measurement(outcome: Outcome, samples: &[f64]) -> Measurement {
        let (message, host) = (String::new(), String::new());
        Measurement { outcome, message, samples: samples.to_vec(), started: 0, seed: 0, host }
    }

    #[test]
    fn the_latest_verdict_decides() {
        let ok = |ms: f64| measurement(Outcome::Ok, &[ms]);
        let not = |outcome| measurement(outcome, &[]);
        let decided = |all: &[Measurement]| deciding(all).map(|m| (m.outcome, m.median()));
        assert_eq!(decided(&[ok(1.0), ok(2.0)]), Some((Outcome::Ok, Some(2.0))));
        assert_eq!(decided(&[ok(1.0), not(Outcome::TimedOut)]), Some((Outcome::Ok, Some(1.0))));
        assert_eq!(decided(&[ok(1.0), not(Outcome::Wrong)]), Some((Outcome::Wrong, None)));
        assert_eq!(decided(&[not(Outcome::Crashed)]), Some((Outcome::Crashed, None)));
        assert_eq!(decided(&[not(Outcome::Skipped)]), None);
        let slow = measurement(Outcome::Skipped, &[9.0]);
        assert_eq!(decided(&[slow]), Some((Outcome::Skipped, Some(9.0))));
        assert_eq!(decided(&[]), None);
    }
}
