//! Measurements to learn from, of databases and tables together.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use lift_model::learn::{Dataset, Layout, Noise, Row};

use crate::model::{database, table_file};
use crate::report::{Failure, remark};

/// How measurements are named on the command line.
#[derive(clap::Args)]
pub struct Named {
    /// Databases of `lift tune`, or tables of `lift model export`
    #[arg(value_name = "DB|DATA", required = true)]
    files: Vec<PathBuf>,
    /// The device whose measurements count, by a part of its name, where there are several
    #[arg(long, value_name = "PART-OF-THE-NAME")]
    device: Option<String>,
}

/// Measurements of one device.
pub struct Measurements {
    pub data: Dataset,
    /// Of candidates that ran more than once.
    pub noise: Option<Noise>,
}

impl Named {
    /// Of the only device there is, or of the one that was asked for.
    pub fn read(&self) -> Result<Measurements, Failure> {
        let all = self.rows()?;
        let device = self.choose_device(&all)?;
        of_device(&device, &all)
    }

    /// Of every device, each by itself; or of the one that was asked for.
    pub fn read_each(&self) -> Result<Vec<Measurements>, Failure> {
        if self.device.is_some() {
            return Ok(vec![self.read()?]);
        }
        let all = self.rows()?;
        devices(&all).into_iter().map(|device| of_device(device, &all)).collect()
    }

    fn rows(&self) -> Result<Vec<Row>, Failure> {
        let layout = Layout::current();
        let mut all = Vec::new();
        let mut seen = HashSet::new();
        for path in &self.files {
            // A candidate may be in a database and in a table made of it.
            let rows = rows(path, &layout)?.into_iter();
            all.extend(rows.filter(|row| seen.insert(key(row))));
        }
        Ok(all)
    }

    /// The only device there is, or the only one with this in its name.
    fn choose_device(&self, rows: &[Row]) -> Result<String, Failure> {
        let devices = devices(rows);
        let part = self.device.as_deref().unwrap_or_default();
        let found: Vec<&str> = devices.iter().copied().filter(|d| d.contains(part)).collect();
        match found.as_slice() {
            [only] => Ok(only.to_string()),
            [] => Err(Failure::message(format!(
                "no device of the measurements has `{part}` in its name: there is {}",
                quoted(&devices)
            ))),
            several => Err(Failure::message(format!(
                "the measurements are of several devices, and a model is for one: choose from {} by `--device`",
                quoted(several)
            ))),
        }
    }
}

fn devices(rows: &[Row]) -> Vec<&str> {
    let mut devices: Vec<&str> = rows.iter().map(|row| row.sample.device.as_str()).collect();
    devices.sort_unstable();
    devices.dedup();
    devices
}

/// Rows of other devices are not learned from.
fn of_device(device: &str, rows: &[Row]) -> Result<Measurements, Failure> {
    let own = || rows.iter().filter(|row| row.sample.device == device);
    let noise = Noise::of(own().filter_map(|row| row.spread).collect());
    let mut data = Dataset::new(Layout::current());
    for row in own() {
        data.push(row.sample.clone()).map_err(|e| Failure::message(e.to_string()))?;
    }
    Ok(Measurements { data, noise })
}

fn quoted(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<String>>().join(", ")
}

fn key(row: &Row) -> [String; 4] {
    let sample = &row.sample;
    [&sample.program, &sample.sizes, &sample.device, &row.hash].map(String::clone)
}

/// The candidates of a database or of a table that have features; there is one at least.
pub fn rows(path: &Path, layout: &Layout) -> Result<Vec<Row>, Failure> {
    let failed = |message: String| Failure::message(format!("{}: {message}", path.display()));
    if !table_file::is_database(path).map_err(failed)? {
        let rows = table_file::read(path, layout).map_err(failed)?;
        if rows.is_empty() {
            return Err(failed("there is no candidate in this table".to_string()));
        }
        return Ok(rows);
    }
    let found = database::read(path, layout).map_err(|e| Failure::message(e.to_string()))?;
    if found.rows.is_empty() {
        return Err(failed(found.why_none(layout)));
    }
    if found.without > 0 {
        let tried = found.without + found.rows.len();
        remark(&format!(
            "{}: {} of {tried} candidates have no features of version {} and are left out; `lift model \
             renew` computes them",
            path.display(),
            found.without,
            layout.version
        ));
    }
    Ok(found.rows)
}
