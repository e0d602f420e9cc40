//! Descriptions of machines, as the commands find and use them.

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use lift::DeviceInfo;
use lift_clock::{Description, fingerprint};

use crate::report::Failure;
use crate::stored;

/// Where the description of a device is kept: beside the tuning database, by the device's name.
pub fn usual_path(info: &DeviceInfo, flags: &str) -> Result<PathBuf, Failure> {
    let database = stored::path(None)?;
    let folder = database.parent().unwrap_or(Path::new(".")).join("machines");
    let letters = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let name: String =
        format!("{} {flags}", fingerprint(info)).trim_end().chars().map(letters).collect();
    Ok(folder.join(format!("{name}.json")))
}

/// The description of a device, if there is one.
pub fn of_device(info: &DeviceInfo, flags: &str) -> Result<Option<Description>, Failure> {
    let path = usual_path(info, flags)?;
    if !path.exists() {
        return Ok(None);
    }
    let description = read(&path)?;
    description
        .fits(info, flags)
        .map_err(|why| Failure::message(format!("{}: {why}", path.display())))?;
    Ok(Some(description))
}

pub fn read(path: &Path) -> Result<Description, Failure> {
    Description::read(path).map_err(Failure::message)
}

/// The day, as in 2026-11-17.
pub fn today() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
    date(seconds / 86_400)
}

/// The date so many days after 1970-01-01: four hundred years have 146097 days, and years begin in March here, so that the
/// day that is put in now and then is the last.
fn date(days: u64) -> String {
    let since = days + 719_468;
    let (era, day) = (since / 146_097, since % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day_of_month = day - (153 * month + 2) / 5 + 1;
    let (month, later) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    format!("{:04}-{month:02}-{day_of_month:02}", era * 400 + year + later)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_have_dates() {
        assert_eq!(date(0), "1970-01-01");
        assert_eq!(date(19_782), "2024-02-29");
        assert_eq!(date(19_783), "2024-03-01");
        assert_eq!(date(20_819), "2027-01-01");
    }
}
