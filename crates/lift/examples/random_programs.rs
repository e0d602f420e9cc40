//! A long run of random programs on a device, compared with the interpreter.
//!
//! ```text
//! cargo run --release -p lift --example random_programs -- --seconds 600 --seed 1 --device cpu
//! ```
//!
//! Programs run in a process of their own, so that a crash or a hang costs one program. What fails is
//! made smaller and written to the folder `--out` (`target/random` otherwise) as a program with a
//! test: `lift test FILE --device DEVICE` runs it again. `--trials` bounds how many smaller programs are
//! tried. With `--asan` kernels for `cpu` are compiled with GCC's AddressSanitizer: an access outside an
//! array ends the process, and what the sanitizer says of it is in the file `asan.log` of the folder.

#[path = "../tests/random_programs/device.rs"]
mod device;

use std::collections::BTreeMap;
use std::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use device::{Verdict, verdict};
use lift_process::{Heard, Talk};
use lift_random::{Case, Config, shrink};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// How long one program may take.
const PATIENCE: Duration = Duration::from_secs(60);
/// Programs that a process runs before it is replaced: what is loaded stays loaded.
const PROGRAMS: usize = 200;
/// How many programs that fail in one way are made smaller.
const ALIKE: usize = 4;

struct Options {
    device: String,
    seed: u64,
    seconds: u64,
    out: PathBuf,
    /// How many smaller programs are tried for one that fails.
    trials: usize,
    /// Accesses of kernels are watched.
    asan: bool,
    /// This process runs the programs whose files it is told.
    serve: bool,
}

fn main() -> ExitCode {
    let outcome = options().and_then(|options| match options.serve {
        true => serve(&options).map(|()| true),
        false => search(&options),
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
        seconds: 60,
        out: PathBuf::from("target/random"),
        trials: 400,
        asan: false,
        serve: false,
    };
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or_else(|| format!("`{arg}` needs a value"));
        match arg.as_str() {
            "--device" => options.device = value()?,
            "--seed" => options.seed = value()?.parse()?,
            "--seconds" => options.seconds = value()?.parse()?,
            "--out" => options.out = PathBuf::from(value()?),
            "--trials" => options.trials = value()?.parse()?,
            "--asan" => options.asan = true,
            "--serve" => options.serve = true,
            other => return Err(format!("unknown option `{other}`").into()),
        }
    }
    Ok(options)
}

/// Reads `open FILE` or `given FILE`, for what is done with sizes, and answers on a line.
fn serve(options: &Options) -> Outcome<()> {
    let mut device = lift::open(&options.device)?;
    for line in std::io::stdin().lines() {
        let line = line?;
        let (sizes, file) = line.split_once(' ').ok_or("no file is named")?;
        let answer = match Case::parse(&std::fs::read_to_string(file)?) {
            Err(error) => Verdict::Fails(format!("does not check: {error}")),
            Ok(case) => verdict(&case, sizes == "open", &mut *device),
        };
        println!(
            "{}",
            match answer {
                Verdict::Agrees => "agrees".to_string(),
                Verdict::Refused(text) => format!("refused {}", one_line(&text)),
                Verdict::Fails(text) => format!("fails {}", one_line(&text)),
            }
        );
        std::io::stdout().flush()?;
    }
    Ok(())
}

fn one_line(text: &str) -> String {
    text.lines().collect::<Vec<_>>().join(" | ")
}

/// The environment in which kernels are compiled with GCC's AddressSanitizer. Its library has to be loaded before all
/// others, and memory is not given back when the process ends.
fn sanitizer() -> Outcome<[(&'static str, String); 3]> {
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_string());
    let named = Command::new(&compiler).arg("-print-file-name=libasan.so").output()?;
    let library = String::from_utf8(named.stdout)?.trim().to_string();
    if !Path::new(&library).is_absolute() {
        return Err(format!("`{compiler}` has no AddressSanitizer to load: install libasan").into());
    }
    Ok([
        ("LD_PRELOAD", library),
        ("LIFT_CFLAGS", "-O1 -fsanitize=address -fno-omit-frame-pointer".to_string()),
        ("ASAN_OPTIONS", "detect_leaks=0:abort_on_error=1".to_string()),
    ])
}

/// Programs in a process of their own.
struct Server<'a> {
    options: &'a Options,
    process: Option<Process>,
}

struct Process {
    talk: Talk,
    asked: usize,
}

impl Server<'_> {
    /// Where the program that runs is.
    fn file(&self) -> PathBuf {
        self.options.out.join(format!("running-{}.lift", std::process::id()))
    }

    /// What a process makes of a case.
    fn ask(&mut self, case: &Case, open: bool) -> Outcome<Verdict> {
        let file = self.file();
        std::fs::write(&file, case.to_string())?;
        let mut process = match self.process.take() {
            Some(process) if process.asked < PROGRAMS => process,
            _ => Process::start(self.options)?,
        };
        process.asked += 1;
        let sizes = if open { "open" } else { "given" };
        process.talk.send(format!("{sizes} {}", file.display()));
        let answer = match process.talk.hear(PATIENCE) {
            Heard::Line(line) => {
                self.process = Some(process);
                line
            }
            // It goes, and is killed.
            Heard::Silence => "fails hangs".to_string(),
            Heard::End => "fails crashes".to_string(),
        };
        Ok(match answer.split_once(' ') {
            Some(("refused", message)) => Verdict::Refused(message.to_string()),
            Some(("fails", message)) => Verdict::Fails(message.to_string()),
            _ => Verdict::Agrees,
        })
    }
}

impl Process {
    /// This program again, what it compiles kept apart from the user's.
    fn start(options: &Options) -> Outcome<Process> {
        let cache = std::env::temp_dir().join("lift-random-cache");
        let mut command = Command::new(std::env::current_exe()?);
        command
            .args(["--serve", "--device", &options.device])
            .env("XDG_CACHE_HOME", &cache)
            .env("POCL_CACHE_DIR", cache.join("pocl"))
            .stderr(Stdio::null());
        if options.asan {
            let log = options.out.join("asan.log");
            let log = std::fs::File::options().create(true).append(true).open(log)?;
            command.envs(sanitizer()?).stderr(log);
        }
        Ok(Process { talk: Talk::start(&mut command)?, asked: 0 })
    }
}

/// What came of a run, by what was said.
#[derive(Default)]
struct Tally {
    agreed: usize,
    refused: BTreeMap<String, usize>,
    failed: BTreeMap<String, usize>,
}

/// Runs programs until the time is up; whether nothing failed.
fn search(options: &Options) -> Outcome<bool> {
    std::fs::create_dir_all(&options.out)?;
    let end = Instant::now() + Duration::from_secs(options.seconds);
    let mut tally = Tally::default();
    let mut server = Server { options, process: None };
    let mut seed = options.seed;
    while Instant::now() < end {
        one(&mut server, seed, end, &mut tally)?;
        seed += 1;
    }
    std::fs::remove_file(server.file())?;
    println!("seeds {} to {}: {} agree", options.seed, seed - 1, tally.agreed);
    for (message, count) in &tally.refused {
        println!("{count} refused: {message}");
    }
    for (message, count) in &tally.failed {
        println!("{count} failed: {message}");
    }
    Ok(tally.failed.is_empty())
}

/// Runs the program of a seed; every other one with its sizes left open.
fn one(server: &mut Server, seed: u64, end: Instant, tally: &mut Tally) -> Outcome<()> {
    let Some(case) = Case::find(seed, &Config::default()).0 else { return Ok(()) };
    let open = seed % 2 == 1;
    match server.ask(&case, open)? {
        Verdict::Agrees => tally.agreed += 1,
        Verdict::Refused(message) => {
            *tally.refused.entry(alike(&message)).or_default() += 1;
        }
        Verdict::Fails(message) => {
            println!("seed {seed} on {}: {message}", server.options.device);
            let count = tally.failed.entry(alike(&message)).or_default();
            *count += 1;
            let limit = if message.starts_with("differs") { 10 * ALIKE } else { ALIKE };
            if *count <= limit {
                let path = smaller(server, case, seed, open, message, end)?;
                println!("{}-> {}", std::fs::read_to_string(&path)?, path.display());
            }
        }
    }
    Ok(())
}

/// What messages have in common that differ only in numbers and names.
fn alike(message: &str) -> String {
    if message.starts_with("differs") {
        return "differs".to_string();
    }
    let start = message.split(['\'', '`', '|']).next().unwrap_or_default();
    start.chars().filter(|c| !c.is_ascii_digit()).take(80).collect()
}

/// Writes the smallest program that fails alike, as far as one is found before the time is up.
fn smaller(
    server: &mut Server,
    case: Case,
    seed: u64,
    open: bool,
    mut message: String,
    end: Instant,
) -> Outcome<PathBuf> {
    let wanted = alike(&message);
    let small = shrink(case, server.options.trials, &mut |candidate| {
        if Instant::now() >= end {
            return false;
        }
        match server.ask(candidate, open) {
            Ok(Verdict::Fails(found)) if alike(&found) == wanted => {
                message = found;
                true
            }
            _ => false,
        }
    });
    let device = &server.options.device;
    let sizes = if open { "open" } else { "given" };
    let path: &Path = &server.options.out;
    let path = path.join(format!("{}-{seed}.lift", device.replace(':', "-")));
    std::fs::write(&path, format!("// on {device}, sizes {sizes}: {message}\n{small}"))?;
    Ok(path)
}
