//! `lift cache`: kernels that were compiled and are kept.

use lift_syntax::source::Sources;
use serde_json::json;

use crate::devices::bytes;
use crate::report::{Failure, say, say_json};

/// Compiled kernels that are kept between runs
#[derive(clap::Args)]
#[command(after_help = "\
Example:\n\
\x20 lift cache clear")]
pub struct Options {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(clap::Subcommand)]
enum Verb {
    Clear(Clear),
}

/// Remove all compiled kernels; they are compiled again when they are needed
///
/// Programs that run meanwhile keep what they have loaded.
#[derive(clap::Args)]
#[command(after_help = "\
Example:\n\
\x20 lift cache clear --json")]
struct Clear {
    /// Print {"folder", "files", "bytes"}
    #[arg(long)]
    json: bool,
}

pub fn run(options: &Options) -> Result<(), Failure> {
    let Verb::Clear(options) = &options.verb;
    let cleared = lift_runtime::clear_cache()
        .map_err(|error| Failure::compile(error.into(), &Sources::new()))?;
    let folder = cleared.folder.display();
    if options.json {
        return say_json(&json!({
            "folder": folder.to_string(), "files": cleared.files, "bytes": cleared.bytes,
        }));
    }
    say(&format!("removed {} files, {}, from {folder}\n", cleared.files, bytes(cleared.bytes)))
}
