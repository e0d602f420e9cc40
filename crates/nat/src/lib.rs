//! Arithmetic on symbolic sizes and indices.
//!
//! A [`Nat`] is an integer expression over variables: a sum of products of *atoms*, where an atom
//! is a variable or something polynomials do not look into (a quotient, a symbolic power, a
//! minimum …). Sums are kept multiplied out and sorted, so expressions that are equal as
//! polynomials are equal as values. `/` and `%` are those of C; the remainder exists only on paper:
//! `a % d` is `a - d * (a / d)`, and is found again by the printer.
//!
//! [`Facts`] are what is known about the variables. Under facts, [`Facts::simplify`] makes the
//! index a person would write out of one that a compiler composed, and [`Facts::proves`] decides
//! comparisons and divisibility as far as a bounded search gets:
//!
//! ```
//! use lift_nat::{Facts, Nat, Range, Var};
//!
//! let (n, w, l) = (Var::named("N"), Var::named("w"), Var::named("l"));
//! let mut facts = Facts::new();
//! facts.size(&n);
//! facts.declare(&w, Range::at_least(Nat::ZERO));
//! facts.declare(&l, Range::below(Nat::var(&n)));
//!
//! let position = Nat::var(&w) * Nat::var(&n) + Nat::var(&l);
//! assert_eq!(facts.simplify(&position.div(&Nat::var(&n))).to_string(), "w");
//! assert_eq!(facts.simplify(&position.rem(&Nat::var(&n))).to_string(), "l");
//! ```
//!
//! The same in text, where names in upper case are sizes:
//!
//! ```
//! use lift_nat::{default_facts, parse, parse_assumptions};
//!
//! let value = parse("K / (K / 128)")?;
//! let given = parse_assumptions("K % 128 == 0")?;
//! assert_eq!(default_facts(&[&value], &given).simplify(&value).to_string(), "128");
//! # Ok::<(), lift_nat::ParseError>(())
//! ```
//!
//! Two rules hold throughout. An answer is right wherever what was asked about is defined: division
//! by zero, an inexact `//`, a negative power and the logarithm of zero are not. And work is
//! bounded: what gets too large stays unexpanded, what takes too long stays unproved, and what
//! leaves the range of the constants becomes an overflow that equals nothing.
//!
//! | where | what |
//! |---|---|
//! | `nat`, `term`, `ops` | the canonical form and its ring operations |
//! | `divide`, `build` | laws of division, powers, extrema that need no facts |
//! | `known`, `fresh` | facts, and variables solved by them: `N % 128 == 0` makes `N` into `128 * k` |
//! | `session`, `prove` | one question: constraints on atoms, and the search for a proof |
//! | `simplify`, `quotient` | simplification under facts |
//! | `written`, `print`, `parse`, `eval`, `lanes` | text and values |
//! | `hash` | maps with a quick hash |
//! | `over` | sums over a range that no formula says |
//! | `spread` | how far the values on the way to a result reach |

mod build;
mod divide;
mod eval;
mod facts;
mod found;
mod fresh;
mod hash;
mod known;
mod lanes;
mod nat;
mod ops;
mod over;
mod parse;
mod pred;
mod print;
mod prove;
mod quotient;
mod session;
mod simplify;
mod spread;
mod term;
#[cfg(test)]
mod tests;
mod turns;
mod var;
mod written;

pub use eval::EvalError;
pub use facts::{Facts, Range, default_facts};
pub use hash::{Quick, QuickMap, QuickSet};
pub use lanes::{LaneValues, Lanes};
pub use nat::Nat;
pub use over::Over;
pub use parse::{ParseError, parse, parse_assumptions};
pub use pred::Pred;
pub use spread::{Note, Spread, SpreadOf};
pub use turns::Turn;
pub use var::Var;
pub use written::Written;
