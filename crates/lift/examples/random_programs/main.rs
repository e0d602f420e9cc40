//! A long run of random programs on a device, compared with the interpreter.
//!
//! ```text
//! cargo run --release -p lift-lang --example random_programs -- --seconds 600 --seed 1 --device cpu
//! target/release/examples/random_programs --jobs 16 --programs 20000 --seed 1000000
//! ```
//!
//! It goes on until the time is up (`--seconds`) or so many seeds are done (`--programs`), several programs at once with
//! `--jobs`. They run in processes of their own, so that a crash or a hang costs one program. What fails is made smaller
//! and written to the folder `--out` (`target/random` otherwise) as a program with a test: `lift test FILE --device DEVICE`
//! runs it again. `--trials` bounds how many smaller programs are tried.
//!
//! A program with a wrong result gets a second opinion (`second_opinion`). Where that says that the compiler behind Lift
//! is at fault, the program is written to `compilers` in the folder, counted apart, and fails nothing.
//!
//! With `--asan` kernels for `cpu` are watched by GCC's sanitizers: an access outside an array or undefined arithmetic
//! ends the process, and what they say of it is in the file `asan.log` of the folder.

#[path = "../../tests/random_programs/device.rs"]
mod device;
mod search;
mod second_opinion;
mod server;
mod tally;

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use second_opinion::Way;

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

struct Options {
    device: String,
    /// The first; others follow it.
    seed: u64,
    seconds: Option<u64>,
    programs: Option<u64>,
    /// How many programs run at once.
    jobs: u64,
    out: PathBuf,
    /// How many smaller programs are tried for one that fails.
    trials: usize,
    /// How programs are compiled and run.
    way: Way,
    /// This process runs the programs whose files it is told.
    serve: bool,
}

/// For how long programs run where nothing is said.
const SECONDS: u64 = 60;

fn main() -> ExitCode {
    let outcome = options().and_then(|options| match options.serve {
        true => server::serve(&options.device).map(|()| true),
        false => search::search(&options),
    });
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

fn options() -> Outcome<Options> {
    let mut options = Options {
        device: "cpu".to_string(),
        seed: 1,
        seconds: None,
        programs: None,
        jobs: 1,
        out: PathBuf::from("target/random"),
        trials: 400,
        way: Way::Usual,
        serve: false,
    };
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or_else(|| format!("`{arg}` needs a value"));
        match arg.as_str() {
            "--device" => options.device = value()?,
            "--seed" => options.seed = value()?.parse()?,
            "--seconds" => options.seconds = Some(value()?.parse()?),
            "--programs" => options.programs = Some(value()?.parse()?),
            "--jobs" => options.jobs = value()?.parse::<u64>()?.max(1),
            "--out" => options.out = PathBuf::from(value()?),
            "--trials" => options.trials = value()?.parse()?,
            "--asan" => options.way = Way::Watched,
            "--serve" => options.serve = true,
            other => return Err(format!("unknown option `{other}`").into()),
        }
    }
    if options.seconds.is_none() && options.programs.is_none() {
        options.seconds = Some(SECONDS);
    }
    Ok(options)
}
