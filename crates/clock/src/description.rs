//! What was measured of a machine: quantities with their units, errors and samples, in a file.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use lift_runtime::{DeviceInfo, Language};
use serde::{Deserialize, Serialize};

/// Files of another format are refused.
pub const FORMAT: u32 = 1;

/// The quantity that says how much local memory a group may have.
pub(crate) const LOCAL_BYTES: &str = "group.local_bytes";

/// One device as the clock sees it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Description {
    pub format: u32,
    /// Says the same of two machines where times on one hold on the other.
    pub device: String,
    /// What is asked for: `cpu`, `opencl` or `cuda`.
    pub way: String,
    /// Of the device's compiler.
    pub flags: String,
    /// The day of the calibration.
    pub date: String,
    pub quantities: Vec<Quantity>,
}

/// A number of the machine.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Quantity {
    pub name: String,
    pub value: f64,
    pub unit: String,
    /// Of the value, in its unit.
    pub standard_error: f64,
    /// The file of the probe, or `asked` where the device says so itself.
    pub probe: String,
    /// What was measured, in milliseconds, and at which argument of the probe.
    pub samples: Vec<Sample>,
}

#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Sample {
    pub at: f64,
    pub ms: f64,
}

impl Description {
    /// The value of a quantity.
    pub fn get(&self, name: &str) -> Result<f64, String> {
        let found = self.quantities.iter().find(|q| q.name == name);
        found.map(|q| q.value).ok_or_else(|| {
            format!(
                "the machine's description of {} lacks `{name}`; make it anew by `lift calibrate`",
                self.device
            )
        })
    }

    /// The value of a quantity that not all machines have.
    pub fn find(&self, name: &str) -> Option<f64> {
        self.quantities.iter().find(|q| q.name == name).map(|q| q.value)
    }

    /// The local memory that a group may have.
    pub fn local_bytes(&self) -> Option<u64> {
        self.find(LOCAL_BYTES).map(|bytes| bytes as u64)
    }

    /// Whether the description is of a device and of the flags it compiles with.
    pub fn fits(&self, info: &DeviceInfo, flags: &str) -> Result<(), String> {
        let device = fingerprint(info);
        if self.device != device {
            return Err(format!(
                "the machine's description is of `{}`, and this is `{device}`; make one by `lift calibrate`",
                self.device
            ));
        }
        self.made_with(flags)
    }

    /// Whether the description is of these flags.
    pub fn made_with(&self, flags: &str) -> Result<(), String> {
        let named = |flags: &str| match flags {
            "" => "no flags".to_string(),
            flags => format!("`--{flags}`"),
        };
        if self.flags == flags {
            return Ok(());
        }
        Err(format!(
            "the machine's description was made with {}, and this is for {}; make one by `lift calibrate`",
            named(&self.flags),
            named(flags)
        ))
    }

    /// Reads a file.
    pub fn read(path: &Path) -> Result<Description, String> {
        let shown = path.display();
        let text = fs::read_to_string(path).map_err(|e| format!("{shown}: {e}"))?;
        Description::parse(&text).map_err(|why| format!("{shown}: {why}"))
    }

    pub fn parse(text: &str) -> Result<Description, String> {
        #[derive(Deserialize)]
        struct Head {
            format: u32,
        }
        let advice = "make it anew by `lift calibrate`";
        let head: Head = serde_json::from_str(text)
            .map_err(|e| format!("no machine's description: {e}; {advice}"))?;
        if head.format != FORMAT {
            return Err(format!(
                "a machine's description of format {}, and this is for {FORMAT}; {advice}",
                head.format
            ));
        }
        let description: Description = serde_json::from_str(text)
            .map_err(|e| format!("no machine's description: {e}; {advice}"))?;
        let mut names = BTreeSet::new();
        if let Some(twice) = description.quantities.iter().find(|q| !names.insert(&q.name)) {
            return Err(format!("`{}` is there twice; {advice}", twice.name));
        }
        let is_rate = |q: &Quantity| q.unit.ends_with("/s") || q.name.starts_with("unit");
        let bad =
            |q: &&Quantity| !q.value.is_finite() || q.value < 0.0 || (q.value == 0.0 && is_rate(q));
        match description.quantities.iter().find(bad) {
            Some(q) => Err(format!("`{}` is {}, which it cannot be; {advice}", q.name, q.value)),
            None => Ok(description),
        }
    }

    /// Whether a file can be written there: whoever is about to measure for minutes asks before.
    pub fn can_be_written(path: &Path) -> Result<(), String> {
        let shown = path.display();
        if path.is_dir() {
            return Err(format!("{shown} is a folder; name a file in it"));
        }
        // Folders that are not there yet are made when there is something to write.
        let there = path.ancestors().skip(1).find(|p| p.exists()).unwrap_or(Path::new("."));
        let probe = there.join(format!("{}.part", std::process::id()));
        let tried = fs::write(&probe, "").and_then(|()| fs::remove_file(&probe));
        tried.map_err(|e| format!("{shown} cannot be written: {e}; name another file by `-o`"))
    }

    /// Writes a file, whole or not at all.
    pub fn write(&self, path: &Path) -> Result<(), String> {
        let shown = path.display();
        let failed = |e: std::io::Error| format!("{shown}: {e}");
        let text = serde_json::to_string_pretty(self).map_err(|e| format!("{shown}: {e}"))?;
        let folder = path.parent().filter(|p| !p.as_os_str().is_empty());
        if let Some(folder) = folder {
            fs::create_dir_all(folder).map_err(failed)?;
        }
        let beside = path.with_extension(format!("{}.part", std::process::id()));
        let written = fs::write(&beside, text + "\n").and_then(|()| fs::rename(&beside, path));
        written.map_err(|e| {
            // Nothing half-written stays; what is there is removed as far as it can be.
            let _ = fs::remove_file(&beside);
            failed(e)
        })
    }
}

/// What tells devices apart: the way, the name, the driver, and how much of it there is.
pub fn fingerprint(info: &DeviceInfo) -> String {
    let units = match info.language {
        Language::C => format!(", {} threads", info.compute_units),
        Language::OpenCl | Language::Cuda => String::new(),
    };
    format!("{} {} {}{units}", info.way(), info.name, info.driver)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn description() -> Description {
        Description {
            format: FORMAT,
            device: "cpu a 1, 2 threads".into(),
            way: "cpu".into(),
            flags: String::new(),
            date: "2026-11-17".into(),
            quantities: vec![Quantity {
                name: "dram.rate".into(),
                value: 20.0,
                unit: "GB/s".into(),
                standard_error: 0.1,
                probe: "read.lift".into(),
                samples: vec![Sample { at: 1e9, ms: 50.0 }],
            }],
        }
    }

    #[test]
    fn what_is_written_is_read_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("below/machine.json");
        description().write(&path).expect("it is written");
        assert_eq!(Description::read(&path), Ok(description()));
        let files = fs::read_dir(path.parent().expect("a parent")).expect("it can be read").count();
        assert_eq!(files, 1, "nothing else stays");
    }

    #[test]
    fn what_cannot_be_written_is_known_before() {
        let folder = tempfile::tempdir().expect("a folder");
        let inside = |name: &str| folder.path().join(name);
        assert_eq!(Description::can_be_written(&inside("below/machine.json")), Ok(()));
        assert_eq!(
            fs::read_dir(folder.path()).expect("it can be read").count(),
            0,
            "nothing stays"
        );
        let said = Description::can_be_written(folder.path()).expect_err("a folder");
        assert!(said.contains("is a folder"), "{said}");
        fs::write(inside("file"), "").expect("a file");
        let said =
            Description::can_be_written(&inside("file/machine.json")).expect_err("no folder");
        assert!(said.contains("cannot be written") && said.contains("-o"), "{said}");
    }

    #[test]
    fn others_are_refused_with_what_to_do() {
        let text =
            serde_json::to_string(&Description { format: 2, ..description() }).expect("text");
        let said = Description::parse(&text).expect_err("another format");
        assert!(said.contains("format 2") && said.contains("lift calibrate"), "{said}");
        let said = Description::parse("{}").expect_err("no description");
        assert!(said.contains("no machine's description"), "{said}");
        let said = description().get("l1.rate").expect_err("it is missing");
        assert!(said.contains("`l1.rate`"), "{said}");
        let mut wrong = description();
        wrong.quantities[0].value = -1.0;
        let text = serde_json::to_string(&wrong).expect("text");
        assert!(Description::parse(&text).expect_err("no rate").contains("dram.rate"));
        let mut twice = description();
        twice.quantities.extend(description().quantities);
        let text = serde_json::to_string(&twice).expect("text");
        assert!(
            Description::parse(&text).expect_err("twice").contains("`dram.rate` is there twice")
        );
        let mut none = description();
        none.quantities[0] =
            Quantity { name: "unit.items".into(), value: 0.0, ..none.quantities[0].clone() };
        none.quantities[0].unit.clear();
        let text = serde_json::to_string(&none).expect("text");
        assert!(Description::parse(&text).expect_err("no items").contains("`unit.items` is 0"));
        wrong.quantities[0].value = 0.0;
        let text = serde_json::to_string(&wrong).expect("text");
        assert!(Description::parse(&text).expect_err("no rate").contains("`dram.rate` is 0"));
        let said = description().made_with("fast-math").expect_err("other flags");
        assert!(said.contains("no flags") && said.contains("`--fast-math`"), "{said}");
        assert_eq!(description().made_with(""), Ok(()));
    }
}
