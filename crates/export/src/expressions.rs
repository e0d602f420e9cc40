//! Sizes as C expressions of 128 bits, in which no size of an array that there is leaves its type.

use lift_execute::Error;
use lift_ir::{Nat, Pred, Var};

use crate::form::Form;
use crate::interface::Interface;

/// The names that variables have in the function that runs a form.
pub struct Names<'a> {
    interface: &'a Interface,
    counters: &'a [Var],
}

impl<'a> Names<'a> {
    pub fn new(interface: &'a Interface, form: &'a Form) -> Names<'a> {
        Names { interface, counters: &form.counters }
    }

    pub fn var(&self, var: &Var) -> String {
        if let Some((_, name)) = self.interface.sizes.iter().find(|(size, _)| size == var) {
            return name.clone();
        }
        match self.counters.iter().position(|counter| counter == var) {
            Some(index) => format!("lift_i{index}"),
            None => "lift_index".to_string(),
        }
    }

    pub fn size(&self, size: &Nat) -> Result<String, Error> {
        checked(size.to_c_of(&|var| self.var(var), "(lift_wide)1"))
    }

    pub fn condition(&self, pred: &Pred) -> Result<String, Error> {
        checked(pred.to_c_of(&|var| self.var(var), "(lift_wide)1"))
    }
}

/// Kernels in C have functions of these names with another type, and C has no numbers of more than 64 bits.
fn checked(text: String) -> Result<String, Error> {
    if text.contains("?overflow") {
        return Err(Error::arguments("a size of the program does not fit in 128 bits"));
    }
    let text = text.replace("lift_log2(", "lift_wide_log2(").replace("lift_pow(", "lift_wide_pow(");
    let (mut out, mut rest) = (String::new(), text.as_str());
    while let Some(start) = rest.find(|c: char| c.is_ascii_alphanumeric() || c == '_') {
        let (before, from) = rest.split_at(start);
        let end = from.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        let (word, behind) = from.split_at(end.unwrap_or(from.len()));
        out.push_str(before);
        match word.parse::<u128>() {
            Ok(number) if number > i64::MAX as u128 => out.push_str(&large(number)),
            _ => out.push_str(word),
        }
        rest = behind;
    }
    Ok(out + rest)
}

/// A number of more than 63 bits.
fn large(number: u128) -> String {
    format!("((lift_wide){}ull << 64 | {}ull)", number >> 64, number & u128::from(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_numbers_are_put_together() {
        let text = checked("-9223372036854775808 <= n_9 && n_9 <= 9223372036854775807".to_string());
        let low = "((lift_wide)0ull << 64 | 9223372036854775808ull)";
        let expected = format!("-{low} <= n_9 && n_9 <= 9223372036854775807");
        assert_eq!(text.map_err(|e| e.to_string()), Ok(expected));
    }

    #[test]
    fn functions_have_128_bits() {
        let text = checked("lift_log2(n)".to_string()).map_err(|e| e.to_string());
        assert_eq!(text.as_deref(), Ok("lift_wide_log2(n)"));
    }
}
