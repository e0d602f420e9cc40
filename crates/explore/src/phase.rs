//! The phases of a search, from programs that moves make to candidates that were measured.

use std::collections::BTreeMap;

/// A phase, in the order in which candidates go through them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Phase {
    MadeByMoves,
    Different,
    OfSensibleDepth,
    WithResultsNearTheirUse,
    MappedToTheDevice,
    MadeByRecipes,
    LowLevelPrograms,
    Measured,
    WithTheKernelsOfAnother,
}

impl Phase {
    pub const ALL: [Phase; 9] = [
        Phase::MadeByMoves,
        Phase::Different,
        Phase::OfSensibleDepth,
        Phase::WithResultsNearTheirUse,
        Phase::MappedToTheDevice,
        Phase::MadeByRecipes,
        Phase::LowLevelPrograms,
        Phase::Measured,
        Phase::WithTheKernelsOfAnother,
    ];

    /// The name by which databases and JSON know it.
    pub fn name(self) -> &'static str {
        match self {
            Phase::MadeByMoves => "made_by_moves",
            Phase::Different => "different",
            Phase::OfSensibleDepth => "of_sensible_depth",
            Phase::WithResultsNearTheirUse => "with_results_near_their_use",
            Phase::MappedToTheDevice => "mapped_to_the_device",
            Phase::MadeByRecipes => "made_by_recipes",
            Phase::LowLevelPrograms => "low_level_programs",
            Phase::Measured => "measured",
            Phase::WithTheKernelsOfAnother => "with_the_kernels_of_another",
        }
    }
}

/// Counts in the order of the phases, for people: `low-level programs`. What has another name comes last; databases of
/// older versions have a number in front of theirs.
pub fn in_order(counts: &BTreeMap<String, u64>) -> Vec<(String, u64)> {
    let rank = |name: &str| Phase::ALL.iter().position(|phase| phase.name() == name);
    let mut rows: Vec<(usize, &String, u64)> =
        counts.iter().map(|(name, n)| (rank(name).unwrap_or(Phase::ALL.len()), name, *n)).collect();
    rows.sort();
    let words = |name: &str| {
        let name = name.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start();
        name.replace("low_level", "low-level").replace('_', " ")
    };
    rows.into_iter().map(|(_, name, n)| (words(name), n)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_phase_has_a_name_of_its_own_and_no_sort_key() {
        let names = Phase::ALL.map(Phase::name);
        for (index, name) in names.iter().enumerate() {
            assert!(name.chars().all(|c| c.is_ascii_lowercase() || c == '_'), "{name}");
            assert!(!names[..index].contains(name), "{name}");
        }
        assert!(Phase::ALL.is_sorted());
    }

    #[test]
    fn counts_come_in_the_order_of_the_phases() {
        let counts = Phase::ALL.iter().rev().zip(1..);
        let counts: BTreeMap<String, u64> =
            counts.map(|(phase, n)| (phase.name().to_string(), n)).collect();
        let told = in_order(&counts);
        assert_eq!(told.first(), Some(&("made by moves".to_string(), 9)));
        assert_eq!(told.last(), Some(&("with the kernels of another".to_string(), 1)));
    }

    #[test]
    fn names_of_older_versions_lose_their_number() {
        let counts =
            [("6 low-level programs".to_string(), 3), ("7 measured".to_string(), 2)].into();
        let expected = [("low-level programs".to_string(), 3), ("measured".to_string(), 2)];
        assert_eq!(in_order(&counts), expected);
    }
}
