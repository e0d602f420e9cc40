//! Programs in processes of their own.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use lift_process::{Heard, Talk};
use lift_random::Case;

use crate::device::{Verdict, verdict};
use crate::second_opinion::Way;
use crate::{Options, Outcome};

/// How long one program may take.
const PATIENCE: Duration = Duration::from_secs(60);
/// How many times longer it may take where it is watched.
const SLOWER: u32 = 5;
/// Programs that a process runs before it is replaced: what is loaded stays loaded.
const PROGRAMS: usize = 200;
/// Threads of a kernel where several programs run at once: two are enough for a race.
const THREADS: &str = "2";

/// Reads `open FILE` or `given FILE`, for what is done with sizes, and answers on a line.
pub fn serve(device: &str) -> Outcome<()> {
    let mut device = lift::open(device)?;
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

/// The processes of one job, one a way. Its folder goes with it.
pub struct Server<'a> {
    pub options: &'a Options,
    folder: PathBuf,
    processes: BTreeMap<Way, Process>,
}

struct Process {
    talk: Talk,
    asked: usize,
}

impl<'a> Server<'a> {
    pub fn new(options: &'a Options, job: u64) -> Outcome<Server<'a>> {
        let name = format!("lift-random-{}-{job}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder)?;
        Ok(Server { options, folder, processes: BTreeMap::new() })
    }

    /// What a process makes of a case.
    pub fn ask(&mut self, way: Way, case: &Case, open: bool) -> Outcome<Verdict> {
        let file = self.folder.join("running.lift");
        std::fs::write(&file, case.to_string())?;
        let mut process = match self.processes.remove(&way) {
            Some(process) if process.asked < PROGRAMS => process,
            _ => Process::start(self.options, way, &self.folder)?,
        };
        process.asked += 1;
        let sizes = if open { "open" } else { "given" };
        process.talk.send(format!("{sizes} {}", file.display()));
        let patience = if way == Way::Usual { PATIENCE } else { PATIENCE * SLOWER };
        let answer = match process.talk.hear(patience) {
            Heard::Line(line) => {
                self.processes.insert(way, process);
                line
            }
            // It goes, and is killed.
            Heard::Silence => "fails hangs".to_string(),
            Heard::End => "fails crashes".to_string(),
        };
        if let Some(complaint) = self.complaint(way) {
            return Ok(Verdict::Fails(complaint));
        }
        Ok(match answer.split_once(' ') {
            Some(("refused", message)) => Verdict::Refused(message.to_string()),
            Some(("fails", message)) => Verdict::Fails(message.to_string()),
            _ => Verdict::Agrees,
        })
    }

    /// What a process complained about, which then has a new one in its place.
    fn complaint(&mut self, way: Way) -> Option<String> {
        let text = std::fs::read_to_string(way.complaints(&self.folder)?).ok()?;
        let complaint = text.lines().find(|line| !line.trim().is_empty())?.trim().to_string();
        self.processes.remove(&way);
        let _ = std::fs::remove_file(way.complaints(&self.folder)?);
        Some(complaint)
    }
}

impl Drop for Server<'_> {
    fn drop(&mut self) {
        self.processes.clear();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

impl Process {
    /// This program again, what it compiles kept apart from the user's.
    fn start(options: &Options, way: Way, folder: &Path) -> Outcome<Process> {
        let cache = folder.join("cache");
        let mut command = way.command(&std::env::current_exe()?, folder)?;
        // The simulator is the only device there is in it.
        let device = if way == Way::Simulated { "opencl:0" } else { &options.device };
        command
            .args(["--serve", "--device", device])
            .env("XDG_CACHE_HOME", &cache)
            .env("POCL_CACHE_DIR", cache.join("pocl"))
            .stderr(Stdio::null());
        if options.jobs > 1 {
            command.env("OMP_NUM_THREADS", THREADS);
        }
        if way == Way::Watched && options.way == way {
            let log = options.out.join("asan.log");
            command.stderr(File::options().create(true).append(true).open(log)?);
        }
        Ok(Process { talk: Talk::start(&mut command)?, asked: 0 })
    }
}
