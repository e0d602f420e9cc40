//! Names that mean nothing.

use lift_ir::{Span, table};

use super::errors::Errors;
use super::scope::Env;
use super::{Elaborator, Result};
use crate::diagnostic::Diagnostic;
use crate::suggest::did_you_mean;

impl<'a> Elaborator<'a> {
    pub(super) fn unknown<T>(&self, name: &str, span: Span, env: &Env<'a>) -> Result<T> {
        let mut known: Vec<&str> = env.names();
        known.extend(self.module.user.by_name.keys().copied());
        known.extend(self.module.prelude.by_name.keys().copied());
        known.extend(table::PATTERNS.iter().map(|p| p.name));
        known.extend(["len", "ceil_div", "inf", "nan"]);
        let mut diagnostic = Diagnostic::error(format!("nothing is called `{name}`")).at(span, "");
        let elsewhere = elsewhere(name).map(str::to_string);
        if let Some(help) = elsewhere.or_else(|| did_you_mean(name, known)) {
            diagnostic = diagnostic.help(help);
        }
        Err(Errors::one(diagnostic))
    }

    /// A size that nobody declared.
    pub(super) fn unknown_size<T>(&self, name: &str, span: Span, env: &Env<'a>) -> Result<T> {
        let help = format!(
            "sizes are declared behind the name: `def f[{name}](…)`, or `def f[; {name} = 16](…)` where no argument has it"
        );
        self.unknown(name, span, env).map_err(|errors: Errors| errors.help_where_none(&help))
    }
}

/// What other languages call something that is written otherwise here.
fn elsewhere(name: &str) -> Option<&'static str> {
    Some(match name {
        "sum" => "a sum is `reduce(0.0, (+), xs)`",
        "product" | "prod" => "a product is `reduce(1.0, (*), xs)`",
        "mean" | "average" => "a mean is `reduce(0.0, (+), xs) / (N as f32)`",
        "any" => "whether one holds is `reduce(false, (||), xs)`",
        "all" => "whether all hold is `reduce(true, (&&), xs)`",
        "maximum" => "the largest element is `reduce(-inf, max, xs)`",
        "minimum" => "the smallest element is `reduce(inf, min, xs)`",
        "fold" | "foldl" => "a fold is `reduce(z, f, xs)`, or `reduceSeq` where the order matters",
        "cumsum" | "prefix_sum" => "sums of all prefixes are `scan(0.0, (+), xs)`",
        "length" | "size" => "the length of `xs` is `len(xs)`",
        "range" | "arange" | "linspace" | "tabulate" => {
            "numbers are made by `generate(N, \\i -> i)`"
        }
        "flatten" => "the rows end to end are `join(xss)`",
        "reshape" => "`split(m, xs)` makes rows of m elements, `join` undoes it",
        "reverse" => "a reversed array is `gather(reverse, xs)`",
        "roll" | "rotate" => "a rotated array is `gather(shift(1), xs)`",
        "zeros" => "an array of zeros is `repeat(N, 0.0)`",
        "ones" => "an array of ones is `repeat(N, 1.0)`",
        "not" => "write `!`",
        "power" => "a power is `pow(x, y)`",
        "where" => "a choice is `if c then a else b`, or `select(c, a, b)`",
        _ => return None,
    })
}
