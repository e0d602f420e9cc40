//! The syntax of sizes and of conditions on them.

use crate::{Nat, Pred, Var};
use std::fmt;

/// Parentheses, calls and signs may nest this deep.
const MAX_NESTING: usize = 100;

/// What was expected, and the byte offset at which something else was found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParseError {
    pub message: String,
    pub offset: usize,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at offset {}", self.message, self.offset)
    }
}

impl std::error::Error for ParseError {}

/// Reads an expression: `+ - * / %`, `//` for exact division, `^` for powers, `min max pow
/// ceil_div gcd log2`, parentheses and `if c then a else b`.
pub fn parse(text: &str) -> Result<Nat, ParseError> {
    let mut parser = Parser { text, at: 0, nesting: 0 };
    let value = parser.expression()?.value;
    parser.end()?;
    Ok(value)
}

/// Reads comparisons joined by `,` or `&&`; `0 <= i < N` is two of them, `N % 4 == 0` is a
/// divisibility. Nothing at all is no assumption.
pub fn parse_assumptions(text: &str) -> Result<Vec<Pred>, ParseError> {
    let mut parser = Parser { text, at: 0, nesting: 0 };
    let mut all = Vec::new();
    parser.skip_space();
    if parser.at < text.len() {
        all = parser.conditions(&["&&", ","])?;
    }
    parser.end()?;
    Ok(all)
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    nesting: usize,
}

/// A value and, when the text was `of % divisor`, these two.
struct Parsed {
    value: Nat,
    remainder: Option<(Nat, Nat)>,
}

impl Parsed {
    fn plain(value: Nat) -> Parsed {
        Parsed { value, remainder: None }
    }
}

impl<'a> Parser<'a> {
    fn error<T>(&self, message: impl Into<String>) -> Result<T, ParseError> {
        Err(ParseError { message: message.into(), offset: self.at })
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn skip_space(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    /// Steps over `token` if it comes next.
    fn eat(&mut self, token: &str) -> bool {
        self.skip_space();
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    fn expect(&mut self, token: &str) -> Result<(), ParseError> {
        if self.eat(token) { Ok(()) } else { self.error(format!("expected `{token}`")) }
    }

    fn end(&mut self) -> Result<(), ParseError> {
        self.skip_space();
        match self.rest().chars().next() {
            None => Ok(()),
            Some(c) => self.error(format!("unexpected `{c}`")),
        }
    }

    /// The next name, without stepping over it.
    fn peek_name(&mut self) -> &'a str {
        self.skip_space();
        let rest = self.rest();
        if !rest.starts_with(|c: char| c.is_alphabetic() || c == '_') {
            return "";
        }
        // `a²` is a power, not a name.
        let inside = |c: char| (c.is_alphanumeric() && c != '²' && c != '³') || c == '_';
        let end = rest.find(|c: char| !inside(c)).unwrap_or(rest.len());
        rest.get(..end).unwrap_or("")
    }

    fn eat_name(&mut self, name: &str) -> bool {
        let found = self.peek_name() == name;
        if found {
            self.at += name.len();
        }
        found
    }

    fn conditions(&mut self, joints: &[&str]) -> Result<Vec<Pred>, ParseError> {
        let mut all = Vec::new();
        loop {
            self.comparison(&mut all)?;
            if !joints.iter().any(|joint| self.eat(joint)) {
                return Ok(all);
            }
        }
    }

    /// `a < b <= c` stands for `a < b` and `b <= c`.
    fn comparison(&mut self, out: &mut Vec<Pred>) -> Result<(), ParseError> {
        let mut left = self.expression()?;
        let before = out.len();
        loop {
            let operators = ["==", "!=", "<=", ">=", "≤", "≥", "<", ">"];
            let Some(operator) = operators.into_iter().find(|op| self.eat(op)) else { break };
            let right = self.expression()?;
            let (a, b) = (left.value.clone(), right.value.clone());
            out.push(match (operator, &left.remainder) {
                ("==", Some((of, divisor))) if b.as_int() == Some(0) => {
                    Pred::Divides { divisor: divisor.clone(), of: of.clone() }
                }
                ("==", _) => Pred::Eq(a, b),
                ("!=", _) => Pred::Ne(a, b),
                ("<", _) => Pred::Lt(a, b),
                (">", _) => Pred::Lt(b, a),
                ("<=" | "≤", _) => Pred::Le(a, b),
                _ => Pred::Le(b, a),
            });
            left = right;
        }
        if out.len() == before { self.error("expected a comparison") } else { Ok(()) }
    }

    fn nested<T>(
        &mut self,
        inside: impl FnOnce(&mut Self) -> Result<T, ParseError>,
    ) -> Result<T, ParseError> {
        if self.nesting == MAX_NESTING {
            return self.error("the expression is nested too deeply");
        }
        self.nesting += 1;
        let result = inside(self);
        self.nesting -= 1;
        result
    }

    fn expression(&mut self) -> Result<Parsed, ParseError> {
        if self.eat_name("if") {
            return self.nested(Self::choice).map(Parsed::plain);
        }
        let mut left = self.product()?;
        loop {
            self.skip_space();
            if self.eat("+") {
                left = Parsed::plain(left.value + self.product()?.value);
            } else if self.eat("-") {
                left = Parsed::plain(left.value - self.product()?.value);
            } else {
                return Ok(left);
            }
        }
    }

    fn choice(&mut self) -> Result<Nat, ParseError> {
        let mut conditions = self.conditions(&["&&"])?;
        if !self.eat_name("then") {
            return self.error("expected `then`");
        }
        let yes = self.expression()?.value;
        if !self.eat_name("else") {
            return self.error("expected `else`");
        }
        let no = self.expression()?.value;
        let condition = match (conditions.pop(), conditions.is_empty()) {
            (Some(only), true) => only,
            (last, _) => {
                conditions.extend(last);
                Pred::And(conditions)
            }
        };
        Ok(Nat::cond(condition, yes, no))
    }

    fn product(&mut self) -> Result<Parsed, ParseError> {
        let mut left = Parsed::plain(self.signed()?);
        loop {
            left = if self.eat("*") || self.eat("·") {
                Parsed::plain(left.value * self.signed()?)
            } else if self.eat("//") {
                Parsed::plain(left.value.exact_div(&self.signed()?))
            } else if self.eat("/") {
                Parsed::plain(left.value.div(&self.signed()?))
            } else if self.eat("%") {
                let divisor = self.signed()?;
                let value = left.value.rem(&divisor);
                Parsed { value, remainder: Some((left.value, divisor)) }
            } else {
                return Ok(left);
            }
        }
    }

    fn signed(&mut self) -> Result<Nat, ParseError> {
        if self.eat("-") {
            return self.nested(Self::signed).map(|n| -n);
        }
        let base = self.primary()?;
        if self.eat("²") {
            return Ok(base.raise(2));
        }
        if self.eat("³") {
            return Ok(base.raise(3));
        }
        if self.eat("^") {
            let exponent = self.nested(Self::signed)?;
            return Ok(base.pow(&exponent));
        }
        Ok(base)
    }

    fn primary(&mut self) -> Result<Nat, ParseError> {
        if self.eat("(") {
            let inside = self.nested(Self::expression)?.value;
            self.expect(")")?;
            return Ok(inside);
        }
        let digits = self.rest().find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest().len());
        if digits > 0 {
            let literal = self.rest().get(..digits).unwrap_or("");
            let Ok(value) = literal.parse::<i128>() else {
                return self.error("the number is too large");
            };
            self.at += digits;
            return Ok(Nat::int(value));
        }
        let name = self.peek_name();
        if name.is_empty() || ["if", "then", "else"].contains(&name) {
            return self.error("expected a number, a name or `(`");
        }
        self.at += name.len();
        if self.eat("(") {
            let is_sum = name == "sum";
            return self.nested(|p| if is_sum { p.sum() } else { p.call(name) });
        }
        Ok(Nat::var(&Var::named(name)))
    }

    /// `sum(t < end <= most, of)`; without a greatest end, no other is asked for.
    fn sum(&mut self) -> Result<Nat, ParseError> {
        let index = self.peek_name();
        if index.is_empty() {
            return self.error("expected the name of an index");
        }
        self.at += index.len();
        self.expect("<")?;
        let end = self.expression()?.value;
        let most = if self.eat("<=") { self.expression()?.value } else { end.clone() };
        self.expect(",")?;
        let of = self.expression()?.value;
        self.expect(")")?;
        Ok(Nat::sum_over(&Var::named(index), &end, &most, &of))
    }

    fn call(&mut self, name: &str) -> Result<Nat, ParseError> {
        let start = self.at;
        let mut arguments = vec![self.expression()?.value];
        while self.eat(",") {
            arguments.push(self.expression()?.value);
        }
        self.expect(")")?;
        match (name, arguments.as_slice()) {
            ("min", all) => Ok(Nat::min_of(all.to_vec())),
            ("max", all) => Ok(Nat::max_of(all.to_vec())),
            ("ceil_div", [a, b]) => Ok(a.ceil_div(b)),
            ("gcd", [a, b]) => Ok(common_divisor(a, b)),
            ("pow", [a, b]) => Ok(a.pow(b)),
            ("log2", [a]) => Ok(a.log2()),
            ("ceil_div" | "gcd" | "pow" | "log2", _) => {
                let message = format!("`{name}` does not take {} values", arguments.len());
                Err(ParseError { message, offset: start })
            }
            _ => Err(ParseError { message: format!("unknown function `{name}`"), offset: start }),
        }
    }
}

/// The factor two polynomials have in common. That they have none says nothing about their values: `gcd(a, b)` is then
/// a number of its own, called as it is written, in one order.
fn common_divisor(a: &Nat, b: &Nat) -> Nat {
    let common = a.gcd(b);
    let is_certain = |n: &Nat| n.as_int().is_some_and(|n| n.unsigned_abs() <= 1);
    let are_numbers = a.as_int().is_some() && b.as_int().is_some();
    if common != Nat::ONE || are_numbers || is_certain(a) || is_certain(b) {
        return common;
    }
    let mut texts = [a.to_string(), b.to_string()];
    texts.sort();
    Nat::var(&Var::named(&format!("gcd({})", texts.join(", "))))
}
