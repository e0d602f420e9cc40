//! Text: the language's own syntax, and C.

use crate::written::Written;
use crate::{Nat, Pred, Var};
use std::fmt::{self, Write};

impl fmt::Display for Nat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Printer { out: f, c_name: None, one: "1" }.expr(&self.written(), Level::Choice)
    }
}

impl fmt::Display for Pred {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Printer { out: f, c_name: None, one: "1" }.pred(self)
    }
}

impl Nat {
    /// A C expression, variables named by `name`. Extrema and choices become `?:`, powers of two
    /// shifts, logarithms calls of `lift_log2` and other symbolic powers of `lift_pow`.
    pub fn to_c(&self, name: &dyn Fn(&Var) -> String) -> String {
        self.to_c_of(name, "1")
    }

    /// As [`Nat::to_c`], with a number one whose type is that of shifts: `(long)1 << k` has room for more than
    /// `1 << k`.
    pub fn to_c_of(&self, name: &dyn Fn(&Var) -> String, one: &str) -> String {
        let mut out = String::new();
        let mut printer = Printer { out: &mut out, c_name: Some(name), one };
        // Writing to a string does not fail.
        let _ = printer.expr(&self.written(), Level::Choice);
        out
    }
}

impl Pred {
    /// A C expression, variables named by `name`.
    pub fn to_c(&self, name: &dyn Fn(&Var) -> String) -> String {
        self.to_c_of(name, "1")
    }

    /// See [`Nat::to_c_of`].
    pub fn to_c_of(&self, name: &dyn Fn(&Var) -> String, one: &str) -> String {
        let mut out = String::new();
        let _ = Printer { out: &mut out, c_name: Some(name), one }.pred(self);
        out
    }
}

/// How tightly an expression holds together, loosest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Choice,
    Comparison,
    Shift,
    Sum,
    Product,
    Primary,
}

struct Printer<'a> {
    out: &'a mut dyn Write,
    /// The printer writes C when variables have C names.
    c_name: Option<&'a dyn Fn(&Var) -> String>,
    /// What powers of two shift.
    one: &'a str,
}

impl Printer<'_> {
    fn level(&self, e: &Written) -> Level {
        let c = self.c_name.is_some();
        match e {
            Written::Int(_)
            | Written::Var(_)
            | Written::Log2(_)
            | Written::Over(..)
            | Written::Overflow => Level::Primary,
            // A leading minus binds tightly, but not when it follows another operator.
            Written::Sum(_) => Level::Sum,
            Written::Product(_) | Written::Div(..) | Written::Rem(..) => Level::Product,
            Written::Pow(base, _) if c && is_two(base) => Level::Shift,
            Written::Pow(_, k) if c && matches!(**k, Written::Int(_)) => Level::Product,
            Written::Pow(..) if c => Level::Primary,
            Written::Pow(..) => Level::Product,
            Written::Min(_) | Written::Max(_) if c => Level::Choice,
            Written::Min(_) | Written::Max(_) => Level::Primary,
            Written::Choice(..) => Level::Choice,
        }
    }

    /// Writes `e`, in parentheses if it holds together less than `least`.
    fn expr(&mut self, e: &Written, least: Level) -> fmt::Result {
        if self.level(e) >= least {
            return self.bare(e);
        }
        self.out.write_char('(')?;
        self.bare(e)?;
        self.out.write_char(')')
    }

    fn bare(&mut self, e: &Written) -> fmt::Result {
        match e {
            Written::Int(i) => write!(self.out, "{i}"),
            Written::Var(v) => match self.c_name {
                Some(name) => self.out.write_str(&name(v)),
                None => write!(self.out, "{v}"),
            },
            Written::Sum(parts) => {
                for (i, (negative, part)) in parts.iter().enumerate() {
                    self.out.write_str(match (i, negative) {
                        (0, false) => "",
                        (0, true) => "-",
                        (_, false) => " + ",
                        (_, true) => " - ",
                    })?;
                    self.expr(part, Level::Product)?;
                }
                Ok(())
            }
            Written::Product(factors) => {
                for (i, factor) in factors.iter().enumerate() {
                    if i > 0 {
                        self.out.write_char('*')?;
                    }
                    match factor {
                        Written::Pow(..) => self.expr(factor, Level::Product)?,
                        _ => self.expr(factor, Level::Primary)?,
                    }
                }
                Ok(())
            }
            Written::Div(a, b) => self.infix(a, " / ", b),
            Written::Rem(a, b) => self.infix(a, " % ", b),
            Written::Pow(a, b) => self.power(a, b),
            Written::Log2(a) if self.c_name.is_some() => self.call("lift_log2", &[a]),
            Written::Log2(a) => self.call("log2", &[a]),
            Written::Min(parts) => self.extremum("min", " < ", parts),
            Written::Max(parts) => self.extremum("max", " > ", parts),
            Written::Choice(pred, a, b) => {
                let words = if self.c_name.is_some() { ["", " ? ", " : "] } else { WORDS };
                self.out.write_str(words[0])?;
                self.pred(pred)?;
                self.out.write_str(words[1])?;
                self.expr(a, Level::Comparison)?;
                self.out.write_str(words[2])?;
                self.expr(b, Level::Comparison)
            }
            Written::Over(sum) if self.c_name.is_some() => {
                let all: Vec<Written> = sum.called_with().map(Nat::written).collect();
                self.call(&sum.name(), &all.iter().collect::<Vec<&Written>>())
            }
            Written::Over(sum) => {
                let (index, of) = sum.applied();
                write!(self.out, "sum({index} < ")?;
                self.expr(&sum.end.written(), Level::Sum)?;
                self.out.write_str(" <= ")?;
                self.expr(&sum.most.written(), Level::Sum)?;
                self.out.write_str(", ")?;
                self.expr(&of.written(), Level::Choice)?;
                self.out.write_char(')')
            }
            Written::Overflow => self.out.write_str("?overflow"),
        }
    }

    /// The operators on this level associate to the left.
    fn infix(&mut self, a: &Written, operator: &str, b: &Written) -> fmt::Result {
        self.expr(a, Level::Product)?;
        self.out.write_str(operator)?;
        self.expr(b, Level::Primary)
    }

    /// Small powers are written as products, which every syntax has.
    fn power(&mut self, base: &Written, exponent: &Written) -> fmt::Result {
        let c = self.c_name.is_some();
        match exponent {
            _ if c && is_two(base) => {
                write!(self.out, "{} << ", self.one)?;
                self.expr(exponent, Level::Sum)
            }
            Written::Int(k @ 1..=16) => {
                for i in 0..*k {
                    self.out.write_str(if i == 0 { "" } else { "*" })?;
                    self.expr(base, Level::Primary)?;
                }
                Ok(())
            }
            _ if c => self.call("lift_pow", &[base, exponent]),
            _ => {
                self.expr(base, Level::Primary)?;
                self.out.write_char('^')?;
                self.expr(exponent, Level::Primary)
            }
        }
    }

    fn call(&mut self, function: &str, arguments: &[&Written]) -> fmt::Result {
        write!(self.out, "{function}(")?;
        for (i, argument) in arguments.iter().enumerate() {
            self.out.write_str(if i == 0 { "" } else { ", " })?;
            self.expr(argument, Level::Choice)?;
        }
        self.out.write_char(')')
    }

    /// In C `min(a, b)` is `a < b ? a : b`, which every dialect has.
    fn extremum(&mut self, function: &str, better: &str, parts: &[Written]) -> fmt::Result {
        if self.c_name.is_none() {
            return self.extremum_of_two(function, parts);
        }
        let Some((first, others)) = parts.split_first() else { return Ok(()) };
        if others.is_empty() {
            return self.expr(first, Level::Comparison);
        }
        for other in others {
            // All comparisons `first` must win, joined.
            self.out.write_str(if std::ptr::eq(other, &others[0]) { "" } else { " && " })?;
            self.expr(first, Level::Shift)?;
            self.out.write_str(better)?;
            self.expr(other, Level::Shift)?;
        }
        self.out.write_str(" ? ")?;
        self.expr(first, Level::Comparison)?;
        self.out.write_str(" : ")?;
        match others {
            [last] => self.expr(last, Level::Comparison),
            _ => {
                self.out.write_char('(')?;
                self.extremum(function, better, others)?;
                self.out.write_char(')')
            }
        }
    }

    /// In the language `min` takes two arguments: `min(a, min(b, c))`.
    fn extremum_of_two(&mut self, function: &str, parts: &[Written]) -> fmt::Result {
        let Some((last, others)) = parts.split_last() else { return Ok(()) };
        for part in others {
            write!(self.out, "{function}(")?;
            self.expr(part, Level::Choice)?;
            self.out.write_str(", ")?;
        }
        self.expr(last, Level::Choice)?;
        others.iter().try_for_each(|_| self.out.write_char(')'))
    }

    fn pred(&mut self, p: &Pred) -> fmt::Result {
        match p {
            Pred::Eq(a, b) => self.comparison(a, " == ", b),
            Pred::Ne(a, b) => self.comparison(a, " != ", b),
            Pred::Lt(a, b) => self.comparison(a, " < ", b),
            Pred::Le(a, b) => self.comparison(a, " <= ", b),
            Pred::Divides { divisor, of } => {
                self.infix(&of.written(), " % ", &divisor.written())?;
                self.out.write_str(" == 0")
            }
            Pred::And(all) => {
                if all.is_empty() {
                    return self.out.write_str("0 == 0");
                }
                for (i, p) in all.iter().enumerate() {
                    self.out.write_str(if i == 0 { "" } else { " && " })?;
                    self.pred(p)?;
                }
                Ok(())
            }
        }
    }

    fn comparison(&mut self, a: &Nat, operator: &str, b: &Nat) -> fmt::Result {
        self.expr(&a.written(), Level::Shift)?;
        self.out.write_str(operator)?;
        self.expr(&b.written(), Level::Shift)
    }
}

const WORDS: [&str; 3] = ["if ", " then ", " else "];

fn is_two(e: &Written) -> bool {
    matches!(e, Written::Int(2))
}
