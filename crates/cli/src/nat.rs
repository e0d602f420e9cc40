//! `lift nat`: arithmetic on sizes.

use lift_ir::Span;
use lift_nat::{EvalError, ParseError, default_facts, parse, parse_assumptions};
use lift_syntax::diagnostic::Diagnostic;
use lift_syntax::source::Sources;
use serde_json::json;

use crate::report::{Failure, say, say_json};

/// Print a simplified size expression
///
/// Names that begin with a capital letter are sizes, at least 1; others are natural numbers.
/// `/` and `%` are C's, `//` divides exactly, `a^2` is a power; `min`, `max`, `ceil_div` and `gcd`
/// take two values. `gcd` is the factor two expressions have in common; where there is none but 1 it
/// stays as it is.
#[derive(clap::Args)]
#[command(after_help = "\
Example:\n\
\x20 lift nat '(i * N + j) / N' --assume 'j < N'\n\
\x20 i")]
pub struct Options {
    /// The expression
    #[arg(value_name = "EXPR", allow_hyphen_values = true)]
    expr: String,
    /// What is known, as in "i < N, N % 4 == 0"; may be repeated
    #[arg(long, value_name = "FACTS", allow_hyphen_values = true)]
    assume: Vec<String>,
    /// Print {"expression", "simplified"}
    #[arg(long)]
    json: bool,
}

pub fn run(options: &Options) -> Result<(), Failure> {
    let expr = parse(&options.expr).map_err(|e| malformed("EXPR", &options.expr, e))?;
    let mut given = Vec::new();
    for text in &options.assume {
        given.extend(parse_assumptions(text).map_err(|e| malformed("--assume", text, e))?);
    }
    let simple = default_facts(&[&expr], &given).simplify(&expr);
    if simple.eval(&|_| None) == Err(EvalError::Overflow) {
        return Err(Failure::message("the value is out of range"));
    }
    if options.json {
        let simplified = simple.to_string();
        return say_json(&json!({ "expression": options.expr, "simplified": simplified }));
    }
    say(&format!("{simple}\n"))
}

fn malformed(name: &str, text: &str, error: ParseError) -> Failure {
    let mut sources = Sources::new();
    let file = sources.add(name, text);
    let at = u32::try_from(error.offset).unwrap_or(u32::MAX);
    let diagnostic = Diagnostic::error(error.message).at(Span::new(file, at, at), "");
    Failure::Diagnostics(vec![diagnostic], sources)
}
