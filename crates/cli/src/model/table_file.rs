//! Tables of measurements as files, compressed where their names end in `.gz`.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use lift_model::learn::{self, Layout, Row};

use crate::output;

/// How every SQLite file starts.
const SQLITE: &[u8] = b"SQLite format 3\0";

/// How every compressed file starts.
const GZIP: &[u8] = &[0x1f, 0x8b];

/// Whether a file is a database rather than a table. One that is empty or missing is neither.
pub fn is_database(path: &Path) -> Result<bool, String> {
    let mut start = Vec::new();
    let length = SQLITE.len() as u64;
    let read = File::open(path).and_then(|file| file.take(length).read_to_end(&mut start));
    match read {
        Ok(0) => Err("the file is empty: name a database or a table of measurements".to_string()),
        Ok(_) => Ok(start == SQLITE),
        Err(error) => Err(format!("cannot be read: {error}")),
    }
}

pub fn read(path: &Path, layout: &Layout) -> Result<Vec<Row>, String> {
    let bytes = std::fs::read(path).map_err(|e| format!("cannot be read: {e}"))?;
    let mut text = String::new();
    let unpacked = match bytes.starts_with(GZIP) {
        true => GzDecoder::new(bytes.as_slice()).read_to_string(&mut text),
        false => bytes.as_slice().read_to_string(&mut text),
    };
    unpacked.map_err(|e| format!("is no text, or cut short ({e}): export it again"))?;
    learn::read(&text, layout).map_err(|e| e.to_string())
}

/// Writes the file as a whole or not at all.
pub fn write(path: &Path, rows: &[Row], layout: &Layout) -> io::Result<()> {
    let text = learn::write(rows, layout);
    let packed = path.extension().is_some_and(|extension| extension == "gz");
    output::replace(path, |file| match packed {
        true => {
            let mut packer = GzEncoder::new(file, Compression::best());
            packer.write_all(text.as_bytes())?;
            packer.finish().map(|_| ())
        }
        false => file.write_all(text.as_bytes()),
    })
}
