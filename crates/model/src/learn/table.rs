//! Measured candidates as text: one line a candidate, columns by name.
//!
//! ```text
//! program,sizes,device,hash,parameters,outcome,ms,spread,feature_version,…
//! sum,N=1024,opencl a device,5eed,"T=16,R=4",ok,0.27,0.01,1,…
//! ```
//!
//! The columns after `feature_version` are the features.

use std::fmt;

use csv::{Reader, ReaderBuilder, StringRecord, Terminator, WriterBuilder};

use crate::learn::dataset::{Layout, Sample};
use crate::learn::error::LearnError;

const COLUMNS: [&str; 9] = [
    "program",
    "sizes",
    "device",
    "hash",
    "parameters",
    "outcome",
    "ms",
    "spread",
    "feature_version",
];

/// A sample with where it comes from.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Row {
    pub sample: Sample,
    /// Of the candidate.
    pub hash: String,
    /// `T=16,R=4`
    pub parameters: String,
    /// `ok`, or why there is no time.
    pub outcome: String,
    /// Of its times; see [`spread`](crate::learn::spread).
    pub spread: Option<f64>,
}

/// Why a table cannot be read.
#[derive(Clone, PartialEq, Debug)]
pub enum TableError {
    /// There are no headings, or not these.
    NotATable { message: String },
    /// A line is not a candidate.
    BadLine { line: u64, message: String },
    /// The features are not those asked for.
    Features(LearnError),
}

impl std::error::Error for TableError {}

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TableError::NotATable { message } => write!(
                f,
                "this is no table of measurements ({message}): make one with `lift model export`"
            ),
            TableError::BadLine { line, message } => write!(
                f,
                "line {line} is no measurement ({message}): was the file cut short? Export it again, or remove \
                 the line"
            ),
            TableError::Features(error) => write!(f, "{error}"),
        }
    }
}

/// The table of these rows, whose features are those of the layout.
pub fn write(rows: &[Row], layout: &Layout) -> String {
    let mut writer =
        WriterBuilder::new().terminator(Terminator::Any(b'\n')).from_writer(Vec::new());
    let headings = COLUMNS.into_iter().chain(layout.names.iter().map(String::as_str));
    let lines = rows.iter().map(|row| cells(row, layout.version));
    // Nothing can go wrong in memory; all lines have as many cells as there are headings.
    writer.write_record(headings).ok();
    lines.for_each(|line| {
        writer.write_record(line).ok();
    });
    writer.into_inner().ok().and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default()
}

fn cells(row: &Row, version: u32) -> Vec<String> {
    let number = |value: Option<f64>| value.map_or(String::new(), short);
    let sample = &row.sample;
    let mut cells = vec![
        sample.program.clone(),
        sample.sizes.clone(),
        sample.device.clone(),
        row.hash.clone(),
        row.parameters.clone(),
        row.outcome.clone(),
        number(sample.ms),
        number(row.spread),
        version.to_string(),
    ];
    cells.extend(sample.features.iter().copied().map(short));
    cells
}

/// The shortest text that is read back as the same number: `1`, `0.25`, `1e300`.
fn short(value: f64) -> String {
    let text = format!("{value:?}");
    text.strip_suffix(".0").map(String::from).unwrap_or(text)
}

/// The rows of a table whose features are those of the layout, in any order of columns.
pub fn read(text: &str, layout: &Layout) -> Result<Vec<Row>, TableError> {
    let mut reader = ReaderBuilder::new().from_reader(text.as_bytes());
    let columns = Columns::of(&mut reader, layout)?;
    if !text.ends_with('\n') {
        // Half a number may be one.
        let line = text.lines().count() as u64;
        return Err(TableError::BadLine { line, message: "it has no end".to_string() });
    }
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| {
            let line = error.position().map_or(0, csv::Position::line);
            TableError::BadLine { line, message: said(&error) }
        })?;
        let line = record.position().map_or(0, csv::Position::line);
        let row = columns.row(&record, layout).map_err(|problem| match problem {
            Problem::Cell(message) => TableError::BadLine { line, message },
            Problem::Features(error) => TableError::Features(error),
        })?;
        rows.push(row);
    }
    Ok(rows)
}

fn said(error: &csv::Error) -> String {
    match error.kind() {
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!("it has {len} cells and not {expected_len}")
        }
        _ => error.to_string(),
    }
}

/// Where each column is.
struct Columns {
    own: [usize; COLUMNS.len()],
    features: Vec<usize>,
}

enum Problem {
    Cell(String),
    Features(LearnError),
}

impl Columns {
    fn of(reader: &mut Reader<&[u8]>, layout: &Layout) -> Result<Columns, TableError> {
        let not_a_table = |message: String| TableError::NotATable { message };
        let headings = reader.headers().map_err(|error| not_a_table(said(&error)))?;
        let column = |name: &str| headings.iter().position(|heading| heading == name);
        let mut own = [0; COLUMNS.len()];
        for (found, name) in own.iter_mut().zip(COLUMNS) {
            *found =
                column(name).ok_or_else(|| not_a_table(format!("it has no column `{name}`")))?;
        }
        // What is missing is told by the version of the first line, if there is one.
        let features = layout.names.iter().map(|name| column(name).unwrap_or(usize::MAX)).collect();
        Ok(Columns { own, features })
    }

    fn row(&self, record: &StringRecord, layout: &Layout) -> Result<Row, Problem> {
        let [program, sizes, device, hash, parameters, outcome, ms, spread, version] =
            self.own.map(|at| record.get(at).unwrap_or_default());
        let version: u32 =
            version.parse().map_err(|_| Problem::Cell(format!("`{version}` is no version")))?;
        if version != layout.version {
            let known = layout.version;
            return Err(Problem::Features(LearnError::OtherFeatures { found: version, known }));
        }
        let features = self.features.iter().zip(&layout.names).map(|(at, name)| {
            let name_of = || Problem::Features(LearnError::OtherNames { name: name.clone() });
            number(record.get(*at).ok_or_else(name_of)?)
        });
        let sample = Sample {
            program: program.to_string(),
            sizes: sizes.to_string(),
            device: device.to_string(),
            features: features.collect::<Result<_, _>>()?,
            ms: optional(ms)?,
        };
        Ok(Row {
            sample,
            hash: hash.to_string(),
            parameters: parameters.to_string(),
            outcome: outcome.to_string(),
            spread: optional(spread)?,
        })
    }
}

fn number(text: &str) -> Result<f64, Problem> {
    let number = text.parse().ok().filter(|value: &f64| value.is_finite());
    number.ok_or_else(|| Problem::Cell(format!("`{text}` is no number")))
}

fn optional(text: &str) -> Result<Option<f64>, Problem> {
    if text.is_empty() { Ok(None) } else { number(text).map(Some) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout() -> Layout {
        Layout { version: 3, names: vec!["loads".to_string(), "stores".to_string()] }
    }

    fn rows() -> Vec<Row> {
        let sample = Sample {
            program: "a \"b\", c".to_string(),
            sizes: "K=1,M=2".to_string(),
            device: "opencl x".to_string(),
            features: vec![1.0 / 3.0, 1e300],
            ms: Some(0.1 + 0.2),
        };
        let ok = Row {
            sample: sample.clone(),
            hash: "5eed".to_string(),
            parameters: "T=16,R=4".to_string(),
            outcome: "ok".to_string(),
            spread: Some(5e-324),
        };
        let failed = Row {
            sample: Sample { ms: None, ..sample },
            outcome: "wrong".to_string(),
            spread: None,
            ..ok.clone()
        };
        vec![ok, failed]
    }

    #[test]
    fn rows_are_read_back_bit_by_bit() {
        assert_eq!(read(&write(&rows(), &layout()), &layout()), Ok(rows()));
    }

    #[test]
    fn columns_may_stand_in_any_order_among_others() {
        let text = "stores,note,loads,feature_version,spread,ms,outcome,parameters,hash,device,sizes,program\n\
                    2,hello,1,3,,0.5,ok,T=1,5eed,d,N=1,p\n";
        let row = &read(text, &layout()).unwrap()[0];
        assert_eq!((row.sample.features.as_slice(), row.sample.ms), (&[1.0, 2.0][..], Some(0.5)));
        assert_eq!((row.sample.program.as_str(), row.hash.as_str()), ("p", "5eed"));
    }

    fn refusal(text: &str) -> String {
        read(text, &layout()).unwrap_err().to_string()
    }

    #[test]
    fn what_cannot_be_read_is_said_with_its_line() {
        let text = write(&rows(), &layout());
        assert!(refusal("").contains("no column `program`"));
        assert!(refusal("a,b\n1,2\n").contains("lift model export"));
        for length in text.len() - 20..text.len() {
            let cut = refusal(&text[..length]);
            assert!(cut.contains("line 3") && cut.contains("cut short"), "{cut}");
        }
        let few = refusal(&text.replace(",wrong", ""));
        assert!(few.contains("line 3") && few.contains("10 cells and not 11"), "{few}");
        let cut = refusal(&text.replace("0.30000000000000004", "0.3x"));
        assert!(cut.contains("line 2") && cut.contains("`0.3x` is no number"), "{cut}");
        assert!(
            refusal(&text.replace("0.30000000000000004", "inf")).contains("`inf` is no number")
        );
        assert!(refusal(&text.replace(",3,", ",x,")).contains("`x` is no version"));
    }

    #[test]
    fn other_features_are_refused() {
        let text = write(&rows(), &layout());
        let newer = Layout { version: 4, ..layout() };
        let refused = read(&text, &newer).unwrap_err();
        let expected = LearnError::OtherFeatures { found: 3, known: 4 };
        assert_eq!(refused, TableError::Features(expected));
        assert!(refusal(&text.replace("loads", "moads")).contains("`loads`"));
    }
}
