//! `lift calibrate`: measures a device, so that times on it can be predicted.

use std::path::PathBuf;
use std::time::Duration;

use lift_clock::Description;
use lift_clock::calibrate::{calibrate, check, flags};

use crate::arguments::parse_seconds;
use crate::machine_file;
use crate::report::{Failure, remark, say};
use crate::run::open;

/// Measure a device, so that `lift predict` knows how long programs take on it
///
/// Small programs, the probes, are run until their times are known well: transfers, launches, memories, operations. The
/// description is kept beside the tuning database, where other commands find it.
#[derive(clap::Args)]
#[command(after_help = "\
Example:\n\
\x20 lift calibrate --device cuda:0 -o h200.json # needs a GPU")]
pub struct Options {
    /// What to measure: `cpu`, `opencl:K`, `opencl:PART-OF-THE-NAME` or `cuda:K`
    #[arg(long, value_name = "DEVICE", default_value = "cpu")]
    device: String,
    /// Write the description here, instead of beside the tuning database
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Seconds that the measurement may take
    #[arg(long, value_name = "S", value_parser = parse_seconds, default_value = "180")]
    time: Duration,
    /// Measure a few probes again, and say whether the description still holds
    #[arg(long, conflicts_with = "output")]
    check: bool,
    /// Describe the device for programs compiled with `--fast-math`
    #[arg(long)]
    fast_math: bool,
}

/// A quantity that is off by more than this part no longer holds.
const HOLDS: f64 = 0.1;

pub fn run(options: &Options) -> Result<(), Failure> {
    let message = |e: lift::Error| Failure::message(e.to_string());
    let mut device = open(&options.device).map_err(message)?;
    let compiler = lift::CompileOptions { fast_math: options.fast_math };
    let info = device.info().clone();
    if options.check {
        let Some(description) = machine_file::of_device(&info, flags(&compiler))? else {
            return Err(Failure::message(format!(
                "`{}` has no description yet; make one by `lift calibrate --device {}`",
                options.device, options.device
            )));
        };
        let differ =
            check(&mut *device, compiler, options.time, &description).map_err(Failure::message)?;
        let (mut text, mut off) = (String::new(), false);
        for (name, ratio) in differ {
            off |= (ratio - 1.0).abs() > HOLDS;
            text += &format!("{name:<20} {ratio:.2} of what is described\n");
        }
        say(&text)?;
        return match off {
            true => Err(Failure::message("the description no longer holds; calibrate again")),
            false => say("the description still holds\n"),
        };
    }
    let path = match &options.output {
        Some(path) => path.clone(),
        None => machine_file::usual_path(&info, flags(&compiler))?,
    };
    Description::can_be_written(&path).map_err(Failure::message)?;
    let start = std::time::Instant::now();
    let mut progress = |stage: &str, part: f64| {
        let spent = start.elapsed().as_secs_f64();
        let left = if part > 0.0 {
            format!(", about {:.0} s left", spent / part - spent)
        } else {
            String::new()
        };
        remark(&format!("{stage}{left}"));
    };
    let description =
        calibrate(&mut *device, compiler, options.time, machine_file::today(), &mut progress)
            .map_err(Failure::message)?;
    description.write(&path).map_err(Failure::message)?;
    say(&format!(
        "{} quantities of {} in {:.0} s: {}\n",
        description.quantities.len(),
        description.device,
        start.elapsed().as_secs_f64(),
        path.display()
    ))
}
