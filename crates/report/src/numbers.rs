//! Numbers and dates as people read them.

/// Four significant digits: `0.03920`, `154.4`, `6052`.
pub fn short(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return value.to_string();
    }
    let magnitude = value.abs().log10().floor();
    if !(-5.0..9.0).contains(&magnitude) {
        return format!("{value:.3e}");
    }
    let decimals = (3.0 - magnitude).max(0.0) as usize;
    format!("{value:.decimals$}")
}

/// `87.5 %`
pub fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// `2026-11-15 12:12 UTC`
pub fn date(unix_seconds: i64) -> String {
    let (days, seconds) = (unix_seconds.div_euclid(86_400), unix_seconds.rem_euclid(86_400));
    let (year, month, day) = calendar(days);
    format!("{year:04}-{month:02}-{day:02} {:02}:{:02} UTC", seconds / 3600, seconds / 60 % 60)
}

/// Year, month and day so many days after 1970-01-01. Years are counted from March, so that the day that comes and
/// goes is the last one.
fn calendar(days: i64) -> (i64, i64, i64) {
    let days = days.saturating_add(719_468);
    let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_digits() {
        let of = [0.0392, 154.4123, 6052.0, 0.0, 1.5e-9, 1234567.0].map(short);
        assert_eq!(of, ["0.03920", "154.4", "6052", "0", "1.500e-9", "1234567"]);
    }

    #[test]
    fn dates_of_the_calendar() {
        assert_eq!(date(0), "1970-01-01 00:00 UTC");
        assert_eq!(date(951_782_400), "2000-02-29 00:00 UTC");
        assert_eq!(date(1_794_744_359), "2026-11-15 12:05 UTC");
        assert_eq!(date(-1), "1969-12-31 23:59 UTC");
    }
}
