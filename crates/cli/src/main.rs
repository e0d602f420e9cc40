//! The command `lift`.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(lift_cli::command(std::env::args_os()))
}
