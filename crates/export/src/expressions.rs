//! Sizes as C expressions of 128 bits, in which no size of an array that there is leaves its type.

use lift_execute::Error;
use std::cell::RefCell;

use lift_ir::{Nat, Over, Pred, Var};

use crate::form::Form;
use crate::interface::Interface;

/// The number one of this type.
const ONE: &str = "(lift_wide)1";

/// The names that variables have in the function that runs a form.
pub struct Names<'a> {
    interface: &'a Interface,
    counters: &'a [Var],
    /// Functions that add up what a size is a sum of.
    sums: RefCell<Vec<String>>,
}

impl<'a> Names<'a> {
    pub fn new(interface: &'a Interface, form: &'a Form) -> Names<'a> {
        Names { interface, counters: &form.counters, sums: RefCell::default() }
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
        size.each_sum(&mut |sum| self.add_sum(sum));
        checked(size.to_c_of(&|var| self.var(var), ONE))
    }

    pub fn condition(&self, pred: &Pred) -> Result<String, Error> {
        pred.each_sum(&mut |sum| self.add_sum(sum));
        checked(pred.to_c_of(&|var| self.var(var), ONE))
    }

    fn add_sum(&self, sum: &Over) {
        let mut sums = self.sums.borrow_mut();
        let text = sum.to_c("static inline ", "static const ", "lift_wide", ONE);
        if !sums.contains(&text) {
            sums.push(text);
        }
    }

    /// The functions that sizes call, each of which a file has once.
    pub fn functions(&self) -> Result<String, Error> {
        let guarded = |text: &String| {
            let name = text.split(['(', '[']).next().and_then(|start| start.split(' ').next_back());
            let name = name.unwrap_or_default();
            let text = checked(text.clone())?;
            Ok(format!("#ifndef {name}_is_there\n#define {name}_is_there\n{text}\n#endif\n"))
        };
        self.sums.borrow().iter().map(guarded).collect()
    }
}

/// Kernels in C have functions of these names with another type, and C has no numbers of more than 64 bits.
fn checked(text: String) -> Result<String, Error> {
    if text.contains("?overflow") {
        return Err(Error::arguments("a size of the program does not fit in 128 bits"));
    }
    let text = text.replace("lift_log2(", "lift_wide_log2(").replace("lift_pow(", "lift_wide_pow(");
    let text = text.replace("lift_sum_", "lift_wide_sum_");
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
