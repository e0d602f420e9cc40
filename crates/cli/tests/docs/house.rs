//! Where the commands of a page run: a fresh clone, a home folder that is empty, and `lift` on the path.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use lift_process::Process;

use crate::common::root;
use crate::step::{Part, Step, Want};

/// No command takes so long; on a machine where others work none should be given up sooner.
const PATIENCE: Duration = Duration::from_secs(600);

/// `cargo run --release --` without another build; every other build has a marker.
const CARGO: &str = "#!/bin/sh
if [ \"$1 $2 $3\" = 'run --release --' ]; then shift 3; exec lift \"$@\"; fi
echo \"cargo $*: builds take minutes, mark it so\" >&2
exit 1
";

pub struct House {
    folder: tempfile::TempDir,
}

impl House {
    pub fn new() -> House {
        let house = House { folder: tempfile::tempdir().unwrap() };
        let (bin, home) = (house.path("bin"), house.path("home"));
        fs::create_dir(&bin).unwrap();
        fs::create_dir(home).unwrap();
        symlink(env!("CARGO_BIN_EXE_lift"), bin.join("lift")).unwrap();
        // A link to a Python of a virtual environment would not find its packages.
        let python = format!("#!/bin/sh\nexec {} \"$@\"\n", python());
        for (name, text) in [("cargo", CARGO), ("python3", &python)] {
            fs::write(bin.join(name), text).unwrap();
            fs::set_permissions(bin.join(name), fs::Permissions::from_mode(0o755)).unwrap();
        }
        house.clone_repository();
        house
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    /// What a clone of the checkout would be were its edits committed; what git does not know is not there.
    fn clone_repository(&self) {
        let clone = self.path("lift");
        git(&["clone", "--quiet", "--shared", root().to_str().unwrap(), clone.to_str().unwrap()]);
        let changed = git(&["-C", root().to_str().unwrap(), "diff", "--name-only", "-z", "HEAD"]);
        for name in changed.split('\0').filter(|name| !name.is_empty()) {
            let (from, to) = (root().join(name), clone.join(name));
            fs::remove_file(&to).ok();
            if from.exists() {
                fs::create_dir_all(to.parent().unwrap()).unwrap();
                fs::copy(from, to).unwrap();
            }
        }
    }

    /// Does what is written, and gives what is wrong with it.
    pub fn live(&self, part: &Part) -> Vec<String> {
        let mut faults = Vec::new();
        for step in &part.steps {
            match step {
                Step::File { name, text } => fs::write(self.path("lift").join(name), text).unwrap(),
                Step::Command { want: Want::Marked(_), .. } => {}
                Step::Command { text, .. } => {
                    let (status, printed) = self.give(text);
                    if let Some(fault) = step.fault(status, &printed) {
                        faults.push(format!(
                            "{}: `{text}` {fault}\nIt printed\n{printed}",
                            part.name
                        ));
                    }
                }
            }
        }
        faults
    }

    /// The exit status of a command, and what it printed on both channels.
    fn give(&self, command: &str) -> (i32, String) {
        let log = self.path("log");
        let out = fs::File::create(&log).unwrap();
        let path = format!("{}:{}", self.path("bin").display(), std::env::var("PATH").unwrap());
        let mut shell = Command::new("bash");
        shell
            .args(["-o", "pipefail", "-c", command])
            .current_dir(self.path("lift"))
            .env("PATH", path)
            .env("HOME", self.path("home"))
            .env_remove("XDG_DATA_HOME")
            .env_remove("XDG_CACHE_HOME")
            .env("NO_COLOR", "1")
            .stdin(Stdio::null())
            .stderr(out.try_clone().unwrap())
            .stdout(out);
        let Some(status) = Process::start(&mut shell).unwrap().wait(PATIENCE) else {
            let seconds = PATIENCE.as_secs();
            return (-1, format!("nothing within {seconds} s: mark it `# takes minutes`"));
        };
        let status = status.code().unwrap_or(-1);
        (status, String::from_utf8_lossy(&fs::read(Path::new(&log)).unwrap()).into_owned())
    }
}

/// Also where the checkout belongs to another user, as in a container.
fn git(arguments: &[&str]) -> String {
    let output = Command::new("git")
        .args(arguments)
        .envs([
            ("GIT_CONFIG_COUNT", "1"),
            ("GIT_CONFIG_KEY_0", "safe.directory"),
            ("GIT_CONFIG_VALUE_0", "*"),
        ])
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "git {arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

/// The first Python with numpy, as `./scripts/test` chooses it.
fn python() -> String {
    let has = |python: &&str| {
        Command::new(python)
            .args(["-c", "import numpy"])
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|s| s.success())
    };
    let found = ["python3", "/usr/bin/python3"].into_iter().find(has);
    let found = found.expect("a Python with numpy, which ./scripts/test installs");
    let output =
        Command::new(found).args(["-c", "import sys; print(sys.executable)"]).output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_string()
}
