//! The values that a variable takes, all of them as often.

/// Never empty where a scope holds it.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Values {
    /// From the first to below the second.
    Between(i128, i128),
    /// In rising order.
    Listed(Vec<i128>),
}

impl Values {
    pub fn one(value: i128) -> Values {
        Values::Between(value, value.saturating_add(1))
    }

    /// `0..count`, of which there is at least one.
    pub fn below(count: i128) -> Values {
        Values::Between(0, count.max(1))
    }

    pub fn count(&self) -> i128 {
        match self {
            Values::Between(from, to) => to.saturating_sub(*from).max(0),
            Values::Listed(all) => all.len() as i128,
        }
    }

    /// The value at a place, which is within `0..count`.
    pub fn at(&self, place: i128) -> i128 {
        match self {
            Values::Between(from, _) => from.saturating_add(place),
            Values::Listed(all) => {
                usize::try_from(place).ok().and_then(|k| all.get(k)).copied().unwrap_or(0)
            }
        }
    }

    /// The one that stands for all: neither the first nor the last, where there are others.
    pub fn middle(&self) -> i128 {
        self.at(self.count() / 2)
    }

    pub fn contains(&self, value: i128) -> bool {
        match self {
            Values::Between(from, to) => *from <= value && value < *to,
            Values::Listed(all) => all.binary_search(&value).is_ok(),
        }
    }

    /// All values, or so many of them spread evenly.
    pub fn sample(&self, most: i128) -> impl Iterator<Item = i128> + '_ {
        let (count, most) = (self.count(), most.max(1));
        let taken = count.min(most);
        // The middle of each of as many equal parts.
        (0..taken).map(move |k| {
            let place =
                if taken == count { k } else { (2 * k + 1).saturating_mul(count) / (2 * taken) };
            self.at(place)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_all_or_evenly_spread() {
        assert_eq!(Values::below(4).sample(8).collect::<Vec<_>>(), [0, 1, 2, 3]);
        assert_eq!(Values::below(100).sample(4).collect::<Vec<_>>(), [12, 37, 62, 87]);
        assert_eq!(Values::Listed(vec![3, 5, 9]).sample(8).collect::<Vec<_>>(), [3, 5, 9]);
    }

    #[test]
    fn the_middle_is_no_edge() {
        assert_eq!(Values::below(3).middle(), 1);
        assert_eq!(Values::below(1024).middle(), 512);
        assert_eq!(Values::one(7).middle(), 7);
    }
}
