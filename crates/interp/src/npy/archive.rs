//! The `.npz` format: a zip archive of `.npy` files.

use std::collections::BTreeMap;
use std::io::{Read, Seek, Write};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use super::format;
use crate::array::Columns;
use crate::value::Value;

/// More entries than any tuple has.
const MAX_ENTRIES: usize = 4096;

/// Writes one entry a component, not compressed, as `numpy.savez` does.
pub(super) fn write(out: impl Write + Seek, value: &Value) -> Result<(), String> {
    let mut archive = ZipWriter::new(out);
    write_entries(&mut archive, value, String::new())?;
    archive.finish().map(|_| ()).map_err(|e| e.to_string())
}

fn write_entries(
    archive: &mut ZipWriter<impl Write + Seek>,
    value: &Value,
    path: String,
) -> Result<(), String> {
    if let Some(components) = components_of(value) {
        for (i, component) in components.iter().enumerate() {
            let dot = if path.is_empty() { "" } else { "." };
            write_entries(archive, component, format!("{path}{dot}{i}"))?;
        }
        return Ok(());
    }
    let name = if path.is_empty() { "0" } else { &path };
    // No time is written: same value, same bytes.
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Stored)
        .last_modified_time(zip::DateTime::default())
        .large_file(true);
    archive.start_file(format!("{name}.npy"), options).map_err(|e| e.to_string())?;
    format::write(archive, value)
}

fn components_of(value: &Value) -> Option<Vec<Value>> {
    match value {
        Value::Tuple(components) => Some(components.to_vec()),
        Value::Array(array) => match array.columns() {
            Columns::Tuple { components, .. } => {
                Some(components.iter().cloned().map(Value::Array).collect())
            }
            Columns::Leaf(_) => None,
        },
        Value::Scalar(_) | Value::Vector(_) => None,
    }
}

/// A tuple of the entries `0`, `1`, …, those such as `0.1` nested; `arr_0` counts as `0`. A single
/// entry is the value itself.
pub(super) fn read(from: impl Read + Seek) -> Result<Value, String> {
    let mut archive = ZipArchive::new(from).map_err(|e| e.to_string())?;
    if archive.len() > MAX_ENTRIES {
        return Err(format!("{} entries are too many for a tuple", archive.len()));
    }
    let mut entries: BTreeMap<Vec<usize>, Value> = BTreeMap::new();
    for index in 0..archive.len() {
        let entry = archive.by_index(index).map_err(|e| e.to_string())?;
        let name = entry.name().map_err(|e| e.to_string())?.to_string();
        let Some(path) = path_of(&name) else {
            return Err(format!("its entry `{name}` is not called `0`, `1`, …"));
        };
        let value = format::read(entry).map_err(|e| format!("in `{name}`, {e}"))?;
        if entries.insert(path, value).is_some() {
            return Err(format!("it has two entries `{name}`"));
        }
    }
    let entries: Vec<(Vec<usize>, Value)> = entries.into_iter().collect();
    match entries.as_slice() {
        [] => Err("it has no entries".to_string()),
        [(_, only)] => Ok(only.clone()),
        _ => nested(&entries, 0),
    }
}

/// `0.1.npy` as `[0, 1]`.
fn path_of(name: &str) -> Option<Vec<usize>> {
    let name = name.strip_suffix(".npy").unwrap_or(name);
    let name = name.strip_prefix("arr_").unwrap_or(name);
    let path: Vec<usize> = name.split('.').map(|n| n.parse().ok()).collect::<Option<_>>()?;
    // Tuples do not nest deeper than programs do.
    (path.len() <= 64).then_some(path)
}

/// The value of entries that agree in their first `depth` numbers, in order.
fn nested(entries: &[(Vec<usize>, Value)], depth: usize) -> Result<Value, String> {
    let mut components = Vec::new();
    let mut rest = entries;
    while let Some((path, first)) = rest.first() {
        let at = path.get(depth);
        let group = rest.iter().take_while(|(p, _)| p.get(depth) == at).count();
        let (own, others) = rest.split_at(group);
        if at != Some(&components.len()) {
            return Err("its entries are not `0`, `1`, … without a gap".to_string());
        }
        components.push(match own {
            [_] if path.len() == depth + 1 => first.clone(),
            _ => nested(own, depth + 1)?,
        });
        rest = others;
    }
    Ok(Value::tuple(components))
}
