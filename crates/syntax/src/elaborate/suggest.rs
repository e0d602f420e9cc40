//! "Did you mean …": the known name nearest to an unknown one.

use lift_ir::{Span, table};

use super::errors::Errors;
use super::scope::Env;
use super::{Elaborator, Result};
use crate::diagnostic::Diagnostic;

impl<'a> Elaborator<'a> {
    pub(super) fn unknown<T>(&self, name: &str, span: Span, env: &Env<'a>) -> Result<T> {
        let mut known: Vec<&str> = env.names();
        known.extend(self.module.user.by_name.keys().copied());
        known.extend(self.module.prelude.by_name.keys().copied());
        known.extend(table::PATTERNS.iter().map(|p| p.name));
        known.extend(["len", "ceil_div", "inf", "nan"]);
        let mut diagnostic = Diagnostic::error(format!("nothing is called `{name}`")).at(span, "");
        if let Some(near) = nearest(name, &known) {
            diagnostic = diagnostic.help(format!("did you mean `{near}`?"));
        }
        Err(Errors::one(diagnostic))
    }
}

/// The name with the fewest edits to `name`, if they are few for its length.
pub(crate) fn nearest<'n>(name: &str, known: &[&'n str]) -> Option<&'n str> {
    let limit = match name.chars().count() {
        0..=2 => 1,
        3..=5 => 2,
        _ => 3,
    };
    let ranked = known.iter().filter(|k| **k != name).map(|k| (edits(name, k), *k));
    // Ties go to the first in the alphabet, so that the answer does not depend on hashing.
    ranked.filter(|(d, k)| *d <= limit && *d < k.chars().count()).min().map(|(_, k)| k)
}

/// The number of letters inserted, deleted, changed or swapped with their neighbour.
fn edits(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (
        a.chars().take(64).map(|c| c.to_ascii_lowercase()).collect(),
        b.chars().take(64).map(|c| c.to_ascii_lowercase()).collect(),
    );
    let width = b.len() + 1;
    let mut table = vec![0usize; (a.len() + 1) * width];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            table[i * width + j] = if i == 0 || j == 0 {
                i + j
            } else {
                let change = usize::from(a[i - 1] != b[j - 1]);
                let mut best = (table[(i - 1) * width + j] + 1)
                    .min(table[i * width + j - 1] + 1)
                    .min(table[(i - 1) * width + j - 1] + change);
                if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                    best = best.min(table[(i - 2) * width + j - 2] + 1);
                }
                best
            };
        }
    }
    table[a.len() * width + b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_name_wins_and_far_ones_do_not() {
        assert_eq!(nearest("mpa", &["map", "zip"]), Some("map"));
        assert_eq!(nearest("tranpose", &["transpose", "take"]), Some("transpose"));
        assert_eq!(nearest("MapSeq", &["mapSeq"]), Some("mapSeq"));
        assert_eq!(nearest("quux", &["map", "zip"]), None);
        assert_eq!(nearest("x", &["y"]), None);
    }
}
