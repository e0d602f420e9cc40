//! How a measurement ended.

use std::fmt;
use std::str::FromStr;

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Outcome {
    /// The result is right, and there are times.
    Ok,
    /// The result is not that of the program.
    Wrong,
    /// The process or the driver went down.
    Crashed,
    /// It did not end in the time allowed.
    TimedOut,
    /// The compiler of this project, or a limit known before, said no.
    Refused,
    /// The device's compiler said no.
    FailedToCompile,
    /// The device has not the memory, registers or work-items.
    OutOfResources,
    /// It was not tried.
    Skipped,
    /// Workers went away while they were at it: nothing is known of it.
    Lost,
}

impl Outcome {
    pub const ALL: [Outcome; 9] = [
        Outcome::Ok,
        Outcome::Wrong,
        Outcome::Crashed,
        Outcome::TimedOut,
        Outcome::Refused,
        Outcome::FailedToCompile,
        Outcome::OutOfResources,
        Outcome::Skipped,
        Outcome::Lost,
    ];

    /// The name in the database.
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Ok => "ok",
            Outcome::Wrong => "wrong",
            Outcome::Crashed => "crashed",
            Outcome::TimedOut => "timed-out",
            Outcome::Refused => "refused",
            Outcome::FailedToCompile => "failed-to-compile",
            Outcome::OutOfResources => "out-of-resources",
            Outcome::Skipped => "skipped",
            Outcome::Lost => "lost",
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Outcome {
    type Err = String;

    fn from_str(name: &str) -> Result<Outcome, String> {
        let named = Outcome::ALL.into_iter().find(|outcome| outcome.name() == name);
        named.ok_or_else(|| format!("there is no outcome `{name}`"))
    }
}

impl ToSql for Outcome {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::from(self.name()))
    }
}

impl FromSql for Outcome {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Outcome> {
        value.as_str()?.parse().map_err(|message: String| FromSqlError::Other(message.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for outcome in Outcome::ALL {
            assert_eq!(outcome.to_string().parse(), Ok(outcome));
        }
        assert!("fine".parse::<Outcome>().is_err());
    }
}
