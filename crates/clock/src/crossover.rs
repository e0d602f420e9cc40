//! From which size on another device wins.

/// Where the second of two devices becomes the faster one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Crossover {
    /// Nowhere in the range.
    Never,
    /// From the smallest size on.
    Always,
    From(i128),
}

/// Sizes are tried by doubling from the first to the last, then halfway between the two where it changes, to a
/// twentieth; beyond 64 they are multiples of it, which most programs can cut. The last change counts.
pub fn crossover(
    from: i128,
    to: i128,
    second_wins: &mut dyn FnMut(i128) -> Result<bool, String>,
) -> Result<Crossover, String> {
    let mut sizes = vec![from.max(1)];
    while let Some(last) = sizes.last().copied()
        && last * 2 <= to
    {
        sizes.push(last * 2);
    }
    let mut wins = Vec::new();
    for size in &sizes {
        wins.push(second_wins(*size)?);
    }
    // The last size at which the first one still wins.
    let Some(k) = wins.iter().rposition(|won| !won) else { return Ok(Crossover::Always) };
    let Some(mut high) = sizes.get(k + 1).copied() else { return Ok(Crossover::Never) };
    let mut low = sizes.get(k).copied().unwrap_or(from);
    while high - low > (high / 20).max(1) {
        let middle = even(low + (high - low) / 2);
        if middle <= low || middle >= high {
            break;
        }
        match second_wins(middle)? {
            true => high = middle,
            false => low = middle,
        }
    }
    Ok(Crossover::From(high))
}

fn even(size: i128) -> i128 {
    if size > 64 { size / 64 * 64 } else { size }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first takes `n`, the second as long for each but starts late.
    fn with_start(start: i128) -> impl FnMut(i128) -> Result<bool, String> {
        move |n| Ok(start + n / 10 < n)
    }

    #[test]
    fn the_size_is_found_to_a_twentieth() {
        for start in [100, 5_000, 123_456] {
            let Ok(Crossover::From(size)) = crossover(16, 1 << 26, &mut with_start(start)) else {
                panic!("it is in the range")
            };
            let exact = start as f64 / 0.9;
            let ratio = size as f64 / exact;
            assert!((0.9..1.2).contains(&ratio), "{size} for {exact}");
        }
    }

    #[test]
    fn ends_of_the_range_are_told_apart() {
        assert_eq!(crossover(16, 1024, &mut with_start(1 << 30)), Ok(Crossover::Never));
        assert_eq!(crossover(16, 1024, &mut with_start(0)), Ok(Crossover::Always));
        assert_eq!(crossover(16, 1024, &mut |_| Err("no".to_string())), Err("no".to_string()));
    }

    #[test]
    fn the_last_change_counts() {
        // A cache that helps the second one for a while.
        let mut wins = |n: i128| Ok((32..128).contains(&n) || n >= 600);
        let Ok(Crossover::From(size)) = crossover(16, 1 << 20, &mut wins) else { panic!("a size") };
        assert!((600..=660).contains(&size), "{size}");
    }
}
