//! `.npy` and `.npz` files.
//!
//! | value | file |
//! |---|---|
//! | a scalar | `.npy` without dimensions |
//! | an array of scalars | `.npy`, row by row |
//! | a vector, or an array of them | `.npy` with the lanes as one more, last dimension |
//! | a tuple, or an array of tuples | `.npz`, one entry a component: `0`, `1`, … |
//! | a pair of `f32` or `f64`, or an array of them | also `.npy` of complex numbers |
//!
//! A component that is itself a tuple has entries such as `0.1`. Files do not say where an array
//! of tuples differs from a tuple of arrays, nor a vector from an array: [`coerce`] brings what was
//! read into the form that a type asks for.

mod archive;
mod complex;
mod format;

use std::fs::{self, File, OpenOptions};
use std::io::{BufReader, BufWriter, Read, Seek, Write};
use std::path::{Path, PathBuf};

use lift_ir::{Scalar, Type};

use crate::array::{Array, Columns};
use crate::value::{Value, Vector, WIDTHS};

/// Reads a file of either kind; which one its first bytes say.
pub fn read(path: &Path) -> Result<Value, String> {
    let in_file = |e: String| format!("cannot read `{}`: {e}", path.display());
    let io = |e: std::io::Error| in_file(e.to_string());
    let mut file = File::open(path).map_err(io)?;
    let mut start = Vec::new();
    Read::by_ref(&mut file).take(4).read_to_end(&mut start).map_err(io)?;
    file.rewind().map_err(io)?;
    let reader = BufReader::new(file);
    if start.starts_with(b"PK") {
        archive::read(reader).map_err(in_file)
    } else {
        format::read(reader).map_err(in_file)
    }
}

/// Writes a value: an archive where the name ends with `.npz`, else a single array.
///
/// The file appears whole or not at all: a file beside it is written first and then renamed.
pub fn write(path: &Path, value: &Value) -> Result<(), String> {
    let archive = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("npz"));
    if !archive && !format::is_single(value) {
        return Err(format!(
            "a value of type `{}` is stored as `.npz`, not as `{}`",
            value.ty(),
            path.display()
        ));
    }
    let (temporary, file) = beside(path)?;
    let mut writer = BufWriter::new(file);
    let written = if archive {
        archive::write(&mut writer, value)
    } else {
        format::write(&mut writer, value)
    };
    let finished = written
        .and_then(|()| writer.flush().map_err(|e| e.to_string()))
        .and_then(|()| fs::rename(&temporary, path).map_err(|e| e.to_string()));
    finished.map_err(|e| {
        // Nothing half-written stays; should even that fail, the first error is the one to tell.
        let _ = fs::remove_file(&temporary);
        format!("cannot write `{}`: {e}", path.display())
    })
}

/// A new file in the same folder.
fn beside(path: &Path) -> Result<(PathBuf, File), String> {
    let in_file = |e: &dyn std::fmt::Display| format!("cannot write `{}`: {e}", path.display());
    let name = path.file_name().ok_or_else(|| in_file(&"it names no file"))?;
    for attempt in 0..100 {
        let mut temporary = std::ffi::OsString::from(".");
        temporary.push(name);
        temporary.push(format!(".{}.{attempt}.tmp", std::process::id()));
        let temporary = path.with_file_name(temporary);
        match OpenOptions::new().write(true).create_new(true).open(&temporary) {
            Ok(file) => return Ok((temporary, file)),
            Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(e) => return Err(in_file(&e)),
        }
    }
    Err(in_file(&"temporary files are in the way"))
}

/// A value that was read, in the form a type asks for: a last dimension becomes the lanes of
/// vectors, a tuple of arrays an array of tuples. What fits neither way stays as it is.
pub fn coerce(value: Value, wanted: &Type) -> Value {
    let (mut base, mut lengths) = (wanted, Vec::new());
    while let Type::Array(element, length) = base {
        lengths.push(length);
        base = element;
    }
    match (base, &value) {
        (Type::Vector(scalar, _), Value::Array(array)) => {
            with_lanes(array, *scalar, lengths.len()).unwrap_or(value)
        }
        (Type::Tuple(types), Value::Tuple(components)) if types.len() == components.len() => {
            let wrapped = |ty: &Type| {
                lengths.iter().rev().fold(ty.clone(), |ty, n| Type::array(ty, (*n).clone()))
            };
            let parts: Vec<Value> = types
                .iter()
                .zip(components.iter())
                .map(|(ty, component)| coerce(component.clone(), &wrapped(ty)))
                .collect();
            if lengths.is_empty() {
                return Value::tuple(parts);
            }
            zipped(parts, lengths.len()).unwrap_or(value)
        }
        (Type::Scalar(_) | Type::Vector(..) | Type::Tuple(_) | Type::Array(..), _) => value,
    }
}

/// The array with its last dimension as lanes, under `rank` others.
fn with_lanes(array: &Array, scalar: Scalar, rank: usize) -> Option<Value> {
    let Columns::Leaf(view) = array.columns() else { return None };
    let width = view.dims.last()?.len;
    let fits = !view.vector && view.buffer.scalar() == scalar && view.dims.len() == rank + 1;
    if !fits || !WIDTHS.contains(&width) {
        return None;
    }
    if rank == 0 {
        return Vector::new(array.elements().filter_map(|x| x.as_scalar())).map(Value::Vector);
    }
    let mut view = view.clone();
    view.vector = true;
    Some(Value::Array(Array::leaf(view)))
}

/// An array of tuples of arrays that agree in their first lengths.
fn zipped(components: Vec<Value>, rank: usize) -> Option<Value> {
    let arrays: Vec<Array> = components.iter().filter_map(|c| c.as_array().cloned()).collect();
    let lengths = arrays.first()?.outer_lengths(rank);
    let agree = lengths.len() == rank && arrays.iter().all(|a| a.outer_lengths(rank) == lengths);
    (agree && arrays.len() == components.len()).then(|| Value::Array(Array::zipped(rank, arrays)))
}
