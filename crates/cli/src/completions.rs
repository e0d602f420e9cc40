//! `lift completions`: what shells need to complete commands.

use clap_complete::{Shell, generate};

use crate::report::{Failure, say};

/// Print a script by which a shell completes `lift` commands
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  lift completions bash > lift.bash && source lift.bash\n  \
                        lift completions zsh > _lift\n  \
                        lift completions fish > lift.fish")]
pub struct Options {
    /// The shell
    #[arg(value_name = "SHELL", value_enum)]
    shell: Shell,
}

pub fn run(options: &Options, mut command: clap::Command) -> Result<(), Failure> {
    let mut script = Vec::new();
    generate(options.shell, &mut command, "lift", &mut script);
    say(&String::from_utf8_lossy(&script))
}
