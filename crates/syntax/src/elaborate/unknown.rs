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
        if let Some(help) = did_you_mean(name, known) {
            diagnostic = diagnostic.help(help);
        }
        Err(Errors::one(diagnostic))
    }
}
