//! Values as the language writes them.

use std::fmt;

use lift_ir::Type;

use crate::number::ScalarValue;
use crate::value::Value;

/// How much of a dimension is shown.
#[derive(Clone, Copy)]
struct Limit {
    /// Longer ones are abbreviated,
    most: usize,
    /// to so many at the start
    first: usize,
    /// and so many at the end.
    last: usize,
}

/// How much of an array is shown.
#[derive(Clone, Copy)]
struct Shown {
    /// Of arrays of arrays.
    rows: Limit,
    /// Of others.
    elements: Limit,
    /// Rows are on lines of their own.
    lines: bool,
}

const ALL: Limit = Limit { most: usize::MAX, first: 0, last: 0 };
const SIXTEEN: Limit = Limit { most: 16, first: 12, last: 3 };
const EIGHT: Limit = Limit { most: 8, first: 4, last: 3 };
const THREE: Limit = Limit { most: 3, first: 2, last: 1 };

/// An array of arrays with no more scalars is shown whole.
const SMALL: usize = 64;

/// Abbreviated: `[1.0, 2.0, …, 9.0]` where a dimension is long, three rows of a large table. With `{:#}` each row is on
/// a line of its own.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = f.alternate();
        write_each(f, self, &|value| {
            if is_nested(value) && scalars(value) > SMALL {
                Shown { rows: THREE, elements: EIGHT, lines }
            } else {
                Shown { rows: SIXTEEN, elements: SIXTEEN, lines: false }
            }
        })
    }
}

fn is_nested(value: &Value) -> bool {
    matches!(value, Value::Array(array) if matches!(array.get(0), Some(Value::Array(_))))
}

/// How many scalars there are; all elements of an array have as many.
fn scalars(value: &Value) -> usize {
    match value {
        Value::Scalar(_) => 1,
        Value::Vector(v) => v.lanes().len(),
        Value::Tuple(components) => components.iter().map(scalars).sum(),
        Value::Array(array) => {
            let each = array.get(0).map_or(0, |first| scalars(&first));
            array.len().saturating_mul(each)
        }
    }
}

impl fmt::Display for ScalarValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.literal().fmt(f)
    }
}

/// A value written out in full; it parses as an expression of the same value.
pub struct Full<'a>(&'a Value);

impl fmt::Display for Full<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_each(f, self.0, &|_| Shown { rows: ALL, elements: ALL, lines: false })
    }
}

impl Value {
    /// The value written out in full.
    pub fn display_full(&self) -> Full<'_> {
        Full(self)
    }
}

/// Of a tuple every component is shown as it would be alone.
fn write_each(
    f: &mut fmt::Formatter<'_>,
    value: &Value,
    shown: &dyn Fn(&Value) -> Shown,
) -> fmt::Result {
    match value {
        Value::Tuple(components) => {
            write_list(f, "()", components.iter(), |f, c| write_each(f, c, shown))
        }
        Value::Scalar(_) | Value::Vector(_) | Value::Array(_) => {
            write_value(f, value, shown(value), 1)
        }
    }
}

/// Items with commas between, in these brackets.
fn write_list<T>(
    f: &mut fmt::Formatter<'_>,
    brackets: &str,
    items: impl Iterator<Item = T>,
    write: impl Fn(&mut fmt::Formatter<'_>, T) -> fmt::Result,
) -> fmt::Result {
    let (open, close) = brackets.split_at(1);
    f.write_str(open)?;
    for (i, item) in items.enumerate() {
        f.write_str(if i > 0 { ", " } else { "" })?;
        write(f, item)?;
    }
    f.write_str(close)
}

/// Rows on lines of their own are indented by `column`.
fn write_value(
    f: &mut fmt::Formatter<'_>,
    value: &Value,
    shown: Shown,
    column: usize,
) -> fmt::Result {
    match value {
        Value::Scalar(x) => write!(f, "{x}"),
        Value::Vector(v) => {
            write!(f, "{}x{}", v.scalar(), v.lanes().len())?;
            write_list(f, "()", v.lanes().iter(), |f, lane| write!(f, "{lane}"))
        }
        Value::Tuple(components) => {
            write_list(f, "()", components.iter(), |f, c| write_value(f, c, shown, column))
        }
        Value::Array(array) if array.is_empty() => {
            // No brackets without elements are an expression: this one says the type, too.
            f.write_str("repeat(0, ")?;
            match array.ty() {
                Type::Array(element, _) => write_any(f, &element)?,
                other => write_any(f, &other)?,
            }
            f.write_str(")")
        }
        Value::Array(array) => {
            let rows = is_nested(value);
            let limit = if rows { shown.rows } else { shown.elements };
            let length = array.len();
            let (first, last) =
                if length > limit.most { (limit.first, limit.last) } else { (length, 0) };
            f.write_str("[")?;
            let gap = (length > limit.most).then_some(None);
            let shown_at = (0..first).map(Some).chain(gap).chain((length - last..length).map(Some));
            for (i, at) in shown_at.enumerate() {
                match (i > 0, rows && shown.lines) {
                    (false, _) => {}
                    (true, false) => f.write_str(", ")?,
                    (true, true) => write!(f, ",\n{:column$}", "")?,
                }
                match at.and_then(|at| array.get(at)) {
                    Some(element) => write_value(f, &element, shown, column + 1)?,
                    None => f.write_str("…")?,
                }
            }
            f.write_str("]")
        }
    }
}

/// Some expression of the type.
fn write_any(f: &mut fmt::Formatter<'_>, ty: &Type) -> fmt::Result {
    match ty {
        Type::Scalar(scalar) => write!(f, "{}", ScalarValue::zero(*scalar)),
        Type::Vector(scalar, width) => {
            write!(f, "{scalar}x{width}({})", ScalarValue::zero(*scalar))
        }
        Type::Tuple(components) => write_list(f, "()", components.iter(), write_any),
        Type::Array(element, length) => {
            write!(f, "repeat({length}, ")?;
            write_any(f, element)?;
            f.write_str(")")
        }
    }
}
