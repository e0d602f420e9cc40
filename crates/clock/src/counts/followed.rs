//! Which groups and warps of a launch are followed, and which run at the same time.

/// Places at which groups are followed, with those beside them and one far away, at most and at least.
const SAMPLES: i64 = 6;
/// Groups that are followed at each sample.
const GROUPS: i64 = 4;
const FEWEST_SAMPLES: i64 = 3;
/// Warps of a group that are followed.
const WARPS: i64 = 8;
/// Statements and accesses that are followed in a launch, about: of long kernels fewer warps and groups are.
const WORK: i64 = 100_000;
/// Groups that run at the same time on a large device, of which reuse is taken to be found in the last cache.
const AT_ONCE: i64 = 1024;

/// Some of `0..count`, evenly spread, all if they are few.
pub(super) fn spread(count: i64, most: i64) -> Vec<i64> {
    let taken = count.min(most);
    (0..taken).map(|k| if taken == count { k } else { (2 * k + 1) * count / (2 * taken) }).collect()
}

/// Some of `0..count` spread over it, or all where they are few. They are spread by the golden section, so that no two are in the
/// same row or column of a grid because they are evenly apart.
pub(super) fn samples(count: i64, most: i64) -> Vec<i64> {
    if count <= 2 * most {
        return (0..count).collect();
    }
    let sample = |k: i64| {
        let part = (0.5 + k as f64 * 0.618_033_988_75).fract();
        ((count - 1) as f64 * part) as i64
    };
    (0..most).map(sample).collect()
}

/// The part of a grid that runs at the same time: rows as far as they go, then planes.
pub(super) fn at_once(grid: [i64; 3]) -> [i64; 3] {
    let mut left = AT_ONCE;
    grid.map(|groups| {
        let part = groups.min(left);
        left = (left / part.max(1)).max(1);
        part
    })
}

/// How much of a launch is followed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Effort {
    pub samples: i64,
    pub warps: i64,
}

impl Effort {
    /// Where one warp takes so much work.
    pub fn for_work(each: u64) -> Effort {
        let most = WORK / i64::try_from(each).unwrap_or(i64::MAX).max(1);
        let warps = (most / (GROUPS * SAMPLES)).clamp(1, WARPS);
        Effort { samples: (most / (GROUPS * warps)).clamp(FEWEST_SAMPLES, SAMPLES), warps }
    }
}

/// Warps that are followed of those that run at the same time, at most; of fewer than half as many nothing is learnt.
const OF_A_WAVE: i64 = 64;

/// How many are, where one takes so much work.
pub(super) fn at_once_for_work(each: u64) -> i64 {
    let most = WORK / 4 / i64::try_from(each).unwrap_or(i64::MAX).max(1);
    if most < OF_A_WAVE / 2 { 0 } else { most.min(OF_A_WAVE) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_followed_is_spread_over_all() {
        assert_eq!(samples(3, SAMPLES), [0, 1, 2]);
        assert_eq!(samples(100, SAMPLES), [49, 11, 72, 35, 96, 58]);
        assert_eq!(at_once([128, 2048, 1]), [128, 8, 1]);
        assert_eq!(at_once([5000, 3, 2]), [1024, 1, 1]);
        assert_eq!(spread(5, 8), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn of_long_kernels_nothing_of_a_wave_is_followed() {
        assert_eq!([0, 100, 600, 5000].map(at_once_for_work), [64, 64, 41, 0]);
    }

    #[test]
    fn of_long_kernels_less_is_followed() {
        assert_eq!(Effort::for_work(20), Effort { samples: 6, warps: 8 });
        assert_eq!(Effort::for_work(1500), Effort { samples: 6, warps: 2 });
        assert_eq!(Effort::for_work(1_000_000), Effort { samples: 3, warps: 1 });
        assert_eq!(Effort::for_work(0), Effort { samples: 6, warps: 8 });
        for each in [1, 30, 300, 3000, 8000] {
            let effort = Effort::for_work(each);
            assert!(
                GROUPS * effort.samples * effort.warps * each as i64 <= WORK,
                "{each}: {effort:?}"
            );
        }
    }
}
