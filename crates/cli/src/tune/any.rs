//! `lift tune --devices any`: every device that workers elsewhere have is tuned for.

use std::path::Path;

use lift::tune::{Tuned, Tuner};
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
    // Where a step takes too long, what is known of the first device is told.
    let hurry = Hurry::watch(options.time, super::late(tuner, def, sizes, options));
    let hurry = hurry.map_err(Failure::message)?;
    let mut show = Show::new(options.trials, options.time);
    let interrupt = Interrupt::watch(show.bar()).map_err(Failure::message)?;
    let tuned = tuner.tune_on_any(def, sizes, &mut |progress| {
        show.tell(progress);
        hurry.tell(progress);
        !interrupt.came()
    });
    let tuned = tuned.map_err(|error| Failure::message(error.to_string()))?;
    hurry.end();
    show.done();
    let rates = |tuned: &Tuned| Rates::of(def, sizes, tuned.best.as_ref().map(|best| best.ms));
    for why in tuned.iter().filter_map(|(_, tuned)| tuned.progress.cut_short.as_ref()) {
        remark(&format!("warning: {why}; what was measured is kept"));
    }
    if options.json {
        let one = |(device, tuned): &(String, Tuned)| {
            let mut found = summary::json(tuned, &rates(tuned));
            if let Value::Object(found) = &mut found {
                found.insert("device".to_string(), json!(device));
            }
            found
        };
        say_json(&tuned.iter().map(one).collect::<Vec<Value>>().into())?;
    } else {
        for (device, tuned) in &tuned {
            // The programs are in the database; what was found is told.
            let told = summary::text(tuned, &rates(tuned), Some(Path::new("the database")));
            say(&format!("// {device}\n{told}\n"))?;
        }
    }
    interrupt.end_if_it_came();
    Ok(())
}
