//! `lift tune --devices any`: every device that workers elsewhere have is tuned for.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::exit;

use lift::tune::{Progress, Tuned, Tuner};
use lift_interp::Sizes;
use lift_ir::Def;
use serde_json::{Value, json};

use super::hurry::Hurry;
use super::interrupt::Interrupt;
use super::progress::Show;
use super::{Options, summary};
use crate::rates::Rates;
use crate::report::{Failure, remark, say, say_json};

pub fn run(tuner: &Tuner, def: &Def, sizes: &Sizes, options: &Options) -> Result<(), Failure> {
    let hurry = Hurry::watch(options.time, late(tuner, def, sizes, options));
    let hurry = hurry.map_err(Failure::message)?;
    let mut show = Show::new(options.trials, options.time);
    let interrupt = Interrupt::watch(show.bar()).map_err(Failure::message)?;
    let tuned = tuner.tune_on_any(def, sizes, &mut |device, progress| {
        show.tell(progress);
        hurry.tell(|known| drop(known.insert(device.to_string(), progress.clone())));
        !interrupt.came()
    });
    let tuned = tuned.map_err(|error| Failure::message(error.to_string()))?;
    hurry.end();
    show.done();
    for why in tuned.iter().filter_map(|(_, tuned)| tuned.progress.cut_short.as_ref()) {
        remark(&format!("warning: {why}; what was measured is kept"));
    }
    report(&tuned, options.json, &|tuned| {
        Rates::of(def, sizes, tuned.best.as_ref().map(|best| best.ms))
    })?;
    interrupt.end_if_it_came();
    Ok(())
}

/// What tells what the database has of all devices, in place of searches that do not all end, and ends the process.
fn late(
    tuner: &Tuner,
    def: &Def,
    sizes: &Sizes,
    options: &Options,
) -> impl FnOnce(BTreeMap<String, Progress>) + Send + 'static {
    let (tuner, def, sizes, json) = (tuner.clone(), def.clone(), sizes.clone(), options.json);
    move |progress| {
        let found = tuner.found_on_any(&def, &sizes, &progress);
        let found = found.map_err(|error| Failure::message(error.to_string()));
        if let Err(failure) = found.and_then(|found| report(&found, json, &|_| Rates::default())) {
            failure.print();
            exit(1);
        }
        exit(0);
    }
}

/// Prints what was found, device by device.
fn report(
    tuned: &[(String, Tuned)],
    as_json: bool,
    rates: &dyn Fn(&Tuned) -> Rates,
) -> Result<(), Failure> {
    if as_json {
        let one = |(device, tuned): &(String, Tuned)| {
            let mut found = summary::json(tuned, &rates(tuned));
            if let Value::Object(found) = &mut found {
                found.insert("device".to_string(), json!(device));
            }
            found
        };
        return say_json(&tuned.iter().map(one).collect::<Vec<Value>>().into());
    }
    for (device, tuned) in tuned {
        // The programs are in the database; what was found is told.
        let told = summary::text(tuned, &rates(tuned), Some(Path::new("the database")));
        say(&format!("// {device}\n{told}\n"))?;
    }
    Ok(())
}
