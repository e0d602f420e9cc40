//! Programs of many seeds, several at once.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use lift_random::{Case, Config, shrink};

use crate::device::Verdict;
use crate::second_opinion::{Fault, may_be_the_compilers, whose};
use crate::server::Server;
use crate::tally::{Tally, alike};
use crate::{Options, Outcome};

/// How many programs that fail in one way are made smaller.
const ALIKE: usize = 4;

/// What the jobs of a run share.
struct Run<'a> {
    options: &'a Options,
    end: Option<Instant>,
    /// The seed that is next.
    next: AtomicU64,
    tally: Mutex<Tally>,
}

/// Runs programs until there are enough or the time is up; whether nothing failed.
pub fn search(options: &Options) -> Outcome<bool> {
    std::fs::create_dir_all(options.out.join("compilers"))?;
    let run = &Run {
        options,
        end: options.seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds)),
        next: AtomicU64::new(options.seed),
        tally: Mutex::default(),
    };
    std::thread::scope(|scope| {
        let start = |job| scope.spawn(move || run.job(job));
        let jobs: Vec<_> = (0..options.jobs).map(start).collect();
        jobs.into_iter().try_for_each(|job| job.join().unwrap_or(Err("a job panicked".into())))
    })?;
    let tally = run.tally.lock().unwrap_or_else(PoisonError::into_inner);
    let last = run.next.load(Ordering::Relaxed).saturating_sub(1).min(options.last_seed());
    print!("seeds {} to {last} on {}: {tally}", options.seed, options.device);
    Ok(tally.failed.is_empty())
}

impl Options {
    fn last_seed(&self) -> u64 {
        self.programs.map_or(u64::MAX, |programs| (self.seed + programs).saturating_sub(1))
    }
}

/// A program with a wrong result, or none.
struct Wrong {
    case: Case,
    seed: u64,
    open: bool,
    message: String,
    fault: Option<Fault>,
}

impl Run<'_> {
    fn is_over(&self) -> bool {
        self.end.is_some_and(|end| Instant::now() >= end)
    }

    fn job(&self, job: u64) -> Outcome<()> {
        let mut server = Server::new(self.options, job)?;
        while !self.is_over() {
            let seed = self.next.fetch_add(1, Ordering::Relaxed);
            if seed > self.options.last_seed() {
                break;
            }
            self.one(&mut server, seed)?;
        }
        Ok(())
    }

    fn count(&self, add: impl FnOnce(&mut Tally) -> usize) -> usize {
        add(&mut self.tally.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Runs the program of a seed; every other one with its sizes left open.
    fn one(&self, server: &mut Server, seed: u64) -> Outcome<()> {
        let Some(case) = Case::find(seed, &Config::default()).0 else { return Ok(()) };
        let open = seed % 2 == 1;
        match server.ask(self.options.way, &case, open)? {
            Verdict::Agrees => {
                self.count(|tally| add(&mut tally.agreed));
            }
            Verdict::Refused(message) => {
                self.count(|tally| add(tally.refused.entry(alike(&message)).or_default()));
            }
            Verdict::Fails(message) => {
                let fault = self.opinion(server, &case, open, &message);
                self.tell(server, Wrong { case, seed, open, message, fault })?;
            }
        }
        Ok(())
    }

    /// The second opinion, of what needs one.
    fn opinion(
        &self,
        server: &mut Server,
        case: &Case,
        open: bool,
        message: &str,
    ) -> Option<Fault> {
        may_be_the_compilers(message)
            .then(|| whose(&self.options.device, &mut |way| server.ask(way, case, open)))
    }

    /// Counts a program, makes it smaller if it is one of the first of its kind, and says where it is.
    fn tell(&self, server: &mut Server, wrong: Wrong) -> Outcome<()> {
        let kind = alike(&wrong.message);
        let count = self.count(|tally| {
            let counts = match wrong.fault {
                Some(Fault::Compiler) => &mut tally.compilers,
                Some(Fault::Lift(_)) | None => &mut tally.failed,
            };
            add(counts.entry(kind.clone()).or_default())
        });
        let (seed, device) = (wrong.seed, &self.options.device);
        println!("seed {seed} on {device}: {}", wrong.summary());
        let limit = if kind == "differs" { 10 * ALIKE } else { ALIKE };
        if count <= limit {
            let path = self.write_smaller(server, wrong)?;
            println!("{}-> {}", std::fs::read_to_string(&path)?, path.display());
        }
        Ok(())
    }

    /// Writes the smallest program that fails alike by the same one's fault, as far as one is found before the time is up.
    fn write_smaller(&self, server: &mut Server, mut wrong: Wrong) -> Outcome<PathBuf> {
        let wanted = alike(&wrong.message);
        let (open, compilers) = (wrong.open, wrong.is_the_compilers());
        let small = shrink(wrong.case.clone(), self.options.trials, &mut |candidate| {
            if self.is_over() {
                return false;
            }
            let message = match server.ask(self.options.way, candidate, open) {
                Ok(Verdict::Fails(message)) if alike(&message) == wanted => message,
                _ => return false,
            };
            let fault = self.opinion(server, candidate, open, &message);
            let same = (fault == Some(Fault::Compiler)) == compilers;
            if same {
                (wrong.message, wrong.fault) = (message, fault);
            }
            same
        });
        let device = &self.options.device;
        let sizes = if open { "open" } else { "given" };
        let name = format!("{}-{}.lift", device.replace(':', "-"), wrong.seed);
        let folder = if compilers { "compilers" } else { "" };
        let path = self.options.out.join(folder).join(name);
        std::fs::write(
            &path,
            format!("// on {device}, sizes {sizes}: {}\n{small}", wrong.summary()),
        )?;
        Ok(path)
    }
}

impl Wrong {
    fn is_the_compilers(&self) -> bool {
        self.fault == Some(Fault::Compiler)
    }

    /// What is wrong, and whose it is.
    fn summary(&self) -> String {
        let message = &self.message;
        match &self.fault {
            None => message.clone(),
            Some(Fault::Compiler) => {
                format!("the compiler's: {message}, agrees without optimisation")
            }
            Some(Fault::Lift(why)) => format!("{message} ({why})"),
        }
    }
}

/// One more.
fn add(count: &mut usize) -> usize {
    *count += 1;
    *count
}
