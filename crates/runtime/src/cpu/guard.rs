//! What is left of a compile whose process was killed: no compiler that goes on, and no folder.
//!
//! A process that is killed cannot clean up, so another does it: a shell that waits for the end of its input. The
//! system closes that whenever this process ends, however it ends. A compiler starts others in its turn, so it leads
//! a process group and the group is killed.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Reads the number of the group, then a word; where there is no word, nobody else cleans up.
const SCRIPT: &str = r#"
read -r group
read -r word && exit
[ -n "$group" ] && kill -s KILL -- "-$group"
rm -rf -- "$1" || { sleep 1; rm -rf -- "$1"; }
"#;

/// Watches over one folder and one process group until it is told that there is no need.
pub struct Guard {
    /// Nothing where there is no shell: then a kill leaves what it leaves.
    shell: Option<Child>,
    has_group: bool,
}

impl Guard {
    /// From now on the folder is removed where this process ends early.
    pub fn over(folder: &Path) -> Guard {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", SCRIPT, "sh"]).arg(folder).process_group(0);
        shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        Guard { shell: shell.spawn().ok(), has_group: false }
    }

    /// And this process group killed.
    pub fn watch(&mut self, group: u32) {
        self.tell(&format!("{group}\n"));
        self.has_group = true;
    }

    fn tell(&mut self, text: &str) {
        let input = self.shell.as_mut().and_then(|shell| shell.stdin.as_mut());
        // A shell that was killed has nothing to do any more.
        let _ = input.map(|input| input.write_all(text.as_bytes()));
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.tell(if self.has_group { "done\n" } else { "\ndone\n" });
        if let Some(mut shell) = self.shell.take() {
            drop(shell.stdin.take());
            let _ = shell.wait();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use super::*;

    fn folder(name: &str) -> PathBuf {
        let name = format!("lift-guard-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path).unwrap();
        path
    }

    /// What a kill of this process does to the shell: its input ends.
    fn abandon(mut guard: Guard) -> Child {
        let mut shell = guard.shell.take().unwrap();
        drop(shell.stdin.take());
        shell
    }

    #[test]
    fn a_compile_that_ends_is_left_alone() {
        let path = folder("ends");
        let mut idle = Command::new("sleep").arg("1000").process_group(0).spawn().unwrap();
        let mut guard = Guard::over(&path);
        guard.watch(idle.id());
        drop(guard);
        assert!(path.exists());
        assert!(idle.try_wait().unwrap().is_none());
        idle.kill().unwrap();
        idle.wait().unwrap();
        drop(Guard::over(&path));
        assert!(path.exists());
        fs::remove_dir(&path).unwrap();
    }

    /// The compiler is a shell here, and what it starts in its turn holds a pipe open until it ends.
    #[test]
    fn what_is_abandoned_is_killed_with_all_it_started_and_removed() {
        let path = folder("abandoned");
        fs::write(path.join("kernel.c"), "").unwrap();
        let mut compiler = Command::new("sh");
        compiler.args(["-c", "sleep 1000 & wait"]).process_group(0).stdout(Stdio::piped());
        let mut compiler = compiler.spawn().unwrap();
        let mut guard = Guard::over(&path);
        guard.watch(compiler.id());
        abandon(guard).wait().unwrap();
        assert!(!compiler.wait().unwrap().success());
        let mut said = String::new();
        std::io::Read::read_to_string(&mut compiler.stdout.take().unwrap(), &mut said).unwrap();
        assert!(!path.exists());
    }

    #[test]
    fn a_folder_is_removed_before_there_is_a_compiler() {
        let path = folder("before");
        abandon(Guard::over(&path)).wait().unwrap();
        assert!(!path.exists());
    }
}
