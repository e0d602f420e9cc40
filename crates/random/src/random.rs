//! Random choices: the same on every machine.

use lift_interp::inputs::SplitMix;

#[derive(Clone, Debug)]
pub struct Random(SplitMix);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(SplitMix::new(seed))
    }

    pub fn bits(&mut self) -> u64 {
        self.0.bits()
    }

    /// A number below `bound`; 0 where there is none.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.bits().checked_rem(bound).unwrap_or(0)
    }

    /// A number from `low` to `high`, both included.
    pub fn between(&mut self, low: i64, high: i64) -> i64 {
        let count = high.saturating_sub(low).saturating_add(1);
        low.saturating_add_unsigned(self.below(u64::try_from(count).unwrap_or(1)))
    }

    /// True in so many of a hundred cases.
    pub fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// Any of the items, if there are some.
    pub fn pick<T: Clone>(&mut self, items: &[T]) -> Option<T> {
        items.get(self.below(items.len() as u64) as usize).cloned()
    }

    /// Any of the items, each as often as its weight says.
    pub fn weighted<T: Clone>(&mut self, items: &[(u32, T)]) -> Option<T> {
        let total: u64 = items.iter().map(|(weight, _)| u64::from(*weight)).sum();
        if total == 0 {
            return None;
        }
        let mut rest = self.below(total);
        for (weight, item) in items {
            match rest.checked_sub(u64::from(*weight)) {
                None => return Some(item.clone()),
                Some(left) => rest = left,
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_hold_and_weights_count() {
        let mut random = Random::new(7);
        let mut heavy = 0;
        for _ in 0..1000 {
            assert!((-3..=4).contains(&random.between(-3, 4)));
            assert!(random.pick(&[1, 2, 3]).is_some_and(|x| x <= 3));
            heavy += u32::from(random.weighted(&[(9, true), (0, false), (1, false)]) == Some(true));
        }
        assert!((850..950).contains(&heavy), "{heavy}");
        assert_eq!(random.pick::<u8>(&[]), None);
        assert_eq!(random.weighted(&[(0, 1)]), None);
    }
}
