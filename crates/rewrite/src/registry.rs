//! All rules, by name.

use std::fmt;

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

/// The name that was probably meant.
pub(crate) fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    // More mistakes are forgiven in longer names.
    let close = name.chars().count() / 3 + 1;
    let near = known.map(|k| (distance(name, k), k)).filter(|(distance, _)| *distance <= close);
    near.min().map(|(_, name)| name)
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

/// The number of characters to insert, delete or replace to get from one text to the other.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut next = vec![i + 1];
        for (j, (y, above)) in b.iter().zip(row.windows(2)).enumerate() {
            let (diagonal, up) = (above[0], above[1]);
            let left = next[j];
            next.push((diagonal + usize::from(x != *y)).min(up + 1).min(left + 1));
        }
        row = next;
    }
    row.last().copied().unwrap_or(0)
}

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
