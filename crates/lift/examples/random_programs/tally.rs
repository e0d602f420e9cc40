//! What came of a run.

use std::collections::BTreeMap;
use std::fmt;

/// Programs by what was said of them.
#[derive(Default)]
pub struct Tally {
    pub agreed: usize,
    pub refused: BTreeMap<String, usize>,
    /// Wrong results that are the fault of the compiler behind Lift.
    pub compilers: BTreeMap<String, usize>,
    pub failed: BTreeMap<String, usize>,
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let total = |counts: &BTreeMap<String, usize>| counts.values().sum::<usize>();
        let (refused, compilers) = (total(&self.refused), total(&self.compilers));
        let failed = total(&self.failed);
        let programs = self.agreed + refused + compilers + failed;
        writeln!(
            f,
            "{programs} programs: {} agree, {refused} refused, {compilers} the compiler's, {failed} failed",
            self.agreed
        )?;
        let rows = [
            ("refused", &self.refused),
            ("the compiler's", &self.compilers),
            ("failed", &self.failed),
        ];
        for (what, counts) in rows {
            for (message, count) in counts {
                writeln!(f, "  {count} {what}: {message}")?;
            }
        }
        Ok(())
    }
}

/// What messages have in common that differ only in numbers and names.
pub fn alike(message: &str) -> String {
    if message.starts_with("differs") {
        return "differs".to_string();
    }
    let start = message.split(['\'', '`', '|']).next().unwrap_or_default();
    start.chars().filter(|c| !c.is_ascii_digit()).take(80).collect()
}
