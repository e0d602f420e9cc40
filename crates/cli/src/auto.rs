//! `--device auto`: the device on which a program is predicted to be done first.

use lift::{DeviceInfo, Language};
use lift_clock::{planned, predict};
use lift_interp::Sizes;
use lift_ir::Def;

use crate::arguments::by_name;
use crate::machine_file;
use crate::report::{Failure, remark};
use crate::run::short;

/// The device that leaves the choice to predictions.
pub const AUTO: &str = "auto";

/// Where nothing is predicted.
const USUAL: &str = "cpu";

/// How long a program takes on a device.
struct Offer {
    id: String,
    ms: f64,
    transfer_ms: f64,
}

/// What a program is to a device: the form that would run there.
pub type FormOn<'a> = &'a dyn Fn(&DeviceInfo) -> Result<Option<Def>, Failure>;

/// Chooses a device, and says why in one line. `resident` leaves out transfers: the data is there already.
pub fn choose(
    def: &Def,
    sizes: &Sizes,
    lowering: &lift::Options,
    flags: &str,
    resident: bool,
    form: FormOn<'_>,
) -> Result<String, Failure> {
    let mut offers = Vec::new();
    let mut unknown = Vec::new();
    for info in lift::devices().into_iter().flatten() {
        let Some(machine) = machine_file::of_device(&info, flags)? else {
            unknown.push(info.id);
            continue;
        };
        let stored = form(&info)?;
        let options = lift::Options { sizes: by_name(sizes), ..lowering.clone() };
        let chosen = stored.as_ref().unwrap_or(def);
        let language: Language = info.language;
        // What a device cannot run is no offer.
        let Ok(planned) = planned(chosen, &options, language, &machine) else { continue };
        let prediction =
            predict(&planned.plan, &by_name(sizes), &machine).map_err(Failure::message)?;
        let (ms, transfer_ms) = match resident {
            true => (prediction.resident_ms(), 0.0),
            false => (prediction.total_ms(), prediction.transfer_ms),
        };
        offers.push(Offer { id: info.id, ms, transfer_ms });
    }
    let (line, id) = decide(&offers, &unknown);
    remark(&line);
    Ok(id)
}

/// The line that says why, and the device.
fn decide(offers: &[Offer], unknown: &[String]) -> (String, String) {
    let left_out = match unknown {
        [] => String::new(),
        some => format!(" (not calibrated: {})", some.join(", ")),
    };
    let Some(best) = offers.iter().min_by(|a, b| a.ms.total_cmp(&b.ms)) else {
        let line = format!("no device is calibrated, see `lift calibrate`: {USUAL}{left_out}");
        return (line, USUAL.to_string());
    };
    let one = |offer: &Offer| {
        let ms = format!("{} {} ms", offer.id, short(offer.ms));
        match offer.transfer_ms > 0.0 {
            true => format!("{ms} ({} of it transfers)", short(offer.transfer_ms)),
            false => ms,
        }
    };
    let all: Vec<String> = offers.iter().map(one).collect();
    (format!("{}: {}{left_out}", all.join(", "), best.id), best.id.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offer(id: &str, ms: f64, transfer_ms: f64) -> Offer {
        Offer { id: id.to_string(), ms, transfer_ms }
    }

    #[test]
    fn the_shortest_wins_and_the_line_says_why() {
        let (line, id) = decide(&[offer("cpu", 0.21, 0.0), offer("cuda:0", 0.48, 0.44)], &[]);
        assert_eq!(line, "cpu 0.2100 ms, cuda:0 0.4800 ms (0.4400 of it transfers): cpu");
        assert_eq!(id, "cpu");
    }

    #[test]
    fn devices_without_a_description_are_named() {
        let (line, id) = decide(&[offer("opencl:0", 1.0, 0.0)], &["cpu".to_string()]);
        assert_eq!(
            (line.as_str(), id.as_str()),
            ("opencl:0 1.000 ms: opencl:0 (not calibrated: cpu)", "opencl:0")
        );
        let (line, id) = decide(&[], &["cpu".to_string()]);
        assert_eq!(id, "cpu");
        assert!(line.starts_with("no device is calibrated"), "{line}");
    }
}
