//! All rules, by name.

use std::fmt;

use lift_syntax::suggest::nearest;

use crate::rule::Rule;
use crate::rules::{FAMILIES, Family};

/// Every registered rule, family by family.
pub fn rules() -> Vec<&'static Rule> {
    FAMILIES.iter().flat_map(|family| family.rules.iter().copied()).collect()
}

/// The families of the rules, in the order of the reference.
pub fn families() -> &'static [&'static Family] {
    FAMILIES
}

/// The rule of a name.
pub fn find(name: &str) -> Result<&'static Rule, UnknownRule> {
    let known = rules();
    if let Some(rule) = known.iter().find(|r| r.name == name) {
        return Ok(rule);
    }
    let nearest = nearest(name, known.iter().map(|rule| rule.name));
    Err(UnknownRule { name: name.to_string(), nearest })
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnknownRule {
    pub name: String,
    pub nearest: Option<&'static str>,
}

impl fmt::Display for UnknownRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no rule `{}`", self.name)?;
        match self.nearest {
            Some(name) => write!(f, "; did you mean `{name}`?"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for UnknownRule {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique() {
        let mut names: Vec<&str> = rules().iter().map(|r| r.name).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    #[test]
    fn every_rule_says_its_law_in_a_sentence_of_its_own() {
        let mut sentences = std::collections::BTreeSet::new();
        for rule in rules() {
            let about = rule.about;
            let is_sentence = about.starts_with(char::is_uppercase) && about.ends_with('.');
            assert!(is_sentence && about.len() > 20, "{}: `{about}`", rule.name);
            // Beside its law a sentence stands alone.
            assert!(!about.starts_with("The same"), "{}: `{about}`", rule.name);
            assert!(sentences.insert(about), "{} says what another says", rule.name);
        }
    }

    #[test]
    fn the_nearest_name_is_suggested() {
        let error = find("map_promotoin").expect_err("is misspelt");
        assert_eq!(
            error.to_string(),
            "there is no rule `map_promotoin`; did you mean `map_promotion`?"
        );
        assert_eq!(find("quicksort").expect_err("is no rule").nearest, None);
        assert!(find("map_fusion").is_ok());
    }
}
