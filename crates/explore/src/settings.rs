//! How tuning goes, as far as it can be changed: a file in TOML says what is not to be as usual.
//!
//! ```
//! use lift_explore::settings::Settings;
//!
//! let settings = Settings::read("[groups]\nmost_items = 256\n")?;
//! assert_eq!(settings.bounds.most_items, 256);
//! assert_eq!(settings.bounds.fewest_items, Settings::default().bounds.fewest_items);
//!
//! let error = Settings::read("[groups]\nmost_itms = 256\n").unwrap_err();
//! assert_eq!(error.to_string(), "line 2: `groups` has no key `most_itms`: did you mean `most_items`?");
//! # Ok::<(), lift_explore::settings::SettingsError>(())
//! ```

mod read;

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use crate::measure::PoolOptions;
use crate::parameters::Bounds;
use crate::space::algorithms::Limits;

pub use read::SettingsError;

#[derive(Clone, Debug)]
pub struct Settings {
    pub limits: Limits,
    pub bounds: Bounds,
    /// See [`Request`](crate::tune::Request).
    pub repeats: u32,
    pub far_slower: f64,
    pub finalists: usize,
    /// See [`PoolOptions`].
    pub workers: usize,
    pub start_limit: Duration,
    pub compile_limit: Duration,
    pub run_limit: Duration,
}

impl Default for Settings {
    fn default() -> Settings {
        let PoolOptions { workers, start_limit, compile_limit, run_limit, .. } =
            PoolOptions::new("", [""; 0]);
        Settings {
            limits: Limits::default(),
            bounds: Bounds::default(),
            repeats: 10,
            far_slower: 3.0,
            finalists: 5,
            workers,
            start_limit,
            compile_limit,
            run_limit,
        }
    }
}

impl Settings {
    /// The settings of a file; what it does not mention is as usual.
    pub fn read(text: &str) -> Result<Settings, SettingsError> {
        read::settings(text)
    }

    /// Workers under these limits.
    pub fn pool(&self, options: PoolOptions) -> PoolOptions {
        let Settings { workers, start_limit, compile_limit, run_limit, .. } = *self;
        PoolOptions { workers, start_limit, compile_limit, run_limit, ..options }
    }
}

/// The tables of a file, in order.
const TABLES: &[&str] = &["algorithms", "parameters", "groups", "measure"];

/// A key of a file: what is said about it, and what it sets.
struct Key {
    table: &'static str,
    name: &'static str,
    about: &'static str,
    field: fn(&mut Settings) -> Field<'_>,
}

/// A part of the settings that a key sets.
enum Field<'s> {
    /// At least one.
    Numbers(&'s mut Vec<i128>),
    Named(&'s mut BTreeMap<String, Vec<i128>>),
    Number(&'s mut i128),
    Repeats(&'s mut u32),
    Count(&'s mut usize),
    /// At least 1.
    Factor(&'s mut f64),
    Seconds(&'s mut Duration),
}

const KEYS: &[Key] = &[
    Key {
        table: "algorithms",
        name: "depth",
        about: "Moves one after the other that change the order of a computation.",
        field: |s| Field::Count(&mut s.limits.depth),
    },
    Key {
        table: "algorithms",
        name: "uses",
        about: "How often one move may be made.",
        field: |s| Field::Count(&mut s.limits.uses),
    },
    Key {
        table: "algorithms",
        name: "breadth",
        about: "Programs of each depth that are gone on with.",
        field: |s| Field::Count(&mut s.limits.breadth),
    },
    Key {
        table: "algorithms",
        name: "nesting",
        about: "How much deeper than in the given program patterns may nest.",
        field: |s| Field::Count(&mut s.limits.nesting),
    },
    Key {
        table: "algorithms",
        name: "distance",
        about: "How much farther than in the closest program results may be from where they are used.",
        field: |s| Field::Count(&mut s.limits.distance),
    },
    Key {
        table: "parameters",
        name: "values",
        about: "What parameters of programs may be: tile sizes, lengths of loops, widths of vectors.",
        field: |s| Field::Numbers(&mut s.bounds.values),
    },
    Key {
        table: "parameters",
        name: "paddings",
        about: "Rows in local memory may be longer by this, besides 0, so that columns lie in different banks.",
        field: |s| Field::Numbers(&mut s.bounds.paddings),
    },
    Key {
        table: "parameters",
        name: "stages",
        about: "Tiles in local memory at a time, besides what the compiler chooses.",
        field: |s| Field::Numbers(&mut s.bounds.stages),
    },
    Key {
        table: "parameters",
        name: "rows",
        about: "Rows of a grid that are computed together, besides what the compiler chooses.",
        field: |s| Field::Numbers(&mut s.bounds.rows),
    },
    Key {
        table: "parameters",
        name: "blocks",
        about: "Planes of the blocks of a grid, which have twice as many rows, besides what the compiler chooses.",
        field: |s| Field::Numbers(&mut s.bounds.blocks),
    },
    Key {
        table: "parameters",
        name: "largest_divisor",
        about: "Divisors of sizes are tried too, up to this one.",
        field: |s| Field::Number(&mut s.bounds.largest_divisor),
    },
    Key {
        table: "parameters",
        name: "named",
        about: "What single parameters may be instead, as in { LX = [16, 32], TK = [8] }.",
        field: |s| Field::Named(&mut s.bounds.named),
    },
    Key {
        table: "parameters",
        name: "most_copies",
        about: "Copies of a piece of code that is written out. Compilers take minutes for many.",
        field: |s| Field::Number(&mut s.bounds.most_copies),
    },
    Key {
        table: "groups",
        name: "fewest_items",
        about: "Work-items of a group, at least.",
        field: |s| Field::Number(&mut s.bounds.fewest_items),
    },
    Key {
        table: "groups",
        name: "most_items",
        about: "Work-items of a group, at most. A device that takes fewer has the last word.",
        field: |s| Field::Number(&mut s.bounds.most_items),
    },
    Key {
        table: "measure",
        name: "repeats",
        about: "Timed runs of a candidate, after some that do not count. Their median is its time.",
        field: |s| Field::Repeats(&mut s.repeats),
    },
    Key {
        table: "measure",
        name: "far_slower",
        about: "A candidate so many times slower than the best so far is run once.",
        field: |s| Field::Factor(&mut s.far_slower),
    },
    Key {
        table: "measure",
        name: "finalists",
        about: "So many of the fastest are measured again in the end, in turns.",
        field: |s| Field::Count(&mut s.finalists),
    },
    Key {
        table: "measure",
        name: "workers",
        about: "Candidates that are compiled at once, or 0 for one a core but one. One is measured at a time; on processors there is one.",
        field: |s| Field::Count(&mut s.workers),
    },
    Key {
        table: "measure",
        name: "start_seconds",
        about: "How long a worker may take to make the inputs and the expected result.",
        field: |s| Field::Seconds(&mut s.start_limit),
    },
    Key {
        table: "measure",
        name: "compile_seconds",
        about: "How long a candidate may take to compile.",
        field: |s| Field::Seconds(&mut s.compile_limit),
    },
    Key {
        table: "measure",
        name: "run_seconds",
        about: "How long all runs of a candidate may take.",
        field: |s| Field::Seconds(&mut s.run_limit),
    },
];

/// The whole file, with a comment for every key.
impl fmt::Display for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut own = self.clone();
        for (index, table) in TABLES.iter().enumerate() {
            let gap = if index == 0 { "" } else { "\n" };
            writeln!(f, "{gap}[{table}]")?;
            for key in KEYS.iter().filter(|key| key.table == *table) {
                writeln!(f, "# {}\n{} = {}", key.about, key.name, (key.field)(&mut own))?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Field<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Field::Numbers(numbers) => f.write_str(&listed(numbers)),
            Field::Named(named) if named.is_empty() => f.write_str("{}"),
            Field::Named(named) => {
                let one = |(name, numbers): (&String, &Vec<i128>)| {
                    format!("{name} = {}", listed(numbers))
                };
                write!(f, "{{ {} }}", named.iter().map(one).collect::<Vec<String>>().join(", "))
            }
            Field::Number(number) => write!(f, "{number}"),
            Field::Repeats(number) => write!(f, "{number}"),
            Field::Count(number) => write!(f, "{number}"),
            Field::Factor(factor) => write!(f, "{factor}"),
            Field::Seconds(time) => write!(f, "{}", time.as_secs_f64()),
        }
    }
}

/// `[1, 2, 4]`
fn listed(numbers: &[i128]) -> String {
    format!("[{}]", numbers.iter().map(ToString::to_string).collect::<Vec<String>>().join(", "))
}

#[cfg(test)]
mod tests;
