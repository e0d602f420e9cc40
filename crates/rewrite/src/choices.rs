//! What users choose for the parameters of rules, as text.

use lift_ir::{Def, Nat, Permutation, Var};

/// The parts between commas that stand in no parentheses.
pub fn outer_parts(text: &str) -> Vec<&str> {
    let mut depth = 0i64;
    let separates = |c: char| {
        depth += i64::from(c == '(') - i64::from(c == ')');
        c == ',' && depth == 0
    };
    text.split(separates).collect()
}

/// A size in terms of those of a definition.
pub fn size_in(def: &Def, text: &str) -> Result<Nat, String> {
    let read =
        lift_nat::parse(text).map_err(|e| format!("`{text}` is not a size: {}", e.message))?;
    let own = |var: &Var| size_named(def, var.name());
    if let Some(unknown) = read.vars().iter().find(|v| own(v).is_none()) {
        return Err(format!("`{}` has no size `{unknown}`", def.name));
    }
    Ok(read.substitute(&|v| own(v).map(Nat::var)))
}

/// The size or parameter of a definition that has this name.
pub(crate) fn size_named<'d>(def: &'d Def, name: &str) -> Option<&'d Var> {
    let parameters = def.parameters.iter().map(|p| &p.var);
    def.sizes.iter().chain(parameters).find(|v| v.name() == name)
}

/// `reverse`, `stride(8)` or `shift(1)`
pub fn permutation_in(def: &Def, text: &str) -> Result<Permutation, String> {
    let inner = |name: &str| text.strip_prefix(name)?.trim().strip_prefix('(')?.strip_suffix(')');
    if text == "reverse" {
        return Ok(Permutation::Reverse);
    }
    if let Some(step) = inner("stride") {
        return size_in(def, step).map(Permutation::Stride);
    }
    if let Some(by) = inner("shift") {
        return size_in(def, by).map(Permutation::Shift);
    }
    Err(format!("`{text}` is not a permutation: write `reverse`, `stride(8)` or `shift(1)`"))
}

/// `m`, or the first of `m2`, `m3`, … that is not taken.
pub fn unused(name: &str, taken: &[String]) -> String {
    let numbered = (2..).map(|number: u32| format!("{name}{number}"));
    let mut names = std::iter::once(name.to_string()).chain(numbered);
    names.find(|n| !taken.contains(n)).unwrap_or_else(|| name.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_in_parentheses_do_not_separate() {
        assert_eq!(outer_parts("a, f(b, g(c), d), e"), ["a", " f(b, g(c), d)", " e"]);
        assert_eq!(outer_parts(""), [""]);
    }
}
