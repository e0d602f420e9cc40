//! How numbers and strings are spelled.

use super::TokenKind;

/// The kind and length of the number that `rest` starts with, its suffix included.
///
/// Behind the dot of a projection only digits count: `x.0.1` projects twice.
pub(super) fn number(rest: &str, projection: bool) -> (TokenKind, usize) {
    let (kind, digits) = digits(rest, projection);
    if projection {
        return (kind, digits);
    }
    let suffix = rest.bytes().skip(digits).take_while(|b| *b == b'_' || b.is_ascii_alphanumeric());
    (kind, digits + suffix.count())
}

/// A number token's digits and its suffix: `1.5f64` is `1.5` and `f64`.
pub(crate) fn split_suffix(number: &str) -> (&str, &str) {
    number.split_at(digits(number, false).1)
}

/// The length of the number without its suffix.
fn digits(rest: &str, projection: bool) -> (TokenKind, usize) {
    let bytes = rest.as_bytes();
    let run = |from: usize| bytes.iter().skip(from).take_while(|b| b.is_ascii_digit()).count();
    let byte = |at: usize| bytes.get(at).copied();
    let mut length = run(0);
    let mut kind = TokenKind::Int;
    if projection {
        return (kind, length);
    }
    if byte(length) == Some(b'.') && run(length + 1) > 0 {
        length += 1 + run(length + 1);
        kind = TokenKind::Float;
    }
    if matches!(byte(length), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(byte(length + 1), Some(b'+' | b'-')));
        let exponent = run(length + 1 + sign);
        if exponent > 0 {
            length += 1 + sign + exponent;
            kind = TokenKind::Float;
        }
    }
    (kind, length)
}

/// What is wrong with a string; an escape's place counts from the opening quote.
pub(super) enum StringProblem {
    Open,
    Escape { at: usize, length: usize },
}

/// The length of the string that `rest` starts with, quotes included, and its first problem.
pub(super) fn string(rest: &str) -> (usize, Option<StringProblem>) {
    let mut problem = None;
    let mut characters = rest.char_indices().skip(1).peekable();
    while let Some((at, c)) = characters.next() {
        match c {
            '"' => return (at + 1, problem),
            '\n' => return (trimmed(rest, at), Some(StringProblem::Open)),
            '\\' => match characters.peek().copied() {
                None | Some((_, '\n')) => {}
                Some((_, next)) => {
                    if escaped(next).is_none() && problem.is_none() {
                        problem = Some(StringProblem::Escape { at, length: 1 + next.len_utf8() });
                    }
                    characters.next();
                }
            },
            _ => {}
        }
    }
    (trimmed(rest, rest.len()), Some(StringProblem::Open))
}

/// `length` less the carriage return in front of it.
fn trimmed(rest: &str, length: usize) -> usize {
    rest.get(..length).map_or(length, |text| text.trim_end_matches('\r').len())
}

fn escaped(c: char) -> Option<char> {
    match c {
        'n' => Some('\n'),
        't' => Some('\t'),
        '"' => Some('"'),
        '\\' => Some('\\'),
        _ => None,
    }
}

/// What a string token stands for. Unknown escapes, reported already, stand for themselves.
pub(crate) fn unescape(token: &str) -> String {
    let inner = token.strip_prefix('"').unwrap_or(token);
    let mut value = String::with_capacity(inner.len());
    let mut characters = inner.chars();
    while let Some(c) = characters.next() {
        match c {
            '"' => break,
            '\\' => match characters.next() {
                Some(next) => value.push(escaped(next).unwrap_or(next)),
                None => value.push('\\'),
            },
            _ => value.push(c),
        }
    }
    value
}

/// How a string is written: the inverse of [`unescape`].
pub(crate) fn quote(value: &str) -> String {
    let mut text = String::with_capacity(value.len() + 2);
    text.push('"');
    for c in value.chars() {
        match c {
            '\n' => text.push_str("\\n"),
            '\t' => text.push_str("\\t"),
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            _ => text.push(c),
        }
    }
    text.push('"');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suffixes() {
        assert_eq!(split_suffix("1.5f64"), ("1.5", "f64"));
        assert_eq!(split_suffix("1e-3"), ("1e-3", ""));
        assert_eq!(split_suffix("1_000"), ("1", "_000"));
        assert_eq!(split_suffix("1e"), ("1", "e"));
    }

    #[test]
    fn quoting_is_undone() {
        for value in ["", "a\"b", "\\n", "x\ny\tz", "ü\\"] {
            assert_eq!(unescape(&quote(value)), value);
        }
    }
}
