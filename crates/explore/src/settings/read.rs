//! Settings from text: every mistake is told with its line.

use std::fmt;
use std::ops::Range;
use std::time::Duration;

use lift_syntax::suggest::did_you_mean;
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use super::{Field, KEYS, Settings, TABLES};

/// Why a file has no settings.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SettingsError {
    /// From 1.
    pub line: usize,
    pub message: String,
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for SettingsError {}

/// A mistake and where it is.
type Mistake = (Range<usize>, String);

pub(super) fn settings(text: &str) -> Result<Settings, SettingsError> {
    let at = |(span, message): Mistake| {
        let before = text.get(..span.start).unwrap_or(text);
        SettingsError { line: before.matches('\n').count() + 1, message }
    };
    let document = DeTable::parse(text).map_err(|error| {
        let message = error.message().lines().collect::<Vec<&str>>().join(": ");
        at((error.span().unwrap_or_default(), message))
    })?;
    let mut settings = Settings::default();
    for (name, value) in document.get_ref() {
        let known = TABLES.iter().find(|table| name.get_ref() == *table);
        let table = known.ok_or_else(|| {
            at((name.span(), unknown("there is no table", name.get_ref(), TABLES.iter().copied())))
        })?;
        let DeValue::Table(entries) = value.get_ref() else {
            return Err(at((value.span(), format!("`{table}` is a table: write `[{table}]`"))));
        };
        read_table(table, entries, &mut settings).map_err(at)?;
    }
    let (fewest, most) = (settings.bounds.fewest_items, settings.bounds.most_items);
    if fewest > most {
        let span = document.get_ref().get("groups").map_or(0..0, Spanned::span);
        let message = format!("groups have at least {fewest} work-items and at most {most}");
        return Err(at((span, message)));
    }
    Ok(settings)
}

fn read_table(table: &str, entries: &DeTable, settings: &mut Settings) -> Result<(), Mistake> {
    for (name, value) in entries {
        let keys = KEYS.iter().filter(|key| key.table == table);
        let Some(key) = keys.clone().find(|key| name.get_ref() == key.name) else {
            let names = keys.map(|key| key.name);
            let text = unknown(&format!("`{table}` has no key"), name.get_ref(), names);
            return Err((name.span(), text));
        };
        set((key.field)(settings), value).map_err(|(span, wanted)| {
            (span, format!("`{}` is {wanted}, not {}", key.name, kind(value.get_ref())))
        })?;
    }
    Ok(())
}

/// Gives a field its value, or says what the value should be.
fn set(field: Field<'_>, value: &Spanned<DeValue>) -> Result<(), Mistake> {
    let wrong = |wanted: &str| (value.span(), wanted.to_string());
    match field {
        Field::Numbers(numbers) => {
            *numbers = list(value.get_ref()).ok_or_else(|| wrong(LIST))?;
        }
        Field::Named(named) => {
            let wanted = "a table from names to lists of whole numbers that are at least 1";
            let entries = value.get_ref().as_table().ok_or_else(|| wrong(wanted))?;
            let one = |(name, values): (&Spanned<DeString>, &Spanned<DeValue>)| {
                let values =
                    list(values.get_ref()).ok_or_else(|| (values.span(), wanted.into()))?;
                Ok((name.get_ref().to_string(), values))
            };
            *named = entries.iter().map(one).collect::<Result<_, _>>()?;
        }
        Field::Number(number) => *number = whole(value.get_ref()).ok_or_else(|| wrong(WHOLE))?,
        Field::Repeats(number) => *number = fitting(value.get_ref()).ok_or_else(|| wrong(WHOLE))?,
        Field::Count(number) => {
            let count = integer(value.get_ref()).and_then(|count| usize::try_from(count).ok());
            *number = count.ok_or_else(|| wrong("a whole number that is at least 0"))?;
        }
        Field::Factor(factor) => {
            let found = number(value.get_ref()).filter(|number| *number >= 1.0);
            *factor = found.ok_or_else(|| wrong("a number that is at least 1"))?;
        }
        Field::Seconds(time) => {
            let seconds = seconds(value.get_ref());
            *time = seconds.ok_or_else(|| wrong("a number of seconds that is above 0"))?;
        }
    }
    Ok(())
}

const WHOLE: &str = "a whole number that is at least 1";
const LIST: &str = "a list of whole numbers that are at least 1";

fn list(value: &DeValue) -> Option<Vec<i128>> {
    let items = value.as_array().filter(|items| !items.is_empty())?;
    items.iter().map(|item| whole(item.get_ref())).collect()
}

fn integer(value: &DeValue) -> Option<i64> {
    let number = value.as_integer()?;
    i64::from_str_radix(number.as_str(), number.radix()).ok()
}

/// A number that is at least 1.
fn whole(value: &DeValue) -> Option<i128> {
    integer(value).filter(|number| *number >= 1).map(i128::from)
}

fn fitting<T: TryFrom<i128>>(value: &DeValue) -> Option<T> {
    T::try_from(whole(value)?).ok()
}

fn number(value: &DeValue) -> Option<f64> {
    let number: f64 = match value {
        DeValue::Integer(_) => integer(value)? as f64,
        DeValue::Float(number) => number.as_str().parse().ok()?,
        DeValue::String(_)
        | DeValue::Boolean(_)
        | DeValue::Datetime(_)
        | DeValue::Array(_)
        | DeValue::Table(_) => return None,
    };
    Some(number).filter(|number| number.is_finite())
}

fn seconds(value: &DeValue) -> Option<Duration> {
    let time = Duration::try_from_secs_f64(number(value)?).ok()?;
    (!time.is_zero()).then_some(time)
}

/// What a value is, as it stands.
fn kind(value: &DeValue) -> String {
    match value {
        DeValue::String(text) => format!("{text:?}"),
        DeValue::Integer(number) => number.to_string(),
        DeValue::Float(number) => number.to_string(),
        DeValue::Boolean(is) => is.to_string(),
        DeValue::Datetime(time) => time.to_string(),
        DeValue::Array(_) => "such a list".to_string(),
        DeValue::Table(_) => "such a table".to_string(),
    }
}

/// That there is no such name, and the nearest there is, or all.
fn unknown<'n>(text: &str, name: &str, known: impl Iterator<Item = &'n str> + Clone) -> String {
    let help = did_you_mean(name, known.clone()).unwrap_or_else(|| {
        let listed: Vec<String> = known.map(|k| format!("`{k}`")).collect();
        format!("there are {}", listed.join(", "))
    });
    format!("{text} `{name}`: {help}")
}
