//! Sizes at which a program that is too slow to wait for can be compared with.

use std::collections::BTreeMap;

use lift_interp::Sizes;
use lift_ir::Def;

use super::{by_name, check};

/// Tiles are no larger, so what tiles divide is divided by them all the same.
const ENOUGH: i128 = 256;

/// Sizes of which none is much larger than a tile and which meet the clauses of the program. A size is halved as
/// often as that is possible, and where an odd one is left that is still large, another is taken with the same
/// remainders. Nothing where there are no such sizes but those given.
pub(super) fn smaller(def: &Def, sizes: &Sizes) -> Option<BTreeMap<String, i128>> {
    let mut small = by_name(sizes);
    for var in &def.sizes {
        let size = small.get_mut(var.name())?;
        while *size > ENOUGH && *size % 2 == 0 {
            *size /= 2;
        }
        if *size > 4 * ENOUGH {
            *size = ENOUGH + *size % ENOUGH;
        }
    }
    let chosen: Sizes = small.iter().map(|(name, value)| (name, *value)).collect();
    (small != by_name(sizes) && check(def, &chosen).is_ok()).then_some(small)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn smaller_of(text: &str, sizes: &[(&str, i128)]) -> Option<Vec<i128>> {
        let checked = lift_syntax::check_text("program", text);
        assert!(!checked.has_errors(), "{}", checked.render(false));
        let def = checked.program.entry().cloned().expect("a definition");
        let sizes = sizes.iter().map(|(name, value)| (*name, *value)).collect();
        smaller(&def, &sizes).map(|small| small.into_values().collect())
    }

    const TWO: &str = "def f[M, N](x: [[f32; M]; N]) -> [[f32; M]; N] = x;";

    #[test]
    fn large_sizes_become_small_and_small_ones_stay() {
        assert_eq!(smaller_of(TWO, &[("M", 4096), ("N", 64)]), Some(vec![256, 64]));
        assert_eq!(smaller_of(TWO, &[("M", 1000), ("N", 768)]), Some(vec![250, 192]));
        assert_eq!(smaller_of(TWO, &[("M", 256), ("N", 1)]), None);
    }

    #[test]
    fn a_large_odd_size_keeps_its_remainders() {
        let found = smaller_of(TWO, &[("M", 1_000_003), ("N", 8)]).expect("there are smaller ones");
        assert!(found[0] < 2 * ENOUGH);
        for tile in [2, 4, 8, 16, 32, 64, 128, 256] {
            assert_eq!(found[0] % tile, 1_000_003 % tile);
        }
    }

    #[test]
    fn sizes_that_the_program_does_not_take_are_none() {
        let text = "def f[N](x: [f32; N]) -> [f32; N] where N % 512 == 0 = x;";
        assert_eq!(smaller_of(text, &[("N", 4096)]), None);
    }
}
