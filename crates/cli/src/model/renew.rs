//! `lift model renew`: the features in a database, computed anew.

use std::path::PathBuf;

use lift_explore::candidate::{Candidate, Goal};
use lift_explore::key::canonical_size;
use lift_explore::machine::machine;
use lift_ir::Def;
use lift_model::features::VERSION;
use lift_model::learn::device_label;
use lift_store::{ProblemKey, Store};
use serde_json::json;

use crate::model::program;
use crate::report::{Failure, say, say_json};

/// Compute the features of a database anew
///
/// What was measured stays as it is. Models learn from features, and a newer `lift` may have others: so candidates need
/// not be measured again. The device is the one they were measured on.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:\n\
\x20 lift tune programs/reduce/sum.lift --size N=65536 --trials 5 --db tune.db\n\
\x20 lift model renew tune.db")]
pub struct Options {
    /// A database of `lift tune`
    #[arg(value_name = "DB")]
    file: PathBuf,
    /// Whose candidates: `cpu`, `opencl:K`, `opencl:PART-OF-THE-NAME` or `cuda:K`
    #[arg(long, value_name = "DEVICE", default_value = "cpu")]
    device: String,
    /// Print {"device", "candidates", "refused"}
    #[arg(long)]
    json: bool,
}

pub fn run(options: &Options) -> Result<(), Failure> {
    let path = &options.file;
    if !path.exists() {
        return Err(Failure::message(format!("there is no file {}", path.display())));
    }
    let info = program::device(&options.device)?;
    let label = program::label(&info);
    let failed = |error: lift_store::StoreError| Failure::message(error.to_string());
    let mut store = Store::open(path).map_err(failed)?;
    let (mut renewed, mut refused) = (0usize, 0usize);
    for problem in store.problems().map_err(failed)? {
        let key = store.key(problem).map_err(failed)?;
        if device_label(&key.device.kind, &key.device.name) != label {
            continue;
        }
        for (id, candidate) in store.candidates(problem).map_err(failed)? {
            let goal = |def: &Def| Goal {
                sizes: sizes(def, &key),
                language: info.language,
                machine: machine(&info),
            };
            let checked = lift_syntax::check_text("candidate.lift", &candidate.text);
            let def = checked.program.entry().filter(|_| !checked.has_errors());
            match def.and_then(|def| Candidate::of(def, &goal(def)).ok()) {
                Some(made) => {
                    let numbers = made.named_features();
                    store.record_features(id, VERSION, &numbers).map_err(failed)?;
                    renewed += 1;
                }
                None => refused += 1,
            }
        }
    }
    if renewed + refused == 0 {
        return Err(Failure::message(format!("{} has no candidate of {label}", path.display())));
    }
    if options.json {
        return say_json(&json!({ "device": label, "candidates": renewed, "refused": refused }));
    }
    let but = match refused {
        0 => String::new(),
        _ => format!("; {refused} are no programs for this `lift` and keep what they have"),
    };
    say(&format!("{}: features of {renewed} candidates of {label}{but}\n", path.display()))
}

/// The sizes of a problem by the names that a candidate has for them.
fn sizes(def: &Def, key: &ProblemKey) -> lift_explore::parameters::Values {
    let named = |(index, var): (usize, &lift_ir::Var)| {
        let value = key.sizes.get(&canonical_size(index))?;
        Some((var.name().to_string(), i128::from(*value)))
    };
    def.sizes.iter().enumerate().filter_map(named).collect()
}
