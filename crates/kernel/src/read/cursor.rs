//! A place in a line of text.

use lift_ir::Scalar;

use super::Read;
use crate::ValueType;

#[derive(Clone)]
pub(super) struct Cursor<'t> {
    rest: &'t str,
}

impl<'t> Cursor<'t> {
    pub fn new(text: &'t str) -> Cursor<'t> {
        Cursor { rest: text.trim() }
    }

    pub fn rest(&self) -> &'t str {
        self.rest
    }

    /// Goes on by so many bytes, and over the space behind them.
    fn skip(&mut self, bytes: usize) -> &'t str {
        let (taken, rest) = self.rest.split_at(bytes);
        self.rest = rest.trim_start();
        taken
    }

    /// The name that comes next, not taken.
    pub fn peek_name(&self) -> &'t str {
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        let end = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
        let name = &self.rest[..end];
        if name.starts_with(|c: char| c.is_ascii_digit()) { "" } else { name }
    }

    pub fn name(&mut self) -> Read<&'t str> {
        match self.peek_name() {
            "" => Err(format!("a name is expected, not `{}`", self.rest)),
            name => Ok(self.skip(name.len())),
        }
    }

    /// Takes a word or sign that comes next.
    pub fn eat(&mut self, wanted: &str) -> bool {
        let is_word = wanted.starts_with(|c: char| c.is_alphabetic());
        let found = match is_word {
            true => self.peek_name() == wanted,
            false => self.rest.starts_with(wanted),
        };
        if found {
            self.skip(wanted.len());
        }
        found
    }

    /// Takes a word that another follows.
    pub fn eat_before(&mut self, wanted: &str, next: &str) -> bool {
        let mut ahead = self.clone();
        let found = ahead.eat(wanted) && ahead.peek_name() == next;
        if found {
            *self = ahead;
        }
        found
    }

    /// Takes a word or sign that has to come next.
    pub fn expect(&mut self, wanted: &str) -> Read<()> {
        match self.eat(wanted) {
            true => Ok(()),
            false => Err(format!("`{wanted}` is expected, not `{}`", self.rest)),
        }
    }

    pub fn end(&self) -> Read<()> {
        match self.rest {
            "" => Ok(()),
            rest => Err(format!("the line ends before `{rest}`")),
        }
    }

    pub fn number(&mut self) -> Read<u32> {
        let end = self.rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest.len());
        let number = self.rest[..end].parse();
        let number = number.map_err(|_| format!("a number is expected, not `{}`", self.rest))?;
        self.skip(end);
        Ok(number)
    }

    /// What stands between brackets that come next.
    pub fn inside(&mut self, open: char, close: char) -> Read<&'t str> {
        self.expect(&open.to_string())?;
        let mut depth = 0usize;
        for (at, c) in self.rest.char_indices() {
            match c {
                '(' | '[' => depth += 1,
                ')' | ']' if depth > 0 => depth -= 1,
                c if c == close && depth == 0 => {
                    let inside = self.skip(at);
                    self.expect(&close.to_string())?;
                    return Ok(inside);
                }
                _ => {}
            }
        }
        Err(format!("`{close}` is missing"))
    }

    /// The same, cut at a sign that stands in no brackets; nothing at all is no part.
    pub fn parts(&mut self, open: char, close: char, between: char) -> Read<Vec<&'t str>> {
        Ok(split(self.inside(open, close)?, between))
    }

    /// A text in quotes.
    pub fn quoted(&mut self) -> Read<String> {
        let (mut text, mut escaped) = (String::new(), false);
        let inside = self.rest.strip_prefix('"').ok_or("a text in quotes is expected")?;
        for (at, c) in inside.char_indices() {
            match (escaped, c) {
                (false, '"') => {
                    self.skip(at + 2);
                    return Ok(text);
                }
                (false, '\\') => escaped = true,
                (false, c) => text.push(c),
                (true, c) => {
                    escaped = false;
                    text.push(match c {
                        'n' => '\n',
                        'r' => '\r',
                        't' => '\t',
                        c => c,
                    });
                }
            }
        }
        Err("the closing quote is missing".to_string())
    }

    pub fn scalar(&mut self) -> Read<Scalar> {
        let name = self.name()?;
        Scalar::from_name(name).ok_or_else(|| format!("there is no scalar type `{name}`"))
    }

    /// `f32`, `f32x4`
    pub fn ty(&mut self) -> Read<ValueType> {
        let name = self.name()?;
        if let Some(scalar) = Scalar::from_name(name) {
            return Ok(ValueType::scalar(scalar));
        }
        let parts = name.rsplit_once('x');
        let found = parts.and_then(|(scalar, width)| {
            Some(ValueType::vector(Scalar::from_name(scalar)?, width.parse().ok()?))
        });
        found.ok_or_else(|| format!("there is no type `{name}`"))
    }
}

/// The parts of a text between signs that stand in no brackets.
pub(super) fn split(text: &str, between: char) -> Vec<&str> {
    if text.trim().is_empty() {
        return Vec::new();
    }
    let (mut depth, mut start, mut parts) = (0i64, 0, Vec::new());
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            c if c == between && depth == 0 => {
                parts.push(text[start..at].trim());
                start = at + c.len_utf8();
            }
            _ => {}
        }
    }
    parts.push(text[start..].trim());
    parts
}
