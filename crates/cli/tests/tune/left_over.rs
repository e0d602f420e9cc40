//! What a search leaves that is killed while it compiles: nothing.

use std::fs;
use std::path::Path;

use rustix::process::Signal;

use crate::background::{Background, wait, whose_arguments_mention};
use crate::{TUNE, folder};

/// A compiler that starts another, as compilers do, and both never end; a file says that they are there.
const COMPILER: &str = "case \"$*\" in *--version*) exec cc --version;; esac
sh -c 'sleep 1000; :' \"$0\" &
: > \"$0.started\"
sh -c 'sleep 1000; :' \"$0\"
";

fn files_below(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    entries.map(|name| name.to_string_lossy().into_owned()).collect()
}

#[test]
fn a_killed_search_leaves_no_compiler_and_no_folder() {
    for signal in [Signal::KILL, Signal::TERM, Signal::HUP] {
        let folder = folder();
        let path = folder.path();
        let compiler = path.join("cc.sh");
        fs::write(&compiler, COMPILER).unwrap();
        let cache = path.join("cache");
        let command = format!("sh {}", compiler.display());
        let env = [("CC", command.as_str()), ("XDG_CACHE_HOME", cache.to_str().unwrap())];
        let tune = [TUNE, &["--entry", "sum"]].concat();
        let search = Background::start(path, &tune, &env);
        let started = path.join("cc.sh.started");
        wait("the compiler to start", || started.exists().then_some(()));
        let kernels = cache.join("lift/c");
        assert_eq!(files_below(&kernels).len(), 1, "{:?}", files_below(&kernels));
        let mentions = compiler.to_str().unwrap();
        assert!(!whose_arguments_mention(mentions).is_empty());
        search.signal(signal);
        search.end();
        let gone = || whose_arguments_mention(mentions).is_empty().then_some(());
        wait("the compilers to end", gone);
        let removed = || files_below(&kernels).is_empty().then_some(());
        wait("the folder to be removed", removed);
    }
}
