//! `lift man`: the manual.

use std::path::PathBuf;

use clap_mangen::Man;

use crate::output;
use crate::report::{Failure, say};

/// Print the manual page, or write one for every verb
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  lift man > lift.1\n  lift man tune > lift-tune.1\n  lift man -o man1"
)]
pub struct Options {
    /// The verb whose page is printed, as in `tune` or `model train`; otherwise that of `lift`
    #[arg(value_name = "VERB", conflicts_with = "output")]
    verb: Vec<String>,
    /// Write `lift.1`, `lift-tune.1` and so on to this folder
    #[arg(short, long, value_name = "FOLDER")]
    output: Option<PathBuf>,
}

pub fn run(options: &Options, mut command: clap::Command) -> Result<(), Failure> {
    command.build();
    if let Some(folder) = &options.output {
        let mut pages = Vec::new();
        collect(&command, "lift", &mut pages)?;
        return output::fill_folder(folder, &pages)
            .map_err(|e| Failure::message(format!("cannot write to {}: {e}", folder.display())));
    }
    let (mut found, mut name) = (&command, "lift".to_string());
    for verb in &options.verb {
        found = found.find_subcommand(verb).ok_or_else(|| {
            Failure::message(format!("`{name}` has no verb `{verb}`: `{name} --help` lists them"))
        })?;
        name = format!("{name}-{verb}");
    }
    say(&page(found, &name)?)
}

/// The pages of a command and of all verbs below.
fn collect(
    command: &clap::Command,
    name: &str,
    pages: &mut Vec<(String, String)>,
) -> Result<(), Failure> {
    pages.push((format!("{name}.1"), page(command, name)?));
    for verb in command.get_subcommands().filter(|verb| !verb.is_hide_set()) {
        if verb.get_name() != "help" {
            collect(verb, &format!("{name}-{}", verb.get_name()), pages)?;
        }
    }
    Ok(())
}

fn page(command: &clap::Command, name: &str) -> Result<String, Failure> {
    let mut text = Vec::new();
    // Clap has given every verb a name for this, `lift-tune`.
    Man::new(command.clone())
        .render(&mut text)
        .map_err(|e| Failure::message(format!("cannot make the page of `{name}`: {e}")))?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}
